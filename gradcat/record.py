"""Records as JSON and back, and JSON read like a record: a dozen dataclasses cost too much for a warm start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Record:
    """A JSON object whose items are attributes: what a renderer reads, be it `model.Node` or a line of the cache."""

    __slots__ = ("data",)

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __getattr__(self, name: str) -> Any:
        try:
            return wrap(self.data[name])
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        return wrap(self.data[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def keys(self) -> Any:
        return self.data.keys()

    def values(self) -> list[Any]:
        return [wrap(value) for value in self.data.values()]

    def items(self) -> list[tuple[str, Any]]:
        return [(name, wrap(value)) for name, value in self.data.items()]

    def get(self, name: str, default: Any = None) -> Any:
        return wrap(self.data.get(name, default))


def wrap(value: Any) -> Any:
    """A JSON value, read like a record."""
    if isinstance(value, dict):
        return Record(value)
    return tuple(map(wrap, value)) if isinstance(value, list) else value


def encode(value: Any) -> Any:
    """A record, or any nesting of records, as JSON values."""
    if isinstance(value, Record):
        return value.data
    if hasattr(value, "__dataclass_fields__"):
        return {name: encode(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {name: encode(item) for name, item in value.items()}
    return [encode(item) for item in value] if isinstance(value, (tuple, list)) else value


def decode(kind: Any, data: Any) -> Any:
    """The record of type `kind` that `encode` made `data` from."""
    import types
    import typing

    if data is None:
        return None
    origin, parameters = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return decode(next(part for part in parameters if part is not type(None)), data)
    if origin is tuple:
        return tuple(decode(parameters[0], item) for item in data)
    if origin is dict:
        return {name: decode(parameters[1], item) for name, item in data.items()}
    if hasattr(kind, "__dataclass_fields__"):
        return kind(**{name: decode(part, data[name]) for name, part in _types(kind).items() if name in data})
    return data


_known: dict[type, dict[str, Any]] = {}


def _types(kind: type) -> dict[str, Any]:
    if kind not in _known:
        import typing

        _known[kind] = typing.get_type_hints(kind)
    return _known[kind]
