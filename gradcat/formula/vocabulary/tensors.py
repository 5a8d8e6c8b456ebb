"""What the modules of the vocabulary share: torch on first use, Python numbers beside tensors, dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...lazy import LazyModule
from . import function

if TYPE_CHECKING:
    import torch
else:
    torch = LazyModule("torch")

__all__ = ["dims", "elementary", "elementwise", "tensor", "torch", "type_of"]


def tensor(x: Any, like: Any = None) -> Any:
    """`x` as a tensor: a number takes the type that torch gives it beside `like`, and alone double precision."""
    if x is None or isinstance(x, torch.Tensor):
        return x
    if like is None or (isinstance(x, (float, complex)) and not (like.is_floating_point() or like.is_complex())):
        # NOTE: beside integers torch would round a fraction to its default type, single precision.
        return torch.as_tensor(x, dtype=torch.complex128 if isinstance(x, complex) else torch.float64)
    return torch.as_tensor(x, dtype=torch.result_type(like, x), device=like.device)


def elementwise(code: Callable[..., Any]) -> Callable[..., Any]:
    """Let `code` take Python numbers: beside a tensor they take its type, and alone they give a number."""

    @wraps(code)
    def call(*values: Any, **named: Any) -> Any:
        given = (*values, *named.values())
        like = next((value for value in given if isinstance(value, torch.Tensor)), None)
        result = code(*(tensor(v, like) for v in values), **{k: tensor(v, like) for k, v in named.items()})
        return result.item() if like is None else result

    return call


def elementary(path: str, meaning: str, latex: str = "", binds: int | tuple[int, int] = 10) -> None:
    """Enter a function of one number that torch computes itself: `torch.<path>`."""

    def code(x):
        return attrgetter(path)(torch)(x)

    code.__name__, code.__doc__ = path.rpartition(".")[2], meaning
    function(latex=latex or None, binds=binds)(elementwise(code))


def dims(ndim: int, dim: Any) -> list[int]:
    """The dimensions that `dim` names, counted from 0; all of them for None and for an empty list."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(ndim))
    count = max(ndim, 1)
    for each in (listed := [dim] if isinstance(dim, int) else list(dim)):
        if not -count <= each < count:
            raise IndexError(f"dimension {each} of a tensor that has {ndim}")
    return [each % count for each in listed]


def type_of(like: Any) -> dict[str, Any]:
    """The type and device that a new tensor shares with `like`; double precision for None."""
    return {"dtype": torch.float64} if like is None else {"dtype": like.dtype, "device": like.device}
