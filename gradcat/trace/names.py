"""What a user calls things: parameters, variables, and the modules in whose call a node was made."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch.nn.modules import module as hooks

from .walk import Graph


class Calls:
    """The calls of modules, each with the numbers that autograd gave to the nodes made during it."""

    def __init__(self) -> None:
        self.roots: list[torch.nn.Module] = []
        self.spans: list[tuple[int, int, torch.nn.Module]] = []  # begin, end, module; inner calls before outer ones
        self._open: list[tuple[torch.nn.Module, int]] = []

    @contextmanager
    def watch(self) -> Iterator[Calls]:
        """Write down every call of a module in this thread. Nothing is kept of what the modules compute."""
        handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]
        try:
            yield self
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        if torch.compiler.is_compiling():
            return
        if not self._open and not any(module is root for root in self.roots):
            self.roots.append(module)
        self._open.append((module, _next_number()))

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if torch.compiler.is_compiling() or not any(module is entered for entered, _ in self._open):
            return
        entered = None
        while entered is not module:  # a call that raised may have left its own behind
            entered, begin = self._open.pop()
        if begin < (end := _next_number()):
            self.spans.append((begin, end, module))


def _next_number() -> int:
    return torch._C._autograd._get_sequence_nr()


class Names:
    """Names of tensors and modules. Tensors are known by identity: those that are named are held."""

    def __init__(self, named: Iterable[tuple[str, torch.Tensor]] = (), modules: Iterable[tuple[str, Any]] = ()) -> None:
        self.tensors: dict[int, tuple[str, torch.Tensor]] = {}
        self.places: dict[tuple[Any, int], str] = {}  # node and output -> name of a tensor that is no leaf
        for name, tensor in named:
            if tensor.grad_fn is None:
                self.tensors.setdefault(id(tensor), (name, tensor))
            else:
                self.places.setdefault((tensor.grad_fn, tensor.output_nr), name)
        self.modules = {id(module): (name, module) for name, module in reversed(list(modules))}
        self.buffers = {id(b) for _, module in self.modules.values() for b in module.buffers(recurse=False)}
        self.calls = Calls()

    def tensor(self, tensor: torch.Tensor | None) -> str:
        """Name of a leaf, a constant or a buffer, "" where it has none."""
        return self.tensors[id(tensor)][0] if id(tensor) in self.tensors else ""

    def leaf(self, node: Any) -> str:
        """Name of the tensor at which a graph ends."""
        return self.tensor(node.variable)

    def module(self, module: torch.nn.Module) -> str:
        """Path of a module in its model; its class where it has none."""
        name = self.modules[id(module)][0] if id(module) in self.modules else ""
        return name or type(module).__name__

    def paths(self, graph: Graph) -> list[str]:
        """The module of each node, "" where it is unknown: by the calls that were watched, else by its parameters."""
        if self.calls.spans:
            return self._by_call(graph)
        return self._by_parameter(graph) if self.modules else [""] * len(graph)

    def _by_call(self, graph: Graph) -> list[str]:
        """The innermost call during which each node was made. Calls nest, so the first to end is the innermost."""
        begins = sorted({begin for begin, _, _ in self.calls.spans} | {end for _, end, _ in self.calls.spans})
        owner = [""] * (len(begins) + 1)
        for begin, end, module in reversed(self.calls.spans):
            inside = range(bisect.bisect_left(begins, begin), bisect.bisect_left(begins, end))
            for k in inside:
                owner[k + 1] = self.module(module)
        return [
            "" if graph.is_leaf(i) else owner[bisect.bisect_right(begins, node._sequence_nr())]
            for i, node in enumerate(graph.nodes)
        ]

    def _by_parameter(self, graph: Graph) -> list[str]:
        """The module whose parameters a node takes; between two such nodes, the module that holds both."""
        own = [""] * len(graph)
        for i in range(len(graph) - 1, -1, -1):
            if graph.is_leaf(i):
                own[i] = self.leaf(graph.nodes[i]).rpartition(".")[0]
                continue
            after = [to for to in graph.targets(i) if to >= 0]
            taken = [own[to] for to in after if graph.is_leaf(to) or _is_view(graph, to)]
            own[i] = next(filter(None, taken), "")
        found = list(own)
        known = [i for i, name in enumerate(own) if name and not graph.is_leaf(i)]
        for left, right in pairwise(known):
            for i in range(left + 1, right):
                if not graph.is_leaf(i):
                    found[i] = common(own[left], own[right])
        return ["" if graph.is_leaf(i) else name for i, name in enumerate(found)]


def _is_view(graph: Graph, i: int) -> bool:
    """Whether a node only rearranges a parameter: the transpose in front of a product."""
    targets = graph.targets(i)
    return len(targets) == 1 and targets[0] >= 0 and graph.is_leaf(targets[0])


def common(left: str, right: str) -> str:
    """The innermost module that holds both."""
    shared = []
    for a, b in zip(left.split("."), right.split("."), strict=False):
        if a != b:
            break
        shared.append(a)
    return ".".join(shared)


def of(params: Any) -> Names:
    """Names from a model, or from a mapping or pairs of names and tensors."""
    if params is None:
        return Names()
    if isinstance(params, torch.nn.Module):
        return Names([*params.named_parameters(), *params.named_buffers()], params.named_modules())
    return Names(params.items() if isinstance(params, Mapping) else params)


def of_variables(variables: Mapping[str, Any], calls: Calls) -> Names:
    """Names from a script's variables and the models that it called. Parameters of the only one go by their own."""
    models = {name: value for name, value in variables.items() if isinstance(value, torch.nn.Module)}
    inner = {id(part) for model in models.values() for part in model.modules() if part is not model}
    models = {name: model for name, model in models.items() if id(model) not in inner}
    called = {id(root) for root in calls.roots}
    used = {name: model for name, model in models.items() if called & {id(part) for part in model.modules()}}
    models = used or models
    known = {id(part) for model in models.values() for part in model.modules()}
    models |= {type(root).__name__: root for root in calls.roots if id(root) not in known}
    named, modules = [], []
    for name, model in models.items():
        before = f"{name}." if len(models) > 1 else ""
        named += [(before + path, t) for path, t in (*model.named_parameters(), *model.named_buffers())]
        modules += [((before + path).rstrip("."), part) for path, part in model.named_modules()]
    named += [(name, t) for name, t in variables.items() if isinstance(t, torch.Tensor) and not name.startswith("__")]
    names = Names(named, modules)
    names.calls = calls
    return names
