"""Ratios of the budgets, each measured side by side in one run: gradcat against what it must not be slower than.

    python benchmarks/ratios.py [--rounds N]

Whole processes are timed, turn about, and medians compared: a loaded machine slows both sides alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

PANEL = "import click; from rich.console import Console; from rich.panel import Panel; Console().print(Panel('hello'))"
TORCH = "import torch"
GRADCAT = [sys.executable, "-m", "gradcat"]


def timed(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Seconds that a command takes, as a user waits for it."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(
    name: str, limit: float, mine: Callable[[], float], other: Callable[[], float], against: str, rounds: int
) -> bool:
    """Print one ratio; whether it is within its budget."""
    pairs = [(mine(), other()) for _ in range(rounds)]
    left, right = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = left / right
    verdict = "within" if ratio <= limit else "OVER"
    print(
        f"{name:<28} {left * 1e3:8.0f} ms  {against:<22} {right * 1e3:8.0f} ms  ratio {ratio:5.2f}  {verdict} {limit:g}"
    )
    return ratio <= limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="times that each pair is measured")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        warm = dict(os.environ, GRADCAT_CACHE=os.path.join(folder, "warm"))

        def cold(*arguments: str) -> Callable[[], float]:
            """Seconds of a command whose cache is new each time."""

            def run() -> float:
                with tempfile.TemporaryDirectory(dir=folder) as fresh:
                    return timed([*GRADCAT, *arguments], dict(os.environ, GRADCAT_CACHE=fresh))

            return run

        def python(code: str) -> Callable[[], float]:
            return lambda: timed([sys.executable, "-c", code], os.environ)

        def gradcat(*arguments: str) -> Callable[[], float]:
            return lambda: timed([*GRADCAT, *arguments], warm)

        gradcat("export", "-o", os.path.join(folder, "export.json"))()  # fill the cache, evidence included
        many = max(rounds, 3) * 3
        results = [
            compare("warm show", 1.3, gradcat("show", "MulBackward0"), python(PANEL), "bare panel", many),
            compare("warm show", 0.1, gradcat("show", "MulBackward0"), python(TORCH), "import torch", rounds),
            compare("warm list", 1.3, gradcat("list"), python(PANEL), "bare panel", many),
            compare("cold start (list)", 1.8, cold("list"), python(TORCH), "import torch", rounds),
            compare("verify everything", 6.0, gradcat("verify"), python(TORCH), "import torch", min(rounds, 3)),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
