"""A rule against the running op: forward, vjp, and finite differences of the op itself. Runs where torch is."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from .formula.evaluate import Evaluator, Scope
from .formula.syntax import parse
from .formula.vocabulary.sparse import densify
from .model import ABSENT, Probe
from .mutation import mutants
from .probe.harvest import class_name, direct_node, graph_of, plain
from .probe.measure import measure
from .probe.trial import Run, Trial, flatten, floating, noise_like, said, transform
from .schema import parse_schema

#: Largest relative error that passes, by the coarsest dtype of the probe: forward and vjp, and finite differences.
EXACT = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 2e-2, torch.bfloat16: 5e-2}
NUMERIC = {torch.float64: 1e-6, torch.float32: 2e-2, torch.float16: 2e-1, torch.bfloat16: 5e-1}
STEP = {torch.float64: 1e-3, torch.float32: 3e-2, torch.float16: 2e-1, torch.bfloat16: 5e-1}


class Mismatch(Exception):
    """A check that failed. The message names the node's input, the numbers and the probe."""


@dataclass
class Evidence:
    """What the checks of one rule have shown so far."""

    errors: dict[str, float] = field(default_factory=dict)
    dtypes: set[str] = field(default_factory=set)
    probes: int = 0
    raised: set[str] = field(default_factory=set)
    skipped: list[str] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)

    def reached(self, name: str) -> bool:
        """Whether any probe ran the formula of this input."""
        return f"vjp {name}" in self.errors or f"numeric {name}" in self.errors

    def add(self, check: str, error: float) -> None:
        self.errors[check] = max(self.errors.get(check, 0.0), error)


def verify(
    rule: Mapping[str, Any],
    probes: list[Probe],
    modules: Mapping[str, ModuleType],
    *,
    samples: int = 1,
    seed: int = 0,
    facts: bool = True,
) -> dict[str, Any]:
    """Evidence for one node, JSON-ready.

    `rule` has node, forward, where, backward, unverified and schema. Without formulas only the facts are measured.
    """
    record: dict[str, Any] = {"facts": {}, "verification": {}}
    if facts and probes:
        try:
            record["facts"] = measure(Trial(probes[0], modules, seed))
        except Exception as error:
            record["facts"] = {"error": said(error)}
    if rule["forward"] or rule["backward"]:
        rule = {**rule, **_scope_of(rule["schema"], probes)}
        record["verification"] = _check_all(rule, probes, modules, samples, seed)
    return record


def survivors(rule: Mapping[str, Any], probes: list[Probe], modules: Mapping[str, ModuleType]) -> dict[str, Any]:
    """Mutants of the backward formulas that pass every check: each is a hole in the probes, or means the same."""
    rule = {**rule, **_scope_of(rule["schema"], probes)}
    differentiable = [name for name, text in rule["backward"].items() if text not in ABSENT]
    names = [*differentiable, *rule["returns"], "grad"]
    formulas = [("backward", name) for name in differentiable] + [("where", name) for name in rule["where"]]
    count, alive = 0, []
    for part, name in formulas:
        for kind, text in mutants(rule[part][name], names):
            count += 1
            mutated = {**rule, part: {**rule[part], name: text}}
            if part == "backward":
                mutated["forward"] = {}
            if _check_all(mutated, probes, modules, 1, 0)["status"] == "verified":
                alive.append({"part": part, "name": name, "kind": kind, "mutant": text})
    return {"mutants": count, "survivors": alive}


def _scope_of(schema: str, probes: list[Probe]) -> dict[str, Any]:
    """Names of arguments and outputs, and the defaults; an op without a schema is known by its probes' inputs."""
    if not schema:
        return {"arguments": {name for probe in probes for name in probe.inputs}, "returns": ["result"], "defaults": {}}
    parsed = parse_schema(schema)
    return {
        "arguments": {argument.name for argument in parsed.arguments},
        "returns": [returned.name for returned in parsed.returns],
        "defaults": {a.name: a.value for a in parsed.arguments if a.default is not None},
    }


def _check_all(
    rule: Mapping[str, Any], probes: list[Probe], modules: Mapping[str, ModuleType], samples: int, seed: int
) -> dict[str, Any]:
    evidence = Evidence()
    usable = [p for p in probes if p.device == "cpu" and set(p.inputs) <= set(rule["arguments"])]
    if not usable:
        if any(p.device != "cpu" for p in probes):
            return {"status": "structural", "reason": "harvested without values: no kernel computes it on this machine"}
        return {
            "status": "unverified",
            "reason": rule["unverified"] or "no probe makes this node alone with its schema's names",
        }
    if rule["unverified"]:
        return {"status": "unverified", "reason": rule["unverified"]}
    try:
        for probe in usable:
            _check_probe(rule, probe, modules, samples, seed, evidence)
    except Mismatch as mismatch:
        return {"status": "failed", "reason": str(mismatch), **_errors(evidence)}
    todo = [name for name, text in rule["backward"].items() if text == "todo"]
    status, reason = "verified", ""
    if todo:
        status, reason = "unverified", f"no formula yet for {', '.join(todo)}"
    elif not any(text not in ABSENT for text in rule["backward"].values()) and evidence.raised:
        status, reason = "raises", "torch has no derivative for it"
    elif not evidence.probes:
        status, reason = "unverified", f"no probe could be run: {'; '.join(evidence.skipped[:1])}"
    elif unseen := [i for i, t in rule["backward"].items() if t not in ABSENT and not evidence.reached(i)]:
        status, reason = "unverified", f"no probe reaches the formula of {', '.join(unseen)}"
    return {"status": status, "reason": reason, **_errors(evidence)}


def _errors(evidence: Evidence) -> dict[str, Any]:
    def largest(check: str) -> float | None:
        found = [error for name, error in evidence.errors.items() if name.split(" ")[0] == check]
        return float(f"{max(found):.0e}") if found else None

    return {
        "forward_error": largest("forward"),
        "vjp_error": largest("vjp"),
        "numeric_error": largest("numeric"),
        "dtypes": sorted(evidence.dtypes),
        "probes": evidence.probes,
        "deviations": evidence.deviations,
    }


def _check_probe(
    rule: Mapping[str, Any],
    probe: Probe,
    modules: Mapping[str, ModuleType],
    samples: int,
    seed: int,
    evidence: Evidence,
) -> None:
    ran = False
    for complex_ in (False, True):
        for sample in range(samples):
            try:
                trial = Trial(probe, modules, seed + sample, complex_)
                check = Check(rule, trial, evidence)
            except Mismatch:
                raise
            except Exception as error:  # the op, not the formula: it takes no such input
                if not complex_:
                    evidence.skipped.append(f"{probe.call}: {said(error)}")
                break
            if complex_ and not (check.changed_by_mode and check.makes_node):
                break
            try:
                check.all()
            except Mismatch as mismatch:
                inputs = ", ".join(f"{name}={text}" for name, text in probe.inputs.items())
                mode = " (complex)" if complex_ else ""
                raise Mismatch(f"{rule['node']}.{mismatch} [{probe.place} {probe.call}; {inputs}]{mode}") from None
            ran = True
    evidence.probes += ran


class Check:
    """The three checks of one rule on one trial."""

    def __init__(self, rule: Mapping[str, Any], trial: Trial, evidence: Evidence) -> None:
        self.rule, self.trial, self.evidence = rule, trial, evidence
        self.deviations: list[str] = []
        complex_leaves = any(leaf.is_complex() for leaf in trial.leaves.values())
        self.changed_by_mode = complex_leaves and "complex_randn" not in "".join(trial.probe.inputs.values())
        self.run = trial.run()
        self.dtype = coarsest([*trial.leaves.values(), *self.run.outputs.values()])
        made, _ = graph_of(self.run)
        self.node = direct_node(self.run, made)
        self.makes_node = self.node is not None and class_name(self.node) == rule["node"]
        self.outputs = named_outputs(self.run, rule["returns"], self.node)
        self.cotangents = self._cotangents()
        self.vjps = self._vjps()
        self.scope = self._scope()

    def _cotangents(self) -> dict[str, torch.Tensor]:
        """Output path -> random cotangent, or the one that the probe says."""
        generator = torch.Generator().manual_seed(self.trial.torch_seed + 1)
        cotangents = {}
        for path, tensor in self.run.outputs.items():
            if tensor.requires_grad:
                cotangents[path] = noise_like(tensor, generator)
        if self.trial.probe.cotangent:
            names = {**{k: plainly(v) for k, v in self.outputs.items()}, **self.trial.inputs}
            for name, text in self.trial.probe.cotangent.items():
                path = next(p for p in cotangents if self.output_name(p) == name)
                with torch.no_grad():
                    cotangents[path] = self.trial.evaluator(text, {**names, "grad": cotangents[path]}).detach()
        return cotangents

    def output_name(self, path: str) -> str:
        """Schema name of an output by its path."""
        returns = self.rule["returns"]
        if path == "result" or len(returns) <= 1:
            return str(returns[0]) if returns else "result"
        return str(returns[int(path[7:].partition("]")[0])])

    def _vjps(self) -> dict[str, torch.Tensor | None] | Exception:
        """Leaf path -> what autograd returns for it; or what it raised."""
        edges = {path: GradientEdge(node, number) for (node, number), path in self.run.sources.items()}
        outputs = [self.run.outputs[path] for path in self.cotangents]
        if not outputs:
            return dict.fromkeys(edges)
        try:
            vjps = torch.autograd.grad(
                outputs, list(edges.values()), list(self.cotangents.values()), allow_unused=True, retain_graph=True
            )
        except (RuntimeError, NotImplementedError, ValueError) as error:
            if self.trial.complex_ and "not_implemented" not in self.rule["backward"].values():
                raise
            return error
        return dict(zip(edges, vjps, strict=True))

    def _scope(self) -> Scope:
        grads: dict[str, Any] = {}
        by_name: dict[str, Any] = {}
        for path, cotangent in self.cotangents.items():
            by_name.setdefault(self.output_name(path), []).append(plainly(cotangent))
        for name, values in by_name.items():
            listed = isinstance(self.outputs.get(name), (list, tuple))
            grads["grads" if listed and len(by_name) == 1 else f"grad_{name}"] = values if listed else values[0]
            if not listed and len(by_name) == 1 and "grad" not in self.trial.inputs:  # an op may call an argument so
                grads["grad"] = values[0]
        for name, value in self.outputs.items():
            if isinstance(value, torch.Tensor) and floating(value):
                grads.setdefault(f"grad_{name}", zeros_like(plainly(value)))
        primals = {name: plainly(value) for name, value in self.trial.inputs.items()}
        outputs = {name: plainly(value) for name, value in self.outputs.items()}
        clash = {name: value for name, value in outputs.items() if name not in primals}
        values = {**self.rule["defaults"], **primals, **clash, **grads}
        return Scope(values, self.rule["where"], evaluator=Evaluator())

    def evaluate(self, what: str, tree: ast.expr) -> Any:
        """Value of a formula. Numbers that it makes itself are double: torch's default would lose half the digits."""
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            with torch.no_grad():
                return self.scope.evaluator.visit(tree, self.scope)
        except Exception as error:
            raise Mismatch(f"{what}: cannot be evaluated: {said(error)}: {ast.unparse(tree)}") from error
        finally:
            torch.set_default_dtype(default)

    def all(self) -> None:
        """Run every check; raises Mismatch at the first that fails."""
        if not self.makes_node:
            made = class_name(self.node) if self.node is not None else "none or several"
            raise Mismatch(f"probe: makes {made}, not this node")
        self.evidence.dtypes |= {plain(leaf.dtype) for leaf in self.trial.leaves.values()}
        for name, text in self.rule["forward"].items():
            self.forward(name, text)
        for name, text in self.rule["backward"].items():
            self.backward(name, text)
        self.complete()
        if self.trial.probe.deviation and not self.deviations:
            raise Mismatch("probe: says deviation, but torch, formula and finite differences agree: take the key away")
        if self.deviations and not self.trial.complex_:
            found = f"{self.trial.probe.deviation} ({'; '.join(self.deviations)})"
            if not any(known.startswith(self.trial.probe.deviation) for known in self.evidence.deviations):
                self.evidence.deviations.append(found)

    def against(self, path: str, leaf: torch.Tensor, mine: Any, theirs: Any, name: str) -> None:
        """The formula against autograd and the op's slope. Where the probe says that torch deviates, one may fail."""
        failures: list[Mismatch] = []
        for check, *arguments in (
            (self.compare, "vjp", path, mine, theirs, name),
            (self.numeric, path, leaf, mine, name),
        ):
            try:
                check(*arguments)
            except Mismatch as mismatch:
                failures.append(mismatch)
        if failures and (not self.trial.probe.deviation or len(failures) > 1):
            raise failures[0]
        self.deviations += map(str, failures)

    def complete(self) -> None:
        """Every input that receives a vjp has an entry."""
        if isinstance(self.vjps, dict):
            for path, vjp in self.vjps.items():
                if vjp is not None and path.partition("[")[0] not in self.rule["backward"]:
                    raise Mismatch(f"{path}: receives a vjp, but the rule has no entry for it")

    def forward(self, name: str, text: str) -> None:
        """The formula equals the op's result, or the relation holds."""
        what = f"forward{f'.{name}' if name else ''}"
        tree = parse(text)
        if (relation := as_relation(tree)) is not None:
            left, right = (self.evaluate(what, side) for side in relation)
        else:
            left = self.evaluate(what, tree)
            key = name or (self.rule["returns"][0] if self.rule["returns"] else "result")
            if self.outputs.get(key) is None:
                return  # the call does not return this output
            right = plainly(self.outputs[key])
        self.compare("forward", what, left, right)

    def backward(self, name: str, text: str) -> None:
        """One input's entry: its formula against autograd and finite differences, or its word against what happens."""
        leaves = {path: leaf for path, leaf in self.trial.leaves.items() if path.partition("[")[0] == name}
        if text == "todo":
            return
        if text == "not_implemented":
            if leaves:
                self.raises(name, list(leaves))
            return
        if isinstance(self.vjps, Exception):
            if "not_implemented" in self.rule["backward"].values():
                return
            if not self.trial.probe.deviation:
                raise Mismatch(f"{name}: torch raises: {said(self.vjps)}")
        vjps = self.vjps if isinstance(self.vjps, dict) else {}
        if text == "non_differentiable":
            for path in leaves:
                if vjps.get(path) is not None:
                    raise Mismatch(f"{path}: said to be non_differentiable, but torch gives it a vjp")
            return
        if text == "zero":
            for path, leaf in leaves.items():
                vjp = vjps.get(path)
                if vjp is not None:
                    self.compare("vjp", path, zeros_like(plainly(vjp)), plainly(vjp), name)
                self.numeric(path, leaf, None, name)
            return
        if not leaves:
            return
        value = self.evaluate(name, parse(text))
        listed = isinstance(self.trial.inputs[name], (list, tuple))
        got = dict(flatten(value, name)) if listed else {name: value}
        for path, leaf in leaves.items():
            if path not in got:
                raise Mismatch(f"{path}: the formula gives no value for it")
            mine = conform(got[path], plainly(leaf), path)
            if isinstance(self.vjps, Exception):
                self.numeric(path, leaf, mine, name)
                self.deviations.append(f"{path}: torch raises: {said(self.vjps)}")
                continue
            vjp = vjps.get(path)
            theirs = zeros_like(plainly(leaf)) if vjp is None else plainly(vjp)  # an undefined vjp counts as zeros
            self.against(path, leaf, mine, theirs, name)

    def raises(self, name: str, paths: list[str]) -> None:
        """torch must refuse to differentiate with respect to this input alone."""
        for path in paths:
            try:
                run = self.trial.run(only=path)
                outputs = [t for t in run.outputs.values() if t.requires_grad]
                edges = [GradientEdge(node, number) for node, number in run.sources]
                torch.autograd.grad(outputs, edges, [torch.ones_like(t) for t in outputs], allow_unused=True)
            except (RuntimeError, NotImplementedError):
                self.evidence.raised.add(name)
                continue
            raise Mismatch(f"{path}: said to be not_implemented, but torch differentiates it")

    def numeric(self, path: str, leaf: torch.Tensor, vjp: Any, name: str) -> None:
        """The vjp along a random direction equals a central difference of the op, of fourth order."""
        if self.trial.probe.kink:
            return
        step = STEP[self.dtype]
        direction = noise_like(leaf, torch.Generator().manual_seed(self.trial.torch_seed + 2))
        if chosen := self.trial.probe.direction.get(name):
            with torch.no_grad():
                direction = self.trial.evaluator(chosen, {**self.trial.inputs, "direction": direction}).detach()

        def outputs(factor: float) -> list[Any]:
            with torch.no_grad():
                moved = add(leaf.detach(), direction, factor * step)
                run = self.trial.run({path: moved})
                return [plainly(run.outputs[p].detach()) for p in self.cotangents]

        far, near = (outputs(2), outputs(-2)), (outputs(1), outputs(-1))
        change = 0.0
        size = 1.0
        for i, cotangent in enumerate(self.cotangents.values()):
            slope = combine(near[0][i], near[1][i], far[0][i], far[1][i], step)
            change += inner(plainly(cotangent), slope)
            size = max(size, largest(slope) * largest(plainly(cotangent)))
        expected = 0.0 if vjp is None else inner(vjp, plainly(direction))
        error = abs(change - expected) / max(size, abs(expected))
        if not error <= NUMERIC[self.dtype]:
            raise Mismatch(f"{path}: finite differences of the op give {change:.6g}, the formula {expected:.6g}")
        self.evidence.add(f"numeric {name}", error)

    def compare(self, check: str, what: str, got: Any, want: Any, name: str = "") -> None:
        """Raise where two values differ by more than the tolerance of their dtype."""
        error = distance(got, want, what)
        if not error <= EXACT[self.dtype]:
            raise Mismatch(
                f"{what}: {check} is off by {error:.3g} (relative); {excerpt(got)} against torch's {excerpt(want)}"
            )
        self.evidence.add(f"{check} {name or what}", error)


def as_relation(tree: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of a formula whose outermost operator is `==`."""
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return tree.left, tree.comparators[0]
    return None


def named_outputs(run: Run, returns: list[str], node: Any) -> dict[str, Any]:
    """Outputs by their schema names. An output that the call hides is read from what the node saved of it."""
    result = run.result
    if len(returns) <= 1:
        return {returns[0] if returns else "result": detach(result)}
    items = list(result) if isinstance(result, (list, tuple)) else [result]
    outputs = {name: detach(item) for name, item in zip(returns, items, strict=False)}
    for name in returns[len(items) :]:
        with contextlib.suppress(AttributeError, RuntimeError):
            outputs[name] = detach(getattr(node, f"_saved_{name}"))
    return outputs


def detach(value: Any) -> Any:
    return transform(value, lambda _, tensor: tensor.detach())


def plainly(value: Any) -> Any:
    """The value as formulas see it: dense, detached; a nested tensor as the list of its parts."""

    def plain_tensor(_: str, tensor: torch.Tensor) -> Any:
        tensor = tensor.detach()
        if tensor.is_nested:
            return [part.detach() for part in tensor.unbind()]
        if tensor.layout is not torch.strided:
            return densify(tensor)
        if tensor._is_zerotensor():  # it has no memory to read
            return torch.zeros_like(tensor)
        return tensor.resolve_conj().resolve_neg()

    return transform(value, plain_tensor)


def zeros_like(value: Any) -> Any:
    return transform(value, lambda _, tensor: torch.zeros_like(tensor))


def add(leaf: torch.Tensor, direction: torch.Tensor, factor: float) -> torch.Tensor:
    """leaf + factor * direction, for every layout."""
    if leaf.layout is torch._mkldnn:  # type: ignore[attr-defined]
        return (leaf.to_dense() + factor * direction.to_dense()).to_mkldnn()
    if leaf.layout in (torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        rows_first = leaf.layout is torch.sparse_bsr
        places = (leaf.crow_indices(), leaf.col_indices()) if rows_first else (leaf.ccol_indices(), leaf.row_indices())
        values = leaf.values() + direction.values() * factor
        return torch.sparse_compressed_tensor(*places, values, leaf.shape, layout=leaf.layout)
    return leaf + direction * factor


def coarsest(tensors: list[torch.Tensor]) -> torch.dtype:
    """The real dtype of the least precise floating tensor."""
    order = list(EXACT)
    reals = [t.dtype.to_real() for t in tensors if floating(t)]
    return max((dtype for dtype in reals if dtype in order), key=order.index, default=torch.float64)


def conform(value: Any, like: Any, what: str) -> Any:
    """The two conventions: broadcast dimensions are summed, and a real input gets the real part."""
    if isinstance(like, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(like):
            raise Mismatch(f"{what}: the formula must give one value for each of the {len(like)} parts")
        return [conform(v, part, what) for v, part in zip(value, like, strict=True)]
    value = joined(value, like)
    if isinstance(value, (int, float, complex)) and like.ndim == 0:
        value = torch.as_tensor(value)
    if not isinstance(value, torch.Tensor):
        raise Mismatch(f"{what}: the formula gives a {type(value).__name__}, not a tensor")
    if value.layout is not torch.strided:
        value = value.to_dense()
    if value.shape != like.shape:
        try:
            fits = torch.broadcast_shapes(value.shape, like.shape) == value.shape
        except RuntimeError:
            fits = False
        if not fits:
            raise Mismatch(f"{what}: the formula gives shape {list(value.shape)}, the input has {list(like.shape)}")
        value = value.sum_to_size(like.shape)
    return value.real if value.is_complex() and not like.is_complex() else value


def joined(value: Any, like: Any) -> Any:
    """The tensor of a list of parts, where an op of nested tensors was given a dense one."""
    if not (isinstance(value, list) and value and isinstance(like, torch.Tensor)):
        return value
    fit = all(isinstance(part, torch.Tensor) and part.shape == like.shape[1:] for part in value)
    return torch.stack(value) if fit else value


def pairs(got: Any, want: Any, what: str) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Matching tensors of two values of like structure."""
    got = joined(got, want)
    if isinstance(want, (list, tuple)) or isinstance(got, (list, tuple)):
        if not isinstance(got, (list, tuple)) or not isinstance(want, (list, tuple)) or len(got) != len(want):
            raise Mismatch(f"{what}: the formula's value and torch's differ in structure")
        for mine, theirs in zip(got, want, strict=True):
            yield from pairs(mine, theirs, what)
    else:
        yield torch.as_tensor(got).detach(), torch.as_tensor(want).detach()


def distance(got: Any, want: Any, what: str) -> float:
    """Largest difference, relative to the largest finite number wanted (or 1); equal infinities and nans agree."""
    worst = 0.0
    for mine, theirs in pairs(got, want, what):
        if mine.shape != theirs.shape:
            raise Mismatch(f"{what}: shape {list(mine.shape)}, torch has {list(theirs.shape)}")
        if not theirs.numel():
            continue
        wide = torch.complex128 if mine.is_complex() or theirs.is_complex() else torch.float64
        mine, theirs = mine.to(wide), theirs.to(wide)
        same = (mine == theirs) | (mine.isnan() & theirs.isnan())
        if bool(same.all()):
            continue
        size = max(1.0, float(theirs.abs().nan_to_num(0.0, 0.0, 0.0).max()))
        off = torch.where(same, 0.0, (mine - theirs).abs())
        worst = max(worst, float("inf") if bool(off.isnan().any()) else float(off.max()) / size)
    return worst


def combine(near_up: Any, near_down: Any, far_up: Any, far_down: Any, step: float) -> Any:
    """Fourth-order central difference."""
    if isinstance(near_up, (list, tuple)):
        return [combine(*parts, step) for parts in zip(near_up, near_down, far_up, far_down, strict=True)]
    wide = torch.complex128 if near_up.is_complex() else torch.float64
    a, b, c, d = (t.to(wide) for t in (near_up, near_down, far_up, far_down))
    return (8 * (a - b) - (c - d)) / (12 * step)


def inner(a: Any, b: Any) -> float:
    """Real inner product of two values of like structure."""
    total = 0.0
    for x, y in pairs(a, b, "inner product"):
        wide = torch.complex128 if x.is_complex() or y.is_complex() else torch.float64
        total += float((x.to(wide).conj() * y.to(wide)).sum().real)
    return total


def largest(value: Any) -> float:
    return max((float(x.abs().max()) for x, _ in pairs(value, value, "size") if x.numel()), default=0.0)


def excerpt(value: Any) -> str:
    """The first numbers of a value, for messages."""
    tensors = [x for x, _ in pairs(value, value, "value")]
    if not tensors:
        return "nothing"
    flat = tensors[0].reshape(-1)[:3].tolist()
    return "[" + ", ".join(f"{x:.4g}" for x in flat) + (", ...]" if tensors[0].numel() > 3 else "]")
