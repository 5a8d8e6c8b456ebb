"""The torch that is installed: where it lies and which build it is, read from its files. Nothing of it is imported."""

from __future__ import annotations

import importlib.util
import os
import re
import sys

from .errors import GradcatError


class TorchMissing(GradcatError):
    """There is no torch in this Python, or none whose version can be read. The message names the remedy."""


class Build(str):
    """Text that tells one build of torch from every other: version, commit, time of installation."""

    @property
    def version(self) -> str:
        """As `torch.__version__` says it."""
        return self.partition(" ")[0]


def folder(package: str) -> str:
    """Folder of an installed package, "" where there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # something under this name was imported that has no spec: not an installed package
        return ""
    return next(iter(spec.submodule_search_locations or ()), "") if spec else ""


def torch_folder() -> str:
    """Folder of the installed torch."""
    if found := folder("torch"):
        return found
    raise TorchMissing(f"torch is not installed in {sys.executable}; install it there: python -m pip install torch")


def torch_build() -> Build:
    """Which torch is installed."""
    path = os.path.join(torch_folder(), "version.py")
    try:
        with open(path, encoding="utf-8") as file:
            facts = dict(ASSIGNED.findall(file.read()))
            # A torch that was built again from the same commit differs in nothing but this.
            time = int(os.fstat(file.fileno()).st_mtime)
    except (OSError, UnicodeDecodeError) as error:
        raise TorchMissing(f"{path} cannot be read ({error}): {REPAIR}") from None
    if "__version__" not in facts:
        raise TorchMissing(f"{path} holds no __version__: {REPAIR}")
    return Build(f"{facts['__version__']} {facts.get('git_version', 'unknown')[:12]} {time}")


#: `name = "text"` or `name: type = "text"` at the start of a line.
ASSIGNED = re.compile(r"""^(\w+)(?:\s*:[^=\n]+)?\s*=\s*['"]([^'"\n]*)['"]""", re.MULTILINE)
REPAIR = "this torch is incomplete, or another folder called torch hides it; install torch again, or leave that folder"
