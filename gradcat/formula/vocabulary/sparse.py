"""Where a sparse tensor stores elements. Formulas see sparse tensors as dense ones that remember it."""

from __future__ import annotations

from typing import Any

from . import function
from .tensors import torch


def densify(x: Any) -> Any:
    """The dense tensor of a sparse one; its `places` are what the sparse one stored."""
    if x.layout is torch.sparse_coo:
        x = x.coalesce()
    dense = x.to_dense()
    if x.layout is not torch._mkldnn:  # type: ignore[attr-defined]
        dense.places = _places(x)
    return dense


def _places(x):
    """One index for each dimension that is not dense, shaped and in order as x.values() is."""
    if x.layout is torch.sparse_coo:
        return list(x.indices())
    rows_first = by_rows(x.layout)
    pointers, plain = (x.crow_indices(), x.col_indices()) if rows_first else (x.ccol_indices(), x.row_indices())
    line = (pointers[..., 1:, None] <= torch.arange(plain.shape[-1])).sum(-2)
    batch = [each[..., None] for each in torch.ones(plain.shape[:-1]).nonzero(as_tuple=True)] if plain.ndim > 1 else []
    row, column = (line, plain) if rows_first else (plain, line)
    if x.layout in (torch.sparse_bsr, torch.sparse_bsc):
        height, width = x.values().shape[plain.ndim :][:2]
        batch = [each[..., None, None] for each in batch]
        row = height * row[..., None, None] + torch.arange(height)[:, None]
        column = width * column[..., None, None] + torch.arange(width)
    return list(torch.broadcast_tensors(*batch, row, column))


@function()
def places(x):
    """Indices such that x[places(x)] is what sparse x stores, in its order: one index for each sparse dimension."""
    if (kept := getattr(x, "places", None)) is None:
        raise ValueError("places(x) is of a tensor that was sparse")
    return kept


@function()
def stored(x):
    """Whether sparse x stores an element, a stored 0 too; a dense tensor stores all of its elements."""
    if (kept := getattr(x, "places", None)) is None:
        return torch.ones_like(x, dtype=torch.bool)
    mask = torch.zeros(x.shape, dtype=torch.bool)
    mask[tuple(kept)] = True
    return mask


@function()
def by_rows(layout):
    """Whether a compressed layout goes row by row (csr, bsr), not column by column (csc, bsc)."""
    return layout in (torch.sparse_csr, torch.sparse_bsr)
