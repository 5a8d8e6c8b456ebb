"""The verifier's teeth: every formula is broken in every way that `gradcat.mutation` knows, and each must turn red.

What survives means the same as the formula, and `survivors.yaml` says why: reason -> mutants.
"""

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gradcat import evidence, merge, probes, rules
from gradcat.mutation import METADATA, mutants
from gradcat.probe import runner
from gradcat.yamlfile import read

EXPLAINED = Path(__file__).parent / "survivors.yaml"


@pytest.fixture(scope="module")
def found():
    """(node, answer) of every rule that a probe can prove."""
    sources = merge.Sources.default()
    entries, written = probes.load(sources.ops), rules.load(sources.rules)
    tasks = []
    for node in merge.build(sources).nodes:
        if node.name in written and node.probes:
            task = evidence.task_of(node, written[node.name], [entries[i] for i in node.probes], 1, 0)
            tasks.append({"task": "mutate", "rule": task["rule"], "probes": task["probes"]})
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda share: list(runner.run(share, limit=120)), (tasks[::2], tasks[1::2])))
    named = [
        (task["rule"]["node"], answer) for i in range(2) for task, answer in zip(tasks[i::2], parts[i], strict=True)
    ]
    return sorted(named, key=lambda row: row[0])


def explained():
    reasons = {}
    for reason, entries in read(EXPLAINED).mapping("survivors.yaml"):
        for entry in entries.items(reason):
            reasons[plain(entry.text("mutant"))] = reason
    return reasons


def plain(text):
    """A survivor with its formula in one spelling."""
    where, _, formula = text.partition(": ")
    return f"{where}: {ast.unparse(ast.parse(formula, mode='eval'))}"


def test_every_survivor_is_explained(found):
    assert not [(node, answer) for node, answer in found if "mutants" not in answer]
    known = explained()
    alive = [
        f"{node} {each['part']}.{each['name']}: {each['mutant']}"
        for node, answer in found
        for each in answer["survivors"]
        if each["kind"] != METADATA
    ]
    total = sum(answer["mutants"] for _, answer in found)
    sizes = sum(each["kind"] == METADATA for _, answer in found for each in answer["survivors"])
    caught = total - len(alive) - sizes
    print(f"{total} mutants: {caught} caught, {sizes} read a size elsewhere, {len(alive)} explained")
    assert total > 10_000
    assert not [text for text in alive if plain(text) not in known]
    assert not set(known) - {plain(text) for text in alive}, "caught by now: take the explanation away"


ROWS = [
    ("grad * conj(other)", ["self", "other"], {"-(grad * conj(other))", "grad", "grad * other", "grad * conj(self)"}),
    ("self @ grad.mT", ["self"], {"grad.mT @ self", "self @ grad"}),
    ("a - 2 * b", [], {"a + 2 * b", "a - 3 * b", "a - b"}),
]


@pytest.mark.parametrize(("formula", "names", "expected"), ROWS)
def test_mutations(formula, names, expected):
    assert expected <= {text for _, text in mutants(formula, names)}


def test_reading_a_size_elsewhere_is_its_own_kind():
    assert (
        dict(map(reversed, mutants("reshape(grad, self.shape)", ["self", "result"])))["reshape(grad, result.shape)"]
        == METADATA
    )
