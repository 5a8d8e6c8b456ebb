"""The vocabulary of pooling and resampling: each function against the equation that defines it."""

import math
from functools import reduce

import pytest
import torch
from torch.nn import functional

from gradcat.formula.evaluate import Evaluator

evaluate = Evaluator()

LINEAR, NEAREST, CUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


def randn(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("shapes", [[(2, 3)], [(2, 3), (4, 5)], [(2, 3), (1, 4), (3, 2)]], ids=str)
def test_kronecker(shapes, dtype):
    matrices = [randn(*shape, dtype=dtype) for shape in shapes]
    torch.testing.assert_close(evaluate("kronecker(m)", {"m": matrices}), reduce(torch.kron, matrices))


def test_kronecker_of_each_pair_of_a_batch():
    a, b = randn(2, 3, 4), randn(2, 5, 2)
    want = torch.stack([torch.kron(x, y) for x, y in zip(a, b, strict=True)])
    torch.testing.assert_close(evaluate("kronecker([a, b])", {"a": a, "b": b}), want)


def test_row_kronecker():
    a, b, c = randn(2, 3, 4), randn(2, 3, 5), randn(2, 3, 2)
    got = evaluate("row_kronecker([a, b, c])", {"a": a, "b": b, "c": c})
    for n in range(2):
        for o in range(3):
            torch.testing.assert_close(got[n, o], reduce(torch.kron, [a[n, o], b[n, o], c[n, o]]))


@pytest.mark.parametrize(("n", "kernel", "m"), [(7, 2, 4), (7, 3, 1), (5, 5, 1), (9, 3, 7)])
def test_fractional_pooling_matrix(n, kernel, m):
    draws = torch.rand(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    got = evaluate("fractional_pooling_matrix(u, n, k, m)", {"u": draws, "n": n, "k": kernel, "m": m})
    assert got.shape == (2, 3, m, n)
    for u, windows in zip(draws.flatten().tolist(), got.flatten(0, 1), strict=True):
        alpha = (n - kernel) / (m - 1) if m > 1 else 0
        first = [math.floor(alpha * (o + u)) - math.floor(alpha * u) for o in range(m - 1)] + [n - kernel]
        assert windows.tolist() == [[float(f <= i < f + kernel) for i in range(n)] for f in first]


#: Weights of four pixels: x, mode, padding, align_corners, and what they are.
WEIGHTS = [
    (1.25, LINEAR, ZEROS, False, [0, 0.75, 0.25, 0]),
    (-0.25, LINEAR, ZEROS, False, [0.75, 0, 0, 0]),
    (-0.25, LINEAR, BORDER, False, [1, 0, 0, 0]),
    (-0.75, LINEAR, REFLECTION, True, [0.25, 0.75, 0, 0]),
    (-1.25, LINEAR, REFLECTION, False, [0.75, 0.25, 0, 0]),
    (-0.25, LINEAR, REFLECTION, False, [1, 0, 0, 0]),
    (4.25, LINEAR, REFLECTION, True, [0, 0.25, 0.75, 0]),
    (6.25, LINEAR, REFLECTION, True, [0.75, 0.25, 0, 0]),
    (8.25, LINEAR, REFLECTION, False, [0.75, 0.25, 0, 0]),
    (1.5, NEAREST, ZEROS, False, [0, 0, 1, 0]),
    (2.5, NEAREST, ZEROS, False, [0, 0, 1, 0]),
    (-0.75, NEAREST, ZEROS, False, [0, 0, 0, 0]),
    (1.5, CUBIC, ZEROS, False, [-0.09375, 0.59375, 0.59375, -0.09375]),
    (0.5, CUBIC, BORDER, False, [0.5, 0.59375, -0.09375, 0]),
    (0.5, CUBIC, REFLECTION, True, [0.59375, 0.5, -0.09375, 0]),
    (0.5, CUBIC, ZEROS, False, [0.59375, 0.59375, -0.09375, 0]),
]


def sampled(x, *arguments, n=4):
    names = dict(zip(("mode", "padding", "corners", "order"), (*arguments, 0), strict=False))
    return evaluate("sampling_matrix(x, n, mode, padding, corners, order)", {"x": x, "n": n, **names})


@pytest.mark.parametrize(("x", "mode", "padding", "corners", "want"), WEIGHTS)
def test_sampling_matrix(x, mode, padding, corners, want):
    got = sampled(torch.tensor([x], dtype=torch.float64), mode, padding, corners)
    torch.testing.assert_close(got, torch.tensor([want], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", [ZEROS, BORDER, REFLECTION])
@pytest.mark.parametrize("mode", [LINEAR, NEAREST, CUBIC])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_sampling_matrix_is_that_of_the_grid_sampler(n, mode, padding, corners, dtype):
    x = torch.linspace(-7.3, 9.1, 40, dtype=dtype)
    u = (2 * x / max(n - 1, 1) if corners else (2 * x + 1) / n) - 1
    if n == 1 and corners:
        x = torch.zeros_like(x)  # whatever u is
    grid = torch.stack([torch.zeros_like(u), u], -1)[None, :, None]
    image = torch.eye(n, dtype=dtype)[None, :, :, None]
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    want = functional.grid_sample(image, grid, modes[mode], paddings[padding], corners)[0, :, :, 0].T
    got = sampled(x, mode, padding, corners, n=n)
    assert got.dtype == dtype
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12 if dtype == torch.float64 else 1e-4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("padding", [ZEROS, BORDER, REFLECTION])
@pytest.mark.parametrize("mode", [LINEAR, NEAREST, CUBIC])
def test_sampling_matrix_has_these_derivatives(mode, padding, order):
    x = torch.arange(-9, 12, dtype=torch.float64) + 0.3
    up, down = (sampled(x + step, mode, padding, False, order - 1) for step in (1e-4, -1e-4))
    torch.testing.assert_close(sampled(x, mode, padding, False, order), (up - down) / 2e-4, rtol=0, atol=1e-6)


def test_sampling_matrix_at_a_kink():
    x = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    right = torch.tensor([[-1.0, 1, 0, 0], [0, -1, 1, 0], [0, 0, 0, -1]], dtype=torch.float64)
    torch.testing.assert_close(sampled(x, LINEAR, ZEROS, True, 1), right)
    held = right * torch.tensor([[0.0], [1.0], [0.0]], dtype=torch.float64)
    torch.testing.assert_close(sampled(x, LINEAR, BORDER, True, 1), held)
