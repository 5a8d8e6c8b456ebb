"""The records that flow through gradcat: plain, frozen, and the same in memory, in the cache and in the JSON export."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .words import ABSENT as ABSENT

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment


@dataclass(frozen=True, slots=True)
class Probe:
    """One entry of ops.yaml: an op and sample inputs for it."""

    call: str
    inputs: dict[str, str]  # name -> sampler expression, evaluated in order
    family: str
    device: str = "cpu"  # "cpu" or "meta"
    needs: str = ""  # a condition of the installed torch: see probe.worker.NEEDS
    kernel: str = ""  # meta only: expression for the output's shape, registered while the probe runs
    dispatch: str = ""  # a dispatch key that is forced on the op
    heavy: str = ""  # why it costs far more than torch's own import: left out of the first build
    kink: str = ""  # the inputs lie on a kink, and which: finite differences are not asked
    cotangent: dict[str, str] = field(default_factory=dict)  # output -> expression, where a random one is not allowed
    direction: dict[str, str] = field(default_factory=dict)  # input -> expression in `direction`, to stay in a domain
    deviation: str = ""  # torch's vjp is known not to be the derivative here, and why: kept as a finding
    notes: str = ""
    place: str = ""  # file:line, for messages


@dataclass(frozen=True, slots=True)
class Formula:
    """One expression: the text that is run, and how it is printed."""

    code: str
    text: str = ""
    latex: str = ""


@dataclass(frozen=True, slots=True)
class Vjp:
    """What one input of a node receives: a formula, or the word that says why there is none."""

    input: str
    formula: Formula | None = None
    local: Formula | None = None  # the local derivative, where the output is scaled by the cotangent alone
    absent: str = ""  # a key of ABSENT
    reason: str = ""  # for todo


@dataclass(frozen=True, slots=True)
class Rule:
    """The hand-written entry of one node. `forward` has "" as key where there is one output."""

    node: str
    family: str
    forward: dict[str, str] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    backward: dict[str, str] = field(default_factory=dict)  # input -> formula, or a key of ABSENT
    reasons: dict[str, str] = field(default_factory=dict)  # input -> reason of a todo
    like: str = ""
    unverified: str = ""  # why no probe can prove it
    notes: tuple[str, ...] = ()
    source: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """One thing that the node keeps for backward."""

    name: str
    role: str  # input, result, index, size, number, flag, text, other
    of: str = ""  # the argument or output whose storage it shares
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    bytes: int = 0
    when: str = "always"  # or "when other needs grad"


@dataclass(frozen=True, slots=True)
class Edge:
    """One item of next_functions: where the vjp of one argument goes."""

    position: int
    input: str  # the argument, "" where none of the probe's inputs was found there
    connected: bool = True  # False for None: that argument needs no grad


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured on the probe: never typed by hand. None where it could not be measured."""

    in_place: dict[str, str] = field(default_factory=dict)  # argument or output -> "safe" | "breaks"
    second_backward: str = ""  # "works" | "raises"
    double_backward: str = ""  # "works" | "raises" | "constant"
    double_backward_error: str = ""  # torch's words, where it raises
    through: tuple[str, ...] = ()  # node classes that the double backward adds
    forward_mode: str = ""  # "works" | "raises"


@dataclass(frozen=True, slots=True)
class Verification:
    """The evidence for a rule: the largest error of each check over all of its probes."""

    status: str  # verified, raises, structural, unverified, failed
    reason: str = ""
    forward_error: float | None = None
    vjp_error: float | None = None
    numeric_error: float | None = None
    dtypes: tuple[str, ...] = ()
    probes: int = 0


@dataclass(frozen=True, slots=True)
class Upstream:
    """What PyTorch's own derivative table says of the node."""

    formulas: dict[str, str] = field(default_factory=dict)  # input -> C++ expression
    forward_mode: dict[str, str] = field(default_factory=dict)  # output -> C++ expression of the jvp
    saved_inputs: tuple[str, ...] = ()
    saved_outputs: tuple[str, ...] = ()
    non_differentiable_outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """Everything that gradcat knows of one node class."""

    name: str
    family: str = ""
    kind: str = "generated"  # generated, engine, python; unlisted: a class that torch does not list
    schema: str = ""  # aten schema, "mul.Tensor(Tensor self, Tensor other) -> Tensor"
    ops: tuple[str, ...] = ()  # public names whose call makes the node: "torch.mul"
    calls: tuple[str, ...] = ()  # the calls that made it here, as in ops.yaml
    probes: tuple[int, ...] = ()  # the probes that make it alone, by their place in the files
    status: str = "reflected"  # harvested, reflected
    reason: str = ""  # why it is only reflected
    check: str = ""  # a command by which a reader can see that the reason holds
    device: str = ""  # where the harvest ran: cpu, meta
    how: str = ""  # how the probe reached it, where that is not the plain call
    forward: dict[str, Formula] = field(default_factory=dict)
    where: dict[str, Formula] = field(default_factory=dict)
    backward: tuple[Vjp, ...] = ()
    like: str = ""
    saved: tuple[Saved, ...] = ()
    edges: tuple[Edge, ...] = ()
    outputs: tuple[str, ...] = ()  # "float64 [2, 3]"
    facts: Facts = Facts()
    siblings: tuple[str, ...] = ()
    verification: Verification = Verification("unverified", "not run yet")
    upstream: Upstream | None = None
    snippet: str = ""
    notes: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()  # where torch's vjp is known not to be the derivative, with the numbers
    source: str = ""
    where_defined: str = ""  # python nodes: module, file and line

    def __repr__(self) -> str:
        return f"<Node {self.name}>"

    def __str__(self) -> str:
        from .render import objects

        return objects.text(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from .render import objects

        return objects.segments(self, console, options)

    def _repr_markdown_(self) -> str:
        from .render import objects

        return objects.markdown(self)

    def _repr_latex_(self) -> str:
        from .render import objects

        return objects.latex(self)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All nodes of one installed torch, sorted by name."""

    torch_version: str
    gradcat_version: str
    nodes: tuple[Node, ...]
    index: dict[str, tuple[str, ...]]  # op name, as people write it -> node classes
    warnings: tuple[str, ...] = ()
    silent: dict[str, str] = field(default_factory=dict)  # op that makes no node -> why
    complete: bool = True  # whether the heavy probes were run as well

    def __repr__(self) -> str:
        return f"<Catalog of torch {self.torch_version}: {len(self.nodes)} nodes>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from .render import objects

        return objects.listing(self, console, options)

    def _repr_markdown_(self) -> str:
        from .render import objects

        return objects.counts(self)
