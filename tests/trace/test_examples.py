"""The five examples: true numbers, and docs/trace.md as the commands in it print it.

python tests/trace/test_examples.py    writes the outputs in docs/trace.md anew
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "trace.md"
CONSOLE = re.compile(r"```console\n\$ gradcat (?P<command>.*)\n(?P<output>(?:.*\n)*?)```\n")
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def printed(command, **environment):
    """What a command prints; where it fails, also what it says last (a catalog that is built meanwhile says more)."""
    arguments = [sys.executable, "-m", "gradcat", *shlex.split(command)]
    result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=300, **environment)
    said = result.stderr.splitlines(keepends=True)[-1:] if result.returncode else []
    return (result.stdout + "".join(said)).rstrip() + "\n"


def commands():
    return [found["command"] for found in CONSOLE.finditer(PAGE.read_text(encoding="utf-8"))]


def test_every_example_is_on_the_page():
    assert len(EXAMPLES) == 5
    for name in EXAMPLES:
        assert any(f"examples/{name}" in command for command in commands()), name


@pytest.mark.parametrize("command", commands())
def test_the_page_is_true(command, find):
    expected = next(f["output"] for f in CONSOLE.finditer(PAGE.read_text(encoding="utf-8")) if f["command"] == command)
    assert printed(command) == expected, "python tests/trace/test_examples.py writes the page anew"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("chain_rule.py", ["w.grad: 12", "b.grad: 4"]),
        ("higher_order.py", ["x.grad: 6"]),
        ("cotangent.py", ["x.grad: 16"]),
    ],
)
def test_numbers_of_the_examples(name, lines, find):
    assert printed(f"trace examples/{name} --values").splitlines()[-len(lines) :] == lines


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    write = lambda found: f"```console\n$ gradcat {found['command']}\n{printed(found['command'])}```\n"  # noqa: E731
    PAGE.write_text(CONSOLE.sub(write, text), encoding="utf-8")
