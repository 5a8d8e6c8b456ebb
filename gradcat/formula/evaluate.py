"""The evaluator: a walk over the checked syntax tree. It never calls eval, exec or import."""

from __future__ import annotations

import ast
import operator
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from .syntax import FormulaError, parse
from .vocabulary import CONSTANTS, table

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}

#: A power of a Python number larger than this is refused: 9**9**9 would not end.
MAX_POWER = 10_000


@cache
def vocabulary() -> dict[str, Callable[..., Any]]:
    """Code of every function of the vocabulary."""
    return {name: row.code for name, row in table().items()}


class Scope(Mapping[str, Any]):
    """The names of a formula. Definitions (`where:`) are evaluated when first asked for, and once."""

    def __init__(
        self, values: Mapping[str, Any], definitions: Mapping[str, str] | None = None, *, evaluator: Evaluator
    ) -> None:
        self.values_ = dict(values)
        self.definitions = definitions or {}
        self.evaluator = evaluator
        self.pending: list[str] = []

    def __getitem__(self, name: str) -> Any:
        if name in self.values_:
            return self.values_[name]
        if name in self.definitions:
            if name in self.pending:
                raise FormulaError(f"where: {' -> '.join([*self.pending, name])} defines itself")
            self.pending.append(name)
            try:
                value = self.evaluator(self.definitions[name], self)
            finally:
                self.pending.pop()
            self.values_[name] = value
            return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter({**self.definitions, **self.values_})

    def __len__(self) -> int:
        return len({**self.definitions, **self.values_})


class Evaluator:
    """Evaluates expressions with the functions of the vocabulary, and others that are given."""

    visitors: ClassVar[dict[type[ast.AST], Callable[..., Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls.visitors = {}  # a subclass may visit in its own way

    def __init__(self, functions: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.functions = ChainMap(dict(functions or {}), vocabulary())

    def __call__(self, text: str, names: Mapping[str, Any]) -> Any:
        """Value of `text`, its names looked up in `names`."""
        return self.visit(self.parse(text), names)

    def parse(self, text: str) -> ast.expr:
        return parse(text)

    def visit(self, node: ast.AST, names: Mapping[str, Any]) -> Any:
        visitor = self.visitors.get(type(node))
        if visitor is None:
            visitor = self.visitors[type(node)] = getattr(type(self), f"visit_{type(node).__name__}")
        return visitor(self, node, names)

    def visit_Constant(self, node: ast.Constant, names: Mapping[str, Any]) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        for where in (names, CONSTANTS, self.functions):
            try:
                return where[node.id]
            except KeyError:
                continue
        raise FormulaError(f"unknown name {node.id!r}; in scope: {', '.join(sorted(names))}")

    def visit_Attribute(self, node: ast.Attribute, names: Mapping[str, Any]) -> Any:
        return getattr(self.visit(node.value, names), node.attr)

    def visit_Subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        return self.visit(node.value, names)[self.visit(node.slice, names)]

    def visit_Slice(self, node: ast.Slice, names: Mapping[str, Any]) -> Any:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.visit(part, names) for part in parts))

    def visit_Tuple(self, node: ast.Tuple, names: Mapping[str, Any]) -> Any:
        return tuple(self._items(node.elts, names))

    def visit_List(self, node: ast.List, names: Mapping[str, Any]) -> Any:
        return self._items(node.elts, names)

    def _items(self, nodes: list[ast.expr], names: Mapping[str, Any]) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += self.visit(node.value, names)
            else:
                items.append(self.visit(node, names))
        return items

    def visit_ListComp(self, node: ast.ListComp, names: Mapping[str, Any]) -> Any:
        items: list[Any] = []

        def loop(generators: list[ast.comprehension], scope: Mapping[str, Any]) -> None:
            if not generators:
                items.append(self.visit(node.elt, scope))
                return
            head, *rest = generators
            for value in self.visit(head.iter, scope):
                inner = Local(scope, bind(head.target, value))
                if all(self.visit(condition, inner) for condition in head.ifs):
                    loop(rest, inner)

        loop(node.generators, names)
        return items

    def visit_Lambda(self, node: ast.Lambda, names: Mapping[str, Any]) -> Any:
        parameters = [argument.arg for argument in node.args.args]

        def call(*values: Any) -> Any:
            if len(values) != len(parameters):
                raise FormulaError(f"{ast.unparse(node)!r} takes {len(parameters)} values, got {len(values)}")
            return self.visit(node.body, Local(names, dict(zip(parameters, values, strict=True))))

        return call

    def visit_Call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        call = self.callee(node.func, names)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.visit(keyword.value, names)
            keywords.update(value if keyword.arg is None else {keyword.arg: value})
        return call(*self._items(node.args, names), **keywords)

    def callee(self, node: ast.expr, names: Mapping[str, Any]) -> Callable[..., Any]:
        """The function that a call names: a parameter that holds one, or one of the vocabulary."""
        if isinstance(node, ast.Name):
            if callable(value := names.get(node.id)):
                return value
            if node.id in self.functions:  # also where an argument that is no function has this name: sum, max, index
                return self.functions[node.id]
        known = ", ".join(nearest(ast.unparse(node), self.functions))
        raise FormulaError(f"unknown function {ast.unparse(node)!r}; nearest in the vocabulary: {known}")

    def visit_IfExp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        return self.visit(node.body if self.visit(node.test, names) else node.orelse, names)

    def visit_BoolOp(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        stop = isinstance(node.op, ast.Or)
        value = None
        for part in node.values:
            value = self.visit(part, names)
            if bool(value) is stop:
                break
        return value

    def visit_UnaryOp(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        return UNARY[type(node.op)](self.visit(node.operand, names))

    def visit_BinOp(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self.visit(node.left, names), self.visit(node.right, names)
        if isinstance(node.op, ast.Pow) and isinstance(left, int) and isinstance(right, int) and abs(right) > MAX_POWER:
            raise FormulaError(f"{ast.unparse(node)}: an exponent above {MAX_POWER} is refused")
        return BINARY[type(node.op)](left, right)

    def visit_Compare(self, node: ast.Compare, names: Mapping[str, Any]) -> Any:
        left = self.visit(node.left, names)
        result: Any = True
        for symbol, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.visit(comparator, names)
            result = COMPARE[type(symbol)](left, right)
            if len(node.ops) > 1 and not result:
                return result
            left = right
        return result


class Local(Mapping[str, Any]):
    """Names of a lambda or comprehension in front of the names around it."""

    def __init__(self, outer: Mapping[str, Any], inner: dict[str, Any]) -> None:
        self.outer, self.inner = outer, inner

    def __getitem__(self, name: str) -> Any:
        return self.inner[name] if name in self.inner else self.outer[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.outer), **self.inner})

    def __len__(self) -> int:
        return sum(1 for _ in self)


def bind(target: ast.expr, value: Any) -> dict[str, Any]:
    """Names of a comprehension's target, with their values."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple):
        return {k: v for part, item in zip(target.elts, value, strict=True) for k, v in bind(part, item).items()}
    raise FormulaError(f"cannot bind {ast.unparse(target)!r}: use a name, or names between commas")


def nearest(name: str, known: Mapping[str, Any]) -> list[str]:
    """Known names that look like `name`."""
    import difflib

    return difflib.get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)[:3]
