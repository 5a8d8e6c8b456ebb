"""What would go wrong, said before it does: the node named is the node that raises."""

from __future__ import annotations

import pytest
import torch


def leaf():
    return torch.ones(2, requires_grad=True)


def edited_result():
    y = leaf().exp()
    y.add_(1)
    return y.sum()


def edited_input():
    x = leaf()
    y = x * 1
    z = y * y
    y.mul_(2)
    return z.sum()


def edited_leaf():
    x = leaf()
    z = x.sin()
    with torch.no_grad():
        x.add_(1)
    return z


@pytest.mark.parametrize(
    ("make", "node", "words"),
    [
        (
            edited_result,
            "ExpBackward0",
            "saved torch.FloatTensor [2], output 0 of Exp, at version 0; edits made it version 1",
        ),
        (edited_input, "MulBackward0", "output 0 of Mul, at version 0; edits made it version 1"),
        (edited_leaf, "SinBackward0", "saved torch.FloatTensor [2] at version 0; edits made it version 1"),
    ],
)
def test_a_version_that_moved(bare, make, node, words):
    loss = make()
    trace = bare(loss)
    first, *_, last = trace.hazards
    assert (first.kind, trace.lines.node(first.node)) == ("moved", node)
    assert words in first.text
    assert (last.kind, last.node) == ("raises", first.node)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward(torch.ones_like(loss))


def test_an_edit_that_does_no_harm(bare):
    x = leaf()
    y = x + 1
    y.mul_(3)
    assert bare(y.exp()).hazards == []
    x.data.add_(1)
    assert bare(x.exp()).hazards == []


def products():
    x = leaf()
    return (x.exp() * x.sin()).sum()


def nothing_saved():
    x = leaf()
    return (x + x).sum()


def slices():
    x = leaf()
    y = torch.zeros(4)
    y[1:3] = x + 1
    return y.sum()


def foreach():
    x = leaf()
    return torch._foreach_exp([x, x + 1])[0].sum()


def without_saved():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Twice.apply(leaf()).sum()


def with_saved():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    return (Square.apply(leaf()) * 1).sum()


def listed():
    x = leaf()
    return torch.stack([x * x, x.exp()]).max()


def residual():
    x = leaf()
    for _ in range(4):
        x = x + (x * x).tanh()
    return x.sum()


MAKERS = [products, nothing_saved, slices, foreach, without_saved, with_saved, listed, residual]


@pytest.mark.parametrize("make", MAKERS)
def test_the_node_at_which_a_second_pass_stops(bare, make):
    loss = make()
    trace = bare(loss)
    said = [line for line in trace.remarks(len(trace)) if "second backward" in line]
    begun = []
    loss.backward()
    for i, node in enumerate(trace.graph.nodes):
        if not trace.graph.is_leaf(i):
            node.register_prehook(lambda arrived, i=i: begun.append(i))
    try:
        loss.backward()
    except RuntimeError:
        assert said == [
            f"a second backward pass without retain_graph would raise at #{begun[-1]} {trace.lines.node(begun[-1])}"
        ]
    else:
        assert not said


@pytest.mark.parametrize("make", [products, with_saved, listed, residual])
def test_a_freed_graph(bare, make):
    loss = make()
    loss.backward()
    trace = bare(loss)
    *freed, last = trace.hazards
    assert {hazard.kind for hazard in freed} == {"freed"}
    begun = []
    for i, node in enumerate(trace.graph.nodes):
        if not trace.graph.is_leaf(i):
            node.register_prehook(lambda arrived, i=i: begun.append(i))
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    assert last.node == begun[-1]


def test_retained_graphs_have_no_hazard(bare):
    loss = products()
    loss.backward(retain_graph=True)
    assert bare(loss).hazards == []
