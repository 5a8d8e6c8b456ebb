"""gradcat coverage: what is known, what is not, and why."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ..coverage import COUNTS, Gap, by_reason, counts, gaps
from ..errors import GradcatError
from ..render.wrap import Line, plain, wrap
from .session import format_option, open_library, sources, terminal, width, write

if TYPE_CHECKING:
    from ..library import Library
    from ..model import Node

GROUPS = {"family": lambda row: row.family or "none", "device": lambda row: row.device or "none"}


@click.command()
@click.option("--gaps", "only_gaps", is_flag=True, help="One line for each thing that is not known, without counts.")
@click.option("--op-db", is_flag=True, help="Only the ops of PyTorch's sample database: which no probe calls.")
@format_option("text", "json", "csv", "markdown")
@sources
def command(
    only_gaps: bool,
    op_db: bool,
    format: str | None,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    """What is known, what is not, and why: by family, by device, and every gap with its reason.

    What was not verified here yet is verified first.

    \b
    Examples:
      gradcat coverage
      gradcat coverage --gaps | grep "not harvested"
      gradcat coverage --format json
      gradcat coverage --op-db
    """
    library = open_library(ops, rules, imports)
    if op_db:
        write(_op_db(library))
        return
    library.prove()
    nodes = library.read(lambda reader: reader.nodes())
    warnings = library.read(lambda reader: reader.warnings)
    missing = gaps(nodes)
    if only_gaps and format in (None, "text"):
        write(_table([[gap.node, gap.what, gap.input, gap.reason] for gap in missing]))
    elif format == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows([Gap._fields, *missing])
    elif format == "json":
        groups = {} if only_gaps else {f"by_{name}": counts(nodes, by) for name, by in GROUPS.items()}
        total = {"torch_version": library.reader().torch_version, "summary": library.reader().header["summary"]}
        document = {**total, **groups, "gaps": [gap._asdict() for gap in missing], "warnings": warnings}
        write([json.dumps(document, indent=2, ensure_ascii=False), "\n"])
    elif format == "markdown":
        write(_markdown(nodes, missing, only_gaps))
    else:
        write(_text(nodes, missing, library.reader().torch_version))
        write(f"{line}\n" for line in (["", f"warnings: {len(warnings)}", *warnings] if warnings else ()))


def _op_db(library: Library) -> Iterator[str]:
    """How much of PyTorch's sample database the probes call."""
    from ..op_db import NO_OPS, covered
    from ..opnames import called
    from ..probe import runner
    from ..probes import load

    (answer,) = runner.run([{"task": "op_db"}])
    if "names" not in answer:
        remedy = "; PyTorch's own tests need it: pip install expecttest" if "expecttest" in str(answer) else ""
        raise GradcatError(f"op_db cannot be read: {answer.get('error') or answer.get('died')}{remedy}")
    found = covered(answer["names"], (op for probe in load(library.ops) for op in called(probe.call, probe.inputs)))
    total, reached = len(found.names), len(found.names) - len(found.missing)
    yield f"op_db: {reached} of {total} ops and aliases are called by a probe ({reached / total:.1%})\n"
    yield from (f"no probe: {name}\n" for name in found.missing)
    yield from (f"no op of torch: {name}: {reason}\n" for name, reason in NO_OPS.items())


def _text(nodes: Sequence[Node], missing: Sequence[Gap], torch: str) -> Iterator[str]:
    columns = min(width(), 120) if terminal() else 10**6
    kinds = Counter(node.kind for node in nodes)
    harvested = Counter(node.kind for node in nodes if node.status == "harvested")

    def reached(*of: str) -> str:
        return f"{sum(harvested[kind] for kind in of)} of {sum(kinds[kind] for kind in of)}"

    more = {"python": "that torch writes in Python", "unlisted": "that torch has no class for"}
    beside = "".join(f", and {reached(kind)} {what}" for kind, what in more.items() if kinds[kind])
    first: Line = [("", f"torch {torch}: {reached('generated', 'engine')} node classes harvested{beside}")]
    yield from (f"{plain(part)}\n" for part in wrap(first, columns, 4))
    for name, by in GROUPS.items():
        groups = counts(nodes, by)
        total = {"total": next(iter(counts(nodes, lambda row: "").values()), {})} if len(groups) > 1 else {}
        yield "\n"
        yield from _fitting(
            [[name, *(word.replace("with_", "") for word in COUNTS)]]
            + [[group, *(str(found[word] or "-") for word in COUNTS)] for group, found in {**groups, **total}.items()],
            columns,
        )
    what = ""
    for (kind, reason), names in by_reason(missing).items():
        if kind != what:
            what = kind
            yield f"\n{what}: {sum(gap.what == what for gap in missing)}\n"
        line: Line = [("", f"  {reason or 'no reason given'} ({len(names)}): {', '.join(names)}")]
        yield from (f"{plain(part)}\n" for part in wrap(line, columns, 4))
    found = [(node.name, text) for node in nodes for text in node.deviations]
    yield f"\ntorch deviates from the derivative: {len(found)} cases\n"
    for name, text in found:
        yield from (f"{plain(part)}\n" for part in wrap([("", f"  {name}: {text}")], columns, 4))


def _markdown(nodes: Sequence[Node], missing: Sequence[Gap], only_gaps: bool) -> Iterator[str]:
    for name, by in {} if only_gaps else GROUPS.items():
        yield f"| {name} | {' | '.join(COUNTS)} |\n|{' --- |' * (len(COUNTS) + 1)}\n"
        for group, found in counts(nodes, by).items():
            yield f"| {group} | {' | '.join(str(found[word]) for word in COUNTS)} |\n"
        yield "\n"
    for (kind, reason), names in by_reason(missing).items():
        yield f"- {kind}, {reason or 'no reason given'} ({len(names)}): {', '.join(f'`{name}`' for name in names)}\n"


def _fitting(rows: list[list[str]], columns: int) -> list[str]:
    """A table of counts. A narrow terminal gets it without what is nought, or follows from the rest, and closer."""
    lines = list(_table(rows))
    if max(map(len, lines)) > columns:
        dispensable = [
            i for i, cells in enumerate(zip(*rows, strict=True)) if cells[0] == "reflected" or {*cells[1:]} == {"-"}
        ]
        kept = [[cell for i, cell in enumerate(row) if i not in dispensable] for row in rows]
        lines = list(_table(kept, gap=1))
    return lines


def _table(rows: list[list[str]], gap: int = 2) -> Iterator[str]:
    """Cells in columns; numbers end at the right."""
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        numbers = [text.isdigit() or text == "-" for text in row]
        cells = [
            f"{text:>{size}}" if number else f"{text:<{size}}"
            for text, size, number in zip(row, sizes, numbers, strict=True)
        ]
        yield (" " * gap).join(cells).rstrip() + "\n"
