"""The stable JSON export: see gradcat/schema.json. What a record keeps by name is a list here: the order matters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..record import encode
from ..row import Row, summary, values

if TYPE_CHECKING:
    from ..model import Node
    from . import Context

#: Rises when the form of the export changes.
SCHEMA_VERSION = 1
FORMULA = ("code", "text", "latex")


def render(nodes: Iterable[Node], context: Context) -> Iterator[str]:
    """One document, a node at a time."""
    nodes = list(nodes)
    head = {
        "schema_version": SCHEMA_VERSION,
        "gradcat_version": context.gradcat_version,
        "torch_version": context.torch_version,
        "summary": summary(Row(values(node)) for node in nodes),
    }
    yield _text(head).removesuffix("\n}") + ',\n  "nodes": ['
    for i, node in enumerate(nodes):
        yield (",\n    " if i else "\n    ") + _text(exported(node)).replace("\n", "\n    ")
    yield "\n  ]\n}\n" if nodes else "]\n}\n"


def exported(node: Node) -> dict[str, Any]:
    """One node as the export has it."""
    record: dict[str, Any] = dict(encode(node))
    del record["probes"]  # positions in files that a reader does not have
    record["forward"] = [{"output": name, **formula} for name, formula in record["forward"].items()]
    record["where"] = [{"name": name, **formula} for name, formula in record["where"].items()]
    record["backward"] = [_vjp(vjp) for vjp in record["backward"]]
    record["verification"] = {name: _finite(value) for name, value in record["verification"].items()}
    return record


def _vjp(vjp: dict[str, Any]) -> dict[str, Any]:
    formula = vjp["formula"] or dict.fromkeys(FORMULA)
    return {
        "input": vjp["input"],
        **{name: formula[name] for name in FORMULA},
        "local": vjp["local"],
        "absent": vjp["absent"] or None,
        "reason": vjp["reason"],
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity: an error that is none stands as null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
