"""Nodes in a list: one line each, from their light rows. Padded by hand: rich's tables take 180 us a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..row import Row
    from .paint import Paint

STANDING = {"verified": "good", "raises": "good", "failed": "bad", "unverified": "unsure"}


#: In a terminal, longer names push what follows them; few are, and the formula needs the room.
NAME = 30
#: A formula that has less room than this is left out.
LEAST = 8


def table(rows: Sequence[Row], width: int | None = None, paint: Paint | None = None) -> Iterator[str]:
    """Name, family, status and forward formula. With a width, a formula that is longer ends in an ellipsis."""
    cells = [(row.name, row.family or "-", row.standing, row.forward) for row in rows]
    sizes = [max((len(cell[i]) for cell in cells), default=0) for i in range(3)]
    codes = {name: paint.codes[style] for name, style in STANDING.items()} if paint else {}
    quiet = paint.codes["quiet"] if paint else ("", "")
    if width is not None:
        sizes[0] = min(sizes[0], NAME)
    for name, family, standing, forward in cells:
        before, after = codes.get(standing, quiet)
        head = f"{name:<{sizes[0]}}  {family:<{sizes[1]}}  "
        if width is not None and len(forward) > (room := width - len(head) - sizes[2] - 2):
            forward = f"{forward[: room - 1]}…" if room >= LEAST else ""
        if forward:
            yield f"{head}{before}{standing:<{sizes[2]}}{after}  {forward}\n"
        else:
            yield f"{head}{before}{standing}{after}\n"
