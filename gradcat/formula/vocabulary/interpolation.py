"""Resampling along one dimension: a matrix for each mode, so that an upsampled image is H @ x @ Wᵀ."""

from __future__ import annotations

from . import function
from .tensors import elementwise, torch, type_of


@function()
@elementwise
def tent(x):
    """1 - |x| where |x| < 1, else 0: the kernel of linear interpolation."""
    return (1 - x.abs()).clamp(min=0)


@function()
def cubic(x, a=-0.75):
    """(a+2)|x|³ - (a+3)|x|² + 1 where |x| ≤ 1, a(|x|³ - 5|x|² + 8|x| - 4) where 1 < |x| < 2, else 0."""
    return elementwise(lambda x: _cubic(x.abs(), a))(x)


def _cubic(x, a):
    outer = torch.where(x < 2, a * (((x - 5) * x + 8) * x - 4), 0.0)
    return torch.where(x <= 1, ((a + 2) * x - (a + 3)) * x * x + 1, outer)


@function()
@elementwise
def lanczos(x):
    """sinc(x) sinc(x / 3) where |x| < 3, else 0."""
    return torch.where(x.abs() < 3, torch.sinc(x) * torch.sinc(x / 3), 0.0)


#: Mode: the kernel, the places that it weighs, counted from ⌊position⌋.
MODES = {
    "linear": (tent, (0, 1)),
    "cubic": (cubic, (-1, 0, 1, 2)),
}
#: Mode: the kernel, which spreads over as many pixels as fall on one of the smaller image.
ANTIALIAS = {
    "linear-aa": tent,
    "cubic-aa": lambda x: cubic(x, -0.5),
    "lanczos-aa": lanczos,
}
#: Mode: where in an output pixel its position is taken.
NEAREST = {"nearest": 0.0, "nearest-exact": 0.5}
#: Mode: the m / n at which torch does not heed a scale that the caller gives.
WHOLE = {"nearest": (1, 2), "linear": (1,), "linear-aa": (1,), "cubic-aa": (1,), "lanczos-aa": (1,)}


@function()
def interpolation_matrix(n, m, mode, align_corners=False, scale=None, like=None):
    """M[o, i] such that y = M x resamples n pixels to m.

    With s_o the position of output pixel o among the inputs, M[o, i] = Σ_j kernel(s_o - j) over the integers j that lie
    on pixel i when they are held between 0 and n - 1; nearest takes ⌊s_o⌋; the modes in -aa stretch the kernel by n / m
    where that is above 1 and scale each row to the sum 1. `scale` is m / n as the caller says it, where it is given.
    """
    scale = None if m / n in WHOLE.get(mode, ()) else scale
    ratio = ((n - 1) / (m - 1) if m > 1 else 0.0) if align_corners else 1 / scale if scale else n / m
    out, pixel = torch.arange(m, dtype=torch.float64)[:, None], torch.arange(n)
    if mode in NEAREST:
        # NOTE: torch finds the nearest pixel in single precision, whatever the type of the image.
        at = ((out + NEAREST[mode]).float() * torch.tensor(ratio, dtype=torch.float32)).floor().clamp(max=n - 1)
        return (at == pixel).to(**type_of(like))
    if mode in ANTIALIAS:
        center = ratio * (out + 0.5) - 0.5
        weights = ANTIALIAS[mode]((pixel - center) / max(ratio, 1.0))
        return (weights / weights.sum(1, keepdim=True)).to(**type_of(like))
    if mode not in MODES:
        raise ValueError(f"no mode {mode!r}; there are {', '.join([*NEAREST, *MODES, *ANTIALIAS])}")
    kernel, taps = MODES[mode]
    position = ratio * out if align_corners else ratio * (out + 0.5) - 0.5
    places = [position.floor() + tap for tap in taps]
    return sum(kernel(position - j) * (j.clamp(0, n - 1) == pixel) for j in places).to(**type_of(like))
