"""gradcat trace: a user's own graph. The one command that runs user code here, and that imports torch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import GradcatError
from .session import open_library, sources, talk, terminal, width

if TYPE_CHECKING:
    from ..render.wrap import Line
    from ..trace.api import Trace

FORMATS = ("table", "tree", "json", "dot", "mermaid", "svg", "png")
IMAGES = ("svg", "png")

HELP = """A graph of your own, node by node: what each edge receives, and where it goes.

TARGET is a script, or package.module:callable; -c takes code. It runs in this process. The graph is that of the
variable `loss`, of --tensor NAME, or of what the callable returns. What the code prints goes through (to stderr where
the answer is JSON or a picture).

\b
Examples:
  gradcat trace train.py
  gradcat trace train.py --memory
  gradcat trace -c "import torch; x = torch.ones(2, requires_grad=True); loss = (x * x).sum()" --values
  gradcat trace package.module:make_loss --tree --depth 8

\b
Lines of the table: number, class, dtype and shape of what the node made, variable or parameter; then for each edge the
argument, what it receives and where that goes (a number or a name), or why nothing flows:
  constant              it needs no grad
  frozen                a parameter whose requires_grad is False
  it cannot move        an index, a mask, a flag
Repeats are folded: "x 12  the 5 lines above". Nodes are grouped by the module during whose call they were made.

\b
Exit codes: 0 good; 1 the code raised, a formula differs (--check), or a vjp is not finite (--nan); 2 misuse, or a
tensor without a graph.
"""


@click.command(help=HELP)
@click.argument("target", default="")
@click.argument("arguments", nargs=-1)
@click.option("-c", "code", metavar="CODE", help="Trace code instead of a script.")
@click.option("--tensor", "names", multiple=True, metavar="NAME", help="The variable; default loss. May be repeated.")
@click.option("--format", type=click.Choice(FORMATS), help="Default: table. svg and png need graphviz.")
@click.option("--tree", is_flag=True, help="The same as --format tree.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Write to a file.")
@click.option("--depth", type=click.IntRange(min=0), help="Only nodes at most so many edges from an output.")
@click.option("--only", multiple=True, metavar="CLASS", help="Only nodes of a class: MulBackward0, mul, 'Mul*'.")
@click.option("--memory", "mode", flag_value="memory", help="What the nodes keep, largest first.")
@click.option("--values", "mode", flag_value="values", help="Numbers: what arrives at each node, and what leaves.")
@click.option("--nan", "mode", flag_value="nan", help="The first node whose vjp is not finite.")
@click.option("--check", "mode", flag_value="check", help="Each formula on your data, against what the node returns.")
@click.option("--cotangent", metavar="NAME|NUMBERS", help="For --values, --nan, --check: a variable, or 1 or [1, 0.5].")
@click.option("--device", default="", help="Make tensors on a device; meta and fake allocate nothing.")
@sources
@click.pass_context
def command(
    click_context: click.Context,
    target: str,
    arguments: tuple[str, ...],
    code: str | None,
    names: tuple[str, ...],
    format: str | None,
    tree: bool,
    output: str,
    depth: int | None,
    only: tuple[str, ...],
    mode: str | None,
    cotangent: str | None,
    device: str,
    ops: tuple[str, ...],
    rules: tuple[str, ...],
    imports: tuple[str, ...],
) -> None:
    format = format or ("tree" if tree else "table")
    if bool(target) == (code is not None):
        raise click.UsageError("give a script, package.module:callable, or -c CODE", click_context)
    if mode and format not in ("table", "json"):
        raise click.UsageError(f"--{mode} is written as text or with --format json, not as {format}", click_context)
    if format == "png" and output == "-" and sys.stdout.isatty():
        raise click.UsageError("png is not for a terminal: -o FILE", click_context)
    library = open_library(ops, rules, imports)
    library.reader()  # a cold start runs before the user's code, not after it
    from ..trace.source import ScriptFailed

    apart = format not in ("table", "tree")
    try:
        traced, variables = _traced(library, target, arguments, code, names, device, apart)
    except ScriptFailed as failure:
        click.echo(str(failure), err=True, nl=False)
        click_context.exit(1)
    exit_code = 0
    if mode:
        given = _cotangents(cotangent, variables, traced)
        exit_code = _answer(traced, mode, given, format, output, traced.choose(depth, only))
    elif format in IMAGES:
        _write_bytes(traced.image(format, traced.choose(depth, only)), output)
    else:
        _show(traced, format, traced.choose(depth, only), output)
    variables.clear()  # the script's tensors go before the graph that holds their nodes: see walk.Graph
    click_context.exit(exit_code)


def _traced(
    library: Any,
    target: str,
    arguments: Sequence[str],
    code: str | None,
    names: Sequence[str],
    device: str,
    apart: bool,
) -> tuple[Trace, dict[str, Any]]:
    """The graph, and the variables of the code that made it."""
    from ..trace import source
    from ..trace.api import Trace
    from ..trace.names import Calls, of_variables
    from ..trace.walk import Graph

    calls = Calls()
    with source.on_device(device), source.printing_to(sys.stderr if apart else None), calls.watch():
        if code is not None:
            variables = vars(source.run_code(code))
        elif ":" in target and not target.endswith(".py"):
            variables, names = {"loss": source.run_callable(target)}, ()
        else:
            variables = vars(source.run_file(target, arguments))
    if not apart:
        sys.stdout.flush()
    found = source.pick(variables, names or ("loss",))
    return Trace(
        Graph(found), of_variables(variables, calls), lambda name: library.read(lambda r: r.find(name))
    ), variables


def _cotangents(given: str | None, variables: Mapping[str, Any], traced: Trace) -> list[Any] | None:
    """The cotangent of the one output: a variable's value, or numbers."""
    if given is None:
        return None
    import ast

    import torch

    if given in variables:
        value = variables[given]
    else:
        try:
            value = ast.literal_eval(given)
        except (ValueError, SyntaxError):
            raise GradcatError(f"--cotangent {given}: neither a variable of the code nor numbers") from None
    if isinstance(value, (tuple, list)) and all(isinstance(item, torch.Tensor) for item in value):
        return list(value)
    output = traced.graph.outputs[0]
    try:
        return [torch.as_tensor(value, dtype=output.dtype, device=output.device)]
    except (TypeError, ValueError, RuntimeError) as error:
        raise GradcatError(f"--cotangent {given}: {error}") from None


def _show(traced: Trace, format: str, chosen: Sequence[int], output: str) -> None:
    """The graph, written as it is made; in colour and wrapped on a terminal."""
    from ..trace.api import TEXT

    if format in TEXT and output == "-" and terminal():
        _stream(_painted(TEXT[format](traced.lines, chosen)), output)
        _stream((f"{line}\n" for line in traced.remarks(len(chosen))), output)
    else:
        _stream(traced.text(format, chosen), output)


def _painted(lines: Iterable[Line]) -> Iterator[str]:
    from ..render.paint import Paint
    from ..render.wrap import wrap

    paint, columns = Paint(), width()
    for line in lines:
        yield from (f"{paint(part)}\n" for part in wrap(line, columns, 8))


def _answer(
    traced: Trace, mode: str, cotangents: list[Any] | None, format: str, output: str, chosen: Sequence[int]
) -> int:
    """Write one of the other answers; the exit code."""
    import json

    from ..record import encode
    from ..trace import check, memory, nan, values

    _ready(traced, mode)
    lines, code = traced.lines, 0
    if mode == "memory":
        found = traced.memory()
        text, data = memory.report(found, MANY), memory.as_json(found)
    elif mode == "values":
        numbers = traced.values(cotangents)
        text, data = values.report(lines, numbers, frozenset(chosen)), values.as_json(lines, numbers)
    elif mode == "nan":
        culprit = traced.nan(cotangents)
        code = int(culprit is not None)
        text = nan.report(lines, culprit) if culprit else iter(["every vjp is finite"])
        data = {"first": encode(culprit)}
    else:
        outcomes = traced.check(cotangents)
        code = int(any(outcome.status == "differs" for outcome in outcomes))
        text, data = check.report(lines, outcomes), {"nodes": encode(outcomes)}
    if format == "json":
        text = iter([json.dumps(data, indent=2, ensure_ascii=False, default=str)])
    _stream((f"{line}\n" for line in text), output)
    return code


#: How many storages --memory lists.
MANY = 30


def _ready(traced: Trace, mode: str) -> None:
    """Refuse what needs a backward pass where none can run."""
    if mode != "memory" and traced.hazards:
        last = traced.hazards[-1]
        why = "; ".join(hazard.text for hazard in traced.hazards[:1])
        raise GradcatError(f"--{mode} needs a backward pass, and {last.text}: {why}")


def _stream(pieces: Iterable[str], output: str) -> None:
    """Write text piece by piece."""
    if output != "-":
        _write_bytes("".join(pieces).encode(), output)
        return
    for piece in pieces:
        sys.stdout.write(piece)


def _write_bytes(data: bytes, output: str) -> None:
    from .. import files

    if output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    try:
        files.write(output, data)
    except OSError as error:
        raise GradcatError(f"{output}: cannot be written: {error.strerror}") from None
    talk(f"wrote {output}")
