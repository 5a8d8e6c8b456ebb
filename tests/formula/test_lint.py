"""The linter: rows of a formula and what is wrong with it."""

from __future__ import annotations

import pytest

from gradcat.formula.lint import lint

SCOPE = ["grad", "mat2", "result", "self"]

GOOD = [
    "grad @ mat2.T",
    "sum(grad * self, 0, keepdim=True)",
    "[g * mat2 for g in grad if g is not None]",
    "(lambda f: f(grad))",
    "where(self > -inf, pi, e)",
    "sum(*grad)",
    "einsum('ij,jk', grad, mat2)",
]
WRONG = [
    ("grd * mat2", ["formula uses {'grd'}; in scope: ['grad', 'mat2', 'result', 'self']; perhaps 'grad' for 'grd'"]),
    ("grad * (q - zz)", ["formula uses {'q', 'zz'}; in scope: ['grad', 'mat2', 'result', 'self']"]),
    ("sqr(grad)", ["unknown function 'sqr'; nearest in the vocabulary: "]),
    ("sum(grad, dims=1)", ["sum(grad, dims=1): got an unexpected keyword argument 'dims'; it is sum(x, dim=None, "]),
    ("exp()", ["exp(): missing a required argument: 'x'; it is exp(x)"]),
    ("exp(grad, self)", ["exp(grad, self): too many positional arguments; it is exp(x)"]),
    ("exp(sun(grd))", ["formula uses {'grd'}", "unknown function 'sun'; nearest in the vocabulary: "]),
    ("grad.grad_fn", ["attribute .grad_fn is not in the language"]),
    ("grad +", ["not an expression: invalid syntax"]),
    ("[g for g in grad] * g", ["formula uses {'g'}"]),
]


@pytest.mark.parametrize("code", GOOD)
def test_good_formulas(code):
    assert lint(code, SCOPE) == []


@pytest.mark.parametrize(("code", "starts"), WRONG)
def test_wrong_formulas(code, starts):
    messages = lint(code, SCOPE)
    assert len(messages) == len(starts)
    for message, start in zip(messages, starts, strict=True):
        assert message.startswith(start), message
