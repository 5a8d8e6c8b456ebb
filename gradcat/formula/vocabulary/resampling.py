"""What pooling and resampling have in common: a matrix along each of the last dimensions."""

from __future__ import annotations

from functools import reduce

from . import function
from .tensors import torch


@function()
def kronecker(matrices):
    """M[..., (o, p, ...), (i, j, ...)] = A[..., o, i] B[..., p, j] ... for a list of matrices A, B, ..."""
    return reduce(lambda a, b: torch.einsum("...oi,...pj->...opij", a, b).flatten(-4, -3).flatten(-2), matrices)
