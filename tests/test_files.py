"""Files are put in place whole, or not at all."""

from __future__ import annotations

import os
import threading

import pytest

from gradcat import files


def test_what_ships_is_found():
    for path in (files.ops(), files.rules(), files.schema()):
        assert os.path.exists(path)
    assert files.yaml_files(files.ops()) == [files.ops()]
    assert all(path.endswith(".yaml") for path in files.yaml_files(files.rules()))


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "out"
    files.write(str(path), b"one")
    files.write(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["out"]
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write(str(tmp_path / "link"), b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"one"


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    files.write(str(tmp_path / "pipe"), b"one")
    reader.join(10)
    assert got == [b"one"]


def test_nothing_is_left_behind_on_failure(tmp_path, monkeypatch):
    (tmp_path / "out").write_bytes(b"old")

    def fail(*paths):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write(str(tmp_path / "out"), b"new")
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"
    with pytest.raises(FileNotFoundError):
        files.write(str(tmp_path / "missing" / "out"), b"new")
