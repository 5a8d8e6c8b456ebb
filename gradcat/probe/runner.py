"""The parent: feeds tasks to a child process and survives whatever a task does to it. Imports no torch."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from ..errors import GradcatError
from ..files import PACKAGE

#: Seconds without an answer after which a child counts as hanging. The first answer also waits for torch's import.
LIMIT = 30.0
FIRST_LIMIT = 180.0

#: What a child runs: this very gradcat, and nothing that the current folder holds under the name of a module it needs.
BOOT = f"""
import sys
sys.path[:] = [{os.path.dirname(PACKAGE)!r}, *filter(None, sys.path)]
import gradcat
sys.path.append(sys.path.pop(0))
from gradcat.probe.worker import main
main()
"""

Task = dict[str, Any]
Record = dict[str, Any]


class Child:
    """One worker process, with its answers in a queue."""

    def __init__(self) -> None:
        environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONWARNINGS="ignore")
        self.process = subprocess.Popen(
            [sys.executable, "-c", BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        weakref.finalize(self, self.process.kill)  # whatever interrupts the parent, at its end the child is gone
        self.stopped = False
        self.answers: queue.Queue[Record | None] = queue.Queue()
        self.last_words: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, tasks: Sequence[Task]) -> None:
        """Send tasks without waiting for the child to read them."""

        def write(pipe: IO[str]) -> None:
            with contextlib.suppress(OSError, ValueError):
                for task in tasks:
                    pipe.write(json.dumps(task) + "\n")
                pipe.flush()

        assert self.process.stdin is not None
        threading.Thread(target=write, args=(self.process.stdin,), daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):  # a line cut off by the child's death
                self.answers.put(json.loads(line))
        self.answers.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.last_words = [*self.last_words[-20:], line.rstrip()]

    def stop(self) -> None:
        """End the child, and the run that it was given to, from any thread."""
        self.stopped = True
        self.end()

    def end(self) -> None:
        """End the child and everything that it holds; its run may go on with another one."""
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if pipe:
                    pipe.close()


def run(
    tasks: Sequence[Task],
    *,
    imports: Sequence[str] = (),
    limit: float = LIMIT,
    child: Child | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Record]:
    """One record for each task, in order. A task that kills or hangs the child costs itself alone.

    Raises GradcatError where no child can be had at all (no torch, a module that cannot be imported), and once
    somebody stops `child`.
    """
    pending = [dict(task, id=i) for i, task in enumerate(tasks)]
    loads: list[Task] = [{"task": "import", "module": module, "id": -1} for module in imports]
    given = fresh = child or Child()
    try:
        while pending:
            current, first = fresh, True
            current.send([*loads, *pending])
            waiting = len(loads)
            while pending:
                try:
                    answer = current.answers.get(timeout=FIRST_LIMIT if first else limit)
                except queue.Empty:
                    answer = {"died": f"no answer within {limit:g} s (stopped)"}
                if given.stopped:
                    raise GradcatError("the child process was stopped")
                if answer is None:
                    answer = {"died": obituary(current)}
                if "fatal" in answer:
                    raise GradcatError(answer["fatal"])
                if waiting and "died" not in answer:
                    waiting -= 1
                    first = False
                    if "error" in answer:
                        raise GradcatError(f"--import {loads[-waiting - 1]['module']}: {answer['error']}")
                    continue
                if "died" in answer and waiting:
                    raise GradcatError(f"the child process died while importing: {answer['died']}")
                first = False
                task = pending.pop(0)
                progress(len(tasks) - len(pending))
                yield {**answer, "id": task["id"]}
                if "died" in answer:
                    break
            current.end()
            if pending:
                fresh = Child()
    finally:
        fresh.end()


def obituary(child: Child) -> str:
    """How a child ended."""
    code = child.process.wait()
    if code < 0:
        import signal

        with contextlib.suppress(ValueError):
            return f"killed the process ({signal.Signals(-code).name})"
    words = f": {child.last_words[-1]}" if child.last_words else ""
    return f"ended the process (exit {code}){words}"
