"""What commands share: the catalog behind the options, and the ways to talk and to write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import GradcatError
from ..library import Library
from ..render import FORMATS, Context

if TYPE_CHECKING:
    from ..store import Reader

F = TypeVar("F", bound=Callable[..., Any])


def talk(message: str) -> None:
    """Say something to the user beside the data."""
    click.echo(message, err=True)


def sources(command: F) -> F:
    """The options --ops, --rules and --import, as the parameters `ops`, `rules` and `imports`."""
    file = click.Path(exists=True)
    for decorate in (
        click.option("--import", "imports", multiple=True, metavar="MODULE", help="Import a module with your own ops."),
        click.option("--rules", multiple=True, type=file, metavar="FILE", help="Add rules of your own; or a folder."),
        click.option("--ops", multiple=True, type=file, metavar="FILE", help="Add probes of your own."),
    ):
        command = decorate(command)
    return command


def format_option(*names: str) -> Callable[[F], F]:
    """The option --format, as the parameter `format`; None where none was chosen."""
    usual = "card on a terminal, text elsewhere" if "card" in names else names[0]
    choice = click.Choice([name for name in FORMATS if name in names])
    return click.option("--format", type=choice, help=f"Default: {usual}.")


def open_library(ops: Sequence[str], rules: Sequence[str], imports: Sequence[str]) -> Library:
    """The catalog that the options stand for."""
    return Library(ops, rules, imports, progress=_progress, warn=lambda message: talk(f"gradcat: {message}"))


def _progress(done: int, total: int, what: str) -> None:
    from .progress import bar  # only a cold start pays for it

    bar(done, total, what)


def terminal() -> bool:
    """Whether stdout shows colours: a terminal, or something that asked for them."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def for_stdout(format: str | None) -> str:
    """The format that was chosen, or a card; a card has colours only where stdout shows them."""
    return format if format not in (None, "card") else "card" if terminal() else "text"


def width() -> int:
    """Columns of the terminal; 80 where there is none, and COLUMNS before both."""
    if (columns := os.environ.get("COLUMNS", "")).isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def context(reader: Reader) -> Context:
    """What renderers know beside the nodes."""
    return Context(reader.torch_version, reader.gradcat_version, width(), reader.find)


def write(pieces: Iterable[str], path: str = "-") -> None:
    """Data to stdout, or whole and at once to a file."""
    if path == "-":
        click.echo("".join(pieces), nl=False, color=True)  # on Windows it also translates the colours
        return
    from .. import files

    try:
        files.write(path, "".join(pieces).encode())
    except OSError as error:
        raise GradcatError(f"{path}: cannot be written: {error.strerror}") from None
