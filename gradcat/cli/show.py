"""gradcat show: cards."""

from __future__ import annotations

import click

from ..names import NoNode
from ..render import renderer
from ..render.rows import ROWS
from ..words import ABSENT
from .session import context, for_stdout, format_option, open_library, sources, talk, write

EXPLAINED = "".join(f"  {label:<10}{meaning}\n" for label, meaning, _ in ROWS if label)
HELP = f"""Cards of nodes.

NAME is what you have at hand: MulBackward0, mulbackward0, "<MulBackward0 object at 0x7f..>", grad_fn=<MulBackward0>,
a whole error message of torch, or the short name that error messages use (Mul, Max1, Log2). A capital first letter asks
for that class. An op (torch.mul, mul, F.relu, Tensor.add_, aten::mul.Tensor) shows every node that it makes.

\b
Examples:
  gradcat show MulBackward0
  gradcat show "tensor([1.], grad_fn=<ExpBackward0>)"
  gradcat show torch.max --format markdown

\b
Rows of a card (those with nothing to say are left out):
{EXPLAINED}
In formulas, out is the result and ∂L/∂out the cotangent: the derivative of some loss L by it. Two conventions hold
everywhere: dimensions along which an input was broadcast are summed, and a real input gets the real part. An input
without a formula says why: {"; ".join(f"{word} ({meaning})" for word, meaning in ABSENT.items())}.
"""


@click.command(help=HELP)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@format_option("card", "text", "json", "csv", "markdown", "latex")
@sources
def command(
    names: tuple[str, ...], format: str | None, ops: tuple[str, ...], rules: tuple[str, ...], imports: tuple[str, ...]
) -> None:
    library = open_library(ops, rules, imports)
    found: list[str] = []
    for name in names:
        try:
            found += [node for node in library.resolve([name]) if node not in found]
        except NoNode as silent:
            talk(str(silent))
    library.prove(found)
    nodes = library.read(lambda reader: reader.nodes(found))
    render = renderer(for_stdout(format))
    write(library.read(lambda reader: list(render(nodes, context(reader)))))
