"""Rules of back ends that this machine has not, proved on the CPU: torch's own sibling op stands in for the kernel.

The forward formulas are held against the stand-in, the backward ones against its finite differences, and against
torch's vjp of the node where the CPU can compute it.
"""

import threading
from dataclasses import replace

import pytest
import torch

from gradcat import files, probes, reflect, rules
from gradcat.probe.samplers import Samplers
from gradcat.probe.trial import Trial
from gradcat.verify import Check, Evidence, _scope_of

aten = torch.ops.aten


def nothing():
    return torch.zeros(0, dtype=torch.float64)


def convolution(x, weight, bias, padding, stride, dilation, groups, *_):
    return aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * len(padding), groups)


def transposed(x, weight, bias, padding, output_padding, stride, dilation, groups, *_):
    return aten.convolution(x, weight, bias, stride, padding, dilation, True, output_padding, groups)


def without_bias(op):
    return lambda x, weight, *options: op(x, weight, None, *options)


def convolution_backward(x, y_grad, weight, padding, stride, dilation, groups, mask):
    zeros = [0] * len(padding)
    return aten.convolution_backward(
        y_grad, x, weight, weight.shape[:1], stride, padding, dilation, False, zeros, groups, mask
    )


def batch_norm(x, weight, bias, mean, var, training, momentum, epsilon):
    return aten.native_batch_norm(x, weight, bias, mean.clone(), var.clone(), training, momentum, epsilon)


def batch_norm_backward(x, y_grad, weight, mean, var, save_mean, save_var, epsilon, *_):
    save_mean, save_var = x.mean((0, 2, 3)), (x.var((0, 2, 3), correction=0) + epsilon).rsqrt()  # functions of x
    return aten.native_batch_norm_backward(
        y_grad, x, weight, mean, var, save_mean, save_var, True, epsilon, [True, True, True]
    )


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, deterministic, zero_infinity):
    lengths = [list(map(int, each)) for each in (input_lengths, target_lengths)]
    loss, alpha = aten._ctc_loss(log_probs, targets, *lengths, blank, zero_infinity)
    ones = torch.ones_like(loss)
    return loss, aten._ctc_loss_backward(ones, log_probs, targets, *lengths, loss, alpha, blank, zero_infinity)


def recurrent(x, weight, hx, cx, mode, batch_first):
    options = (list(weight), len(weight) == 4, 1, 0.0, False, False, batch_first)
    if mode == 2:
        return torch.lstm(x, [hx, cx], *options)
    return (*(torch.rnn_relu, torch.rnn_tanh, None, torch.gru)[mode](x, hx, *options), nothing())


def cudnn_rnn(x, weight, stride0, buffer, hx, cx, mode, hidden, projected, layers, batch_first, *_):
    return (*recurrent(x, weight, hx, cx, mode, batch_first), nothing(), nothing())


def miopen_rnn(x, weight, stride0, hx, cx, mode, hidden, layers, batch_first, *_):
    return (*recurrent(x, weight, hx, cx, mode, batch_first), nothing(), nothing())


def lstm_mps(x, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first):
    return (*recurrent(x, params, *hx, 2, batch_first), nothing(), nothing(), nothing())


def cudnn_rnn_backward(x, weight, stride0, buffer, hx, cx, output, grad_output, grad_hy, grad_cy, mode, *options):
    inputs = [t.detach().requires_grad_() for t in (x, hx, torch.zeros_like(hx) if cx is None else cx, *weight)]
    cotangents = [grad_output, grad_hy, grad_cy][: 3 if mode == 2 else 2]
    vjps = []

    def differentiate():  # in a thread of its own, since a kernel runs where autograd is off
        outputs = recurrent(inputs[0], inputs[3:], *inputs[1:3], mode, options[3])[: len(cotangents)]
        vjps.extend(torch.autograd.grad(outputs, inputs, cotangents, materialize_grads=True))

    thread = threading.Thread(target=differentiate)
    thread.start()
    thread.join()
    return (*vjps[:3], vjps[3:])


STAND_INS = {
    "_cudnn_ctc_loss": ctc_loss,
    "_cudnn_ctc_loss.Tensor": ctc_loss,
    "_cudnn_rnn": cudnn_rnn,
    "_cudnn_rnn_backward": cudnn_rnn_backward,
    "_lstm_mps": lstm_mps,
    "_mps_convolution": convolution,
    "_mps_convolution_transpose": without_bias(transposed),
    "cudnn_affine_grid_generator": lambda theta, *size: aten.affine_grid_generator(theta, size, True),
    "cudnn_batch_norm": lambda *inputs: (*batch_norm(*inputs), nothing()),
    "cudnn_batch_norm_backward": batch_norm_backward,
    "cudnn_convolution": without_bias(convolution),
    "cudnn_convolution_transpose": without_bias(transposed),
    "cudnn_grid_sampler": lambda x, grid: aten.grid_sampler_2d(x, grid, 0, 0, True),
    "cudnn_grid_sampler_backward": lambda x, grid, y_grad: aten.grid_sampler_2d_backward(
        y_grad, x, grid, 0, 0, True, [True, True]
    ),
    "miopen_batch_norm": batch_norm,
    "miopen_batch_norm_backward": batch_norm_backward,
    "miopen_convolution": convolution,
    "miopen_convolution_transpose": transposed,
    "miopen_ctc_loss": ctc_loss,
    "miopen_ctc_loss.Tensor": ctc_loss,
    "miopen_depthwise_convolution": convolution,
    "miopen_rnn": miopen_rnn,
    "mps_convolution_backward": convolution_backward,
}
RULES = rules.load([files.rules()])
UPSTREAM = reflect.upstream()
PROBES = [probe for probe in probes.load([files.ops()]) if probe.family == "backend" and probe.device == "meta"]

#: Other inputs than the probe's: modes of a recurrent layer that its probes do not have.
TANH = {
    "mode": "1",
    "weight": "[randn(4, 3), randn(4, 4)]",
    "weight_stride0": "2",
    "cx": "None",
    "batch_first": "False",
}
RELU = {**TANH, "mode": "0"}
GRU = {**TANH, "mode": "3", "weight": "[randn(12, 3), randn(12, 4)]"}
LSTM = {"mode": "2", "weight": "[randn(16, 3), randn(16, 4)]", "weight_stride0": "2"}
MODES = [(probe, {}) for probe in PROBES] + [
    (replace(probe, inputs={**probe.inputs, **inputs}), inputs)
    for probe in PROBES
    if "_rnn.default" in probe.call and probe.inputs["mode"] == "2"
    for inputs in (RELU, TANH, GRU, LSTM)
]


@pytest.fixture(scope="module", autouse=True)
def kernels():
    library = torch.library.Library("aten", "IMPL")
    for name, code in STAND_INS.items():
        library.impl(name, torch.no_grad()(code), "CPU")
    yield
    library._destroy()


@pytest.mark.parametrize(
    ("probe", "inputs"), MODES, ids=[f"{p.call.split('(')[0][15:]}-{i.get('mode', '')}" for p, i in MODES]
)
def test_rule(monkeypatch, probe, inputs):
    monkeypatch.setattr(Samplers, "float32", lambda self, tensor: tensor)
    changes = {"device": "cpu", "kernel": "", "kink": "relu" if inputs.get("mode") == "0" else ""}
    if "log_probs" in probe.inputs:
        changes["direction"] = {"log_probs": "direction - (log_probs.exp() * direction).sum(2, True)"}
    if "save_mean" in probe.inputs:
        save = {
            "save_mean": "const(input.mean((0, 2, 3)))",
            "save_var": "const((input.var((0, 2, 3), correction=0) + 0.01).rsqrt())",
        }
        changes["inputs"] = {**probe.inputs, **save}
    probe = replace(probe, **changes)
    run = Trial(probe).run()
    node = type(next(t for t in run.outputs.values() if t.requires_grad).grad_fn).__name__
    rule = RULES[node]
    facts = {"node": node, "forward": rule.forward, "where": rule.where, "backward": rule.backward, "schema": ""}
    facts |= {"unverified": "", **_scope_of(UPSTREAM[node].schema, [probe])}
    check = Check(facts, Trial(probe), evidence := Evidence())
    if isinstance(check.vjps, Exception) and "not_implemented" not in rule.backward.values():
        assert "Could not run" in str(check.vjps)  # the vjp has no kernel here either: finite differences remain
        check = Check(facts, Trial(replace(probe, deviation="no kernel")), evidence)
    check.all()
    assert evidence.errors
