"""Commands answered from the cache: whole outputs, exit codes, and no torch."""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest

from gradcat import __version__, files
from gradcat.cli import COMMANDS
from gradcat.render.rows import ROWS

LIST = """\
AccumulateGrad     engine      harvested
CudnnRnnBackward0  -           reflected
ExpBackward0       pointwise   verified    exp(self)
MaxBackward0       selection   failed      values = max_dim(self); indices = argmax_dim(self)
MaxBackward1       selection   structural  max(self)
MulBackward0       arithmetic  verified    self ⊙ other
MulBackward1       arithmetic  unverified  self ⊙ other
"""
FOOTER = """\
7 nodes of torch 2.13.0+cpu: 6 harvested, 1 reflected, 2 verified, 1 structural, 1 unverified, 1 failed, 1 todo
2 were not run here yet: gradcat verify
"""


def test_help_and_version(run):
    result = run("--help")
    assert result.returncode == 0
    for name, meaning in COMMANDS.items():
        assert f"  {name} " in result.stdout
        assert meaning.split()[0] in result.stdout
    result = run("--version")
    assert re.fullmatch(rf"gradcat {re.escape(__version__)} · torch \S+\n", result.stdout)
    assert run("-h").stdout == run("--help").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_sentences(run, name):
    result = run(name, "--help")
    assert result.returncode == 0
    examples = result.stdout.partition("Examples:")[2]
    assert f"  gradcat {name}" in examples
    assert importlib.import_module(f"gradcat.cli.{name}").command.help.strip()


def test_help_of_show_explains_every_row(run):
    helped = run("show", "--help").stdout
    for label, meaning, _ in ROWS:
        assert label in helped
        assert meaning in helped
    assert "real part" in helped


def test_list(run):
    result = run("list")
    assert (result.returncode, result.stdout, result.stderr) == (0, LIST, FOOTER)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["max"], ["MaxBackward0", "MaxBackward1"]),
        (["Max*0"], ["MaxBackward0"]),
        (["*backward1"], ["MaxBackward1", "MulBackward1"]),
        (["ul"], ["AccumulateGrad", "MulBackward0", "MulBackward1"]),
        (["Mul"], ["MulBackward0", "MulBackward1"]),
        (["nothing"], []),
        (["--family", "arithmetic"], ["MulBackward0", "MulBackward1"]),
        (["--family", "arithmetic", "--family", "engine"], ["AccumulateGrad", "MulBackward0", "MulBackward1"]),
        (["--status", "verified"], ["ExpBackward0", "MulBackward0"]),
        (["--status", "reflected", "--status", "failed"], ["CudnnRnnBackward0", "MaxBackward0"]),
        (["--status", "todo"], ["MulBackward1"]),
        (["--op", "torch.max"], ["MaxBackward0", "MaxBackward1"]),
        (["--op", "mul", "--status", "verified"], ["MulBackward0"]),
    ],
    ids=" ".join,
)
def test_filters(run, arguments, expected):
    result = run("list", *arguments)
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == expected


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["MulBackward0"], "MulBackward0"),
        (["<ExpBackward0 object at 0x7f1c>"], "ExpBackward0"),
        (["torch.max"], "MaxBackward0"),
        (["Max1"], "MaxBackward1"),
    ],
    ids=lambda value: str(value),
)
def test_show(run, arguments, first):
    result = run("show", *arguments)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith(f" {first}  ")
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_show_says_what_editing_in_place_does(run):
    assert "edit self before backward: safe · edit out: breaks" in run("show", "Exp").stdout


def test_show_several_and_each_once(run):
    titles = [line for line in run("show", "torch.max", "Max1", "Exp").stdout.splitlines() if "torch 2.13" in line]
    assert [title.split()[0] for title in titles] == ["MaxBackward0", "MaxBackward1", "ExpBackward0"]


@pytest.mark.parametrize("format", ["json", "csv", "markdown", "latex", "card", "text"])
@pytest.mark.parametrize("command", ["show MulBackward0", "list MulBackward0"])
def test_formats(run, command, format):
    result = run(*command.split(), "--format", format)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    if format == "json":
        with open(files.schema(), encoding="utf-8") as file:
            jsonschema.validate(json.loads(result.stdout), json.load(file))
    if format == "csv":
        assert [row["name"] for row in csv.DictReader(result.stdout.splitlines())] == ["MulBackward0"]


def test_width_of_what_is_piped(run):
    assert max(map(len, run("show", "Max", COLUMNS="60").stdout.splitlines())) <= 60
    assert max(map(len, run("show", "Max", COLUMNS="nonsense").stdout.splitlines())) <= 80


def test_force_color_and_no_color(run):
    assert "\x1b[32mverified" in run("show", "Exp", FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[32m" not in run("show", "Exp", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "NoSuchBackward0"], ["gradcat: ", "NoSuchBackward0", "neither a node nor an op"]),
        (["show", "Mul", "MulBackwrd0"], ["gradcat: ", "nearest: MulBackward0"]),
        (["show"], ["Missing argument"]),
        (["show", "Mul", "--format", "pdf"], ["pdf", "card", "json"]),
        (["list", "--family", "arithmetik"], ["arithmetik", "families: arithmetic, engine"]),
        (["list", "--status", "good"], ["good", "verified"]),
        (["list", "--op", "torch.nope"], ["torch.nope"]),
        (["export", "--json", "--format", "csv"], ["exclude each other"]),
        (["verify", "--samples", "0"], ["--samples"]),
        (["show", "Mul", "--ops", "missing.yaml"], ["missing.yaml"]),
        (["MulBackward0"], ["no command", "gradcat show MulBackward0"]),
        (["lst"], ["did you mean list"]),
        (["--colour"], ["--colour"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_misuse(run, arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_no_torch_at_all(environment, tree, tmp_path):
    """Where no torch is installed, help still works and everything else says what is missing."""
    import click

    for name in ("click", "rich"):
        os.symlink(os.path.join(os.path.dirname(os.path.dirname(click.__file__)), name), tmp_path / name)
    code = "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p] + [sys.argv.pop(1)]; "
    code += "from gradcat.cli import main; sys.exit(main())"

    def gradcat(*arguments):
        command = [sys.executable, "-c", code, str(tmp_path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tree, timeout=60)

    assert gradcat("--help").returncode == 0
    assert "torch is not installed" in gradcat("--version").stdout
    for command in (["list"], ["show", "Mul"], ["export"], ["probe"], ["verify"], ["coverage"]):
        result = gradcat(*command)
        assert (result.returncode, result.stdout) == (2, ""), result.stderr
        assert re.fullmatch(r"gradcat: torch is not installed in .*; install it there: .*\n", result.stderr)


CLOSED = """
import subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
process.stdout.close()
sys.stderr.write(process.stderr.read().decode())
sys.exit(process.wait())
"""


@pytest.mark.parametrize(
    "arguments", ["show MulBackward0", "list", "list --format json", "--help", "show --help"], ids=str
)
def test_a_closed_pipe_is_silent(environment, tree, arguments):
    command = [sys.executable, "-c", CLOSED, sys.executable, "-m", "gradcat", *arguments.split()]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tree, timeout=60)
    assert result.returncode == 0
    assert result.stderr in ("", FOOTER)


@pytest.mark.parametrize(
    ("redirected", "code", "words"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("> /dev/full", 2, "gradcat: the output cannot be written: No space left on device\n"),
    ],
)
@pytest.mark.parametrize("arguments", ["list --format json", "show MulBackward0"])
def test_streams_that_take_nothing(environment, tree, arguments, redirected, code, words):
    command = f"'{sys.executable}' -m gradcat {arguments} {redirected}"
    done = subprocess.run(command, shell=True, env=environment, cwd=tree, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert words in done.stderr


def test_output_that_the_locale_cannot_encode(run):
    assert "⊙" in run("show", "Mul", PYTHONIOENCODING="ascii").stdout


IMPORTED = """
import sys
from gradcat.cli import main
main(sys.argv[1:])
heavy = ("torch", "yaml", "rich", "pathlib", "importlib.metadata", "gradcat.formula", "gradcat.model", "gradcat.merge")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    ["--help", "show --help", "--version", "show MulBackward0", "show torch.mul_", "list", "list --family engine"],
)
def test_a_warm_start_imports_little(environment, tree, arguments):
    command = [sys.executable, "-c", IMPORTED, *arguments.split()]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tree, timeout=60)
    assert result.returncode == 0
    assert result.stderr.splitlines()[-1] == ""
