"""Formulas on a user's own data."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gradcat.model import Formula
from gradcat.record import decode, encode
from gradcat.trace import check
from gradcat.trace.api import Trace
from gradcat.trace.names import Names
from gradcat.trace.walk import Graph


def summary(trace):
    return {(trace.lines.node(outcome.node), outcome.status) for outcome in trace.check()}


def test_models(traced, model_and_input):
    model, x = model_and_input
    found = summary(traced(model(x).square().mean(), params=model))
    assert not [name for name, status in found if status == "differs"]
    assert {("AddmmBackward0", "agrees"), ("ReluBackward0", "agrees"), ("MeanBackward0", "agrees")} <= found


def products():
    x = torch.randn(2, 3, dtype=torch.complex64, requires_grad=True)
    return (x * torch.randn(3)).abs().sum()


def broadcast():
    return torch.randn(3, requires_grad=True) * torch.randn(2, 3) + torch.randn(2, 1, requires_grad=True)


def lists():
    x = torch.randn(2, 3, requires_grad=True)
    return torch.cat([x.exp(), x, x.sin()], dim=-1)


@pytest.mark.parametrize("make", [products, broadcast, lists])
def test_every_formula_agrees(traced, make):
    torch.manual_seed(0)
    found = summary(traced(make()))
    assert {status for _, status in found} == {"agrees"}, found


def test_a_wrong_formula_is_found(find):
    def wrong(name):
        node = find(name)
        if name != "MulBackward0":
            return node
        from gradcat.model import Node

        node = decode(Node, encode(node))
        return replace(
            node, backward=tuple(replace(vjp, formula=Formula(f"-({vjp.formula.code})")) for vjp in node.backward)
        )

    x = torch.randn(3, requires_grad=True)
    trace = Trace(Graph([(x * x).sin()]), Names(), wrong)
    outcomes = trace.check()
    assert {trace.lines.node(o.node): o.status for o in outcomes} == {
        "SinBackward0": "agrees",
        "MulBackward0": "differs",
    }
    text = list(check.report(trace.lines, outcomes))
    assert any("MulBackward0.self: off by" in line and "torch gives" in line for line in text)
    assert text[-1] == "1 agrees, 1 differs"


def test_what_cannot_be_checked_says_why(traced):
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x.exp()
    trace = traced(Own.apply(y).sum())
    reasons = {trace.lines.node(o.node): o.reason for o in trace.check() if o.status == "unchecked"}
    assert reasons == {"OwnBackward": "not in the catalog", "ExpBackward0": "what it keeps was packed by a hook"}
