"""Each node's formula on the user's own data, against what the node returned there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..formula.evaluate import Evaluator, Scope
from ..probe.trial import floating, said
from ..schema import parse_schema
from ..verify import EXACT, Mismatch, coarsest, conform, distance, excerpt, plainly
from .classes import constants, saved_names
from .lines import Flow, Lines
from .values import Tensors, random_cotangents, run

if TYPE_CHECKING:
    from ..model import Node

#: Elements above which a formula is not evaluated: written out, in double precision, it takes many times the memory.
LARGE = 20_000_000


@dataclass(frozen=True)
class Outcome:
    """What came of one node: agrees, differs, or unchecked with the reason."""

    node: int
    status: str
    error: float = 0.0
    reason: str = ""


class Unknown(Exception):
    """A formula that cannot be evaluated on what the node keeps. The message says what is missing."""


class Kept(Scope):
    """What a node keeps, as the names of its formulas. Remembers which names were only the op's defaults."""

    def __init__(self, values: dict[str, Any], defaults: dict[str, Any], where: dict[str, str]) -> None:
        super().__init__({**defaults, **values}, where, evaluator=Evaluator())
        self.assumed = set(defaults) - set(values)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if name in self.assumed:
            self.used.add(name)
        return value


def check(lines: Lines, cotangents: Tensors | None = None) -> list[Outcome]:
    """The outcome of every node, in the order of the engine. A vector's default cotangent is random."""
    outcomes: list[Outcome] = []
    graph = lines.graph
    if cotangents is None and any(tensor.numel() > 1 for tensor in graph.outputs):
        cotangents = random_cotangents(graph)

    def watch(i: int, arrives: Tensors, leaves: Tensors) -> None:
        outcomes.append(_outcome(lines, i, arrives, leaves))

    run(lines, watch, cotangents)
    return outcomes


def _outcome(lines: Lines, i: int, arrives: Tensors, leaves: Tensors) -> Outcome:
    card = lines.cards.find(lines.node(i))
    flows = [(flow, vjp) for flow, vjp in zip(lines.flows(i), leaves, strict=True) if vjp is not None]
    if card is None:
        return Outcome(i, "unchecked", reason="not in the catalog")
    if not flows:
        return Outcome(i, "unchecked", reason="nothing leaves it")
    if sum(t.numel() for t in (*arrives, *leaves) if t is not None) > LARGE:
        return Outcome(i, "unchecked", reason=f"more than {LARGE:,} numbers")
    try:
        scope = _scope(lines, i, card, arrives)
        worst = max(_error(lines, i, card, scope, flow, vjp, arrives) for flow, vjp in flows)
    except Unknown as missing:
        return Outcome(i, "unchecked", reason=str(missing))
    except Mismatch as mismatch:
        if scope.used:
            return Outcome(i, "unchecked", reason=f"the node does not keep {', '.join(sorted(scope.used))}")
        return Outcome(i, "differs", reason=str(mismatch))
    return Outcome(i, "agrees", worst)


def _error(lines: Lines, i: int, card: Node, scope: Kept, flow: Flow, vjp: Any, arrives: Tensors) -> float:
    """How far one edge's formula is from what went along it."""
    entry = lines.cards.vjp(card.name, flow.input)
    if entry is None or (entry.formula is None and entry.absent != "zero"):
        raise Unknown(f"no formula for {flow.input or f'edge {flow.position}'}")
    want = plainly(vjp)
    if entry.formula is None:
        got: Any = torch.zeros_like(want)
    else:
        got = _evaluate(scope, entry.formula.code, flow)
        got = conform(got, want, flow.input)
    if isinstance(got, torch.Tensor) and got.is_meta:
        raise Unknown("the formula needs numbers that the node does not keep")
    error = distance(got, want, flow.input)
    allowed = EXACT[coarsest([t for t in (*arrives, vjp) if t is not None])]
    if not error <= allowed:
        raise Mismatch(f"{flow.input}: off by {error:.3g} (relative): {excerpt(got)}, torch gives {excerpt(want)}")
    return error


def _evaluate(scope: Kept, code: str, flow: Flow) -> Any:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        value = scope.evaluator(code, scope)
    except Exception as error:
        if missing := re.match(r"unknown name '(\w+)'", str(error)):
            raise Unknown(f"the node does not keep {missing[1]}") from error
        raise Unknown(f"{flow.input}: cannot be evaluated on what the node keeps: {said(error)}") from error
    finally:
        torch.set_default_dtype(default)
    place = re.fullmatch(r"\w+\[(\d+)\]", flow.input)
    return value[int(place[1])] if place and isinstance(value, (list, tuple)) else value


def _scope(lines: Lines, i: int, card: Node, arrives: Tensors) -> Kept:
    graph, node = lines.graph, lines.graph.nodes[i]
    schema = parse_schema(card.schema) if card.schema else None
    returns = [returned.name for returned in schema.returns] if schema else ["result"]
    listed = bool(schema and len(schema.returns) == 1 and "[]" in schema.returns[0].type)
    values: dict[str, Any] = {}
    for flow in lines.flows(i):
        base, _, listed_at = flow.input.partition("[")
        tensor = _input(graph.nodes[flow.to], flow.number) if flow.to >= 0 else None
        if listed_at:
            values.setdefault(base, []).append(tensor)
        elif tensor is not None:
            values[base] = tensor
    metas = node._input_metadata
    outputs = [_placeholder(meta) for meta in metas]
    values |= {returns[0]: outputs} if listed else dict(zip(returns, outputs, strict=False))
    values |= constants(node)
    for name in saved_names(type(node))[0]:
        held = getattr(node, f"_raw_saved_{name}")
        if any(slot.unpack_hook is not None for slot in (held if isinstance(held, (tuple, list)) else [held])):
            raise Unknown("what it keeps was packed by a hook")
        kept = getattr(node, f"_saved_{name}")
        if kept is not None or name not in values:
            values[name] = kept
    values |= _grads(arrives, outputs, returns, listed)
    where = {name: formula.code for name, formula in card.where.items()}
    defaults = {a.name: a.value for a in schema.arguments if a.default is not None} if schema else {}
    return Kept({name: _wide(value) for name, value in values.items()}, defaults, where)


def _input(node: Any, number: int) -> Any:
    """An input of which the node keeps nothing: a leaf, the result that its maker keeps, or its shape alone."""
    if hasattr(node, "variable"):
        return node.variable
    if number == 0 and "result" in saved_names(type(node))[0] and node._raw_saved_result.unpack_hook is None:
        return node._saved_result
    return _placeholder(node._input_metadata[number])


def _placeholder(meta: Any) -> Any:
    """A tensor of the same shape without numbers: a formula that needs only the shape can be evaluated."""
    if meta.is_nested_tensor:
        return None
    return torch.empty(tuple(meta.shape), dtype=meta.dtype, device="meta")


def _grads(arrives: Tensors, outputs: list[Any], returns: list[str], listed: bool) -> dict[str, Any]:
    filled = [torch.zeros_like(o, device="cpu") if a is None else a for a, o in zip(arrives, outputs, strict=True)]
    if listed:
        return {"grads": filled}
    named = {f"grad_{name}": grad for name, grad in zip(returns, filled, strict=False)}
    given = [grad for grad, arrived in zip(filled, arrives, strict=True) if arrived is not None and floating(grad)]
    return {**named, "grad": given[0]} if len(given) == 1 or len(returns) == 1 else named


def _wide(value: Any) -> Any:
    """Floats in double precision, as formulas are evaluated."""
    if isinstance(value, torch.Tensor):
        value = plainly(value)
        if isinstance(value, torch.Tensor) and floating(value):
            return value.to(torch.complex128 if value.is_complex() else torch.float64)
        return value
    return [_wide(item) for item in value] if isinstance(value, list) else value


def report(lines: Lines, outcomes: list[Outcome]) -> Iterator[str]:
    """One line a class and outcome, then every node that differs."""
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        reason = outcome.reason if outcome.status == "unchecked" else ""
        groups.setdefault((lines.node(outcome.node), outcome.status, reason), []).append(outcome)
    wide = max((len(name) for name, _, _ in groups), default=0)
    for (name, status, reason), found in sorted(groups.items()):
        how = f"largest error {max(o.error for o in found):.0e}" if status == "agrees" else reason
        yield f"{name:<{wide}}  {status:<9}  {len(found):>4}  {how}".rstrip()
    for outcome in outcomes:
        if outcome.status == "differs":
            yield f"#{outcome.node} {lines.node(outcome.node)}.{outcome.reason}"
    counts = Counter(outcome.status for outcome in outcomes)
    yield ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no node"
