"""Which names a probe may use."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from gradcat.formula.syntax import FormulaError
from gradcat.probe.ops import LATE, OpEvaluator

evaluate = OpEvaluator({}, {})


@pytest.mark.parametrize(
    "name",
    [
        "torch.mul",
        "torch.nn.functional.linear",
        "torch.ops.aten.mul.Tensor",
        "torch.ops.higher_order.invoke_quant_packed",
        "torch.Tensor.view",
        "torch.signal.windows.hann",
        "torch.utils.checkpoint.CheckpointFunction.apply",
        "torch.ao.quantization.FakeQuantize",
        "torch.autograd._functions.Resize.apply",  # in a module that `import torch` leaves out
        "torch.nn.utils._per_sample_grad.call_for_per_sample_grads",
    ],
)
def test_resolves(name: str) -> None:
    assert callable(evaluate(name, {}))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("torch.load", "torch.load is not an op"),
        ("torch.utils.data.DataLoader", "lies outside the namespaces of ops"),
        ("torch.nn.functional.math.sqrt", "not an op of torch"),
        ("torch.fft", "is a module, not an op"),
        ("torch.linalg.nonsense", "torch.linalg has no 'nonsense'"),
        ("os.system", "ops are named under torch"),
    ],
)
def test_refuses(name: str, said: str) -> None:
    with pytest.raises(FormulaError, match=said):
        evaluate(name, {})


def test_late_modules_are_torchs_own_and_sorted() -> None:
    assert all(name.startswith("torch.") for name in LATE)
    assert list(LATE) == sorted(LATE)
