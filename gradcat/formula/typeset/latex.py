"""Formulas as LaTeX, for math mode with amsmath."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any, ClassVar

from ...words import GREEK
from ..syntax import parse
from ..vocabulary.notation import ATOM, BIG, BITS, COMPARE, FRACTION, LOOSE, POWER, PRODUCT, SUM, Printed
from .walk import DIGITS, Infix, Names, Typesetter, chained, is_truth

#: Greek letters whose command is not the name.
COMMANDS = {"eps": "varepsilon", "epsilon": "varepsilon", "lambd": "lambda", "lambda_": "lambda"}

#: A letter, and words behind it.
HEAD = re.compile(rf"([^\W_]|{'|'.join(GREEK)})_(\w+)$")

#: What TeX takes for something else.
ESCAPES = str.maketrans({char: f"\\{char}" for char in "_&%$#{}"} | {"\\": r"\backslash ", "^": r"\^{}", "~": r"\~{}"})

#: What needs higher brackets than a line of text.
TALL = re.compile(r"\\(?:begin|frac|prod|sum)(?![a-z])").search


def latex(code: str, names: Names = Names(), *, relation: bool = True) -> str:  # noqa: B008 (frozen)
    """A formula in LaTeX; with `relation`, one that states what holds where it is an equation."""
    return str(_typesetter(names).whole(parse(code), relation))


class Piece(Printed):
    """A printed expression, and how tightly it binds."""

    __slots__ = ()

    @staticmethod
    def enclosed(text: str, brackets: str = "()") -> str:
        """Text in brackets, as high as it is."""
        return rf"\left{brackets[0]}{text}\right{brackets[1]}" if TALL(text) else brackets[0] + text + brackets[1]

    @staticmethod
    def called(text: str, brackets: str = "()") -> str:
        """The same behind what they belong to, from which TeX would keep high brackets away."""
        return (r"\!" if TALL(text) else "") + Piece.enclosed(text, brackets)


class Latex(Typesetter):
    """The notation of LaTeX."""

    latex = True
    piece = Piece
    binary: ClassVar[dict[type[ast.operator], Infix]] = {
        ast.Add: Infix("{} + {}", SUM, BIG, SUM, SUM),
        ast.Sub: Infix("{} - {}", SUM, BIG, SUM, SUM),
        ast.Mult: chained(r"{} \odot {}", PRODUCT, FRACTION),
        ast.MatMult: chained(r"{} \, {}", PRODUCT, FRACTION),
        ast.Div: Infix(r"\frac{{{}}}{{{}}}", LOOSE, LOOSE, FRACTION, LOOSE),
        ast.FloorDiv: Infix(r"\left\lfloor \frac{{{}}}{{{}}} \right\rfloor", LOOSE, LOOSE, ATOM, LOOSE),
        ast.Mod: Infix(r"{} \bmod {}", POWER, POWER, BITS, POWER),
        ast.BitAnd: chained(r"{} \land {}", BITS, SUM),
        ast.BitOr: chained(r"{} \lor {}", BITS, SUM),
        ast.BitXor: chained(r"{} \oplus {}", BITS, SUM),
        ast.LShift: chained(r"{} \ll {}", BITS, SUM),
        ast.RShift: chained(r"{} \gg {}", BITS, SUM),
    }
    #: Quotients inside a fraction or an exponent.
    small_quotients: ClassVar[dict[type[ast.operator], Infix]] = {
        ast.Div: Infix("{} / {}", PRODUCT, POWER, BIG, POWER),
        ast.FloorDiv: Infix(r"\lfloor {} / {} \rfloor", PRODUCT, POWER, ATOM, POWER),
    }
    compare: ClassVar[dict[type[ast.cmpop], str]] = {
        ast.Eq: "=",
        ast.NotEq: r"\ne",
        ast.Lt: "<",
        ast.LtE: r"\le",
        ast.Gt: ">",
        ast.GtE: r"\ge",
        ast.Is: r"\text{ is }",
        ast.IsNot: r"\text{ is not }",
        ast.In: r"\in",
        ast.NotIn: r"\notin",
    }
    words: ClassVar[dict[type[ast.AST], str]] = {
        ast.And: r" \text{ and } ",
        ast.Or: r" \text{ or } ",
        ast.Not: r"\text{not } ",
        ast.Invert: r"\lnot ",
    }
    constants: ClassVar[dict[Any, str]] = {
        None: r"\text{None}",
        True: r"\text{True}",
        False: r"\text{False}",
        ...: r"\ldots",
    }
    attributes: ClassVar[dict[str, tuple[str, int]]] = {
        "T": (r"{:10}^{{\top}}", POWER),
        "mT": (r"{:10}^{{\top}}", POWER),
        "real": (r"\operatorname{{Re}}{:()}", ATOM),
        "imag": (r"\operatorname{{Im}}{:()}", ATOM),
        "": (r"\operatorname{{{attr}}}{:()}", ATOM),
    }
    templates: ClassVar[dict[str, str]] = {
        "derivative": r"\frac{{\partial L}}{{\partial {}}}",
        "small derivative": r"\partial L / \partial {}",
        "branch": r"{} & \text{{if }} {}",
        "otherwise": r"{} & \text{{otherwise}}",
        "next": r" \\ ",
        "cases": r"\begin{{cases}} {} \end{{cases}}",
        "lambda": r"{} \mapsto {}",
        "in": r"{} \in {}",
        "such that": r"{} \mid {}",
        "to": "{:}",
        "size": r"\operatorname{{size}}_{{{1}}}{0:()}",
        "sizes": r"\operatorname{{shape}}_{{{1}}}{0:()}",
    }

    def truth(self, node: ast.expr) -> Printed:
        printed = self.visit(node)
        return self.enclosed(printed, "[]") if is_truth(node) and printed.binds <= COMPARE else printed

    def identifier(self, name: str) -> Printed:
        return self.printed(_identifier(name))

    def derivative(self, of: str) -> Printed:
        return self.fill("small derivative" if self.small else "derivative", of, binds=FRACTION)

    def digits(self, text: str) -> Printed:
        mantissa, e, exponent = text.partition("e")
        if not e:
            return self.printed(text)
        power = f"10^{{{int(exponent)}}}"
        return self.printed(power, POWER) if mantissa == "1" else self.printed(rf"{mantissa} \cdot {power}", FRACTION)

    def string(self, text: str) -> Printed:
        return self.printed(rf"\texttt{{{text.translate(ESCAPES)}}}")

    def scaled(self, left: Printed, right: Printed) -> Printed:
        sign = r"\cdot" if right[0].isdigit() else r"\,"
        return self.printed(f"{left:8} {sign} {right:8}", FRACTION)

    def quotient(self, node: ast.BinOp) -> Printed:
        infix = (self.small_quotients if self.small else self.binary)[type(node.op)]
        parts = self.shrunk(node.left).at(infix.left), self.shrunk(node.right).at(infix.right)
        return self.printed(infix.template.format(*parts), infix.binds)

    def power(self, node: ast.BinOp) -> Printed:
        return self.printed(f"{self.visit(node.left):10}^{{{self.shrunk(node.right)}}}", POWER)

    def item(self, of: Printed, index: str) -> Printed:
        if re.fullmatch(r"[\w, -]+", index) and not re.search(r"(?<!\\)[_^]", of) and of.binds == ATOM:
            return self.printed(f"{of}_{{{index}}}")
        return self.printed(f"{of:10}{self.bracketed(index)}")

    def visit_Slice(self, node: ast.Slice) -> Printed:
        return self.printed(super().visit_Slice(node).replace("{:}-", "{:}{-}"), LOOSE)

    def call(self, name: str, arguments: list[str]) -> Printed:
        *others, last = arguments or [""]  # a choice has no closing brace that would end it before a comma
        return super().call(name, [*(self.enclosed(x) if x.endswith(r"\end{cases}") else x for x in others), last])

    def under(self, index: str | None) -> str:
        return "" if index is None else f"_{{{index}}}"

    def operator(self, name: str) -> str:
        if name.startswith("\\"):
            return name
        name = rf"\mathrm{{{name.translate(ESCAPES)}}}" if "_" in name else name
        return rf"\operatorname{{{name}}}"


@lru_cache(maxsize=4096)
def _identifier(name: str) -> str:
    """A name as a symbol: trailing digits become an index, and so does what a letter has behind it: W_ih, mu_x."""
    if name == "inf":
        return r"\infty"
    stem = name.rstrip(DIGITS)
    digits = name[len(stem) :]
    stem = stem.rstrip("_") or stem if digits else stem
    if stem in GREEK:
        symbol = f"\\{COMMANDS.get(stem, stem)}"
    elif len(stem) == 1:
        symbol = stem.translate(ESCAPES)
    elif below := HEAD.match(stem):
        letter, index = below.groups()
        return rf"{_identifier(letter)}_{{{_identifier(index)}{digits}}}"
    else:
        symbol = rf"\mathrm{{{stem.translate(ESCAPES)}}}"
    return f"{symbol}_{{{digits}}}" if digits else symbol


_typesetter = lru_cache(maxsize=1024)(Latex)
