"""What the README tells the reader to write and to type works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
FILES = ("my_ops.py", "my_probes.yaml", "my_rules.yaml")


def block(name):
    """The block of code that opens with a comment which names a file."""
    return re.search(rf"```\w+\n(# {re.escape(name)}\n.*?)```", README, re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text(block(name), encoding="utf-8")
    return tmp_path


def gradcat(folder, *arguments):
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from gradcat.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", path, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_own_op_is_verified(folder):
    command = re.search(r"^gradcat (verify CubeBackward .*)$", README, re.MULTILINE)[1].split()
    done = gradcat(folder, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("CubeBackward  verified")


def test_own_op_that_is_wrong_fails(folder):
    (folder / "my_ops.py").write_text(block("my_ops.py").replace("return 3 * grad", "return 2 * grad"))
    done = gradcat(
        folder, *["verify", "CubeBackward", "--ops", "my_probes.yaml", "--rules", "my_rules.yaml", "--import", "my_ops"]
    )
    assert done.returncode == 1
    assert "CubeBackward.x: vjp is off by" in done.stdout


def test_commands_of_the_table_are_commands():
    from gradcat.cli import COMMANDS

    named = set(re.findall(r"`gradcat (\w+)", README))
    assert named
    assert named <= set(COMMANDS)


CONSOLE = re.findall(r"```console\n\$ (gradcat [^\n#]*?) *(?:#[^\n]*)?\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_output_is_what_is_printed(monkeypatch, command, shown):
    from gradcat.installed import torch_build
    from gradcat.merge import TESTED

    if torch_build().version.partition("+")[0] not in TESTED:
        pytest.skip("the README shows another torch")
    monkeypatch.setenv("COLUMNS", "80")
    printed = gradcat(ROOT, *command.split()[1:]).stdout
    assert stable(printed) == stable(shown)


def stable(text):
    """The lines without those that differ from machine to machine: torch's build, and errors of rounding."""
    lines = text.rstrip().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(" checked")), len(lines))
    last = next((i for i in range(first + 1, len(lines)) if not lines[i].startswith("   ")), len(lines))
    return [line.partition(" · torch ")[0] for line in lines[:first] + lines[last:]]
