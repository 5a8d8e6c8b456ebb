"""The command line, run as a user runs it, with a small catalog in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import samples

from gradcat import files

#: Ends the process where it imports torch or yaml.
GUARD = """
import sys
def refuse(event, arguments):
    if event == "import" and arguments[0] in ("torch", "yaml"):
        raise RuntimeError(f"{arguments[0]} was imported")
sys.addaudithook(refuse)
"""
STORE = """
import samples
from gradcat import store
from gradcat.library import Library
said = []
store.save(Library().key, samples.catalog(), said.append)
assert not said, said
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, whose files nobody edits while the tests run: the cache would no longer fit."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(files.PACKAGE, folder / "gradcat", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(files.ops(), folder / "ops.yaml")
    return folder


@pytest.fixture(scope="session")
def environment(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables for a run from the copy, with the sample catalog in the cache for the installed torch."""
    chosen = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    chosen |= {"GRADCAT_CACHE": str(tmp_path_factory.mktemp("cache"))}
    chosen |= {"PYTHONPATH": os.pathsep.join([str(tree), os.path.dirname(samples.__file__)])}
    subprocess.run([sys.executable, "-c", STORE], env=chosen, cwd=tree, check=True)
    return chosen


@pytest.fixture
def run(environment: dict[str, str], tree: Path) -> Run:
    """Run gradcat with arguments; torch and yaml cannot be imported unless `torch` is set."""

    def run(*arguments: str, torch: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
        code = f"{'' if torch else GUARD}import sys; from gradcat.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", code, *arguments]
        chosen = {**environment, **variables}
        return subprocess.run(command, env=chosen, cwd=tree, capture_output=True, text=True, timeout=120)

    return run
