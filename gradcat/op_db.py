"""PyTorch's own sample database, `op_db`: which of the ops that it names a probe calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .opnames import plain

#: Ops that the database names without the underscore of the only method that they are.
IN_PLACE_ONLY = {"cauchy", "exponential", "geometric", "log_normal", "uniform"}
#: Names of the database that are no ops of torch, and why.
NO_OPS = dict.fromkeys(
    (
        "jiterator_2inputs_2outputs",
        "jiterator_4inputs_with_extra_args",
        "jiterator_binary",
        "jiterator_binary_return_by_ref",
        "jiterator_unary",
    ),
    "a kernel that the database itself compiles from C++ text, on CUDA alone",
)


@dataclass(frozen=True)
class Coverage:
    """Names and aliases of the database, and which of them no probe calls."""

    names: tuple[str, ...]
    missing: tuple[str, ...]


def names() -> list[str]:
    """Every op and alias of the database, as people call it. Imports torch and expecttest."""
    from torch.testing._internal.common_methods_invocations import op_db

    found = {op.name for op in op_db} | {alias.name for op in op_db for alias in op.aliases}
    return sorted({plain(f"{name}_" if name in IN_PLACE_ONLY else name) for name in found})


def covered(database: Iterable[str], called: Iterable[str]) -> Coverage:
    """Which names of the database are among the ops that the probes call."""
    known = {plain(name) for name in called}
    wanted = [name for name in database if name not in NO_OPS]
    return Coverage(tuple(wanted), tuple(name for name in wanted if name not in known))
