"""What running a probe shows: node classes, next_functions and saved tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .trial import Run, Trial, floating

Graph = dict[Any, tuple[tuple[Any, int], ...]]


def harvest(trial: Trial, known: dict[str, int]) -> dict[str, Any]:
    """One JSON-ready record of a probe. Classes that `known` ranks as high are only named: they have their records."""
    run = trial.run()
    made, ends = graph_of(run)
    direct = direct_node(run, made)
    record: dict[str, Any] = {
        "outputs": [describe(path, tensor) for path, tensor in run.outputs.items()],
        "graph": list(dict.fromkeys(map(class_name, made))),
        "direct": class_name(direct) if direct is not None else "",
        "root": next((path for path, t in run.outputs.items() if t.requires_grad), ""),
        "leaves": list(trial.leaves),
        "nodes": [],
    }
    for node in (*made, *ends):
        # A class is recorded again only where it is seen better: made alone, and with values.
        rank = (node is direct) + (node is direct and trial.probe.device == "cpu")
        if known.get(class_name(node), -1) >= rank:
            continue
        known[class_name(node)] = rank
        record["nodes"].append(
            {
                "name": class_name(node),
                "rank": rank,
                "direct": node is direct,
                "edges": edges_of(node, run),
                "saved": saved_of(node, run),
                "python": python_place(node),
            }
        )
    return record


def graph_of(run: Run) -> tuple[list[Any], list[Any]]:
    """Nodes that the call made, outputs first, and the nodes of the inputs at which it ends."""
    stops = {node for node, _ in run.sources}
    graph = walk((t.grad_fn for t in run.outputs.values() if t.requires_grad), stops)
    return [node for node in graph if node not in stops], [node for node in graph if node in stops]


def direct_node(run: Run, made: list[Any]) -> Any | None:
    """The node, where the call made just one."""
    return made[0] if len(made) == 1 else None


def class_name(node: Any) -> str:
    """Name of the node's class, as `grad_fn` prints it. Some nodes of C++ share one Python type."""
    name = type(node).__name__
    return name if name != "CppFunction" else str(node.name()).rpartition(":")[2]


def python_place(node: Any) -> str:
    """Module and name of the Python class behind a node, "" for a generated one."""
    cls = getattr(type(node), "_forward_cls", None)
    if cls is not None:
        return f"{cls.__module__}.{cls.__qualname__}"
    made = type(node)
    return "" if made.__module__ in ("builtins", "torch._C._functions") else f"{made.__module__}.{made.__qualname__}"


def walk(roots: Iterable[Any], stops: set[Any]) -> Graph:
    """Every node between the roots and the stops (which are included), roots first, each once."""
    graph: Graph = {}
    pending = [node for node in roots if node is not None][::-1]
    while pending:
        node = pending.pop()
        if node in graph:
            continue
        graph[node] = node.next_functions
        if node not in stops:
            pending += [after for after, _ in reversed(graph[node]) if after is not None]
    return graph


def edges_of(node: Any, run: Run) -> list[dict[str, Any]]:
    """next_functions in order, each mapped to the argument that it belongs to."""
    return [
        {"position": i, "input": run.sources.get((after, number), ""), "connected": after is not None}
        for i, (after, number) in enumerate(node.next_functions)
    ]


def saved_of(node: Any, run: Run) -> list[dict[str, Any]]:
    """What the node keeps, read through the raw slots: no unpack hook runs, nothing is computed."""
    owners: dict[int, tuple[str, str]] = {}
    for path, tensor in run.outputs.items():
        owners.setdefault(memory(tensor), ("result", path))
    for path, tensor in run.inputs.items():
        owners[memory(tensor)] = ("input" if floating(tensor) else "index", path)
    entries: list[dict[str, Any]] = []
    for attribute in saved_names(type(node)):
        if hasattr(type(node), f"_raw_saved_{attribute}"):
            slots = getattr(node, f"_raw_saved_{attribute}")
            tensors = [slot.data for slot in (slots if isinstance(slots, (tuple, list)) else [slots])]
            tensors = [
                tensor for tensor in tensors if isinstance(tensor, torch.Tensor)
            ]  # checkpoint leaves others there
            if not tensors:
                continue
            role, of = owners.get(memory(tensors[0]), ("intermediate" if floating(tensors[0]) else "index", ""))
            entries.append(
                {
                    "name": attribute,
                    "role": role,
                    "of": of,
                    "shape": shape_of(tensors[0]),
                    "dtype": plain(tensors[0].dtype),
                    "bytes": sum(map(bytes_of, tensors)),
                }
            )
        else:
            try:
                value = getattr(node, f"_saved_{attribute}")
            except Exception:  # some attributes have no Python form
                continue
            if value is not None:
                entries.append({"name": attribute, "role": role_of(attribute, value)})
    return entries


def saved_names(cls: type) -> list[str]:
    """Names of what instances of a node class keep, without the prefix."""
    if cls not in _saved_names:
        _saved_names[cls] = [name[7:] for name in dir(cls) if name.startswith("_saved_")]
    return _saved_names[cls]


_saved_names: dict[type, list[str]] = {}


def role_of(attribute: str, value: Any) -> str:
    """Role of a saved attribute that is no tensor, from its value."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, (tuple, list)):
        return "size"
    if isinstance(value, (int, torch.SymInt)):
        return "size" if "size" in attribute or "numel" in attribute else "number"
    if isinstance(value, (float, complex)):
        return "number"
    return "text" if isinstance(value, str) else "other"


def memory(tensor: torch.Tensor) -> int:
    """Identity of the memory behind a tensor: views of one storage share it. Meta and odd layouts own themselves."""
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return id(tensor)


def bytes_of(tensor: torch.Tensor) -> int:
    """Bytes of the tensor's elements (of its values, where it is sparse)."""
    try:
        return tensor.numel() * tensor.element_size()
    except RuntimeError:  # ragged
        return tensor.values().numel() * tensor.element_size() if tensor.is_nested else 0


def shape_of(tensor: torch.Tensor) -> list[int]:
    """Shape with -1 where a side has no single length."""
    try:
        return [side if type(side) is int else -1 for side in tensor.shape]
    except RuntimeError:  # strided nested tensors refuse to say it
        return [tensor.size(0), *[-1] * (tensor.dim() - 1)]


def plain(what: object) -> str:
    return str(what).removeprefix("torch.")


def describe(path: str, tensor: torch.Tensor) -> dict[str, Any]:
    """Metadata of one output."""
    return {
        "name": path,
        "shape": shape_of(tensor),
        "dtype": plain(tensor.dtype),
        "layout": plain(tensor.layout),
        "differentiable": tensor.requires_grad,
    }
