"""Which ops a call names, read off its syntax tree: `torch.mul(self, other)` -> `torch.mul`, `self * 2` -> `torch.mul`.

- A dotted name that is called is itself: `torch.nn.functional.linear`, `torch.ops.aten.mul.Tensor`.
- A method, or an attribute that is an op, is the tensor's: `self.view(6)` -> `torch.Tensor.view`, `self.mT` ->
  `torch.Tensor.mT`. A method of an object that the call makes is its class's: `torch.nn.GRU(2, 3).forward(self)` ->
  `torch.nn.GRU.forward`.
- An operator is the function that it stands for: `self @ other` -> `torch.matmul`, `-self` -> `torch.neg`, `self < 2`
  -> `torch.lt`. With the number on the left it is the reflected method: `2 - self` -> `torch.Tensor.__rsub__`.
- A subscript is `torch.Tensor.__getitem__`, unless it picks from several things: `(a, b)[1]`, `torch.max(self, 1)[0]`,
  `self.shape[0]`.
- An object that is called is its class: where `module: torch.nn.Tanh()` is an input, `module(self)` -> `torch.nn.Tanh`.
- What is handed on is not called: `torch.vmap(torch.sin)(self)` and `torch.vmap(lambda x: x.sin())(self)` call
  `torch.vmap` alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .formula.syntax import parse

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
    ast.USub: "neg",
    ast.Invert: "bitwise_not",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
REFLECTED: dict[type[ast.AST], str] = {
    ast.Add: "__radd__",
    ast.Sub: "__rsub__",
    ast.Mult: "__rmul__",
    ast.Div: "__rdiv__",
    ast.FloorDiv: "__rfloordiv__",
    ast.Mod: "__rmod__",
    ast.Pow: "__rpow__",
    ast.BitAnd: "__rand__",
    ast.BitOr: "__ror__",
    ast.BitXor: "__rxor__",
    ast.LShift: "__rlshift__",
    ast.RShift: "__rrshift__",
}
#: Python turns `2 < self` around.
TURNED: dict[type[ast.AST], type[ast.AST]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
#: Attributes of a tensor that are ops, though nothing is called.
ATTRIBUTES = ("T", "H", "mT", "mH", "real", "imag")
#: What a call sets up and puts away around its op.
SETTING = (
    "torch.distributed.device_mesh.init_device_mesh",
    "torch.distributed.destroy_process_group",
    "torch.distributed.init_process_group",
)


def called(call: str, inputs: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Names of the ops that an expression calls, each once, the outermost first.

    `inputs` (name -> text of its value) tells numbers, lists and objects from tensors, and tensors from modules of the
    user's own; without it, every name but torch is a tensor.
    """
    found = dict.fromkeys(_Reader(inputs).names(parse(call, ops=True)))
    return tuple(name for name in found if name not in SETTING)


def plain(name: str) -> str:
    """An op's name without the place where it is found, as PyTorch's own tables of ops write it.

    "torch.nn.functional.relu" -> "nn.functional.relu", "torch.Tensor.view" and "torch.ops.aten.view.default" -> "view".
    """
    if name.startswith("torch.ops."):
        return name.split(".")[3] if name.count(".") > 2 else name
    for prefix in ("torch.Tensor.", "torch._C._nn.", "torch."):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


class _Reader:
    """A walk over one tree."""

    def __init__(self, inputs: Mapping[str, str] | None) -> None:
        self.inputs = inputs
        self.bound: set[str] = set()  # parameters of lambdas that are called on the spot, targets of comprehensions
        self.plain: set[str] = set()  # inputs that are surely no tensors
        self.classes: dict[str, str] = {}  # inputs that are objects, with their class
        for name, text in (inputs or {}).items():
            tree = parse(text, ops=True)
            if self.other(tree):
                self.plain.add(name)
            elif cls := self.made(tree):
                self.classes[name] = cls

    def names(self, node: ast.AST) -> Iterator[str]:
        """Ops of a tree, outermost first."""
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.Call):
            yield from self.call(node)
            return
        if isinstance(node, ast.ListComp):
            targets = [name for generator in node.generators for name in ast.walk(generator.target)]
            self.bound |= {name.id for name in targets if isinstance(name, ast.Name)}
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES and not self.dotted(node):
            yield f"torch.Tensor.{node.attr}"
        elif isinstance(node, ast.Subscript):
            if not isinstance(node.value, ast.Call) and not self.other(node.value):
                yield "torch.Tensor.__getitem__"
        elif isinstance(node, ast.BinOp):
            yield from self.binary(node)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS and not self.other(node.operand):
            yield f"torch.{OPERATORS[type(node.op)]}"
        elif isinstance(node, ast.Compare):
            yield from self.compare(node)
        for child in ast.iter_child_nodes(node):
            yield from self.names(child)

    def call(self, node: ast.Call) -> Iterator[str]:
        function = node.func
        if name := self.dotted(function):
            yield name
        elif isinstance(function, ast.Attribute):
            yield f"{self.owner(function.value)}.{function.attr}"
            yield from self.names(function.value)
        elif isinstance(function, ast.Name) and (name := self.made(function)):
            yield name
        elif isinstance(function, ast.Lambda):
            self.bound |= {argument.arg for argument in function.args.args}
            yield from self.names(function.body)
        else:
            yield from self.names(function)
        for argument in (*node.args, *node.keywords):
            yield from self.names(argument)

    def binary(self, node: ast.BinOp) -> Iterator[str]:
        kind = type(node.op)
        left, right = self.other(node.left), self.other(node.right)
        if left and not right and kind in REFLECTED:
            yield f"torch.Tensor.{REFLECTED[kind]}"
        elif not (left and right):
            yield f"torch.{OPERATORS[kind]}"
            if kind is ast.MatMult:  # it takes tensors alone, so no expression shows which side is asked
                yield "torch.Tensor.__rmatmul__"

    def compare(self, node: ast.Compare) -> Iterator[str]:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            first, second = self.other(left), self.other(right)
            kind = TURNED.get(type(op), type(op)) if first else type(op)
            if kind in OPERATORS and not (first and second):
                yield f"torch.{OPERATORS[kind]}"
            left = right

    def dotted(self, node: ast.expr) -> str:
        """A dotted name under torch or a module of the user's own, "" for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not parts or not isinstance(node, ast.Name) or not self.module(node.id):
            return ""
        return ".".join((node.id, *reversed(parts)))

    def module(self, name: str) -> bool:
        """Whether a name stands for a module."""
        return name == "torch" or (self.inputs is not None and name not in self.inputs and name not in self.bound)

    def owner(self, node: ast.expr) -> str:
        """Whose method is called: of the class of an object that was made, else of Tensor."""
        return self.made(node) or "torch.Tensor"

    def made(self, node: ast.expr) -> str:
        """Class of an object that the call or an input makes, "" for anything else."""
        if isinstance(node, ast.Name):
            return "" if node.id in self.bound else self.classes.get(node.id, "")
        name = self.dotted(node.func) if isinstance(node, ast.Call) else ""
        return name if name.rpartition(".")[2].lstrip("_")[:1].isupper() else ""

    def other(self, node: ast.expr) -> bool:
        """Whether a value is surely no tensor: a number, a text, a list, a shape, a dtype."""
        if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.Lambda)):
            return True
        if isinstance(node, ast.UnaryOp):
            return self.other(node.operand)
        if isinstance(node, ast.BinOp):
            return self.other(node.left) and self.other(node.right)
        if isinstance(node, ast.Subscript):
            return self.other(node.value) and not isinstance(node.value, (ast.List, ast.Tuple))
        if isinstance(node, ast.Attribute):
            return bool(self.dotted(node)) or node.attr in ("shape", "ndim", "dtype", "device", "layout")
        return isinstance(node, ast.Name) and node.id in self.plain - self.bound
