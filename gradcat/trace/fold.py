"""Repeats in a sequence: what comes again and again is shown once, with a count."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

#: The longest block that is looked for, in lines, and how many places where it may begin again are tried.
LONGEST, TRIES = 1000, 40


class Block(NamedTuple):
    """`times` repeats of the `length` items from `start` on."""

    start: int
    length: int
    times: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.times


def fold(keys: Sequence[Hashable]) -> Iterator[Block]:
    """Blocks that cover the sequence in order; items that do not repeat are blocks of their own, once each."""
    numbers: dict[Hashable, int] = {}
    items = [numbers.setdefault(key, len(numbers)) for key in keys]
    following = [-1] * len(items)  # the next place of the same item
    last: dict[int, int] = {}
    for i in range(len(items) - 1, -1, -1):
        following[i] = last.get(items[i], -1)
        last[items[i]] = i
    start = 0
    while start < len(items):
        block = _repeat(items, following, start)
        yield block
        start = block.end


def _repeat(items: list[int], following: list[int], start: int) -> Block:
    """The shortest block from `start` that is repeated at once; of one item where none is."""
    again = following[start]
    for _ in range(TRIES):
        length = again - start
        if again < 0 or length > LONGEST:
            break
        if items[start:again] == items[again : again + length]:
            times, end = 2, again + length
            while items[end : end + length] == items[start:again]:
                times += 1
                end += length
            if length * (times - 1) > 1:  # else the line that says it is no shorter
                return Block(start, length, times)
        again = following[again]
    return Block(start, 1, 1)
