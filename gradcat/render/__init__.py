"""One record, many renderers: a module for each format, and one table of them.

A renderer is a function `render(nodes, context)` that yields text. Nodes are `model.Node` or lines of the cache: both
read alike.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Node

#: Format -> what it is for. Each is the module of that name.
FORMATS = {
    "card": "colours, for a terminal",
    "text": "the same without colour, one record after the other",
    "json": "the stable export, described by gradcat/schema.json",
    "csv": "one line a node, for a spreadsheet",
    "markdown": "for pages and pull requests",
    "latex": "for papers; needs amsmath",
}


def unknown(name: str) -> Node | None:
    """A lookup that knows no other nodes."""
    return None


class Context:
    """What a renderer knows beside the nodes."""

    __slots__ = ("gradcat_version", "lookup", "torch_version", "width")

    def __init__(
        self,
        torch_version: str = "",
        gradcat_version: str = "",
        width: int = 80,
        lookup: Callable[[str], Node | None] = unknown,
    ) -> None:
        self.torch_version = torch_version
        self.gradcat_version = gradcat_version
        self.width = width
        self.lookup = lookup  # name -> another node, for what a card says of siblings


Renderer = Callable[[Iterable["Node"], Context], Iterator[str]]


def renderer(format: str) -> Renderer:
    """The function that writes nodes in a format."""
    return importlib.import_module(f"{__name__}.{format}").render
