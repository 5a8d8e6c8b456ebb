"""The linter: whether a formula can be evaluated, said before it is."""

from __future__ import annotations

import ast
from collections.abc import Collection

from .evaluate import nearest
from .syntax import FormulaError, names, parse
from .vocabulary import CONSTANTS, table


def lint(code: str, scope: Collection[str]) -> list[str]:
    """What is wrong with a formula whose names are `scope`, a message each; the caller says which formula it is."""
    try:
        tree = parse(code)
    except FormulaError as error:
        return [str(error)]
    functions = table()
    free, called = names(tree)
    messages = []
    if unknown := free - set(scope) - CONSTANTS.keys() - functions.keys():
        messages.append(f"formula uses {_quoted(unknown)}; in scope: {sorted(scope)}{_likely(unknown, scope)}")
    for name in sorted(called - set(scope) - functions.keys()):
        near = ", ".join(nearest(name, functions))
        messages.append(f"unknown function {name!r}; nearest in the vocabulary: {near}")
    return messages + [
        message
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in called and node.func.id in functions and node.func.id not in scope
        if (message := _misfit(node, node.func.id))
    ]


def _misfit(call: ast.Call, name: str) -> str:
    """Why the arguments of a call do not fit the function; "" where they do, or where only running it would tell."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return ""
    signature = table()[name].signature
    try:
        signature.bind(*call.args, **{each.arg: each.value for each in call.keywords if each.arg is not None})
    except TypeError as error:
        return f"{ast.unparse(call)}: {error}; it is {name}{signature}"
    return ""


def _quoted(unknown: Collection[str]) -> str:
    return "{" + ", ".join(map(repr, sorted(unknown))) + "}"


def _likely(unknown: Collection[str], scope: Collection[str]) -> str:
    """The names that may have been meant."""
    import difflib

    near = {name: difflib.get_close_matches(name, scope, n=1) for name in sorted(unknown)}
    meant = [f"{each[0]!r} for {name!r}" for name, each in near.items() if each]
    return f"; perhaps {', '.join(meant)}" if meant else ""
