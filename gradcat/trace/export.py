"""The graph as JSON, one node a line, so that a large one is written as it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from typing import Any

import torch

from .. import __version__
from .hazards import hazards
from .lines import Lines

#: Rises when the form changes.
SCHEMA_VERSION = 1


def document(lines: Lines, chosen: Collection[int]) -> Iterator[str]:
    """One document, its nodes in topological order."""
    graph = lines.graph
    yield "{\n"
    for name, value in {
        "schema_version": SCHEMA_VERSION,
        "gradcat_version": __version__,
        "torch_version": torch.__version__,
        "outputs": [{"node": i, "number": number} for i, number in graph.roots],
        "count": len(graph),
        "hazards": [{"kind": hazard.kind, "node": hazard.node, "text": hazard.text} for hazard in hazards(lines)],
    }.items():
        yield f"  {json.dumps(name)}: {_dump(value)},\n"
    yield '  "nodes": ['
    for position, i in enumerate(chosen):
        yield ("," if position else "") + f"\n    {_dump(node(lines, i))}"
    yield "\n  ]\n}\n"


def node(lines: Lines, i: int) -> dict[str, Any]:
    """One node."""
    return {
        "id": i,
        "node": lines.node(i),
        "name": lines.name(i),
        "module": lines.modules[i],
        "leaf": lines.graph.is_leaf(i),
        "said": lines.said(i),
        "layout": lines.layout(i),
        "numbers": lines.numbers(i),
        "edges": [
            {
                "position": flow.position,
                "input": flow.input,
                "formula": flow.formula,
                "to": flow.to if flow.to >= 0 else None,
                "number": flow.number,
                "name": flow.name,
                "why": flow.why,
            }
            for flow in lines.flows(i)
        ],
    }


def _dump(value: Any) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, default=str)


def _finite(value: Any) -> Any:
    """JSON has no infinity: numbers that are not finite stand as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value
