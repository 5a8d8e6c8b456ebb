"""What pooling and resampling have in common: a matrix along each of the last dimensions."""

from __future__ import annotations

from functools import reduce

from . import function
from .tensors import torch, type_of


@function()
def kronecker(matrices):
    """M[..., (o, p, ...), (i, j, ...)] = A[..., o, i] B[..., p, j] ... for a list of matrices A, B, ..."""
    return reduce(lambda a, b: torch.einsum("...oi,...pj->...opij", a, b).flatten(-4, -3).flatten(-2), matrices)


@function()
def fractional_pooling_matrix(u, n, kernel, m, like=None):
    """W[..., o, i] = 1 where i is in the window o of m, from ⌊α(o+u)⌋ - ⌊αu⌋ on, α = (n-kernel)/(m-1), else 0."""
    o, u = torch.arange(m), u[..., None]
    step = (n - kernel) / max(m - 1, 1)
    first = torch.where(o == m - 1, n - kernel, torch.floor((o + u) * step) - torch.floor(u * step))[..., None]
    i = torch.arange(n)
    return ((first <= i) & (i < first + kernel)).to(**type_of(like))
