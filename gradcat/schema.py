"""Operator schemas: `mul.Tensor(Tensor self, Tensor other) -> Tensor` as a record, without torch."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .errors import GradcatError


class SchemaError(GradcatError):
    """A text that is no operator schema. The message says what and where."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an op."""

    name: str
    type: str  # without the alias: "Tensor", "Tensor?[]", "int[2]"
    default: str | None = None
    kwarg_only: bool = False
    alias: str = ""  # "a" where an output is a view of it, "a!" where it is edited in place

    @property
    def value(self) -> Any:
        """The default as the op receives it."""
        if self.default is None:
            raise SchemaError(f"{self.type} {self.name} has no default")
        return default_value(self.default, self.type)


@dataclass(frozen=True, slots=True)
class Return:
    """One output of an op, under the name by which formulas call it."""

    name: str
    type: str
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """One overload of an op."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def op(self) -> str:
        """Name and overload: "mul.Tensor", "abs"."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def mutates(self) -> bool:
        """Whether the op writes to one of its arguments."""
        return any(argument.alias.endswith("!") for argument in self.arguments)

    @property
    def in_place(self) -> bool:
        """Whether the op edits `self`: `add_`, `__iadd__`."""
        return self.name.endswith("_") and self.mutates


_SCHEMA = re.compile(r"(?:aten::)?(\w+)(?:\.(\w+))?\((.*)\) -> (.*)")
_ITEM = re.compile(r"(\w+)(?:\(([^()]*)\))?([?\[\]\d]*)(?: (\w+)(?:=(.*))?)?")


@lru_cache(maxsize=4096)
def parse_schema(schema: str) -> Schema:
    """Record of a schema."""
    match = _SCHEMA.fullmatch(schema.strip())
    if match is None:
        raise SchemaError(f"not an operator schema: {schema!r}; expected name.overload(Type argument, ...) -> Type")
    name, overload, arguments, returns = match.groups()
    parsed = tuple(_arguments(arguments, schema))
    return Schema(name, overload or "", parsed, tuple(_returns(returns, parsed, schema)))


def _arguments(text: str, schema: str) -> list[Argument]:
    arguments: list[Argument] = []
    kwarg_only = False
    for part in text.split(", ") if text else ():
        if part == "*":
            kwarg_only = True
            continue
        type_, alias, name, default = _item(part, schema)
        if not name:
            raise SchemaError(f"argument {part!r} has no name, in {schema!r}")
        arguments.append(Argument(name, type_, default, kwarg_only, alias))
    return arguments


def _returns(text: str, arguments: tuple[Argument, ...], schema: str) -> list[Return]:
    parts = text[1:-1].split(", ") if text.startswith("(") else [text]
    taken = {argument.name for argument in arguments}
    returns: list[Return] = []
    for position, part in enumerate(parts if parts != [""] else ()):
        type_, alias, name, _ = _item(part, schema)
        if not name:
            name = "result" if len(parts) == 1 else f"result{position}"
        elif name in taken:
            name = f"{name}_return"
        returns.append(Return(name, type_, alias))
    return returns


def _item(text: str, schema: str) -> tuple[str, str, str, str | None]:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise SchemaError(f"cannot read {text!r} in {schema!r}")
    base, alias, suffix, name, default = match.groups()
    return base + suffix, alias or "", name or "", default


#: The one enumeration whose members schemas name: at::Reduction.
REDUCTION = {"Mean": 1, "Sum": 2}

_SIZED = re.compile(r"\w+\[(\d+)\]\??")


def default_value(text: str, type: str = "") -> Any:
    """Python value of a default; `type` makes "1" of a float 1.0, and of an int[2] the list [1, 1]."""
    if text in REDUCTION:
        return REDUCTION[text]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        if not text.isidentifier():
            raise SchemaError(f"cannot read the default {text!r} of {type or 'an argument'}") from None
        return text  # a constant of torch, left as its name: "long", "contiguous_format"
    if type.rstrip("?") == "float" and value is not None:
        return float(value)
    sized = _SIZED.fullmatch(type)
    if sized and isinstance(value, (int, float)):
        return [value] * int(sized[1])
    return value
