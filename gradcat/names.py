"""What people have at hand -> node classes: names, pieces of names, printed tensors, error messages, ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .errors import GradcatError

if TYPE_CHECKING:
    from .model import Catalog

#: Where a node's name stands in printed tensors, nodes, classes and torch's error messages.
PRINTED = (
    re.compile(r"grad_fn=<([\w.:]+)"),
    re.compile(r"<([\w.:]+) object at "),
    re.compile(r"<class '([\w.:]+)'>"),
    re.compile(r"[Oo]utput \d+ of ([\w.:]+)"),
    re.compile(r"[Ee]rror detected in (\w+)"),
    re.compile(r"derivative for '([\w.:]+)'"),
    re.compile(r"^\s*<([\w.:]+)>\s*$"),
    re.compile(r"\b(_*[A-Z]\w*Backward\w*)"),
)
#: What may stand before an op's own name, longest first.
PREFIXES = (
    "torch.nn.functional.",
    "nn.functional.",
    "functional.",
    "torch.ops.aten.",
    "ops.aten.",
    "aten.",
    "torch.ops.",
    "torch._c._nn.",
    "torch.tensor.",
    "tensor.",
    "torch.nn.",
    "nn.",
    "f.",
    "torch.",
)


class UnknownName(GradcatError):
    """A name that is neither a node nor an op."""


class NoNode(GradcatError):
    """An op that makes no node, and why."""

    def __init__(self, query: str, reason: str) -> None:
        super().__init__(f"{query} makes no node: {reason}")


def short(name: str) -> str:
    """A node's name as torch's error messages have it: Exp, Max1, Log2."""
    return re.sub(r"(?<=.)0$", "", re.sub(r"Backward(\d*)$", r"\1", name))


def printed(text: str) -> str:
    """The name inside of what torch printed; any other text as it is."""
    for pattern in PRINTED:
        if found := pattern.search(text):
            text = found.group(1)
            break
    return re.split(r"::|\.", text)[-1] if "autograd" in text else text.strip().strip("<>\"'`")


def canonical(op: str) -> str:
    """An op's name without what people put before and after it: torch.mul(a, b), aten::mul and F.mul are all mul."""
    name = op.strip().partition("(")[0].strip().replace("::", ".").lower()
    for prefix in PREFIXES:
        if name.startswith(prefix) and len(name) > len(prefix):
            return name[len(prefix) :]
    return name


def lookup(catalog: Catalog) -> dict[str, list[str]]:
    """Canonical op name -> node classes, from the catalog's index and from the nodes' own ops and schemas."""
    found: dict[str, dict[str, None]] = {}

    def enter(op: str, nodes: Iterable[str]) -> None:
        found.setdefault(op, {}).update(dict.fromkeys(nodes))

    for op, nodes in catalog.index.items():
        enter(canonical(op), nodes)
    for node in catalog.nodes:
        for op in node.ops:
            enter(canonical(op), [node.name])
    for op in list(found):  # linalg.inv is also inv, where no other op has that name
        name = op.rpartition(".")[2]
        if name not in found:
            enter(name, found[op])
    for node in catalog.nodes:
        overload = canonical(node.schema) if node.schema else ""
        for op in {overload, overload.partition(".")[0]} - {""}:
            enter(op, [node.name])
    return {op: sorted(nodes) for op, nodes in sorted(found.items())}


def resolve(
    query: str, names: Sequence[str], ops: Mapping[str, Sequence[str]], reason: Callable[[str], str] = str
) -> list[str]:
    """Node classes that `query` stands for, never none. A capital first letter asks for a class, others for an op.

    `reason` says why an op makes no node.
    """
    text = printed(query)
    if text in names:
        return [text]
    nodes, op = _nodes(text, names), _op(text, ops)
    if nodes and (not op or text[:1].isupper()):
        return nodes
    if not op:
        from .op_db import NO_OPS

        if why := NO_OPS.get(canonical(text)):
            raise NoNode(text, why)
        raise UnknownName(f"{text!r} is neither a node nor an op of this torch{_nearest(text, names, ops)}")
    if not ops[op]:
        raise NoNode(text, reason(op))
    return list(ops[op])


def _nodes(text: str, names: Sequence[str]) -> list[str]:
    """Classes whose name or short name it is."""
    wanted = text.lower()
    for key in (str, short):
        same = [name for name in names if key(name).lower() == wanted]
        if same:
            return [name for name in same if key(name) == text] or same
    return []


def _op(text: str, ops: Mapping[str, Sequence[str]]) -> str:
    """The op whose name it is, as `ops` has it; "" where there is none."""
    name = canonical(text)
    base, _, last = name.rpartition(".")
    for key in (name, base, name.rstrip("_"), base.rstrip("_"), name.replace("_", ".", 1)):  # aten::linalg_svd
        if key and key in ops:
            return key
    # A method of somebody's tensor: x.view. But linalg.view is nothing: linalg is known, and has no view.
    if base.isidentifier() and not any(op.startswith(f"{base}.") for op in ops):
        return _op(last, ops)
    return ""


def _nearest(text: str, names: Sequence[str], ops: Mapping[str, Sequence[str]]) -> str:
    import difflib

    nodes = {short(name).lower(): name for name in names} | {name.lower(): name for name in names}
    calls = {op: op for op in ops}
    spellings = calls | nodes if text[:1].isupper() else nodes | calls
    close = difflib.get_close_matches(canonical(text), spellings, n=12, cutoff=0.6)
    near = list(dict.fromkeys(spellings[name] for name in close))[:5]
    return f"; nearest: {', '.join(near)}" if near else "; `gradcat list` has all names"
