"""Whole cards, at a fixed width and without colour."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
import samples
from rich.console import Console

from gradcat.model import Facts, Node, Verification
from gradcat.record import Record, encode
from gradcat.render import Context, renderer
from gradcat.render.layout import INDENT, NARROW, STYLES, WIDE, card
from gradcat.render.rows import ROWS
from gradcat.render.wrap import length, plain

CATALOG = samples.catalog()
NODES = {node.name: node for node in CATALOG.nodes}


def context(width=80):
    return Context("2.13.0+cpu", "0.1.0", width, NODES.get)


def text(*nodes, width=80):
    return "".join(renderer("text")(nodes, context(width)))


MUL = """\
 MulBackward0                                      arithmetic · torch 2.13.0+cpu
 made by   torch.mul(self, other) · self.mul_(other)
 also in   torch.nn.functional.gelu
 schema    aten::mul.Tensor(Tensor self, Tensor other) -> Tensor
 siblings  MulBackward1  torch.ops.aten.mul.Scalar(self, other)

 forward   out = self ⊙ other

 backward  ∂L/∂self  = ∂L/∂out ⊙ conj(other)                              edge 0
           ∂L/∂other = ∂L/∂out ⊙ conj(self)                               edge 1
 local     ∂out/∂self = other      ∂out/∂other = self

 saved     other  input  24 B  float64 [3]     when self needs grad
           self   input  48 B  float64 [2, 3]  when other needs grad
 in place  edit self or other before backward: breaks · edit out: safe
 again     second backward without retain_graph: raises (saved tensors freed)
 orders    double backward: works through MulBackward0, SumBackward1 ·
             forward mode: works

 checked   verified · forward 0 · vjp 0 · numeric 3e-11 · complex128 float64 ·
             2 probes
 upstream  self: mul_tensor_backward(grad, other, self.scalar_type())
           other: mul_tensor_backward(grad, self, other.scalar_type())
 try       >>> import torch
           >>> self = torch.randn(2, 3).requires_grad_()
           >>> (torch.mul(self, 2)).grad_fn
           <MulBackward0 object at 0x...>
"""
MAX = """\
 MaxBackward0                                       selection · torch 2.13.0+cpu
 made by   torch.max(self, dim)
 schema    aten::max.dim(Tensor self, int dim, bool keepdim=False) ->
             (Tensor values, Tensor indices)
 siblings  MaxBackward1  torch.max(self)

 forward   values  = max_dim(self)
           indices = argmax_dim(self)

 backward  ∂L/∂self = spread                                              edge 0
           dim      non_differentiable  it cannot move (an index, a mask, a
                                        flag)
           keepdim  zero                the derivative is 0
 where     spread = scatter(0, dim, indices, ∂L/∂values)

 saved     dim      number                   always
           indices  index   16 B  int64 [2]  always
 in place  edit self or values before backward: safe · edit indices: breaks
 again     second backward without retain_graph: raises (saved tensors freed)
 orders    double backward: constant (the vjp does not depend on the inputs) ·
             forward mode: works

 checked   failed: MaxBackward0.self: vjp is off by 0.5 (relative) · forward 0 ·
             vjp 5e-01 · float64 · 1 probe
"""
CUDNN = """\
 CudnnRnnBackward0                                              torch 2.13.0+cpu
 known     reflected: needs a CUDA device
 schema    aten::_cudnn_rnn(Tensor input, Tensor[] weight, int weight_stride0)
             -> (Tensor, Tensor)

 checked   no formulas yet; upstream's expressions are below
 upstream  input: _cudnn_rnn_backward(input, weight, weight_stride0, weight_buf,
             hx, cx, result0, grads[0])
"""
NARROW_MUL1 = """\
 MulBackward1
 arithmetic · torch 2.13.0+cpu
 made by   torch.ops.aten.mul.
             Scalar(self, other)
 schema    aten::mul.Scalar(Tensor self,
             Scalar other) -> Tensor
 siblings  MulBackward0
             torch.mul(self, other)
               aten::mul.Tensor

 forward   out = self ⊙ other

 backward  ∂L/∂self = ∂L/∂out ⊙   edge 0
               conj(other)
           other  todo  nobody
                        differentiates
                        by a Python
                        number

 checked   unverified: not run yet
"""


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("MulBackward0", 80, MUL),
        ("MaxBackward0", 80, MAX),
        ("CudnnRnnBackward0", 80, CUDNN),
        ("MulBackward1", 40, NARROW_MUL1),
    ],
)
def test_card(name, width, expected):
    assert text(NODES[name], width=width) == expected


@pytest.mark.parametrize("node", CATALOG.nodes, ids=lambda node: node.name)
@pytest.mark.parametrize("width", [20, 40, 61, 80, 120, 300])
def test_every_card_keeps_within_the_width_and_loses_nothing(node, width):
    lines = card(replace(node, snippet="", check=""), context(width))
    assert max(map(length, lines)) <= min(max(width, NARROW), WIDE)
    squeezed = "".join(plain(line) for line in lines).replace(" ", "")
    for vjp in node.backward:
        if vjp.formula:
            assert vjp.formula.text.replace(" ", "") in re.sub(r"edge\d", "", squeezed)
    assert {style for line in lines for style, _ in line} <= {*STYLES, ""}


@pytest.mark.parametrize("format", ["text", "card", "json", "csv", "markdown", "latex"])
def test_a_line_of_the_cache_renders_as_the_record_does(format):
    lines = [Record(encode(node)) for node in CATALOG.nodes]
    assert list(renderer(format)(lines, context())) == list(renderer(format)(CATALOG.nodes, context()))


def test_rows_without_content_are_not_printed():
    assert text(Node("NewBackward0")) == (
        " NewBackward0                                                   torch 2.13.0+cpu\n"
        " known     reflected: no probe makes it\n"
        "\n"
        " checked   no formulas yet\n"
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"kind": "engine"}, "arithmetic · engine node · torch"),
        ({"device": "meta"}, "known     harvested: on the meta device; its class, edges and saved names are\n"),
        (
            {"device": "meta", "how": "by force"},
            "known     harvested: by force; its class, edges and saved names are real",
        ),
        ({"check": "python -c 1\npython -c 2"}, "see       python -c 1\n           python -c 2\n"),
        ({"like": "AddBackward0"}, "like      the rule is that of AddBackward0"),
        ({"deviations": ("off by 1",)}, "deviates  off by 1"),
        ({"where_defined": "torch.utils.checkpoint.CheckpointFunction"}, "defined   torch.utils.checkpoint."),
        ({"facts": Facts(double_backward="raises", double_backward_error="no")}, "double backward: raises (no)"),
        ({"facts": Facts(second_backward="works")}, "second backward without retain_graph: works"),
        ({"facts": Facts(in_place={"self": "safe"})}, "in place  edit self before backward: safe"),
        ({"siblings": tuple(f"M{i}Backward0" for i in range(12))}, "and 5 more"),
        ({"ops": tuple(f"torch.op{i}" for i in range(12))}, "· and 4 more"),
        ({"edges": ()}, "∂L/∂self  = ∂L/∂out ⊙ conj(other)\n"),
        ({"verification": Verification("raises", "torch has no derivative for it")}, "raises: torch has no derivative"),
        ({"verification": Verification("failed", "x", float("inf"))}, "forward inf"),
    ],
    ids=str,
)
def test_what_a_card_says(changes, expected):
    assert expected in text(replace(NODES["MulBackward0"], **changes))


def test_every_row_is_explained_and_fits():
    labels = [label for label, _, _ in ROWS if label]
    assert len(labels) == len(set(labels))
    assert all(len(label) < INDENT - 1 for label in labels)
    assert all(meaning for label, meaning, _ in ROWS if label)


def test_colours_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = "".join(renderer("card")([NODES["MulBackward0"]], context()))
    assert "\x1b[1mself ⊙ other\x1b[0m" in coloured
    assert "\x1b[32mverified\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == MUL


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_are_refused(monkeypatch, variable, value):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, value)
    coloured = "".join(renderer("card")([NODES["MulBackward0"]], context()))
    assert not re.search(r"\x1b\[3\d", coloured)
    assert ("\x1b[" in coloured) == (variable == "NO_COLOR")


def test_objects_render_themselves():
    node = NODES["MulBackward0"]
    assert repr(node) == "<Node MulBackward0>"
    assert str(node).splitlines()[1:] == MUL.replace("  torch.ops.aten.mul.Scalar(self, other)", "").splitlines()[1:]
    output = io.StringIO()
    Console(file=output, width=80).print(node)
    assert output.getvalue().rstrip().splitlines()[-1].strip() == "<MulBackward0 object at 0x...>"
    assert node._repr_markdown_().startswith("## MulBackward0\n")
    assert node._repr_latex_().startswith("$$\n\\begin{aligned}\n")
    assert Node("NewBackward0")._repr_latex_() == ""
    assert repr(CATALOG) == "<Catalog of torch 2.13.0+cpu: 7 nodes>"
    assert "| nodes | 7 |" in CATALOG._repr_markdown_()
    output = io.StringIO()
    Console(file=output, width=80).print(CATALOG)
    assert len(output.getvalue().splitlines()) == 7


def test_cards_and_formulas_agree_on_letters():
    from gradcat.formula.typeset import text as typeset
    from gradcat.formula.typeset import walk
    from gradcat.render.rows import letter
    from gradcat.words import GREEK

    assert walk.GREEK == GREEK
    for name in ("mu", "sigma2", "x", "result0", "eps"):
        assert letter(name) == typeset(name)
