"""The walk: order, large graphs, and how they are let go."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from gradcat.trace.walk import Graph


def diamond():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    return (y.sin() + y.cos()).sum()


def two_outputs():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    return y.sum(), (y * x).sum(), y


def test_every_node_stands_before_what_it_points_to():
    for outputs in ([diamond()], two_outputs()):
        graph = Graph(outputs)
        assert len(set(map(id, graph.nodes))) == len(graph)
        for i, node in enumerate(graph.nodes):
            assert [to > i for to, _ in graph.edges(i) if to >= 0] == [True] * sum(to >= 0 for to, _ in graph.edges(i))
            found = [(graph.nodes[to] if to >= 0 else None, number) for to, number in graph.edges(i)]
            assert found == list(node.next_functions)
        assert [graph.nodes[i] for i, _ in graph.roots] == [output.grad_fn for output in outputs]


def test_consumers_and_leaves():
    graph = Graph([diamond()])
    names = [type(node).__name__ for node in graph.nodes]
    assert names[0] == "SumBackward0"
    assert dict(zip(names, graph.consumers(), strict=True))["ExpBackward0"] == 2
    assert [name for i, name in enumerate(names) if graph.is_leaf(i)] == ["AccumulateGrad"]


LARGE = """
import gc, sys, torch
from gradcat.trace.walk import Graph
x = torch.ones((), requires_grad=True)
y = x
for _ in range(200_000):
    y = y * 1
graph = Graph([y])
assert len(graph) == 200_001
{rest}
gc.collect()
print("done")
"""


@pytest.mark.parametrize(
    "rest",
    [
        "del y; del graph",
        "del graph; del y",
        "del graph; y.backward(); del y",
        "again = Graph([y]); del graph, again, y",
        "",
    ],
    ids=["tensor first", "graph first", "after backward", "twice", "at exit"],
)
def test_a_large_graph_is_let_go_without_recursion(rest):
    result = subprocess.run(
        [sys.executable, "-c", LARGE.format(rest=rest)], capture_output=True, text=True, timeout=120
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
