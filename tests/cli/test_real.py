"""The whole path on the installed torch: a cold start, evidence on demand, exports that are alike, interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from gradcat import files


@pytest.fixture(scope="module")
def real(environment, tmp_path_factory):
    """Run gradcat with torch; the module's tests share one cache, which begins empty."""
    folder = tmp_path_factory.mktemp("real")

    def run(*arguments, cwd=None, **variables):
        chosen = {**environment, "GRADCAT_CACHE": str(folder), **variables}
        command = [sys.executable, "-m", "gradcat", *arguments]
        return subprocess.run(command, env=chosen, cwd=cwd or folder, capture_output=True, text=True, timeout=300)

    run.folder = folder
    return run


def test_list_covers_every_class(real):
    import torch

    result = real("list")
    assert result.returncode == 0, result.stderr
    listed = [line.split()[0] for line in result.stdout.splitlines()]
    assert listed == sorted(listed)
    assert {name for name in dir(torch._C._functions) if not name.startswith("_")} <= set(listed)
    assert "were not run here yet" in result.stderr


def test_show_verifies_on_demand_and_remembers(real):
    first = real("show", "MulBackward0")
    assert "checked   verified · forward 0" in first.stdout, first.stderr
    start = time.perf_counter()
    assert real("show", "MulBackward0").stdout == first.stdout
    assert time.perf_counter() - start < 1  # torch was not imported again


def test_exports_are_valid_and_alike(real, tmp_path):
    first = real("export", "--json")
    second = real("export", "-o", str(tmp_path / "b.json"))
    assert first.returncode == second.returncode == 0, second.stderr
    assert (tmp_path / "b.json").read_text(encoding="utf-8") == first.stdout
    with open(files.schema(), encoding="utf-8") as file:
        jsonschema.validate(json.loads(first.stdout), json.load(file), cls=jsonschema.Draft202012Validator)
    assert "not run here yet" not in real("list").stderr


def test_coverage_fits_a_terminal(real):
    wide, narrow = (real("coverage", FORCE_COLOR="1", COLUMNS=columns).stdout for columns in ("120", "80"))
    assert "  reflected  " in wide
    assert max(map(len, wide.splitlines()[:20])) > 80 >= max(map(len, narrow.splitlines()[:20]))
    assert " of 658 node classes harvested" in narrow.splitlines()[0]


def test_coverage_counts_what_export_counts(real):
    coverage = json.loads(real("coverage", "--format", "json").stdout)
    assert coverage["summary"] == json.loads(real("export").stdout)["summary"]
    assert sum(family["nodes"] for family in coverage["by_family"].values()) == coverage["summary"]["nodes"]
    assert all(gap["reason"] for gap in coverage["gaps"])
    table = real("coverage").stdout
    assert str(coverage["summary"]["nodes"]) in table
    assert len(real("coverage", "--gaps").stdout.splitlines()) == len(coverage["gaps"])


def test_verify_named_nodes(real):
    result = real("verify", "MulBackward0", "--samples", "2", "--seed", "7")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("MulBackward0  verified · forward 0")
    assert result.stdout.endswith("1 rules: 1 verified, 0 raises, 0 structural, 0 unverified, 0 failed\n")


OWN = """
import torch

class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, grad):
        return 3 * grad

triple = Triple.apply
"""
PROBE = "own:\n- call: my_ops.triple(self)\n  inputs:\n    self: randn(2, 3)\n"
RULE = "TripleBackward:\n  forward: 3 * self\n  backward:\n    self: {}\n"


@pytest.mark.parametrize(("vjp", "code"), [("3 * grad", 0), ("2 * grad", 1)], ids=["right", "wrong"])
def test_ops_of_ones_own(real, tmp_path, vjp, code):
    (tmp_path / "my_ops.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "probes.yaml").write_text(PROBE, encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(RULE.format(vjp), encoding="utf-8")
    own = ["--ops", "probes.yaml", "--rules", "rules.yaml", "--import", "my_ops"]
    result = real("verify", "TripleBackward", *own, cwd=tmp_path)
    assert result.returncode == code, result.stderr
    assert result.stdout.startswith("TripleBackward  " + ("failed: TripleBackward.self: " if code else "verified"))
    assert ("its rule: rules.yaml:1" in result.stdout) == bool(code)
    shown = real("show", "TripleBackward", *own, cwd=tmp_path).stdout
    assert ("checked   failed" if code else "checked   verified · forward 0 · vjp 0") in shown
    assert "made by   my_ops.triple(self)" in shown


def test_a_rule_for_no_node_is_said(real, tmp_path):
    (tmp_path / "rules.yaml").write_text(RULE.format("grad"), encoding="utf-8")
    result = real("list", "Max", "--rules", str(tmp_path / "rules.yaml"))
    assert result.returncode == 0
    assert "TripleBackward: this torch has no such node" in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("mine:\n- call: torch.mul(self, other\n", ["mine.yaml:2", "torch.mul(self, other"]),
        ("mine:\n- call: torch.neg(self)\n  colour: red\n", ["mine.yaml:", "colour"]),
        ("mine: [", ["mine.yaml:", "not YAML"]),
    ],
    ids=["syntax", "unknown key", "yaml"],
)
def test_bad_probes(real, tmp_path, content, words):
    (tmp_path / "mine.yaml").write_text(content, encoding="utf-8")
    result = real("show", "Mul", "--ops", str(tmp_path / "mine.yaml"))
    assert (result.returncode, result.stdout) == (2, "")
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


def test_probes_of_ones_own(real, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "mine:\n"
        "- call: torch.neg(self)\n  inputs:\n    self: randn(2, 3)\n"
        "- call: torch.mm(self, mat2)\n  inputs:\n    self: randn(2, 3)\n    mat2: randn(2, 3)\n",
        encoding="utf-8",
    )
    result = real("probe", "--failures", "--ops", str(tmp_path / "mine.yaml"))
    assert result.returncode == 1
    assert "mine.yaml:5" in result.stdout
    assert "failed: RuntimeError" in result.stdout
    assert "self = randn(2, 3), mat2 = randn(2, 3)" in result.stdout


def test_an_unwritable_cache_costs_time_alone(real, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    result = real("show", "MulBackward0", GRADCAT_CACHE=str(tmp_path / "file"))
    assert result.returncode == 0
    assert "checked   verified" in result.stdout
    assert "cannot be written" in result.stderr


def test_a_cut_cache_is_built_again(real):
    expected = real("show", "MulBackward0").stdout
    for file in real.folder.iterdir():
        os.truncate(file, file.stat().st_size // 2)
    result = real("show", "MulBackward0")
    assert result.returncode == 0
    assert result.stdout == expected
    assert "damaged" in result.stderr
    assert real("show", "MulBackward0").stderr == ""


def test_ctrl_c(environment, tmp_path):
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import sys; "
    code += "from gradcat.cli import main; sys.exit(main())"
    environment = {**environment, "GRADCAT_CACHE": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, "list"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert errors.strip() == "gradcat: interrupted"
    assert list(tmp_path.iterdir()) == []
