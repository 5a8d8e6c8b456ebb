"""Notations that depend on which arguments a call gives: reusable, one for both targets, never importing torch.

A notation takes the call's `Arguments` and returns how the whole prints:

    @function(notation=reduction("Σ", r"\\sum"))                      Σ_dim x        \\sum_{dim} x
    @function(notation=reduction("max", r"\\max"))                    max_dim(x)     \\max_{dim}(x)
    @function(notation=operator("gather", "x", "index", under="dim")) gather_dim(x, index)
    @function(notation=cases("condition", "a", "b"))                 {a if c; b otherwise}
    @function(notation=einsum("equation", "operands"))               Σ_k a_ik b_kj
    @function(notation=norm("x", "p", "dim"))                        ‖x‖_p
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

#: How tightly a printed expression binds, loosest first. An operand that binds looser than its place asks for gets
#: parentheses. These are the numbers of `binds=` and of `{x:7}`.
LOOSE = 0  # lambda, a list between commas
LOGIC = 1  # and, or
COMPARE = 2  # = ≠ < ≤ ∈, not
BITS = 3  # ∧ ∨ ⊕ << >> mod
SUM = 4  # + -
NEGATIVE = 5  # unary minus
BIG = 6  # Σ Π, a / b on one line, cases without a closing brace
PRODUCT = 7  # ⊙ · @
FRACTION = 8  # a two-storey fraction, ∂L/∂out: a factor as it stands
POWER = 9  # x², xᵀ, √x
ATOM = 10  # a name, a number, f(x), whatever closes itself


class Printed(str):
    """A printed expression, and how tightly it binds."""

    __slots__ = ("binds",)
    binds: int
    parentheses = "(%s)"

    def __new__(cls, text: str, binds: int = ATOM) -> Printed:
        self = str.__new__(cls, text)
        self.binds = binds
        return self

    def at(self, least: int) -> str:
        """Itself, in parentheses where it binds looser than `least`."""
        return self if self.binds >= least else self.parentheses % self

    def __format__(self, least: str) -> str:
        return str(self.at(int(least)) if least else self)


class Typesetter(Protocol):
    """What a notation may ask of the typesetter that calls it."""

    latex: ClassVar[bool]

    def visit(self, node: ast.expr) -> Printed:
        """An expression, printed."""

    def printed(self, text: str, binds: int = ATOM) -> Printed:
        """Text that is printed already."""

    def operator(self, name: str) -> str:
        """The name of a function as it is written in front of its arguments."""

    def call(self, name: str, arguments: list[str]) -> Printed:
        """`name(x, y)`."""

    def under(self, index: str | None) -> str:
        """A printed index below the line; "" for None."""

    def members(self, node: ast.ListComp) -> str:
        """What a list ranges over."""

    def cases(self, node: ast.expr) -> Printed:
        """A choice between branches."""


class Arguments(Mapping[str, Printed]):
    """The arguments of one call by parameter name, printed when asked for; one that is not given prints its default."""

    __slots__ = ("call", "defaults", "nodes", "typesetter")

    def __init__(
        self, nodes: dict[str, ast.expr], defaults: Mapping[str, Any], typesetter: Typesetter, call: ast.Call
    ) -> None:
        self.nodes = nodes
        self.defaults = defaults
        self.typesetter = typesetter
        self.call = call

    def __getitem__(self, name: str) -> Printed:
        node = self.nodes.get(name)
        return self.typesetter.visit(ast.Constant(self.defaults[name]) if node is None else node)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def given(self, name: str) -> Printed | None:
        """An argument, printed; None where the call does not give it or gives None."""
        node = self.nodes.get(name)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        return self.typesetter.visit(node)

    def index(self, name: str) -> str | None:
        """The same, to stand below the line: what a tuple or list holds, without its brackets."""
        node = self.nodes.get(name)
        if isinstance(node, ast.Tuple | ast.List):
            return ", ".join(map(self.typesetter.visit, node.elts)) or None
        return self.given(name)


Notation = Callable[[Arguments], str]

#: Signs that stand before what they range over without parentheses: Σ_dim x ⊙ y.
BIG_SIGNS = frozenset({"Σ", "Π", r"\sum", r"\prod"})


def reduction(text: str, latex: str = "", x: str = "x", dim: str = "dim") -> Notation:
    """A sign with the reduced dimensions under it, or what a list ranges over; keepdim is not printed."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        sign = latex if setter.latex and latex else text
        index, node = arguments.index(dim), arguments.nodes.get(x)
        if sign not in BIG_SIGNS:
            return setter.call(setter.operator(sign) + setter.under(index), [arguments[x]])
        if isinstance(node, ast.ListComp) and index is None:
            index, node = setter.members(node), node.elt
        ranging = arguments[x] if node is None else setter.visit(node)
        return setter.printed(f"{sign}{setter.under(index)} {ranging:7}", BIG)

    return notation


def operator(name: str, *shown: str, under: str = "dim") -> Notation:
    """`name_under(shown, ...)`: a function with its dimension as an index; what is not given is left out."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        head = setter.operator(name) + setter.under(arguments.index(under))
        return setter.call(head, [printed for each in shown if (printed := arguments.given(each)) is not None])

    return notation


def cases(condition: str = "condition", a: str = "a", b: str = "b") -> Notation:
    """A choice: `{a if condition; b otherwise}`; a choice in its last branch becomes further cases."""

    def notation(arguments: Arguments) -> str:
        parts = (arguments.nodes.get(name) for name in (condition, a, b))
        test, body, orelse = (part or ast.Constant(None) for part in parts)
        return arguments.typesetter.cases(ast.IfExp(test, body, orelse))

    return notation


def einsum(equation: str = "equation", operands: str = "operands") -> Notation:
    """The sum over the indices that the result has not; a call whose equation is not written out."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        terms = _terms(arguments.nodes.get(equation), arguments.nodes.get(operands))
        if terms is None:
            return setter.call(setter.operator("einsum"), [setter.visit(each) for each in arguments.call.args])
        left, right, factors = terms
        summed = "".join(dict.fromkeys(index for index in "".join(left) if index not in right))
        space = r" \, " if setter.latex else " "
        product = space.join(_indexed(setter, node, index) for node, index in zip(factors, left, strict=True))
        if summed:
            return setter.printed((r"\sum" if setter.latex else "Σ") + f"{setter.under(summed)} {product}", BIG)
        return setter.printed(product, PRODUCT if len(left) > 1 else POWER)

    return notation


def _terms(equation: ast.expr | None, operands: ast.expr | None) -> tuple[list[str], str, list[ast.expr]] | None:
    """Indices of each operand, indices of the result, operands; None where the call does not write them out."""
    if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
        return None
    if not isinstance(operands, ast.Tuple | ast.List) or any(isinstance(each, ast.Starred) for each in operands.elts):
        return None
    left, arrow, right = equation.value.replace(" ", "").replace("...", "…").partition("->")
    if not arrow:
        right = "".join(sorted(index for index in set(left) - {","} if left.count(index) == 1))
    indices = left.split(",")
    return (indices, right, operands.elts) if len(indices) == len(operands.elts) else None


def _indexed(setter: Typesetter, node: ast.expr, index: str) -> str:
    """A factor of an einsum with its indices; one that has an index already is put in parentheses."""
    factor = setter.visit(node)
    if setter.latex:
        index = index.replace("…", r"\ldots ")
        factor = setter.printed(factor, LOOSE if "_" in factor.replace(r"\_", "") else factor.binds)
    return factor.at(ATOM) + setter.under(index)


def norm(x: str = "x", p: str = "p", dim: str = "dim") -> Notation:
    """`‖x‖_p`, with the dimensions after the order; the order 2 is left out."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        bars = r"\left\lVert {} \right\rVert" if setter.latex else "‖{}‖"
        order = arguments.given(p)
        parts = [order if order != "2" else None, arguments.index(dim)]
        index = ", ".join(part for part in parts if part is not None)
        return setter.printed(bars.format(arguments[x]) + setter.under(index or None))

    return notation
