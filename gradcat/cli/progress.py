"""A progress bar on stderr, where that is a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
import threading

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bar:
    """One bar after the other: a new kind of work begins a new one, and a finished one disappears."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.progress: Progress | None = None
        self.task = TaskID(0)
        self.what = ""

    def __call__(self, done: int, total: int, what: str) -> None:
        if not sys.stderr.isatty():
            return
        with self.lock:
            if self.progress is None or what != self.what:
                self._begin(what, total)
            if self.progress is not None:
                self.progress.update(self.task, completed=done, total=total)
            if done >= total:
                self._end()

    def close(self) -> None:
        """Remove a bar whose work ended early."""
        with self.lock:
            self._end()

    def _begin(self, what: str, total: int) -> None:
        self._end()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.progress.start()
        self.task, self.what = self.progress.add_task(what, total=total), what

    def _end(self) -> None:
        if self.progress is not None:
            self.progress.stop()
        self.progress = None


bar = Bar()
