"""YAML read strictly: every scalar is text, keys are known and unrepeated, and every error has its file and line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .errors import GradcatError

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Entry:
    """A YAML node with its place: where its key stands, or itself."""

    file: Path
    node: Any
    key: Any = None

    @property
    def line(self) -> int:
        return int((self.key or self.node).start_mark.line) + 1

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def fail(self, message: str) -> GradcatError:
        return GradcatError(f"{self.place}: {message}")

    def text(self, what: str) -> str:
        """The scalar, as it is written."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.fail(f"{what} must be text, not a {kind(self.node)}")
        if self.node.tag not in PLAIN_TAGS:
            raise self.fail(f"{what}: the tag {self.node.tag} is not allowed; write plain text")
        return str(self.node.value)

    def items(self, what: str) -> Iterator[Entry]:
        """The entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail(f"{what} must be a list, not a {kind(self.node)}")
        for node in self.node.value:
            yield Entry(self.file, node)

    def mapping(self, what: str, allowed: Collection[str] = ()) -> Iterator[tuple[str, Entry]]:
        """The key-value pairs, each key once and from `allowed` where that is given."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.fail(f"{what} must be a mapping (key: value), not a {kind(self.node)}")
        seen: dict[str, int] = {}
        for key_node, node in self.node.value:
            key_entry = Entry(self.file, key_node)
            key = key_entry.text(f"a key of {what}")
            line = key_node.start_mark.line + 1
            if key in seen:
                raise key_entry.fail(f"{what}: the key {key!r} is repeated (first on line {seen[key]}); keep one")
            if allowed and key not in allowed:
                raise key_entry.fail(f"{what}: unknown key {key!r}; known: {', '.join(allowed)}")
            seen[key] = line
            yield key, Entry(self.file, node, key_node)

    def texts(self, what: str) -> dict[str, str]:
        """A mapping of text to text."""
        return {key: entry.text(f"{what}.{key}") for key, entry in self.mapping(what)}


PLAIN_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value")
}


def kind(node: Any) -> str:
    return {"ScalarNode": "text", "SequenceNode": "list", "MappingNode": "mapping"}.get(type(node).__name__, "node")


def read(path: Path) -> Entry | None:
    """The document of a file, None where it is empty."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise GradcatError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise GradcatError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    try:
        node = yaml.compose(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise GradcatError(f"{path}{line}: not YAML: {problem}") from None
    return None if node is None else Entry(path, node)
