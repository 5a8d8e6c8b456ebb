"""The verifier catches what it is there to catch, and passes what is right."""

import pytest

from gradcat.model import Probe
from gradcat.verify import verify

MUL = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
MM = "mm(Tensor self, Tensor mat2) -> Tensor"
SOFTMAX = "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"
EXP = "exp(Tensor self) -> Tensor"
MAX = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"

PROBES = {
    "MulBackward0": ("torch.mul(self, other)", {"self": "randn(2, 3)", "other": "randn(3)"}, MUL),
    "MmBackward0": ("torch.mm(self, mat2)", {"self": "randn(2, 3)", "mat2": "randn(3, 4)"}, MM),
    "SoftmaxBackward0": ("torch.softmax(self, dim)", {"self": "randn(2, 3)", "dim": "1"}, SOFTMAX),
    "ExpBackward0": ("torch.exp(self)", {"self": "randn(2, 3)"}, EXP),
    "MaxBackward0": ("torch.max(self, dim)", {"self": "distinct(2, 3)", "dim": "1"}, MAX),
    "FloorBackward0": ("torch.floor(self)", {"self": "randn(2, 3)"}, "floor(Tensor self) -> Tensor"),
    "NormalBackward1": (
        "",
        {},
        "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
    ),
    "GeqrfBackward0": ("torch.geqrf(self)", {"self": "randn(3, 2)"}, "geqrf(Tensor self) -> (Tensor a, Tensor tau)"),
}


def check(node, forward, backward, where=None, **changes):
    call, inputs, schema = PROBES[node]
    probe = Probe(**{"call": call, "inputs": inputs, "family": "test", **changes})
    rule = {
        "node": node,
        "forward": forward if isinstance(forward, dict) else {"": forward},
        "where": where or {},
        "backward": backward,
        "unverified": "",
        "schema": schema,
    }
    return verify(rule, [probe], {}, facts=False)["verification"]


RIGHT = [
    ("MulBackward0", "self * other", {"self": "grad * conj(other)", "other": "grad * conj(self)"}),
    ("MmBackward0", "self @ mat2", {"self": "grad @ mH(mat2)", "mat2": "mH(self) @ grad"}),
    (
        "SoftmaxBackward0",
        "exp(self) / sum(exp(self), dim, keepdim=True)",
        {"self": "result * (grad - sum(grad * result, dim, keepdim=True))"},
    ),
    ("ExpBackward0", "result == exp(self)", {"self": "grad * conj(result)"}),
    ("FloorBackward0", "floor(self)", {"self": "zero"}),
]


@pytest.mark.parametrize(("node", "forward", "backward"), RIGHT, ids=[row[0] for row in RIGHT])
def test_right(node, forward, backward):
    record = check(node, forward, backward)
    assert record["status"] == "verified", record["reason"]
    assert record["forward_error"] <= 1e-12
    assert record["vjp_error"] <= 1e-12
    assert record["numeric_error"] is None or record["numeric_error"] <= 1e-8


def test_complex_is_tried_where_the_op_takes_it():
    assert check(*RIGHT[0])["dtypes"] == ["complex128", "float64"]
    assert check(*RIGHT[4])["dtypes"] == ["float64"]  # floor takes none


GOOD_MM = {"self": "grad @ mH(mat2)", "mat2": "mH(self) @ grad"}
WRONG = {
    "sign": ("ExpBackward0", "exp(self)", {"self": "-grad * conj(result)"}),
    "factor": ("ExpBackward0", "exp(self)", {"self": "2 * grad * conj(result)"}),
    "small factor": ("ExpBackward0", "exp(self)", {"self": "grad * conj(result) * 1.00001"}),
    "transpose": ("MmBackward0", "self @ mat2", {**GOOD_MM, "self": "mT(grad) @ mH(mat2)"}),
    "missing conj": ("MulBackward0", "self * other", {"self": "grad * other", "other": "grad * conj(self)"}),
    "swapped inputs": ("MulBackward0", "self * other", {"self": "grad * conj(self)", "other": "grad * conj(other)"}),
    "forward": ("ExpBackward0", "exp(self) + 1", {"self": "grad * conj(result)"}),
    "relation": ("ExpBackward0", "result == exp(2 * self)", {"self": "grad * conj(result)"}),
    "vjp of softmax is zero": ("SoftmaxBackward0", "exp(self) / sum(exp(self), dim, keepdim=True)", {"self": "zero"}),
    "zero": ("ExpBackward0", "exp(self)", {"self": "zero"}),
    "not zero": ("FloorBackward0", "floor(self)", {"self": "grad"}),
    "non_differentiable": ("ExpBackward0", "exp(self)", {"self": "non_differentiable"}),
    "not_implemented": ("ExpBackward0", "exp(self)", {"self": "not_implemented"}),
    "missing input": ("MulBackward0", "self * other", {"self": "grad * conj(other)"}),
    "misspelled": ("ExpBackward0", "exp(self)", {"self": "grd * conj(result)"}),
    "shape": ("MmBackward0", "self @ mat2", {**GOOD_MM, "self": "sum(grad @ mH(mat2), 0)"}),
    "number": ("ExpBackward0", "exp(self)", {"self": "1"}),
}


@pytest.mark.parametrize(("node", "forward", "backward"), WRONG.values(), ids=WRONG)
def test_wrong(node, forward, backward):
    record = check(node, forward, backward)
    assert record["status"] == "failed"
    assert record["reason"].startswith(f"{node}.")


def test_wrong_class():
    record = check("ExpBackward0", "exp(self)", {"self": "grad"}, call="torch.sin(self)")
    assert record["status"] == "failed"
    assert "makes SinBackward0, not this node" in record["reason"]


def test_kinks_are_not_asked_for_a_slope():
    inputs = {"self": "tensor([-1.0, 0.0, 2.0])"}
    assert check("FloorBackward0", "floor(self)", {"self": "zero"}, inputs=inputs)["status"] == "failed"
    kink = check("FloorBackward0", "floor(self)", {"self": "zero"}, inputs=inputs, kink="a step at whole numbers")
    assert (kink["status"], kink["numeric_error"]) == ("verified", None)


def test_raises_is_its_own_status():
    record = check("GeqrfBackward0", {}, {"self": "not_implemented"})
    assert record["status"] == "raises", record


def test_a_known_deviation_is_kept_and_must_show():
    normal = {"call": "torch.normal(mean, std)", "inputs": {"mean": "randn(2)", "std": "2.0"}}
    record = check("NormalBackward1", {}, {"mean": "grad"}, **normal, deviation="the draw is a constant")
    assert record["deviations"][0].startswith("the draw is a constant (mean: vjp is off by ")
    wrong = check("NormalBackward1", {}, {"mean": "2 * grad"}, **normal, deviation="the draw is a constant")
    assert wrong["status"] == "failed"  # wrong in both ways is not a deviation
    gone = check("ExpBackward0", "exp(self)", {"self": "grad * conj(result)"}, deviation="torch halves it")
    assert (gone["status"], "take the key away" in gone["reason"]) == ("failed", True)


def test_a_todo_is_not_verified():
    record = check("ExpBackward0", "exp(self)", {"self": "todo"})
    assert (record["status"], record["reason"]) == ("unverified", "no formula yet for self")


def test_evidence_is_reproducible():
    assert check(*RIGHT[0]) == check(*RIGHT[0])
