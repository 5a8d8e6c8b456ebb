"""How long work tells that it goes on: done, total, and what is being done."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, what: str) -> None:
    """Progress that nobody watches."""
