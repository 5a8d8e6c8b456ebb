"""The discrete Fourier transform, over one dimension or several."""

from __future__ import annotations

from . import function
from .notation import operator
from .tensors import dims, torch

#: The factor of a forward transform: torch's word, or ATen's number (0 none, 1 by √n, 2 by n).
FORWARD = {0: "backward", 1: "ortho", 2: "forward"}
#: The same number asks of an inverse transform for the same factor, which torch calls by the opposite word.
INVERSE = {0: "forward", 1: "ortho", 2: "backward"}


@function(notation=operator("fft"))
def fft(x, dim=None, norm=0):
    """y_k = c Σ_j x_j exp(-2πi jk/n), with c = 1, n^-1/2 or 1/n for norm 0, 1 or 2."""
    return torch.fft.fftn(x, dim=dims(x.ndim, dim), norm=FORWARD[norm])


@function(notation=operator("ifft"))
def ifft(x, dim=None, norm=2):
    """y_k = c Σ_j x_j exp(2πi jk/n), with c = 1, n^-1/2 or 1/n for norm 0, 1 or 2."""
    return torch.fft.ifftn(x, dim=dims(x.ndim, dim), norm=INVERSE[norm])


@function(notation=operator("rfft"))
def rfft(x, dim=None, norm=0):
    """fft of real x, the first n//2 + 1 of the last dimension: the others are their conjugates, in reverse order."""
    return torch.fft.rfftn(x, dim=dims(x.ndim, dim), norm=FORWARD[norm])


@function(notation=operator("irfft"))
def irfft(x, n, dim=None, norm=2):
    """The real ifft of a spectrum of which rfft has kept one half; n is the size of the last dimension."""
    axes = dims(x.ndim, dim)
    return torch.fft.irfftn(x, s=[*(x.shape[each] for each in axes[:-1]), n], dim=axes, norm=INVERSE[norm])
