"""What is known of a torch's nodes, what is not, and why: counts and gaps, from a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .row import Row, summary, values

if TYPE_CHECKING:
    from .model import Node

#: Columns of a table of counts: words of `row.summary`.
COUNTS = (
    "nodes", "harvested", "reflected", "with_formulas",
    "verified", "raises", "structural", "unverified", "failed", "todo",
)  # fmt: skip


#: Why nodes of a kind have no rule.
NO_RULE = {
    "python": "torch writes it in Python: the card names the source",
    "unlisted": "torch has no class for it: each item of a list is treated as the op's own node treats a tensor",
}


class Gap(NamedTuple):
    """Something that is not known of one node."""

    node: str
    what: str  # not harvested, no formulas, todo, not verified, failed
    input: str
    reason: str


def counts(nodes: Iterable[Node], by: Callable[[Row], str]) -> dict[str, dict[str, int]]:
    """Group -> counts, the largest group first."""
    groups: dict[str, list[Row]] = {}
    for node in nodes:
        row = Row(values(node))
        groups.setdefault(by(row), []).append(row)
    largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return {name: summary(rows) for name, rows in largest}


def gaps(nodes: Iterable[Node]) -> list[Gap]:
    """All that is not known, in the order of the nodes."""
    found = []
    for node in nodes:
        formulas = bool(node.forward or node.backward)
        proof = node.verification
        if node.status != "harvested":
            found.append(Gap(node.name, "not harvested", "", node.reason or "no probe makes it"))
        if not formulas:
            found.append(Gap(node.name, "no formulas", "", NO_RULE.get(node.kind, "nobody has written a rule")))
        found += [Gap(node.name, "todo", vjp.input, vjp.reason) for vjp in node.backward if vjp.absent == "todo"]
        if formulas and proof.status in ("unverified", "structural", "failed"):
            what = "failed" if proof.status == "failed" else "not verified"
            found.append(Gap(node.name, what, "", proof.reason))
    return found


def by_reason(gaps: Sequence[Gap]) -> dict[tuple[str, str], list[str]]:
    """(what, reason) -> nodes, so that a reason that many share is said once."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for gap in gaps:
        grouped.setdefault((gap.what, gap.reason), []).append(f"{gap.node}.{gap.input}" if gap.input else gap.node)
    return dict(sorted(grouped.items(), key=lambda group: (group[0][0], -len(group[1]), group[0][1])))
