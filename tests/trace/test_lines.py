"""What is said of each node: names, modules, formulas, and why nothing flows."""

from __future__ import annotations

import itertools
import json
import re

import pytest
import torch
from torch import nn

from gradcat.render.wrap import plain
from gradcat.trace import picture
from gradcat.trace.names import Calls, of, of_variables
from gradcat.trace.tree import tree


def squared_error():
    w, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 1.0))
    x, y = torch.tensor(3.0), torch.tensor(5.0)
    return {"w": w, "b": b, "x": x, "y": y, "loss": (w * x + b - y) ** 2}


def test_table(traced):
    named = squared_error()
    trace = traced(named["loss"], params=named)
    text, formula = str(trace), trace.lines.cards.formula
    assert formula("MulBackward0", "self").startswith("∂L/∂out")
    assert text.splitlines()[1:6] == [
        f"#1 SubBackward0    float32 []        self: {formula('SubBackward0', 'self')} → #2 · other: none, constant",
        (
            f"#2 AddBackward0    float32 []        self: {formula('AddBackward0', 'self')} → #3 · "
            f"other: {formula('AddBackward0', 'other')} → b  (alpha = 1)"
        ),
        f"#3 MulBackward0    float32 []        self: {formula('MulBackward0', 'self')} → w · other: none, x constant",
        "#4 AccumulateGrad  float32 []        w  leaf",
        "#5 AccumulateGrad  float32 []        b  leaf",
    ]
    assert text.splitlines()[7] == "4 nodes, 2 leaves, 5 edges"


def frozen():
    layer = nn.Linear(2, 2)
    layer.weight.requires_grad_(False)
    return layer(torch.ones(3, 2)), layer, "frozen: requires_grad is False"


def constant():
    x = torch.ones(2, requires_grad=True)
    return x * torch.ones(2), None, "constant"


def index():
    x = torch.ones(3, requires_grad=True)
    return torch.where(torch.tensor([True, False, True]), x, torch.zeros(3)), None, "constant"


@pytest.mark.parametrize("make", [constant, index])
def test_why_nothing_flows(traced, make):
    output, params, why = make()
    lines = traced(output, params=params).lines
    assert [flow.why for flow in lines.flows(0) if flow.to < 0] == [why]


def test_a_frozen_parameter_is_named(traced):
    scale = nn.Parameter(torch.ones(2), requires_grad=False)
    x = torch.ones(2, requires_grad=True)
    flow = traced(x * scale, params={"scale": scale}).lines.flows(0)[1]
    assert (flow.name, flow.why) == ("scale", "frozen: requires_grad is False")


def test_names_of_special_nodes(bare):
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.ones(4, requires_grad=True)
    y = torch.zeros(4)
    y[1:] = Own.apply(x)[1:]
    base = x * 1
    view = base[:2]
    base.mul_(2)
    output = torch._foreach_exp([y, view])
    lines = bare(*output).lines
    said = {lines.node(i): lines.said(i) for i in range(len(lines.graph))}
    assert said["OwnBackward"].startswith("autograd.Function ")
    assert said["OwnBackward"].endswith("Own")
    assert said["CopySlices"].startswith("a view of this tensor was edited in place")
    assert "edited in place after the view was taken" in said["AsStridedBackward0"]
    assert "ForeachExpBackward0" in said
    copied = next(i for i in range(len(lines.graph)) if lines.node(i) == "CopySlices")
    assert [(flow.input, flow.why) for flow in lines.flows(copied)] == [("base", "constant"), ("written", "")]


def test_modules_by_their_calls(bare, model_and_input):
    model, x = model_and_input
    calls = Calls()
    with calls.watch():
        loss = model(x).square().mean()
    model(x)  # not watched any more
    lines = bare(loss, params=of_variables({"model": model, "other": nn.Linear(2, 2)}, calls), calls=calls).lines
    paths = dict(zip(map(lines.node, range(len(lines.graph))), lines.modules, strict=True))
    assert paths["MeanBackward0"] == ""
    names = {name for name, _ in model.named_modules()} | {type(model).__name__, ""}
    assert set(lines.modules) <= names
    for i, path in enumerate(lines.modules):
        for to in lines.graph.targets(i):
            if to >= 0 and lines.graph.is_leaf(to) and path:
                assert lines.name(to).startswith(path), (lines.node(i), path)


def test_modules_by_their_parameters(bare):
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    lines = bare(model(torch.ones(5, 2)).sum(), params=model).lines
    assert [(lines.node(i), lines.modules[i]) for i in range(len(lines.graph)) if not lines.graph.is_leaf(i)] == [
        ("SumBackward0", ""),
        ("AddmmBackward0", "2"),
        ("TanhBackward0", ""),
        ("AddmmBackward0", "0"),
        ("TBackward0", "0"),
        ("TBackward0", "2"),
    ]


def test_a_module_that_raises_leaves_the_others_named(bare):
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("not today")

    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.fails, self.works = Fails(), nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.fails(x)
            except ValueError:
                return self.works(x)

    model, calls = Tries(), Calls()
    with calls.watch():
        loss = model(torch.ones(1, 2)).sum()
    assert bare(loss, params=of_variables({"model": model}, calls), calls=calls).lines.modules[1] == "works"


def test_compiled_functions(bare):
    function = torch.compile(lambda x: (x * 2).sin(), backend="aot_eager")
    lines = bare(function(torch.ones(2, requires_grad=True)).sum()).lines
    assert lines.node(1) == "CompiledFunctionBackward"
    assert "compiled" in lines.said(1)


def test_layers_are_folded(traced, model_and_input):
    model, x = model_and_input
    text = str(traced(model(x).sum(), params=model))
    assert len(text.splitlines()) < 250
    if len(list(model.modules())) > 50:
        assert "   x 5  the 63 lines above" in text


@pytest.mark.parametrize(
    ("pattern", "count"), [("MulBackward0", 2), ("mul", 2), ("M*", 2), ("*backward0", 4), ("accumulategrad", 1)]
)
def test_only(bare, pattern, count):
    x = torch.ones(2, requires_grad=True)
    trace = bare((x * x * x).exp().sum())
    assert len(trace.choose(only=[pattern])) == count


def test_depth_is_the_shortest_way(bare):
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sin()
    trace = bare(y + x)
    assert [trace.lines.node(i) for i in trace.choose(depth=1)] == ["AddBackward0", "SinBackward0", "AccumulateGrad"]
    assert len(trace.choose(depth=0)) == 1
    assert len(trace.choose(depth=99)) == len(trace)


def residual(blocks=500):
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(blocks):
        y = y + y.sin()
    return y


def test_a_tree_shows_every_node_once_and_stays_narrow(bare):
    lines = bare(residual()).lines
    text = [plain(line) for line in tree(lines, range(len(lines.graph)))]
    whole = [line for line in text if "below" not in line]
    shown = [int(n) for line in whole for n in re.findall(r"#(\d+) \w+Backward0", line)]
    assert sorted(shown) == [i for i in range(len(lines.graph)) if not lines.graph.is_leaf(i)]
    assert max(map(len, text)) < 80


def long_plain():
    """A long graph in which nothing repeats."""
    x = torch.ones(2, requires_grad=True)
    ops = [torch.sin, torch.exp, torch.tanh, torch.cos, torch.sigmoid]
    state, y = 1, x
    for _ in range(3000):
        state = (state * 1103515245 + 12345) % 2**31
        y = ops[(state >> 16) % 5](y)
    return y


@pytest.mark.parametrize("make", [residual, long_plain])
def test_pictures_are_never_posters(bare, make):
    trace = bare(make())
    drawn = picture.draw(trace.lines, trace.choose())
    assert 1 < len(drawn.boxes) <= picture.MOST or drawn.folded.endswith("folded by repeat")
    assert drawn.folded


def test_a_shared_leaf_is_written_into_labels(bare):
    x = torch.ones(2, requires_grad=True)
    trace = bare(x.exp() + x.sin(), params={"x": x})
    text = "".join(trace.text("dot"))
    assert text.count("AccumulateGrad") == 0
    assert text.count("→ x") == 2
    assert text.count("->") == 2
    mermaid = "".join(trace.text("mermaid"))
    assert mermaid.startswith("flowchart TD\n")
    assert mermaid.count("-->") == 2


def test_a_model_is_folded_by_module(bare):
    model = nn.Sequential(*(nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(40)))
    calls = Calls()
    with calls.watch():
        y = model(torch.ones(1, 2))
    drawn = picture.draw(
        (lines := bare(y, params=of_variables({"m": model}, calls), calls=calls).lines), range(len(lines.graph))
    )
    assert "folded by module" in drawn.folded
    assert {box.title for box in drawn.boxes} == set(map(str, range(40)))


def test_json_holds_the_graph(traced):
    named = squared_error()
    trace = traced(named["loss"], params=named)
    document = json.loads("".join(trace.text("json")))
    assert document["count"] == len(document["nodes"]) == 6
    assert [node["node"] for node in document["nodes"]] == [trace.lines.node(i) for i in range(6)]
    edges = [(node["id"], edge["to"]) for node in document["nodes"] for edge in node["edges"]]
    assert edges == [(0, 1), (1, 2), (1, None), (2, 3), (2, 5), (3, 4), (3, None)]


def test_a_long_chain_is_written_in_linear_time(bare):
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y * 1
    for format in ("table", "tree", "json", "dot"):
        pieces = bare(y).text(format)
        assert sum(1 for _ in itertools.islice(pieces, 200_000)) < 150_000


def test_names_of_mappings_and_models():
    model = nn.Linear(2, 2)
    assert of(model).tensor(model.weight) == "weight"
    assert of({"a": model.weight}).tensor(model.weight) == "a"
    assert of([("b", model.weight)]).tensor(model.weight) == "b"
    assert of(None).tensor(model.weight) == ""


def test_the_public_function():
    from gradcat import trace

    x = torch.ones(2, requires_grad=True)
    found = trace(x.exp())
    assert repr(found) == "<Trace of 2 nodes from ExpBackward0>"
    assert found.lines.cards.formula("ExpBackward0", "self") in str(found)
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    watched = trace(lambda: model(torch.ones(1, 2)))
    assert watched.lines.modules[:2] == ["1", "0"]
    assert "0.weight" in str(watched)
