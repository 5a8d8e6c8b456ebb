"""gradcat verify: the formulas, run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..library import SAMPLES, SEED
from ..render import Context
from ..render.rows import checked
from ..render.wrap import plain
from ..row import Row, summary, values
from .session import open_library, sources, write

if TYPE_CHECKING:
    from ..model import Node


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--samples", type=click.IntRange(1), default=SAMPLES, show_default=True, help="Inputs for each probe.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of the random inputs.")
@sources
@click.pass_context
def command(
    click_context: click.Context,
    names: tuple[str, ...],
    samples: int,
    seed: int,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    """Run the formulas of some nodes, or of all.

    Each formula is held against the op itself, against what autograd returns, and against finite differences of the
    op, in double precision and in complex where the op takes complex. Prints the formulas that failed, and with NAMEs
    the evidence of each; the exit code is 1 where one failed. With other samples or another seed nothing is stored.

    \b
    Examples:
      gradcat verify
      gradcat verify MulBackward0 torch.max
      gradcat verify --samples 5 --seed 1
      gradcat verify --ops my_ops.yaml --rules my_rules.yaml --import my_module
    """
    library = open_library(ops, rules, imports)
    found = library.resolve(names)
    catalog = library.verify(found or None, samples, seed)
    nodes = [node for node in catalog.nodes if not found or node.name in found]
    failed = [node for node in nodes if node.verification.status == "failed"]
    told = nodes if names else failed
    size = max((len(node.name) for node in told), default=0)
    places = {}
    if failed:
        from ..rules import load

        places = {name: rule.place for name, rule in load(library.rules).items()}
    for node in told:
        rule = f" · its rule: {places[node.name]}" if node in failed and node.name in places else ""
        write([f"{node.name:<{size}}  {evidence(node)}{rule}\n"])
    counts = summary(Row(values(node)) for node in nodes)
    words = ("verified", "raises", "structural", "unverified", "failed")
    write([f"{counts['with_formulas']} rules: " + ", ".join(f"{counts[word]} {word}" for word in words) + "\n"])
    click_context.exit(1 if failed else 0)


def evidence(node: Node) -> str:
    """The row of the card, on one line."""
    return " ".join(plain(line) for line in checked(node, Context(), 10**6))
