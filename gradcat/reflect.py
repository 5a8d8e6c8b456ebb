"""What torch's own files and namespaces say of its node classes. No op is run.

The parent reads files, while its child imports torch: `upstream` the table that the classes were generated from,
`python_functions` the nodes that torch writes in Python. The child asks torch's namespaces: `classes`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

from .errors import GradcatError
from .installed import folder, torch_build, torch_folder
from .model import Upstream
from .schema import Schema, SchemaError, parse_schema

__all__ = ["Row", "UpstreamMissing", "classes", "parse_schema", "python_functions", "torch_build", "upstream"]


class UpstreamMissing(GradcatError):
    """The derivative table of this torch cannot be read. The catalog does without it: the message is a warning."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the derivative table says of one node class."""

    schema: str
    upstream: Upstream
    dispatch: str = ""  # the dispatch key under which the op records this class instead of its usual one
    overloads: tuple[str, ...] = ()  # the ops that record this class: "mul.Tensor", "mul_.Tensor"; out= never does
    saved: dict[str, str] = field(default_factory=dict)  # what the node keeps, as in `_saved_*` -> argument or output


def upstream(packaged: str = "") -> dict[str, Row]:
    """Row of every generated class by name. `packaged` is another folder than the one that came with torch."""
    packaged = packaged or os.path.join(folder("torchgen") or "torchgen", "packaged")
    try:
        entries = _entries(os.path.join(packaged, "autograd", "derivatives.yaml"))
        natives = _natives(os.path.join(packaged, "ATen", "native", "native_functions.yaml"))
        rows = _rows(entries)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    except (SchemaError, ValueError) as error:
        problem = f"{packaged}: {error}"
    else:
        written = {entry["name"].partition("(")[0] for entry in entries}
        rows |= _view_copies(rows, natives, written)
        recorded = _recorded(rows, natives, written)
        return {name: replace(row, overloads=tuple(recorded[name])) for name, row in rows.items()}
    raise UpstreamMissing(
        f"torch's derivative table cannot be read ({problem}): schemas and upstream's expressions are left out; "
        "it comes with torch: install torch again to have them"
    )


# The table


class _Native(NamedTuple):
    """One op of torch, and the ops that torchgen makes from it."""

    op: str
    schema: str
    autogen: list[str]


def _entries(path: str) -> list[dict[str, Any]]:
    import yaml

    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        entries = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {str(error).splitlines()[0]}") from None
    for entry in entries if isinstance(entries, list) else [entries]:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ValueError("derivatives.yaml is not a list of named entries")
    return entries


def _natives(path: str) -> list[_Native]:
    # NOTE: one key a line is all that is needed of this file. As YAML it takes forty times as long.
    with open(path, encoding="utf-8") as file:
        lines = re.findall(r"^(- func|  autogen): (.+)$", file.read(), re.MULTILINE)
    natives: list[_Native] = []
    for key, line in lines:
        text = line.partition(" #")[0].strip()
        if key == "- func":
            natives.append(_Native(text.partition("(")[0], text, []))
        elif natives:
            natives[-1].autogen.extend(text.split(", "))
    if not natives:
        raise ValueError("native_functions.yaml lists no ops")
    return natives


def _rows(entries: Iterable[Mapping[str, Any]]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    count: Counter[str] = Counter()
    for entry in entries:
        formulas = {key: value for key, value in entry.items() if key not in ("name", "output_differentiability")}
        schema = parse_schema(entry["name"])
        for dispatch, given in formulas.get("dispatch", {"Default": formulas}).items():
            if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
                raise ValueError(f"{schema.op}: {given!r} is not a mapping of names to expressions")
            backward, forward = _sides(given, schema)
            if all(_fixed(expression) for expression in backward.values()):
                continue  # nothing to differentiate, no class
            dispatch = "" if dispatch == "Default" else dispatch
            stem = _stem(schema.name) + dispatch
            saved = _saved(backward, schema)
            used = {*saved.values()}
            said = Upstream(
                formulas=backward,
                forward_mode=forward,
                saved_inputs=tuple(argument.name for argument in schema.arguments if argument.name in used),
                saved_outputs=tuple(output.name for output in schema.returns if output.name in used),
                non_differentiable_outputs=_constant(schema, backward, entry.get("output_differentiability")),
            )
            rows[f"{stem}{count[stem]}"] = Row(entry["name"], said, dispatch, saved=saved)
            count[stem] += 1
    return rows


def _stem(op: str) -> str:
    """Class name without its number: "_softmax" -> "SoftmaxBackward"."""
    camel = "".join(part.title() for part in op.split("_"))
    return f"{camel}Backward".replace("ForwardBackward", "Backward")


def _sides(formulas: Mapping[str, str], schema: Schema) -> tuple[dict[str, str], dict[str, str]]:
    """Expressions by input, in the order of the arguments, and by output. An entry for "self, other" is for both."""
    single = {name.strip(): text for names, text in formulas.items() for name in names.split(",")}
    inputs = [argument.name for argument in schema.arguments]
    backward = {name: single.pop(name) for name in inputs if name in single}
    if unknown := single.keys() - {output.name for output in schema.returns}:
        raise ValueError(f"{schema.op}: {', '.join(sorted(unknown))} is neither an argument nor an output")
    return backward, single


def _fixed(expression: str) -> bool:
    return expression.strip().lower() == "non_differentiable"


#: Properties of a tensor that a node keeps instead of the tensor, and how the attribute ends.
_PROPERTIES = {
    ".sym_sizes": "_sym_sizes",
    "->sym_sizes": "_sym_sizes_opt",
    ".sym_blocksize": "_self_sym_blocksize_opt",
    ".options": "_options",
    ".sym_size": "_sym_argsize_",
    ".numel": "_numel",
    ".sym_numel": "_sym_numel",
    ".scalar_type": "_scalar_type",
    ".dim": "_dim",
    ".sym_strides": "_sym_strides",
    ".layout": "_layout",
    ".is_conj": "_conjugate",
}
#: The same for functions that are called on one argument.
_FUNCTIONS = {
    "zeros_like": "_info",
    "to_args_sizes": "_args_sizes",
    "to_args_sizes_symint": "_args_sizes_symint",
    "to_args_scalartypes": "_args_scalartypes",
    "TensorGeometry": "_geometry",
}
_CALLED = re.compile(rf"\b({'|'.join(_FUNCTIONS)})\((\w+)\)")
_USED = re.compile(rf"\b([A-Za-z_]\w*)(?:({'|'.join(map(re.escape, _PROPERTIES))})\((-?\w*)\))?")


def _saved(backward: Mapping[str, str], schema: Schema) -> dict[str, str]:
    """Attributes that the backward expressions need -> the argument or output that each is taken from."""
    names = [*(argument.name for argument in schema.arguments), *(output.name for output in schema.returns)]
    used: dict[str, str] = {}

    def called(match: re.Match[str]) -> str:
        function, name = match.groups()
        if name not in names:
            return match[0]
        used[name + _FUNCTIONS[function]] = name
        return ""

    for expression in backward.values():
        if _fixed(expression):
            continue
        for name, read, of in _USED.findall(_CALLED.sub(called, expression)):
            if name in names:
                used[name + (_PROPERTIES[read] if read else "") + of.replace("-", "minus_")] = name
    return dict(sorted(used.items(), key=lambda item: names.index(item[1])))


def _constant(schema: Schema, backward: Mapping[str, str], said: Sequence[object] | None) -> tuple[str, ...]:
    """Outputs that never require grad."""
    outputs = [output.name for output in schema.returns]
    if said is not None:  # True, False, or the condition under which the output is differentiable; the rest is not
        return tuple(name for i, name in enumerate(outputs) if i >= len(said) or not said[i])
    tensors = [output.name for output in schema.returns if output.type.startswith("Tensor")]
    if any(re.search(r"\bgrad\b", expression) for expression in backward.values()):
        tensors = tensors[:1]  # `grad` is the cotangent of the first output, and then of the only one
    return tuple(name for name in outputs if name not in tensors)


# The ops that record a class


def _view_copies(rows: Mapping[str, Row], natives: Iterable[_Native], written: Collection[str]) -> dict[str, Row]:
    """The `_copy` of a view differentiates as the view does, in a class of its own."""
    schemas = {native.op: native.schema for native in natives}
    copies: dict[str, Row] = {}
    for name, row in rows.items():
        view = parse_schema(row.schema)
        copy = replace(view, name=f"{view.name}_copy").op
        if copy in schemas and copy not in written and any(output.alias for output in view.returns):
            copies[f"{name}_copy"] = replace(row, schema=schemas[copy])
    return copies


def _recorded(rows: Mapping[str, Row], natives: Iterable[_Native], written: Collection[str]) -> dict[str, list[str]]:
    """Class -> the ops that record it. An in-place op without an entry of its own goes by that of the op it varies."""
    recorded: dict[str, list[str]] = {}
    classes: dict[str, list[str]] = {}  # by op; several where dispatch keys have their own
    origins: dict[str, list[Schema]] = {}
    for name, row in rows.items():
        schema = parse_schema(row.schema)
        recorded[name] = [schema.op]
        classes.setdefault(schema.op, []).append(name)
        if not schema.name.startswith("_foreach_"):  # their in-place variants go by the op that they call on each item
            origins.setdefault(_base(schema.name), []).append(schema)
    for native in natives:
        if native.op in written:
            if native.op in classes and parse_schema(native.schema).mutates:
                made = [op for op in native.autogen if op not in written and not op.endswith((".out", "_out"))]
                for name in classes[native.op]:
                    recorded[name] += made
        elif native.op.partition(".")[0].endswith("_"):
            variant = parse_schema(native.schema)
            candidates = origins.get(_base(variant.name), ()) if variant.in_place else ()
            origin = next((origin for origin in candidates if _varies(variant, origin)), None)
            for name in classes[origin.op] if origin else ():
                recorded[name].append(native.op)
    return recorded


def _base(op: str) -> str:
    """What the variants of an op have in common: "add_" and "_foreach_add_" -> "add", "__iand__" -> "__and__"."""
    if op.startswith("__"):
        return op.replace("__i", "__", 1)
    return op.removeprefix("_foreach_").removesuffix("_")


def _varies(variant: Schema, origin: Schema) -> bool:
    """Whether both take the same arguments. A foreach op takes lists, and may lack arguments that have a default."""
    foreach = variant.name.startswith("_foreach_")
    shared, rest = origin.arguments[: len(variant.arguments)], origin.arguments[len(variant.arguments) :]
    return (
        len(shared) == len(variant.arguments)
        and all(argument.default is not None for argument in rest)
        and all(
            mine.type == theirs.type or (foreach and mine.type.removesuffix("[]") == theirs.type)
            for mine, theirs in zip(variant.arguments, shared, strict=True)
        )
    )


# Nodes written in Python


class PythonFunction(TypedDict):
    """A subclass of torch.autograd.Function that ships with torch."""

    name: str
    node: str  # the class of the grad_fn
    module: str
    file: str  # "torch/utils/checkpoint.py"
    line: int
    doc: str  # first line of the docstring


def python_functions(torch: str = "") -> list[PythonFunction]:
    """The nodes that torch writes in Python, by file and line. `torch` is another folder than the installed one.

    They are found in the text, for importing all of torch's modules takes long. What torch makes at run time has no
    text: `GeneratedBackwardFor_*` of custom ops. Those in torch.testing are PyTorch's own test cases.
    """
    torch = torch or torch_folder()
    found: list[PythonFunction] = []
    for path in _python_files(torch):
        with open(path, "rb") as file:
            data = file.read()
        if _CANDIDATE.search(data):
            found += _functions(data.decode("utf-8", "replace"), os.path.relpath(path, torch).replace(os.sep, "/"))
    return sorted(found, key=lambda entry: (entry["file"], entry["line"]))


def _python_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _python_files(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path


_BASE_NAMES = r"(?:Function|InplaceFunction|NestedIOFunction)"
_DOTTED = re.compile(rf"(?:\w+\.)*autograd\.(?:function\.)?{_BASE_NAMES}")
_MODULES = r"(?:[\w.]*\bautograd(?:\.function)?|\.+function)"
_IMPORT = re.compile(rf"^[ \t]*from {_MODULES} import (\([^)]*\)|.*)", re.MULTILINE)
#: What a file must hold to be looked at closely: fifty of two thousand do.
_CANDIDATE = re.compile(rb"class +\w+ *\([^)]*Function\b")
_LONG = r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
_SHORT = r'"(?:\\.|[^"\\\n])*"'
_CLASS = re.compile(
    # Comments and strings are matched to be passed over: their examples hold classes too.
    "|".join((r"#[^\n]*", _LONG, _LONG.replace('"', "'"), _SHORT, _SHORT.replace('"', "'")))
    + r"|^[ \t]*class[ \t]+(?P<name>\w+)[ \t]*\((?P<bases>[^()]*)\)[ \t]*:",
    re.MULTILINE | re.DOTALL,
)
_DOC = re.compile(r'(?:\s|#.*)*[rR]?"""\s*(.*?)\s*(?:"""|$)', re.MULTILINE)


def _functions(text: str, file: str) -> Iterator[PythonFunction]:
    module = f"torch.{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    # A bare `Function` is torch's only where it was imported as such: sympy has one too.
    known = {name for names in _IMPORT.findall(text) for name in re.findall(rf"\b{_BASE_NAMES}\b", names)}
    for match in _CLASS.finditer(text):
        name = match["name"]
        if not name:
            continue
        bases = [base.strip() for base in match["bases"].split(",")]
        if not any(base in known or _DOTTED.fullmatch(base) for base in bases):
            continue
        known.add(name)
        doc = _DOC.match(text, match.end())
        yield PythonFunction(
            name=name,
            node=f"{name}Backward",
            module=module,
            file=f"torch/{file}",
            line=text.count("\n", 0, match.start("name")) + 1,
            doc=doc[1] if doc else "",
        )


# torch's namespaces


class NodeClass(TypedDict):
    """A class that torch registers for a node."""

    name: str
    kind: str  # "generated" from the derivative table, or written by hand for the "engine"
    saved: list[str]  # attributes without `_saved_`


def classes() -> list[NodeClass]:
    """Every class of torch's namespace of nodes, which is `torch._C._functions`. Imports torch.

    `torch.autograd.function` holds none of them: only the bases of what is written in Python.
    """
    import torch

    return [
        NodeClass(
            name=name,
            # Generated classes cannot be made from Python; those written by hand have a constructor.
            kind="engine" if "__new__" in vars(class_) else "generated",
            saved=[attribute.removeprefix("_saved_") for attribute in vars(class_) if attribute.startswith("_saved_")],
        )
        for name, class_ in sorted(vars(torch._C._functions).items())
        if not name.startswith("__")
    ]
