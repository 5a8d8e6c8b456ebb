"""The graph as a tree, outputs first. A chain stays in its column; a shared part stands once, below the last that uses it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..render.wrap import Line
from .lines import Lines


def tree(lines: Lines, chosen: Collection[int]) -> Iterator[Line]:
    """Every chosen node once. Only branches are indented, so a deep graph stays narrow."""
    graph = lines.graph
    chosen = frozenset(chosen)
    waiting = graph.consumers()
    for root, _ in graph.roots:
        waiting[root] += 1
    # (node, the bars of the branches around it, the sign in front of it, what its branch is called)
    pending = [(root, "", "", "") for root, _ in reversed(graph.roots)]
    while pending:
        i, bars, sign, label = pending.pop()
        waiting[i] -= 1
        head: Line = [("quiet", bars + sign), ("symbol", label)]
        if i not in chosen:
            if label and graph.is_leaf(i):
                yield [*head, ("title", lines.name(i) or f"#{i}")]
            continue
        if waiting[i] > 0 and not graph.is_leaf(i):
            yield [*head, ("quiet", f"→ #{i} {lines.node(i)}, below")]
            continue
        yield [*head, *_node(lines, i)]
        inside = bars + ("│  " if sign else "")
        flows = lines.flows(i)
        for flow in flows:
            if flow.to < 0:
                known = f"{flow.name} {flow.why}" if flow.name else flow.why
                yield [("quiet", f"{inside}╌ "), ("symbol", f"{flow.input or flow.position}: "), ("quiet", known)]
        after = [flow for flow in flows if flow.to >= 0]
        branches, trunk = after[:-1], after[-1:]
        for flow in trunk:
            pending.append((flow.to, bars, sign and "├─ ", f"{flow.input}: " if flow.input else ""))
        for flow in reversed(branches):
            pending.append((flow.to, inside, "├─ ", f"{flow.input}: " if flow.input else ""))


def _node(lines: Lines, i: int) -> Line:
    name = lines.name(i)
    if lines.graph.is_leaf(i):
        return [("title", name or f"#{i}"), ("quiet", f"  {lines.said(i)} {lines.layout(i)}")]
    named: Line = [("title", f"  {name}")] if name else []
    return [("quiet", f"#{i} "), ("name", lines.node(i)), *named, ("quiet", f"  {lines.layout(i)}")]
