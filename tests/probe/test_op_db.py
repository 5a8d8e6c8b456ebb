"""Every op that PyTorch's own sample database names is called by a probe of ops.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradcat import files, probes
from gradcat.opnames import called, plain

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's op_db imports expecttest: pip install expecttest")

#: Ops that the database names without the underscore of the only method that they are.
IN_PLACE_ONLY = {"cauchy", "exponential", "geometric", "log_normal", "uniform"}
#: Names of the database that are no ops of torch, and why.
NO_OPS = {
    "jiterator_unary": "a kernel that the database itself compiles from C++ text, on CUDA alone",
    "jiterator_binary": "a kernel that the database itself compiles from C++ text, on CUDA alone",
    "jiterator_4inputs_with_extra_args": "a kernel that the database itself compiles from C++ text, on CUDA alone",
    "jiterator_binary_return_by_ref": "a kernel that the database itself compiles from C++ text, on CUDA alone",
    "jiterator_2inputs_2outputs": "a kernel that the database itself compiles from C++ text, on CUDA alone",
}


@pytest.fixture(scope="module")
def database() -> list[tuple[str, tuple[str, ...]]]:
    """Name and aliases of every op in the database, as people call them."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [(spelled(op.name), tuple(spelled(alias.name) for alias in op.aliases)) for op in op_db]


def spelled(name: str) -> str:
    return plain(f"{name}_" if name in IN_PLACE_ONLY else name)


@pytest.fixture(scope="module")
def covered() -> set[str]:
    """Names that the probes call."""
    return set(names([Path(files.ops())]))


def names(paths: list[Path]) -> Iterator[str]:
    for probe in probes.load(paths):
        yield from map(plain, called(probe.call, probe.inputs))


def test_every_op_is_called(database: list[tuple[str, tuple[str, ...]]], covered: set[str]) -> None:
    missing = sorted({name for name, _ in database} - covered - set(NO_OPS))
    assert not missing, f"{len(missing)} ops of op_db have no probe: {', '.join(missing)}"


def test_every_alias_is_called(database: list[tuple[str, tuple[str, ...]]], covered: set[str]) -> None:
    missing = sorted({alias for _, aliases in database for alias in aliases} - covered)
    assert not missing, f"{len(missing)} aliases of op_db have no probe: {', '.join(missing)}"


def test_what_is_excused_is_in_the_database(database: list[tuple[str, tuple[str, ...]]]) -> None:
    known = {name for name, _ in database}
    assert set(NO_OPS) <= known
    assert {f"{name}_" for name in IN_PLACE_ONLY} <= known
