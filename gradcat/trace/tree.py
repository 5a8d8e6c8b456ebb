"""The graph as a tree, outputs first. A chain stays in its column; a shared part stands below the last that uses it."""

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
    pending = [(root, "", "", "") for root, _ in reversed(graph.roots)]  # node, bars around it, sign, name of the edge
    while pending:
        i, bars, sign, label = pending.pop()
        waiting[i] -= 1
        head: Line = [("quiet", bars + sign), ("symbol", label)]
        if i not in chosen:
            yield [*head, ("quiet", f"#{i} {lines.node(i)} …")]
            continue
        if waiting[i] > 0:
            yield [*head, ("quiet", f"#{i} {lines.node(i)}, below")]
            continue
        yield [*head, *_node(lines, i)]
        after = []
        for flow in lines.flows(i):
            edge = f"{flow.input or flow.position}: "
            if flow.to < 0:
                known = f"{flow.name} {flow.why}" if flow.name else flow.why
                yield [("quiet", f"{bars}  ╌ "), ("symbol", edge), ("quiet", known)]
            elif graph.is_leaf(flow.to):
                yield [("quiet", f"{bars}  ╌ "), ("symbol", edge), *_leaf(lines, flow.to)]
            else:
                after.append((flow.to, edge))
        for to, edge in after[-1:]:
            pending.append((to, bars, "└ ", edge))
        for to, edge in reversed(after[:-1]):
            pending.append((to, f"{bars}  │ ", "└ ", edge))


def _leaf(lines: Lines, i: int) -> Line:
    return [("title", lines.name(i) or f"#{i}"), ("quiet", f"  {lines.said(i)} {lines.layout(i)}")]


def _node(lines: Lines, i: int) -> Line:
    name = lines.name(i)
    named: Line = [("title", f"  {name}")] if name else []
    return [("quiet", f"#{i} "), ("name", lines.node(i)), *named, ("quiet", f"  {lines.layout(i)}")]
