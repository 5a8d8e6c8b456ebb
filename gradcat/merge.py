"""Everything known of every node class before a formula is run: probes, reflection, rules, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from . import __version__, files, probes, reflect, rules
from .errors import GradcatError
from .formula.typeset import Names, latex, local, text
from .installed import torch_build
from .model import Catalog, Edge, Formula, Node, Probe, Rule, Saved, Vjp
from .opnames import called
from .probe import runner
from .progress import Progress, silent
from .schema import parse_schema
from .snippet import snippet
from .words import ABSENT, NOT_YET
from .yamlfile import read

#: The torch that rules and probes were written on. Others work: what they lack or do otherwise is said.
TESTED = ("2.13.0",)

#: Why a class is only reflected, where nothing more is known.
NO_PROBE = "no probe makes it"


@dataclass(frozen=True)
class Sources:
    """The files that a catalog is made from, and the modules that a user's own probes need."""

    ops: tuple[Path, ...]
    rules: tuple[Path, ...]
    imports: tuple[str, ...] = ()

    @classmethod
    def default(cls) -> Sources:
        return cls((Path(files.ops()),), (Path(files.rules()),))


@dataclass(frozen=True)
class Harvest:
    """What running all probes gave, by probe and by class."""

    probes: Sequence[Probe]
    records: Sequence[Mapping[str, Any]]  # one a probe, in order
    classes: Sequence[Mapping[str, Any]]  # reflection of torch's namespaces


def harvest(
    sources: Sources, progress: Progress = silent, child: runner.Child | None = None, *, heavy: bool = False
) -> Harvest:
    """Run every probe in a child process; those that are heavy only where that is asked for."""
    entries = probes.load(sources.ops)
    chosen = [i for i, probe in enumerate(entries) if heavy or not probe.heavy]
    tasks: list[dict[str, Any]] = [{"task": "classes"}]
    tasks += [{"task": "probe", "probe": asdict(entries[i])} for i in chosen]
    answers = runner.run(
        tasks, imports=sources.imports, child=child, progress=lambda n: progress(n, len(tasks), "probing")
    )
    first = next(answers)
    if "classes" not in first:
        raise GradcatError(f"torch's autograd namespaces could not be listed: {first}")
    records: list[Mapping[str, Any]] = [{}] * len(entries)
    for i, answer in zip(chosen, answers, strict=True):
        # What is read off the probe's text is read here, while the child runs the next probe.
        made = {"snippet": snippet(entries[i], answer)} if answer.get("direct") else {}
        records[i] = {**answer, **made, "ops": called(entries[i].call, entries[i].inputs)}
    return Harvest(entries, records, first["classes"])


def build(sources: Sources | None = None, progress: Progress = silent, *, heavy: bool = False) -> Catalog:
    """Probe, reflect, pair. The parent reads rules and upstream's table while the child imports torch.

    Without `heavy`, probes that cost far more than torch's own import are left out, and `Catalog.complete` says so.
    """
    sources = sources or Sources.default()
    child = runner.Child()  # torch's import, the longest part, begins at once
    with ThreadPoolExecutor(1) as pool:
        known = pool.submit(_known, sources)
        try:
            found = harvest(sources, progress, child, heavy=heavy)
        finally:
            child.stop()
        return merge(found, *known.result())


def assemble(found: Harvest, sources: Sources) -> Catalog:
    """The catalog of a harvest that was made before."""
    return merge(found, *_known(sources))


def _known(sources: Sources) -> tuple[dict[str, Node], list[str]]:
    """What is known of nodes before anything runs, from rules and torch's files; and what is missing, as warnings."""
    warnings = []
    try:
        table = reflect.upstream()
    except reflect.UpstreamMissing as missing:
        table = {}
        warnings.append(str(missing))
    written = rules.load(sources.rules)
    paired = {name: _paired(name, written.get(name), table.get(name)) for name in {*written, *table}}
    for name, (reason, check) in _unreached().items():
        paired[name] = replace(paired.get(name, Node(name)), reason=reason, check=check)
    return _with_python(paired, reflect.python_functions()), warnings


def _unreached() -> dict[str, tuple[str, str]]:
    """Class -> why no probe records it, and a command that shows it."""
    document = read(Path(files.PACKAGE) / "unreached.yaml")
    return {
        name: (reason, check.text(name))
        for reason, entries in (document.mapping("unreached.yaml") if document else ())
        for name, check in entries.mapping(reason)
    }


def _with_python(paired: dict[str, Node], found: Iterable[reflect.PythonFunction]) -> dict[str, Node]:
    """The nodes, and those that torch writes in Python. Several classes may give their nodes one name."""
    places: dict[str, list[reflect.PythonFunction]] = {}
    for function in found:
        if not function["module"].startswith("torch.testing"):
            places.setdefault(function["node"], []).append(function)
    for name, functions in places.items():
        node = paired.get(name) or Node(name)
        paired[name] = replace(
            node,
            kind="python",
            where_defined="; ".join(f"{f['module']}.{f['name']} ({f['file']}:{f['line']})" for f in functions),
            notes=node.notes or tuple(f["doc"] for f in functions if f["doc"]),
        )
    return paired


def merge(found: Harvest, paired: Mapping[str, Node], warnings: Iterable[str] = ()) -> Catalog:
    """One node for every class that torch holds or that a probe made. Pure data.

    `paired` holds the nodes as rules and upstream know them.
    """
    direct: dict[str, list[int]] = {}  # class -> the probes that make it alone
    seen: dict[str, tuple[Probe, Mapping[str, Any], Mapping[str, Any]]] = {}  # class -> where it was seen best
    index: dict[str, dict[str, None]] = {}
    silent: dict[str, str] = {}
    warnings = list(warnings)
    for i, (probe, record) in enumerate(zip(found.probes, found.records, strict=True)):
        if failure := record.get("error") or record.get("died"):
            warnings.append(f"{probe.place}: {probe.call}: {failure}")
        for op in record.get("ops", ()):
            index.setdefault(op, {}).update(dict.fromkeys(record.get("graph", ())))
            silent.setdefault(op, _silence(record))
        if record.get("direct"):
            direct.setdefault(record["direct"], []).append(i)
        for entry in record.get("nodes", ()):
            name = entry["name"]
            if name not in seen or entry["rank"] > seen[name][2]["rank"]:
                seen[name] = probe, record, entry
    for made in direct.values():
        made.sort(key=lambda i: found.probes[i].device != "cpu")  # the first is what facts are measured on
    reflected = {entry["name"]: entry for entry in found.classes}
    made_by: dict[str, list[str]] = {}
    for op, names in index.items():
        for name in names:
            made_by.setdefault(name, []).append(op)
    nodes = []
    complete = all(record or not probe.heavy for probe, record in zip(found.probes, found.records, strict=True))
    python = {name for name, node in paired.items() if node.kind == "python"}
    for name in sorted({*reflected, *seen, *python}):
        node = paired.get(name) or Node(name)
        node = replace(node, kind=_kind(node, reflected.get(name), seen.get(name)))
        node = replace(node, reason=node.reason or (NO_PROBE if complete else NOT_YET))
        probes_ = [found.probes[i] for i in direct.get(name, ())]
        if name in seen:
            node = _harvested(node, *seen[name])
        node = replace(
            node,
            ops=tuple(made_by.get(name, ())),
            calls=tuple(dict.fromkeys(probe.call for probe in probes_)),
            probes=tuple(direct.get(name, ())),
            family=node.family or _family(node, probes_, seen.get(name)),
            snippet=next(filter(None, (found.records[i]["snippet"] for i in direct.get(name, ()))), ""),
        )
        nodes.append(node)
    gone = sorted(name for name, node in paired.items() if node.backward and name not in reflected and name not in seen)
    warnings += [f"rule of {name}: this torch has no such node" for name in gone]
    if (version := torch_build().version).partition("+")[0] not in TESTED:
        fresh = [node.name for node in nodes if node.name in reflected and not node.backward and not node.check]
        news = f"; new there, without a rule: {', '.join(fresh)}" if fresh else ""
        tested = ", ".join(TESTED)
        warnings.append(
            f"torch {version} is not one that this gradcat was tested with ({tested}): gradcat coverage{news}"
        )
    return Catalog(
        torch_version=version,
        gradcat_version=__version__,
        nodes=_with_siblings(nodes),
        index={op: tuple(names) for op, names in sorted(index.items())},
        silent={op: reason for op, reason in sorted(silent.items()) if not index[op]},
        warnings=tuple(warnings),
        complete=complete,
    )


def _paired(name: str, rule: Rule | None, row: reflect.Row | None) -> Node:
    """The node with its formulas, typeset, and with what upstream says of it."""
    node = Node(name) if row is None else Node(name, schema=row.schema, upstream=row.upstream)
    if rule is None:
        return node
    names = _names(node)
    return replace(
        node,
        family=rule.family,
        forward={name: printed(code, names) for name, code in rule.forward.items()},
        where={name: printed(code, names, relation=False) for name, code in rule.where.items()},
        backward=tuple(_vjp(name, code, rule, names) for name, code in rule.backward.items()),
        like=rule.like,
        notes=rule.notes,
        source=rule.source,
    )


def _names(node: Node) -> Names:
    """What typesetters must know of the names in a formula: the op's arguments, and which of them are numbers."""
    arguments = parse_schema(node.schema).arguments if node.schema else ()
    return Names(
        arguments=frozenset(argument.name for argument in arguments),
        scalars=frozenset(a.name for a in arguments if not a.type.startswith("Tensor")),
    )


def printed(code: str, names: Names, *, relation: bool = True) -> Formula:
    """The formula with its two notations; with `relation`, one that states what holds where it is an equation."""
    return Formula(code, text(code, names, relation=relation), latex(code, names, relation=relation))


def _vjp(name: str, code: str, rule: Rule, names: Names) -> Vjp:
    if code in ABSENT:
        return Vjp(name, absent=code, reason=rule.reasons.get(name, ""))
    scale = local(code, rule.where)
    return Vjp(name, printed(code, names), printed(scale, names) if scale is not None else None)


def _harvested(node: Node, probe: Probe, record: Mapping[str, Any], entry: Mapping[str, Any]) -> Node:
    """The node with what the probe showed."""
    returns = returns_of(node)

    def named(path: str) -> str:
        """Schema name of an output's path."""
        if not path.startswith("result[") or len(returns) < 2:
            return path if path != "result" or not returns else returns[0]
        return returns[int(path[7 : path.index("]")])]

    return replace(
        node,
        status="harvested",
        reason="",
        check="",
        device=probe.device,
        how=_how(probe, entry),
        edges=tuple(Edge(**edge) for edge in entry["edges"]),
        saved=tuple(
            Saved(
                **{
                    **saved,
                    "of": named(saved.get("of", "")),
                    "shape": tuple(saved["shape"]) if "shape" in saved else None,
                }
            )
            for saved in entry["saved"]
        ),
        outputs=tuple(f"{output['dtype']} {output['shape']}" for output in record["outputs"]),
        where_defined=node.where_defined or entry["python"],
    )


def _kind(node: Node, reflected: Mapping[str, Any] | None, seen: tuple[Any, Any, Mapping[str, Any]] | None) -> str:
    """Who made the class: torch's generator, its engine's authors, Python; unlisted where torch has no class for it."""
    if reflected is not None:
        return str(reflected["kind"])
    return "python" if node.kind == "python" or (seen and seen[2]["python"]) else "unlisted"


def _family(node: Node, direct: Sequence[Probe], seen: tuple[Probe, Any, Any] | None) -> str:
    """Family of a node that no rule puts into one."""
    if node.kind in ("python", "engine"):
        return node.kind
    return direct[0].family if direct else seen[0].family if seen else ""


def _silence(record: Mapping[str, Any]) -> str:
    """Why a probe's call made no node."""
    outputs = record.get("outputs", ())
    if not outputs:
        return "it returns no tensor"
    dtypes = sorted({output["dtype"] for output in outputs})
    if not any(dtype.startswith(("float", "bfloat", "complex")) for dtype in dtypes):
        return f"its result is {' and '.join(dtypes)}; autograd follows floating and complex numbers only"
    if not record.get("leaves"):
        return "it takes no tensor that can require grad"
    return "its result does not depend on the values of a tensor that requires grad"


def _how(probe: Probe, entry: Mapping[str, Any]) -> str:
    """In which way the probe reached the node, in words."""
    if probe.kernel and probe.device == "meta":
        return "on the meta device, with a kernel that only makes the output's shape"
    if probe.kernel:
        return "with a kernel that the probe brings, since torch has none for the CPU"
    if probe.dispatch:
        return f"with the dispatch key {probe.dispatch} forced"
    if probe.device == "meta":
        return "on the meta device, with torch's own kernel"
    return "" if entry["direct"] else "seen inside the graph of another op"


def returns_of(node: Node) -> list[str]:
    """Names of the op's outputs."""
    return [returned.name for returned in parse_schema(node.schema).returns] if node.schema else []


def _with_siblings(nodes: list[Node]) -> tuple[Node, ...]:
    """Nodes of one op differ in what follows "Backward"."""
    stems: dict[str, list[str]] = {}
    for node in nodes:
        stems.setdefault(node.name.partition("Backward")[0], []).append(node.name)
    return tuple(
        replace(node, siblings=tuple(n for n in stems[node.name.partition("Backward")[0]] if n != node.name))
        for node in nodes
    )
