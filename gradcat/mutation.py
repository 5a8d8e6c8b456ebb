"""Formulas broken on purpose: what the verifier must catch. Each mutant differs from its formula in one place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterator

Mutation = Callable[[ast.expr, Collection[str]], Iterator[ast.expr]]


def _flip(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


def _unwrap(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("conj", "mH", "mT", "real"):
        yield node.args[0]
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value


def _factor(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield node.left
        yield node.right if isinstance(node.op, ast.Mult) else ast.BinOp(node.left, ast.Mult(), node.right)


def _order(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Div, ast.Pow)):
        yield ast.BinOp(node.right, node.op, node.left)


def _constant(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        yield ast.Constant(node.value + 1)


def _swap(node: ast.expr, names: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Name) and node.id in names:
        for other in names:
            if other != node.id:
                yield ast.Name(other, ast.Load())


MUTATIONS: dict[str, Mutation] = {
    "sign": _flip,
    "conj or transpose dropped": _unwrap,
    "factor dropped": _factor,
    "order": _order,
    "constant": _constant,
    "input swapped": _swap,
}


#: A mutant of this kind reads a size, a dtype or a zero from another tensor: the same wherever the two are alike.
METADATA = "size or dtype of another tensor"


def _metadata(tree: ast.AST) -> set[int]:
    """Identities of the names of which a formula reads the size or dtype alone."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "dtype"):
            found.add(id(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("zeros_like", "ones_like", "numel", "is_complex"):
                found |= {id(argument) for argument in node.args}
            if node.func.id == "cast":
                found |= {id(argument) for argument in node.args[1:]}
            found |= {id(keyword.value) for keyword in node.keywords if keyword.arg == "like"}
    return found


def mutants(formula: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """(kind, text) of every mutant of a formula; `names` are the tensors that can be swapped for each other."""
    tree = ast.parse(formula, mode="eval")
    seen = {ast.unparse(tree)}
    negated = f"-({formula})"
    yield "sign", negated
    sizes = _metadata(tree)
    places = [node for node in ast.walk(tree.body) if isinstance(node, ast.expr)]
    for position, node in enumerate(places):
        for kind, mutate in MUTATIONS.items():
            for replacement in mutate(node, names):
                fresh = copy.deepcopy(tree)
                target = [n for n in ast.walk(fresh.body) if isinstance(n, ast.expr)][position]
                mutated = ast.unparse(
                    ast.fix_missing_locations(_Replace(target, copy.deepcopy(replacement)).visit(fresh))
                )
                if mutated not in seen:
                    seen.add(mutated)
                    yield METADATA if id(node) in sizes else kind, mutated


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.expr, replacement: ast.expr) -> None:
        self.target, self.replacement = target, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        return self.replacement if node is self.target else super().generic_visit(node)
