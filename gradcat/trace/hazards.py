"""What would go wrong: tensors edited after they were saved, freed slots, and who raises in a second backward pass."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .classes import hides
from .lines import Lines
from .saved import complaints, slots

#: How many hazards are said one by one.
MANY = 8

#: Torch's words for a slot whose tensor was edited after it was saved.
MOVED = re.compile(
    r"inplace operation: \[(?P<what>[^\]]*\])\]?(?:, which is output (?P<output>\d+) of (?P<op>[\w:]+))?,? "
    r"is at version (?P<now>\d+); expected version (?P<then>\d+)"
)


@dataclass(frozen=True)
class Hazard:
    """One thing that makes a backward pass raise, or will. `kind`: moved, freed, second."""

    kind: str
    node: int
    text: str


def hazards(lines: Lines) -> list[Hazard]:
    """What is wrong with a graph now: edited and freed tensors, and the node at which a backward pass stops."""
    found = list(_broken(lines))
    bad = {hazard.node for hazard in found}
    if bad:
        first = next(i for i in engine_order(lines) if i in bad)
        found.append(Hazard("raises", first, f"a backward pass raises at #{first} {lines.node(first)}"))
    return found


def _broken(lines: Lines) -> Iterator[Hazard]:
    for i, node in enumerate(lines.graph.nodes):
        if lines.graph.is_leaf(i):
            continue
        for complaint in complaints(node):
            who = f"#{i} {lines.node(i)}"
            if moved := MOVED.search(complaint):
                made = f", output {moved['output']} of {moved['op']}," if moved["op"] else ""
                then, now = moved["then"], moved["now"]
                text = f"{who} saved {moved['what']}{made} at version {then}; edits made it version {now}"
                yield Hazard("moved", i, text)
            elif complaint.startswith("Trying to backward"):
                yield Hazard("freed", i, f"{who}: what it saved was freed by a backward pass")
                break
            else:
                yield Hazard("unreadable", i, f"{who}: {complaint}")


def second_pass(lines: Lines) -> int | None:
    """The node at which a second backward pass without retain_graph raises, None where it works."""
    graph = lines.graph
    for i in engine_order(lines):
        if not graph.is_leaf(i) and frees(graph.nodes[i]):
            return i
    return None


def frees(node: object) -> bool:
    """Whether a backward pass frees something that the node needs again."""
    return hides(node) or any(slot.data is not None and not slot.name.startswith("ctx.") for slot in slots(node))


def engine_order(lines: Lines) -> Iterator[int]:
    """Nodes as torch's engine runs them: of those that are ready, the one made last, leaves at once."""
    graph = lines.graph
    waiting = graph.consumers()
    ready = [(-graph.nodes[i]._sequence_nr(), i) for i in {i for i, _ in graph.roots} if not waiting[i]]
    heapq.heapify(ready)
    while ready:
        _, i = heapq.heappop(ready)
        yield i
        for to in graph.targets(i):
            if to >= 0:
                waiting[to] -= 1
                if not waiting[to]:
                    heapq.heappush(ready, (-graph.nodes[to]._sequence_nr(), to))
