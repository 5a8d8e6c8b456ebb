"""The card: a title and rows, as lines of styled pieces, from which its form in terminals and in text is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rows import ROWS
from .wrap import Line, length

if TYPE_CHECKING:
    from ..model import Node
    from . import Context

#: Style of a piece, in rich's words.
STYLES = {
    "title": "bold",
    "label": "dim",
    "name": "cyan",
    "symbol": "cyan",
    "formula": "bold",
    "local": "",
    "code": "",
    "word": "italic",
    "good": "green",
    "bad": "red",
    "unsure": "yellow",
    "quiet": "dim",
}
#: Columns before the content of a row, and the widths between which a card is laid out.
INDENT = 11
NARROW, WIDE = 40, 120


def card(node: Node, context: Context) -> list[Line]:
    """The lines of one node's card."""
    width = min(max(context.width, NARROW), WIDE)
    lines = _title(node, context, width)
    gap = False
    for label, _, row in ROWS:
        content = row(node, context, width - INDENT)
        gap = gap or not label
        if not content:
            continue
        if gap:
            lines.append([])
            gap = False
        lines.append([("label", f" {label:<{INDENT - 1}}"), *content[0]])
        lines += [[("", " " * INDENT), *line] for line in content[1:]]
    return lines


def _title(node: Node, context: Context, width: int) -> list[Line]:
    said = [node.family, "" if node.kind in ("generated", node.family) else f"{node.kind} node"]
    said.append(f"torch {context.torch_version}" if context.torch_version else "")
    right = " · ".join(filter(None, said))
    title: Line = [("", " "), ("title", node.name)]
    if length(title) + len(right) + 3 > width:
        return [title, [("quiet", f" {right}")]] if right else [title]
    return [[*title, ("quiet", right.rjust(width - length(title)))]]
