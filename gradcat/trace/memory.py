"""What a graph keeps in memory: slots, and the storages behind them, which several slots may share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from ..probe.harvest import bytes_of, memory, shape_of
from .classes import hides, plain
from .lines import Lines
from .saved import slots

#: A storage that is this many times larger than all that is saved of it is pinned by a view.
PINNED = 2


@dataclass
class Storage:
    """Memory that slots hold. `kind`: see KINDS."""

    kind: str
    name: str
    bytes: int  # all that is kept alive
    layout: str  # of the first tensor that was saved
    slots: list[str] = field(default_factory=list)
    used: int = 0  # the largest part of it that one slot saved

    @property
    def pinned(self) -> bool:
        """Whether a view keeps far more alive than was saved."""
        return self.bytes >= PINNED * max(self.used, 1) and self.bytes > self.used


@dataclass
class Memory:
    """All that the nodes of a graph keep."""

    storages: list[Storage]  # largest first
    slots: int = 0
    slot_bytes: int = 0
    packed: int = 0  # slots in which a hook left something that is no tensor
    hidden: int = 0  # nodes whose slots Python cannot see

    def bytes(self, *kinds: str) -> int:
        """Bytes of the storages of some kinds, or of all."""
        return sum(storage.bytes for storage in self.storages if not kinds or storage.kind in kinds)


def measure(lines: Lines) -> Memory:
    """What every slot of the graph holds, each storage counted once."""
    graph = lines.graph
    owners = _owners(lines)
    found: dict[int, Storage] = {}
    total = Memory([])
    held = []  # tensors whose identity is the only mark of their memory
    for i, node in enumerate(graph.nodes):
        total.hidden += hides(node)
        for slot in () if graph.is_leaf(i) else slots(node):
            tensor = slot.tensor
            if tensor is None:
                total.packed += slot.data is not None
                continue
            held.append(tensor)
            key = memory(tensor)
            if key not in found:
                kind, name = owners.get(key, ("ctx" if slot.name.startswith("ctx.") else "activation", ""))
                found[key] = Storage(kind, name, storage_bytes(tensor), f"{plain(tensor.dtype)} {shape_of(tensor)}")
            storage = found[key]
            storage.slots.append(f"#{i} {lines.node(i)}.{slot.name}")
            storage.used = max(storage.used, bytes_of(tensor))
            if not slot.name.startswith("ctx."):
                total.slots += 1
                total.slot_bytes += bytes_of(tensor)
    total.storages = sorted(found.values(), key=lambda storage: -storage.bytes)
    return total


def _owners(lines: Lines) -> dict[int, tuple[str, str]]:
    """Memory that somebody holds anyway -> what it is, and its name."""
    owners: dict[int, tuple[str, str]] = {}
    named = [(name, tensor) for name, tensor in lines.names.tensors.values()]
    leafs = [node.variable for i, node in enumerate(lines.graph.nodes) if lines.graph.is_leaf(i)]
    for name, tensor in [*named, *((lines.names.tensor(leaf), leaf) for leaf in leafs)]:
        owners.setdefault(memory(tensor), (_kind(lines, tensor), name))
    return owners


def _kind(lines: Lines, tensor: torch.Tensor) -> str:
    if isinstance(tensor, torch.nn.Parameter):
        return "parameter"
    return "buffer" if id(tensor) in lines.names.buffers else "input"


def storage_bytes(tensor: torch.Tensor) -> int:
    """Bytes that stay allocated as long as the tensor is held."""
    try:
        return tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):  # sparse and other layouts have several storages, or none
        return bytes_of(tensor)


#: Kinds of storage, as the total names them.
KINDS = {
    "activation": "activations",
    "parameter": "parameters",
    "buffer": "buffers",
    "input": "inputs",
    "ctx": "kept on ctx",
}


def report(found: Memory, many: int) -> Iterator[str]:
    """The storages, largest first, and the totals."""
    wide = max((len(size(storage.bytes)) for storage in found.storages[:many]), default=0)
    for storage in found.storages[:many]:
        named = f" {storage.name}" if storage.name else ""
        count = f" and {len(storage.slots) - 1} more" if len(storage.slots) > 1 else ""
        line = f"{size(storage.bytes):>{wide}}  {storage.kind + named:<10}  {storage.layout}  {storage.slots[0]}{count}"
        if storage.pinned:
            line += f"  pinned by a view of {size(storage.used)}"
        yield line
    if len(found.storages) > many:
        rest = found.storages[many:]
        yield f"{size(sum(storage.bytes for storage in rest))} in {len(rest)} storages more"
    yield ""
    yield f"{found.slots} slots, {size(found.slot_bytes)} if each had memory of its own"
    parts = [f"{word} {size(found.bytes(kind))}" for kind, word in KINDS.items() if found.bytes(kind)]
    yield f"{len(found.storages)} storages, {size(found.bytes())}" + (f": {', '.join(parts)}" if parts else "")
    if found.packed:
        yield f"{found.packed} slots hold what a hook put there: a checkpointed block, nothing until it is run again"
    if found.hidden:
        yield f"{found.hidden} nodes keep what Python cannot see (CopySlices, nodes of C++ alone): not counted"


def size(count: float) -> str:
    """Bytes in words."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    return f"{count:.4g} TiB"


def as_json(found: Memory) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "slots": found.slots,
        "slot_bytes": found.slot_bytes,
        "storage_bytes": found.bytes(),
        **{f"{kind}_bytes": found.bytes(kind) for kind in KINDS},
        "packed_slots": found.packed,
        "hidden_nodes": found.hidden,
        "storages": [
            {"kind": s.kind, "name": s.name, "bytes": s.bytes, "used": s.used, "layout": s.layout, "slots": s.slots}
            for s in found.storages
        ],
    }
