"""One traced graph and all that can be asked of it."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from .. import names as spelling
from ..errors import GradcatError
from ..render.wrap import plain
from . import check, hazards, memory, nan, picture, table, tree, values
from .cards import Cards
from .classes import class_name
from .export import document
from .lines import Lines
from .names import Calls, Names, of
from .source import tensors as tensors_of
from .walk import Graph

if TYPE_CHECKING:
    from ..library import Library
    from ..model import Node
    from ..render.wrap import Line

Find = Callable[[str], "Node | None"]


def trace(tensors: Any, params: Any = None, find: Find | None = None) -> Trace:
    """The graph behind tensors, or behind what a callable returns; see `gradcat.trace`."""
    calls = Calls()
    if callable(tensors) and not isinstance(tensors, torch.Tensor):
        with calls.watch():
            tensors = tensors()
    if params is None and len(calls.roots) == 1:
        params = calls.roots[0]
    from ..api import _library

    known = of(params)
    known.calls = calls
    return Trace(Graph(tensors_of(tensors, "what was given")), known, find or finder(_library()))


def finder(library: Library) -> Find:
    """A lookup in the catalog of a library."""
    return lambda name: library.read(lambda reader: reader.find(name))


class Trace:
    """A graph with names and formulas. Printed, it is the table; its other answers are methods."""

    def __init__(self, graph: Graph, names: Names, find: Find) -> None:
        self.graph = graph
        self.lines = Lines(graph, names, Cards(find))

    def __len__(self) -> int:
        return len(self.graph)

    def __str__(self) -> str:
        return "".join(self.text()).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} nodes from {class_name(self.graph.nodes[0])}>"

    def choose(self, depth: int | None = None, only: Sequence[str] = ()) -> list[int]:
        """Nodes near the outputs, or of some classes, in topological order."""
        chosen = list(range(len(self)) if depth is None else self.lines.near(depth))
        if not only:
            return chosen
        classes = {self.lines.node(i) for i in range(len(self))}
        fitting = {name: [c for c in classes if _fits(c, name)] for name in only}
        for name, found in fitting.items():
            if not found:
                raise GradcatError(f"no node here is a {name!r}; there are: {', '.join(sorted(classes))}")
        wanted = {c for found in fitting.values() for c in found}
        return [i for i in chosen if self.lines.node(i) in wanted]

    def text(self, format: str = "table", chosen: Sequence[int] | None = None) -> Iterator[str]:
        """The graph in a format: table, tree, json, dot or mermaid."""
        chosen = self.choose() if chosen is None else chosen
        if format in TEXT:
            yield from (f"{plain(line)}\n" for line in TEXT[format](self.lines, chosen))
            yield from (f"{line}\n" for line in self.remarks(len(chosen)))
        elif format in WRITTEN:
            yield from WRITTEN[format](self.lines, chosen)
        else:
            raise GradcatError(f"no format {format!r}; there are {', '.join((*TEXT, *WRITTEN))}")

    def remarks(self, shown: int) -> list[str]:
        """What is said below a graph: counts, hazards, and where a second pass would stop."""
        said = ["", *table.footer(self.lines, shown)]
        found = self.hazards
        said += [f"hazard: {hazard.text}" for hazard in found[: hazards.MANY]]
        if len(found) > hazards.MANY:
            said.append(f"hazard: and {len(found) - hazards.MANY} more; {found[-1].text}")
        if not found and (stop := hazards.second_pass(self.lines)) is not None:
            said.append(f"a second backward pass without retain_graph would raise at #{stop} {self.lines.node(stop)}")
        return said

    def image(self, format: str, chosen: Sequence[int] | None = None) -> bytes:
        """The picture as svg or png, drawn by graphviz."""
        return picture.image(self.lines, self.choose() if chosen is None else chosen, format)

    @cached_property
    def hazards(self) -> list[hazards.Hazard]:
        """What makes a backward pass raise as the graph is now."""
        return hazards.hazards(self.lines)

    def memory(self) -> memory.Memory:
        """What the nodes keep, read without unpacking anything."""
        return memory.measure(self.lines)

    def values(self, cotangents: Any = None) -> values.Values:
        """Numbers at every node of a backward pass that leaves all as it was."""
        return values.values(self.lines, _listed(cotangents))

    def nan(self, cotangents: Any = None) -> nan.Culprit | None:
        """The first node whose vjp is not finite."""
        return nan.first(self.lines, _listed(cotangents))

    def check(self, cotangents: Any = None) -> list[check.Outcome]:
        """Every node's formula on this data, against what the node returns."""
        return check.check(self.lines, _listed(cotangents))


TEXT: dict[str, Callable[[Lines, Sequence[int]], Iterator[Line]]] = {"table": table.table, "tree": tree.tree}
WRITTEN = {"json": document, "dot": picture.dot, "mermaid": picture.mermaid}


def _listed(cotangents: Any) -> Any:
    return [cotangents] if isinstance(cotangents, torch.Tensor) else cotangents


def _fits(name: str, pattern: str) -> bool:
    """Whether a class is meant: MulBackward0, mul, 'Mul*'."""
    wanted = pattern.lower()
    known = {name.lower(), spelling.short(name).lower()}
    return wanted in known or any(fnmatch.fnmatchcase(one, wanted) for one in known)
