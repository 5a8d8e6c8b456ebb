"""What a node's class says: its name, and what it keeps. Looked up once a class: `dir` of a node is slow."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

_saved: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def saved_names(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that instances of a node class keep: those that have a raw slot, and those of numbers, sizes and flags."""
    if cls not in _saved:
        slots = [name[11:] for name in dir(cls) if name.startswith("_raw_saved_")]
        others = [name[7:] for name in dir(cls) if name.startswith("_saved_") and name[7:] not in slots]
        _saved[cls] = tuple(slots), tuple(others)
    return _saved[cls]


def class_name(node: Any) -> str:
    """Name of the node's class, as `grad_fn` prints it; nodes of C++ alone share a class and say their own."""
    name = type(node).__name__
    return node.name().rpartition("::")[2] if name == "CppFunction" else name


def python_class(node: Any) -> str:
    """The `autograd.Function` behind a node, with its module; "" for a node of torch's own code generator."""
    cls = getattr(type(node), "_forward_cls", None)
    return "" if cls is None else f"{cls.__module__}.{cls.__qualname__}"


def hides(node: Any) -> bool:
    """Whether the node keeps things that Python cannot see: an op behind CopySlices, or a node of C++ alone."""
    return type(node).__name__ in ("CppFunction", "CopySlices")


def constants(node: Any) -> dict[str, Any]:
    """Numbers, sizes and flags that the node keeps, by name."""
    found = {}
    for name in saved_names(type(node))[1]:
        with contextlib.suppress(Exception):  # some have no Python form, some are freed
            found[name] = _signed(getattr(node, f"_saved_{name}"))
    return found


def _signed(value: Any) -> Any:
    """A value as the op received it: negative dimensions are shown as large unsigned numbers."""
    if isinstance(value, tuple):
        return tuple(map(_signed, value))
    if type(value) is int and value >= 2**63:
        return value - 2**64
    return value


def layouts(node: Any) -> list[tuple[str, tuple[int, ...]]]:
    """dtype and shape of each output of the forward op: what the cotangents must look like."""
    return [(plain(meta.dtype), shape_of(meta)) for meta in node._input_metadata]


def shape_of(meta: Any) -> tuple[int, ...]:
    """Shape, with -1 where a side has no single length."""
    try:
        return tuple(side if type(side) is int else -1 for side in meta.shape)
    except RuntimeError:  # strided nested tensors refuse to say it
        return (-1,)


def plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
