"""The lines of a graph: one a node, with the names that people gave to things."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from .cards import ENGINE, Cards
from .classes import class_name, constants, layouts, python_class
from .names import Names
from .saved import slots
from .walk import Graph

#: A number in the path of a module or parameter: layers 0, 1 and 2 are repeats of each other.
COUNTED = re.compile(r"\d+")


@dataclass(frozen=True)
class Flow:
    """One edge: the argument it belongs to, what that receives, and where it goes; or why it goes nowhere."""

    position: int
    input: str
    formula: str
    to: int  # -1 for None
    number: int
    name: str  # of the leaf or variable that it goes to, or of the constant that stands there
    why: str = ""  # for None


@dataclass
class Lines:
    """What is said of each node, computed when it is asked for."""

    graph: Graph
    names: Names
    cards: Cards
    _keys: dict[Any, int] = field(default_factory=dict)

    @cached_property
    def modules(self) -> list[str]:
        """The module of each node."""
        return self.names.paths(self.graph)

    def node(self, i: int) -> str:
        return class_name(self.graph.nodes[i])

    def name(self, i: int) -> str:
        """Name of the tensor that a node made, or at which the graph ends."""
        node = self.graph.nodes[i]
        if self.graph.is_leaf(i):
            return self.names.leaf(node)
        found = [self.names.places.get((node, output), "") for output in range(len(node._input_metadata))]
        return ", ".join(filter(None, found)) if self.names.places else ""

    def layout(self, i: int) -> str:
        """dtype and shape of what a node made."""
        return " ".join(f"{dtype} {list(shape)}" for dtype, shape in layouts(self.graph.nodes[i]))

    def said(self, i: int) -> str:
        """What a node is beside its formulas: the end of the graph, a rewrite, a Function of the user."""
        name = self.node(i)
        if self.graph.is_leaf(i):
            variable = self.graph.nodes[i].variable
            return "parameter" if isinstance(variable, torch.nn.Parameter) else "leaf"
        if name in ENGINE:
            return ENGINE[name]
        where = python_class(self.graph.nodes[i])
        if where:
            return f"autograd.Function {where}"
        return "" if self.cards.find(name) else "not in the catalog: no formula"

    def flows(self, i: int) -> list[Flow]:
        """The edges of a node."""
        node, name = self.graph.nodes[i], self.node(i)
        edges = list(self.graph.edges(i))
        inputs = self.cards.inputs(name, len(edges))
        flows = []
        for position, (to, number) in enumerate(edges):
            known = self._constant(node, inputs[position]) if to < 0 else self.place(to, number)
            flows.append(
                Flow(
                    position,
                    inputs[position],
                    self.cards.formula(name, inputs[position]),
                    to,
                    number,
                    known,
                    self._why(name, inputs[position], known, i) if to < 0 else "",
                )
            )
        return flows

    def place(self, i: int, number: int) -> str:
        """Name of one output of a node."""
        node = self.graph.nodes[i]
        return self.names.leaf(node) if self.graph.is_leaf(i) else self.names.places.get((node, number), "")

    def _constant(self, node: Any, argument: str) -> str:
        """Name of the tensor that stands where nothing flows, where the node keeps that very tensor."""
        kept = {slot.name: slot.tensor for slot in slots(node)} if self.names.tensors else {}
        return self.names.tensor(kept.get(argument))

    def _why(self, name: str, argument: str, known: str, i: int) -> str:
        if known:
            tensor = next(tensor for label, tensor in self.names.tensors.values() if label == known)
            if isinstance(tensor, torch.nn.Parameter):
                return "frozen: requires_grad is False"
            return "constant"
        why = self.cards.why_none(name, argument)
        return "constant" if why == "needs no grad" else why

    def numbers(self, i: int) -> dict[str, Any]:
        """Numbers that a node keeps and that the formulas of its edges name."""
        name, used = self.node(i), ""
        for argument, to in zip(
            self.cards.inputs(name, len(self.graph.targets(i))), self.graph.targets(i), strict=True
        ):
            vjp = self.cards.vjp(name, argument) if to >= 0 else None
            used += f" {vjp.formula.code}" if vjp and vjp.formula else ""
        words = set(re.findall(r"[A-Za-z_]\w*", used))
        return {n: v for n, v in constants(self.graph.nodes[i]).items() if n in words and v is not None}

    def key(self, i: int) -> int:
        """Equal for nodes that are repeats of each other: alike in all but their numbers."""
        node, graph = self.graph.nodes[i], self.graph
        targets = graph.targets(i)
        kinds = tuple(-1 if to < 0 else graph.is_leaf(to) for to in targets)
        own = "" if graph.is_leaf(i) else self.name(i)  # a user's variable stands on a line of its own
        alike = (class_name(node), tuple(layouts(node)), kinds, self._path(i), own)
        return self._keys.setdefault(alike, len(self._keys))

    def _path(self, i: int) -> str:
        if not self.names.modules and not self.names.tensors:
            return ""
        return COUNTED.sub("*", self.names.leaf(self.graph.nodes[i]) if self.graph.is_leaf(i) else self.modules[i])

    def near(self, depth: int) -> Iterator[int]:
        """Nodes that are at most `depth` edges from an output, in order."""
        away = array("q", [depth + 1]) * len(self.graph)
        for root, _ in self.graph.roots:
            away[root] = 0
        for i in range(len(self.graph)):  # edges go to higher numbers: every way to a node is known when it is reached
            if away[i] <= depth:
                yield i
                for to in self.graph.targets(i):
                    if to >= 0:
                        away[to] = min(away[to], away[i] + 1)
