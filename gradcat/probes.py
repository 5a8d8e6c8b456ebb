"""ops.yaml -> probes. A file is a mapping of families, each a list of probes; anything else in it is refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import GradcatError
from .formula.syntax import FormulaError, parse
from .model import Probe
from .yamlfile import Entry, read

KEYS = (
    "call",
    "inputs",
    "device",
    "needs",
    "kernel",
    "dispatch",
    "heavy",
    "kink",
    "cotangent",
    "direction",
    "deviation",
    "notes",
)
MAPPINGS = ("inputs", "cotangent", "direction")
DEVICES = ("cpu", "meta")


def load(paths: Iterable[Path | str]) -> list[Probe]:
    """The probes of several files, in order."""
    return [probe for path in paths for probe in _file(Path(path))]


def _file(path: Path) -> list[Probe]:
    document = read(path)
    if document is None:
        raise GradcatError(f"{path}: holds no probes; write `family:` and under it `- call: torch.mul(self, other)`")
    found = []
    for family, entries in document.mapping(str(path.name)):
        for entry in entries.items(family):
            found.append(_probe(entry, family))
    return found


def _probe(entry: Entry, family: str) -> Probe:
    fields: dict[str, Any] = {}
    for key, value in entry.mapping("probe", KEYS):
        if key in MAPPINGS:
            fields[key] = {}
            for name, item in value.mapping(key):
                fields[key][name] = item.text(f"{key}.{name}")
                _parse(item, f"{key}.{name}", fields[key][name], cut=value.node.flow_style)
        else:
            fields[key] = value.text(key)
    if "call" not in fields:
        raise entry.fail("probe: no `call`; write `call: torch.mul(self, other)`")
    _parse(entry, "call", fields["call"])
    if fields.get("device", "cpu") not in DEVICES:
        raise entry.fail(f"device: {fields['device']!r} is unknown; known: {', '.join(DEVICES)}")
    fields.setdefault("inputs", {})
    return Probe(
        family=family,
        place=f"{entry.file.name}:{entry.line}",
        **fields,
    )


def _parse(entry: Entry, what: str, text: str, *, cut: bool = False) -> None:
    try:
        parse(text, ops=True)
    except FormulaError as error:
        remedy = "; inside of { } YAML cuts at commas: write one a line" if cut else ""
        raise entry.fail(f"{what}: {error}{remedy}") from None
