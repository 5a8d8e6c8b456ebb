"""What recurrences over sequences need beside fold and scan: sequences of several lengths, sums of probabilities."""

from __future__ import annotations

from . import function
from .tensors import tensor, torch


@function(text="log(exp({A}) @ exp({x}))", latex=r"\log(e^{{{A}}} \, e^{{{x}}})")
def log_product(A, x):
    """log Σ_j exp(A[..., i, j] + x[..., j]): a matrix times a vector, given and found as logarithms; exp(-inf) is 0."""
    return torch.logsumexp(A + x[..., None, :], -1)


@function()
def interleave(x, value):
    """value, x[..., 0], value, x[..., 1], ..., value: the elements of the last dimension with a value around each."""
    around = tensor(value, x).expand(*x.shape[:-1], 1)
    return torch.cat([torch.stack([around.expand_as(x), x], -1).flatten(-2), around], -1)


@function()
def pad_rows(x, lengths):
    """The parts of these lengths that x is made of, one behind the other, as rows; zeros behind the shorter ones."""
    parts = torch.split(x, [int(length) for length in lengths])
    return torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True)
