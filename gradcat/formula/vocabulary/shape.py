"""Functions that arrange elements and compute none: views, joins, parts, and what puts a part back in its place.

Most come in pairs, a function and its adjoint, which is the vjp: expand and sum_to, slice and place, repeat and
sum_repeats, unfold and overlap_add, diagonal and place_diagonal, permute by dims and by inverse_permutation(dims).
"""

from __future__ import annotations

from . import function
from .notation import alone, at, between, changed, new_dim, operator, part, to_shape
from .tensors import dims, tensor, torch, type_of


@function(notation=operator("numel"))
def numel(x, dim=None):
    """How many elements x has, or along dim: what a mean over dim divides by."""
    return torch.Size(x.shape[each] for each in dims(x.ndim, dim)).numel()


# Another shape


@function()
def reshape(x, shape):
    """The same elements in the same order, in another shape; one size may be -1."""
    return torch.reshape(x, tuple(shape))


@function()
def flatten(x, start=0, end=-1):
    """The dimensions from start to end as one."""
    return torch.flatten(x, start, end)


@function()
def unflatten(x, dim, sizes):
    """One dimension as several of these sizes; one may be -1."""
    return torch.unflatten(x, dim, tuple(sizes))


@function(notation=to_shape("expand"))
def expand(x, shape):
    """x repeated along new dimensions in front and along those of size 1 until it has this shape; -1 keeps a size."""
    return tensor(x).expand(tuple(shape))


@function()
def sum_to(x, shape):
    """x summed over what broadcasting has made of this shape: the adjoint of expand."""
    return x.sum_to_size(tuple(shape))


@function(notation=new_dim)
def unsqueeze(x, dim):
    """A dimension of size 1 at dim; with a list at each of them, as the result counts them."""
    if isinstance(dim, int):
        return torch.unsqueeze(x, dim)
    shape = iter(x.shape)
    count = x.ndim + len(dim)
    new = {each % count for each in dim}
    return x.reshape([1 if each in new else next(shape) for each in range(count)])


@function(notation=operator("squeeze"))
def squeeze(x, dim=None):
    """Without the dimensions of size 1; with dim only of these."""
    return torch.squeeze(x) if dim is None else torch.squeeze(x, dim if isinstance(dim, int) else tuple(dim))


@function(notation=alone())
def restore_dims(x, dim, ndim, keepdim=False):
    """Size 1 wherever a reduction over dim took one of ndim dimensions away; keepdim: it took none, so x as it is."""
    if keepdim or ndim == 0:
        return x
    return unsqueeze(x, dims(ndim, dim))


@function()
def transpose(x, dim0, dim1):
    """Two dimensions exchanged."""
    return torch.transpose(x, dim0, dim1)


@function()
def permute(x, dims):
    """The dimensions in this order."""
    return torch.permute(x, tuple(dims))


@function()
def inverse_permutation(dims):
    """The order that undoes `permute(x, dims)`."""
    return sorted(range(len(dims)), key=lambda each: dims[each] % len(dims))


@function()
def movedim(x, source, destination):
    """The dimensions of source at the places of destination, the others in order."""
    return torch.movedim(x, source, destination)


# Joined and taken apart


@function(notation=operator("cat", spread="tensors"))
def cat(tensors, dim=0):
    """The tensors one behind the other along dim."""
    return torch.cat(list(tensors), dim)


@function(notation=operator("stack", spread="tensors"))
def stack(tensors, dim=0):
    """The tensors one behind the other along a new dimension."""
    return torch.stack(list(tensors), dim)


@function(notation=operator("split"))
def split(x, size, dim=0):
    """List of parts along dim, each of this size (the last may be smaller), or of these sizes."""
    return list(torch.split(x, size if isinstance(size, int) else list(size), dim))


@function(notation=operator("chunk"))
def chunk(x, chunks, dim=0):
    """List of at most so many parts of equal size along dim; the last may be smaller."""
    return list(torch.chunk(x, chunks, dim))


@function(notation=operator("unbind"))
def unbind(x, dim=0):
    """List of the parts of size 1 along dim, without that dimension."""
    return list(torch.unbind(x, dim))


# Parts, and zeros around them


def _range(n, start, end, step):
    return range(*slice(start, end, step).indices(n))


@function(notation=part(at("i")))
def select(x, dim, i):
    """The i-th part along dim, without that dimension."""
    return torch.select(x, dim, i)


@function(notation=part(between))
def narrow(x, dim, start, length):
    """`length` parts along dim from start on."""
    return torch.narrow(x, dim, start, length)


@function(name="slice", notation=part(between))
def slice_(x, dim=0, start=None, end=None, step=1):
    """Every step-th part along dim from start, before end."""
    return x.movedim(dim, 0)[slice(start, end, step)].movedim(0, dim)


@function(notation=changed("←", "x", between, x=""))
def place(x, shape, dim=0, start=None, end=None, step=1):
    """Zeros of this shape with x at what slice takes of them: the adjoint of slice, and of narrow."""
    return slice_scatter(x.new_zeros(tuple(shape)), x, dim, start, end, step)


@function(notation=changed("←", "x", at("i"), x=""))
def place_at(x, shape, dim, i):
    """Zeros of this shape with x at the i-th part along dim: the adjoint of select."""
    return select_scatter(x.new_zeros(tuple(shape)), x, dim, i)


@function(notation=changed("←", inner=between))
def slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    """x with src in the place of what slice takes of it."""
    at = torch.tensor(_range(x.shape[dim], start, end, step), dtype=torch.int64, device=x.device)
    return x.index_copy(dim, at, src)


@function(notation=changed("←", inner=at("i")))
def select_scatter(x, src, dim, i):
    """x with src in the place of its i-th part along dim."""
    return torch.select_scatter(x, src, dim, i)


@function()
def pad(x, widths, value=0):
    """x with values around it: widths before and after the last dimension, then the one before it; negative cuts."""
    return torch.constant_pad_nd(x, list(widths), value)


@function()
def tril(x, diagonal=0):
    """The lower triangle, zeros above the diagonal."""
    return torch.tril(x, diagonal)


@function()
def triu(x, diagonal=0):
    """The upper triangle, zeros below the diagonal."""
    return torch.triu(x, diagonal)


@function()
def diagonal(x, offset=0, dim1=0, dim2=1):
    """The elements at dim2 = dim1 + offset, as a last dimension."""
    return torch.diagonal(x, offset, dim1, dim2)


@function()
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    """Square matrices with the last dimension on their diagonal and zeros elsewhere."""
    return torch.diag_embed(x, offset, dim1, dim2)


@function()
def place_diagonal(x, shape, offset=0, dim1=0, dim2=1):
    """Zeros of this shape with x on the diagonal: the adjoint of diagonal."""
    return diagonal_scatter(x.new_zeros(tuple(shape)), x, offset, dim1, dim2)


@function()
def diagonal_scatter(x, src, offset=0, dim1=0, dim2=1):
    """x with src on the diagonal."""
    return torch.diagonal_scatter(x, src, offset, dim1, dim2)


# Turned and repeated


@function(notation=operator("flip", under="dims"))
def flip(x, dims):
    """The elements along each dimension of dims in reverse order."""
    return torch.flip(x, [dims] if isinstance(dims, int) else list(dims))


@function(notation=operator("roll", under="dims"))
def roll(x, shifts, dims=None):
    """The elements moved along dims by shifts, those that leave at the end coming back at the start."""
    return torch.roll(x, shifts, () if dims is None else dims)


@function()
def rot90(x, k=1, dims=(0, 1)):
    """Turned k times by 90° in the plane of two dimensions, from the first towards the second."""
    return torch.rot90(x, k, dims)


@function()
def repeat(x, repeats):
    """So many copies side by side along each dimension."""
    return x.repeat(tuple(repeats))


@function()
def sum_repeats(x, repeats, shape):
    """The copies that repeat has made of a tensor of this shape, summed: the adjoint of repeat."""
    sizes = [1] * (len(repeats) - len(shape)) + list(shape)
    x = x.reshape([each for pair in zip(repeats, sizes, strict=True) for each in pair])
    return x.sum(list(range(0, x.ndim, 2))).reshape(tuple(shape))


@function(notation=operator("unfold"))
def unfold(x, dim, size, step):
    """Windows of this size, one at each step along dim, which counts them; their elements are a last dimension."""
    return x.unfold(dim, size, step)


@function(notation=operator("overlap_add"))
def overlap_add(x, dim, n, step):
    """The windows that unfold has made of n elements, summed where they overlap: the adjoint of unfold."""
    (dim,) = dims(x.ndim - 1, dim)
    at = torch.arange(n, device=x.device).unfold(0, x.shape[-1], step).flatten()
    windows = x.movedim(dim, -2).flatten(-2)
    return windows.new_zeros(*windows.shape[:-1], n).index_add(-1, at, windows).movedim(-1, dim)


@function()
def strided_index(size, stride, offset=0):
    """Where in a flat memory the elements of a strided tensor are: offset + Σ_d stride_d i_d."""
    places = [torch.arange(n) * step for n, step in zip(size, stride, strict=True)]
    return sum(torch.meshgrid(*places, indexing="ij"), torch.tensor(offset)) if places else torch.tensor(offset)


# Made of nothing


@function()
def zeros(shape, like=None):
    """Zeros of this shape, in the type of like, or in double precision."""
    return full(shape, 0, like)


@function()
def ones(shape, like=None):
    """Ones of this shape, in the type of like, or in double precision."""
    return full(shape, 1, like)


@function(notation=alone("value"))
def full(shape, value, like=None):
    """One number in every place of this shape, in the type of like, or in double precision."""
    value = tensor(value)
    return value.to(**type_of(value if like is None else like)).repeat(tuple(shape))


@function(text="0", latex="0")
def zeros_like(x):
    """Zeros in the shape and type of x; 0 for a number."""
    return torch.zeros_like(x) if isinstance(x, torch.Tensor) else 0


@function(text="1", latex="1")
def ones_like(x):
    """Ones in the shape and type of x; 1 for a number."""
    return torch.ones_like(x) if isinstance(x, torch.Tensor) else 1


@function(text="I", latex="I")
def eye(n, m=None, like=None):
    """The identity: n rows, m or n columns, in the type of like, or in double precision."""
    return torch.eye(n, n if m is None else m, **type_of(like))


@function()
def arange(start, end=None, step=1, like=None):
    """The numbers 0, 1, ... before start; with end from start on, before end; integers, or in the type of like."""
    numbers = torch.arange(0 if end is None else start, start if end is None else end, step)
    return numbers if like is None else numbers.to(**type_of(like))
