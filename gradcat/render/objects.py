"""How `model.Node` and `model.Catalog` show themselves: in a REPL, through rich, and in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import Context, renderer
from .layout import STYLES, card
from .wrap import plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment

    from ..model import Catalog, Node


def text(node: Node) -> str:
    """The card without colour, at 80 columns."""
    return "\n".join(plain(line) for line in card(node, Context()))


def segments(node: Node, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
    """The card for a rich console."""
    from rich.segment import Segment
    from rich.style import Style

    styles = {name: Style.parse(words) for name, words in STYLES.items()} | {"": Style.null()}
    for line in card(node, Context(width=options.max_width)):
        yield from (Segment(piece, styles[style]) for style, piece in line)
        yield Segment.line()


def markdown(node: Node) -> str:
    """The node's section, its formulas as mathematics."""
    return "".join(renderer("markdown")([node], Context()))


def latex(node: Node) -> str:
    """The node's formulas, "" where it has none."""
    from .latex import equations

    lines = "\n".join(equations(node))
    return f"$$\n{lines}\n$$" if lines else ""


def listing(catalog: Catalog, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
    """One line a node, for a rich console."""
    from rich.segment import Segment

    from ..row import Row, values
    from .table import table

    for line in table([Row(values(node)) for node in catalog.nodes], options.max_width):
        yield Segment(line)


def counts(catalog: Catalog) -> str:
    """What the catalog holds, as a Markdown table."""
    from ..row import Row, summary, values

    found = summary(Row(values(node)) for node in catalog.nodes)
    rows = "\n".join(f"| {name.replace('_', ' ')} | {count} |" for name, count in found.items())
    return f"torch {catalog.torch_version}\n\n| what | nodes |\n| --- | --- |\n{rows}\n"
