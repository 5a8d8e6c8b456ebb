"""Numbers of a backward pass that leaves everything as it was."""

from __future__ import annotations

import math

import pytest
import torch

from gradcat.errors import GradcatError
from gradcat.trace import nan
from gradcat.trace.values import PassFailed, numbers


def squared_error():
    w, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 1.0))
    x, y = torch.tensor(3.0), torch.tensor(5.0)
    return w, b, (w * x + b - y) ** 2


def test_the_chain_rule_with_numbers(bare):
    w, b, loss = squared_error()
    trace = bare(loss, params={"w": w, "b": b})
    found = trace.values()
    steps = [
        (trace.lines.node(s.node), s.arrives[0].all, [v.all if v else None for v in s.leaves]) for s in found.steps
    ]
    assert steps == [
        ("PowBackward0", 1.0, [4.0]),
        ("SubBackward0", 4.0, [4.0, None]),
        ("AddBackward0", 4.0, [4.0, 4.0]),
        ("MulBackward0", 4.0, [12.0, None]),
    ]
    assert {trace.lines.name(i): grad.all for i, grad in found.grads.items()} == {"w": 12.0, "b": 4.0}


def test_numbers_equal_those_of_backward(bare, model_and_input):
    model, x = model_and_input
    loss = model(x).square().mean()
    trace = bare(loss, params=model)
    found = trace.values()
    loss.backward()
    assert len(found.grads) == len(list(model.parameters()))
    for i, grad in found.grads.items():
        assert grad == numbers(trace.graph.nodes[i].variable.grad)


def test_nothing_is_changed(bare):
    x = torch.ones(3, requires_grad=True)
    x.grad = torch.full((3,), 5.0)
    kept = x.grad
    y = x.exp()
    y.retain_grad()
    loss = (y * 2).sum()
    hooks = []
    x.register_post_accumulate_grad_hook(hooks.append)
    before = x._version, y._version
    trace = bare(loss)
    found = trace.values()
    (grad,) = found.grads.values()
    assert grad.all == pytest.approx([5 + 2 * math.e] * 3)
    assert x.grad is kept
    assert y.grad is None
    assert x.grad.tolist() == [5.0] * 3
    assert (x._version, y._version) == before
    assert not hooks
    loss.backward()  # the graph was not freed, and no hook of ours is left
    assert y.grad.tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("cotangent", "expected"), [(None, 16.0), (torch.tensor([1.0, 0.1]), 5.2), (torch.tensor([0.0, 1.0]), 12.0)]
)
def test_cotangents(bare, cotangent, expected):
    x = torch.tensor(2.0, requires_grad=True)
    found = bare(torch.stack([x**2, x**3])).values(cotangent)
    assert [grad.all for grad in found.grads.values()] == [pytest.approx(expected)]


def test_a_cotangent_of_another_shape_is_refused(bare):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(GradcatError, match=r"shape \[3\], the output \[2\]"):
        bare(x.exp()).values(torch.ones(3))
    with pytest.raises(GradcatError, match="2 cotangents for 1 outputs"):
        bare(x.exp()).values([torch.ones(2), torch.ones(2)])


def test_a_pass_that_raises_names_the_last_node(bare):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("no such luck")

    trace = bare(Wrong.apply(torch.ones(2, requires_grad=True).exp()).sum())
    with pytest.raises(PassFailed, match=r"after #0 SumBackward0: RuntimeError: no such luck"):
        trace.values()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.tensor(1.5), "1.5"),
        (torch.tensor([1.0, math.inf]), "[1, inf]"),
        (torch.arange(10.0), "norm 16.88, 0 to 9"),
        (torch.tensor([math.nan] * 2 + [0.0] * 6), "norm nan, nan to nan, 2 of 8 not finite"),
        (torch.tensor([1 + 2j]), "[1+2j]"),
        (torch.zeros(0), "[]"),
        (torch.eye(3).to_sparse(), "norm 1.732, 0 to 1"),
    ],
)
def test_numbers_in_words(value, said):
    assert str(numbers(value)) == said


def of_sqrt_at_zero():
    x = torch.zeros(2, requires_grad=True)
    return (x.sqrt() * 3).sum(), "SqrtBackward0", [math.inf, math.inf]


def of_nan_in_where():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    y = torch.where(x > 0, x.log(), torch.zeros(2))  # the branch not taken gives 0 / 0
    return y.sum(), "LogBackward0", [1.0, math.nan]


@pytest.mark.parametrize("make", [of_sqrt_at_zero, of_nan_in_where])
def test_the_first_that_is_not_finite(traced, make):
    loss, name, leaves = make()
    trace = traced(loss)
    culprit = trace.nan()
    assert trace.lines.node(culprit.node) == name
    assert str(culprit.leaves[0].all) == str(leaves)
    assert not any(given.bad for given in culprit.arrives)
    text = "\n".join(nan.report(trace.lines, culprit))
    assert "saved" in text
    assert "∂L/∂out" in text


def test_all_finite(bare):
    assert bare(squared_error()[2]).nan() is None


def test_a_loss_that_is_given_a_bad_cotangent(bare):
    trace = bare(torch.ones(2, requires_grad=True).exp())
    culprit = trace.nan(torch.tensor([math.nan, 1.0]))
    assert "what arrived was not finite" in "\n".join(nan.report(trace.lines, culprit))
