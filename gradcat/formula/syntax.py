"""What may be written: Python's expression syntax, cut down to a list. What is not on the list is refused by name."""

from __future__ import annotations

import ast
from functools import lru_cache

MAX_LENGTH = 2000
MAX_DEPTH = 60

#: Python's names for what the language has; all else is refused.
ALLOWED: tuple[type[ast.AST], ...] = (
    ast.Expression,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Store,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Call,
    ast.keyword,
    ast.Starred,
    ast.Lambda,
    ast.arguments,
    ast.arg,
    ast.ListComp,
    ast.comprehension,
    ast.IfExp,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.USub,
    ast.Not,
    ast.Invert,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.MatMult,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
    ast.LShift,
    ast.RShift,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.Is,
    ast.IsNot,
    ast.In,
    ast.NotIn,
)

#: What may follow a dot in a formula. (In a probe's call a dot also names ops and methods: see `probe.ops`.)
ATTRIBUTES = ("shape", "ndim", "dtype", "T", "mT", "real", "imag")


class FormulaError(ValueError):
    """A text that is not in the language. The message says what and where; the caller adds the node and the remedy."""


@lru_cache(maxsize=8192)
def parse(text: str, *, ops: bool = False) -> ast.expr:
    """Syntax tree of `text`; with `ops`, any attribute may be named (the evaluator decides what it finds)."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"{len(text)} characters; the limit is {MAX_LENGTH}: name parts of it under where:")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        where = f" at column {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        said = error.msg if isinstance(error, SyntaxError) else "nested too deeply"
        raise FormulaError(f"not an expression: {said}{where}: {text!r}") from None
    _check(tree, text, ops)
    return tree


def _check(tree: ast.AST, text: str, ops: bool) -> None:
    pending = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH} levels: {text[:80]!r}")
        if not isinstance(node, ALLOWED):
            raise FormulaError(f"{type(node).__name__} is not in the language: {text!r}")
        if isinstance(node, ast.Attribute) and (
            node.attr.startswith("__") or (not ops and node.attr not in ATTRIBUTES)
        ):
            known = "" if ops else f"; after a dot: {', '.join(ATTRIBUTES)}"
            raise FormulaError(f"attribute .{node.attr} is not in the language{known}")
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            raise FormulaError(f"name {node.id!r} is not in the language")
        if isinstance(node, ast.Call) and not ops and not isinstance(node.func, ast.Name):
            raise FormulaError(f"only functions of the vocabulary can be called: {ast.unparse(node)!r}")
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            raise FormulaError(f"bytes are not in the language: {text!r}")
        if isinstance(node, ast.comprehension) and node.is_async:
            raise FormulaError(f"async is not in the language: {text!r}")
        pending += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Free variables of a tree, and the functions that it calls."""
    free: set[str] = set()
    called: set[str] = set()
    _names(tree, frozenset(), free, called)
    return free, called


def _names(node: ast.AST, bound: frozenset[str], free: set[str], called: set[str]) -> None:
    if isinstance(node, ast.Name):
        if node.id not in bound:
            free.add(node.id)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in bound:
            called.add(node.func.id)
        for child in (*node.args, *node.keywords):
            _names(child, bound, free, called)
        return
    if isinstance(node, ast.Lambda):
        bound |= {argument.arg for argument in node.args.args}
        _names(node.body, bound, free, called)
        return
    if isinstance(node, ast.ListComp):
        for generator in node.generators:
            _names(generator.iter, bound, free, called)
            bound |= {name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name)}
            for condition in generator.ifs:
                _names(condition, bound, free, called)
        _names(node.elt, bound, free, called)
        return
    for child in ast.iter_child_nodes(node):
        _names(child, bound, free, called)
