"""The light row of a node: what lists, filters and counts need, so that they need not read the node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .words import NOT_RUN

if TYPE_CHECKING:
    from .model import Formula, Node

FIELDS = ("name", "family", "status", "device", "formulas", "verification", "pending", "todo", "forward", "ops")


class Row:
    """One node in a list. `formulas`: it has a rule; `pending`: it was not run yet; `todo`: the rule has a gap."""

    __slots__ = FIELDS
    name: str
    family: str
    status: str
    device: str
    formulas: bool
    verification: str
    pending: bool
    todo: bool
    forward: str
    ops: list[str]

    def __init__(self, values: Iterable[Any]) -> None:
        for name, value in zip(FIELDS, values):  # noqa: B905  (strict costs time over 658 rows)
            setattr(self, name, value)

    @property
    def standing(self) -> str:
        """The one word for the status column: how far its formulas are proved, or how it is known where it has none."""
        return self.verification if self.formulas else self.status

    def matches(self, status: str) -> bool:
        """Whether the node is counted under a word of `words.STATUS`."""
        if status in ("harvested", "reflected"):
            return self.status == status
        return self.todo if status == "todo" else self.formulas and self.verification == status


def has_formulas(node: Node) -> bool:
    """Whether somebody wrote a rule for the node."""
    return bool(node.forward or node.backward)


def is_pending(node: Node) -> bool:
    """Whether the node has formulas or facts that were not run yet."""
    return node.verification.reason == NOT_RUN and (node.status == "harvested" or has_formulas(node))


def is_relation(formula: Formula) -> bool:
    """Whether a forward formula states what holds (`A @ inverse == I`), not what is computed."""
    if "==" not in formula.code:
        return False
    import ast

    return isinstance(ast.parse(formula.code.strip(), mode="eval").body, ast.Compare)


def values(node: Node) -> list[Any]:
    """The fields of a node's row."""
    forward = "; ".join(
        f"{output} = {formula.text or formula.code}"
        if output and not is_relation(formula)
        else formula.text or formula.code
        for output, formula in node.forward.items()
    )
    return [
        node.name,
        node.family,
        node.status,
        node.device,
        has_formulas(node),
        node.verification.status,
        is_pending(node),
        any(vjp.absent == "todo" for vjp in node.backward),
        forward,
        list(node.ops),
    ]


def summary(rows: Iterable[Row]) -> dict[str, int]:
    """Counts over rows: nodes, how they are known, how far their formulas are proved."""
    rows = list(rows)
    counts = {"nodes": len(rows), "with_formulas": sum(row.formulas for row in rows)}
    for status in ("harvested", "reflected", "verified", "raises", "structural", "unverified", "failed", "todo"):
        counts[status] = sum(row.matches(status) for row in rows)
    return counts
