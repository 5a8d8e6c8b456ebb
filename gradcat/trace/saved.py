"""What nodes keep, read through the raw slots: nothing is unpacked, so no hook runs and no checkpoint is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from .classes import saved_names


class Slot(NamedTuple):
    """One place in which a node keeps a tensor. Empty: nothing was kept, or it was freed."""

    name: str
    data: Any  # the tensor; where a hook packed it, what the hook made of it
    packed: bool = False

    @property
    def tensor(self) -> torch.Tensor | None:
        """The tensor that lies here, None where there is none, or something else in its place."""
        return self.data if isinstance(self.data, torch.Tensor) else None


def slots(node: Any) -> Iterator[Slot]:
    """Every slot of a node; those of a freed list are gone."""
    for name in saved_names(type(node))[0]:
        try:
            held = getattr(node, f"_raw_saved_{name}")
        except RuntimeError:  # a list that was freed
            continue
        listed = isinstance(held, (tuple, list))
        for i, slot in enumerate(held if listed else [held]):
            yield Slot(f"{name}[{i}]" if listed else name, slot.data, slot.unpack_hook is not None)
    for name, value in vars(node).items() if hasattr(node, "__dict__") else ():
        if isinstance(value, torch.Tensor):  # kept on `ctx`, past save_for_backward
            yield Slot(f"ctx.{name}", value)


def is_freed(node: Any) -> bool:
    """Whether a backward pass has freed what the node kept."""
    return any(complaint.startswith("Trying to backward") for complaint in complaints(node))


def complaints(node: Any) -> Iterator[str]:
    """What torch says of slots that can no longer be read. Only those are tried behind which no hook waits."""
    for name in saved_names(type(node))[0]:
        try:
            held = getattr(node, f"_raw_saved_{name}")
        except RuntimeError as error:
            yield str(error)
            continue
        several = held if isinstance(held, (tuple, list)) else [held]
        if any(slot.unpack_hook is not None for slot in several) or not any(map(_doubtful, several)):
            continue
        try:
            getattr(node, f"_saved_{name}" if hasattr(type(node), f"_saved_{name}") else "saved_tensors")
        except RuntimeError as error:
            yield str(error)


def _doubtful(slot: Any) -> bool:
    """Whether a slot is empty, or its tensor was edited at least once."""
    data = slot.data
    return not isinstance(data, torch.Tensor) or (not data.is_inference() and data._version > 0)
