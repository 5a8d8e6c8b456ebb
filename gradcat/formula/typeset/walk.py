"""The typesetters: one walk over the checked syntax tree, two tables of notation. They never import torch.

How a formula reads, stated once:

- A scalar stands close to what it scales (`2·x`, `α·x`): a number, a name that prints as a Greek letter, a size, and
  what is computed from these. All other products say which they are: `⊙` element by element, `@` of matrices. LaTeX
  sets the factors of a matrix product side by side.
- The cotangent is a derivative of the loss L: `grad` is ∂L/∂out, `grad_values` is ∂L/∂values, `grads[i]` is ∂L/∂out[i];
  `result` is `out`.
- A product of different kinds, a quotient inside a product, a chain of powers: parentheses, although Python needs none.
- Conditions are joined by words, as loosely as in a sentence: `x > 0 and y > 0` for `(x > 0) & (y > 0)`.
- What only changes a type, or repeats what broadcasting would repeat, is not printed: cast, restored dimensions, expand
  to another tensor's shape, `like=`. Where x has parts of another tensor in it, an arrow says so: `x[index ← y]`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from ...words import GREEK
from ..vocabulary import CONSTANTS, table
from ..vocabulary.notation import (
    ATOM,
    BIG,
    BITS,
    COMPARE,
    FRACTION,
    LOGIC,
    LOOSE,
    NEGATIVE,
    POWER,
    SUM,
    Arguments,
    Printed,
    Rest,
)

#: A name may end in these: mat1, beta2.
DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Names:
    """What is known of a formula's names."""

    arguments: frozenset[str] = frozenset()  # the op's own: they print as they are called, `grad_output` too
    scalars: frozenset[str] = frozenset()  # numbers


class Infix(NamedTuple):
    """How a binary operator prints: what its operands must bind, `chain` where the left one has the same operator."""

    template: str
    left: int
    right: int
    binds: int
    chain: int


def chained(template: str, binds: int, inside: int) -> Infix:
    """a ∘ b ∘ c for (a ∘ b) ∘ c, and parentheses for all else that does not bind tighter."""
    return Infix(template, inside, inside, binds, binds)


PRODUCTS = (ast.Mult, ast.MatMult, ast.Div)

#: Functions that give a number for numbers; the second ones give a number for anything.
OF_NUMBERS = frozenset(
    {"abs", "ceil", "conj", "cos", "exp", "floor", "imag", "lgamma", "log", "log2", "maximum", "minimum", "real"}
    | {"rsqrt", "sgn", "sin", "sqrt", "tan", "tanh"}
)
NUMBERS = frozenset({"int", "item", "len", "max", "min", "numel"})
#: Functions that are true or false.
TRUTHS = frozenset({"all", "any", "isfinite", "isinf", "isnan", "signbit", "stored"})
#: Operators that join truths, and the words that do.
JOINED: dict[type[ast.operator], type[ast.boolop]] = {ast.BitAnd: ast.And, ast.BitOr: ast.Or}


class Typesetter:
    """The walk. A subclass is a table of notation."""

    latex: ClassVar[bool]
    piece: ClassVar[type[Printed]]
    binary: ClassVar[dict[type[ast.operator], Infix]]
    compare: ClassVar[dict[type[ast.cmpop], str]]
    words: ClassVar[dict[type[ast.AST], str]]
    constants: ClassVar[dict[Any, str]]
    attributes: ClassVar[dict[str, tuple[str, int]]]  # template, how tightly the whole binds
    templates: ClassVar[dict[str, str]]
    methods: ClassVar[dict[type, Callable[[Any, Any], Printed]]]

    def __init__(self, names: Names) -> None:
        self.names = names
        self.small = False  # inside a fraction, an exponent, a condition: a fraction there would be a storey too many
        self.symbols: tuple[dict[str, Printed], dict[str, Printed]] = {}, {}  # by size

    def __init_subclass__(cls) -> None:
        visits = (name for name in dir(cls) if name.startswith("visit_"))
        cls.methods = {getattr(ast, name[6:], Rest): getattr(cls, name) for name in visits}

    def visit(self, node: ast.AST) -> Printed:
        return self.methods[type(node)](self, node)

    def shrunk(self, node: ast.AST) -> Printed:
        """An expression, printed where there is no room for two storeys."""
        outer, self.small = self.small, True
        try:
            return self.visit(node)
        finally:
            self.small = outer

    def printed(self, text: str, binds: int = ATOM) -> Printed:
        return self.piece(text, binds)

    def fill(self, template: str, *parts: object, binds: int = ATOM) -> Printed:
        return self.printed(self.templates[template].format(*parts), binds)

    def whole(self, node: ast.expr, relation: bool) -> Printed:
        """A whole formula; with `relation`, one that may state what holds."""
        return self.relation(node) if relation else self.truth(node)

    def truth(self, node: ast.expr) -> Printed:
        """An expression; one that is true or false in the brackets that make it 1 or 0, where the notation has them."""
        return self.visit(node)

    def relation(self, node: ast.expr) -> Printed:
        """A whole formula: at its top == states that two things are equal."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return self.printed(
                self.words[ast.And].join(self.relation(part).at(COMPARE) for part in node.values), LOGIC
            )
        if isinstance(node, ast.Compare) and all(isinstance(symbol, ast.Eq) for symbol in node.ops):
            sides = (self.visit(side).at(BITS) for side in (node.left, *node.comparators))
            return self.printed(" = ".join(sides), COMPARE)
        return self.visit(node)

    # Names and constants

    def visit_Name(self, node: ast.Name) -> Printed:
        return self.symbol(node.id)

    def symbol(self, name: str) -> Printed:
        """A name as it prints."""
        symbols = self.symbols[self.small]
        if name not in symbols:
            symbols[name] = self._symbol(name)
        return symbols[name]

    def _symbol(self, name: str) -> Printed:
        if name in self.names.arguments:
            return self.identifier(name)
        if name in ("grad", "grads"):
            return self.derivative(self.identifier("out"))
        if name.startswith("grad_"):
            output = name[len("grad_") :]
            return self.derivative(self.identifier("out" if output == "result" else output))
        return self.identifier("out" if name == "result" else name)

    def identifier(self, name: str) -> Printed:
        raise NotImplementedError

    def derivative(self, of: str) -> Printed:
        return self.fill("derivative", of, binds=FRACTION)

    def visit_Constant(self, node: ast.Constant) -> Printed:
        value = node.value
        if value is ... or value is None or value is True or value is False:
            return self.printed(self.constants[value])
        if isinstance(value, complex):
            factor = "" if value.imag == 1 else str(self.number(value.imag))
            return self.printed(f"{factor}i")
        return self.number(value) if isinstance(value, int | float) else self.string(str(value))

    def number(self, value: float) -> Printed:
        if not math.isfinite(value):
            return self.symbol("nan" if math.isnan(value) else "inf")
        return self.digits(repr(int(value)) if abs(value) < 1e6 and value == int(value) else repr(value))

    def digits(self, text: str) -> Printed:
        return self.printed(text)

    def string(self, text: str) -> Printed:
        raise NotImplementedError

    # Operators

    def visit_BinOp(self, node: ast.BinOp) -> Printed:
        kind = type(node.op)
        if kind is ast.Pow:
            return self.power(node)
        if kind in PRODUCTS and (positive := _without_sign(node)) is not None:
            return self.negative(positive)
        if kind is ast.Div or kind is ast.FloorDiv:
            return self.quotient(node)
        if kind in JOINED and is_truth(node):
            return self.joined(node, kind)
        infix = self.binary[kind]
        left, right = self.visit(node.left), self.visit(node.right)
        if kind is ast.Mult and (self.scalar(node.left) or self.scalar(node.right)):
            return self.scaled(left, right)
        least = infix.chain if isinstance(node.left, ast.BinOp) and type(node.left.op) is kind else infix.left
        return self.printed(infix.template.format(left.at(least), right.at(infix.right)), infix.binds)

    def joined(self, node: ast.BinOp, kind: type[ast.operator]) -> Printed:
        """Conditions that all hold, or one of them."""
        chain = isinstance(node.left, ast.BinOp) and type(node.left.op) is kind and is_truth(node.left)
        left, right = self.visit(node.left).at(LOGIC if chain else COMPARE), self.visit(node.right).at(COMPARE)
        return self.printed(left + self.words[JOINED[kind]] + right, LOGIC)

    def quotient(self, node: ast.BinOp) -> Printed:
        infix = self.binary[type(node.op)]
        left, right = self.visit(node.left).at(infix.left), self.visit(node.right).at(infix.right)
        return self.printed(infix.template.format(left, right), infix.binds)

    def scalar(self, node: ast.expr) -> bool:
        """Whether an expression is known to be a number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float | complex)
        if isinstance(node, ast.Name):
            return node.id.rstrip(DIGITS) in GREEK or node.id in CONSTANTS or node.id in self.names.scalars
        if isinstance(node, ast.BinOp):
            return self.scalar(node.left) and self.scalar(node.right)
        if isinstance(node, ast.Subscript):
            return (isinstance(node.value, ast.Attribute) and node.value.attr == "shape") or self.scalar(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            of_numbers = node.func.id in OF_NUMBERS and all(map(self.scalar, node.args))
            return of_numbers or node.func.id in NUMBERS
        return isinstance(node, ast.UnaryOp) and self.scalar(node.operand)

    def scaled(self, left: Printed, right: Printed) -> Printed:
        """A product with a scalar; it is as tight as a fraction."""
        raise NotImplementedError

    def power(self, node: ast.BinOp) -> Printed:
        raise NotImplementedError

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Printed:
        if isinstance(node.op, ast.USub):
            return self.negative(node.operand)
        if isinstance(node.op, ast.Invert):
            return self.printed(self.words[ast.Invert] + self.visit(node.operand).at(ATOM), POWER)
        return self.printed(self.words[ast.Not] + self.visit(node.operand).at(COMPARE), COMPARE)

    def negative(self, node: ast.expr) -> Printed:
        return self.printed("-" + self.visit(node).at(BIG), NEGATIVE)

    def visit_BoolOp(self, node: ast.BoolOp) -> Printed:
        return self.printed(self.words[type(node.op)].join(self.visit(part).at(COMPARE) for part in node.values), LOGIC)

    def visit_Compare(self, node: ast.Compare) -> Printed:
        parts = [self.visit(node.left).at(SUM)]
        for symbol, side in zip(node.ops, node.comparators, strict=True):
            parts += [self.compare[type(symbol)], self.visit(side).at(SUM)]
        return self.printed(" ".join(parts), COMPARE)

    # Choices, functions, lists

    def visit_IfExp(self, node: ast.IfExp) -> Printed:
        return self.cases(node)

    def cases(self, node: ast.expr) -> Printed:
        branches = []
        while choice := _choice(node):
            test, body, node = choice
            branches.append(self.templates["branch"].format(self.visit(body), self.shrunk(test)))
        branches.append(self.templates["otherwise"].format(self.visit(node)))
        return self.fill("cases", self.templates["next"].join(branches), binds=LOGIC if self.latex else ATOM)

    def visit_Lambda(self, node: ast.Lambda) -> Printed:
        with self.bound({argument.arg for argument in node.args.args}):
            names = [self.symbol(argument.arg) for argument in node.args.args]
            head = names[0] if len(names) == 1 else self.enclosed(", ".join(names))
            body = self.visit(node.body)
            if body == head and isinstance(node.body, ast.Call):
                body = self.plain(node.body)  # t ↦ t would not say what a definition is for
            return self.fill("lambda", head, body, binds=LOOSE)

    def visit_ListComp(self, node: ast.ListComp) -> Printed:
        with self.bound(targets(node)):
            return self.listed(self.templates["such that"].format(self.visit(node.elt), self.members(node)))

    @contextmanager
    def bound(self, names: set[str]) -> Iterator[None]:
        """Within: these names are the formula's own, and print as they are."""
        hidden = {name for name in names if name in ("grad", "grads", "result") or name.startswith("grad_")}
        if not hidden:
            yield
            return
        outer = self.symbols
        own = {name: self.identifier(name) for name in hidden}
        self.symbols = {**outer[False], **own}, {**outer[True], **own}
        yield
        self.symbols = outer

    def members(self, node: ast.ListComp) -> str:
        """What a list ranges over."""
        parts = []
        for generator in node.generators:
            parts.append(self.templates["in"].format(self._items(generator.target), self.shrunk(generator.iter)))
            parts += map(self.shrunk, generator.ifs)
        return ", ".join(parts)

    def _items(self, node: ast.expr) -> str:
        """What stands between commas, without the brackets around it."""
        parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        return ", ".join(map(self.visit, parts))

    def visit_Tuple(self, node: ast.Tuple) -> Printed:
        return self.enclosed(self._items(node) + ("," if len(node.elts) == 1 else ""))

    def visit_Rest(self, node: Rest) -> Printed:
        return self.printed(self._items(node), LOOSE)

    def visit_List(self, node: ast.List) -> Printed:
        return self.listed(self._items(node))

    def listed(self, items: str) -> Printed:
        return self.enclosed(items, "[]")

    def bracketed(self, text: str) -> str:
        """`[text]`, behind what it is a part of."""
        return self.piece.called(text, "[]")

    def enclosed(self, text: str, brackets: str = "()") -> Printed:
        """Text in brackets."""
        return self.printed(self.piece.enclosed(text, brackets))

    def visit_Starred(self, node: ast.Starred) -> Printed:
        return self.printed("*" + self.visit(node.value).at(ATOM))

    # What follows a name

    def visit_Attribute(self, node: ast.Attribute) -> Printed:
        template, binds = self.attributes.get(node.attr) or self.attributes[""]
        return self.printed(template.format(self.visit(node.value), attr=node.attr), binds)

    def visit_Subscript(self, node: ast.Subscript) -> Printed:
        index = self._items(node.slice) if isinstance(node.slice, ast.Tuple) else str(self.visit(node.slice))
        value = node.value
        if isinstance(value, ast.Name) and value.id == "grads" and "grads" not in self.names.arguments:
            return self.derivative(self.item(self.identifier("out"), index))
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            return self.fill("sizes" if isinstance(node.slice, ast.Slice) else "size", self.visit(value.value), index)
        return self.item(self.visit(value), index)

    def item(self, of: Printed, index: str) -> Printed:
        raise NotImplementedError

    def visit_Slice(self, node: ast.Slice) -> Printed:
        parts = ["" if part is None else str(self.visit(part)) for part in (node.lower, node.upper)]
        return self.printed(
            self.templates["to"].join(parts if node.step is None else [*parts, self.visit(node.step)]), LOOSE
        )

    def under(self, index: str | None) -> str:
        raise NotImplementedError

    # Calls

    def visit_Call(self, node: ast.Call) -> Printed:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        row = table().get(name)
        template = None if row is None else row.latex if self.latex else row.text
        nodes = None if row is None else parameters(name).bind(node)
        if row is None or nodes is None:
            return self.plain(node)
        arguments = Arguments(nodes, parameters(name).defaults, self, node)
        if template is None:
            return self.call(self.operator(name), arguments.written())
        text = template.format_map(arguments) if isinstance(template, str) else template(arguments)
        if isinstance(text, Printed):
            return text
        return self.printed(text, row.binds if isinstance(row.binds, int) else row.binds[self.latex])

    def plain(self, node: ast.Call) -> Printed:
        """A call as it is written."""
        shown = [str(self.visit(each)) for each in node.args]
        shown += [f"{self.keyword(each.arg)}{self.visit(each.value)}" for each in node.keywords]
        return self.call(self.operator(ast.unparse(node.func)), shown)

    def keyword(self, name: str | None) -> str:
        return "**" if name is None else f"{self.identifier(name)}="

    def operator(self, name: str) -> str:
        raise NotImplementedError

    def call(self, name: str, arguments: list[str]) -> Printed:
        return self.printed(name + self.piece.called(", ".join(arguments)))


class Parameters:
    """The parameters of a function, to tell which argument of a call is which."""

    def __init__(self, name: str) -> None:
        declared = table()[name].signature.parameters.values()
        self.positional = [
            each.name for each in declared if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
        self.names = {each.name for each in declared}
        self.rest = next((each.name for each in declared if each.kind is each.VAR_POSITIONAL), None)
        self.defaults = {each.name: each.default for each in declared if each.default is not each.empty}

    def bind(self, call: ast.Call) -> dict[str, ast.expr] | None:
        """Argument of each parameter that a call gives; None where only running it would tell."""
        nodes = dict(zip(self.positional, call.args, strict=False))
        more = call.args[len(self.positional) :]
        if (self.rest is None and more) or any(isinstance(each, ast.Starred) for each in nodes.values()):
            return None
        if self.rest is not None:
            nodes[self.rest] = Rest(more, ast.Load())
        for keyword in call.keywords:
            if keyword.arg not in self.names:
                return None
            nodes[keyword.arg] = keyword.value
        return nodes


parameters = lru_cache(maxsize=None)(Parameters)


def targets(node: ast.ListComp) -> set[str]:
    """The names that a comprehension defines."""
    return {name.id for each in node.generators for name in ast.walk(each.target) if isinstance(name, ast.Name)}


def is_truth(node: ast.expr) -> bool:
    """Whether an expression is seen to be true or false: a comparison, or what is made of one."""
    if isinstance(node, ast.BinOp):
        return type(node.op) in JOINED and (is_truth(node.left) or is_truth(node.right))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert | ast.Not) and is_truth(node.operand)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in TRUTHS
    return isinstance(node, ast.Compare | ast.BoolOp)


def _choice(node: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """Condition, value and other value of a choice."""
    if isinstance(node, ast.IfExp):
        return node.test, node.body, node.orelse
    if isinstance(node, ast.Call) and len(node.args) == 3 and getattr(node.func, "id", None) == "where":
        return node.args[0], node.args[1], node.args[2]
    return None


def _without_sign(node: ast.expr) -> ast.expr | None:
    """A product without the minus in front of its first factor; None where there is none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, PRODUCTS):
        left = _without_sign(node.left)
        return None if left is None else ast.BinOp(left, node.op, node.right)
    return None
