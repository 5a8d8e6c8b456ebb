"""The rows of a card: what each says of a node. A row without content is not printed; what is not known says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..row import is_relation
from ..words import ABSENT, GREEK
from .wrap import HARD, Line, Piece, columns, hard, length, wrap

if TYPE_CHECKING:
    from ..model import Edge, Formula, Node
    from . import Context

Lines = list[Line]

#: Between items; it stays with what is before it.
DOT: Piece = ("quiet", f"{HARD}· ")
#: How many calls, ops and siblings a card lists before it counts the rest.
MANY = 8


def out(name: str) -> str:
    """An output as formulas print it."""
    return "out" + name[6:] if name == "result" or name.startswith("result[") else name


def letter(name: str) -> str:
    """A name as formulas print it: mu2 is μ2, and grad_mu2 is ∂L/∂μ2."""
    if name.startswith("grad_"):
        return f"∂L/∂{letter(name[5:])}"
    stem = name.rstrip("0123456789")
    return GREEK.get(stem, stem) + name[len(stem) :]


def shown(formula: Formula) -> str:
    """A formula in plain text."""
    return formula.text or formula.code


def listed(items: Iterable[str], width: int, style: str = "", many: int = MANY) -> Lines:
    """Items between dots; beyond `many` they are counted."""
    items = list(items)
    rest = len(items) - many
    pieces: Line = []
    for item in items if rest <= 1 else items[:many]:
        pieces += [DOT, (style, hard(item))] if pieces else [(style, hard(item))]
    if rest > 1:
        pieces += [DOT, ("quiet", hard(f"and {rest} more"))]
    return wrap(pieces, width, 2) if pieces else []


def equations(left: list[str], right: list[str], width: int, margin: list[str] | None = None) -> Lines:
    """`left = right`, the equals signs in one column, long formulas wrapped under their beginning."""
    lines: Lines = []
    column = max((len(text) for text in left), default=0)
    room = max((len(text) + 3 for text in margin), default=0) if margin and any(margin) else 0
    for i, formula in enumerate(right):
        head = f"{left[i]:<{column}} = " if left[i] else ""
        hang = len(head) if width - room - len(head) >= 24 else 4
        if len(head) + len(formula) > width - room:
            formula = "; ".join(map(hard, formula.split("; ")))  # between the cases of a choice first
        wrapped = wrap([("symbol", head), ("formula", formula)], width - room, hang)
        if room and margin and margin[i]:
            wrapped[0] += [("quiet", margin[i].rjust(width - length(wrapped[0])))]
        lines += wrapped
    return lines


def known(node: Node, context: Context, width: int) -> Lines:
    if node.status != "harvested":
        return wrap([("unsure", node.status), ("", f": {node.reason or 'no probe makes it'}")], width)
    unreal = node.device not in ("", "cpu")
    how = node.how or (f"on the {node.device} device" if unreal else "")
    limits = "; its class, edges and saved names are real, it has no values" if unreal else ""
    return wrap([("", f"harvested: {how}{limits}")], width) if how else []


def see(node: Node, context: Context, width: int) -> Lines:
    """A command: it is not wrapped, so that a copy of it runs."""
    return [[("code", line)] for line in node.check.splitlines()]


def made_by(node: Node, context: Context, width: int) -> Lines:
    return listed(node.calls, width, many=4)


def also_in(node: Node, context: Context, width: int) -> Lines:
    direct = " ".join(node.calls)
    return listed((op for op in node.ops if f"{op.rpartition('.')[2]}(" not in direct), width, "quiet")


def schema(node: Node, context: Context, width: int) -> Lines:
    signature = (
        hard(node.schema).replace(hard(", "), ", ").replace(hard(" -> "), " -> ")
    )  # no line ends inside an argument
    return wrap([("quiet", f"aten::{signature}")], width, 2) if signature else []


def defined(node: Node, context: Context, width: int) -> Lines:
    return wrap([("", node.where_defined)], width, 2) if node.where_defined else []


def siblings(node: Node, context: Context, width: int) -> Lines:
    lines: Lines = []
    shown = node.siblings if len(node.siblings) <= MANY else node.siblings[: MANY - 1]
    column = max((len(name) for name in shown if len(name) <= width // 2), default=0) + 2
    for name in shown:
        other = context.lookup(name)
        op = other.schema.partition("(")[0] if other else ""
        call = next(iter(other.calls), "") if other else ""
        call = f"{call}  aten::{op}" if call and op and op not in call else call or op
        if len(name) + 2 > column or column + len(call) > width:  # the call goes below, whole
            lines += [[("name", name)], *wrap([("", "  "), ("quiet", call)], width, 4)]
        else:
            lines.append([("name", name.ljust(column)), ("quiet", call)])
    rest = len(node.siblings) - len(shown)
    return [*lines, [("quiet", f"and {rest} more")]] if rest else lines


def aligned(table: list[list[Piece]], width: int) -> Lines:
    """Rows of cells in columns; what does not fit goes on under the last cell."""
    lines: Lines = []
    for line in columns(table):
        hang = length(line[:-1])
        lines += wrap(line, width, hang if hang < width * 2 / 3 else 2)
    return lines


def forward(node: Node, context: Context, width: int) -> Lines:
    formulas = node.forward.items()
    left = [
        "" if is_relation(formula) else name if name.startswith("grad_") else letter(name or "out")
        for name, formula in formulas
    ]
    return equations(left, [shown(formula) for _, formula in formulas], width)


def where(node: Node, context: Context, width: int) -> Lines:
    return equations([letter(name) for name in node.where], [shown(formula) for formula in node.where.values()], width)


def backward(node: Node, context: Context, width: int) -> Lines:
    lines: Lines = []
    formulas = [vjp for vjp in node.backward if vjp.formula]
    margin = [edge_of(node, vjp.input) for vjp in formulas]
    lines += equations(
        [f"∂L/∂{vjp.input}" for vjp in formulas], [shown(vjp.formula) for vjp in formulas if vjp.formula], width, margin
    )
    table: list[list[Piece]] = []
    for vjp in node.backward:
        if not vjp.formula:
            meaning = vjp.reason or ABSENT.get(vjp.absent, "")
            style = "unsure" if vjp.absent == "todo" else "word"
            table.append([("symbol", vjp.input), (style, vjp.absent), ("quiet", meaning)])
    return lines + aligned(table, width)


def edge_of(node: Node, name: str) -> str:
    """The edges along which an input's vjp goes: "edge 0"."""
    found = [str(edge.position) for edge in node.edges if edge.connected and is_of(edge, name)]
    return f"edge{'s' if len(found) > 1 else ''} {' '.join(found)}" if found else ""


def is_of(edge: Edge, name: str) -> bool:
    """Whether an edge belongs to an input, or to a tensor in it."""
    return edge.input == name or edge.input.startswith(f"{name}[")


def edges(node: Node, context: Context, width: int) -> Lines:
    inputs = [vjp.input for vjp in node.backward]
    if all(any(is_of(edge, name) for name in inputs) for edge in node.edges):
        return []  # they stand beside the formulas
    return listed(
        (f"{edge.position} {(edge.input or 'unknown') if edge.connected else 'None'}" for edge in node.edges), width
    )


def local(node: Node, context: Context, width: int) -> Lines:
    found = [(vjp.input, shown(vjp.local)) for vjp in node.backward if vjp.local]
    output = next((name for name in node.forward if name), "out")
    left = [f"∂{output}/∂{name}" for name, _ in found]
    apart = [f"{head} = {formula}" for head, (_, formula) in zip(left, found, strict=True)]
    if len(apart) > 1 and sum(map(len, apart)) + 6 * (len(apart) - 1) <= width:
        pieces: Line = []
        for head, (_, formula) in zip(left, found, strict=True):
            pieces += [*([("", " " * 6)] if pieces else []), ("symbol", f"{head} = "), ("local", formula)]
        return [pieces]
    return [
        [("local" if style == "formula" else style, text) for style, text in line]
        for line in equations(left, [formula for _, formula in found], width)
    ]


def saved(node: Node, context: Context, width: int) -> Lines:
    table: list[list[Piece]] = []
    sizes = [f"{entry.bytes} B" if entry.bytes else "" for entry in node.saved]
    room = max(map(len, sizes), default=0)
    for entry, size in zip(node.saved, sizes, strict=True):
        of = f"{entry.role} {out(entry.of)}" if entry.of and out(entry.of) != out(entry.name) else entry.role
        layout = f"{entry.dtype} {list(entry.shape)}" if entry.shape is not None else ""
        measured = [("quiet", size.rjust(room)), ("quiet", layout)]
        table.append([("name", out(entry.name)), ("", of), *measured, ("", entry.when)])
    if not any(row[3][1] for row in table):
        table = [[*row[:2], row[4]] for row in table]
    return aligned(table, width)


def in_place(node: Node, context: Context, width: int) -> Lines:
    effects: dict[str, list[str]] = {}
    for name, effect in node.facts.in_place.items():
        effects.setdefault(effect, []).append(out(name))
    pieces: Line = []
    for effect, names in effects.items():
        several = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
        edit = f"edit {several}: " if pieces else f"edit {several} before backward: "
        pieces += [DOT] if pieces else []
        pieces += [("", hard(edit) if len(names) < 4 else edit), (style_of(effect), effect)]
    return wrap(pieces, width, 2) if pieces else []


def again(node: Node, context: Context, width: int) -> Lines:
    effect = node.facts.second_backward
    if not effect:
        return []
    why = " (saved tensors freed)" if effect == "raises" else ""
    pieces = [("", "second backward without retain_graph: "), (style_of(effect), effect), ("quiet", why)]
    return wrap(pieces, width, 2)


def orders(node: Node, context: Context, width: int) -> Lines:
    facts, pieces = node.facts, Line()
    if facts.double_backward:
        pieces += [("", "double backward: "), (style_of(facts.double_backward), facts.double_backward)]
        if facts.double_backward == "constant":
            pieces.append(("quiet", " (the vjp does not depend on the inputs)"))
        elif facts.double_backward_error:
            pieces.append(("quiet", f" ({facts.double_backward_error})"))
        if facts.through:
            pieces.append(("", f" through {', '.join(facts.through)}"))
    if facts.forward_mode:
        pieces += [DOT] if pieces else []
        pieces += [("", hard("forward mode: ")), (style_of(facts.forward_mode), facts.forward_mode)]
    return wrap(pieces, width, 2) if pieces else []


def style_of(effect: str) -> str:
    """Style of a measured effect."""
    return {"works": "good", "raises": "bad", "breaks": "bad", "safe": "good"}.get(effect, "")


PROOF = {"verified": "good", "raises": "good", "failed": "bad"}


def checked(node: Node, context: Context, width: int) -> Lines:
    proof = node.verification
    if not (node.forward or node.backward):
        instead = "; upstream's expressions are below" if node.upstream else ""
        return wrap([("unsure", "no formulas yet"), ("", instead)], width)
    pieces: Line = [(PROOF.get(proof.status, "unsure"), proof.status)]
    pieces += [("", f": {proof.reason}")] if proof.reason else []
    for check in ("forward", "vjp", "numeric"):
        error = getattr(proof, f"{check}_error")
        if error is not None:
            pieces += [DOT, ("", hard(f"{check} {error:.0e}" if error else f"{check} 0"))]
    said = [" ".join(proof.dtypes)] if proof.dtypes else []
    said += [f"{proof.probes} probe{'s' * (proof.probes != 1)}"] if proof.probes else []
    for text in said:
        pieces += [DOT, ("", hard(text))]
    return wrap(pieces, width, 2)


def notes(node: Node, context: Context, width: int) -> Lines:
    return [line for note in node.notes for line in wrap([("", note)], width, 2)]


def deviations(node: Node, context: Context, width: int) -> Lines:
    return [line for text in node.deviations for line in wrap([("bad", text)], width, 2)]


def like(node: Node, context: Context, width: int) -> Lines:
    return wrap([("", f"the rule is that of {node.like}")], width) if node.like else []


def source(node: Node, context: Context, width: int) -> Lines:
    return wrap([("", node.source)], width, 2) if node.source else []


def upstream(node: Node, context: Context, width: int) -> Lines:
    inputs: dict[str, list[str]] = {}
    for name, code in node.upstream.formulas.items() if node.upstream else ():
        inputs.setdefault(code, []).append(name)
    return [
        line for code, names in inputs.items() for line in wrap([("quiet", f"{', '.join(names)}: {code}")], width, 2)
    ]


def snippet(node: Node, context: Context, width: int) -> Lines:
    """Lines to paste: they are not wrapped, so that a copy of them runs."""
    if not node.snippet:
        return []
    lines: Lines = [[("quiet", ">>> "), ("code", line)] for line in node.snippet.splitlines()]
    return [*lines, [("quiet", f"<{node.name} object at 0x...>")]]


#: Label, what it means (`gradcat show --help`), and the row. "" is a blank line.
ROWS: tuple[tuple[str, str, Callable[[Node, Context, int], Lines]], ...] = (
    ("known", "how it is known, where that is not by running a plain call", known),
    ("see", "a command that shows why no probe makes it", see),
    ("made by", "calls that make the node here, and nothing else", made_by),
    ("also in", "ops with this node somewhere in their graph", also_in),
    ("schema", "the ATen operator whose derivative it is", schema),
    ("defined", "the Python class behind it", defined),
    ("siblings", "nodes of the op's other overloads, and a call that makes each", siblings),
    ("", "", lambda node, context, width: []),
    ("forward", "what the op computes, or the relation that its outputs satisfy (==)", forward),
    ("", "", lambda node, context, width: []),
    ("backward", "what each input receives, and the item of next_functions that it goes to", backward),
    ("where", "names used in the formulas", where),
    ("local", "the same with the cotangent taken out", local),
    ("edges", "items of next_functions and their inputs, where no formula shows them", edges),
    ("", "", lambda node, context, width: []),
    ("saved", "what it keeps for backward: role, bytes and shape at the probe, when", saved),
    ("in place", "whether editing a tensor between forward and backward breaks backward", in_place),
    ("again", "whether a second backward pass works without retain_graph", again),
    ("orders", "higher derivatives: double backward, and forward-mode differentiation", orders),
    ("", "", lambda node, context, width: []),
    ("checked", "largest relative error of each formula: against the op, autograd, finite differences", checked),
    ("notes", "conventions, and kinks: inputs at which the derivative is a choice", notes),
    ("deviates", "where torch's vjp is not the derivative, with the numbers", deviations),
    ("like", "another node whose rule it shares", like),
    ("source", "where a formula comes from, where it is not textbook", source),
    ("upstream", "PyTorch's own C++ expression for each input", upstream),
    ("try", "lines to paste to see the node appear", snippet),
)
