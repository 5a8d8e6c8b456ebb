"""The lines that a reader can paste to see a node appear: a probe, written in plain torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from .formula.syntax import names
from .model import Probe
from .probe.late import LATE

#: A sampler's call in plain torch. {0} is the first argument, {all} every argument, {rest} all but the first.
PLAIN = {
    "randn": "torch.randn({shape})",
    "complex_randn": "torch.randn({shape}, dtype=torch.complex128)",
    "uniform": "torch.empty({shape2}).uniform_({0}, {1})",
    "positive": "torch.rand({shape}) + 0.5",
    "nonzero": "torch.rand({shape}) + 0.3",
    "distinct": "torch.randn({shape})",
    "labels": "torch.randint({0}, ({rest},))",
    "integers": "torch.randint({0}, {1}, ({rest2},))",
    "permutation": "torch.randperm({all})",
    "mask": "torch.rand({shape}) < 0.5",
    "tensor": "torch.tensor({all})",
    "const": "{0}",
    "float32": "({0}).float()",
    "bfloat16": "({0}).bfloat16()",
    "float16": "({0}).half()",
    "invertible": "torch.randn({all}, {last}) + {last} * torch.eye({last})",
    "spd": "torch.eye({last}).expand({all}, {last}) + 0.1",
    "symmetric": "torch.diag_embed(torch.rand({all}))",
}


def snippet(probe: Probe, record: Mapping[str, Any]) -> str:
    """Lines that make the node of this probe, "" where plain torch on a CPU cannot."""
    if probe.device != "cpu" or probe.kernel or probe.dispatch or probe.needs:
        return ""
    try:
        return "\n".join(_lines(probe, record))
    except KeyError:  # a sampler or function that plain torch has no short form for
        return ""


def _lines(probe: Probe, record: Mapping[str, Any]) -> Iterator[str]:
    yield "import torch"
    text = " ".join((probe.call, *probe.inputs.values()))
    yield from (f"import {root}" for root in _roots(probe))
    yield from (f"import {module}" for module in LATE if f"{module}." in text)
    if "float64" in text:
        yield "torch.set_default_dtype(torch.float64)"
    edits = any(isinstance(n, ast.Attribute) and n.attr.endswith("_") for n in ast.walk(_parsed(probe.call)))
    for name, sampler in probe.inputs.items():
        tree = _Plain().visit(_parsed(sampler))
        leaves = [path for path in record["leaves"] if path.partition("[")[0] == name]
        copy = ".clone()" if edits else ""
        detach = ".detach()" if names(tree)[0] & set(probe.inputs) else ""
        if leaves == [name]:
            yield f"{name} = {_atom(tree)}{detach}.requires_grad_(){copy}"
        elif leaves and isinstance(tree, ast.List) and len(leaves) == len(tree.elts):
            yield f"{name} = [{', '.join(f'{_atom(item)}.requires_grad_(){copy}' for item in tree.elts)}]"
        elif leaves:
            yield f"{name} = [x{detach}.requires_grad_(){copy} for x in {ast.unparse(tree)}]"
        else:
            yield f"{name} = {ast.unparse(tree)}"
    yield f"{_atom(_Plain().visit(_parsed(probe.call)))}{record['root'].removeprefix('result')}.grad_fn"


def _roots(probe: Probe) -> list[str]:
    """Modules of the user's own that the call names."""
    dotted = (node for node in ast.walk(_parsed(probe.call)) if isinstance(node, ast.Attribute))
    roots = {node.value.id for node in dotted if isinstance(node.value, ast.Name)}
    parameters = {node.arg for node in ast.walk(_parsed(probe.call)) if isinstance(node, ast.arg)}
    return sorted(roots - {"torch", *probe.inputs} - parameters)


def _atom(tree: ast.expr) -> str:
    """Code of an expression, in parentheses where a method of it could not follow."""
    code = ast.unparse(tree)
    return code if isinstance(tree, (ast.Call, ast.Attribute, ast.Name, ast.Subscript)) else f"({code})"


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Plain(ast.NodeTransformer):
    """Samplers become calls of torch; anything else that is called by a bare name has no plain form."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        arguments = [ast.unparse(argument) for argument in node.args]
        made = PLAIN[node.func.id].format(
            *arguments,
            all=", ".join(arguments),
            shape=", ".join(arguments) or "()",
            shape2=", ".join(arguments[2:]) or "()",
            rest=", ".join(arguments[1:]),
            rest2=", ".join(arguments[2:]),
            last=arguments[-1] if arguments else "",
        )
        return _parsed(made.replace("(,)", "()"))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _parsed(f"float({node.id!r})") if node.id in ("inf", "nan") else node
