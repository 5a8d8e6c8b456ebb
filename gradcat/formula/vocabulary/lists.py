"""Lists, Python numbers, and recurrences over lists."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate

from . import function
from .tensors import torch

#: A list of more numbers than this is refused: no formula needs it, and it would not end.
MAX_RANGE = 100_000


@function()
def fold(f, init, items):
    """f(... f(f(init, items[0]), items[1]) ...): the last state of a recurrence."""
    return reduce(_step(f), items, init)


@function()
def scan(f, init, items):
    """List of the states s_i = f(s_{i-1}, items[i]) of a recurrence, s_{-1} = init not among them."""
    return list(accumulate(items, _step(f), initial=init))[1:]


def _step(f):
    if not callable(f):
        raise TypeError(f"a recurrence takes lambda state, item: ... as its step, got {type(f).__name__}")
    return f


@function(name="range")
def range_(start, end=None, step=1):
    """List of the integers 0, 1, ... before start; with end from start on, before end."""
    numbers = range(start) if end is None else range(start, end, step)
    if len(numbers) > MAX_RANGE:
        raise ValueError(f"range of {len(numbers)} numbers; the limit is {MAX_RANGE}")
    return list(numbers)


@function(name="len")
def len_(items):
    """How many items a list has; the first size of a tensor."""
    return len(items)


@function(name="zip")
def zip_(*lists):
    """List of tuples: the first items of all lists, the second ones, ...; all lists of one length."""
    return list(zip(*lists, strict=True))


@function(name="enumerate")
def enumerate_(items):
    """List of (0, first item), (1, second item), ..."""
    return list(enumerate(items))


@function(name="reversed")
def reversed_(items):
    """The list from its end to its start."""
    return list(reversed(items))


@function(name="min")
def min_(*numbers):
    """The smallest of Python numbers, or of a list of them."""
    return min(_numbers("min", numbers))


@function(name="max")
def max_(*numbers):
    """The largest of Python numbers, or of a list of them."""
    return max(_numbers("max", numbers))


def _numbers(name, numbers):
    listed = list(numbers[0]) if len(numbers) == 1 and isinstance(numbers[0], (list, tuple)) else list(numbers)
    if any(isinstance(each, torch.Tensor) for each in listed):
        raise TypeError(f"{name} is of Python numbers; of tensors a{name}(x, dim) or {name}imum(x, y)")
    return listed


@function(name="int")
def int_(x):
    """x without its fraction, as a Python integer."""
    return int(x)


@function()
def tolist(x):
    """The elements of a tensor as Python numbers, a list in a list for each dimension; a list as it is."""
    return x.tolist() if isinstance(x, torch.Tensor) else list(x)
