"""One line a node."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .rows import shown

if TYPE_CHECKING:
    from ..model import Node
    from . import Context

COLUMNS = (
    "name", "family", "kind", "status", "device", "ops", "schema",
    "forward", "where", "backward", "saved", "bytes", "edges", "double_backward", "forward_mode",
    "verification", "forward_error", "vjp_error", "numeric_error", "reason",
)  # fmt: skip


def render(nodes: Iterable[Node], context: Context) -> Iterator[str]:
    """A header and a row for each node; several things in one cell stand between semicolons."""
    yield _line(COLUMNS)
    for node in nodes:
        yield _line(cells(node))


def cells(node: Node) -> list[object]:
    """The values of COLUMNS."""
    proof = node.verification
    return [
        node.name, node.family, node.kind, node.status, node.device, _joined(node.ops), node.schema,
        _joined(f"{name or 'out'} = {shown(formula)}" for name, formula in node.forward.items()),
        _joined(f"{name} = {shown(formula)}" for name, formula in node.where.items()),
        _joined(f"{vjp.input}: {shown(vjp.formula) if vjp.formula else vjp.absent}" for vjp in node.backward),
        _joined(f"{saved.name} ({saved.role})" for saved in node.saved),
        sum(saved.bytes for saved in node.saved),
        _joined(f"{edge.position}: {edge.input}" for edge in node.edges),
        node.facts.double_backward, node.facts.forward_mode, proof.status,
        proof.forward_error, proof.vjp_error, proof.numeric_error, node.reason or proof.reason,
    ]  # fmt: skip


def _joined(items: Iterable[str]) -> str:
    return "; ".join(items)


def _line(values: Iterable[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(values)
    return buffer.getvalue()
