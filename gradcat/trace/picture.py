"""The graph as a picture: boxes and arrows, folded until a person can look at it."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..errors import GradcatError
from .fold import fold
from .lines import Lines

#: More boxes than this are no picture any more.
MOST = 60
#: Names of leaves that a box lists before it counts the rest.
NAMED = 4
#: Seconds that graphviz may take.
PATIENCE = 60


@dataclass
class Box:
    """Some nodes that are drawn as one. Leaves are no boxes: graphviz takes minutes over one that many nodes share."""

    title: str
    lines: list[str] = field(default_factory=list)


@dataclass
class Picture:
    boxes: list[Box]
    arrows: dict[tuple[int, int], str]  # from the cotangent's side: output to input
    folded: str = ""


def draw(lines: Lines, chosen: Sequence[int]) -> Picture:
    """Boxes for nodes; where they are too many, for modules, for repeats, or for stretches of the graph."""
    nodes = [i for i in chosen if not lines.graph.is_leaf(i)]
    groups, how = _groups(lines, nodes)
    of = {i: number for number, group in enumerate(groups) for i in group}
    boxes = [_box(lines, group) for group in groups]
    arrows: dict[tuple[int, int], str] = {}
    alone = how == ""
    for i in nodes:
        if not alone:
            pairs = [(to, "") for to in lines.graph.targets(i) if to in of]
        else:
            pairs = [(flow.to, flow.input) for flow in lines.flows(i) if flow.to in of]
        for to, label in pairs:
            if of[to] != of[i]:
                known = arrows.get((of[i], of[to]))
                arrows[of[i], of[to]] = f"{known}, {label}" if known and label else label
    return Picture(boxes, arrows, how and f"{len(nodes)} nodes in {len(boxes)} boxes, {how}")


def _groups(lines: Lines, nodes: list[int]) -> tuple[list[list[int]], str]:
    if len(nodes) <= MOST:
        return [[i] for i in nodes], ""
    paths = [lines.modules[i] for i in nodes]
    deepest = max((path.count(".") + 1 for path in paths if path), default=0)
    for depth in range(deepest, 0, -1):
        modules: dict[str, list[int]] = {}
        for i, path in zip(nodes, paths, strict=True):
            modules.setdefault(".".join(path.split(".")[:depth]), []).append(i)
        if 1 < len(modules) <= MOST:
            return list(modules.values()), "folded by module"
    blocks = list(fold([lines.key(i) for i in nodes]))
    if len(blocks) <= MOST:
        return [nodes[block.start : block.end] for block in blocks], "folded by repeat"
    step = -(-len(nodes) // MOST)
    return [nodes[k : k + step] for k in range(0, len(nodes), step)], f"each of {step} in a row"


def _box(lines: Lines, group: list[int]) -> Box:
    leafs = _leafs(lines, group)
    if len(group) == 1:
        i = group[0]
        name = lines.name(i)
        flows = [f for f in lines.flows(i) if f.formula and f.formula != "zero"]
        return Box(
            f"#{i} {lines.node(i)}" + (f" {name}" if name else ""),
            [lines.layout(i), *(f"{f.input}: {f.formula}" for f in flows if f.to >= 0), *leafs],
        )
    counts = Counter(lines.node(i) for i in group).most_common(NAMED)
    modules = {lines.modules[i] for i in group}
    module = next(iter(modules)) if len(modules) == 1 else _shared(modules)
    return Box(module or f"#{group[0]} to #{group[-1]}", [*(f"{name} x {count}" for name, count in counts), *leafs])


def _shared(paths: set[str]) -> str:
    from .names import common

    first, *others = sorted(paths)
    for path in others:
        first = common(first, path)
    return first


def _leafs(lines: Lines, group: list[int]) -> list[str]:
    """Names of the leaves that a box's nodes take."""
    ends = {to: None for i in group for to in lines.graph.targets(i) if to >= 0 and lines.graph.is_leaf(to)}
    names = [lines.name(to) or f"leaf #{to}" for to in ends]
    more = [f"and {len(names) - NAMED} leaves more"] if len(names) > NAMED else []
    return [f"→ {name}" for name in names[:NAMED]] + more


def dot(lines: Lines, chosen: Sequence[int]) -> Iterator[str]:
    """The picture in graphviz's language."""
    picture = draw(lines, chosen)
    yield 'digraph gradcat {\n  node [shape=box, fontname="sans-serif", fontsize=10];\n'
    yield '  edge [fontname="sans-serif", fontsize=9];\n'
    if picture.folded:
        yield f"  label={_quoted(picture.folded)};\n"
    for number, box in enumerate(picture.boxes):
        yield f"  n{number} [label={_quoted(box.title, *box.lines)}];\n"
    for (start, end), label in picture.arrows.items():
        yield f"  n{start} -> n{end}" + (f" [label={_quoted(label)}]" if label else "") + ";\n"
    yield "}\n"


def _quoted(*lines: str) -> str:
    text = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if line)
    return f'"{text}"'


def mermaid(lines: Lines, chosen: Sequence[int]) -> Iterator[str]:
    """The picture in mermaid's language, for Markdown pages."""
    picture = draw(lines, chosen)
    if picture.folded:
        yield f"---\ntitle: {picture.folded}\n---\n"
    yield "flowchart TD\n"
    for number, box in enumerate(picture.boxes):
        yield f"  n{number}[{_escaped(box.title, *box.lines)}]\n"
    for (start, end), label in picture.arrows.items():
        yield f"  n{start} -->" + (f"|{_escaped(label)}| " if label else " ") + f"n{end}\n"


def _escaped(*lines: str) -> str:
    special = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    kept = ["".join(special.get(character, character) for character in line) for line in lines if line]
    return f'"{"<br>".join(kept)}"'


def image(lines: Lines, chosen: Sequence[int], format: str) -> bytes:
    """The picture as graphviz draws it: svg or png."""
    program = shutil.which("dot")
    if program is None:
        raise GradcatError(
            f"--format {format} needs graphviz, and there is no `dot` on the PATH; "
            "install graphviz, or take --format dot or mermaid"
        )
    text = "".join(dot(lines, chosen)).encode()
    try:
        return subprocess.run(
            [program, f"-T{format}"], input=text, capture_output=True, check=True, timeout=PATIENCE
        ).stdout
    except subprocess.TimeoutExpired:
        raise GradcatError(f"graphviz took more than {PATIENCE} s; --depth makes the picture smaller") from None
    except subprocess.CalledProcessError as error:
        raise GradcatError(f"graphviz failed: {error.stderr.decode(errors='replace').strip()}") from None
