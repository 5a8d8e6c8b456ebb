"""The Python side: names, nodes and tensors in, records out."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
import samples

import gradcat
from gradcat import api, store
from gradcat.library import Library


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    """The sample catalog, fully verified, as that of the installed torch."""
    monkeypatch.setenv("GRADCAT_CACHE", str(tmp_path))
    fixed = Library()
    fixed._reader = store.in_memory(fixed.key, samples.catalog())
    monkeypatch.setattr(Library, "prove", lambda self, names=None: None)
    monkeypatch.setattr(api, "_library", lambda: fixed)
    return fixed


def test_importing_imports_no_torch():
    code = "import gradcat, sys; gradcat.__version__; assert not {'torch', 'rich', 'yaml', 'click'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_catalog():
    assert gradcat.catalog() == samples.catalog()
    assert gradcat.catalog(verify=True) == samples.catalog()


@pytest.mark.parametrize("what", ["MulBackward0", "Mul", "<MulBackward0 object at 0x7f>", "aten::mul.Tensor"])
def test_node_by_name(what):
    assert gradcat.node(what) == samples.MUL


def test_node_by_grad_fn_tensor_and_class():
    import torch

    result = torch.ones(2, requires_grad=True).exp()
    assert gradcat.node(result.grad_fn) == gradcat.node(result) == gradcat.node(type(result.grad_fn)) == samples.EXP
    assert gradcat.node(result.sum().grad_fn.next_functions[0][0]).name == "ExpBackward0"
    assert gradcat.node(result.grad_fn.next_functions[0][0]).name == "AccumulateGrad"


def test_node_by_op():
    import torch

    for op in (torch.exp, torch.Tensor.exp, torch.Tensor.exp_, torch.ones(2).exp, torch.ops.aten.exp.default):
        assert gradcat.node(op) == samples.EXP
    assert gradcat.node(torch.ops.aten.mul.Tensor) == samples.MUL
    assert gradcat.nodes(torch.nn.GELU) == gradcat.nodes(torch.nn.GELU()) == gradcat.nodes(torch.nn.functional.gelu)


def test_nodes():
    assert gradcat.nodes("torch.max") == (samples.MAX0, samples.MAX1)
    assert gradcat.nodes("MulBackward0") == (samples.MUL,)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("torch.max", "makes several nodes: MaxBackward0, MaxBackward1.*gradcat.nodes"),
        ("NoSuchBackward0", "neither a node nor an op"),
        (SimpleNamespace(grad_fn=None), "no grad_fn"),
        (None, "no grad_fn"),
        (3, "not a value of the type int"),
        ((1, 2), "not a value of the type tuple"),
    ],
    ids=str,
)
def test_errors(what, words):
    with pytest.raises(gradcat.GradcatError, match=words):
        gradcat.node(what)


def test_names():
    assert {"catalog", "node", "nodes"} <= set(dir(gradcat))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gradcat.nothing  # noqa: B018


def test_warnings_are_warnings(monkeypatch):
    monkeypatch.undo()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api._library().warn("the cache is damaged")
    assert [str(warning.message) for warning in caught] == ["gradcat: the cache is damaged"]
