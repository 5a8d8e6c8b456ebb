"""The child process: it imports torch, takes one task a line on stdin and answers one record a line."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TextIO

from ..model import Probe


def main() -> None:
    # Ops may print from C++: the protocol keeps the real stdout, everything else goes to stderr.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    try:
        import torch
    except ImportError as error:
        answers.write(json.dumps({"fatal": f"torch cannot be imported: {error}"}) + "\n")
        return
    torch.set_num_threads(1)
    torch._nnpack_available()  # NOTE: without it _nnpack_spatial_convolution segfaults
    serve(sys.stdin, answers)


def serve(tasks: TextIO, answers: TextIO) -> None:
    """Answer every task. What a probe raises is part of its answer; what kills the process is the parent's to note."""
    worker = Worker()
    for line in tasks:
        task = json.loads(line)
        start = time.perf_counter()
        try:
            answer = worker.handle(task)
        except KeyboardInterrupt:
            return
        except BaseException as error:
            from .trial import said

            answer = {"error": said(error)}
        answer |= {"id": task["id"], "seconds": time.perf_counter() - start}
        answers.write(json.dumps(answer, allow_nan=True) + "\n")


class Worker:
    """What stays between tasks: the user's modules and the classes whose records were sent already."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.known: dict[str, int] = {}
        self.tasks: dict[str, Callable[..., dict[str, Any]]] = {
            "import": self.load,
            "probe": self.probe,
            "classes": self.classes,
            "loaded": self.loaded,
            "op_db": self.op_db,
            "verify": self.verify,
            "mutate": self.mutate,
        }

    def handle(self, task: dict[str, Any]) -> dict[str, Any]:
        return self.tasks[task["task"]](**{k: v for k, v in task.items() if k not in ("task", "id")})

    def load(self, module: str) -> dict[str, Any]:
        """Import a module that the user named on the command line."""
        sys.path.insert(0, os.getcwd())
        self.modules[module.partition(".")[0]] = importlib.import_module(module.partition(".")[0])
        importlib.import_module(module)
        return {}

    def probe(self, probe: dict[str, Any]) -> dict[str, Any]:
        """Harvest of one probe, or why it does not apply here."""
        from .harvest import harvest
        from .trial import Trial

        entry = Probe(**probe)
        if missing := unmet(entry.needs):
            return {"skipped": missing}
        return harvest(Trial(entry, self.modules), self.known)

    def classes(self) -> dict[str, Any]:
        """Reflection over torch's autograd namespaces."""
        from ..reflect import classes

        return {"classes": classes()}

    def loaded(self, modules: list[str]) -> dict[str, Any]:
        """Which of some modules the tasks before this one have loaded."""
        return {"loaded": [module for module in modules if module in sys.modules]}

    def op_db(self) -> dict[str, Any]:
        """Ops that PyTorch's sample database names."""
        from ..op_db import names

        return {"names": names()}

    def verify(self, rule: dict[str, Any], probes: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        """Evidence for one rule on its probes."""
        from ..verify import verify

        return verify(rule, [Probe(**probe) for probe in probes], self.modules, **options)

    def mutate(self, rule: dict[str, Any], probes: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        """Mutants of one rule that its probes do not catch."""
        from ..verify import survivors

        return survivors(rule, [Probe(**probe) for probe in probes], self.modules)


def unmet(needs: str) -> str:
    """Why a probe's needs are not met on this machine, "" where they are."""
    import torch

    conditions: dict[str, tuple[Callable[[], bool], str]] = {
        "": (lambda: True, ""),
        "cuda": (torch.cuda.is_available, "needs a CUDA device"),
        "mkldnn": (torch.backends.mkldnn.is_available, "needs a torch built with oneDNN"),
        "distributed": (torch.distributed.is_available, "needs a torch built with distributed"),
        "mkl": (torch.backends.mkl.is_available, "needs a torch built with MKL"),
        "nnpack": (lambda: bool(torch._nnpack_available()), "needs a torch and CPU with NNPACK"),
    }
    if needs not in conditions:
        return f"needs: {needs!r} is unknown; known: {', '.join(filter(None, conditions))}"
    holds, reason = conditions[needs]
    return "" if holds() else reason
