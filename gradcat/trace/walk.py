"""A user's graph as flat lists: one walk over `next_functions`, no recursion, one entry a node."""

from __future__ import annotations

import contextlib
import gc
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

#: A chain of more nodes than this is taken apart with care: see `Graph.__del__`.
DEEP = 10_000


class Graph:
    """Nodes in topological order, outputs first; the edges of node i are first[i] to first[i + 1].

    The nodes themselves are held: the `id` of one that nobody holds is given to another.
    """

    __slots__ = ("first", "nodes", "number", "outputs", "roots", "to")

    def __init__(self, outputs: Sequence[torch.Tensor]) -> None:
        self.outputs = list(outputs)
        self.nodes: list[Any] = []
        self.first = array("q", [0])
        self.to = array("q")  # edge -> node, -1 for None
        self.number = array("H")  # edge -> which output of that node
        edges = [get_gradient_edge(tensor) for tensor in outputs]
        with no_collector():
            index = self._discover([edge.node for edge in edges])
            self.roots = [(index[edge.node], edge.output_nr) for edge in edges]
            del index
            self._sort()

    def __len__(self) -> int:
        return len(self.nodes)

    def edges(self, i: int) -> Iterator[tuple[int, int]]:
        """(node or -1, its output) for every item of `next_functions`."""
        start, end = self.first[i], self.first[i + 1]
        return zip(self.to[start:end], self.number[start:end], strict=True)

    def targets(self, i: int) -> array[int]:
        """Nodes that the edges of a node go to, -1 for None."""
        return self.to[self.first[i] : self.first[i + 1]]

    def is_leaf(self, i: int) -> bool:
        """Whether the graph ends here, in a tensor that accumulates."""
        return hasattr(self.nodes[i], "variable")

    def _discover(self, roots: Iterable[Any]) -> dict[Any, int]:
        nodes, to, number, first = self.nodes, self.to, self.number, self.first
        index: dict[Any, int] = {}
        for root in roots:
            if root not in index:
                index[root] = len(nodes)
                nodes.append(root)
        for node in nodes:  # the list grows while it is read
            for after, output in node.next_functions:
                if after is None:
                    to.append(-1)
                elif after in index:
                    to.append(index[after])
                else:
                    index[after] = len(nodes)
                    to.append(len(nodes))
                    nodes.append(after)
                number.append(output)
            first.append(len(to))
        return index

    def _sort(self) -> None:
        """Number the nodes so that every edge goes to a higher number; branches stay together."""
        order = self._order()
        if all(map(int.__eq__, order, range(len(order)))):
            return
        place = array("q", bytes(8 * len(order)))
        for position, i in enumerate(order):
            place[i] = position
        first, to, number = array("q", [0]), array("q"), array("H")
        for i in order:
            start, end = self.first[i], self.first[i + 1]
            to.extend([place[after] if after >= 0 else -1 for after in self.to[start:end]])
            number.extend(self.number[start:end])
            first.append(len(to))
        self.nodes = [self.nodes[i] for i in order]
        self.roots = [(place[i], output) for i, output in self.roots]
        self.first, self.to, self.number = first, to, number

    def _order(self) -> array[int]:
        first, to = self.first, self.to
        waiting = self.consumers()
        ready = [i for i in dict.fromkeys(i for i, _ in self.roots) if not waiting[i]][::-1]
        order = array("q")
        while ready:
            i = ready.pop()
            order.append(i)
            for after in reversed(to[first[i] : first[i + 1]]):
                if after >= 0:
                    waiting[after] -= 1
                    if not waiting[after]:
                        ready.append(after)
        return order

    def consumers(self) -> array[int]:
        """How many edges arrive at each node."""
        counts = array("q", bytes(8 * len(self.nodes)))
        for after in self.to:
            if after >= 0:
                counts[after] += 1
        return counts

    def __del__(self) -> None:
        """Let go of the nodes from the outputs on.

        NOTE: a node that Python has seen keeps its Python object, and torch 2.13 takes a chain of such nodes apart by
        recursion: some 50,000 end the process. Taken apart from its outputs, each node is still held when the one
        before it goes. Where the tensor lives on, the nodes are held until just after it is gone.
        """
        nodes = getattr(self, "nodes", [])
        nodes.reverse()  # a list lets go of its items from the end
        if len(nodes) > DEEP:
            for tensor in self.outputs:
                weakref.finalize(tensor, _widowed.append, nodes).atexit = False
            if _bury not in gc.callbacks:
                gc.callbacks.append(_bury)
        self.outputs.clear()


#: Nodes of large graphs whose tensor has just gone.
_widowed: list[list[Any]] = []


def _bury(phase: str, info: object) -> None:
    while phase == "stop" and _widowed:
        _widowed.pop().clear()


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """No garbage collection meanwhile: with a million new objects it takes as long as the walk."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
