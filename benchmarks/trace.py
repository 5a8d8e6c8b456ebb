"""The walk of a long chain, side by side: a bare walk, gradcat, torchlens and torchviz. Each in a process of its own.

    python benchmarks/trace.py [--nodes N] [--rounds N]

The first walk counts: torch makes a Python object for each node then, and keeps it. Processes take turns, and medians
are compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys

#: Most times of a bare walk, and most bytes a node: see the budgets.
RATIO, BYTES = 3.0, 500

CHAIN = """
import gc, os, resource, sys, time, torch

x = torch.ones((), requires_grad=True)
y = x
for i in range({nodes} // 2):
    y = y * 1 + 1

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

{prepare}
before, start = peak(), time.perf_counter()
{walk}
print(time.perf_counter() - start, (peak() - before) / {nodes}, flush=True)
os._exit(0)  # how the chain is let go is not measured here
"""
BARE = """
seen, pending = {y.grad_fn}, [y.grad_fn]
while pending:
    for after, _ in pending.pop().next_functions:
        if after is not None and after not in seen:
            seen.add(after)
            pending.append(after)
"""
#: Walker -> (what is imported before, what is timed).
WALKERS = {
    "bare walk, no collector": ("gc.disable()", BARE),
    "bare walk": ("", BARE),
    "gradcat walk and record": ("from gradcat.trace.walk import Graph", "graph = Graph([y])"),
    "torchlens walk_grad_fn": ("from torchlens.debug import walk_grad_fn", "found = walk_grad_fn(y, max_nodes=10**9)"),
    "torchviz make_dot": ("from torchviz import make_dot", "picture = make_dot(y)"),
}
SECONDS = 120


def measure(walker: str, nodes: int) -> tuple[float, float] | str:
    """(seconds, bytes a node) of a first walk, or why there is none."""
    prepare, walk = WALKERS[walker]
    package = prepare.split()[1].split(".")[0] if prepare.startswith("from") else "torch"
    if importlib.util.find_spec(package) is None:
        return "not installed"
    code = CHAIN.format(nodes=nodes, prepare=prepare, walk=walk)
    try:
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s"
    if result.returncode:
        last = result.stderr.strip().splitlines()[-1:] or [f"ended by signal {-result.returncode}"]
        return last[0][:80]
    seconds, per_node = map(float, result.stdout.split()[-2:])
    return seconds, per_node


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    within = True
    for nodes in sorted({300, options.nodes // 10, options.nodes}):
        print(f"{nodes} nodes")
        rounds: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.rounds):
            for walker in WALKERS:
                found = measure(walker, nodes) if rounds.get(walker, True) else ""
                if isinstance(found, tuple):
                    rounds.setdefault(walker, []).append(found)
                elif found:
                    print(f"  {walker:<26} {found}")
                    rounds[walker] = []
        bare = statistics.median(seconds for seconds, _ in rounds["bare walk"])
        for walker, results in rounds.items():
            if results:
                seconds, per_node = (statistics.median(column) for column in zip(*results, strict=True))
                each = f"{seconds / nodes * 1e6:6.2f} us and {per_node:5.0f} B a node"
                print(f"  {walker:<26} {seconds * 1e3:9.1f} ms  {each}  {seconds / bare:5.2f} x bare")
                if walker.startswith("gradcat") and nodes == options.nodes:
                    within = seconds <= RATIO * bare and per_node <= BYTES
    print(f"gradcat is {'within' if within else 'OVER'} {RATIO:g} x a bare walk and {BYTES} B a node")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
