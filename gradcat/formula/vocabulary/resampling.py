"""Pooling and resampling in several dimensions: products of matrices that act along one, and samples between pixels."""

from __future__ import annotations

from functools import reduce

from . import function
from .tensors import torch, type_of


@function()
def kronecker(matrices):
    """M[..., (o, p, ...), (i, j, ...)] = A[..., o, i] B[..., p, j] ... for a list of matrices A, B, ..."""
    return reduce(lambda a, b: torch.einsum("...oi,...pj->...opij", a, b).flatten(-4, -3).flatten(-2), matrices)


@function()
def row_kronecker(matrices):
    """M[..., o, (i, j, ...)] = A[..., o, i] B[..., o, j] ... for a list of matrices A, B, ... of as many rows."""
    return reduce(lambda a, b: torch.einsum("...i,...j->...ij", a, b).flatten(-2), matrices)


@function()
def fractional_pooling_matrix(u, n, kernel, m, like=None):
    """W[..., o, i] = 1 where i is in the window o of m, from ⌊α(o+u)⌋ - ⌊αu⌋ on, α = (n-kernel)/(m-1), else 0."""
    o, u = torch.arange(m), u[..., None]
    step = (n - kernel) / max(m - 1, 1)
    # NOTE: the last window ends with the last pixel, which rounding, or a single window, would not bring about.
    first = torch.where(o == m - 1, n - kernel, torch.floor((o + u) * step) - torch.floor(u * step))[..., None]
    i = torch.arange(n)
    return ((first <= i) & (i < first + kernel)).to(**type_of(like))


#: What torch's grid samplers call their modes and paddings.
LINEAR, NEAREST, CUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2

#: Mode: the pixels that have a weight, counted from ⌊x⌋, each with the weight's coefficients of 1, t, t², ... where
#: t = x - ⌊x⌋. Those of CUBIC are Keys' kernel with a = -3/4, which is `cubic`.
WEIGHTS: dict[int, dict[int, tuple[float, ...]]] = {
    LINEAR: {0: (1, -1), 1: (0, 1)},
    CUBIC: {-1: (0, -0.75, 1.5, -0.75), 0: (1, 0, -2.25, 1.25), 1: (0, 0.75, 1.5, -1.25), 2: (0, 0, -0.75, 0.75)},
}


@function()
def sampling_matrix(x, n, mode=0, padding=0, align_corners=False, order=0):
    """S[..., i]: what pixel i of n weighs in a sample at x, or the derivative of this order by x.

    Mode 0 is linear between the pixels next to x, 1 takes the nearest pixel, of two the even one, 2 is cubic. Padding 0
    knows no pixels beyond the n; 1 holds what is beyond at the border; 2 reflects it, at the outer pixels' centers if
    align_corners, else at their outer edges. Linear and nearest do this to x, cubic to each pixel that it weighs. At a
    pixel the derivative is that on its right; where x is held at an outer pixel it is 0.
    """
    slope = torch.ones_like(x)
    if mode != CUBIC:
        x, slope = _inside(x, n, padding, align_corners)
    pixel = torch.arange(n, device=x.device)
    if mode == NEAREST:
        return (x.round()[..., None] == pixel).to(x.dtype) * (order == 0)
    floor = x.floor()
    total = x.new_zeros(*x.shape, n)
    for tap, coefficients in WEIGHTS[mode].items():
        for _ in range(order):
            coefficients = tuple(power * each for power, each in enumerate(coefficients))[1:]
        weight = slope**order * sum(each * (x - floor) ** power for power, each in enumerate(coefficients))
        place = floor + tap if mode == LINEAR else _inside(floor + tap, n, padding, align_corners)[0]
        total = total + weight[..., None] * (place[..., None] == pixel)
    return total


def _inside(x, n, padding, align_corners):
    """x where the padding brings it, and the derivative of that."""
    slope = torch.ones_like(x)
    if padding == ZEROS:
        return x, slope
    if padding == REFLECTION:
        low, span = (0.0, max(n - 1, 1)) if align_corners else (-0.5, n)
        turns = torch.floor((x - low) / span)
        slope = 1 - 2 * (turns % 2)
        x = slope * (x - low - span * turns) + span * (turns % 2) + low
    return x.clamp(0, n - 1), torch.where((x > 0) & (x < n - 1), slope, 0)
