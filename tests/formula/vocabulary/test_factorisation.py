"""The vocabulary of factorisations: each function against the equation that defines it."""

import pytest
import torch

from gradcat.formula.evaluate import Evaluator

evaluate = Evaluator()


def randn(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


#: Formula in A, and what it must be.
ROWS = [
    ("A @ adjugate(A)", lambda A: torch.linalg.det(A)[..., None, None] * torch.eye(A.shape[-1], dtype=A.dtype)),
    ("adjugate(A) @ A", lambda A: torch.linalg.det(A)[..., None, None] * torch.eye(A.shape[-1], dtype=A.dtype)),
    ("identity(A) @ A", lambda A: A),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4)], ids=str)
@pytest.mark.parametrize(("formula", "want"), ROWS, ids=[formula for formula, _ in ROWS])
def test_definition(formula, want, shape, dtype):
    matrix = randn(*shape, dtype=dtype)
    torch.testing.assert_close(evaluate(formula, {"A": matrix}), want(matrix))


def test_adjugate_of_a_singular_matrix_is_its_cofactors():
    matrix = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 5.0]], dtype=torch.float64)
    cofactors = torch.tensor([[14.0, -10.0, 2.0], [-7.0, 5.0, -1.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(evaluate("adjugate(A)", {"A": matrix}), cofactors.mT)
    rank_one = torch.ones(3, 3, dtype=torch.float64)
    torch.testing.assert_close(evaluate("adjugate(A)", {"A": rank_one}), torch.zeros_like(rank_one))
