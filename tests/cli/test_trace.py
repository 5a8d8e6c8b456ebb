"""gradcat trace as a user runs it: whole outputs, exit codes, and words for what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PREAMBLE = "import torch\nx = torch.ones(2, requires_grad=True)\n"


@pytest.fixture
def trace(run):
    """Run gradcat trace with torch."""
    return lambda *arguments, **variables: run("trace", *arguments, torch=True, **variables)


def test_code(trace):
    result = trace("-c", f"{PREAMBLE}loss = (x * 3).exp()")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "#0 ExpBackward0    float32 [2]       loss  self: ∂L/∂out ⊙ conj(out) → #1",
        "#1 MulBackward0    float32 [2]       self: ∂L/∂out ⊙ conj(other) → x · other: none, constant",
        "#2 AccumulateGrad  float32 [2]       x  leaf",
        "",
        "2 nodes, 1 leaf, 2 edges",
        "a second backward pass without retain_graph would raise at #0 ExpBackward0",
    ]


def test_a_script_runs_as_one(trace, tmp_path):
    (tmp_path / "helper.py").write_text("FACTOR = 3\n")
    script = tmp_path / "train.py"
    script.write_text(
        f"{PREAMBLE}import sys\nfrom helper import FACTOR\n"
        "if __name__ == '__main__':\n    print('arguments', sys.argv[1:])\n    y = x * FACTOR\nloss = y.sum()\n"
    )
    result = trace(str(script), "--tensor", "y", "--", "a", "--b")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("arguments ['a', '--b']\n#0 MulBackward0")
    assert not list(tmp_path.glob("__pycache__/train*"))


def test_what_a_script_prints_does_not_spoil_json(trace):
    result = trace("-c", f"{PREAMBLE}print('hello')\nloss = x.exp()", "--format", "json")
    assert result.stderr == "hello\n"
    assert json.loads(result.stdout)["count"] == 2


def test_a_callable(trace, tmp_path):
    (tmp_path / "mine.py").write_text(f"{PREAMBLE}def make():\n    return (x * 2).sum()\nnumber = 3\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-c", "import gradcat; print(gradcat.__path__[0])"], capture_output=True, text=True
    )
    variables = {"PYTHONPATH": os.pathsep.join([str(Path(found.stdout.strip()).parent), path])}
    result = trace("mine:make", **variables)
    assert result.stdout.startswith("#0 SumBackward0"), result.stderr
    for target, words in {
        "mine:number": "it is a int, not a callable",
        "mine:nothing": "mine has no 'nothing'",
        "no_such_module:make": "there is no module 'no_such_module'",
    }.items():
        result = trace(target, **variables)
        assert (result.returncode, result.stdout) == (2, "")
        assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["no/such/file.py"], 2, "no/such/file.py: no such file"),
        ([], 2, "give a script, package.module:callable, or -c CODE"),
        (["a.py", "-c", "1"], 2, "give a script, package.module:callable, or -c CODE"),
        (["-c", f"{PREAMBLE}y = x.exp()"], 2, "there is no variable 'loss' at the end; --tensor names another: y"),
        (["-c", "loss = 3"], 2, "loss is a int, not a tensor"),
        (["-c", "loss = [3]"], 2, "loss holds no tensor that has a grad_fn"),
        (["-c", f"{PREAMBLE}loss = x.detach() * 2"], 2, "loss needs no grad"),
        (["-c", f"{PREAMBLE}loss = x"], 2, "loss is a leaf: it has no grad_fn"),
        (
            ["-c", f"{PREAMBLE}loss = x.exp()", "--only", "Nope"],
            2,
            "no node here is a 'Nope'; there are: AccumulateGrad",
        ),
        (["-c", f"{PREAMBLE}loss = x.exp()", "--values", "--format", "dot"], 2, "--values is written as text"),
        (
            ["-c", f"{PREAMBLE}loss = x.exp()", "--values", "--cotangent", "1 +"],
            2,
            "neither a variable of the code nor",
        ),
        (["-c", f"{PREAMBLE}loss = x.exp()", "--values", "--cotangent", "[1, 2, 3]"], 2, "the cotangent has shape [3]"),
        (["-c", f"{PREAMBLE}loss = x.exp()", "--device", "nowhere"], 2, "--device nowhere"),
        (["-c", f"{PREAMBLE}loss = x.exp().sum()\nloss.backward()", "--values"], 2, "freed by a backward pass"),
        (["-c", f"{PREAMBLE}loss = x.exp()", "--device", "meta", "--values"], 2, "hold no numbers"),
        (["-c", "raise ValueError('of the user')"], 1, "ValueError: of the user"),
        (["-c", "this is no Python"], 1, "SyntaxError"),
        (["-c", "import sys; sys.exit(3)"], 1, "the script ended itself with 3"),
    ],
)
def test_what_is_wrong_is_said(trace, arguments, code, words):
    result = trace(*arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert words in result.stderr
    assert "gradcat/" not in result.stderr


def test_a_traceback_is_the_users_own(trace, tmp_path):
    script = tmp_path / "bad.py"
    script.write_text("def inner():\n    return 1 / 0\n\ninner()\n")
    result = trace(str(script))
    assert result.returncode == 1
    assert result.stderr.splitlines()[:5] == [
        "Traceback (most recent call last):",
        f'  File "{script}", line 4, in <module>',
        "    inner()",
        *result.stderr.splitlines()[3:4],
        *result.stderr.splitlines()[4:5],
    ]
    assert "    return 1 / 0" in result.stderr
    assert "ZeroDivisionError" in result.stderr


def test_a_script_that_exits_well_is_traced(trace):
    result = trace("-c", f"{PREAMBLE}import sys\nloss = x.exp()\nsys.exit(0)")
    assert result.returncode == 0
    assert "ExpBackward0" in result.stdout


@pytest.mark.parametrize(
    ("code", "flag", "exit_code", "words"),
    [
        ("loss = (x * 0).sqrt().sum()", "--nan", 1, "SqrtBackward0 is the first node whose vjp is not finite"),
        ("loss = x.exp().sum()", "--nan", 0, "every vjp is finite"),
        ("loss = (x * x).sum()", "--check", 0, "MulBackward0  agrees"),
        ("loss = (x * x).sum()", "--values", 0, "x.grad: [2, 2]"),
        ("loss = (x * x).sum()", "--memory", 0, "2 slots, 16 B if each had memory of its own"),
    ],
)
def test_answers(trace, code, flag, exit_code, words):
    result = trace("-c", PREAMBLE + code, flag)
    assert result.returncode == exit_code, result.stderr
    assert words in result.stdout
    assert json.loads(trace("-c", PREAMBLE + code, flag, "--format", "json").stdout)


def test_pictures_need_graphviz(trace, tmp_path):
    code = f"{PREAMBLE}loss = x.exp()"
    result = trace("-c", code, "--format", "svg", PATH=str(tmp_path))
    assert (result.returncode, result.stdout) == (2, "")
    assert "needs graphviz" in result.stderr
    assert "--format dot or mermaid" in result.stderr
    program = tmp_path / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint('<svg>', len(sys.stdin.read()) > 0, sys.argv[1])\n")
    program.chmod(0o755)
    result = trace("-c", code, "--format", "svg", PATH=str(tmp_path))
    assert (result.returncode, result.stdout) == (0, "<svg> True -Tsvg\n")
    result = trace("-c", code, "--format", "svg", "-o", str(tmp_path / "a.svg"), PATH=str(tmp_path))
    assert (result.returncode, result.stdout) == (0, "")
    assert (tmp_path / "a.svg").read_text() == "<svg> True -Tsvg\n"


def test_colour_where_it_is_asked_for(trace):
    code = f"{PREAMBLE}loss = x.exp()"
    plain, coloured = trace("-c", code).stdout, trace("-c", code, FORCE_COLOR="1").stdout
    assert "\33[" not in plain
    assert "\33[36mExpBackward0" in coloured


def test_a_large_graph_ends_well(trace):
    code = "import torch\nx = torch.ones((), requires_grad=True)\nloss = x\nfor _ in range(100_000): loss = loss * 1"
    result = trace("-c", code)
    assert result.returncode == 0, result.stderr
    assert "100000 nodes, 1 leaf, 100000 edges" in result.stdout
    assert len(result.stdout.splitlines()) < 10
