"""What is read of torch's files is what torchgen makes of them, and what torch's namespaces hold."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gradcat import reflect
from gradcat.installed import folder, torch_folder

ROWS = reflect.upstream()
CLASSES = {entry["name"]: entry for entry in reflect.classes()}
FUNCTIONS = reflect.python_functions()


@pytest.fixture(scope="module")
def tables():
    """Paths of the three files from which torchgen reads the derivatives."""
    packaged = Path(folder("torchgen"), "packaged")
    native = packaged / "ATen" / "native"
    derivatives = packaged / "autograd" / "derivatives.yaml"
    return str(derivatives), str(native / "native_functions.yaml"), str(native / "tags.yaml")


@pytest.fixture(scope="module")
def infos(tables):
    """torchgen's own reading: schema -> dispatch key -> info."""
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    return dict(load_derivatives(*tables)[0])


@pytest.fixture(scope="module")
def theirs(infos):
    """torchgen's infos by class, each with its dispatch key. What has no derivative has no class."""
    return {info.op: (key, info) for by_key in infos.values() for key, info in by_key.items() if info.op}


def different(theirs, mine, expected):
    """Class -> what is read here, and what torchgen says; empty where they agree."""
    pairs = {name: (mine(ROWS[name]), expected(*theirs[name])) for name in theirs}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def test_classes_are_torchgens(theirs):
    assert set(ROWS) == set(theirs)


def test_schemas_are_torchgens(theirs):
    assert different(theirs, lambda row: row.schema, lambda key, info: str(info.func.func)) == {}


def test_dispatch_keys_are_torchgens(theirs):
    assert different(theirs, lambda row: row.dispatch or "Default", lambda key, info: key) == {}


def test_formulas_are_torchgens(theirs):
    def expected(key, info):
        formulas = {name: each.original_formula for each in info.derivatives for name in each.var_names}
        return formulas | dict.fromkeys(info.non_differentiable_arg_names, "non_differentiable")

    assert different(theirs, lambda row: row.upstream.formulas, expected) == {}


def test_formulas_come_in_the_order_of_edges(theirs):
    def expected(key, info):
        return [argument.name for argument in info.args_with_derivatives]

    def mine(row):
        return [name for name, formula in row.upstream.formulas.items() if formula != "non_differentiable"]

    assert different(theirs, mine, expected) == {}


def test_forward_mode_is_torchgens(theirs):
    """torchgen writes out what the table calls auto_linear and auto_element_wise; all else is the same text."""
    automatic = {"auto_linear", "auto_element_wise"}
    for name, (_, info) in theirs.items():
        mine = ROWS[name].upstream.forward_mode
        expected = {output: each.formula for each in info.forward_derivatives for output in each.var_names}
        assert mine.keys() == expected.keys(), name
        assert {o: f for o, f in mine.items() if f not in automatic and f != expected[o]} == {}, name


def attributes(saved):
    """Names of torchgen's saved attributes."""
    return {str(getattr(each.nctype.name, "name", each.nctype.name)) for each in saved}


def test_saved_attributes_are_torchgens(theirs):
    def expected(key, info):
        return attributes((*info.all_saved_inputs, *info.all_saved_outputs))

    assert different(theirs, lambda row: {*row.saved}, expected) == {}


@pytest.mark.parametrize(("side", "of"), [("inputs", "arguments"), ("outputs", "returns")])
def test_saved_names_are_torchgens(theirs, side, of):
    """`self_sym_sizes` is taken from `self`."""

    def expected(key, info):
        names = [each.name for each in getattr(reflect.parse_schema(str(info.func.func)), of)]
        owners = {
            max((name for name in names if f"{attribute}_".startswith(f"{name}_")), key=len)
            for attribute in attributes(getattr(info, f"all_saved_{side}"))
        }
        return tuple(name for name in names if name in owners)

    assert different(theirs, lambda row: getattr(row.upstream, f"saved_{side}"), expected) == {}


@pytest.fixture
def convention():
    """A setting without which torchgen names no C++ type."""
    from torchgen import local

    with local.parametrize(use_const_ref_for_mutable_tensors=True, use_ilistref_for_tensor_lists=False):
        yield


def test_outputs_are_torchgens(theirs, convention):
    """An in-place op's output is `self` in C++ and `result` in the formulas."""
    from torchgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, gen_differentiable_outputs
    from torchgen.api.cpp import return_names

    def expected(key, info):
        both = NativeFunctionWithDifferentiabilityInfo(info.func, {key: info}, None)
        differentiable = {output.name for output in gen_differentiable_outputs(both, key)}
        names = return_names(info.func)
        return ["result" if n == "self" else n for n in names], [n not in differentiable for n in names]

    def mine(row):
        names = [output.name for output in reflect.parse_schema(row.schema).returns]
        return names, [name in row.upstream.non_differentiable_outputs for name in names]

    assert different(theirs, mine, expected) == {}


def test_overloads_are_torchgens(infos, theirs, tables):
    """out= overloads get an info from torchgen, and raise on whatever requires grad: they record nothing."""
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.model import SchemaKind

    natives = parse_native_yaml(tables[1], tables[2]).native_functions
    expected = {name: set() for name in theirs}
    for match in match_differentiability_info(natives, dict(infos)):
        for info in (match.info or {}).values() if match.func.func.kind() is not SchemaKind.out else ():
            if info.op in expected:  # foreach ops whose derivative is made from another's have no class of their own
                expected[info.op].add(str(match.func.func.name))
    assert different(theirs, lambda row: {*row.overloads}, lambda key, info: expected[info.op]) == {}


def test_a_row():
    row = ROWS["MaxBackward0"]
    assert row.schema == "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
    assert list(row.upstream.formulas) == ["self"]
    assert row.upstream.saved_inputs == ("self", "dim", "keepdim")
    assert row.upstream.saved_outputs == ("indices",)
    assert row.upstream.non_differentiable_outputs == ("indices",)
    assert row.saved == {"self_sym_sizes": "self", "dim": "dim", "keepdim": "keepdim", "indices": "indices"}


@pytest.mark.parametrize(
    ("name", "dispatch", "overloads"),
    [
        ("MulBackward0", "", {"mul.Tensor", "mul_.Tensor", "_foreach_mul_.List", "_foreach_mul_.Tensor"}),
        ("ViewBackward0_copy", "", {"view_copy"}),
        ("SumBackwardAutogradNestedTensor0", "AutogradNestedTensor", {"sum"}),
        ("ZeroBackward0", "", {"zero_", "zero", "_foreach_zero_"}),
        ("BitwiseAndBackward0", "", None),
    ],
)
def test_rows(name, dispatch, overloads):
    if overloads is None:
        assert name not in ROWS
    else:
        assert (ROWS[name].dispatch, {*ROWS[name].overloads}) == (dispatch, overloads)


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "derivatives.yaml: No such file or directory"),
        ({"autograd/derivatives.yaml": "- name: [\n"}, "not YAML"),
        ({"autograd/derivatives.yaml": "mul: self\n"}, "not a list of named entries"),
        ({"autograd/derivatives.yaml": "- name: mul\n"}, "native_functions.yaml: No such file or directory"),
        ({"autograd/derivatives.yaml": "- name: mul\n", "ATen/native/native_functions.yaml": ""}, "lists no ops"),
        (
            {
                "autograd/derivatives.yaml": "- name: mul\n  self: grad\n",
                "ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n",
            },
            "not an operator schema: 'mul'",
        ),
        (
            {
                "autograd/derivatives.yaml": "- name: mul(Tensor self) -> Tensor\n  slef: grad\n",
                "ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n",
            },
            "mul: slef is neither an argument nor an output",
        ),
        (
            {
                "autograd/derivatives.yaml": "- name: mul(Tensor self) -> Tensor\n  self: 1\n",
                "ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n",
            },
            "mul: {'self': 1} is not a mapping of names to expressions",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unreadable_table(tmp_path, files, said):
    write(tmp_path, files)
    with pytest.raises(reflect.UpstreamMissing) as caught:
        reflect.upstream(str(tmp_path))
    message = str(caught.value)
    assert said in message
    assert "install torch again" in message
    assert "\n" not in message


def test_a_copy_with_an_entry_of_its_own_keeps_it(tmp_path):
    view, copy = "f(Tensor(a) self) -> Tensor(a)", "f_copy(Tensor self) -> Tensor"
    tables = {
        "autograd/derivatives.yaml": f"- name: {view}\n  self: grad\n- name: {copy}\n  self: -grad\n",
        "ATen/native/native_functions.yaml": f"- func: {view}\n- func: {copy}  # a comment\n",
    }
    write(tmp_path, tables)
    rows = reflect.upstream(str(tmp_path))
    assert {name: row.upstream.formulas for name, row in rows.items()} == {
        "FBackward0": {"self": "grad"},
        "FCopyBackward0": {"self": "-grad"},
    }


def test_no_torchgen(monkeypatch):
    monkeypatch.setattr(reflect, "folder", lambda package: "")
    with pytest.raises(reflect.UpstreamMissing, match="torch's derivative table cannot be read"):
        reflect.upstream()


def test_namespace_is_complete():
    assert {*CLASSES} == {name for name in dir(torch._C._functions) if not name.startswith("__")}


def test_engine_classes_are_those_without_a_row():
    assert {name for name, entry in CLASSES.items() if entry["kind"] == "engine"} == CLASSES.keys() - ROWS.keys()
    assert {"AccumulateGrad", "CopySlices", "UndefinedGradBackward"} <= CLASSES.keys() - ROWS.keys()


def test_saved_attributes_of_the_classes_are_in_their_rows():
    """Not the other way round: for sizes and options that only C++ reads there is no Python attribute."""
    stray = {name: {*CLASSES[name]["saved"]} - {*row.saved} for name, row in ROWS.items()}
    assert {name: attributes for name, attributes in stray.items() if attributes} == {}


def test_autograd_function_holds_no_node_class():
    assert not CLASSES.keys() & vars(torch.autograd.function).keys()


def definitions(path):
    """Line -> name and first docstring line of each class, as Python's own parser sees them."""
    return {
        node.lineno: (node.name, (ast.get_docstring(node) or "").partition("\n")[0].strip())
        for node in ast.walk(ast.parse(Path(path).read_bytes()))
        if isinstance(node, ast.ClassDef)
    }


@pytest.mark.parametrize("file", sorted({entry["file"] for entry in FUNCTIONS}))
def test_python_functions_are_where_they_are_said_to_be(file):
    known = definitions(Path(torch_folder()).parent / file)
    for entry in FUNCTIONS:
        if entry["file"] == file:
            assert known[entry["line"]] == (entry["name"], entry["doc"])


def test_python_functions_hold_every_class_that_is_loaded():
    def loaded(base):
        for each in base.__subclasses__():
            yield each
            yield from loaded(each)

    found = {(entry["module"], entry["name"]) for entry in FUNCTIONS}
    missing = {
        (each.__module__, each.__name__)
        for each in loaded(torch.autograd.Function)
        if each.__module__.startswith("torch.")
        # The bases of the rest, and what is made at run time: it has no text.
        and each.__module__ != "torch.autograd.function"
        and "<locals>" not in each.__qualname__
        and not each.__name__.startswith("GeneratedBackwardFor_")
    } - found
    assert missing == set()
    assert ("torch.utils.checkpoint", "CheckpointFunction") in found


def test_node_of_a_python_function():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    assert type(Twice.apply(torch.ones(2, requires_grad=True)).grad_fn).__name__ == "TwiceBackward"
    assert {entry["node"] for entry in FUNCTIONS} >= {"SyncBatchNormBackward", "CheckpointFunctionBackward"}


SOURCES = {
    "imported": ("from torch.autograd import Function\nclass A(Function):\n    pass\n", ["A"]),
    "imported with others": (
        "from torch.autograd import (\n    x,\n    Function,\n)\nclass A(Function): pass\n",
        ["A"],
    ),
    "dotted": ("import torch\nclass A(torch.autograd.Function):\n    pass\n", ["A"]),
    "of autograd": ("from torch import autograd\nclass A(Mixin, autograd.Function): pass\n", ["A"]),
    "relative": ("from ..function import Function\nclass A(Function): pass\n", ["A"]),
    "in place": ("from torch.autograd.function import InplaceFunction\nclass A(InplaceFunction): pass\n", ["A"]),
    "on three lines": ("class A(\n    torch.autograd.Function,\n):\n    pass\n", ["A"]),
    "inside a function": ("def f():\n    class A(torch.autograd.Function):\n        pass\n    return A\n", ["A"]),
    "of another": ("class A(torch.autograd.Function): pass\nclass B(A): pass\n", ["A", "B"]),
    "of sympy": ("from sympy import Function\nclass A(sympy.Function): pass\nclass B(Function): pass\n", []),
    "in a docstring": ('def f():\n    """\n    class A(torch.autograd.Function):\n    """\n', []),
    "in a string": ("code = '''\nclass A(torch.autograd.Function):\n'''\n", []),
    "in a comment": ("# it's\n# class A(torch.autograd.Function):\n", []),
    "after odd quotes": ('a = \'"""\'  # """\nclass A(torch.autograd.Function): pass\n', ["A"]),
    "after quotes in a comment": ('# """\nclass A(torch.autograd.Function):\n    """Doc."""\n', ["A"]),
    "other name": ("from torch.autograd import Function\nclass A(UserFunction): pass\n", []),
}


@pytest.mark.parametrize(("text", "expected"), SOURCES.values(), ids=SOURCES)
def test_python_functions_in(tmp_path, text, expected):
    (tmp_path / "module.py").write_text(text)
    found = reflect.python_functions(str(tmp_path))
    assert [entry["name"] for entry in found] == expected
    for entry in found:
        assert definitions(tmp_path / "module.py")[entry["line"]][0] == entry["name"]


def test_entry_of_a_python_function(tmp_path):
    (tmp_path / "nn").mkdir()
    doc = '    # why\n    r"""What it does.\n\n    More.\n    """\n'
    text = f"from torch.autograd import Function\n\nclass A(Function):\n{doc}"
    (tmp_path / "nn" / "__init__.py").write_text(text)
    (found,) = reflect.python_functions(str(tmp_path))
    assert found == {
        "name": "A",
        "node": "ABackward",
        "module": "torch.nn",
        "file": "torch/nn/__init__.py",
        "line": 3,
        "doc": "What it does.",
    }


def test_files_are_read_without_torch():
    code = """
import sys
from gradcat import reflect

assert reflect.upstream() and reflect.python_functions()
sys.exit(any(name.partition(".")[0] in ("torch", "torchgen") for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
