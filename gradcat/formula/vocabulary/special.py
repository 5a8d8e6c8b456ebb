"""Special functions: error function, gamma function, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

from operator import attrgetter

from . import function
from .tensors import elementary, elementwise, torch

#: Functions of one number: torch's path, meaning, LaTeX.
ELEMENTARY = (
    ("erf", "Error function 2/√π ∫₀ˣ exp(-t²) dt.", r"\operatorname{{erf}}{x:()}"),
    ("erfc", "1 - erf(x), exact where erf is near 1.", r"\operatorname{{erfc}}{x:()}"),
    ("special.erfcx", "exp(x²) erfc(x).", r"\operatorname{{erfcx}}{x:()}"),
    ("erfinv", "Inverse of erf.", r"\operatorname{{erf}}^{{-1}}{x:()}"),
    ("special.ndtr", "Normal distribution function Φ.", r"\Phi{x:()}"),
    ("special.ndtri", "Inverse of the normal distribution function.", r"\Phi^{{-1}}{x:()}"),
    ("special.log_ndtr", "Logarithm of the normal distribution function.", r"\log \Phi{x:()}"),
    ("special.entr", "-x log(x); 0 at 0, -∞ below.", r"\operatorname{{entr}}{x:()}"),
    ("lgamma", "Logarithm of |Γ(x)|.", r"\log\left|\Gamma{x:()}\right|"),
    ("digamma", "ψ, the derivative of log Γ.", r"\psi{x:()}"),
    ("special.bessel_j0", "Bessel function of the first kind, order 0.", r"J_0{x:()}"),
    ("special.bessel_j1", "Bessel function of the first kind, order 1.", r"J_1{x:()}"),
    ("special.bessel_y0", "Bessel function of the second kind, order 0.", r"Y_0{x:()}"),
    ("special.bessel_y1", "Bessel function of the second kind, order 1.", r"Y_1{x:()}"),
    ("special.i0", "Modified Bessel function of the first kind, order 0.", r"I_0{x:()}"),
    ("special.i1", "Modified Bessel function of the first kind, order 1.", r"I_1{x:()}"),
    ("special.i0e", "exp(-|x|) I₀(x).", ""),
    ("special.i1e", "exp(-|x|) I₁(x).", ""),
    ("special.modified_bessel_k0", "Modified Bessel function of the second kind, order 0.", r"K_0{x:()}"),
    ("special.modified_bessel_k1", "Modified Bessel function of the second kind, order 1.", r"K_1{x:()}"),
    ("special.scaled_modified_bessel_k0", "exp(x) K₀(x).", ""),
    ("special.scaled_modified_bessel_k1", "exp(x) K₁(x).", ""),
    ("special.spherical_bessel_j0", "sin(x) / x, and 1 at 0.", r"j_0{x:()}"),
    ("special.airy_ai", "Airy function Ai.", r"\operatorname{{Ai}}{x:()}"),
)
#: Polynomials in x of degree n: torch's path, whose, LaTeX.
POLYNOMIALS = (
    ("special.chebyshev_polynomial_t", "Chebyshev polynomial of the first kind", "T_{{{n}}}"),
    ("special.chebyshev_polynomial_u", "Chebyshev polynomial of the second kind", "U_{{{n}}}"),
    ("special.chebyshev_polynomial_v", "Chebyshev polynomial of the third kind", "V_{{{n}}}"),
    ("special.chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind", "W_{{{n}}}"),
    ("special.shifted_chebyshev_polynomial_t", "Chebyshev polynomial of the first kind at 2x - 1", "T^*_{{{n}}}"),
    ("special.shifted_chebyshev_polynomial_u", "Chebyshev polynomial of the second kind at 2x - 1", "U^*_{{{n}}}"),
    ("special.shifted_chebyshev_polynomial_v", "Chebyshev polynomial of the third kind at 2x - 1", "V^*_{{{n}}}"),
    ("special.shifted_chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind at 2x - 1", "W^*_{{{n}}}"),
    ("special.hermite_polynomial_h", "Hermite polynomial of the physicists", "H_{{{n}}}"),
    ("special.hermite_polynomial_he", "Hermite polynomial of the probabilists", r"\mathit{{He}}_{{{n}}}"),
    ("special.laguerre_polynomial_l", "Laguerre polynomial", "L_{{{n}}}"),
    ("special.legendre_polynomial_p", "Legendre polynomial", "P_{{{n}}}"),
)


def polynomial(path, whose, latex):
    """Enter a polynomial in x of degree n that torch computes itself."""

    def code(x, n):
        return attrgetter(path)(torch)(x, n)

    code.__name__, code.__doc__ = path.rpartition(".")[2], f"{whose}, degree n."
    function(latex=latex + r"{x:()}")(elementwise(code))


for row in ELEMENTARY:
    elementary(*row)
for row in POLYNOMIALS:
    polynomial(*row)


@function(text="ψ^({n})({x})", latex=r"\psi^{{({n})}}{x:()}")
def polygamma(n, x):
    """The n-th derivative of ψ."""
    return elementwise(lambda x: torch.polygamma(n, x))(x)


@function(text="ζ({x}, {q})", latex=r"\zeta({x}, {q})")
@elementwise
def zeta(x, q):
    """Hurwitz zeta function Σ_k (k + q)^-x."""
    return torch.special.zeta(x, q)


@function(text="P({a}, {x})", latex=r"P({a}, {x})")
@elementwise
def igamma(a, x):
    """Regularised lower incomplete gamma function 1/Γ(a) ∫₀ˣ t^(a-1) exp(-t) dt."""
    return torch.igamma(a, x)


@function(text="Q({a}, {x})", latex=r"Q({a}, {x})")
@elementwise
def igammac(a, x):
    """Regularised upper incomplete gamma function, 1 - igamma(a, x)."""
    return torch.igammac(a, x)


@function()
@elementwise
def xlogy(x, y):
    """x log(y), and 0 where x is 0."""
    return torch.xlogy(x, y)


@function()
@elementwise
def xlog1py(x, y):
    """x log(1 + y), and 0 where x is 0."""
    return torch.special.xlog1py(x, y)
