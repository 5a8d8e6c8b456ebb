"""One run of a probe: its inputs drawn, marked and passed, its result and the graph behind it."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from ..formula.syntax import FormulaError, parse
from ..model import Probe
from .ops import OpEvaluator, edits_in_place
from .samplers import Const, Samplers


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in a value with its path: "self", "tensors[1]"."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from flatten(item, f"{path}[{i}]")


def transform(value: Any, change: Callable[[str, torch.Tensor], torch.Tensor], path: str = "") -> Any:
    """A copy of a nested value with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(path, value)
    if isinstance(value, (list, tuple)):
        return type(value)(transform(item, change, f"{path}[{i}]") for i, item in enumerate(value))
    return value


def floating(tensor: torch.Tensor) -> bool:
    """Whether autograd can follow the tensor."""
    return tensor.is_floating_point() or tensor.is_complex()


@dataclass(frozen=True)
class Run:
    """What one call was given and gave, and the gradient edges of its inputs from before it (an op may edit them)."""

    passed: dict[str, Any]
    sources: dict[tuple[Any, int], str]
    result: Any

    @property
    def inputs(self) -> dict[str, torch.Tensor]:
        """Every tensor that was passed, by path."""
        return {path: tensor for name, value in self.passed.items() for path, tensor in flatten(value, name)}

    @property
    def outputs(self) -> dict[str, torch.Tensor]:
        """Every tensor that came back, by path: "result", or "result[0]" and on."""
        return {f"result{path}": tensor for path, tensor in flatten(self.result)}


def sources_of(passed: dict[str, Any]) -> dict[tuple[Any, int], str]:
    """Where the graph of a probe ends: gradient edge -> path of the input."""
    sources: dict[tuple[Any, int], str] = {}
    for name, value in passed.items():
        for path, tensor in flatten(value, name):
            if tensor.requires_grad:
                sources.setdefault(edge_of(tensor), path)
    return sources


def edge_of(tensor: torch.Tensor) -> tuple[Any, int]:
    """Where the vjp of a tensor goes."""
    if tensor.is_leaf and (tensor.layout is not torch.strided or tensor.is_nested):
        with torch.enable_grad():  # NOTE: get_gradient_edge takes a view of a leaf, which these layouts refuse
            return tensor.clone().grad_fn.next_functions[0]  # type: ignore[union-attr]
    edge = get_gradient_edge(tensor)
    return edge.node, edge.output_nr


@dataclass
class Trial:
    """A probe with drawn inputs. `leaves` are by path; `run` calls the op on them, as often as asked."""

    probe: Probe
    modules: Mapping[str, ModuleType] = field(default_factory=dict)
    seed: int = 0
    complex_: bool = False
    leaves: dict[str, torch.Tensor] = field(init=False)  # path -> leaf that requires grad
    inputs: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        seed = zlib.crc32(f"{self.probe.call} {sorted(self.probe.inputs.items())} {self.seed}".encode())
        samplers = Samplers(seed, complex_=self.complex_)
        self.evaluator = OpEvaluator(samplers.functions(), self.modules)
        self.caller = OpEvaluator(samplers.functions(), self.modules, self.probe.dispatch)
        self.tree = parse(self.probe.call, ops=True)
        self.in_place = edits_in_place(self.tree)
        self.leaves = {}
        self.inputs = {}
        torch.default_generator.manual_seed(
            seed
        )  # torch.manual_seed would format three stack traces, for other devices
        self.torch_seed = seed
        with torch.no_grad():
            for name, text in self.probe.inputs.items():
                try:
                    drawn = self.evaluator(text, self.inputs)
                except Exception as error:
                    raise FormulaError(f"input {name}: {text}: {said(error)}") from error
                const = isinstance(drawn, Const)
                value = drawn.value if isinstance(drawn, Const) else drawn
                self.inputs[name] = transform(value, self._leaf(name, const))
        if self.probe.device != "cpu":
            self.inputs = {name: self._moved(name, value) for name, value in self.inputs.items()}

    def _leaf(self, name: str, const: bool) -> Callable[[str, torch.Tensor], torch.Tensor]:
        def mark(path: str, tensor: torch.Tensor) -> torch.Tensor:
            tensor = tensor.detach()
            if floating(tensor) and not const:
                self.leaves[name + path] = tensor.requires_grad_()
            return tensor

        return mark

    def _moved(self, name: str, value: Any) -> Any:
        def move(path: str, tensor: torch.Tensor) -> torch.Tensor:
            moved = tensor.detach().to(self.probe.device)
            if name + path in self.leaves:
                self.leaves[name + path] = moved.requires_grad_()
            return moved

        return transform(value, move)

    def run(self, values: Mapping[str, torch.Tensor] | None = None, only: str = "") -> Run:
        """Call the op once. `values` replaces leaves by path.

        With `only`, that leaf alone requires grad. In-place ops get copies, since autograd forbids to edit a leaf.
        """
        given = dict(self.leaves, **(values or {}))

        def choose(path: str, tensor: torch.Tensor) -> torch.Tensor:
            chosen = given.get(path, tensor)
            if only and path != only:
                chosen = chosen.detach()
            return chosen.clone() if self.in_place else chosen

        passed = {name: transform(value, choose, name) for name, value in self.inputs.items()}
        torch.default_generator.manual_seed(self.torch_seed)  # a random op is a function of its inputs, given the seed
        # Without grad mode nothing is recorded: there is no graph whose edges could be asked for.
        sources = sources_of(passed) if torch.is_grad_enabled() else {}
        with kernel(self) if self.probe.kernel else NOTHING:
            try:
                return Run(passed, sources, self.caller.visit(self.tree, passed))
            finally:
                close_group()


def noise_like(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Standard normal numbers in the place of every element that the tensor stores."""
    tensor = tensor.detach()
    if tensor.is_nested:
        if tensor.layout is torch.jagged:
            jagged: Any = tensor
            values = noise_like(jagged.values(), generator)
            offsets, lengths, ragged = jagged.offsets(), jagged.lengths(), jagged._ragged_idx
            return torch.nested.nested_tensor_from_jagged(values, offsets, lengths, jagged_dim=ragged)
        return torch.nested.nested_tensor([noise_like(part, generator) for part in tensor.unbind()])
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce()
        values = noise_like(tensor.values(), generator)
        return torch.sparse_coo_tensor(tensor.indices(), values, tensor.shape, is_coalesced=True)
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        values = noise_like(tensor.values(), generator)
        return torch.sparse_compressed_tensor(
            tensor.crow_indices(), tensor.col_indices(), values, tensor.shape, layout=tensor.layout
        )
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        values = noise_like(tensor.values(), generator)
        return torch.sparse_compressed_tensor(
            tensor.ccol_indices(), tensor.row_indices(), values, tensor.shape, layout=tensor.layout
        )
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    drawn = torch.randn(tensor.shape, generator=generator, dtype=wide).to(tensor.dtype)
    return drawn.to_mkldnn() if tensor.layout is torch._mkldnn else drawn  # type: ignore[attr-defined]


#: The context of a probe that brings no kernel.
NOTHING = contextlib.nullcontext()


def close_group() -> None:
    """A probe that opens a process group and raises must not leave it to the next one."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@contextlib.contextmanager
def kernel(trial: Trial) -> Iterator[None]:
    """A kernel that only makes the output's shape, registered while a probe runs and gone after it."""
    text = trial.probe.kernel
    if not text:
        yield
        return
    op, _, expression = text.partition(": ")
    if not expression:
        raise FormulaError(f"kernel: {text!r} is not of the form `namespace::op.overload@Key: expression`")
    op, _, key = op.strip().partition("@")
    namespace, _, name = op.partition("::")
    packet, _, overload_name = name.partition(".")
    overload = getattr(getattr(getattr(torch.ops, namespace), packet), overload_name or "default")
    parameters = [argument.name for argument in overload._schema.arguments]
    defaults = {a.name: a.default_value for a in overload._schema.arguments if a.has_default_value()}

    def shape_only(*args: Any, **kwargs: Any) -> Any:
        return trial.evaluator(expression.strip(), {**defaults, **dict(zip(parameters, args, strict=False)), **kwargs})

    library = torch.library.Library(namespace, "IMPL")
    try:
        library.impl(name, shape_only, key or "Meta")
        yield
    finally:
        library._destroy()


def said(error: BaseException) -> str:
    """What an error says, on one line, with its type where that is not obvious."""
    text = " ".join(str(error).partition("Exception raised from")[0].split())[:400]
    return text if isinstance(error, FormulaError) else f"{type(error).__name__}: {text}"
