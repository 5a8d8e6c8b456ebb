"""The chain rule with numbers: a backward pass whose cotangents are watched at every node, and that leaves no trace."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ..errors import GradcatError
from ..probe.trial import noise_like, said
from .lines import Lines
from .walk import Graph

#: Tensors of at most this many elements are shown in full.
SMALL = 6

Tensors = Sequence["torch.Tensor | None"]


class PassFailed(GradcatError):
    """A backward pass that raised. The message holds torch's words."""


@dataclass(frozen=True)
class Numbers:
    """A tensor in a few numbers."""

    shape: tuple[int, ...]
    norm: float
    low: float
    high: float
    bad: int  # elements that are not finite
    all: Any = None  # every number, where they are few

    def __str__(self) -> str:
        if self.all is not None:
            return _short(self.all)
        count = f", {self.bad} of {torch.Size(self.shape).numel()} not finite" if self.bad else ""
        return f"norm {self.norm:.4g}, {self.low:.4g} to {self.high:.4g}{count}"


def numbers(tensor: torch.Tensor) -> Numbers:
    """Norm, least, largest and count of numbers that are not finite; all of them where they are few."""
    dense = tensor.detach()
    if dense.is_nested:
        dense = dense.values() if dense.layout is torch.jagged else torch.cat([t.reshape(-1) for t in dense.unbind()])
    if dense.layout is not torch.strided:
        dense = dense.to_dense()
    full = dense.tolist() if dense.numel() <= SMALL else None
    flat = dense.resolve_conj().reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    wide = flat.to(torch.float64) if flat.numel() else torch.zeros(1, dtype=torch.float64)
    bad = int((~wide.isfinite()).sum())
    return Numbers(tuple(dense.shape), float(wide.norm()), float(wide.min()), float(wide.max()), bad, full)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}"


@dataclass(frozen=True)
class Step:
    """What one node was given and gave: a cotangent for each of its outputs, a vjp for each of its edges."""

    node: int
    arrives: tuple[Numbers | None, ...]
    leaves: tuple[Numbers | None, ...]


@dataclass
class Values:
    """A whole backward pass, in the order of the engine."""

    steps: list[Step] = field(default_factory=list)
    grads: dict[int, Numbers] = field(default_factory=dict)  # leaf -> its .grad after the pass, were it kept


def values(lines: Lines, cotangents: Tensors | None = None) -> Values:
    """Numbers at every node. A leaf's is what `.grad` would hold after `backward()`: what it holds now, and the vjp."""
    found = Values()

    def watch(i: int, arrives: Tensors, leaves: Tensors) -> None:
        found.steps.append(Step(i, _all(arrives), _all(leaves)))

    for i, vjp in run(lines, watch, cotangents).items():
        before = lines.graph.nodes[i].variable.grad
        found.grads[i] = numbers(vjp if before is None else before.detach() + vjp)
    return found


def _all(tensors: Tensors) -> tuple[Numbers | None, ...]:
    return tuple(None if tensor is None else numbers(tensor) for tensor in tensors)


def run(
    lines: Lines, watch: Callable[[int, Tensors, Tensors], None], cotangents: Tensors | None = None
) -> dict[int, torch.Tensor]:
    """Run backward and call `watch(node, cotangents, vjps)` at every node; the vjp of each leaf.

    The graph, the gradients and the versions of the user's tensors stay as they are.
    """
    graph = lines.graph
    _refuse(graph)
    given = _cotangents(graph, cotangents)
    handles, reached = [], -1

    def hook(i: int) -> Callable[[Tensors, Tensors], None]:
        def after(vjps: Tensors, arrived: Tensors) -> None:
            nonlocal reached
            reached = i
            with torch.no_grad():
                watch(i, arrived, vjps)

        return after

    ends = [i for i in range(len(graph)) if graph.is_leaf(i)]
    if not ends:
        raise GradcatError("this graph ends in no leaf: there is nothing to differentiate by")
    try:
        for i, node in enumerate(graph.nodes):
            if not graph.is_leaf(i):
                handles.append(node.register_hook(hook(i)))
        with kept_grads():
            vjps = torch.autograd.grad(
                graph.outputs,
                [GradientEdge(graph.nodes[i], 0) for i in ends],
                given,
                retain_graph=True,
                allow_unused=True,
            )
    except (RuntimeError, NotImplementedError) as error:
        after = f" after #{reached} {lines.node(reached)}" if reached >= 0 else ""
        raise PassFailed(f"the backward pass raises{after}: {said(error)}") from error
    finally:
        for handle in handles:
            handle.remove()
    return {i: vjp for i, vjp in zip(ends, vjps, strict=True) if vjp is not None}


def _refuse(graph: Graph) -> None:
    for tensor in graph.outputs:
        if tensor.is_meta or type(tensor).__name__ == "FakeTensor":
            raise GradcatError("tensors of the meta device and fake tensors hold no numbers: leave --device out")


def _cotangents(graph: Graph, given: Tensors | None) -> list[torch.Tensor]:
    """The cotangents that were given; ones where none were."""
    if given is None:
        return [torch.ones_like(tensor) for tensor in graph.outputs]
    if len(given) != len(graph.outputs):
        raise GradcatError(f"{len(given)} cotangents for {len(graph.outputs)} outputs; give one for each")
    for tensor, cotangent in zip(graph.outputs, given, strict=True):
        if cotangent is not None and cotangent.shape != tensor.shape:
            raise GradcatError(
                f"the cotangent has shape {list(cotangent.shape)}, the output {list(tensor.shape)}: they must be equal"
            )
    return [
        torch.ones_like(tensor) if cotangent is None else cotangent.to(tensor)
        for tensor, cotangent in zip(graph.outputs, given, strict=True)
    ]


def random_cotangents(graph: Graph) -> list[torch.Tensor]:
    """A cotangent of no special form for each output: ones would hide a wrong formula."""
    generator = torch.Generator().manual_seed(0)
    return [noise_like(tensor.cpu(), generator).to(tensor) for tensor in graph.outputs]


@contextlib.contextmanager
def kept_grads() -> Iterator[None]:
    """Leave `.grad` alone where a user asked for it by retain_grad(): torch would set it in any pass."""
    retained = [t for t in gc.get_objects() if issubclass(type(t), torch.Tensor) and t.retains_grad]
    before = [tensor.grad for tensor in retained]
    try:
        yield
    finally:
        for tensor, grad in zip(retained, before, strict=True):
            tensor.grad = grad


def report(lines: Lines, found: Values, chosen: frozenset[int]) -> Iterator[str]:
    """Two lines a node: what arrives, and what leaves along each edge; then the leaves."""
    for step in found.steps:
        if step.node in chosen:
            name = lines.name(step.node)
            yield f"#{step.node} {lines.node(step.node)}{f'  {name}' if name else ''}"
            for number, arrived in enumerate(step.arrives):
                of = f"{number}" if len(step.arrives) > 1 else ""
                yield f"    arrives{f' at {of}' if of else ''}: {arrived if arrived is not None else 'nothing'}"
            yield from leaving(lines, step.node, step.leaves)
    for i, grad in found.grads.items():
        if i in chosen:
            before = lines.graph.nodes[i].variable.grad
            already = " (with what it holds already)" if before is not None else ""
            yield f"{lines.name(i) or f'#{i}'}.grad: {grad}{already}"


def leaving(lines: Lines, i: int, vjps: Sequence[Numbers | None]) -> Iterator[str]:
    """One line for each edge of a node: the formula, its value, and where that goes."""
    for flow, vjp in zip(lines.flows(i), vjps, strict=True):
        if flow.to >= 0:
            formula = f"{flow.formula} = " if flow.formula else ""
            value = "nothing" if vjp is None else vjp
            yield f"    {flow.input or flow.position}: {formula}{value} → {flow.name or f'#{flow.to}'}"


def as_json(lines: Lines, found: Values) -> dict[str, Any]:
    """The same as JSON values."""

    def dump(item: Numbers | None) -> Any:
        if item is None:
            return None
        keys = ("shape", "norm", "low", "high", "bad", "all")
        return {key: getattr(item, key) for key in keys}

    return {
        "steps": [
            {"node": s.node, "arrives": list(map(dump, s.arrives)), "leaves": list(map(dump, s.leaves))}
            for s in found.steps
        ],
        "grads": [{"node": i, "name": lines.name(i), "grad": dump(grad)} for i, grad in found.grads.items()],
    }
