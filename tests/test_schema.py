"""Schemas are read as torch reads them."""

import pytest
import torch

from gradcat import reflect
from gradcat.schema import Argument, Return, Schema, SchemaError, default_value, parse_schema

T = "Tensor"

PARSED = {
    "mul.Tensor(Tensor self, Tensor other) -> Tensor": Schema(
        "mul", "Tensor", (Argument("self", T), Argument("other", T)), (Return("result", T),)
    ),
    "aten::abs(Tensor self) -> Tensor": Schema("abs", "", (Argument("self", T),), (Return("result", T),)),
    "add_.Scalar(Tensor(a!) self, Scalar other, *, Scalar alpha=1) -> Tensor(a!)": Schema(
        "add_",
        "Scalar",
        (Argument("self", T, alias="a!"), Argument("other", "Scalar"), Argument("alpha", "Scalar", "1", True)),
        (Return("result", T, "a!"),),
    ),
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]": Schema(
        "chunk",
        "",
        (Argument("self", T, alias="a -> *"), Argument("chunks", "int"), Argument("dim", "int", "0")),
        (Return("result", "Tensor[]", "a"),),
    ),
    "f(Tensor?[] a, int[1]? dim=[-2,-1], str m=\"L\") -> ()": Schema(
        "f", "", (Argument("a", "Tensor?[]"), Argument("dim", "int[1]?", "[-2,-1]"), Argument("m", "str", '"L"')), ()
    ),
    "f() -> (Tensor, Tensor[])": Schema("f", "", (), (Return("result0", T), Return("result1", "Tensor[]"))),
    "f(Tensor hx) -> (Tensor hx, Tensor y)": Schema(
        "f", "", (Argument("hx", T),), (Return("hx_return", T), Return("y", T))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PARSED.items())
def test_parse(text, expected):
    assert parse_schema(text) == expected


@pytest.mark.parametrize(
    ("text", "op", "in_place", "mutates"),
    [
        ("mul.Tensor(Tensor self) -> Tensor", "mul.Tensor", False, False),
        ("abs(Tensor self) -> Tensor", "abs", False, False),
        ("zero_(Tensor(a!) self) -> Tensor(a!)", "zero_", True, True),
        ("__ior__.Tensor(Tensor(a!) self) -> Tensor(a!)", "__ior__.Tensor", True, True),
        ("__or__.Tensor(Tensor self) -> Tensor", "__or__.Tensor", False, False),
        ("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "f.out", False, True),
    ],
)
def test_variant(text, op, in_place, mutates):
    schema = parse_schema(text)
    assert (schema.op, schema.in_place, schema.mutates) == (op, in_place, mutates)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not an operator schema"),
        ("mul", "not an operator schema"),
        ("mul(Tensor self)", "not an operator schema"),
        ("mul(Tensor) -> Tensor", "has no name"),
        ("mul(Tensor<3> self) -> Tensor", "cannot read 'Tensor<3> self'"),
    ],
)
def test_refused(text, said):
    with pytest.raises(SchemaError, match=said):
        parse_schema(text)


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("None", "Tensor?", None),
        ("True", "bool", True),
        ("-100", "SymInt", -100),
        ("1e-05", "float", 1e-05),
        ("2", "float", 2.0),
        ("1", "Scalar", 1),
        ("[]", "int[]", []),
        ("[]", "int[2]", []),
        ("[0,1]", "int[]", [0, 1]),
        ("1", "SymInt[2]", [1, 1]),
        ("None", "float?", None),
        ("None", "int[1]?", None),
        ("Mean", "int", 1),
        ("'none'", "str", "none"),
        ('"L"', "str", "L"),
        ("contiguous_format", "MemoryFormat", "contiguous_format"),
        ("long", "ScalarType?", "long"),
    ],
)
def test_default(text, type, expected):
    value = default_value(text, type)
    assert value == expected
    assert value.__class__ is expected.__class__


def test_default_that_cannot_be_read():
    with pytest.raises(SchemaError, match=r"cannot read the default 'f\(1\)' of int"):
        default_value("f(1)", "int")


def test_argument_without_default():
    with pytest.raises(SchemaError, match="Tensor self has no default"):
        _ = Argument("self", T).value


def test_every_argument_and_default_is_what_torch_says():
    wrong = {}
    for row in reflect.upstream().values():
        schema = parse_schema(row.schema)
        theirs = getattr(getattr(torch.ops.aten, schema.name), schema.overload or "default")._schema
        got = [(a.name, a.kwarg_only, a.default is not None and a.value) for a in schema.arguments]
        want = [(a.name, a.kwarg_only, a.has_default_value() and a.default_value) for a in theirs.arguments]
        if got != want:
            wrong[schema.op] = [pair for pair in zip(got, want, strict=True) if pair[0] != pair[1]]
    assert wrong == {}
