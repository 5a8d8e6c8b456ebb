"""rules/*.yaml -> rules: the hand-written formulas, one file per family. Only here does anybody know of `like:`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .errors import GradcatError
from .formula.syntax import FormulaError, parse
from .model import ABSENT, Rule
from .yamlfile import Entry, read

KEYS = ("forward", "where", "backward", "like", "rename", "unverified", "notes", "source")


def load(paths: Iterable[Path | str]) -> dict[str, Rule]:
    """Node -> rule, from files and folders of files. A node has one rule."""
    raw: dict[str, tuple[Rule, dict[str, str]]] = {}
    for path in map(Path, paths):
        for file in sorted(path.glob("*.yaml")) if path.is_dir() else [path]:
            document = read(file)
            for node, entry in document.mapping(file.name) if document else ():
                if node in raw:
                    raise entry.fail(f"{node} has a rule already ({raw[node][0].place}); keep one")
                raw[node] = _rule(node, entry, file.stem)
    return {node: _resolve(node, raw, ()) for node in raw}


def _rule(node: str, entry: Entry, family: str) -> tuple[Rule, dict[str, str]]:
    parts = dict(entry.mapping(node, KEYS))
    backward: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for name, value in parts["backward"].mapping(f"{node}.backward") if "backward" in parts else ():
        if kind := next(iter(value.mapping(f"{node}.{name}", ("todo",))), None) if _is_mapping(value) else None:
            backward[name], reasons[name] = "todo", kind[1].text("todo")
            continue
        text = value.text(f"{node}.{name}")
        if text == "todo":
            raise value.fail(f"{node}.{name}: a todo needs its reason: write `todo: reason` on a line of its own")
        backward[name] = text
        if text not in ABSENT:
            _parse(value, f"{node}.{name}", text)
    forward = _texts(parts.get("forward"), f"{node}.forward")
    where = _texts(parts.get("where"), f"{node}.where")
    for name in where:
        if not name.isidentifier():
            raise entry.fail(f"{node}.where: {name!r} is not a name")
    if not (forward or "like" in parts or backward):
        raise entry.fail(f"{node}: an empty rule; write forward: and backward:, or like:")
    rule = Rule(
        node=node,
        family=family,
        forward=forward,
        where=where,
        backward=backward,
        reasons=reasons,
        like=parts["like"].text("like") if "like" in parts else "",
        unverified=parts["unverified"].text("unverified") if "unverified" in parts else "",
        notes=_notes(parts.get("notes")),
        source=parts["source"].text("source") if "source" in parts else "",
        place=f"{entry.file.name}:{entry.line}",
    )
    if "rename" in parts and not rule.like:
        raise parts["rename"].fail(f"{node}: rename: goes with like:")
    return rule, parts["rename"].texts("rename") if "rename" in parts else {}


def _is_mapping(entry: Entry) -> bool:
    return type(entry.node).__name__ == "MappingNode"


def _texts(entry: Entry | None, what: str) -> dict[str, str]:
    """A mapping of formulas, or one formula under the name ""."""
    if entry is None:
        return {}
    items = dict(entry.mapping(what)) if _is_mapping(entry) else {"": entry}
    texts = {name: item.text(f"{what}.{name}".rstrip(".")) for name, item in items.items()}
    for name, text in texts.items():
        _parse(items[name], f"{what}.{name}".rstrip("."), text)
    return texts


def _notes(entry: Entry | None) -> tuple[str, ...]:
    if entry is None:
        return ()
    if type(entry.node).__name__ == "SequenceNode":
        return tuple(item.text("notes") for item in entry.items("notes"))
    return (entry.text("notes"),)


def _parse(entry: Entry, what: str, text: str) -> None:
    try:
        parse(text)
    except FormulaError as error:
        raise entry.fail(f"{what}: {error}") from None


def _resolve(node: str, raw: dict[str, tuple[Rule, dict[str, str]]], above: tuple[str, ...]) -> Rule:
    """The rule with what it takes over from the node it is like."""
    rule, names = raw[node]
    if not rule.like:
        return rule
    if rule.like not in raw:
        raise GradcatError(f"{rule.place}: {node}: like: {rule.like} has no rule; write one, or correct the name")
    if node in above:
        raise GradcatError(f"{rule.place}: like: goes round in a circle: {' -> '.join((*above, node))}")
    base = _resolve(rule.like, raw, (*above, node))

    def renamed(texts: dict[str, str]) -> dict[str, str]:
        return {names.get(key, key): rename(text, names) for key, text in texts.items()}

    # a name that the rule itself defines is no input of its op
    inherited = {name: text for name, text in renamed(base.backward).items() if name not in rule.where}
    return replace(
        rule,
        forward={**renamed(base.forward), **rule.forward} if "" not in rule.forward else rule.forward,
        where={**renamed(base.where), **rule.where},
        backward={**inherited, **rule.backward},
        reasons={**base.reasons, **rule.reasons},
        notes=rule.notes or base.notes,
        source=rule.source or base.source,
    )


def rename(text: str, names: dict[str, str]) -> str:
    """The formula with other names in it; `grad_x` follows x."""
    if not names or text in ABSENT:
        return text
    names = {**names, **{f"grad_{old}": f"grad_{new}" for old, new in names.items()}}
    tree = ast.parse(text, mode="eval")
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and part.id in names:
            part.id = names[part.id]
    return ast.unparse(tree)
