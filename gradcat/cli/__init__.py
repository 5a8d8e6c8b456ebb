"""The command line: one thin module for each command, imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from ..errors import GradcatError

#: Command -> what it does, in one line. Each is the module of that name and the `command` in it.
COMMANDS = {
    "show": "Cards of nodes: what made them, their formulas, what they keep, and the proof.",
    "list": "All nodes, or those that fit, one line each.",
    "export": "Everything about all nodes, as JSON, CSV, Markdown or LaTeX.",
    "probe": "Run the probes of ops.yaml and say which nodes each makes.",
    "verify": "Run the formulas against the ops and against finite differences.",
    "coverage": "What is known, what is not, and why.",
    "trace": "A graph of your own, node by node: formulas, memory, numbers.",
}


class Group(click.Group):
    """A group that knows its commands by name and imports one when it runs."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return importlib.import_module(f"{__name__}.{name}").command if name in COMMANDS else None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"commands: {', '.join(COMMANDS)}"
            raise click.UsageError(
                f"no command {args[0]!r}; {hint} A node is shown by: gradcat show {args[0]}", context
            )
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    from .. import __version__
    from ..installed import TorchMissing, torch_build

    try:
        torch = f"torch {torch_build().version}"
    except TorchMissing:
        torch = "torch is not installed"
    click.echo(f"gradcat {__version__} · {torch}")
    context.exit()


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show versions.")
def cli() -> None:
    """The reference for PyTorch's autograd nodes.

    \b
    Examples:
      gradcat show MulBackward0
      gradcat show "<ExpBackward0 object at 0x7f1c>" torch.max
      gradcat list --status verified 'Max*'
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Its exit code: 0 good, 1 a check failed, 2 misuse or an unknown name, 130 interrupted."""
    try:
        _streams()
        code = cli.main(args=arguments, prog_name="gradcat", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as misuse:
        misuse.show()
        return misuse.exit_code
    except GradcatError as error:
        click.echo(f"gradcat: {error}", err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("gradcat: interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit):  # SystemExit is click's answer to a closed pipe
        _discard(sys.stdout)  # the reader has what it wanted
        return 0
    except OSError as error:  # a full disk, a terminal that is gone
        _discard(sys.stdout)
        click.echo(f"gradcat: the output cannot be written: {error.strerror}", err=True)
        return 2
    finally:
        if progress := sys.modules.get(f"{__name__}.progress"):
            progress.bar.close()  # an error must not leave a half-drawn bar


def _discard(stream: TextIO) -> None:
    """What is still in the buffer must not raise again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _streams() -> None:
    """Formulas hold more than ASCII: UTF-8 to files and pipes, and no failure on a terminal that cannot show it.

    A stream that was closed before Python began (`>&-`) swallows what it is given.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  (as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure and stream.isatty():
            reconfigure(errors="replace")
        elif reconfigure:
            reconfigure(encoding="utf-8")
