"""The vocabulary: every function that a formula may call, with its meaning, its code and its notation.

It holds mathematics. It holds no `*_backward`, no `*_jvp` and no autograd: a formula that asks torch for the answer
explains nothing. A new function is a few lines in the module of its subject:

    @function(text="√{x:10}", latex=r"\\sqrt{{{x}}}", binds=(9, 10))
    def sqrt(x):
        "Square root."
        return torch.sqrt(x)

    @function(notation=reduction("Σ", r"\\sum"))
    def sum_(x, dim=None, keepdim=False):
        "Sum over dim; over all elements where dim is None."

The notation of a function is one of these; the first that is there counts:

- `text=` and `latex=`, templates of `str.format` in the parameters' names: `{x}` is the printed argument, `{x:7}` the
  same in parentheses where it binds looser than 7, `{x:()}` always, as high as it is, `{{` a brace. A parameter that is
  not given prints its default. A template must close what it opens: `log({x})`, or say how tightly it binds.
- `notation=`, or a callable as `text=` or `latex=`: for what depends on which arguments are given. It takes the call's
  `Arguments` and returns how the whole prints. Those that exist are in `notation`: `reduction`, `operator`, `cases`,
  `einsum`, `norm`, `raised`, `alone`, and `part`, `changed`, `replaced` for x[index] and x[index ← y].
- Nothing: the call as it is written, `name(x, y, key=value)`.

`binds=` says how tightly a printed template binds, as one number or as (text, LaTeX):

    10 a name, f(x), whatever closes itself      6 Σ, a / b on one line      3 ∧ ∨ mod
     9 x², xᵀ, √x, e^{x}                         5 unary minus               2 = < ≤ ∈, not
     8 a two-storey fraction                     4 + -                       1 and, or
     7 ⊙ · @                                                                 0 lambda, a list between commas

So ask for 10 in front of an index, a power or a ᵀ (`{x:10}ᵀ`, binds=9), for 7 behind a Σ, for nothing between brackets.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from .notation import ATOM, Notation

Template = str | Notation


@dataclass(frozen=True)
class Function:
    """One row of the vocabulary."""

    name: str
    code: Callable[..., Any]
    text: Template | None = None
    latex: Template | None = None
    binds: int | tuple[int, int] = ATOM  # how tightly the printed whole binds; in text, in LaTeX

    @property
    def meaning(self) -> str:
        return (self.code.__doc__ or "").strip().splitlines()[0]

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.code)


#: The modules of the vocabulary, by subject.
SUBJECTS = (
    "pointwise",
    "special",
    "reduce",
    "shape",
    "index",
    "linalg",
    "factorisation",
    "windows",
    "interpolation",
    "resampling",
    "fourier",
    "lists",
    "recurrences",
    "sparse",
)

_rows: dict[str, Function] = {}


def function(
    *,
    text: Template | None = None,
    latex: Template | None = None,
    notation: Notation | None = None,
    binds: int | tuple[int, int] = ATOM,
    name: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated function into the vocabulary."""

    def enter(code: Callable[..., Any]) -> Callable[..., Any]:
        row = Function(name or code.__name__.rstrip("_"), code, text or notation, latex or notation, binds)
        if row.name in _rows:
            raise ValueError(f"vocabulary: {row.name} is defined twice")
        if not row.meaning:
            raise ValueError(f"vocabulary: {row.name} has no docstring that says what it means")
        _rows[row.name] = row
        return code

    return enter


@cache
def table() -> dict[str, Function]:
    """Every function of the vocabulary by name."""
    for subject in SUBJECTS:
        importlib.import_module(f"{__name__}.{subject}")
    return dict(sorted(_rows.items()))


#: Names that are always in scope. "inf", "nan", "pi" and "e" are the numbers.
CONSTANTS: dict[str, object] = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "inf": float("inf"),
    "nan": float("nan"),
}
