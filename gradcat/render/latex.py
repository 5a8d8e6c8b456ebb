"""Formulas for papers: one align block for each node. Needs amsmath."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..row import is_relation
from ..words import ABSENT
from .rows import out

if TYPE_CHECKING:
    from ..model import Formula, Node
    from . import Context


def render(nodes: Iterable[Node], context: Context) -> Iterator[str]:
    """A subsection for each node that has formulas."""
    for node in nodes:
        if node.forward or node.backward:
            yield "".join(f"{line}\n" for line in block(node))


def block(node: Node) -> Iterator[str]:
    """The lines of one node."""
    yield rf"\subsection*{{{escaped(node.name)}}}"
    lines = list(equations(node))
    if lines:
        yield r"\["
        yield from lines
        yield r"\]"
    for vjp in node.backward:
        if not vjp.formula:
            reason = vjp.reason or ABSENT.get(vjp.absent, "")
            yield rf"\texttt{{{escaped(vjp.input)}}}: {escaped(vjp.absent)} ({escaped(reason)})."
            yield ""


def equations(node: Node) -> Iterator[str]:
    """Forward, backward and local formulas, aligned at their equals signs."""
    rows = [_forward(name, formula) for name, formula in node.forward.items()]
    rows += [rf"{partial('L', vjp.input)} &= {shown(vjp.formula)}" for vjp in node.backward if vjp.formula]
    rows += [f"{name_of(name, defined=True)} &= {shown(formula)}" for name, formula in node.where.items()]
    if rows:
        yield r"\begin{aligned}"
        yield from (f"{row} \\\\" for row in rows[:-1])
        yield rows[-1]
        yield r"\end{aligned}"


def _forward(name: str, formula: Formula) -> str:
    return f"& {shown(formula)}" if is_relation(formula) else f"{name_of(name or 'out')} &= {shown(formula)}"


def partial(of: str, by: str) -> str:
    """The partial derivative of one name by another."""
    return rf"\frac{{\partial {of}}}{{\partial {name_of(by)}}}"


def shown(formula: Formula) -> str:
    """A formula in LaTeX; its code where it has none."""
    return formula.latex or rf"\texttt{{{escaped(formula.code)}}}"


def name_of(name: str, *, defined: bool = False) -> str:
    """A name as formulas set it; a defined grad_x is the cotangent of x, an argument grad_x is what it is called."""
    from ..formula.typeset import Names, latex  # cards do without it

    return (
        latex(out(name), Names(arguments=frozenset(() if defined else {name})))
        if name.isidentifier()
        else rf"\mathrm{{{escaped(name)}}}"
    )


def escaped(text: str) -> str:
    """Text in which TeX sees no commands."""
    special = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
    return "".join(special.get(character, character) for character in text)
