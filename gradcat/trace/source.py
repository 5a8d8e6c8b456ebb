"""Where the tensors come from: a script, code, or a callable of a module, run in this process."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.abc
import importlib.util
import linecache
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any, TextIO

import torch

from ..errors import GradcatError


class ScriptFailed(Exception):
    """What a user's code raised. The message is its own traceback."""


class Text(importlib.abc.InspectLoader):
    """A script's text as Python loads a module: its tracebacks show its lines, and it leaves no compiled file."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.place)


def run_file(path: str, arguments: Sequence[str] = ()) -> ModuleType:
    """The module `__main__` of a script, after it has run."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise GradcatError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GradcatError(f"{path}: cannot be read: {error}") from None
    return _run(Text(text, path), os.path.dirname(os.path.abspath(path)), [path, *arguments])


def run_code(code: str) -> ModuleType:
    """The module `__main__` of code that was given as text."""
    return _run(Text(code, "<code>"), "", ["-c"])


def _run(loader: Text, folder: str, arguments: list[str]) -> ModuleType:
    spec = importlib.util.spec_from_loader("__main__", loader, origin=loader.place)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(__file__=loader.place, __builtins__=builtins)
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"], sys.argv = module, arguments
    sys.path.insert(0, folder)
    try:
        with own_traceback(loader.place):
            loader.exec_module(module)
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
    return module


def run_callable(target: str) -> Any:
    """What `package.module:callable` returns when it is called."""
    module_name, _, path = target.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise GradcatError(f"{target}: there is no module {error.name!r} here or among what is installed") from None
        raise ScriptFailed(traceback.format_exc()) from None
    except Exception:
        raise ScriptFailed(traceback.format_exc()) from None
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise GradcatError(f"{target}: {module_name} has no {path!r}")
        found = getattr(found, name)
    if not callable(found):
        raise GradcatError(f"{target}: it is a {type(found).__name__}, not a callable")
    with own_traceback(""):
        return found()


@contextlib.contextmanager
def own_traceback(place: str) -> Iterator[None]:
    """Turn what a user's code raises into its traceback, without the frames that led to the code."""
    try:
        yield
    except SystemExit as end:
        if end.code not in (None, 0):
            raise ScriptFailed(f"the script ended itself with {end.code!r}\n") from None
    except Exception as error:
        raise ScriptFailed("".join(traceback.format_exception(type(error), error, _frames(error, place)))) from None


def _frames(error: BaseException, place: str) -> Any:
    """The part of a traceback that begins in the user's code."""
    frames = error.__traceback__
    while frames and (
        frames.tb_frame.f_code.co_filename != place if place else frames.tb_frame.f_code.co_filename == __file__
    ):
        frames = frames.tb_next
    return frames


@contextlib.contextmanager
def on_device(device: str) -> Iterator[None]:
    """Make tensors on a device while user code runs; "fake" tensors have a device and a shape, and no numbers."""
    if not device:
        yield
    elif device == "fake":
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode(allow_non_fake_inputs=True):
            yield
    else:
        try:
            chosen = torch.device(device)
        except RuntimeError as error:
            raise GradcatError(f"--device {device}: {str(error).splitlines()[0]}") from None
        with chosen:
            yield


@contextlib.contextmanager
def printing_to(stream: TextIO | None) -> Iterator[None]:
    """Send what user code prints somewhere else, where stdout is for data alone."""
    if stream is None:
        yield
        return
    with contextlib.redirect_stdout(stream):
        yield


def pick(variables: Mapping[str, Any], names: Sequence[str]) -> list[torch.Tensor]:
    """The tensors that variables hold."""
    found: list[torch.Tensor] = []
    for name in names:
        if name not in variables:
            traced = [n for n, v in variables.items() if isinstance(v, torch.Tensor) and v.grad_fn is not None]
            hint = f"--tensor names another: {', '.join(traced[:8])}" if traced else "no variable has a grad_fn"
            raise GradcatError(f"there is no variable {name!r} at the end; {hint}")
        found += tensors(variables[name], name)
    return found


def tensors(value: Any, name: str) -> list[torch.Tensor]:
    """Every tensor of a value that has a graph behind it. One that is alone must have one."""
    if isinstance(value, torch.Tensor):
        if not value.requires_grad:
            why = "nothing that it was made from requires grad, or it was detached, or made under no_grad"
            raise GradcatError(f"{name} needs no grad: {why}")
        if value.grad_fn is None:
            raise GradcatError(f"{name} is a leaf: it has no grad_fn, and there is no graph behind it")
        return [value]
    items = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(items, (list, tuple)):
        raise GradcatError(f"{name} is a {type(value).__name__}, not a tensor")
    found = [item for item in items if isinstance(item, torch.Tensor) and item.grad_fn is not None]
    if not found:
        raise GradcatError(f"{name} holds no tensor that has a grad_fn")
    return found
