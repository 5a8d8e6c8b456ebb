"""Evidence: facts measured and rules checked in child processes, added to a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

from . import probes, rules
from .merge import Sources, returns_of
from .model import Catalog, Facts, Node, Probe, Rule, Verification
from .probe import runner
from .progress import Progress, silent


def verified(
    catalog: Catalog,
    sources: Sources | None = None,
    names: Iterable[str] | None = None,
    *,
    samples: int = 1,
    seed: int = 0,
    progress: Progress = silent,
) -> Catalog:
    """The catalog with evidence: facts measured and rules checked, for the named nodes or for all."""
    sources = sources or Sources.default()
    children = [runner.Child() for _ in range(WORKERS)] if names is None else [runner.Child()]
    chosen = set(names) if names is not None else {node.name for node in catalog.nodes}
    entries, written = probes.load(sources.ops), rules.load(sources.rules)
    tasks = [
        task_of(node, written.get(node.name), [entries[i] for i in node.probes], samples, seed)
        for node in catalog.nodes
        if node.name in chosen and (node.probes or node.name in written)
    ]
    done = [0]

    def work(share: list[dict[str, Any]], child: runner.Child) -> list[dict[str, Any]]:
        def count(_: int) -> None:
            done[0] += 1
            progress(done[0], len(tasks), "verifying")

        answers = runner.run(share, imports=sources.imports, child=child, progress=count)
        return [{**answer, "node": task["rule"]["node"]} for task, answer in zip(share, answers, strict=True)]

    with ThreadPoolExecutor(len(children)) as pool:
        shares = _shares(tasks, len(children))
        try:
            answers = {a["node"]: a for part in pool.map(work, shares, children) for a in part}
        except BaseException:  # Ctrl-C: the threads wait for their children, not for us
            for child in children:
                child.stop()
            raise
    nodes = [_proven(node, answers.get(node.name)) if node.name in chosen else node for node in catalog.nodes]
    known = {node.name: node for node in nodes}
    return replace(catalog, nodes=tuple(_by_sibling(node, known) for node in nodes))


def _by_sibling(node: Node, nodes: Mapping[str, Node]) -> Node:
    """A node that could only be harvested without values says by which sibling its formulas were proved."""
    if node.verification.status != "structural" or "verified on" in node.verification.reason:
        return node
    sibling = node
    while sibling.like in nodes and sibling.verification.status == "structural":
        sibling = nodes[sibling.like]
    if sibling.verification.status != "verified":
        return node
    reason = f"{node.verification.reason}; the same formulas are verified on {sibling.name}"
    return replace(node, verification=replace(node.verification, reason=reason))


def _shares(tasks: Sequence[dict[str, Any]], count: int) -> list[list[dict[str, Any]]]:
    """The tasks for each of some children, about equally long. One child takes all that is heavy: it loads it once."""
    heavy: list[dict[str, Any]] = []
    light: list[dict[str, Any]] = []
    for task in tasks:
        (heavy if any(probe["heavy"] for probe in task["probes"]) else light).append(task)
    shares, costs = [heavy, *([] for _ in range(1, count))], [0.0] * count
    costs[0] = HEAVY + EACH_HEAVY * len(heavy) if heavy else 0.0
    for task in light:
        least = costs.index(min(costs))
        shares[least].append(task)
        costs[least] += 1 + len(task["probes"])
    return shares


#: What heavy tasks cost, in light probes: for what they load, and each. Measured once; a wrong guess costs balance.
HEAVY, EACH_HEAVY = 700.0, 25.0

#: Child processes that share the work of verifying everything.
WORKERS = 2


def task_of(node: Node, rule: Rule | None, direct: list[Probe], samples: int, seed: int) -> dict[str, Any]:
    """What a child needs to know to prove one node."""
    rule = rule or Rule(node.name, node.family)
    return {
        "task": "verify",
        "samples": samples,
        "seed": seed,
        "probes": [asdict(probe) for probe in direct],
        "rule": {
            "node": node.name,
            "forward": rule.forward,
            "where": rule.where,
            "backward": rule.backward,
            "unverified": rule.unverified,
            "schema": node.schema,
        },
    }


def _proven(node: Node, answer: Mapping[str, Any] | None) -> Node:
    """The node with its facts and its evidence."""
    if answer is None:
        return replace(node, verification=Verification("unverified", "no rule and no probe"))
    if failure := answer.get("died") or answer.get("error"):
        return replace(node, verification=Verification("failed", f"the check itself failed: {failure}"))
    facts = dict(answer["facts"])
    when = facts.pop("when", {})
    facts.pop("error", None)  # the probe's own failure stands in the verification
    returns = returns_of(node)
    if "in_place" in facts and len(returns) > 1:
        facts["in_place"] = {
            returns[int(path[7 : path.index("]")])] if path.startswith("result[") else path: effect
            for path, effect in facts["in_place"].items()
        }
    found = dict(answer["verification"] or {"status": "unverified", "reason": "no formulas yet"})
    deviations = tuple(found.pop("deviations", ()))
    return replace(
        node,
        facts=Facts(**{**facts, "through": tuple(facts.get("through", ()))}),
        saved=tuple(
            replace(saved, when=f"when {' or '.join(when[saved.name])} needs grad") if when.get(saved.name) else saved
            for saved in node.saved
        ),
        deviations=deviations,
        verification=Verification(**{**found, "dtypes": tuple(found.get("dtypes", ()))}),
    )
