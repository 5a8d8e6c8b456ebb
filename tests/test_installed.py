"""The installed torch is found and told apart without importing it."""

import subprocess
import sys

import pytest
import torch

from gradcat import installed
from gradcat.errors import GradcatError

VERSION_FILES = {
    "__version__ = '2.13.0+cpu'\ndebug = False\ngit_version = 'cf30153c4c131c81'\n": ("2.13.0+cpu", "cf30153c4c13"),
    '__version__ = "2.4.0"\n': ("2.4.0", "unknown"),
    "from typing import Optional\n__version__: str = '2.5.1'\ncuda: Optional[str] = None\ngit_version = 'ab'\n": (
        "2.5.1",
        "ab",
    ),
}


@pytest.fixture
def other_torch(tmp_path, monkeypatch):
    """A folder that stands for the installed torch."""
    monkeypatch.setattr(installed, "folder", lambda package: str(tmp_path))
    return tmp_path


def test_build_is_the_one_that_torch_names():
    build = installed.torch_build()
    assert build.version == torch.__version__
    assert torch.version.git_version.startswith(build.split()[1])


@pytest.mark.parametrize(("text", "expected"), VERSION_FILES.items(), ids=lambda value: str(value)[:20])
def test_version_file(other_torch, text, expected):
    (other_torch / "version.py").write_text(text)
    build = installed.torch_build()
    assert (build.version, build.split()[1]) == expected


def test_version_file_is_not_run(other_torch):
    (other_torch / "version.py").write_text("raise SystemExit('run')\n__version__ = '1'\n")
    assert installed.torch_build().version == "1"


def test_a_torch_that_was_built_again_is_another_build(other_torch):
    import os

    path = other_torch / "version.py"
    path.write_text("__version__ = '2.13.0'\n")
    os.utime(path, (1, 1))
    first = installed.torch_build()
    os.utime(path, (2, 2))
    assert installed.torch_build() != first


def test_no_torch(monkeypatch):
    monkeypatch.setattr(installed, "folder", lambda package: "")
    with pytest.raises(installed.TorchMissing, match=r"not installed in .*; install it there: python -m pip install"):
        installed.torch_build()


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), (b"x = 1\n", "holds no __version__"), (b"\xff\xfe", "cannot be read")],
    ids=["no file", "no version", "not text"],
)
def test_broken_torch(other_torch, content, said):
    if content is not None:
        (other_torch / "version.py").write_bytes(content)
    with pytest.raises(GradcatError, match=rf"version\.py {said}.*install torch again"):
        installed.torch_build()


def test_folder_of_a_package_that_is_not_there():
    assert installed.folder("no_such_package_anywhere") == ""


def test_nothing_of_torch_is_imported():
    code = "import sys, gradcat.installed as i; i.torch_build(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
