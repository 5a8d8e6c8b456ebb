"""Which ops a probe may call: dotted names under torch, and under modules that the user named with --import."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import torch

from ..formula.evaluate import Evaluator
from ..formula.syntax import FormulaError, parse
from .late import LATE

#: Modules below torch whose public names a probe may use. Anything that reads files or starts programs stays out.
NAMESPACES = (
    "torch",
    "torch._C._autograd",
    "torch._C._functions",
    "torch._C._nn",
    "torch._subclasses.complex_tensor",
    "torch.amp",
    "torch.ao.nn",
    "torch.ao.quantization.fx._decomposed",
    "torch.autograd",
    "torch.distributed",
    "torch.distributions",
    "torch.fft",
    "torch.func",
    "torch.functional",
    "torch.linalg",
    "torch.masked",
    "torch.nested",
    "torch.nn",
    "torch.ops",
    "torch.quantization",
    "torch.signal",
    "torch.sparse",
    "torch.special",
    "torch.testing",
    "torch.utils.checkpoint",
)
#: Names of those modules that stay out all the same.
REFUSED = {
    "_import_dotted_name",
    "_initExtension",
    "compiler",
    "from_file",
    "get_file_path",
    "FileStore",
    "PyTorchFileReader",
    "PyTorchFileWriter",
    "hub",
    "import_ir_module",
    "jit",
    "load",
    "load_library",
    "loaded_libraries",
    "save",
    "package",
    "serialization",
    "classes",
}
#: Single names that lie outside those modules.
SINGLE = {
    "torch._C.DispatchKey",
    "torch._dynamo._trace_wrapped_higher_order_op.ModIndex",
    "torch._dynamo.create_parameter_op.TracableCreateParameter",
    "torch._dynamo.decorators.leaf_function",
    "torch._export.db.examples.autograd_function.MyAutogradFunction",
    "torch._functorch.aot_autograd.aot_function",
    "torch._functorch.autograd_function.autograd_function_apply",
    "torch._inductor.test_operators.realize",
    "torch.ao.quantization.FakeQuantize",
    "torch.fx.experimental.proxy_tensor.make_fx",
}


#: Their methods read and write files.
STORAGES = (torch.UntypedStorage, torch.TypedStorage)


class OpEvaluator(Evaluator):
    """Evaluates a probe's expressions: the language with ops, methods and samplers in it."""

    def __init__(
        self, functions: Mapping[str, Callable[..., Any]], modules: Mapping[str, ModuleType], dispatch: str = ""
    ) -> None:
        super().__init__(functions)
        self.modules = {"torch": torch, **modules}
        self.dispatch = dispatch

    def parse(self, text: str) -> ast.expr:
        return parse(text, ops=True)

    def visit_Attribute(self, node: ast.Attribute, names: Mapping[str, Any]) -> Any:
        path = dotted(node)
        if path and path[0] not in names and path[0] in self.modules:
            module = self.modules[path[0]]
            return torch_op(path) if module is torch else resolve(module, path)
        if path and path[0] not in names:
            roots = ", ".join(sorted(self.modules))
            raise FormulaError(f"{'.'.join(path)}: ops are named under {roots}; --import MODULE adds a module of yours")
        value = self.visit(node.value, names)
        if isinstance(value, ModuleType):
            raise FormulaError(f"{ast.unparse(node)}: a module is not a value")
        home = type(value).__module__.partition(".")[0]
        if node.attr in REFUSED or isinstance(value, STORAGES) or home not in {"builtins", *self.modules}:
            raise FormulaError(f"{ast.unparse(node)}: {type(value).__name__}.{node.attr} is not an op")
        try:
            return getattr(value, node.attr)
        except AttributeError as error:
            raise FormulaError(f"{ast.unparse(node)}: {error}") from None

    def callee(self, node: ast.expr, names: Mapping[str, Any]) -> Callable[..., Any]:
        if isinstance(node, ast.Name):
            return super().callee(node, names)
        call = self.visit(node, names)
        if self.dispatch and isinstance(call, torch._ops.OpOverload):
            key = getattr(torch._C.DispatchKey, self.dispatch, None)
            if key is None:
                raise FormulaError(f"dispatch: torch has no dispatch key {self.dispatch!r}")
            return lambda *args, **kwargs: call._op_dk(key, *args, **kwargs)
        if not callable(call):
            raise FormulaError(f"{ast.unparse(node)} cannot be called")
        return call


def torch_op(path: tuple[str, ...]) -> Any:
    """What a dotted name under torch stands for. Ops are looked up once; what is no op may change (group.WORLD)."""
    if path in _ops:
        return _ops[path]
    value = resolve(torch, path)
    if callable(value):
        _ops[path] = value
    return value


_ops: dict[tuple[str, ...], Any] = {}


def resolve(module: ModuleType, path: tuple[str, ...]) -> Any:
    """What a dotted name under a module stands for; under torch, refuses what lies outside the namespaces."""
    value: Any = module
    own = value is not torch
    name = path[0]
    late = next((module for module in LATE if ".".join(path).startswith(f"{module}.")), "")
    for part in path[1:]:
        if not own and part in REFUSED:
            raise FormulaError(f"{name}.{part} is not an op")
        try:
            value = member(value, f"{name}.{part}", late)
        except (AttributeError, ImportError, RuntimeError):
            raise FormulaError(f"unknown op {'.'.join(path)}: {name} has no {part!r} in this torch") from None
        name = f"{name}.{part}"
        if isinstance(value, ModuleType) and not own and not value.__name__.startswith("torch"):
            raise FormulaError(f"{name} is the module {value.__name__}, not an op of torch")
    holder = name.rpartition(".")[0]
    inside = any(holder == space or holder.startswith(f"{space}.") for space in NAMESPACES if space != "torch")
    if (
        not own
        and holder != "torch"
        and not inside
        and name not in SINGLE
        and not any(name.startswith(f"{single}.") for single in SINGLE)
        and not isinstance(getattr(torch, path[1], None), type)
    ):
        raise FormulaError(f"{name} lies outside the namespaces of ops: {', '.join(NAMESPACES)}")
    if isinstance(value, ModuleType):
        raise FormulaError(f"{name} is a module, not an op")
    return value


def member(value: Any, name: str, late: str) -> Any:
    """What `value` has under the last part of `name`: a module that leads to `late` is imported where it is missing."""
    part = name.rpartition(".")[2]
    if not hasattr(value, part) and f"{late}.".startswith(f"{name}."):
        importlib.import_module(name)
    return getattr(value, part)


def dotted(node: ast.expr) -> tuple[str, ...]:
    """Parts of a dotted name, () where the expression is something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


@lru_cache(maxsize=4096)
def edits_in_place(tree: ast.AST) -> bool:
    """Whether a call has an in-place op in it: a name with one trailing underscore."""
    return any(
        isinstance(node, ast.Attribute) and node.attr.endswith("_") and not node.attr.startswith("__")
        for node in ast.walk(tree)
    )
