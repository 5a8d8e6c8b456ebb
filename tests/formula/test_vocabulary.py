"""The vocabulary: every function against a definition that does not call it, and the table of them."""

import cmath
import functools
import itertools
import math
import re
import subprocess
import sys
from pathlib import Path

import mpmath
import pytest
import torch
from torch.nn import functional

from gradcat.formula.evaluate import Evaluator
from gradcat.formula.syntax import names, parse
from gradcat.formula.vocabulary import pointwise, special, table

evaluate = Evaluator()


def double(*values):
    return torch.tensor(*values, dtype=torch.float64)


def randn(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


def label(part):
    """The name or formula of a row, for pytest; nothing for its other parts."""
    return part if isinstance(part, str) else ""


def close(got, want):
    """Equal up to rounding, numbers, tensors and lists of them; equal in type too where a tensor is wanted."""
    if isinstance(want, (list, tuple)) and not isinstance(got, torch.Tensor):
        assert len(got) == len(want)
        for mine, theirs in zip(got, want, strict=True):
            close(mine, theirs)
    elif isinstance(want, torch.Tensor):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-10)
    else:
        assert got == pytest.approx(want, rel=1e-12, nan_ok=True)


#: What the formulas below are about. Sides differ, so that a transposed formula shows.
v = double([3.0, 1.0, 2.0])
w = double([0.5, -2.0, 1.5])
m = double([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
t = randn(2, 3, 4)
square = randn(3, 3)
stack_ = randn(2, 3, 3) + 4 * torch.eye(3, dtype=torch.float64)
NAMES = {
    "v": v,
    "w": w,
    "m": m,
    "t": t,
    "ties": double([2.0, 5.0, 5.0, 2.0]),
    "holes": double([1.0, math.nan, math.inf, -math.inf, -0.0]),
    "z": torch.tensor([3 + 4j, -2j, -1 + 0j], dtype=torch.complex128),
    "mask": torch.tensor([True, False, True]),
    "i": torch.tensor([2, 0]),
    "rows": torch.tensor([[0, 1], [2, 2]]),
    "square": square,
    "many": stack_,
    "spd": square @ square.T + torch.eye(3, dtype=torch.float64),
    "image": randn(2, 3, 5, 6),
    "signal": randn(2, 7),
}
spd, image, signal, z = NAMES["spd"], NAMES["image"], NAMES["signal"], NAMES["z"]

#: Functions of a number, a definition of their own, and where they are compared. Of numbers they give numbers.
NUMBERS = [
    ("exp", math.exp, (-1.0, 0, 2.5)),
    ("exp2", lambda x: 2.0**x, (-1.0, 3)),
    ("expm1", math.expm1, (1e-12, 2.0)),
    ("log", math.log, (2, 0.1)),
    ("log2", math.log2, (2, 0.1)),
    ("log10", math.log10, (2, 0.1)),
    ("log1p", math.log1p, (1e-12, 2.0)),
    ("sqrt", math.sqrt, (2, 0.1)),
    ("rsqrt", lambda x: x**-0.5, (2, 0.1)),
    ("sin", math.sin, (0.3, 4)),
    ("cos", math.cos, (0.3, 4)),
    ("tan", math.tan, (0.3, 4)),
    ("asin", math.asin, (0.3, -1)),
    ("acos", math.acos, (0.3, -1)),
    ("atan", math.atan, (0.3, -4)),
    ("sinh", math.sinh, (0.3, -2)),
    ("cosh", math.cosh, (0.3, -2)),
    ("tanh", math.tanh, (0.3, -2)),
    ("asinh", math.asinh, (0.3, -2)),
    ("acosh", math.acosh, (1.3, 2)),
    ("atanh", math.atanh, (0.3, -0.9)),
    ("sinc", lambda x: math.sin(math.pi * x) / (math.pi * x) if x else 1.0, (0, 0.3)),
    ("sigmoid", lambda x: 1 / (1 + math.exp(-x)), (-3.0, 2)),
    ("sgn", lambda x: (x > 0) - (x < 0), (-3.0, 0, 2)),
    ("sign", lambda x: (x > 0) - (x < 0), (-3.0, 0, 2)),
    ("frac", lambda x: math.fmod(x, 1), (-1.25, 2.5)),
    ("trunc", math.trunc, (-1.25, 2.5)),
    ("floor", math.floor, (-1.25, 2.5)),
    ("ceil", math.ceil, (-1.25, 2.5)),
    ("abs", abs, (-1.25, -2, 3 + 4j)),
    ("isnan", math.isnan, (math.nan, 1.0)),
    ("isinf", math.isinf, (math.inf, 1.0)),
    ("isfinite", math.isfinite, (math.nan, -math.inf, 1.0)),
    ("signbit", lambda x: math.copysign(1, x) < 0, (-0.0, 0.0, 1, -2)),
    ("conj", lambda x: complex(x).conjugate(), (2, 1 + 2j)),
    ("real", lambda x: complex(x).real, (2, 1 + 2j)),
    ("imag", lambda x: complex(x).imag, (2, 1 + 2j)),
    ("angle", cmath.phase, (2, -2, 1 + 2j)),
    ("erf", math.erf, (-0.3, 2)),
    ("erfc", math.erfc, (-0.3, 5)),
    ("erfcx", lambda x: mpmath.exp(x**2) * mpmath.erfc(x), (-0.3, 9)),
    ("erfinv", mpmath.erfinv, (-0.3, 0.99)),
    ("ndtr", mpmath.ncdf, (-0.3, 2)),
    ("ndtri", lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), (0.1, 0.5)),
    ("log_ndtr", lambda x: mpmath.log(mpmath.ncdf(x)), (-9.0, 2)),
    ("entr", lambda x: -x * math.log(x) if x > 0 else 0.0 if x == 0 else -math.inf, (0, 0.3, -1)),
    ("lgamma", math.lgamma, (0.3, 5)),
    ("digamma", mpmath.digamma, (0.3, 5)),
    ("bessel_j0", lambda x: mpmath.besselj(0, x), (0.3, 2)),
    ("bessel_j1", lambda x: mpmath.besselj(1, x), (0.3, 2)),
    ("bessel_y0", lambda x: mpmath.bessely(0, x), (0.3, 2)),
    ("bessel_y1", lambda x: mpmath.bessely(1, x), (0.3, 2)),
    ("i0", lambda x: mpmath.besseli(0, x), (-0.3, 7)),
    ("i1", lambda x: mpmath.besseli(1, x), (-0.3, 7)),
    ("i0e", lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x), (-0.3, 7)),
    ("i1e", lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x), (-0.3, 7)),
    ("modified_bessel_k0", lambda x: mpmath.besselk(0, x), (0.3, 7)),
    ("modified_bessel_k1", lambda x: mpmath.besselk(1, x), (0.3, 7)),
    ("scaled_modified_bessel_k0", lambda x: mpmath.exp(x) * mpmath.besselk(0, x), (0.3, 7)),
    ("scaled_modified_bessel_k1", lambda x: mpmath.exp(x) * mpmath.besselk(1, x), (0.3, 7)),
    ("spherical_bessel_j0", lambda x: math.sin(x) / x if x else 1.0, (0, 0.3, 7)),
    ("airy_ai", mpmath.airyai, (-1.5, 0.3, 3)),
    ("tent", lambda x: max(0, 1 - abs(x)), (-0.25, 0, 3)),
    ("lanczos", lambda x: float(mpmath.sincpi(x) * mpmath.sincpi(x / 3)) if abs(x) < 3 else 0.0, (-0.25, 0, 2.5, 4)),
]

#: Functions of two numbers, likewise.
PAIRS = [
    ("pow", lambda x, y: x**y if y else 1.0, ((2, 0.5), (0, 0), (1j, 2))),
    ("atan2", math.atan2, ((1, -2), (0, -1.0))),
    ("logaddexp", lambda x, y: math.log(math.exp(x) + math.exp(y)), ((1, -2),)),
    ("complex", complex, ((1, -2), (0, 0.5))),
    ("copysign", math.copysign, ((1, -2), (-3, 0.0), (3, -0.0))),
    ("remainder", lambda x, y: x - y * math.floor(x / y), ((7, -3), (-7, 3))),
    ("fmod", math.fmod, ((7, -3), (-7, 3))),
    ("nextafter", math.nextafter, ((1, 2), (0, -1))),
    ("maximum", max, ((1, 2), (0.5, -1))),
    ("minimum", min, ((1, 2), (0.5, -1))),
    ("fmax", lambda x, y: y if math.isnan(x) else max(x, y), ((math.nan, 1), (1, 2))),
    ("fmin", lambda x, y: y if math.isnan(x) else min(x, y), ((math.nan, 1), (1, 2))),
    ("heaviside", lambda x, y: y if x == 0 else float(x > 0), ((-1, 3), (0, 3), (2, 3))),
    ("polygamma", lambda n, x: mpmath.polygamma(n, x), ((1, 0.7), (2, 3.1))),
    ("zeta", lambda x, q: mpmath.zeta(x, q), ((2.5, 0.7), (3, 2))),
    ("igamma", lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), ((2.5, 0.7), (0.5, 3))),
    ("igammac", lambda a, x: mpmath.gammainc(a, x, regularized=True), ((2.5, 0.7), (0.5, 3))),
    ("xlogy", lambda x, y: x * math.log(y) if x else 0.0, ((2, 0.7), (0, 0))),
    ("xlog1py", lambda x, y: x * math.log1p(y) if x else 0.0, ((2, 0.7), (0, -1))),
    ("chebyshev_polynomial_t", lambda x, n: mpmath.chebyt(n, x), ((0.3, 3),)),
    ("chebyshev_polynomial_u", lambda x, n: mpmath.chebyu(n, x), ((0.3, 3),)),
    ("chebyshev_polynomial_v", lambda x, n: mpmath.chebyu(n, x) - mpmath.chebyu(n - 1, x), ((0.3, 3),)),
    ("chebyshev_polynomial_w", lambda x, n: mpmath.chebyu(n, x) + mpmath.chebyu(n - 1, x), ((0.3, 3),)),
    ("shifted_chebyshev_polynomial_t", lambda x, n: mpmath.chebyt(n, 2 * x - 1), ((0.3, 3),)),
    ("shifted_chebyshev_polynomial_u", lambda x, n: mpmath.chebyu(n, 2 * x - 1), ((0.3, 3),)),
    (
        "shifted_chebyshev_polynomial_v",
        lambda x, n: mpmath.chebyu(n, 2 * x - 1) - mpmath.chebyu(n - 1, 2 * x - 1),
        ((0.3, 3),),
    ),
    (
        "shifted_chebyshev_polynomial_w",
        lambda x, n: mpmath.chebyu(n, 2 * x - 1) + mpmath.chebyu(n - 1, 2 * x - 1),
        ((0.3, 3),),
    ),
    ("hermite_polynomial_h", lambda x, n: mpmath.hermite(n, x), ((0.3, 3),)),
    ("hermite_polynomial_he", lambda x, n: 2 ** (-n / 2) * mpmath.hermite(n, x / mpmath.sqrt(2)), ((0.3, 3),)),
    ("laguerre_polynomial_l", lambda x, n: mpmath.laguerre(n, 0, x), ((0.3, 3),)),
    ("legendre_polynomial_p", lambda x, n: mpmath.legendre(n, x), ((0.3, 3),)),
]

#: A formula, and its value by other means.
FORMULAS = [
    # pointwise
    ("complex(v, 0.5)", torch.tensor([3 + 0.5j, 1 + 0.5j, 2 + 0.5j], dtype=torch.complex128)),
    ("imag(v)", double([0, 0, 0])),
    ("abs(z)", double([5, 2, 1])),
    ("angle(z)", double([math.atan2(4, 3), -math.pi / 2, math.pi])),
    ("sgn(z)", torch.tensor([0.6 + 0.8j, -1j, -1 + 0j], dtype=torch.complex128)),
    ("is_complex(z), is_complex(v), is_complex(1j), is_complex(1)", (True, False, True, False)),
    ("view_as_real(conj(z))", double([[3, -4], [0, 2], [-1, 0]])),
    ("view_as_complex(view_as_real(z))", z),
    ("round(2.5 * v), round(1.25, 1), round(v / 3, decimals=1)", (double([8, 2, 5]), 1.2, double([1, 0.3, 0.7]))),
    ("frexp(v)", (double([0.75, 0.5, 0.5]), torch.tensor([2, 1, 2], dtype=torch.int32))),
    ("where(v > 1, v, 0)", double([3, 0, 2])),
    ("where(v > 1, 0.1, 0)", double([0.1, 0, 0.1])),
    ("where(True, z, 0)", z),
    ("where(i > 0, i, 0.1)", double([2, 0.1])),
    ("masked_fill(v, mask, -0.1)", double([-0.1, 1, -0.1])),
    ("clamp(v, 1.5, 2.5)", double([2.5, 1.5, 2])),
    ("clamp(v, hi=2)", double([2, 1, 2])),
    ("clamp(v, w, None), clamp(-2, 0)", (double([3, 1, 2]), 0)),
    ("maximum(v, 2), minimum(2, v)", (double([3, 2, 2]), double([2, 1, 2]))),
    ("cast(v, 'float32')", torch.tensor([3.0, 1.0, 2.0])),
    ("cast(z, v), cast(v, z.dtype), cast(v, None)", (double([3, 0, -1]), v.to(torch.complex128), v)),
    ("view_dtype(v, 'int64')", v.view(torch.int64)),
    ("item(v[0]), item(2)", (3.0, 2)),
    ("isnan(holes)", torch.tensor([False, True, False, False, False])),
    ("isinf(holes)", torch.tensor([False, False, True, True, False])),
    ("signbit(holes)", torch.tensor([False, False, False, True, True])),
    ("sqrt(-1 + 0j), log(-1), log(-1 + 0j)", (1j, math.nan, math.pi * 1j)),
    ("polygamma(1, v)", double([math.pi**2 / 6 - 1.25, math.pi**2 / 6, math.pi**2 / 6 - 1])),
    ("cubic(arange(5, like=v) / 2)", double([1, 0.59375, 0, -0.09375, 0])),
    ("cubic(0.5, -0.5)", 0.5625),
    # reduce
    ("sum(m), sum(m, 0), sum(m, [-1], True)", (double(21), double([5, 7, 9]), double([[6], [15]]))),
    ("sum(m, []), sum(m, None, True), sum(v[0])", (double(21), double([[21]]), double(3))),
    ("sum([v, w]), sum([]), sum([1, 2])", (v + w, 0, 3)),
    ("prod(m), prod(m, 0), prod(m, (0, 1), keepdim=True)", (double(720), double([4, 10, 18]), double([[720]]))),
    ("prod(m.shape), prod(v[0])", (6, double(3))),
    ("mean(m), mean(m, 1)", (double(3.5), double([2, 5]))),
    ("amax(m, 0), amax(m), amin(m, -1, True)", (double([4, 5, 6]), double(6), double([[1], [4]]))),
    ("all(m > 1, 0), all(m > 0), all([True, False])", (torch.tensor([False, True, True]), torch.tensor(True), False)),
    (
        "any(m > 5, 1), any(m > 6), any(v[0] > 1)",
        (torch.tensor([False, True]), torch.tensor(False), torch.tensor(True)),
    ),
    ("count(m > 2, 1), count(v > 9, keepdim=True)", (torch.tensor([1, 3]), torch.tensor([0]))),
    ("logsumexp(m, 0), logsumexp(m), logsumexp(v[0])", (m.exp().sum(0).log(), m.exp().sum().log(), double(3))),
    ("norm(v), norm(m, 1, 0), norm(z, inf)", (double(math.sqrt(14)), double([5, 7, 9]), double(5))),
    ("norm(w, 0), norm(w, -inf, keepdim=True), norm(m, 3, [0, 1])", (double(3), double([0.5]), double(441 ** (1 / 3)))),
    ("cumsum(m, 1)", double([[1, 3, 6], [4, 9, 15]])),
    ("cumprod(m, 0)", double([[1, 2, 3], [4, 10, 18]])),
    ("prod_others(double0, 0), prod_others(m, 0), prod_others(m)", (double([0, 6, 0]), m.flip(0), 720 / m)),
    ("logcumsumexp(v, 0)", double([3, 1, 2]).exp().cumsum(0).log()),
    ("cummax(ties, 0), cummax_index(ties, 0)", (double([2, 5, 5, 5]), torch.tensor([0, 1, 2, 2]))),
    ("cummin(ties, 0), cummin_index(ties, 0)", (double([2, 2, 2, 2]), torch.tensor([0, 0, 0, 3]))),
    ("argmax(ties), argmax(m, 1, True)", (torch.tensor(1), torch.tensor([[2], [2]]))),
    ("argmin(ties), argmin(m, 0)", (torch.tensor(0), torch.tensor([0, 0, 0]))),
    ("sort(v), sort(m, 0, descending=True)", (double([1, 2, 3]), m.flip(0))),
    ("argsort(ties), argsort([3, 1, 2])", (torch.tensor([0, 3, 1, 2]), [1, 2, 0])),
    ("argsort(m, 0, descending=True)", torch.tensor([[1, 1, 1], [0, 0, 0]])),
    ("topk(v, 2), topk_index(v, 2, largest=False)", (double([3, 2]), torch.tensor([1, 2]))),
    ("kthvalue(v, 2), kthvalue_index(m, 3, 1, True)", (double(2), torch.tensor([[2], [2]]))),
    ("median(m), median(m, 0), median_index(v)", (double(3), double([1, 2, 3]), torch.tensor(2))),
    ("nanmedian(holes[:2]), nanmedian(holes, 0)", (double(1), double(0))),
    ("nanmedian_index(holes[:2])", torch.tensor(0)),
    ("mode(ties), mode_index(ties)", (double(2), torch.tensor(3))),
    # shape
    ("numel(t), numel(t, 1), numel(t, [0, -1])", (24, 3, 8)),
    ("reshape(m, [3, -1])", double([[1, 2], [3, 4], [5, 6]])),
    ("flatten(t, 1), flatten(m)", (torch.stack([t[0].reshape(-1), t[1].reshape(-1)]), double([1, 2, 3, 4, 5, 6]))),
    ("unflatten(v, 0, [3, 1])", double([[3], [1], [2]])),
    ("expand(v, [2, -1]), expand(2, [2])", (torch.stack([v, v]), double([2, 2]))),
    ("sum_to(m, [3]), sum_to(m, [2, 1]), sum_to(m, [])", (double([5, 7, 9]), double([[6], [15]]), double(21))),
    ("unsqueeze(v, -1), unsqueeze(m, [0, -1])", (v[:, None], m[None, :, :, None])),
    ("squeeze(v[None, :, None]), squeeze(v[None, :, None], 0), squeeze(v[None, :, None], [0, 2])", (v, v[:, None], v)),
    ("restore_dims(sum(t, [0, -1]), [0, -1], 3)", t.sum(0).sum(-1)[None, :, None]),
    ("restore_dims(sum(t, 1), 1, 3), restore_dims(sum(t, 1, True), 1, 3, True)", (t.sum(1)[:, None],) * 2),
    ("restore_dims(sum(t), None, 3), restore_dims(v[0], 0, 0)", (t.sum()[None, None, None], double(3))),
    ("transpose(m, 0, 1)", double([[1, 4], [2, 5], [3, 6]])),
    ("permute(t, [2, 0, 1])", torch.einsum("abc->cab", t)),
    ("inverse_permutation([2, 0, 1]), inverse_permutation([-1, 0, 1])", ([1, 2, 0], [1, 2, 0])),
    ("movedim(t, 0, -1)", torch.einsum("abc->bca", t)),
    ("cat([v, w]), cat([m, m[:, :1]], 1)", (double([3, 1, 2, 0.5, -2, 1.5]), double([[1, 2, 3, 1], [4, 5, 6, 4]]))),
    ("stack([v, w], 1)", double([[3, 0.5], [1, -2], [2, 1.5]])),
    ("split(v, 2), split(m, [1, 2], 1)", ([v[:2], v[2:]], [m[:, :1], m[:, 1:]])),
    ("chunk(v, 2), unbind(m), unbind(m, 1)", ([v[:2], v[2:]], [m[0], m[1]], [m[:, 0], m[:, 1], m[:, 2]])),
    ("select(m, 1, -1), narrow(m, 1, 1, 2)", (double([3, 6]), double([[2, 3], [5, 6]]))),
    ("slice(v), slice(m, -1, -2, 99), slice(v, 0, 0, 3, 2)", (v, double([[2, 3], [5, 6]]), double([3, 2]))),
    ("place(v, [5], 0, 1, -1)", double([0, 3, 1, 2, 0])),
    ("place(m, [2, 6], 1, 1, None, 2)", double([[0, 1, 0, 2, 0, 3], [0, 4, 0, 5, 0, 6]])),
    ("place_at(v, [3, 2], 1, -1)", double([[0, 3], [0, 1], [0, 2]])),
    ("slice_scatter(m, m[:, :1], 1, 2)", double([[1, 2, 1], [4, 5, 4]])),
    ("select_scatter(m, v, 0, 0)", double([[3, 1, 2], [4, 5, 6]])),
    ("pad(m, [1, 0, 0, 1], 9), pad(v, [-1, 1])", (double([[9, 1, 2, 3], [9, 4, 5, 6], [9] * 4]), double([1, 2, 0]))),
    ("tril(m), triu(m, 1)", (double([[1, 0, 0], [4, 5, 0]]), double([[0, 2, 3], [0, 0, 6]]))),
    ("diagonal(m), diagonal(m, 1)", (double([1, 5]), double([2, 6]))),
    ("diag_embed(v[:2], 1), diag(v[:2])", (double([[0, 3, 0], [0, 0, 1], [0, 0, 0]]), double([[3, 0], [0, 1]]))),
    ("place_diagonal(v[:2], [2, 3], 1)", double([[0, 3, 0], [0, 0, 1]])),
    ("diagonal_scatter(m, v[:2])", double([[3, 2, 3], [4, 1, 6]])),
    ("flip(v, 0), flip(m, [0, 1])", (double([2, 1, 3]), double([[6, 5, 4], [3, 2, 1]]))),
    ("roll(v, 1), roll(m, [1, -1], [0, 1])", (double([2, 3, 1]), double([[5, 6, 4], [2, 3, 1]]))),
    ("rot90(m), rot90(m, -1)", (double([[3, 6], [2, 5], [1, 4]]), double([[4, 1], [5, 2], [6, 3]]))),
    ("repeat(v, [2, 2])", double([[3, 1, 2, 3, 1, 2]] * 2)),
    (
        "sum_repeats(ones([4, 6, 2]), [2, 2, 1], [2, 3, 2]), sum_repeats(v[None], [1, 3], [1])",
        (torch.full((2, 3, 2), 4.0, dtype=torch.float64), double([6])),
    ),
    ("unfold(v, 0, 2, 1)", double([[3, 1], [1, 2]])),
    ("overlap_add(unfold(v, 0, 2, 1), 0, 3, 1)", double([3, 2, 2])),
    (
        "strided_index([2, 3], [1, 2], 1), strided_index([], [], 4)",
        (torch.tensor([[1, 3, 5], [2, 4, 6]]), torch.tensor(4)),
    ),
    (
        "zeros([2]), ones([2], like=z), full([2], 0.1), full([], v[0])",
        (double([0, 0]), torch.ones(2, dtype=torch.complex128), double([0.1, 0.1]), double(3)),
    ),
    ("zeros_like(v), ones_like(v), zeros_like(2), ones_like(2)", (double([0, 0, 0]), double([1, 1, 1]), 0, 1)),
    ("eye(2), eye(1, 2, like=z)", (double([[1, 0], [0, 1]]), torch.tensor([[1, 0]], dtype=torch.complex128))),
    ("arange(2), arange(1, 4, 2), arange(2, like=v)", (torch.tensor([0, 1]), torch.tensor([1, 3]), double([0, 1]))),
    # index
    ("gather(m, 1, rows)", double([[1, 2], [6, 6]])),
    (
        "scatter(m, 1, rows, -m), scatter(m, 1, rows, 0)",
        (double([[-1, -2, 3], [4, 5, -5]]), double([[0, 0, 3], [4, 5, 0]])),
    ),
    ("scatter_add(m, 1, rows, m)", double([[2, 4, 3], [4, 5, 15]])),
    ("scatter_reduce(m, 1, rows, m, 'amax')", double([[1, 2, 3], [4, 5, 6]])),
    ("scatter_reduce(m, 1, rows, m, 'prod', include_self=False)", double([[1, 2, 3], [4, 5, 20]])),
    ("index_select(m, 1, i)", double([[3, 1], [6, 4]])),
    ("index_add(m, 1, i, m[:, :2])", double([[3, 2, 4], [9, 5, 10]])),
    ("index_copy(m, 1, i, m[:, :2])", double([[2, 2, 1], [5, 5, 4]])),
    ("index_fill(m, 1, i, 0)", double([[0, 2, 0], [0, 5, 0]])),
    (
        "index(m, [None, i]), index(m, [i // 2, i]), index(v, [mask])",
        (double([[3, 1], [6, 4]]), double([6, 1]), double([3, 2])),
    ),
    ("index_put(m, [None, i], 0)", double([[0, 2, 0], [0, 5, 0]])),
    ("index_put(v, [i // 3], v[:2], accumulate=True)", double([7, 1, 2])),
    ("take(m, rows)", double([[1, 2], [3, 3]])),
    ("put(m, i, v[:2]), put(m, i * 0, v[:2], True)", (double([[1, 2, 3], [4, 5, 6]]), double([[5, 2, 3], [4, 5, 6]]))),
    ("masked_select(v, mask)", double([3, 2])),
    ("masked_scatter(v, mask, w)", double([0.5, 1, -2])),
    ("one_hot(i, 3), one_hot(i - 1, 2)", (torch.tensor([[0, 0, 1], [1, 0, 0]]), torch.tensor([[0, 1], [0, 0]]))),
    ("nonzero(m > 4)", torch.tensor([[1, 1], [1, 2]])),
    ("bincount(rows, 4)", torch.tensor([1, 1, 2, 0])),
    ("unique(ties), unique_inverse(ties)", (double([2, 5]), torch.tensor([0, 1, 1, 0]))),
    ("tril_indices(2, 3)", torch.tensor([[0, 1, 1], [0, 0, 1]])),
    ("triu_indices(2, 3, 1)", torch.tensor([[0, 0, 1], [1, 2, 2]])),
    ("reflect(arange(-3, 6), 3), reflect(-2, 1), reflect(-1, 4)", (torch.tensor([1, 2, 1, 0, 1, 2, 1, 0, 1]), 0, 1)),
    # linalg
    ("einsum('ij,j->i', m, v)", double([11, 29])),
    ("outer(v, w[:2]), dot(v, w)", (double([[1.5, -6], [0.5, -2], [1, -4]]), double(2.5))),
    ("vdot(z, z)", torch.tensor(30 + 0j, dtype=torch.complex128)),
    ("cross(v, w)", double([5.5, -3.5, -6.5])),
    ("kron(m[:1], v[:2])", double([[3, 1, 6, 2, 9, 3]])),
    (
        "mT(m), mH(reshape(z, [1, 3]))",
        (m.permute(1, 0), torch.stack([3 - 4j + 0 * z[0], 2j + 0 * z[0], -1 + 0 * z[0]])[:, None]),
    ),
    ("trace(many)", torch.einsum("bii->b", stack_)),
    ("tril_half(m @ mT(m))", double([[7, 0], [32, 38.5]])),
    ("block([[m, v[:2, None]], [zeros([1, 4])]])", double([[1, 2, 3, 3], [4, 5, 6, 1], [0] * 4])),
    ("block_diag([m, v])", double([[1, 2, 3, 0, 0, 0], [4, 5, 6, 0, 0, 0], [0, 0, 0, 3, 1, 2]])),
    ("inv(many) @ many", torch.eye(3, dtype=torch.float64).expand(2, 3, 3)),
    (
        "pinv(m) @ m @ pinv(m) - pinv(m), m @ pinv(m)",
        (torch.zeros(3, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)),
    ),
    (
        "many @ solve(many, mT(m)), solve(many, expand(m, [2, 2, 3]), left=False) @ many",
        (m.T.expand(2, 3, 2), m.expand(2, 2, 3)),
    ),
    ("tril(many) @ solve_triangular(many, mT(m), False)", m.T.expand(2, 3, 2)),
    ("solve_triangular(square, m, True, left=False, unitriangular=True) @ (triu(square, 1) + eye(3))", m),
    (
        "det(many), slogdet(-many)",
        (
            torch.stack([torch.linalg.eigvals(a).prod().real for a in stack_]),
            (double([-1, -1]), torch.linalg.svdvals(stack_).log().sum(-1)),
        ),
    ),
    (
        "matrix_exp(square)",
        sum((torch.matrix_power(square, k) / float(math.factorial(k)) for k in range(40)), 0 * square),
    ),
    ("cholesky(spd) @ mH(cholesky(spd)), tril(cholesky(spd)) - cholesky(spd)", (spd, 0 * spd)),
    ("mH(cholesky(spd, upper=True)) @ cholesky(spd, upper=True)", spd),
    ("identity(many)", torch.eye(3, dtype=torch.float64).expand(2, 3, 3)),
    ("many @ adjugate(many)", torch.linalg.det(stack_)[:, None, None] * torch.eye(3, dtype=torch.float64)),
    # windows, interpolation
    ("window_count(7, 3), window_count(7, 3, 2, 1, 2), window_count(8, 3, 2, ceil_mode=True)", (5, 3, 4)),
    (
        "window_count(5, 2, 3, 1, 1, True), window_count(4, 1, 3, ceil_mode=True), window_count(3, 1, 3, 0, 1, True)",
        (2, 2, 1),
    ),
    ("patches(v, 2)", double([[3, 1], [1, 2]])),
    ("patches(v, [2], [], 1, value=-inf)", double([[-math.inf, 3], [1, 2]])),
    (
        "flatten(permute(patches(image, [2, 3], [1, 2], 1, [2, 1]), [0, 1, 4, 5, 2, 3]), 4)",
        functional.unfold(image, (2, 3), (2, 1), 1, (1, 2)).reshape(2, 3, 2, 3, -1),
    ),
    (
        "amax(patches(image, [3, 2], 2, 1, value=-inf, ceil_mode=True), [-1, -2])",
        functional.max_pool2d(image, (3, 2), 2, 1, ceil_mode=True),
    ),
    ("unpatch(patches(v, 2), [3])", double([3, 2, 2])),
    ("pooling_matrix(5, 3, 2, 1)", double([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]])),
    ("pooling_matrix(4, 2, 2, 0, 2, like=z)", torch.tensor([[1, 0, 1, 0]], dtype=torch.complex128)),
    (
        "pooling_matrix(5, 3, 2, 1, 1, True) @ image @ mT(pooling_matrix(6, 2, 2, 1, 1, True)) / 6",
        functional.avg_pool2d(image, (3, 2), 2, 1, ceil_mode=True, divisor_override=6),
    ),
    (
        "einsum('nl,ol->no', signal, adaptive_pooling_matrix(7, 3)) / sum(adaptive_pooling_matrix(7, 3), 1)",
        functional.adaptive_avg_pool1d(signal, 3),
    ),
    ("interpolation_matrix(2, 4, 'linear')", double([[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]])),
    # fourier
    (
        "fft(v), fft(v, 0, 2) * 3",
        (
            torch.einsum(
                "j,kj->k", v + 0j, dft3 := torch.exp(-2j * math.pi / 3 * double([[0, 0, 0], [0, 1, 2], [0, 2, 4]]))
            ),
        )
        * 2,
    ),
    ("ifft(z), ifft(z, 0, 1) / sqrt(3), ifft(z, [0], 0) / 3", (torch.einsum("j,kj->k", z, dft3.conj()) / 3,) * 3),
    ("fft(m, [1], 1), ifft(fft(m))", (torch.einsum("nj,kj->nk", m + 0j, dft3) / math.sqrt(3), m + 0j)),
    (
        "rfft(v), rfft(m, [0, 1], 1)",
        (
            torch.einsum("j,kj->k", v + 0j, dft3)[:2],
            torch.einsum("nj,kj->nk", torch.stack([m[0] + m[1], m[0] - m[1]]) + 0j, dft3)[:, :2] / math.sqrt(6),
        ),
    ),
    ("irfft(rfft(v), 3), irfft(rfft(m, norm=1), 3, norm=1), irfft(rfft(m, [1]), 3, [1], 0) / 3", (v, m, m)),
    # lists
    ("fold(lambda s, x: 2 * s + x, 1, [3, 4])", 14),
    ("fold(lambda s, x: s, v, [])", v),
    ("scan(lambda s, x: s + x, 0, unbind(v)), scan(lambda s, x: s, 0, [])", ([double(3), double(4), double(6)], [])),
    ("range(3), range(1, 6, 2), len([1, 2]), len(m)", ([0, 1, 2], [1, 3, 5], 2, 2)),
    ("zip([1, 2], [3, 4]), enumerate([5]), reversed([1, 2])", ([(1, 3), (2, 4)], [(0, 5)], [2, 1])),
    ("min(2, 1), max([2, 1.5]), int(7 / 2), tolist(rows), tolist([1])", (1, 2, 3, [[0, 1], [2, 2]], [1])),
    ("[a * b for a, b in zip([1, 2], [3, 4])]", [3, 8]),
]
NAMES["double0"] = double([2.0, 0.0, 3.0])

#: A relation that defines a factorisation: the difference of its sides.
RELATIONS = [
    "fold(lambda a, b: a @ b, eye(3), qr(many)) - many",
    "mH(qr(mT(m), 'complete')[0]) @ qr(mT(m), 'complete')[0] - eye(3)",
    "svd(m)[0] @ diag(svd(m)[1]) @ svd(m)[2] - m",
    "svd(m, full_matrices=True)[2] @ mH(svd(m, full_matrices=True)[2]) - eye(3)",
    "eigh(spd)[1] @ diag(eigh(spd)[0]) @ mH(eigh(spd)[1]) - spd",
    "many @ eye(3) - real(eig(many)[1] @ diag(eig(many)[0]) @ inv(eig(many)[1]))",
    "fold(lambda a, b: a @ b, eye(3), lu(many)) - many",
    "permutation_matrix(pivots, 3) @ lu(rising)[1] @ lu(rising)[2] - rising",
]
NAMES["rising"] = torch.stack([square, square.flip(0), square.roll(1, 0)])
NAMES["pivots"] = torch.linalg.lu_factor(NAMES["rising"]).pivots

#: A linear map of x, its adjoint, which takes y, and the shape of x: <f(x), y> = <x, f*(y)>.
ADJOINTS = [
    ("expand(x, [4, 2, 3])", "sum_to(y, x.shape)", (2, 1)),
    ("sum(x, [0, 2])", "expand(restore_dims(y, [0, 2], 3), x.shape)", (2, 3, 4)),
    ("permute(x, [2, 0, 1])", "permute(y, inverse_permutation([2, 0, 1]))", (2, 3, 4)),
    ("slice(x, 1, -6, 5, 2)", "place(y, x.shape, 1, -6, 5, 2)", (2, 7)),
    ("select(x, 1, -2)", "place_at(y, x.shape, 1, -2)", (2, 3, 4)),
    ("narrow(x, -1, 1, 2)", "place(y, x.shape, -1, 1, 3)", (2, 3, 4)),
    ("pad(x, [1, -1, 2, 0])", "pad(y, [-1, 1, -2, 0]) + zeros_like(x)", (2, 3, 4)),
    ("diagonal(x, -1, 0, 2)", "place_diagonal(y, x.shape, -1, 0, 2)", (2, 3, 4)),
    ("repeat(x, [2, 3, 1, 2])", "sum_repeats(y, [2, 3, 1, 2], x.shape)", (2, 3, 4)),
    ("unfold(x, 1, 3, 2)", "overlap_add(y, 1, 8, 2)", (2, 8, 3)),
    ("unfold(x, -1, 2, 3)", "overlap_add(y, -1, 8, 3)", (2, 8)),
    (
        "take(x, strided_index([3, 4], [1, 2], 1))",
        "put(zeros_like(x), strided_index([3, 4], [1, 2], 1), y, True)",
        (10,),
    ),
    ("gather(x, 1, rows)", "scatter_add(zeros_like(x), 1, rows, y)", (2, 3)),
    ("index_select(x, 1, i)", "index_add(zeros_like(x), 1, i, y)", (2, 3)),
    ("index(x, [None, i, i])", "index_put(zeros_like(x), [None, i, i], y, True)", (2, 3, 4)),
    ("masked_select(x, mask)", "masked_scatter(zeros_like(x), mask, y)", (2, 3)),
    ("patches(x, [3], 2, 1)", "unpatch(y, x.shape[1:], 2, 1)", (2, 8)),
    ("patches(x, [2, 3], [1, 2], 1, [2, 1])", "unpatch(y, x.shape[2:], [1, 2], 1, [2, 1])", (2, 3, 5, 6)),
    ("patches(x, [2, 2], [], 1, ceil_mode=True)", "unpatch(y, x.shape[1:], 2, 1)", (2, 5, 6)),
    ("patches(x, [2, 1, 2], [2, 1, 3])", "unpatch(y, x.shape, [2, 1, 3])", (4, 3, 6)),
    ("patches(x, [2], 5)", "unpatch(y, x.shape, 5)", (9,)),
    ("fft(x, [0], 1)", "ifft(y, [0], 1)", (4, 3)),
    ("cumsum(x, 0)", "flip(cumsum(flip(y, 0), 0), 0)", (4, 3)),
    ("roll(x, [1, -1], [0, 1])", "roll(y, [-1, 1], [0, 1])", (4, 3)),
]

#: What is refused, and a word of the reason.
REFUSED = [
    ("sum(m, 2)", "dimension 2"),
    ("cast(v, 'Tensor')", "no type 'Tensor'"),
    ("range(10 ** 9)", "the limit is"),
    ("fold(2, 0, [1])", "lambda state, item"),
    ("max(v, w)", "amax"),
    ("interpolation_matrix(2, 3, 'sinc')", "no mode 'sinc'"),
    ("zip([1], [2, 3])", "shorter|longer"),
]

ELEMENTARY = [path.rpartition(".")[2] for path, *_ in pointwise.ELEMENTARY + special.ELEMENTARY]
#: Elementary functions that torch has for real numbers alone.
REAL_ONLY = {"frac", "trunc", "signbit"} | set(ELEMENTARY[len(pointwise.ELEMENTARY) :])


@pytest.mark.parametrize(("name", "definition", "points"), NUMBERS + PAIRS, ids=label)
def test_functions_of_numbers(name, definition, points):
    for point in points:
        numbers = point if isinstance(point, tuple) else (point,)
        got = table()[name].code(*numbers)
        want = definition(*numbers)
        assert isinstance(got, (bool, int, float, complex))
        assert got == pytest.approx(want if isinstance(want, complex) else float(want), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(("formula", "want"), FORMULAS, ids=label)
def test_value(formula, want):
    close(evaluate(formula, NAMES), want)


@pytest.mark.parametrize("relation", RELATIONS)
def test_relation_holds(relation):
    assert evaluate(relation, NAMES).abs().max() < 1e-12


@pytest.mark.parametrize(("map_", "adjoint", "shape"), ADJOINTS, ids=label)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_adjoint(map_, adjoint, shape, dtype):
    x = randn(*shape, dtype=dtype)
    image_of_x = evaluate(map_, NAMES | {"x": x})
    y = randn(*image_of_x.shape, dtype=image_of_x.dtype)
    back = evaluate(adjoint, NAMES | {"x": x, "y": y})
    assert back.shape == x.shape
    left, right = (image_of_x.conj() * y).sum(), (x.conj() * back).sum()
    torch.testing.assert_close(left if left.is_complex() else left + 0j, right if right.is_complex() else right + 0j)


@pytest.mark.parametrize(("formula", "reason"), REFUSED)
def test_refused(formula, reason):
    with pytest.raises((IndexError, ValueError, TypeError), match=reason):
        evaluate(formula, NAMES)


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_keeps_the_type(name):
    code = table()[name].code
    for dtype in (torch.float32, torch.float64, torch.complex128):
        if dtype.is_complex and name in REAL_ONLY:
            continue
        x = torch.tensor([0.25, 0.5], dtype=dtype)
        got = code(x)
        assert got.dtype in (dtype, torch.bool)
        if dtype == torch.float32:
            torch.testing.assert_close(got.double(), code(x.double()).double(), rtol=1e-5, atol=1e-6, equal_nan=True)


#: Mode of interpolation_matrix: torch's op, and whether corners can be aligned.
RESAMPLING = [
    ("nearest", "upsample_nearest2d", False),
    ("nearest-exact", "_upsample_nearest_exact2d", False),
    ("linear", "upsample_bilinear2d", True),
    ("cubic", "upsample_bicubic2d", True),
    ("linear-aa", "_upsample_bilinear2d_aa", True),
    ("cubic-aa", "_upsample_bicubic2d_aa", True),
    ("lanczos-aa", "_upsample_lanczos2d_aa", True),
]


@pytest.mark.parametrize(("mode", "op", "corners"), RESAMPLING)
def test_interpolation_matrix(mode, op, corners):
    matrix, op = table()["interpolation_matrix"].code, getattr(torch.ops.aten, op)
    for n, m in itertools.product(range(1, 11), repeat=2):
        # NOTE: three columns, because the antialiasing kernels of torch 2.13 are wrong for images of one column.
        pixels = torch.eye(n, dtype=torch.float64)[:, None, :, None].expand(n, 1, n, 3)
        for align_corners, scale in [(False, None), (False, (m + 0.4) / n), (True, None)][: 2 + corners]:
            flags = [align_corners] if corners else []
            want = op(pixels, [m, 3], *flags, scale, None)[:, 0, :, 0].mT
            close(matrix(n, m, mode, align_corners, scale), want)


@pytest.mark.parametrize(("groups", "stride", "padding", "dilation"), [(1, [1, 1], 0, 1), (3, [2, 1], [1, 2], [1, 2])])
def test_convolution_is_patches_and_a_sum(groups, stride, padding, dilation):
    weight = randn(6, 3 // groups, 2, 3)
    names_ = {
        "x": image,
        "w": weight.reshape(groups, 6 // groups, 3 // groups, 2, 3),
        "g": groups,
        "s": stride,
        "p": padding,
        "d": dilation,
    }
    formula = "flatten(einsum('ngcxyij,gocij->ngoxy', unflatten(patches(x, [2, 3], s, p, d), 1, [g, -1]), w), 1, 2)"
    close(evaluate(formula, names_), functional.conv2d(image, weight, None, stride, padding, dilation, groups))


def test_transposed_convolution_is_a_sum_and_unpatch():
    weight = randn(3, 4, 2, 3)
    want = functional.conv_transpose2d(
        image, weight, None, stride=(2, 3), padding=1, output_padding=(1, 2), dilation=(1, 2)
    )
    formula = "unpatch(einsum('ncxy,coij->noxyij', image, weight), size, [2, 3], 1, [1, 2])"
    close(evaluate(formula, NAMES | {"weight": weight, "size": want.shape[2:]}), want)


# The table


@functools.cache
def exercised():
    texts = [f for f, _ in FORMULAS] + RELATIONS + [text for row in ADJOINTS for text in row[:2]]
    return {name for name, *_ in NUMBERS + PAIRS} | {name for text in texts for name in names(parse(text))[1]}


@pytest.mark.parametrize("row", table().values(), ids=lambda row: row.name)
def test_row(row):
    assert row.name.isidentifier()
    assert not row.name.endswith(("_backward", "_jvp", "_grad"))
    assert row.meaning.endswith("."), "the meaning is a sentence"
    assert len(row.meaning) <= 120
    own = Path(__file__).parent / "vocabulary" / f"test_{row.code.__module__.rpartition('.')[2]}.py"
    proved = exercised() | (set(re.findall(r"\w+", own.read_text())) if own.exists() else set())
    assert row.name in proved, "a row of FORMULAS, NUMBERS or ADJOINTS proves it, or the test of its own module"
    assert not any(p.kind is p.VAR_KEYWORD for p in row.signature.parameters.values()), "no keyword passes unseen"


def test_table_is_sorted_and_does_not_import_torch():
    script = (
        "import sys, gradcat.formula.vocabulary as v; t = [*v.table()]; print(t == sorted(t), 'torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "False"]
