"""What people have at hand finds the node, and a wrong name finds its neighbours."""

from __future__ import annotations

import pytest
import samples

from gradcat import names
from gradcat.errors import GradcatError

CATALOG = samples.catalog()
NODES = [node.name for node in CATALOG.nodes]
OPS = names.lookup(CATALOG)
MESSAGE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead. "
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("MulBackward0", ["MulBackward0"]),
        ("mulbackward0", ["MulBackward0"]),
        ("MULBACKWARD0", ["MulBackward0"]),
        ("Mul", ["MulBackward0"]),
        ("Mul1", ["MulBackward1"]),
        ("Max1", ["MaxBackward1"]),
        ("max1", ["MaxBackward1"]),
        ("Exp", ["ExpBackward0"]),
        ("<MulBackward0 object at 0x7f1c2d3e>", ["MulBackward0"]),
        ("<MulBackward0>", ["MulBackward0"]),
        ("grad_fn=<MulBackward0>", ["MulBackward0"]),
        ("tensor([1., 2.], grad_fn=<MulBackward0>)", ["MulBackward0"]),
        ("tensor([1.], dtype=torch.float64, grad_fn=<ExpBackward0>)", ["ExpBackward0"]),
        ("<class 'MulBackward0'>", ["MulBackward0"]),
        ("torch::autograd::AccumulateGrad", ["AccumulateGrad"]),
        ("<torch.autograd.function.ExpBackward0 object at 0x7f>", ["ExpBackward0"]),
        ("'MulBackward0'", ["MulBackward0"]),
        (MESSAGE, ["ExpBackward0"]),
        ("Output 0 of Exp is a view and is being modified inplace.", ["ExpBackward0"]),
        ("Function 'ExpBackward0' returned nan values in its 0th output.", ["ExpBackward0"]),
        ("Function MulBackward0 returned an invalid gradient at index 0 - got [7] but", ["MulBackward0"]),
        ("Error detected in ExpBackward0. Traceback of forward call that caused the error:", ["ExpBackward0"]),
        ("Error detected in AccumulateGrad. Traceback of forward call", ["AccumulateGrad"]),
        ("'ExpBackward0' object has no attribute '_saved_nothing'", ["ExpBackward0"]),
        ("the derivative for 'mul' is not implemented.", ["MulBackward0", "MulBackward1"]),
        ("((<ExpBackward0 object at 0x7f>, 0), (None, 0))", ["ExpBackward0"]),
        ("torch.mul", ["MulBackward0", "MulBackward1"]),
        ("mul", ["MulBackward0", "MulBackward1"]),
        ("torch.mul(a, b)", ["MulBackward0", "MulBackward1"]),
        ("Tensor.mul_", ["MulBackward0"]),
        ("torch.Tensor.mul", ["MulBackward0", "MulBackward1"]),
        ("aten::mul", ["MulBackward0", "MulBackward1"]),
        ("aten::mul.Tensor", ["MulBackward0"]),
        ("torch.ops.aten.mul.Tensor", ["MulBackward0"]),
        ("torch.ops.aten.mul.Scalar", ["MulBackward1"]),
        ("mul.out", ["MulBackward0", "MulBackward1"]),
        ("torch.max", ["MaxBackward0", "MaxBackward1"]),
        ("F.gelu", ["MulBackward0"]),
        ("nn.functional.gelu", ["MulBackward0"]),
        ("torch.nn.functional.gelu", ["MulBackward0"]),
        ("nn.GELU", ["MulBackward0"]),
        ("exp_", ["ExpBackward0"]),
        ("x.exp", ["ExpBackward0"]),
        ("self.mul_(other)", ["MulBackward0"]),
        ("aten::linalg_tensor", ["MaxBackward0"]),
        ("_cudnn_rnn", ["CudnnRnnBackward0"]),
    ],
    ids=str,
)
def test_resolve(query, expected):
    assert names.resolve(query, NODES, OPS | {"linalg.tensor": ["MaxBackward0"]}) == expected


@pytest.mark.parametrize(
    "query", ["argmax", "torch.argmax", "Tensor.argmax", "x.argmax()", "eq", "torch.jiterator_unary"]
)
def test_an_op_that_makes_no_node_says_why(query):
    ops = OPS | {"argmax": [], "eq": []}
    with pytest.raises(names.NoNode, match=r"makes no node: (argmax|eq)'s reason|a kernel that the database"):
        names.resolve(query, [*NODES, "EqBackward0"], ops, "{}'s reason".format)
    assert names.resolve("Eq", [*NODES, "EqBackward0"], ops) == ["EqBackward0"]


def test_a_method_that_a_namespace_does_not_have_is_unknown():
    with pytest.raises(names.UnknownName, match=r"'torch.linalg.exp' is neither"):
        names.resolve("torch.linalg.exp", NODES, OPS | {"linalg.inv": ["MaxBackward0"]})


@pytest.mark.parametrize(
    ("query", "nearest"),
    [
        ("MulBackwrd0", "MulBackward0"),
        ("Mxa1", "MaxBackward1"),
        ("torch.mull", "mul"),
        ("AcumulateGrad", "AccumulateGrad"),
        ("torch.maxx", "max"),
    ],
    ids=str,
)
def test_a_wrong_name_gets_the_nearest_ones(query, nearest):
    with pytest.raises(GradcatError, match=f"{query}.*neither a node nor an op.*nearest:.*{nearest}"):
        names.resolve(query, NODES, OPS)


@pytest.mark.parametrize("query", ["", " ", "()", "<>", "?", "\N{SNOWMAN}" * 50, "torch.", "grad_fn=<", "0"], ids=repr)
def test_nothing_like_a_name_is_an_error_and_no_crash(query):
    with pytest.raises(GradcatError):
        names.resolve(query, NODES, OPS)


def test_short_names_are_unambiguous_over_all_classes_of_torch():
    import torch

    classes = [name for name in dir(torch._C._functions) if not name.startswith("_")]
    shorts = {names.short(name).lower(): name for name in classes if names.short(name) not in classes}
    assert len(shorts) == len([name for name in classes if names.short(name) not in classes])
    assert shorts["exp"] == "ExpBackward0"
    assert shorts["max1"] == "MaxBackward1"
    assert shorts["log2"] == "Log2Backward0"
    assert shorts["sigmoidbackward"] == "SigmoidBackwardBackward0"
    assert names.resolve("Log2", classes, {"log2": ["LogBackward0"]}) == ["Log2Backward0"]
    for name in classes:
        expected = names.short(name) if names.short(name) in classes else name  # UndefinedGrad is a class itself
        assert names.resolve(names.short(name), classes, {}) == [expected]


def test_what_torch_prints_is_understood():
    import torch

    x = torch.ones(2, requires_grad=True)
    exp = x.exp()
    for text in (str(exp), repr(exp.grad_fn), str(type(exp.grad_fn)), exp.grad_fn.name()):
        assert names.resolve(text, NODES, OPS) == ["ExpBackward0"]
    exp.add_(1)
    with pytest.raises(RuntimeError) as error:
        exp.sum().backward()
    assert names.printed(str(error.value)) == "Exp"
    assert names.resolve(str(error.value), NODES, OPS) == ["ExpBackward0"]
