"""The vocabulary of recurrences: each function against the equation that defines it."""

import pytest
import torch

from gradcat.formula.evaluate import Evaluator

evaluate = Evaluator()


def double(*values):
    return torch.tensor(*values, dtype=torch.float64)


NAMES = {
    "A": double([[0.0, -1.0, float("-inf")], [2.0, 0.5, 1.0]]),
    "B": double([[[0.0, 1.0], [0.3, 0.7]], [[1.0, 0.0], [0.0, float("-inf")]]]),
    "x": double([0.1, 800.0, 0.3]),
    "y": double([[0.2, -0.4], [float("-inf"), 0.0]]),
    "nothing": double([float("-inf")] * 3),
    "labels": torch.tensor([[1, 2], [3, 1]]),
    "flat": torch.tensor([4, 5, 6, 7]),
    "lengths": torch.tensor([1, 0, 3]),
}
#: Formula, and what it must be.
ROWS = [
    ("log_product(A, x)", double([799.0, 800.5])),
    ("exp(log_product(B, y))", "einsum('nij,nj->ni', exp(B), exp(y))"),
    ("log_product(A, nothing)", double([float("-inf")] * 2)),
    ("log_product(A, x[:, None] * 0 + zeros([3, 3]))", "stack([logsumexp(A, 1)] * 3)"),
    ("interleave(labels, 0)", torch.tensor([[0, 1, 0, 2, 0], [0, 3, 0, 1, 0]])),
    ("interleave(labels[:, :0], 9)", torch.tensor([[9], [9]])),
    ("interleave(x, 0.5)", double([0.5, 0.1, 0.5, 800.0, 0.5, 0.3, 0.5])),
    ("pad_rows(flat, [1, 0, 3])", torch.tensor([[4, 0, 0], [0, 0, 0], [5, 6, 7]])),
    ("pad_rows(flat, lengths)", torch.tensor([[4, 0, 0], [0, 0, 0], [5, 6, 7]])),
]


@pytest.mark.parametrize(("formula", "want"), ROWS, ids=[formula for formula, _ in ROWS])
def test_definition(formula, want):
    torch.testing.assert_close(evaluate(formula, NAMES), evaluate(want, NAMES) if isinstance(want, str) else want)


def test_lengths_must_be_those_of_the_whole():
    with pytest.raises(RuntimeError, match="sum"):
        evaluate("pad_rows(flat, [1, 2])", NAMES)
