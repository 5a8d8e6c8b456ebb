"""Samplers: how ops.yaml says from which domain an input is drawn. Double precision, one seeded generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..formula.syntax import FormulaError


@dataclass(frozen=True)
class Const:
    """A value that shall not require grad."""

    value: Any


class Samplers:
    """One draw of a probe's inputs. In complex mode the real samplers give complex numbers of like domain."""

    def __init__(self, seed: int, *, complex_: bool = False) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.complex_ = complex_

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Every sampler by the name it has in ops.yaml."""
        return {name: getattr(self, name) for name in NAMES}

    def _rand(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> torch.Tensor:
        return torch.rand(_shape(shape), generator=self.generator, dtype=dtype)

    def _normal(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(_shape(shape), generator=self.generator, dtype=dtype)

    def randn(self, *shape: int) -> torch.Tensor:
        """Standard normal."""
        return self._normal(shape, torch.complex128 if self.complex_ else torch.float64)

    def complex_randn(self, *shape: int) -> torch.Tensor:
        """Standard normal complex, in every mode."""
        return self._normal(shape, torch.complex128)

    def uniform(self, low: float, high: float, *shape: int) -> torch.Tensor:
        """Uniform in [low, high)."""
        if not low < high:
            raise FormulaError(f"uniform({low}, {high}, ...): the lower end must be below the upper end")
        drawn = low + (high - low) * self._rand(shape)
        return torch.complex(drawn, 0.4 * (self._rand(shape) - 0.5)) if self.complex_ else drawn

    def positive(self, *shape: int) -> torch.Tensor:
        """Uniform in [0.5, 2): away from 0."""
        return self.uniform(0.5, 2.0, *shape)

    def nonzero(self, *shape: int) -> torch.Tensor:
        """Either sign, at least 0.3 away from 0."""
        drawn = self.uniform(0.3, 2.0, *shape)
        return torch.where(self._rand(shape) < 0.5, -drawn, drawn)

    def distinct(self, *shape: int) -> torch.Tensor:
        """No ties: elements and their absolute values differ by at least 0.07, from 0 by 0.05, from n / 2 by 0.03."""
        count = torch.Size(_shape(shape)).numel()
        order = torch.randperm(count, generator=self.generator).to(torch.float64)
        values = (0.2 * (order - count // 2) + 0.05 + 0.02 * self._rand((count,))).reshape(_shape(shape))
        return torch.complex(values, self._rand(shape)) if self.complex_ else values

    def spd(self, *shape: int) -> torch.Tensor:
        """Symmetric (Hermitian) positive definite matrices: spd(*batch, n)."""
        n = _side("spd", shape)
        root = self.randn(*shape, n)
        return root @ root.mH + n * torch.eye(n, dtype=root.dtype)

    def invertible(self, *shape: int) -> torch.Tensor:
        """Well conditioned square matrices: invertible(*batch, n)."""
        n = _side("invertible", shape)
        return self.randn(*shape, n) + n * torch.eye(n, dtype=torch.float64)

    def symmetric(self, *shape: int) -> torch.Tensor:
        """Symmetric (Hermitian) matrices with distinct eigenvalues: symmetric(*batch, n)."""
        n = _side("symmetric", shape)
        root = self.randn(*shape, n)
        return (root + root.mH) / 2 + torch.diag(torch.arange(n, dtype=torch.float64) * 3)

    def labels(self, classes: int, *shape: int) -> torch.Tensor:
        """Integers in [0, classes)."""
        return self.integers(0, classes, *shape)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Integers in [low, high)."""
        if not low < high:
            raise FormulaError(f"integers({low}, {high}, ...): the lower end must be below the upper end")
        return torch.randint(low, high, _shape(shape), generator=self.generator)

    def permutation(self, n: int) -> torch.Tensor:
        """The integers below n in random order."""
        return torch.randperm(n, generator=self.generator)

    def mask(self, *shape: int) -> torch.Tensor:
        """Booleans, both values at least once where there is room."""
        drawn = self._rand(shape) < 0.5
        if drawn.numel() > 1:
            drawn.view(-1)[0], drawn.view(-1)[-1] = True, False
        return drawn

    def tensor(self, values: Any) -> torch.Tensor:
        """The numbers as they are written: for kinks, ties and edge cases."""
        made = torch.tensor(values)
        if made.dtype == torch.float32:
            made = torch.tensor(values, dtype=torch.float64)
        if made.is_floating_point() and self.complex_:
            made = made.to(torch.complex128)
        return made.to(torch.complex128) if made.dtype == torch.complex64 else made

    def const(self, value: Any) -> Const:
        """The value, without requiring grad."""
        return Const(value)

    def float32(self, value: torch.Tensor) -> torch.Tensor:
        """The tensor in single precision, where the op takes no double."""
        return value.to(torch.complex64 if value.is_complex() else torch.float32)

    def bfloat16(self, value: torch.Tensor) -> torch.Tensor:
        """The tensor in bfloat16, where the op takes nothing wider."""
        return value.to(torch.bfloat16)

    def float16(self, value: torch.Tensor) -> torch.Tensor:
        """The tensor in half precision, where the op takes nothing wider."""
        return value.to(torch.float16)


def _shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    for side in shape:
        if not isinstance(side, int) or isinstance(side, bool) or side < 0:
            raise FormulaError(f"a side of a shape is {side!r}: sides are whole numbers from 0")
    return tuple(shape)


def _side(name: str, shape: tuple[int, ...]) -> int:
    if not shape:
        raise FormulaError(f"{name}() needs at least the side of the matrix: {name}(*batch, n)")
    return _shape(shape)[-1]


#: The samplers: every public method but `functions`.
NAMES = tuple(name for name in vars(Samplers) if not name.startswith("_") and name != "functions")
