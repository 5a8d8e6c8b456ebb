"""Cards for pages, pull requests and notebooks: a heading, formulas in mathematics, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..words import ABSENT
from . import rows
from .latex import equations
from .wrap import plain

if TYPE_CHECKING:
    from ..model import Node
    from . import Context

#: Rows of a card that stand in a list, in order.
LISTED = (
    "known",
    "made by",
    "also in",
    "defined",
    "in place",
    "again",
    "orders",
    "checked",
    "notes",
    "deviates",
    "like",
    "source",
)


def render(nodes: Iterable[Node], context: Context) -> Iterator[str]:
    """A section for each node."""
    for i, node in enumerate(nodes):
        yield "\n" * (i > 0) + "".join(f"{line}\n" for line in section(node, context))


def section(node: Node, context: Context) -> Iterator[str]:
    """The lines of one node's section."""
    yield f"## {node.name}"
    yield ""
    said = [node.family, f"`aten::{node.schema}`" if node.schema else ""]
    if any(said):
        yield " · ".join(filter(None, said))
        yield ""
    if node.forward or any(vjp.formula for vjp in node.backward):
        yield "$$"
        yield from equations(node)
        yield "$$"
        yield ""
    yield from _table(("input", "formula", "edge"), _inputs(node))
    yield from _table(("saved", "role", "bytes", "when"), _saved(node))
    for label, _, row in rows.ROWS:
        if label in LISTED and (lines := row(node, context, 10**6)):
            yield f"- {label}: {_escaped(' '.join(plain(line) for line in lines))}"
    if node.snippet:
        yield ""
        yield "```python"
        yield node.snippet
        yield "```"


def _inputs(node: Node) -> Iterator[tuple[str, ...]]:
    for vjp in node.backward:
        why = f"{vjp.absent}: {vjp.reason or ABSENT.get(vjp.absent, '')}"
        said = f"`{vjp.formula.code}`" if vjp.formula else why
        yield f"`{vjp.input}`", said, rows.edge_of(node, vjp.input)


def _saved(node: Node) -> Iterator[tuple[str, ...]]:
    for entry in node.saved:
        yield f"`{entry.name}`", entry.role, str(entry.bytes or ""), entry.when


def _table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> Iterator[str]:
    body = list(body)
    if body:
        for cells in (head, ("---",) * len(head), *body):
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        yield ""


def _escaped(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return "".join(f"\\{character}" if character in "\\`*_<>|#" else character for character in text)
