"""Functions of vectors and matrices, which are the last dimensions: products, factorisations, solutions."""

from __future__ import annotations

from . import function
from .notation import einsum as einsum_of
from .notation import raised
from .tensors import torch, type_of

# Products


@function(notation=einsum_of())
def einsum(equation, *operands):
    """The products of the operands' elements, summed over each index that the result has not."""
    return torch.einsum(equation, *operands)


@function(text="{a:7} ⊗ {b:8}", latex=r"{a:7} \otimes {b:8}", binds=7)
def outer(a, b):
    """All products a_i b_j, of two vectors."""
    return torch.outer(a, b)


@function(text="⟨{a}, {b}⟩", latex=r"\left\langle {a}, {b} \right\rangle")
def dot(a, b):
    """Σ_i a_i b_i of two vectors, neither conjugated."""
    return torch.dot(a, b)


@function()
def vdot(a, b):
    """Σ_i conj(a_i) b_i of two vectors."""
    return torch.vdot(a, b)


@function(text="{a:7} × {b:8}", latex=r"{a:7} \times {b:8}", binds=7)
def cross(a, b, dim=-1):
    """Vector product of the three elements along dim."""
    return torch.linalg.cross(a, b, dim=dim)


@function()
def kron(a, b):
    """Kronecker product: each element of a, as a block, times b."""
    return torch.kron(a, b)


# Parts and blocks


@function(notation=raised("mT", "x"))
def mT(x):
    """The matrices transposed."""
    return x.mT


@function(notation=raised("mH", "x"))
def mH(x):
    """The matrices transposed and conjugated."""
    return x.mH


@function(text="tr({x})", latex=r"\operatorname{{tr}}{x:()}")
def trace(x):
    """Sum of the diagonal of each matrix."""
    return torch.diagonal(x, dim1=-2, dim2=-1).sum(-1)


@function()
def diag(x):
    """Of vectors the diagonal matrices."""
    return torch.diag_embed(x)


@function()
def tril_half(x):
    """The lower triangle of a square matrix, its diagonal halved: the map Φ of the Cholesky derivative."""
    return torch.tril(x) - torch.diag_embed(torch.diagonal(x, dim1=-2, dim2=-1)) / 2


@function()
def block(rows):
    """One matrix of rows of matrices."""
    return torch.cat([torch.cat(list(row), -1) for row in rows], -2)


@function()
def block_diag(tensors):
    """The matrices along the diagonal, zeros elsewhere; a vector is one row."""
    return torch.block_diag(*tensors)


@function()
def permutation_matrix(pivots, n, like=None):
    """P of A = P L U: what exchanging row i with row pivots[i], counted from 1, one after the other, undoes."""
    rows = torch.arange(n).repeat(*pivots.shape[:-1], 1)
    for i, pivot in enumerate(pivots.long().unbind(-1)):
        j = pivot[..., None] - 1
        at_i, at_j = rows[..., i : i + 1].clone(), rows.gather(-1, j)
        rows = rows.scatter(-1, j, at_i)
        rows[..., i : i + 1] = at_j
    return torch.eye(n, **type_of(like))[rows].mT


# Solutions


@function(notation=raised("inv", "A"))
def inv(A):
    """The inverse of square matrices."""
    return torch.linalg.inv(A)


@function(notation=raised("pinv", "A"))
def pinv(A):
    """The pseudo-inverse (Moore and Penrose)."""
    return torch.linalg.pinv(A)


@function()
def solve(A, B, left=True):
    """X of A X = B, or of X A = B."""
    return torch.linalg.solve(A, B, left=left)


@function()
def solve_triangular(A, B, upper, left=True, unitriangular=False):
    """X of A X = B, or of X A = B, with the upper or lower triangle of A; unitriangular: with ones for its diagonal."""
    return torch.linalg.solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


@function()
def det(A):
    """Determinant."""
    return torch.linalg.det(A)


@function()
def slogdet(A):
    """(sign, log |det A|): det A = sign · exp(log |det A|)."""
    return tuple(torch.linalg.slogdet(A))


@function(latex=r"\exp{A:()}")
def matrix_exp(A):
    """Σ_k A^k / k! of square matrices."""
    return torch.linalg.matrix_exp(A)


# Factorisations


@function()
def cholesky(A, upper=False):
    """Lower triangular L with positive diagonal such that A = L Lᴴ; upper: its Lᴴ."""
    return torch.linalg.cholesky(A, upper=upper)


@function()
def qr(A, mode="reduced"):
    """(Q, R): A = Q R, the columns of Q orthonormal, R upper triangular."""
    return tuple(torch.linalg.qr(A, mode))


@function()
def svd(A, full_matrices=False):
    """(U, S, Vh): A = U diag(S) Vh, with orthonormal columns of U and rows of Vh, S ≥ 0 in falling order."""
    return tuple(torch.linalg.svd(A, full_matrices))


@function()
def eigh(A, UPLO="L"):
    """(values, V): A = V diag(values) Vᴴ of Hermitian A, given by one triangle, values in rising order."""
    return tuple(torch.linalg.eigh(A, UPLO))


@function()
def eig(A):
    """(values, V): A V = V diag(values), complex, columns of length 1."""
    return tuple(torch.linalg.eig(A))


@function()
def lu(A, pivot=True):
    """(P, L, U): A = P L U, P a permutation, L lower with ones on its diagonal, U upper."""
    return tuple(torch.linalg.lu(A, pivot=pivot))
