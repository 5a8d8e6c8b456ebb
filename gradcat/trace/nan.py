"""Where numbers stop being finite: the first node, from the loss on, that gives an inf or a nan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from .classes import constants
from .lines import Lines
from .saved import slots
from .values import Numbers, Tensors, leaving, numbers, run


@dataclass(frozen=True)
class Culprit:
    """A node whose vjps are not all finite, with all that it had to compute them from."""

    node: int
    arrives: tuple[Numbers | None, ...]
    leaves: tuple[Numbers | None, ...]
    saved: dict[str, Any]

    @property
    def innocent(self) -> bool:
        """Whether what arrived was already not finite."""
        return any(item is not None and item.bad for item in self.arrives)


class _Found(Exception):
    """The culprit is known: the rest of the pass need not run."""


def first(lines: Lines, cotangents: Tensors | None = None) -> Culprit | None:
    """The first node whose outgoing vjp is not finite, None where all are."""
    found: list[Culprit] = []

    def watch(i: int, arrives: Tensors, leaves: Tensors) -> None:
        if any(tensor is not None and not _finite(tensor) for tensor in leaves):
            given, gave = (tuple(None if t is None else numbers(t) for t in side) for side in (arrives, leaves))
            found.append(Culprit(i, given, gave, _saved(lines.graph.nodes[i])))
            raise _Found

    with contextlib.suppress(_Found):
        run(lines, watch, cotangents)
    return found[0] if found else None


def _finite(tensor: torch.Tensor) -> bool:
    values = tensor.coalesce().values() if tensor.is_sparse else tensor
    return bool(values.isfinite().all()) if not values.is_nested else not numbers(values).bad


def _saved(node: Any) -> dict[str, Any]:
    """What a node kept: tensors in a few numbers, and its constants."""
    kept: dict[str, Any] = {}
    for slot in slots(node):
        if slot.tensor is not None:
            kept[slot.name] = numbers(slot.tensor)
        elif slot.data is not None:
            kept[slot.name] = "packed by a hook"
    return kept | {name: value for name, value in constants(node).items() if value is not None}


def report(lines: Lines, culprit: Culprit) -> Iterator[str]:
    """The node, its formulas, what came in, what it kept, and what goes out."""
    i = culprit.node
    name, module = lines.name(i), lines.modules[i]
    where = f" in {module}" if module else ""
    yield f"#{i} {lines.node(i)}{f'  {name}' if name else ''}{where} is the first node whose vjp is not finite"
    for arrived in culprit.arrives:
        yield f"    arrives: {arrived if arrived is not None else 'nothing'}"
    for what, value in culprit.saved.items():
        yield f"    saved {what}: {value}"
    yield from leaving(lines, i, culprit.leaves)
    if culprit.innocent:
        yield "    what arrived was not finite: look at the loss, or at the cotangent that was given"
