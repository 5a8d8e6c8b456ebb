"""The lines that a reader can paste to see a node appear: a probe, written in plain torch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .formula.vocabulary import CONSTANTS
from .model import Probe

#: A sampler's call in plain torch. {0} is the first argument, {all} every argument, {rest} all but the first.
PLAIN = {
    "randn": "torch.randn({all})",
    "complex_randn": "torch.randn({all}, dtype=torch.complex128)",
    "uniform": "torch.empty({rest2}).uniform_({0}, {1})",
    "positive": "torch.rand({all}) + 0.5",
    "nonzero": "torch.rand({all}) + 0.3",
    "distinct": "torch.randn({all})",
    "labels": "torch.randint({0}, ({rest},))",
    "integers": "torch.randint({0}, {1}, ({rest2},))",
    "permutation": "torch.randperm({all})",
    "mask": "torch.rand({all}) < 0.5",
    "tensor": "torch.tensor({all})",
    "const": "{0}",
    "float32": "({0}).float()",
    "bfloat16": "({0}).bfloat16()",
    "float16": "({0}).half()",
    "invertible": "torch.randn({all}, {last}) + {last} * torch.eye({last})",
}


def snippet(probes: Sequence[Probe]) -> str:
    """Lines that make the node of these probes, "" where plain torch on a CPU cannot."""
    for probe in probes:
        if not (probe.device != "cpu" or probe.kernel or probe.dispatch or probe.needs):
            try:
                return _lines(probe)
            except KeyError:  # a sampler or function that plain torch has no short form for
                continue
    return ""


def _lines(probe: Probe) -> str:
    lines = ["import torch"]
    edits = any(isinstance(n, ast.Attribute) and n.attr.endswith("_") for n in ast.walk(_parsed(probe.call)))
    for name, text in probe.inputs.items():
        plain = _plain(_parsed(text))
        if _is_floating(text):
            plain = f"{_atom(plain)}.requires_grad_()" + (".clone()" if edits else "")
        lines.append(f"{name} = {plain}")
    return "\n".join([*lines, f"{_atom(_plain(_parsed(probe.call)))}.grad_fn"])


def _atom(code: str) -> str:
    """The expression, in parentheses where a method of it could not follow."""
    return code if isinstance(_parsed(code), (ast.Call, ast.Attribute, ast.Name, ast.Subscript)) else f"({code})"


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is_floating(text: str) -> bool:
    """Whether the sampler makes one tensor that requires grad."""
    tree = _parsed(text)
    return (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id not in ("const", "labels", "integers", "permutation", "mask")
        and not (tree.func.id == "tensor" and "." not in text)
    )


def _plain(tree: ast.expr) -> str:
    return ast.unparse(_Plain().visit(tree))


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
            rest=", ".join(arguments[1:]),
            rest2=", ".join(arguments[2:]),
            last=arguments[-1] if arguments else "",
        )
        return _parsed(made)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _parsed(f"float({node.id!r})") if node.id in ("inf", "nan") and node.id in CONSTANTS else node
