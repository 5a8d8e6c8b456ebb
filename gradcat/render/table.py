"""Nodes in a list: one line each, from their light rows. Padded by hand: rich's tables take 180 us a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..row import Row
    from .paint import Paint

STANDING = {"verified": "good", "raises": "good", "failed": "bad", "unverified": "unsure"}


def table(rows: Sequence[Row], width: int | None = None, paint: Paint | None = None) -> Iterator[str]:
    """Name, family, status and forward formula. With a width, what is longer ends in an ellipsis."""
    cells = [(row.name, row.family or "-", row.standing, row.forward) for row in rows]
    sizes = [max((len(cell[i]) for cell in cells), default=0) for i in range(3)]
    room = None if width is None else max(width - sum(sizes) - 6, 8)
    codes = {name: paint.codes[style] for name, style in STANDING.items()} if paint else {}
    quiet = paint.codes["quiet"] if paint else ("", "")
    for name, family, standing, forward in cells:
        before, after = codes.get(standing, quiet)
        if room is not None and len(forward) > room:
            forward = forward[: room - 1] + "…"
        line = f"{name:<{sizes[0]}}  {family:<{sizes[1]}}  {before}{standing:<{sizes[2]}}{after}  {forward}"
        yield f"{line.rstrip()}\n"
