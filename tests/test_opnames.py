"""Which ops a call names."""

from __future__ import annotations

import pytest

from gradcat.opnames import called, plain

CALLS = [
    ("torch.mul(self, other)", "torch.mul"),
    ("torch.nn.functional.linear(input, weight, bias=bias)", "torch.nn.functional.linear"),
    ("torch.ops.aten.mul.Tensor(self, other)", "torch.ops.aten.mul.Tensor"),
    ("torch.ops.aten._softmax(self, dim, half_to_float)", "torch.ops.aten._softmax"),
    ("torch.Tensor.add_(self, other)", "torch.Tensor.add_"),
    (
        "torch.utils.checkpoint.CheckpointFunction.apply(run, True, self)",
        "torch.utils.checkpoint.CheckpointFunction.apply",
    ),
    # methods and attributes
    ("self.view(size)", "torch.Tensor.view"),
    ("self.mul_(other)", "torch.Tensor.mul_"),
    ("self.mT", "torch.Tensor.mT"),
    ("torch.max(self, dim).values", "torch.max"),
    ("self.new_zeros(self.shape)", "torch.Tensor.new_zeros"),
    ("tensors[0].exp()", "torch.Tensor.exp torch.Tensor.__getitem__"),
    ("torch.nn.GRU(2, 3)(input)", "torch.nn.GRU"),
    (
        "torch.distributions.Dirichlet(concentration).rsample()",
        "torch.distributions.Dirichlet.rsample torch.distributions.Dirichlet",
    ),
    ("torch.exp(self).sum()", "torch.Tensor.sum torch.exp"),
    # operators
    ("self + other", "torch.add"),
    ("self - 2", "torch.sub"),
    ("self * other", "torch.mul"),
    ("self / 2", "torch.div"),
    ("self // 2", "torch.floor_divide"),
    ("self % 2", "torch.remainder"),
    ("self ** 2", "torch.pow"),
    ("self & other", "torch.bitwise_and"),
    ("self << 1", "torch.bitwise_left_shift"),
    ("-self", "torch.neg"),
    ("~self", "torch.bitwise_not"),
    ("self == other", "torch.eq"),
    ("self < 2", "torch.lt"),
    ("2 < self", "torch.gt"),
    ("0 < self <= 2", "torch.gt torch.le"),
    ("self is None", ""),
    # the number on the left
    ("2 + self", "torch.Tensor.__radd__"),
    ("2 - self", "torch.Tensor.__rsub__"),
    ("-2 / self", "torch.Tensor.__rdiv__"),
    ("2 ** self", "torch.Tensor.__rpow__"),
    ("1 | self", "torch.Tensor.__ror__"),
    ("self @ other", "torch.matmul torch.Tensor.__rmatmul__"),
    # subscripts
    ("self[0]", "torch.Tensor.__getitem__"),
    ("self[1:, None]", "torch.Tensor.__getitem__"),
    ("torch.max(self, dim)[0]", "torch.max"),
    ("self.reshape(self.shape[0] * 2)", "torch.Tensor.reshape"),
    ("(self[0].mul_(2), self)[1]", "torch.Tensor.mul_ torch.Tensor.__getitem__"),
    # what is handed on is not called
    ("torch.vmap(torch.sin)(self)", "torch.vmap"),
    ("torch.vmap(lambda x: x.sin())(self)", "torch.vmap"),
    ("(lambda x: x.sin() * 2)(self)", "torch.mul torch.Tensor.sin"),
    ("self.to(torch.float32)", "torch.Tensor.to"),
    # what is set up around an op
    (
        "(torch.distributed.init_process_group(b), torch.exp(self), torch.distributed.destroy_process_group())[1]",
        "torch.exp",
    ),
    # several, each once, the outermost first
    ("torch.add(torch.exp(self), torch.exp(other))", "torch.add torch.exp"),
    ("[torch.sin(x) for x in tensors]", "torch.sin"),
    ("torch.cat([self.t(), other])", "torch.cat torch.Tensor.t"),
    ("torch.nn.functional.linear(torch.tanh(x) * 2, w)", "torch.nn.functional.linear torch.mul torch.tanh"),
]


@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_called(call: str, expected: str) -> None:
    assert called(call) == tuple(expected.split())


@pytest.mark.parametrize(
    ("call", "inputs", "expected"),
    [
        ("other - self", {"self": "randn(2, 3)", "other": "2.5"}, "torch.Tensor.__rsub__"),
        ("other - self", {"self": "randn(2, 3)", "other": "randn(3)"}, "torch.sub"),
        ("tensors[0].exp()", {"tensors": "[randn(2), randn(3)]"}, "torch.Tensor.exp"),
        ("self ** (n + 1)", {"self": "randn(2)", "n": "2"}, "torch.pow"),
        ("mymodule.ops.gate(self)", {"self": "randn(2)"}, "mymodule.ops.gate"),
        ("mymodule.Gate.apply(self.exp())", {"self": "randn(2)"}, "mymodule.Gate.apply torch.Tensor.exp"),
        ("[mymodule.gate(x) * x.exp() for x in xs]", {"xs": "[randn(2)]"}, "torch.mul mymodule.gate torch.Tensor.exp"),
        ("(lambda x: x.exp())(self)", {"self": "randn(2)"}, "torch.Tensor.exp"),
        ("self.cos()", {}, "self.cos"),
        ("module(self)", {"module": "torch.nn.Tanh()", "self": "randn(2)"}, "torch.nn.Tanh"),
        ("module.forward(self)", {"module": "torch.nn.Tanh()", "self": "randn(2)"}, "torch.nn.Tanh.forward"),
        ("function(self)", {"function": "lambda x: x.sin()", "self": "randn(2)"}, ""),
        ("self.exp()", {"self": "torch.nested.nested_tensor([randn(2)])"}, "torch.Tensor.exp"),
    ],
)
def test_inputs_tell_numbers_lists_and_modules_from_tensors(call: str, inputs: dict[str, str], expected: str) -> None:
    assert called(call, inputs) == tuple(expected.split())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.mul", "mul"),
        ("torch.nn.functional.relu", "nn.functional.relu"),
        ("torch.linalg.norm", "linalg.norm"),
        ("torch.Tensor.view", "view"),
        ("torch.Tensor.__radd__", "__radd__"),
        ("torch.ops.aten.mul.Tensor", "mul"),
        ("torch.ops.aten._softmax", "_softmax"),
        ("torch.ops.mine.gate.default", "gate"),
        ("torch._C._nn.gelu", "gelu"),
        ("mymodule.gate", "mymodule.gate"),
        ("exp", "exp"),
    ],
)
def test_plain(name: str, expected: str) -> None:
    assert plain(name) == expected
