"""What the derivatives of factorisations need beside the factorisations themselves."""

from __future__ import annotations

from . import function
from .reduce import prod_others
from .tensors import torch


@function(text="I", latex="I")
def identity(A):
    """The identity matrix, once for each of the square matrices A."""
    return torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)


@function(text="adj({A})", latex=r"\operatorname{{adj}}{A:()}")
def adjugate(A):
    """The transposed cofactors: A adj(A) = det(A) I, and it is there where A has no inverse too."""
    u, s, vh = torch.linalg.svd(A)
    return torch.linalg.det(u @ vh)[..., None, None] * (vh.mH * prod_others(s, -1)[..., None, :]) @ u.mH
