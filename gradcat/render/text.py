"""Cards without colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .layout import card
from .wrap import plain

if TYPE_CHECKING:
    from ..model import Node
    from . import Context


def render(nodes: Iterable[Node], context: Context) -> Iterator[str]:
    """The cards, a blank line between them."""
    for i, node in enumerate(nodes):
        yield "\n" * (i > 0) + "".join(f"{plain(line)}\n" for line in card(node, context))
