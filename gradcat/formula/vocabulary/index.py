"""Functions that take and put elements by where they are.

To take from x is adjoint to adding to zeros: gather and scatter_add, index_select and index_add, index and
index_put(accumulate=True), take and put(accumulate=True); and masked_select to masked_scatter.
"""

from __future__ import annotations

from . import function
from .notation import changed, operator, part, replaced
from .tensors import tensor, torch

# Along one dimension


@function(notation=part(along=False))
def gather(x, dim, index):
    """At each place p of index the element of x at p, with index[p] for its place along dim."""
    return torch.gather(x, dim, index)


@function(notation=changed("←", along=False))
def scatter(x, dim, index, src):
    """x with src[p] put at p, with index[p] for its place along dim; src may be a number."""
    return torch.scatter(x, dim, index, src)


@function(notation=changed("+=", along=False))
def scatter_add(x, dim, index, src):
    """x with src[p] added at p, with index[p] for its place along dim: of zeros, the adjoint of gather."""
    return torch.scatter_add(x, dim, index, src)


@function(notation=operator("scatter_reduce"))
def scatter_reduce(x, dim, index, src, reduce, include_self=True):
    """x with the sum, prod, mean, amax or amin of what scatter brings to a place, and of x there if include_self."""
    return torch.scatter_reduce(x, dim, index, src, reduce, include_self=include_self)


@function(notation=part())
def index_select(x, dim, index):
    """The parts along dim that index counts, in its order."""
    return torch.index_select(x, dim, index)


@function(notation=changed("+="))
def index_add(x, dim, index, src):
    """x with the i-th part of src along dim added to its part index[i]: of zeros, the adjoint of index_select."""
    return torch.index_add(x, dim, index, src)


@function(notation=changed("←"))
def index_copy(x, dim, index, src):
    """x with the i-th part of src along dim in the place of its part index[i]."""
    return torch.index_copy(x, dim, index, src)


@function(notation=changed("←", "value"))
def index_fill(x, dim, index, value):
    """x with a value in the parts along dim that index counts."""
    return torch.index_fill(x, dim, index, value)


# Anywhere


@function(notation=lambda given: f"{given['x']:10}[{given.index('indices')}]")
def index(x, indices):
    """x[indices]: one index or mask for each dimension, broadcast together; None takes all of one."""
    return torch.ops.aten.index(x, list(indices))


@function(notation=replaced(src="values", index="indices"))
def index_put(x, indices, values, accumulate=False):
    """x with values in the places of x[indices], or added there: of zeros, the adjoint of index."""
    return torch.ops.aten.index_put(x, list(indices), tensor(values, x), accumulate)


@function()
def take(x, index):
    """The elements whose number in the order of the memory is in index."""
    return torch.take(x, index)


@function(notation=replaced("put"))
def put(x, index, src, accumulate=False):
    """x with src in the places that take takes from, or added there: of zeros, the adjoint of take."""
    return torch.put(x, index, src, accumulate)


@function(text="{x:10}[{mask}]", latex="{x:10}[{mask}]")
def masked_select(x, mask):
    """The elements where the mask holds, in order, as one dimension."""
    return torch.masked_select(x, mask)


@function(notation=replaced(index="mask"))
def masked_scatter(x, mask, src):
    """x with the elements of src, in order, where the mask holds: of zeros, the adjoint of masked_select."""
    return torch.masked_scatter(x, mask, src)


# Places


@function()
def one_hot(index, n):
    """A last dimension of size n with 1 at the index and 0 elsewhere; all 0 for an index that is not in it."""
    return (index[..., None] == torch.arange(n, device=index.device)).to(torch.int64)


@function()
def nonzero(x):
    """The places of the elements that are not 0, one in each row."""
    return torch.nonzero(x)


@function()
def bincount(x, n=0):
    """How often each of 0, 1, ... is in x, for n of them at least."""
    return torch.bincount(x.flatten(), minlength=n)


@function()
def unique(x):
    """The different elements, in order."""
    return torch.unique(x)


@function()
def unique_inverse(x):
    """For each element its place in unique(x)."""
    return torch.unique(x, return_inverse=True)[1]


@function()
def tril_indices(n, m, diagonal=0):
    """Rows and columns of the places that tril keeps of n rows and m columns."""
    return torch.tril_indices(n, m, diagonal)


@function()
def triu_indices(n, m, diagonal=0):
    """Rows and columns of the places that triu keeps of n rows and m columns."""
    return torch.triu_indices(n, m, diagonal)


@function()
def reflect(i, n):
    """The integers i in a mirror at 0 and one at n - 1: ..., 2, 1, 0, 1, ..., n-1, n-2, ..."""
    period = max(2 * (n - 1), 1)
    return (n - 1) - abs((n - 1) - i % period)
