"""gradcat list: one line a node."""

from __future__ import annotations

import click

from ..errors import GradcatError
from ..render import renderer
from ..row import Row
from ..words import STATUS
from .session import context, format_option, open_library, sources, talk, terminal, width, write

HELP = f"""All nodes, or those that fit, one line each: name, family, how far the formulas are proved, forward formula.

PATTERN is part of a name, or a glob: max, 'Max*', '*Backward1'. Capitals count where it has any. Options given twice
are alternatives.

\b
Examples:
  gradcat list
  gradcat list --family reduction --status verified
  gradcat list --op torch.max --format json

\b
Words of --status:
{"".join(f"  {word:<12}{meaning}{chr(10)}" for word, meaning in STATUS.items())}"""


@click.command(help=HELP)
@click.argument("pattern", default="")
@click.option("--family", "families", multiple=True, help="Only nodes of a family.")
@click.option("--status", "statuses", multiple=True, type=click.Choice(list(STATUS)), help="Only nodes with a status.")
@click.option("--op", "of", multiple=True, metavar="OP", help="Only nodes that an op makes.")
@format_option("card", "text", "json", "csv", "markdown", "latex")
@sources
def command(
    pattern: str,
    families: tuple[str, ...],
    statuses: tuple[str, ...],
    of: tuple[str, ...],
    format: str | None,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    library = open_library(ops, rules, imports)
    everything = library.read(lambda reader: reader.rows())
    known = sorted({row.family for row in everything if row.family})
    if unknown := set(families).difference(known):
        raise GradcatError(f"no node is of the family {unknown.pop()!r}; families: {', '.join(known)}")
    made = set(library.resolve(of))
    rows = [
        row
        for row in matching(everything, pattern)
        if (not families or row.family in families)
        and (not statuses or any(map(row.matches, statuses)))
        and (not of or row.name in made)
    ]
    if format in (None, "card", "text"):
        from ..render.paint import Paint
        from ..render.table import table

        write(table(rows, width(), Paint()) if format != "text" and terminal() else table(rows))
    else:
        names = [row.name for row in rows]
        write(library.read(lambda reader: list(renderer(format)(reader.nodes(names), context(reader)))))
    talk(footer(rows, everything, library.reader().torch_version))


def matching(rows: list[Row], pattern: str) -> list[Row]:
    """Rows whose name holds a text or fits a glob."""
    if not pattern:
        return rows
    import fnmatch
    import re

    glob = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    fits = re.compile(fnmatch.translate(glob), re.IGNORECASE if pattern.islower() else 0).match
    return [row for row in rows if fits(row.name)]


def footer(rows: list[Row], everything: list[Row], torch: str) -> str:
    """Counts, and how much of what is shown was not run yet."""
    counted = f"{len(rows)} of {len(everything)} nodes" if len(rows) < len(everything) else f"{len(rows)} nodes"
    counts = [f"{count} {word}" for word in STATUS if (count := sum(row.matches(word) for row in rows))]
    pending = sum(row.pending for row in rows)
    hint = f"\n{pending} were not run here yet: gradcat verify" if pending else ""
    return f"{counted} of torch {torch}: {', '.join(counts) or 'none'}{hint}"
