"""The cache: one file for each torch, gradcat and set of YAML files. It saves time, and it is never believed unchecked.

A file is lines: a header, the index (names, lengths, ops), the light rows, what else belongs to the catalog, and one
record for each node. A reader takes the lines that it needs. Every line has its length and checksum in a line
before it, and the header has its own: a file that was cut off or damaged is noticed wherever it is read, and costs a
rebuild.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, cast
from zlib import crc32

from . import __version__, files
from .record import Record, decode, encode
from .row import Row, summary, values

if TYPE_CHECKING:
    from .model import Catalog, Node

#: Rises when the layout of the file changes.
FORMAT = 1
MAGIC = b"gradcat-cache"
#: How many files are kept, one for each torch and set of YAML files, and for how many seconds a half-written one.
KEPT = 8
STALE = 3600

Key = dict[str, Any]


class Damaged(Exception):
    """A cache file that is not what was written."""


def folder() -> str:
    """Where cache files lie."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("GRADCAT_CACHE") or os.path.join(base, "gradcat")


def key(torch: str, ops: Iterable[str], rules: Iterable[str], imports: Iterable[str] = ()) -> Key:
    """What a catalog depends on: the build of torch, gradcat, Python, the YAML files and the user's modules."""
    import sys

    return {
        "format": FORMAT,
        "gradcat": __version__,
        "python": ".".join(map(str, sys.version_info[:2])),
        "torch": torch,
        "sources": _stamp(files.sources()) if files.checkout() else "",
        "ops": [_digest(path) for path in ops],
        "rules": [_digest(path) for given in rules for path in files.yaml_files(given)],
        "imports": [[name, _module_digest(name)] for name in imports],
    }


def _digest(path: str) -> str:
    """Fingerprint of a file's content; "" where it cannot be read: whoever parses it says why."""
    try:
        with open(path, "rb") as file:
            return _fingerprint(file.read())
    except OSError:
        return ""


def _fingerprint(data: bytes) -> str:
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL, at the price of a seventh of a warm start
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).hexdigest()


def _stamp(paths: Iterable[str]) -> str:
    """Fingerprint of the times and sizes of files."""
    stats = [os.stat(path) for path in paths]
    return _fingerprint(repr([(stat.st_mtime_ns, stat.st_size) for stat in stats]).encode())


def _module_digest(name: str) -> str:
    """Fingerprint of a user's module, found but not imported."""
    import sys

    parts = name.split(".")
    for place in ("", *sys.path):
        path = os.path.join(place, *parts)
        for candidate in (f"{path}.py", os.path.join(path, "__init__.py")):
            if os.path.isfile(candidate):
                return _digest(candidate)
    return ""


def path_of(key: Key) -> str:
    """The file for a key."""
    return os.path.join(folder(), f"{_fingerprint(_dump(key))}.jsonl")


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def to_bytes(key: Key, catalog: Catalog) -> bytes:
    """The file of a catalog."""
    from .names import lookup

    rows = [values(node) for node in catalog.nodes]
    numbers = {node.name: i for i, node in enumerate(catalog.nodes)}
    records = [_dump(encode(node)) for node in catalog.nodes]
    index = {
        "names": list(numbers),
        "lengths": [len(record) for record in records],
        "checks": [crc32(record) for record in records],
        "ops": {op: [numbers[name] for name in names if name in numbers] for op, names in lookup(catalog).items()},
    }
    sections = [
        _dump(index),
        _dump(rows),
        _dump({"index": catalog.index, "silent": catalog.silent, "warnings": catalog.warnings}),
    ]
    header = {
        "key": key,
        "torch_version": catalog.torch_version,
        "gradcat_version": catalog.gradcat_version,
        "summary": summary(map(Row, rows)),
        "complete": catalog.complete,
        "pending": sum(Row(row).pending for row in rows),
        "sections": [[len(section), crc32(section)] for section in sections],
        "size": sum(len(line) + 1 for line in (*sections, *records)),
    }
    first = _dump(header)
    return b"".join(line + b"\n" for line in (b"%s %d %s" % (MAGIC, crc32(first), first), *sections, *records))


class Reader:
    """A catalog as it lies in a file, or in memory. Reads what is asked for, and checks what it reads."""

    INDEX, ROWS, REST = range(3)

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        first = file.readline()
        magic, _, rest = first.partition(b" ")
        check, _, header = rest.rstrip(b"\n").partition(b" ")
        if magic != MAGIC or check != b"%d" % crc32(header):
            raise Damaged("the header is damaged")
        self.header: dict[str, Any] = json.loads(header)
        self.start = len(first)
        file.seek(0, os.SEEK_END)
        if file.tell() != self.start + self.header["size"]:
            raise Damaged("its length is not what the header says")
        self._index: dict[str, Any] | None = None

    @property
    def torch_version(self) -> str:
        return str(self.header["torch_version"])

    @property
    def complete(self) -> bool:
        """Whether the heavy probes were run as well."""
        return bool(self.header["complete"])

    @property
    def gradcat_version(self) -> str:
        return str(self.header["gradcat_version"])

    @property
    def index(self) -> dict[str, Any]:
        if self._index is None:
            self._index = self._section(self.INDEX)
        return self._index

    @property
    def names(self) -> list[str]:
        """All nodes, sorted."""
        return cast("list[str]", self.index["names"])

    @property
    def warnings(self) -> list[str]:
        """What went wrong while the catalog was built."""
        return [str(warning) for warning in self._section(self.REST)["warnings"]]

    def resolve(self, query: str) -> list[str]:
        """Node classes that a user's words stand for."""
        from .names import resolve

        names = self.names
        return resolve(query, names, _Ops(self.index["ops"], names), self._silence)

    def _silence(self, op: str) -> str:
        """Why an op makes no node."""
        from .names import canonical

        silent = self._section(self.REST)["silent"].items()
        return next((reason for name, reason in silent if op in (canonical(name), canonical(name).split(".")[-1])), "")

    def rows(self) -> list[Row]:
        """The light rows of all nodes."""
        return [Row(values) for values in self._section(self.ROWS)]

    def node(self, name: str) -> Node:
        """One node's record."""
        position = self.names.index(name)
        offset = self._records() + sum(self.index["lengths"][:position]) + position
        return cast("Node", self._record(position, offset))

    def find(self, name: str) -> Node | None:
        """One node's record, None where this torch has no such node."""
        return self.node(name) if name in self.names else None

    def nodes(self, names: Sequence[str] | None = None) -> list[Node]:
        """The records of some nodes, or of all."""
        return [self.node(name) for name in (self.names if names is None else names)]

    def catalog(self) -> Catalog:
        """The whole catalog, as records of `model`."""
        from .model import Catalog, Node

        rest = self._section(self.REST)
        return Catalog(
            torch_version=self.torch_version,
            gradcat_version=self.gradcat_version,
            nodes=tuple(decode(Node, encode(node)) for node in self.nodes()),
            index={op: tuple(names) for op, names in rest["index"].items()},
            warnings=tuple(rest["warnings"]),
            silent=rest["silent"],
            complete=self.complete,
        )

    def _records(self) -> int:
        return self.start + sum(int(length) + 1 for length, _ in self.header["sections"])

    def _section(self, number: int) -> Any:
        before = sum(length + 1 for length, _ in self.header["sections"][:number])
        length, check = self.header["sections"][number]
        return self._line(self.start + before, length, check)

    def _record(self, position: int, offset: int) -> Record:
        index = self.index
        return Record(self._line(offset, index["lengths"][position], index["checks"][position]))

    def _line(self, offset: int, length: int, check: int) -> Any:
        self.file.seek(offset)
        line = self.file.read(length)
        if len(line) != length or crc32(line) != check:
            raise Damaged(f"the line at byte {offset} is damaged")
        return json.loads(line)


class _Ops(dict):  # type: ignore[type-arg]
    """Op -> names of nodes, from op -> their numbers; only what is asked for is spelled out."""

    def __init__(self, numbers: dict[str, list[int]], names: Sequence[str]) -> None:
        super().__init__(numbers)
        self.names = names

    def __getitem__(self, op: str) -> list[str]:
        return [self.names[number] for number in super().__getitem__(op)]


def load(key: Key, warn: Callable[[str], None]) -> Reader | None:
    """The catalog stored for a key, None where there is none that can be used."""
    path = path_of(key)
    try:
        reader = Reader(open(path, "rb"))  # noqa: SIM115  (read from as long as the command runs)
        if reader.header["key"] != key:
            raise Damaged("it was written for something else")
        return reader
    except FileNotFoundError:
        return None
    except OSError as error:
        warn(f"the cache {path} cannot be read ({error.strerror}); going on without it")
    except Damaged as error:
        warn(f"the cache {path} is damaged ({error}); building it again")
    return None


def in_memory(key: Key, catalog: Catalog) -> Reader:
    """A reader of a catalog that lies in no file."""
    import io

    return Reader(io.BytesIO(to_bytes(key, catalog)))


def save(key: Key, catalog: Catalog, warn: Callable[[str], None]) -> Reader:
    """The catalog, stored for the next time where that is possible."""
    import io

    data = to_bytes(key, catalog)
    path = path_of(key)
    try:
        os.makedirs(folder(), exist_ok=True)
        files.write(path, data)
        _prune(path)
    except OSError as error:
        warn(f"the cache {path} cannot be written ({error.strerror}); GRADCAT_CACHE names another folder")
    return Reader(io.BytesIO(data))


def _prune(fresh: str) -> None:
    """Remove the oldest files beyond KEPT, and what a killed process left half-written."""
    import contextlib
    import time

    found = []
    for entry in os.scandir(os.path.dirname(fresh)):
        with contextlib.suppress(OSError):
            if entry.name.endswith(".jsonl"):
                found.append((entry.path == fresh, entry.stat().st_mtime, entry.path))
            elif entry.name.endswith(".tmp") and time.time() - entry.stat().st_mtime > STALE:
                os.unlink(entry.path)
    for _, _, path in sorted(found)[:-KEPT]:
        with contextlib.suppress(OSError):
            os.unlink(path)
