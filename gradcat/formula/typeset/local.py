"""The local derivative: what a vjp scales the cotangent by, found by rewriting the formula's tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from ...words import GREEK
from ..syntax import names, parse
from ..vocabulary import CONSTANTS

COTANGENT = "grad"

#: Functions whose value is real, whatever they are given.
REAL = frozenset({"abs", "angle", "imag", "numel", "real", "size"})

#: Functions f with conj(f(x)) = f(conj(x)).
SYMMETRIC = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p"}
    | {"log2", "reciprocal", "rsqrt", "sgn", "sigmoid", "sin", "sinc", "sinh", "sqrt", "tan", "tanh"}
)


class _NotScaledError(Exception):
    """The cotangent stands where something other than scaling happens to it."""


def local(code: str, where: Mapping[str, str] | None = None) -> str | None:
    """∂out/∂input in the language, where the formula scales `grad` element by element; None for all others.

    A vjp is the cotangent times the conjugate of the derivative, so that conj comes off every factor that has it. A
    formula without conj is one of real numbers. `where` holds the definitions that the formula may use.
    """
    tree = _inlined(parse(code), where or {})
    try:
        factor = _factor(tree)
    except _NotScaledError:
        return None
    if factor is None:
        return None
    if _says_conj(tree, where or {}, set()):
        factor = _conj(factor)
    return ast.unparse(_simple(factor))


def _says_conj(tree: ast.expr, where: Mapping[str, str], seen: set[str]) -> bool:
    """Whether a formula conjugates, itself or in a definition that it uses."""
    free, called = names(tree)
    used = (free & where.keys()) - seen
    seen |= used
    return "conj" in called or any(_says_conj(parse(where[name]), where, seen) for name in used)


def _inlined(tree: ast.expr, where: Mapping[str, str]) -> ast.expr:
    """The tree, with each definition that holds the cotangent put in the place of its name."""
    moving: dict[str, ast.expr] = {}
    for name, code in where.items():
        definition = _replaced(parse(code), moving)
        if COTANGENT in names(definition)[0]:
            moving[name] = definition
    return _replaced(tree, moving)


def _replaced(tree: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    if not values or names(tree)[0].isdisjoint(values):
        return tree

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return values.get(node.id, node)

    replaced: ast.expr = Replace().visit(copy.deepcopy(tree))
    return replaced


def _factor(node: ast.AST) -> ast.expr | None:
    """What an expression scales the cotangent by; None where the cotangent is not in it."""
    if isinstance(node, ast.Name):
        return ast.Constant(1) if node.id == COTANGENT else None
    parts = [_factor(child) for child in ast.iter_child_nodes(node)]
    if not any(parts):
        return None
    match node, parts:
        case ast.UnaryOp(op=ast.USub()), [_, ast.expr() as factor]:
            return ast.UnaryOp(node.op, factor)
        case ast.BinOp(op=ast.Mult() | ast.Div()), [ast.expr() as factor, _, None]:
            return ast.BinOp(factor, node.op, node.right)
        case ast.BinOp(op=ast.Mult()), [None, _, ast.expr() as factor]:
            return ast.BinOp(node.left, node.op, factor)
        case ast.BinOp(op=ast.Add() | ast.Sub()), [ast.expr() as left, _, ast.expr() as right]:
            return ast.BinOp(left, node.op, right)
        case ast.IfExp(), [None, a, b]:
            return ast.IfExp(node.test, _branch(node.body, a), _branch(node.orelse, b))
        case ast.Call(func=ast.Name(id="where"), args=[test, a, b], keywords=[]), [_, None, left, right]:
            return ast.Call(node.func, [test, _branch(a, left), _branch(b, right)], [])
    raise _NotScaledError


def _branch(node: ast.expr, factor: ast.expr | None) -> ast.expr:
    """The factor of one branch of a choice, which may also be 0."""
    if factor is not None:
        return factor
    if _is(node, 0) or _called(node) == "zeros_like":
        return ast.Constant(0)
    raise _NotScaledError


def _conj(node: ast.expr) -> ast.expr:
    """The conjugate, as far inside as it goes."""
    match node:
        case ast.Constant(value=complex()):
            return ast.UnaryOp(ast.USub(), node)  # written out, a complex number is i times a real one
        case ast.Constant() | ast.Compare() | ast.Attribute(attr="real" | "imag" | "shape" | "ndim"):
            return node
        case ast.Name(id=name) if name in GREEK or name in CONSTANTS:
            return node
        case ast.UnaryOp():
            return ast.UnaryOp(node.op, _conj(node.operand))
        case ast.BinOp():
            return ast.BinOp(_conj(node.left), node.op, _conj(node.right))
        case ast.IfExp():
            return ast.IfExp(node.test, _conj(node.body), _conj(node.orelse))
        case ast.Attribute():
            return ast.Attribute(_conj(node.value), node.attr)
        case ast.Subscript():
            return ast.Subscript(_conj(node.value), node.slice)
    function = _called(node)
    if isinstance(node, ast.Call) and not node.keywords:
        if function == "conj":
            return node.args[0]
        if function in REAL:
            return node
        if function == "where":
            return ast.Call(node.func, [node.args[0], *map(_conj, node.args[1:])], [])
        if function in SYMMETRIC:
            return ast.Call(node.func, [_conj(each) for each in node.args], [])
    return ast.Call(ast.Name("conj"), [node], [])


def _called(node: ast.AST) -> str | None:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _simple(node: ast.expr) -> ast.expr:
    """The same value without ones, zeros and pairs of signs; functions are left as they are."""
    match node:
        case ast.UnaryOp(op=ast.USub()):
            return _negative(_simple(node.operand))
        case ast.BinOp(op=ast.Mult()):
            return _product(_simple(node.left), _simple(node.right))
        case ast.BinOp(op=ast.Div()):
            return _quotient(_simple(node.left), _simple(node.right))
        case ast.BinOp(op=ast.Add()):
            return _sum(_simple(node.left), _simple(node.right))
        case ast.BinOp(op=ast.Sub()):
            return _sum(_simple(node.left), _negative(_simple(node.right)))
        case ast.BinOp(op=ast.Pow()) if _is(node.right, 1):
            return _simple(node.left)
        case ast.IfExp():
            return ast.IfExp(node.test, _simple(node.body), _simple(node.orelse))
        case ast.Call(func=ast.Name(id="where")):
            return ast.Call(node.func, [node.args[0], *map(_simple, node.args[1:])], node.keywords)
    return node


def _is(node: ast.expr, value: float) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == value


def _sign(node: ast.expr) -> ast.expr | None:
    """What follows a minus sign; None where there is none."""
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None


def _inverse(node: ast.expr) -> ast.expr | None:
    """x of 1 / x; None for all else."""
    return node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is(node.left, 1) else None


def _negative(node: ast.expr) -> ast.expr:
    if _is(node, 0):
        return node
    return _sign(node) or ast.UnaryOp(ast.USub(), node)


def _sum(left: ast.expr, right: ast.expr) -> ast.expr:
    if _is(left, 0) or _is(right, 0):
        return left if _is(right, 0) else right
    if (positive := _sign(right)) is not None:
        return ast.BinOp(left, ast.Sub(), positive)
    return ast.BinOp(left, ast.Add(), right)


def _product(left: ast.expr, right: ast.expr) -> ast.expr:
    if _is(left, 0) or _is(right, 0):
        return ast.Constant(0)
    if (positive := _sign(left)) is not None:
        return _negative(_product(positive, right))
    if (positive := _sign(right)) is not None:
        return _negative(_product(left, positive))
    if _is(left, 1) or _is(right, 1):
        return right if _is(left, 1) else left
    if (below := _inverse(left)) is not None:
        return ast.BinOp(right, ast.Div(), below)
    if (below := _inverse(right)) is not None:
        return ast.BinOp(left, ast.Div(), below)
    return ast.BinOp(left, ast.Mult(), right)


def _quotient(left: ast.expr, right: ast.expr) -> ast.expr:
    if (positive := _sign(left)) is not None:
        return _negative(_quotient(positive, right))
    if (positive := _sign(right)) is not None:
        return _negative(_quotient(left, positive))
    if _is(right, 1):
        return left
    if (below := _inverse(left)) is not None:
        return _quotient(ast.Constant(1), _product(below, right))
    return ast.BinOp(left, ast.Div(), right)
