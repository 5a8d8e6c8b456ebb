"""The graph as lines: in topological order from the outputs, repeats folded, grouped by module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..render.wrap import Line
from .fold import Block, fold
from .lines import Flow, Lines
from .walk import Graph

#: Columns of layouts; longer ones push what follows.
LAYOUT = 16


def table(lines: Lines, chosen: Sequence[int], *, group: bool = True) -> Iterator[Line]:
    """The lines of some nodes. With `group`, a heading where another module begins."""
    keys = [lines.key(i) for i in chosen]
    wide = max((len(lines.node(i)) for i in _first_of(keys, chosen)), default=0)
    digits = len(str(max(chosen, default=0))) + 1
    module = ""
    for block in fold(keys):
        for i in chosen[block.start : block.start + block.length]:
            here = lines.modules[i]
            if group and here != module and not lines.graph.is_leaf(i):
                yield [("title", f"── {here or 'outside of any module'}")]
                module = here
            yield row(lines, i, wide, digits)
        if block.times > 1:
            yield repeated(lines, chosen, block)
            module = lines.modules[chosen[block.end - 1]]


def _first_of(keys: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """One node of each kind."""
    return list(dict(zip(reversed(keys), reversed(chosen), strict=True)).values())


def row(lines: Lines, i: int, wide: int, digits: int) -> Line:
    """One node: its number, class, layout and name, and what each of its edges receives."""
    name = lines.name(i)
    line: Line = [("quiet", f"{f'#{i}':<{digits}} "), ("name", f"{lines.node(i):<{wide}}  ")]
    line += [("quiet", f"{lines.layout(i):<{LAYOUT}}  ")]
    line += [("title", name), ("", "  ")] if name else []
    for flow in lines.flows(i):
        line += edge(flow) if flow.position == 0 else [("quiet", " · "), *edge(flow)]
    line += _numbers(lines.numbers(i))
    said = lines.said(i)
    return [*line, ("word", f"  {said}" if line[-1][1] != "  " else said)] if said else line


def edge(flow: Flow) -> Line:
    """One edge: `other: ∂L/∂out ⊙ self → #4`, or why nothing flows."""
    head = f"{flow.input or flow.position}: "
    if flow.to < 0:
        why = f"{flow.name} {flow.why}" if flow.name else flow.why
        return [("symbol", head), ("quiet", f"none, {why}")]
    target = flow.name or f"#{flow.to}"
    said = f"{flow.formula} " if flow.formula else ""
    return [("symbol", head), ("formula", said), ("quiet", "→ "), ("title" if flow.name else "", target)]


def _numbers(numbers: dict[str, Any]) -> Line:
    return [("quiet", f"  ({', '.join(f'{name} = {value}' for name, value in numbers.items())})")] if numbers else []


def repeated(lines: Lines, chosen: Sequence[int], block: Block) -> Line:
    """The line under a block that comes several times."""
    what = "the line above" if block.length == 1 else f"the {block.length} lines above"
    nodes = f"#{chosen[block.start]} to #{chosen[block.end - 1]}"
    first, last = (
        next((path for path in (lines.modules[chosen[k]] for k in span) if path), "")
        for span in (
            range(block.start, block.start + block.length),
            range(block.end - block.length, block.end),
        )
    )
    where = f", {first} to {last}" if first != last else ""
    return [("unsure", f"   x {block.times}  {what}: {nodes}{where}")]


def _edges(graph: Graph) -> int:
    return sum(to >= 0 for to in graph.to)


def footer(lines: Lines, shown: int) -> list[str]:
    """Counts of nodes, and of those that were left out."""
    graph = lines.graph
    leafs = sum(graph.is_leaf(i) for i in range(len(graph)))
    counts = (len(graph) - leafs, "node", "nodes"), (leafs, "leaf", "leaves"), (_edges(graph), "edge", "edges")
    said = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)
    return [f"{said}; {len(graph) - shown} of them not shown" if shown < len(graph) else said]
