"""The whole table, run: every rule proved, every class accounted for. A new rule or probe needs no new test."""

import re

import pytest

from gradcat import evidence, files, merge, probes, rules
from gradcat.coverage import gaps

SOURCES = merge.Sources.default()
RULES = rules.load([files.rules()])


@pytest.fixture(scope="module")
def catalog():
    """Every node, heavy probes included, every rule run."""
    return evidence.verified(merge.build(SOURCES, heavy=True), SOURCES)


@pytest.fixture(scope="module")
def nodes(catalog):
    return {node.name: node for node in catalog.nodes}


@pytest.mark.parametrize("name", RULES)
def test_rule_is_proved(nodes, name):
    if name not in nodes:
        pytest.skip("this torch has no such node")
    proof = nodes[name].verification
    assert proof.status in ("verified", "raises", "structural", "unverified"), proof.reason
    assert proof.status in ("verified", "raises") or proof.reason
    if proof.status == "verified":
        assert proof.probes >= 1
        assert proof.vjp_error is not None or not any(vjp.formula for vjp in nodes[name].backward)


def test_no_probe_fails(catalog):
    assert catalog.warnings == ()


def test_every_class_of_torch_has_a_record(nodes):
    import torch

    listed = {name for name in dir(torch._C._functions) if not name.startswith("__")}
    assert listed <= set(nodes)
    missing = sorted(name for name in listed if nodes[name].status != "harvested")
    assert len(missing) <= 6, missing
    for name in missing:
        assert nodes[name].reason
        assert nodes[name].check.startswith("python ")


def test_every_class_has_a_rule_or_a_reason(nodes):
    import torch

    listed = {name for name in dir(torch._C._functions) if not name.startswith("__")}
    bare = {name for name in listed if not nodes[name].backward}
    assert all(nodes[name].reason for name in bare), bare


def test_every_gap_has_a_reason(catalog):
    assert all(gap.reason for gap in gaps(catalog.nodes))


def test_light_probes_load_no_more_than_torch():
    """A probe that is not called heavy must not import what takes as long as torch itself."""
    from dataclasses import asdict

    from gradcat.probe import runner

    light = [probe for probe in probes.load(SOURCES.ops) if not probe.heavy]
    tasks = [{"task": "probe", "probe": asdict(probe)} for probe in light]
    *answers, last = runner.run([*tasks, {"task": "loaded", "modules": ["sympy", "torch._dynamo"]}])
    assert last["loaded"] == [], "find the probe that loads it, and say heavy: there"
    assert not [answer for answer in answers if "died" in answer]


def test_deviations_of_torch_are_listed_with_their_numbers(nodes):
    said = {text for node in nodes.values() for text in node.deviations}
    written = {probe.deviation for probe in probes.load(SOURCES.ops) if probe.deviation}
    for deviation in written:
        assert any(text.startswith(f"{deviation} (") and re.search(r"\d|torch raises", text) for text in said), (
            deviation
        )
