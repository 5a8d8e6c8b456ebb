"""Functions along dimensions: reductions, running reductions, order.

A reduction takes `dim` as None (all of them), a number or a list. An empty list is all of them too, as in `torch.sum`.
"""

from __future__ import annotations

import math

from . import function
from .notation import norm as norm_of
from .notation import operator, reduction
from .tensors import dims, torch


@function(name="sum", notation=reduction("Σ", r"\sum"))
def sum_(x, dim=None, keepdim=False):
    """Sum over dim, over all elements where dim is None; of a list the sum of its items."""
    if isinstance(x, (list, tuple)):
        return sum(x[1:], x[0]) if x else 0
    return torch.sum(x, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=reduction("Π", r"\prod"))
def prod(x, dim=None, keepdim=False):
    """Product over dim, of all elements where dim is None; of a list of numbers their product."""
    if isinstance(x, (list, tuple)):
        return math.prod(x)
    for each in sorted(dims(x.ndim, dim), reverse=True):
        x = torch.prod(x, dim=each, keepdim=keepdim)
    return x


@function(notation=reduction("mean", r"\operatorname{mean}"))
def mean(x, dim=None, keepdim=False):
    """Sum over dim, divided by the number of elements that it takes."""
    return torch.mean(x, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=reduction("max", r"\max"))
def amax(x, dim=None, keepdim=False):
    """Largest element over dim; nan where there is one."""
    return torch.amax(x, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=reduction("min", r"\min"))
def amin(x, dim=None, keepdim=False):
    """Smallest element over dim; nan where there is one."""
    return torch.amin(x, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=reduction("all"))
def all_(x, dim=None, keepdim=False):
    """Whether all elements over dim are true; of a list whether all items are."""
    if isinstance(x, (list, tuple)):
        return all(x)
    return (x != 0).all(dim=dims(x.ndim, dim), keepdim=keepdim) if x.ndim else x != 0


@function(notation=reduction("any"))
def any_(x, dim=None, keepdim=False):
    """Whether an element over dim is true; of a list whether an item is."""
    if isinstance(x, (list, tuple)):
        return any(x)
    return (x != 0).any(dim=dims(x.ndim, dim), keepdim=keepdim) if x.ndim else x != 0


@function(notation=reduction("count"))
def count(x, dim=None, keepdim=False):
    """How many elements over dim are true, or not 0."""
    return torch.sum(x != 0, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=reduction("logsumexp"))
def logsumexp(x, dim=None, keepdim=False):
    """log Σ_dim exp(x), without overflow."""
    return torch.logsumexp(x, dim=dims(x.ndim, dim), keepdim=keepdim)


@function(notation=norm_of("x", "ord", "dim"))
def norm(x, ord=2, dim=None, keepdim=False):
    """(Σ_dim |x|^ord)^(1/ord); ord inf is the largest |x|, -inf the smallest, 0 how many are not 0."""
    return torch.linalg.vector_norm(x, ord, dim=dims(x.ndim, dim), keepdim=keepdim)


# Running along a dimension


@function(notation=operator("cumsum", "x"))
def cumsum(x, dim):
    """At each place the sum of the elements along dim up to it."""
    return torch.cumsum(x, dim)


@function(notation=operator("cumprod", "x"))
def cumprod(x, dim):
    """At each place the product of the elements along dim up to it."""
    return torch.cumprod(x, dim)


@function(notation=operator("prod_others"))
def prod_others(x, dim=None):
    """At each place the product of all other elements along dim, which dividing by x cannot give where x is 0."""
    if dim is None:
        return prod_others(x.reshape(-1), 0).reshape(x.shape)
    x = x.movedim(dim, -1) if x.ndim else x[None]
    one = torch.ones_like(x[..., :1])
    before = torch.cat([one, x[..., :-1]], -1).cumprod(-1)
    after = torch.cat([x[..., 1:], one], -1).flip(-1).cumprod(-1).flip(-1)
    return (before * after).movedim(-1, dim)


@function(notation=operator("logcumsumexp", "x"))
def logcumsumexp(x, dim):
    """At each place log Σ exp(x) over the elements along dim up to it."""
    return torch.logcumsumexp(x, dim)


@function(notation=operator("cummax", "x"))
def cummax(x, dim):
    """At each place the largest of the elements along dim up to it."""
    return torch.cummax(x, dim).values


@function(notation=operator("cummin", "x"))
def cummin(x, dim):
    """At each place the smallest of the elements along dim up to it."""
    return torch.cummin(x, dim).values


@function(notation=operator("cummax_index"))
def cummax_index(x, dim):
    """Where along dim cummax is found: of equals the last."""
    return torch.cummax(x, dim).indices


@function(notation=operator("cummin_index"))
def cummin_index(x, dim):
    """Where along dim cummin is found: of equals the last."""
    return torch.cummin(x, dim).indices


# Order


@function(notation=operator("argmax", "x"))
def argmax(x, dim=None, keepdim=False):
    """Where along dim the largest element is, of equals the first; nan is the largest."""
    return torch.argmax(x, dim, keepdim)


@function(notation=operator("argmin", "x"))
def argmin(x, dim=None, keepdim=False):
    """Where along dim the smallest element is, of equals the first; nan is the smallest."""
    return torch.argmin(x, dim, keepdim)


@function(notation=operator("sort"))
def sort(x, dim=-1, descending=False):
    """The elements along dim in order."""
    return torch.sort(x, dim, descending).values


@function(notation=operator("argsort"))
def argsort(x, dim=-1, descending=False):
    """Where along dim each element of sort(x) comes from; equals keep their order. A list of numbers gives a list."""
    if isinstance(x, (list, tuple)):
        return sorted(range(len(x)), key=x.__getitem__, reverse=descending)
    return torch.sort(x, stable=True, dim=dim, descending=descending).indices


@function(notation=operator("topk"))
def topk(x, k, dim=-1, largest=True):
    """The k largest elements along dim, or the k smallest, in order."""
    return torch.topk(x, k, dim, largest).values


@function(notation=operator("topk_index"))
def topk_index(x, k, dim=-1, largest=True):
    """Where along dim the elements of topk are."""
    return torch.topk(x, k, dim, largest).indices


@function(notation=operator("kthvalue", "x", "k"))
def kthvalue(x, k, dim=-1, keepdim=False):
    """The k-th smallest element along dim, counted from 1."""
    return torch.kthvalue(x, k, dim, keepdim).values


@function(notation=operator("kthvalue_index"))
def kthvalue_index(x, k, dim=-1, keepdim=False):
    """Where along dim kthvalue is."""
    return torch.kthvalue(x, k, dim, keepdim).indices


@function(notation=operator("median", "x"))
def median(x, dim=None, keepdim=False):
    """The middle element along dim, of two the smaller; nan where there is one."""
    return torch.median(x) if dim is None else torch.median(x, dim, keepdim).values


@function(notation=operator("median_index"))
def median_index(x, dim=-1, keepdim=False):
    """Where along dim median is."""
    return torch.median(x, dim, keepdim).indices


@function(notation=operator("nanmedian", "x"))
def nanmedian(x, dim=None, keepdim=False):
    """The middle one of the elements along dim that are numbers, of two the smaller."""
    return torch.nanmedian(x) if dim is None else torch.nanmedian(x, dim, keepdim).values


@function(notation=operator("nanmedian_index"))
def nanmedian_index(x, dim=-1, keepdim=False):
    """Where along dim nanmedian is."""
    return torch.nanmedian(x, dim, keepdim).indices


@function(notation=operator("mode", "x"))
def mode(x, dim=-1, keepdim=False):
    """The most frequent element along dim, of equally frequent ones the smallest."""
    return torch.mode(x, dim, keepdim).values


@function(notation=operator("mode_index"))
def mode_index(x, dim=-1, keepdim=False):
    """Where along dim mode is: of equals the last."""
    return torch.mode(x, dim, keepdim).indices
