"""gradcat export: everything, for other programs."""

from __future__ import annotations

import click

from ..render import renderer
from .session import context, format_option, open_library, sources, talk, write


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON (the default).")
@format_option("json", "csv", "markdown", "latex")
@click.option("-o", "--output", default="-", metavar="FILE", help="Write to a file, whole or not at all.")
@sources
def command(
    as_json: bool,
    format: str | None,
    output: str,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    """Everything about all nodes, for other programs.

    What was not verified here yet is verified first, so that two exports are alike. The JSON is described by a
    JSON Schema that ships with gradcat; schema_version rises when its form changes.

    \b
    Examples:
      gradcat export --json | python -m json.tool
      gradcat export --format csv -o nodes.csv
    """
    if as_json and format not in (None, "json"):
        raise click.UsageError(f"--json and --format {format} exclude each other")
    library = open_library(ops, rules, imports)
    library.prove()
    nodes = library.read(lambda reader: reader.nodes())
    write(renderer(format or "json")(nodes, context(library.reader())), output)
    if output != "-":
        talk(f"{len(nodes)} nodes of torch {library.reader().torch_version} in {output}")
