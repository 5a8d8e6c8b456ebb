"""The Python side: `gradcat.catalog()`, `gradcat.node(...)`, `gradcat.nodes(...)`. Torch runs in a child process."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from .errors import GradcatError
from .library import Library
from .model import Catalog, Node


def catalog(*, verify: bool = False) -> Catalog:
    """Every node of the installed torch. With `verify`, all formulas are run first where they were not yet."""
    library = _library()
    if verify:
        library.prove()
    return library.read(lambda reader: reader.catalog())


def nodes(what: Any) -> tuple[Node, ...]:
    """The nodes that a name, an op, a `grad_fn` or a tensor stands for: `nodes("torch.max")`."""
    from .record import decode, encode

    library = _library()
    query = _spelling(what)
    names = library.resolve([query])
    library.prove(names)
    return tuple(decode(Node, encode(node)) for node in library.read(lambda reader: reader.nodes(names)))


def node(what: Any) -> Node:
    """The one node that a name, an op, a `grad_fn` or a tensor stands for: `node(y.grad_fn)`."""
    found = nodes(what)
    if len(found) > 1:
        names = ", ".join(node.name for node in found)
        raise GradcatError(f"{_spelling(what)} makes several nodes: {names}; name one, or call gradcat.nodes()")
    return found[0]


def _spelling(what: Any) -> str:
    """What to look up for a name, an op, a module, a tensor, a node or its class."""
    if isinstance(what, str):
        return what
    if hasattr(what, "grad_fn"):
        what = what.grad_fn
    if what is None:
        raise GradcatError(
            "there is no grad_fn: the tensor is a leaf, or nothing behind it requires grad, or its op makes no node"
        )
    kind = what if isinstance(what, type) else type(what)
    if hasattr(kind, "next_functions") or hasattr(kind, "named_parameters"):  # a node; a module
        return str(what.name()) if kind.__name__ == "CppFunction" else kind.__name__
    if callable(what) and (name := getattr(what, "__name__", "")):  # a function, an op of torch.ops
        return str(name)
    raise GradcatError(
        f"gradcat takes a name, an op, a tensor or its grad_fn, not a value of the type {type(what).__name__}"
    )


@cache
def _library() -> Library:
    return Library(warn=lambda message: warnings.warn(f"gradcat: {message}", stacklevel=4))
