"""gradcat probe: what the probes make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from .session import open_library, sources, talk, write

if TYPE_CHECKING:
    from ..model import Probe


@click.command()
@click.option("--failures", is_flag=True, help="Only probes that failed.")
@click.option("--refresh", is_flag=True, help="Build the catalog anew, even where a stored one fits.")
@sources
@click.pass_context
def command(
    click_context: click.Context,
    failures: bool,
    refresh: bool,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    """Run every probe in a process of its own and say which nodes it makes.

    A probe that raises, ends the process or hangs costs itself alone: it is reported with its inputs and torch's
    words, and the exit code is 1.

    \b
    Examples:
      gradcat probe
      gradcat probe --failures
      gradcat probe --ops my_ops.yaml --import my_module
    """
    library = open_library(ops, rules, imports)
    if refresh:
        library.rebuild()
    found = library.harvest()
    outcomes = list(zip(found.probes, found.records, strict=True))
    failed = [outcome for outcome in outcomes if failure(outcome[1])]
    skipped = sum("skipped" in record for _, record in outcomes)
    write(table(failed if failures else outcomes))
    nodes = {name for record in found.records for name in (*record.get("graph", ()), *record.get("ends", ()))}
    talk(f"{len(outcomes)} probes made {len(nodes)} node classes; {skipped} do not apply here, {len(failed)} failed")
    click_context.exit(1 if failed else 0)


def failure(record: Mapping[str, Any]) -> str:
    """How a probe failed, "" where it did not."""
    return str(record.get("error") or record.get("died") or "")


def table(outcomes: list[tuple[Probe, Mapping[str, Any]]]) -> Iterator[str]:
    """One line a probe: its place, its call, and the nodes that it makes; a failed one with its inputs."""
    place = max((len(probe.place) for probe, _ in outcomes), default=0)
    call = min(max((len(probe.call) for probe, _ in outcomes), default=0), 60)
    for probe, record in outcomes:
        yield f"{probe.place:<{place}}  {probe.call:<{call}}  {said(probe, record)}\n"


def said(probe: Probe, record: Mapping[str, Any]) -> str:
    """What came of one probe."""
    if words := failure(record):
        inputs = ", ".join(f"{name} = {text}" for name, text in probe.inputs.items())
        return f"failed: {words} ({inputs or 'no inputs'})"
    if "skipped" in record:
        return f"skipped: {record['skipped']}"
    return " ".join((*record.get("graph", ()), *record.get("ends", ()))) or "no node: nothing here is differentiable"
