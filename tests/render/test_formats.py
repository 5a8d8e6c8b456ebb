"""The formats for other programs: valid, deterministic, and agreeing with each other."""

from __future__ import annotations

import csv
import json
from dataclasses import fields, replace

import jsonschema
import pytest
import samples

from gradcat import files
from gradcat.model import Node, Verification
from gradcat.render import Context, renderer
from gradcat.render.table import table
from gradcat.row import Row, values

CATALOG = samples.catalog()
CONTEXT = Context("2.13.0+cpu", "0.1.0")


def rendered(format, nodes=CATALOG.nodes):
    return "".join(renderer(format)(nodes, CONTEXT))


@pytest.fixture(scope="module")
def schema():
    with open(files.schema(), encoding="utf-8") as file:
        return json.load(file)


def test_the_schema_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("nodes", [CATALOG.nodes, CATALOG.nodes[:1], ()], ids=len)
def test_json_is_valid(schema, nodes):
    document = json.loads(rendered("json", nodes))
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
    assert document["summary"]["nodes"] == len(document["nodes"]) == len(nodes)


def test_json_leaves_nothing_out():
    [node] = json.loads(rendered("json", [samples.MUL]))["nodes"]
    assert set(node) == {field.name for field in fields(Node)} - {"probes"}
    assert node["forward"] == [{"output": "", **plain(samples.MUL.forward[""])}]
    assert node["backward"][0] == {
        "input": "self",
        **plain(samples.MUL.backward[0].formula),
        "local": plain(samples.MUL.backward[0].local),
        "absent": None,
        "reason": "",
    }


def plain(formula):
    return {"code": formula.code, "text": formula.text, "latex": formula.latex}


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_json_has_no_number_that_json_lacks(schema, number):
    node = replace(samples.MUL, verification=Verification("failed", "", number, number, None))
    document = json.loads(rendered("json", [node]), parse_constant=pytest.fail)
    jsonschema.validate(document, schema)
    assert document["nodes"][0]["verification"]["vjp_error"] is None


@pytest.mark.parametrize(
    "path",
    ["nodes/0/colour", "nodes/0/backward/0/why", "extra", "nodes/0/facts/mood"],
)
def test_the_schema_refuses_what_it_does_not_know(schema, path):
    document = json.loads(rendered("json", [samples.MUL]))
    *parents, last = path.split("/")
    place = document
    for part in parents:
        place = place[int(part) if part.isdigit() else part]
    place[last] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


@pytest.mark.parametrize("format", ["json", "csv", "markdown", "latex", "text"])
def test_two_runs_are_alike(format):
    assert rendered(format) == rendered(format, samples.catalog().nodes)


def test_csv():
    rows = list(csv.DictReader(rendered("csv").splitlines()))
    assert [row["name"] for row in rows] == [node.name for node in CATALOG.nodes]
    mul = rows[5]
    assert mul["backward"] == "self: ∂L/∂out ⊙ conj(other); other: ∂L/∂out ⊙ conj(self)"
    assert mul["bytes"] == "72"
    assert mul["numeric_error"] == "3e-11"
    assert rows[1]["reason"] == "needs a CUDA device"


MARKDOWN = r"""## MaxBackward0

selection · `aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)`

$$
\begin{aligned}
\mathrm{values} &= \max \\
\mathrm{indices} &= \arg\max \\
\frac{\partial L}{\partial \mathrm{self}} &= S \\
\mathrm{spread} &= S
\end{aligned}
$$

| input | formula | edge |
| --- | --- | --- |
| `self` | `spread` | edge 0 |
| `dim` | non_differentiable: it cannot move (an index, a mask, a flag) |  |
| `keepdim` | zero: the derivative is 0 |  |

| saved | role | bytes | when |
| --- | --- | --- | --- |
| `dim` | number |  | always |
| `indices` | index | 16 | always |

- made by: torch.max(self, dim)
- in place: edit self or values before backward: safe · edit indices: breaks
- again: second backward without retain\_graph: raises (saved tensors freed)
- orders: double backward: constant (the vjp does not depend on the inputs) · forward mode: works
- checked: failed: MaxBackward0.self: vjp is off by 0.5 (relative) · forward 0 · vjp 5e-01 · float64 · 1 probe
"""
LATEX = r"""\subsection*{MaxBackward1}
\[
\begin{aligned}
\mathrm{out} &= \max
\end{aligned}
\]
\texttt{self}: not\_implemented (torch raises).

"""


@pytest.mark.parametrize(
    ("format", "node", "expected"),
    [("markdown", samples.MAX0, MARKDOWN), ("latex", samples.MAX1, LATEX), ("latex", samples.CUDNN, "")],
)
def test_whole_output(format, node, expected):
    assert rendered(format, [node]) == expected


def test_table():
    rows = [Row(values(node)) for node in CATALOG.nodes]
    assert "".join(table(rows)) == (
        "AccumulateGrad     engine      harvested\n"
        "CudnnRnnBackward0  -           reflected\n"
        "ExpBackward0       pointwise   verified    exp(self)\n"
        "MaxBackward0       selection   failed      values = max_dim(self); indices = argmax_dim(self)\n"
        "MaxBackward1       selection   structural  max(self)\n"
        "MulBackward0       arithmetic  verified    self ⊙ other\n"
        "MulBackward1       arithmetic  unverified  self ⊙ other\n"
    )
    narrow = list(table(rows, 60))
    assert narrow[3] == "MaxBackward0       selection   failed      values = max_dim…\n"
    assert max(map(len, narrow)) <= 61
