"""The catalog's answer for each node of a graph: which argument an edge belongs to, and what it receives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ..render.rows import shown
from ..words import ABSENT

if TYPE_CHECKING:
    from ..model import Node, Vjp

#: Nodes that are no op of the user's: what they stand for.
ENGINE = {
    "AccumulateGrad": "a leaf: what arrives is added to its .grad",
    "CopySlices": "a view of this tensor was edited in place: what arrives is cut into the part that the edit wrote "
    "(it goes on through the edit's own node, which is kept inside) and the rest",
    "AsStridedBackward0": "a view; where its base was edited in place after the view was taken, torch rebuilds the "
    "view's node as as_strided of the new base",
    "UndefinedGradBackward": "nothing goes on from here",
    "CompiledFunctionBackward": "a function compiled by torch.compile: its backward pass is one compiled graph",
    "CheckpointFunctionBackward": "a checkpointed block: it is run again during the backward pass",
}


#: What the edges of nodes that are no op's stand for.
EDGES = {"CopySlices": ["base", "written"]}


class Cards:
    """Nodes of the catalog by name, each asked for once."""

    def __init__(self, find: Callable[[str], Node | None]) -> None:
        self._find = find
        self._found: dict[str, Node | None] = {}
        self._inputs: dict[tuple[str, int], list[str]] = {}

    def find(self, name: str) -> Node | None:
        """The catalog's record of a class, None for a class that it does not hold."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def inputs(self, name: str, count: int) -> list[str]:
        """The argument that each of `count` edges belongs to, "" where that is unknown."""
        if (name, count) not in self._inputs:
            card = self.find(name)
            known = EDGES.get(name) or (_arguments(card) if card else [])
            self._inputs[name, count] = _fitted(known, count)
        return self._inputs[name, count]

    def vjp(self, name: str, argument: str) -> Vjp | None:
        """The catalog's entry for one argument of a node."""
        card = self.find(name)
        base = argument.partition("[")[0]
        return next((vjp for vjp in card.backward if vjp.input == base), None) if card and base else None

    def formula(self, name: str, argument: str) -> str:
        """What an argument receives, in one line; "" where nobody has written it."""
        vjp = self.vjp(name, argument)
        if vjp is None:
            return ""
        if vjp.formula is None:
            return "" if vjp.absent == "todo" else vjp.absent
        return " ".join(shown(vjp.formula).split())

    def why_none(self, name: str, argument: str) -> str:
        """Why nothing flows along an edge, as far as the op alone says it."""
        vjp = self.vjp(name, argument)
        return ABSENT[vjp.absent] if vjp and vjp.absent in ("non_differentiable", "zero") else "needs no grad"


def _arguments(card: Node) -> list[str]:
    """Arguments in the order of a probe's edges; where it left some out, in the order of torch's own table."""
    known = [edge.input for edge in card.edges]
    listed = list(card.upstream.formulas) if card.upstream else [vjp.input for vjp in card.backward]
    if all(known) or len(listed) != len(known):
        return known
    return [name or listed[i] for i, name in enumerate(known)]


def _fitted(names: Sequence[str], count: int) -> list[str]:
    """Arguments for another number of edges than the probe had: the one list among them is longer or shorter."""
    if len(names) == count:
        return list(names)
    groups = [(base, list(items)) for base, items in groupby(names, lambda name: name.partition("[")[0])]
    lists = [base for base, items in groups if items[0].endswith("]")]
    rest = sum(len(items) for base, items in groups if base not in lists)
    if len(lists) != 1 or count < rest:
        return [""] * count
    fitted: list[str] = []
    for base, items in groups:
        fitted += [f"{base}[{i}]" for i in range(count - rest)] if base in lists else items
    return fitted
