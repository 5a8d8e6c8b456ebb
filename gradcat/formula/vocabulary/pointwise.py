"""Functions of each element by itself."""

from __future__ import annotations

import ast

from . import function
from .notation import NEGATIVE, POWER, SUM, Arguments, alone, cases, operator
from .tensors import elementary, elementwise, tensor, torch

#: Functions of one number that are elementary: name, meaning, LaTeX.
ELEMENTARY = (
    ("log", "Natural logarithm.", r"\log{x:()}"),
    ("log2", "Logarithm to base 2.", r"\log_2{x:()}"),
    ("log10", "Logarithm to base 10.", r"\log_{{10}}{x:()}"),
    ("expm1", "exp(x) - 1, exact near 0.", ""),
    ("sin", "Sine of x in radians.", r"\sin{x:()}"),
    ("cos", "Cosine of x in radians.", r"\cos{x:()}"),
    ("tan", "Tangent of x in radians.", r"\tan{x:()}"),
    ("asin", "Arc sine.", r"\arcsin{x:()}"),
    ("acos", "Arc cosine.", r"\arccos{x:()}"),
    ("atan", "Arc tangent.", r"\arctan{x:()}"),
    ("sinh", "Hyperbolic sine.", r"\sinh{x:()}"),
    ("cosh", "Hyperbolic cosine.", r"\cosh{x:()}"),
    ("tanh", "Hyperbolic tangent.", r"\tanh{x:()}"),
    ("asinh", "Inverse hyperbolic sine.", r"\operatorname{{arsinh}}{x:()}"),
    ("acosh", "Inverse hyperbolic cosine.", r"\operatorname{{arcosh}}{x:()}"),
    ("atanh", "Inverse hyperbolic tangent.", r"\operatorname{{artanh}}{x:()}"),
    ("sinc", "sin(πx) / (πx), and 1 at 0.", r"\operatorname{{sinc}}{x:()}"),
    ("sigmoid", "1 / (1 + exp(-x)).", r"\sigma{x:()}"),
    ("sgn", "x / |x|, and 0 at 0.", r"\operatorname{{sgn}}{x:()}"),
    ("frac", "x - trunc(x).", r"\operatorname{{frac}}{x:()}"),
    ("trunc", "The integer next to x on the side of 0.", r"\operatorname{{trunc}}{x:()}"),
    ("isnan", "Whether x is not a number.", ""),
    ("isinf", "Whether x is infinite.", ""),
    ("isfinite", "Whether x is a number and finite.", ""),
    ("signbit", "Whether x carries a minus sign; -0.0 does.", ""),
)
for row in ELEMENTARY:
    elementary(*row)
elementary("exp2", "2 to the power of x.", r"2^{{{x}}}", binds=(10, 9))


def _log1p(given: Arguments) -> str:
    """log(1 + x), and log(1 - x) for -x."""
    x = given["x"]
    return given.typesetter.call(r"\log", [f"1 - {x[1:]}" if x.binds == NEGATIVE else f"1 + {x:{SUM}}"])


@function(latex=_log1p)
@elementwise
def log1p(x):
    """log(1 + x), exact near 0."""
    return torch.log1p(x)


def _exp(given: Arguments) -> str:
    """e^{x}; where there is more than a line of names and numbers above the line, exp(x)."""
    setter, node = given.typesetter, given.nodes["x"]
    power = setter.shrunk(node)
    if "(" in power or "[" in power:
        return setter.printed(rf"\exp{setter.visit(node):()}")
    return setter.printed(f"e^{{{power}}}", POWER)


@function(text="exp({x})", latex=_exp)
@elementwise
def exp(x):
    """e to the power of x."""
    return torch.exp(x)


@function(text="√{x:10}", latex=r"\sqrt{{{x}}}", binds=(9, 10))
@elementwise
def sqrt(x):
    """Square root."""
    return torch.sqrt(x)


@function(text="1/√{x:10}", latex=r"\frac{{1}}{{\sqrt{{{x}}}}}", binds=(6, 8))
@elementwise
def rsqrt(x):
    """1 / √x."""
    return torch.rsqrt(x)


@function(notation=lambda given: given.typesetter.visit(ast.BinOp(given.nodes["x"], ast.Pow(), given.nodes["y"])))
@elementwise
def pow_(x, y):
    """x to the power of y; 1 at y = 0, whatever x is."""
    return torch.pow(x, y)


@function()
@elementwise
def atan2(y, x):
    """Angle of the point (x, y), in (-π, π]."""
    return torch.atan2(y, x)


@function(latex=r"\log(e^{{{x}}} + e^{{{y}}})")
@elementwise
def logaddexp(x, y):
    """log(exp(x) + exp(y)), without overflow."""
    return torch.logaddexp(x, y)


# Complex numbers


@function(latex=r"\overline{{{x}}}")
def conj(x):
    """Complex conjugate; a real input as it is."""
    return torch.conj(x) if isinstance(x, torch.Tensor) else x.conjugate()


@function(latex=r"\operatorname{{Re}}{x:()}")
def real(x):
    """Real part."""
    return torch.real(x) if isinstance(x, torch.Tensor) else x.real


@function(latex=r"\operatorname{{Im}}{x:()}")
def imag(x):
    """Imaginary part; 0 for a real input."""
    if not isinstance(x, torch.Tensor):
        return x.imag
    return torch.imag(x) if x.is_complex() else torch.zeros_like(x)


@function(latex=r"\arg{x:()}")
@elementwise
def angle(x):
    """Angle of a complex number; of a real one 0 or π."""
    return torch.angle(x)


@function(name="complex", text="{re:4} + i·{im:7}", latex=r"{re:4} + i\,{im:7}", binds=4)
@elementwise
def complex_(re, im):
    """The complex number re + i im."""
    return torch.complex(re, im)


@function()
def is_complex(x):
    """Whether x is of a complex type: a fact of its type, not of its values."""
    return x.is_complex() if isinstance(x, torch.Tensor) else isinstance(x, complex)


@function()
def view_as_real(x):
    """Real and imaginary part, as a last dimension of size 2."""
    return torch.view_as_real(x.resolve_conj())


@function()
def view_as_complex(x):
    """The complex numbers whose parts are the last dimension, of size 2."""
    return torch.view_as_complex(x.contiguous())


# Size, sign, rounding


@function(text="|{x}|", latex=r"\left|{x}\right|")
def abs_(x):
    """Absolute value; the modulus of a complex number."""
    return torch.abs(x) if isinstance(x, torch.Tensor) else x.__abs__()


@function(latex=r"\operatorname{{sign}}{x:()}")
@elementwise
def sign(x):
    """-1, 0 or 1, the sign of a real number."""
    return torch.sign(x)


@function()
@elementwise
def copysign(x, y):
    """|x| with the sign of y; -0.0 is negative."""
    return torch.copysign(x, y)


@function(text="⌊{x}⌋", latex=r"\left\lfloor {x} \right\rfloor")
@elementwise
def floor(x):
    """Largest integer that is not above x."""
    return torch.floor(x)


@function(text="⌈{x}⌉", latex=r"\left\lceil {x} \right\rceil")
@elementwise
def ceil(x):
    """Smallest integer that is not below x."""
    return torch.ceil(x)


@function(name="round")
def round_(x, decimals=0):
    """Nearest integer, of two the even one; to so many decimals."""
    return torch.round(x, decimals=decimals) if isinstance(x, torch.Tensor) else round(x, decimals)


@function(text="{x:7} mod {y:7}", latex=r"{x:7} \bmod {y:7}", binds=3)
@elementwise
def remainder(x, y):
    """x - y ⌊x / y⌋: it has the sign of y."""
    return torch.remainder(x, y)


@function()
@elementwise
def fmod(x, y):
    """x - y trunc(x / y): it has the sign of x."""
    return torch.fmod(x, y)


@function()
@elementwise
def nextafter(x, y):
    """The number after x in the direction of y that its type can hold."""
    return torch.nextafter(x, y)


@function()
def frexp(x):
    """(m, k) such that x = m 2^k and 1/2 ≤ |m| < 1, or both 0."""
    return tuple(torch.frexp(tensor(x)))


# Choices


@function(notation=cases("condition", "a", "b"))
def where(condition, a, b):
    """a where the condition holds, else b."""
    like = next((value for value in (a, b) if isinstance(value, torch.Tensor)), None)
    return torch.where(torch.as_tensor(condition, dtype=torch.bool), tensor(a, like), tensor(b, like))


@function(notation=cases("mask", "value", "x"))
def masked_fill(x, mask, value):
    """x, and the value wherever the mask holds."""
    return torch.where(torch.as_tensor(mask, dtype=torch.bool), tensor(value, x), x)


@function()
@elementwise
def clamp(x, lo=None, hi=None):
    """x, but not below lo and not above hi; None is no bound."""
    return torch.clamp(x, lo, hi)


@function(notation=operator("max", "x", "y", latex=r"\max"))
@elementwise
def maximum(x, y):
    """The larger of two; nan where one is nan."""
    return torch.maximum(x, y)


@function(notation=operator("min", "x", "y", latex=r"\min"))
@elementwise
def minimum(x, y):
    """The smaller of two; nan where one is nan."""
    return torch.minimum(x, y)


@function()
@elementwise
def fmax(x, y):
    """The larger of two; where one is nan, the other."""
    return torch.fmax(x, y)


@function()
@elementwise
def fmin(x, y):
    """The smaller of two; where one is nan, the other."""
    return torch.fmin(x, y)


@function()
@elementwise
def heaviside(x, y):
    """0 below 0, 1 above, and y at 0."""
    return torch.heaviside(x, y)


# Types

#: The types that a formula may name.
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
REALS = ("bfloat16", "float16", "float32", "float64")
TYPES = (*INTEGERS, *REALS, "complex32", "complex64", "complex128")


def _type(dtype):
    if isinstance(dtype, torch.Tensor):
        return dtype.dtype
    if not isinstance(dtype, str):
        return dtype
    if dtype not in TYPES:
        raise ValueError(f"no type {dtype!r}; there are {', '.join(TYPES)}")
    return getattr(torch, dtype)


@function(notation=alone())
def cast(x, dtype):
    """x in the type of this name, x.dtype or tensor: its real part where that is real; x itself where it is None."""
    if dtype is None:
        return x
    x, dtype = tensor(x), _type(dtype)
    return (x.real if x.is_complex() and not dtype.is_complex else x).to(dtype)


@function()
def view_dtype(x, dtype):
    """The same bytes, read as another type."""
    return x.contiguous().view(_type(dtype))


@function()
def item(x):
    """The Python number of a tensor that holds one; a number as it is."""
    return x.item() if isinstance(x, torch.Tensor) else x
