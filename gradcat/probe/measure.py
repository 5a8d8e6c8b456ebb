"""Facts that only running gives: what is kept when, editing in place, a second pass, double backward, forward mode."""

from __future__ import annotations

from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad

from .harvest import class_name, graph_of, saved_of, walk
from .trial import Run, Trial, noise_like, said


def measure(trial: Trial) -> dict[str, Any]:
    """Every fact of the node that the probe makes, as a JSON-ready record."""
    return {
        "when": when_saved(trial),
        "in_place": in_place(trial),
        "second_backward": second_backward(trial),
        **double_backward(trial),
        "forward_mode": forward_mode(trial),
    }


def backward(run: Run, *, create_graph: bool = False) -> list[torch.Tensor]:
    """The vjps of all inputs that require grad, for a random cotangent."""
    outputs = [tensor for tensor in run.outputs.values() if tensor.requires_grad]
    inputs = [torch.autograd.graph.GradientEdge(node, number) for node, number in run.sources]
    cotangents = [noise(tensor).requires_grad_(create_graph) for tensor in outputs]
    vjps = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True, create_graph=create_graph)
    return [vjp for vjp in vjps if vjp is not None]


def noise(tensor: torch.Tensor) -> torch.Tensor:
    """A cotangent or direction for a tensor; on meta its values do not matter."""
    if tensor.is_meta:
        return torch.empty_like(tensor, requires_grad=False)
    return noise_like(tensor, torch.Generator().manual_seed(0))


def when_saved(trial: Trial) -> dict[str, list[str]]:
    """Saved tensor -> the inputs that it is kept for, measured one input at a time; [] where it is kept for each."""
    kept: dict[str, list[str]] = {}
    for path in trial.leaves:
        try:
            run = trial.run(only=path)
            made, _ = graph_of(run)
        except Exception:  # an op may insist that all or none require grad
            continue
        if len(made) == 1:
            for entry in saved_of(made[0], run):
                if "bytes" in entry:
                    kept.setdefault(entry["name"], []).append(path)
    return {saved: [] if len(paths) == len(trial.leaves) else paths for saved, paths in kept.items()}


def in_place(trial: Trial) -> dict[str, str]:
    """For each input and output: does an edit in place between forward and backward break the backward pass?"""
    first = trial.run()
    effects = {}
    for path in [*first.inputs, *first.outputs]:
        run = trial.run()
        try:
            torch.autograd.graph.increment_version({**run.inputs, **run.outputs}[path].detach())
            backward(run)
            effects[path] = "safe"
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                effects[path] = "breaks"
    return effects


def second_backward(trial: Trial) -> str:
    """Does a second backward pass without retain_graph work?"""
    run = trial.run()
    try:
        backward(run)
    except RuntimeError:
        return ""
    try:
        backward(run)
        return "works"
    except RuntimeError:
        return "raises"


def double_backward(trial: Trial) -> dict[str, Any]:
    """Can the vjp be differentiated again, and which node classes does that add?"""
    run = trial.run()
    made, ends = graph_of(run)
    stops = {*made, *ends}
    try:
        again = [vjp for vjp in backward(run, create_graph=True) if vjp.requires_grad]
    except (RuntimeError, NotImplementedError) as error:
        return {"double_backward": "raises", "double_backward_error": said(error), "through": []}
    added = [node for node in walk((vjp.grad_fn for vjp in again), stops) if node not in stops]
    through = [name for name in dict.fromkeys(map(class_name, added)) if name != "AccumulateGrad"]
    if not through:
        return {"double_backward": "constant", "through": []}
    inputs = [torch.autograd.graph.GradientEdge(node, number) for node, number in run.sources]
    try:
        torch.autograd.grad(again, inputs, [noise(vjp) for vjp in again], allow_unused=True)
        return {"double_backward": "works", "through": through}
    except (RuntimeError, NotImplementedError) as error:
        return {"double_backward": "raises", "double_backward_error": said(error), "through": through}


def forward_mode(trial: Trial) -> str:
    """Does forward-mode differentiation work?"""
    try:
        with forward_ad.dual_level():
            leaves = {path: leaf.detach() for path, leaf in trial.leaves.items()}
            trial.run({path: forward_ad.make_dual(leaf, noise(leaf)) for path, leaf in leaves.items()})
        return "works"
    except (RuntimeError, NotImplementedError):
        return "raises"
