"""Windows that slide over a tensor: what convolution and pooling are sums, means and maxima of.

The windows run over as many of the last dimensions as `kernel` has sizes. `stride`, `padding` and `dilation` are one
number for all of these dimensions or one for each; an empty stride is the kernel, as in torch's pooling.
"""

from __future__ import annotations

import math

from . import function
from .tensors import torch, type_of


def _each(value, kernel):
    """One number for each dimension of the kernel."""
    return [value] * len(kernel) if isinstance(value, int) else list(value) or list(kernel)


@function()
def window_count(n, kernel, stride=1, padding=0, dilation=1, ceil_mode=False):
    """How many windows fit along n elements; ceil_mode: also one that sticks out, if it starts before the end."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    counted = -(-room // stride) + 1
    return counted - ((counted - 1) * stride >= n + padding)


@function()
def patches(x, kernel, stride=1, padding=0, dilation=1, value=0, ceil_mode=False):
    """p[..., o, k] = x[..., stride o + dilation k - padding], windows o, places k in them; a value outside of x."""
    kernel = [kernel] if isinstance(kernel, int) else list(kernel)
    sizes = x.shape[x.ndim - len(kernel) :]
    axes = list(zip(kernel, *(_each(each, kernel) for each in (stride, padding, dilation)), strict=True))
    counts = [window_count(n, *axis, ceil_mode) for n, axis in zip(sizes, axes, strict=True)]
    return _patches(x, axes, counts, value)


@function()
def unpatch(p, size, stride=1, padding=0, dilation=1):
    """x[..., i] = Σ p[..., o, k] over stride o + dilation k - padding = i: the adjoint of patches of these sizes."""
    count = len(size)
    batch, windows, kernel = p.shape[: -2 * count], p.shape[-2 * count : -count], p.shape[-count:]
    axes = list(zip(kernel, *(_each(each, kernel) for each in (stride, padding, dilation)), strict=True))
    n = math.prod(size)
    at = _patches(torch.arange(n, device=p.device).reshape(tuple(size)), axes, windows, n)  # n: outside
    total = p.new_zeros(*batch, n + 1).index_add(-1, at.flatten(), p.flatten(-2 * count))
    return total[..., :n].reshape(*batch, *size)


def _patches(x, axes, counts, value):
    """Windows along the last dimensions, `counts` of them, wherever they end."""
    first = x.ndim - len(axes)
    widths: list[int] = []
    for n, count, (k, s, p, d) in zip(x.shape[first:], counts, axes, strict=True):
        widths = [p, (count - 1) * s + d * (k - 1) + 1 - n - p, *widths]
    x = torch.constant_pad_nd(x, widths, value)
    for dim, (k, s, _, d) in enumerate(axes, first):
        x = x.unfold(dim, d * (k - 1) + 1, s)[..., ::d]
    return x


@function()
def pooling_matrix(n, kernel, stride=1, padding=0, dilation=1, ceil_mode=False, like=None):
    """W[o, i] = 1 where one of n elements i is in the window o, else 0: rows sum to the windows' sizes inside."""
    window = torch.arange(window_count(n, kernel, stride, padding, dilation, ceil_mode))
    place = torch.arange(n) + padding - stride * window[:, None]
    return ((place >= 0) & (place <= dilation * (kernel - 1)) & (place % dilation == 0)).to(**type_of(like))


@function()
def adaptive_pooling_matrix(n, m, like=None):
    """W[o, i] = 1 where ⌊o n / m⌋ ≤ i < ⌈(o + 1) n / m⌉, else 0: m windows that cover n elements."""
    i, o = torch.arange(n), torch.arange(m)[:, None]
    return ((i >= o * n // m) & (i < -(-(o + 1) * n // m))).to(**type_of(like))
