"""Formulas as mathematics in a terminal."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any, ClassVar

from ...words import GREEK
from ..syntax import parse
from ..vocabulary.notation import ATOM, BIG, BITS, FRACTION, POWER, PRODUCT, SUM, Printed
from .walk import DIGITS, Infix, Names, Typesetter, chained

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def text(code: str, names: Names = Names(), *, relation: bool = True) -> str:  # noqa: B008 (frozen)
    """A formula in plain text; with `relation`, one that states what holds where it is an equation."""
    return str(_typesetter(names).whole(parse(code), relation))


class Text(Typesetter):
    """The notation of plain text."""

    latex = False
    piece = Printed
    binary: ClassVar[dict[type[ast.operator], Infix]] = {
        ast.Add: Infix("{} + {}", SUM, BIG, SUM, SUM),
        ast.Sub: Infix("{} - {}", SUM, BIG, SUM, SUM),
        ast.Mult: chained("{} ⊙ {}", PRODUCT, FRACTION),
        ast.MatMult: chained("{} @ {}", PRODUCT, FRACTION),
        ast.Div: Infix("{} / {}", PRODUCT, POWER, BIG, POWER),
        ast.FloorDiv: Infix("⌊{} / {}⌋", PRODUCT, POWER, ATOM, POWER),
        ast.Mod: Infix("{} mod {}", POWER, POWER, BITS, POWER),
        ast.BitAnd: chained("{} ∧ {}", BITS, SUM),
        ast.BitOr: chained("{} ∨ {}", BITS, SUM),
        ast.BitXor: chained("{} ⊕ {}", BITS, SUM),
        ast.LShift: chained("{} << {}", BITS, SUM),
        ast.RShift: chained("{} >> {}", BITS, SUM),
    }
    compare: ClassVar[dict[type[ast.cmpop], str]] = {
        ast.Eq: "==",
        ast.NotEq: "≠",
        ast.Lt: "<",
        ast.LtE: "≤",
        ast.Gt: ">",
        ast.GtE: "≥",
        ast.Is: "is",
        ast.IsNot: "is not",
        ast.In: "∈",
        ast.NotIn: "∉",
    }
    words: ClassVar[dict[type[ast.AST], str]] = {ast.And: " and ", ast.Or: " or ", ast.Not: "not ", ast.Invert: "¬"}
    constants: ClassVar[dict[Any, str]] = {None: "None", True: "True", False: "False", ...: "..."}
    attributes: ClassVar[dict[str, tuple[str, int]]] = {
        "T": ("{:10}ᵀ", POWER),
        "mT": ("{:10}ᵀ", POWER),
        "real": ("Re({})", ATOM),
        "imag": ("Im({})", ATOM),
        "": ("{:10}.{attr}", ATOM),
    }
    templates: ClassVar[dict[str, str]] = {
        "derivative": "∂L/∂{}",
        "branch": "{} if {}",
        "otherwise": "{} otherwise",
        "next": "; ",
        "cases": "{{{}}}",
        "lambda": "{} ↦ {}",
        "in": "{} ∈ {}",
        "such that": "{} | {}",
        "to": ":",
        "size": "{:10}.shape[{}]",
        "sizes": "{:10}.shape[{}]",
    }

    def identifier(self, name: str) -> Printed:
        stem = name.rstrip(DIGITS)
        return self.printed("∞" if name == "inf" else GREEK.get(stem, stem) + name[len(stem) :])

    def string(self, text: str) -> Printed:
        return self.printed(repr(text))

    def scaled(self, left: Printed, right: Printed) -> Printed:
        return self.printed(f"{left:8}·{right:8}", FRACTION)

    def power(self, node: ast.BinOp) -> Printed:
        exponent = self.visit(node.right)
        raised = exponent.translate(SUPERSCRIPTS) if _is_short(node.right) else f"^{exponent:10}"
        return self.printed(f"{self.visit(node.left):10}{raised}", POWER)

    def item(self, of: Printed, index: str) -> Printed:
        return self.printed(f"{of:10}[{index}]")

    def under(self, index: str | None) -> str:
        if index is None:
            return ""
        return f"_{index}" if index.replace("_", "").isalnum() else f"_{{{index}}}"

    def operator(self, name: str) -> str:
        return name


def _is_short(node: ast.expr) -> bool:
    """Whether an exponent is an integer of at most two digits."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value in range(100)


_typesetter = lru_cache(maxsize=1024)(Text)
