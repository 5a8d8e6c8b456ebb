"""Notations that depend on which arguments a call gives: reusable, one for both targets, never importing torch.

A notation takes the call's `Arguments` and returns how the whole prints:

    @function(notation=reduction("Σ", r"\\sum"))                      Σ_dim x        \\sum_{dim} x
    @function(notation=reduction("max", r"\\max"))                    max_dim(x)     \\max_{dim}(x)
    @function(notation=operator("sort"))                              sort_dim(x, descending)
    @function(notation=part(along=False))                            x[index]_dim
    @function(notation=changed("←"))                                 x[..., index ← src, ...]_dim
    @function(notation=alone("x"))                                   x
    @function(notation=raised("inv"))                                A⁻¹, and A⁻ᴴ for inv(mH(A))
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

    def __new__(cls, text: str, binds: int = ATOM) -> Printed:
        self = str.__new__(cls, text)
        self.binds = binds
        return self

    def at(self, least: int) -> str:
        """Itself, in parentheses where it binds looser than `least`."""
        return self if self.binds >= least else self.enclosed(self)

    def __format__(self, spec: str) -> str:
        """`{x:7}` as `at(7)`; `{x:()}` as the argument of the function in front of it."""
        if spec == "()":
            return self.called(self)
        return str(self.at(int(spec)) if spec else self)

    @staticmethod
    def enclosed(text: str, brackets: str = "()") -> str:
        """Text in brackets."""
        return brackets[0] + text + brackets[1]

    called = enclosed


class Typesetter(Protocol):
    """What a notation may ask of the typesetter that calls it."""

    latex: ClassVar[bool]

    def visit(self, node: ast.expr) -> Printed:
        """An expression, printed."""

    def shrunk(self, node: ast.AST) -> Printed:
        """An expression, printed where there is no room for two storeys."""

    def printed(self, text: str, binds: int = ATOM) -> Printed:
        """Text that is printed already."""

    def operator(self, name: str) -> str:
        """The name of a function as it is written in front of its arguments."""

    def call(self, name: str, arguments: list[str]) -> Printed:
        """`name(x, y)`."""

    def bracketed(self, text: str) -> str:
        """`[text]`, behind what it is a part of."""

    def keyword(self, name: str | None) -> str:
        """`name=`."""

    def truth(self, node: ast.expr) -> Printed:
        """An expression; one that is true or false in the brackets that make it 1 or 0, where the notation has them."""

    def under(self, index: str | None) -> str:
        """A printed index below the line; "" for None."""

    def members(self, node: ast.ListComp) -> str:
        """What a list ranges over."""

    def cases(self, node: ast.expr) -> Printed:
        """A choice between branches."""


class Rest(ast.Tuple):
    """What a call gives beyond the named parameters: a tuple that prints without parentheses."""


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

    def written(self, *hidden: str, spread: str = "") -> list[str]:
        """The arguments as the call gives them, without those hidden and `like`; of a list `spread` the items."""
        keywords = {keyword.arg for keyword in self.call.keywords}
        shown: list[str] = []
        for name, node in self.nodes.items():
            if name in hidden or name == "like":
                continue
            if isinstance(node, Rest):
                shown += map(self.typesetter.visit, node.elts)
                continue
            printed = (name == spread and self.index(name)) or self.typesetter.visit(node)
            shown.append(f"{self.typesetter.keyword(name)}{printed}" if name in keywords else str(printed))
        return shown

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


def operator(name: str, *shown: str, latex: str = "", under: str = "dim", spread: str = "") -> Notation:
    """`name_under(shown, ...)`: a function with its dimension as an index. What is not given is left out; where no
    arguments are named, all others are as they are written, and the items of the list `spread` without brackets."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        head = setter.operator(latex if setter.latex and latex else name)
        if isinstance(arguments.nodes.get(under), ast.Call | ast.ListComp):  # too much to stand below the line
            return setter.call(head, arguments.written(spread=spread))
        head += setter.under(arguments.index(under))
        if not shown:
            return setter.call(head, arguments.written(under, spread=spread))
        return setter.call(head, [printed for each in shown if (printed := arguments.given(each)) is not None])

    return notation


def alone(x: str = "x") -> Notation:
    """One argument, and nothing of the function around it: it changes a type, or repeats what broadcasting repeats."""

    def notation(arguments: Arguments) -> str:
        node = arguments.nodes.get(x)
        return arguments[x] if node is None else arguments.typesetter.truth(node)

    return notation


def to_shape(name: str) -> Notation:
    """The argument alone where it takes the shape of a tensor, as broadcasting would have it; else `name(x, shape)`."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        if is_shape(arguments.nodes.get("shape")):
            return arguments["x"]
        return setter.call(setter.operator(name), arguments.written())

    return notation


def is_shape(node: ast.expr | None) -> bool:
    """Whether an expression is `x.shape`."""
    return isinstance(node, ast.Attribute) and node.attr == "shape"


# Parts of tensors: x[index]_dim has an index for each element, x[..., i, ...]_dim one for each part along dim.

Inner = Callable[[Arguments], str | None]


def at(name: str) -> Inner:
    """An argument as what stands between the brackets."""
    return lambda arguments: arguments.index(name)


INDEX = at("index")


def between(arguments: Arguments) -> str:
    """`start:end:step`, or `start:start + length`."""
    start, end, step, length = (_unless_none(arguments.nodes.get(each)) for each in ("start", "end", "step", "length"))
    if isinstance(start, ast.Constant) and start.value == 0:
        start = None
    if length is not None:
        end = length if start is None else _sum(start, length)
    if isinstance(step, ast.Constant) and step.value == 1:
        step = None
    return arguments.typesetter.visit(ast.Slice(start, end, step))


def _sum(start: ast.expr, length: ast.expr) -> ast.expr:
    """start + length; k for (k - 1) + 1."""
    if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Sub) and ast.dump(start.right) == ast.dump(length):
        return start.left
    return ast.BinOp(start, ast.Add(), length)


def _unless_none(node: ast.expr | None) -> ast.expr | None:
    return None if isinstance(node, ast.Constant) and node.value is None else node


def part(inner: Inner = INDEX, *, along: bool = True) -> Notation:
    """`x[..., i, ...]_dim`, the dimension counted out where it is a number; along=False: `x[index]_dim`."""

    def notation(arguments: Arguments) -> str:
        index, below = _along(arguments, inner(arguments) or "") if along else _below(arguments, inner)
        return _bracketed(arguments, f"{arguments['x']:10}", index, below)

    return notation


def changed(sign: str, src: str = "src", inner: Inner = INDEX, *, x: str = "x", along: bool = True) -> Notation:
    """`x[index ← src]`, `x[index += src]`: x with src at these places, or added there. Without an `x` it is zeros."""

    def notation(arguments: Arguments) -> str:
        setter = arguments.typesetter
        index, below = _along(arguments, inner(arguments) or "") if along else _below(arguments, inner)
        kept = arguments.nodes.get(x) if x else None
        shape = arguments.nodes.get("shape")
        if kept is not None:
            target = format(setter.visit(kept), "10")
        elif shape is None or is_shape(shape):
            target = "0"
        else:
            target = setter.call(setter.operator("zeros"), [setter.visit(shape)])
        return _bracketed(arguments, target, f"{index} {_arrow(setter, sign)} {arguments[src]:{SUM}}", below)

    return notation


def replaced(name: str = "", src: str = "src", index: str = "index") -> Notation:
    """`x[index ← src]`, or `name(x, index ← src)`; += where the call accumulates, the call itself where it may."""

    def notation(arguments: Arguments) -> str:
        setter, accumulate = arguments.typesetter, arguments.nodes.get("accumulate", ast.Constant(False))
        if not isinstance(accumulate, ast.Constant):
            return setter.call(setter.operator(name or "index_put"), arguments.written())
        sign = _arrow(setter, "+=" if accumulate.value else "←")
        inner = f"{arguments.index(index)} {sign} {arguments[src]:{SUM}}"
        if name:
            return setter.call(setter.operator(name), [arguments["x"], inner])
        return _bracketed(arguments, f"{arguments['x']:10}", inner, "")

    return notation


def _arrow(setter: Typesetter, sign: str) -> str:
    return {"←": r"\gets", "+=": r"\mathrel{+}="}[sign] if setter.latex else sign


def _bracketed(arguments: Arguments, target: str, inner: str, below: str) -> str:
    setter = arguments.typesetter
    return setter.printed(target + setter.bracketed(inner) + below)


def _below(arguments: Arguments, inner: Inner) -> tuple[str, str]:
    return inner(arguments) or "", arguments.typesetter.under(arguments.index("dim"))


def _along(arguments: Arguments, inner: str) -> tuple[str, str]:
    """What stands between the brackets and below them, for an index along dim."""
    setter = arguments.typesetter
    colon, dots = setter.visit(ast.Slice(None, None, None)), setter.visit(ast.Constant(...))
    dim = integer(arguments.nodes.get("dim", ast.Constant(arguments.defaults.get("dim"))))
    if dim is None:
        return f"{dots}, {inner}, {dots}", setter.under(arguments.index("dim"))
    return ", ".join([*[colon] * dim, inner] if dim >= 0 else [dots, inner, *[colon] * (-1 - dim)]), ""


def integer(node: ast.expr) -> int | None:
    """The number that an expression writes out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = integer(node.operand)
        return None if number is None else -number
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


UNSQUEEZE = operator("unsqueeze")


def new_dim(arguments: Arguments) -> str:
    """`x[..., None]`, the place counted out where it is a number; else `unsqueeze_dim(x)`."""
    if integer(arguments.nodes["dim"]) is None:
        return UNSQUEEZE(arguments)
    index, _ = _along(arguments, arguments.typesetter.visit(ast.Constant(None)))
    return _bracketed(arguments, f"{arguments['x']:10}", index, "")


#: What is written behind a matrix, above the line; by function. In text, in LaTeX.
MARKS = {"mT": ("ᵀ", r"\top"), "mH": ("ᴴ", r"\mathsf{H}"), "inv": ("⁻¹", "-1"), "pinv": ("⁺", "+")}


def raised(name: str, x: str) -> Notation:
    """A mark behind a matrix; an inverse and a transposition, whichever is first, as one: A⁻ᴴ."""

    def notation(arguments: Arguments) -> str:
        setter, node, names = arguments.typesetter, arguments.nodes[x], {name}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            inner = node.func.id
            if inner in MARKS and (inner in ("mT", "mH")) != (name in ("mT", "mH")):
                names, node = {name, inner}, node.args[0]
        mark = "".join(MARKS[each][setter.latex] for each in ("inv", "pinv", "mT", "mH") if each in names)
        if len(names) == 2:
            mark = mark.replace("¹", "").replace("-1", "-")
        return setter.printed(f"{setter.visit(node):10}" + (f"^{{{mark}}}" if setter.latex else mark), POWER)

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
    """A factor of an einsum with its indices, apart from those that it has already."""
    factor = setter.visit(node)
    if setter.latex:
        index = index.replace("…", r"\ldots ")
        factor = setter.printed(factor, LOOSE if "_" in factor.replace(r"\_", "") else factor.binds)
    elif "_" in factor:
        return f"{factor:10}_{{{index}}}"
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
