"""The typesetters: what is printed, read back, is the formula."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from gradcat.formula.evaluate import Evaluator
from gradcat.formula.syntax import parse
from gradcat.formula.typeset import Names, latex, local, text
from gradcat.formula.typeset.text import SUPERSCRIPTS
from gradcat.formula.vocabulary import table

# Each row: a formula, in text, in LaTeX. The awkward ones first.
PRECEDENCE = [
    ("self - (other - 1)", "self - (other - 1)", r"\mathrm{self} - (\mathrm{other} - 1)"),
    ("(self @ mat2).T", "(self @ mat2)ᵀ", r"(\mathrm{self} \, \mathrm{mat}_{2})^{\top}"),
    (
        "grad * -self",
        "∂L/∂out ⊙ (-self)",
        r"\frac{\partial L}{\partial \mathrm{out}} \odot (-\mathrm{self})",
    ),
    ("-(a + b)", "-(a + b)", r"-(a + b)"),
    ("-(a * b)", "-a ⊙ b", r"-a \odot b"),
    ("-a * b * c", "-a ⊙ b ⊙ c", r"-a \odot b \odot c"),
    ("-a // b", "⌊(-a) / b⌋", r"\left\lfloor \frac{-a}{b} \right\rfloor"),
    ("(-a) % b", "(-a) mod b", r"(-a) \bmod b"),
    ("--a", "-(-a)", r"-(-a)"),
    ("a - -b", "a - (-b)", r"a - (-b)"),
    ("a ** -b", "a^(-b)", r"a^{-b}"),
    ("(-a) ** b", "(-a)^b", r"(-a)^{b}"),
    ("-a ** b", "-a^b", r"-a^{b}"),
    ("a / (b / c)", "a / (b / c)", r"\frac{a}{b / c}"),
    ("a / b / c", "(a / b) / c", r"\frac{a / b}{c}"),
    ("a / b * c", "(a / b) ⊙ c", r"\frac{a}{b} \odot c"),
    ("a * b / c", "a ⊙ b / c", r"\frac{a \odot b}{c}"),
    ("a @ b * c", "(a @ b) ⊙ c", r"(a \, b) \odot c"),
    ("a * (b * c)", "a ⊙ (b ⊙ c)", r"a \odot (b \odot c)"),
    ("a ** b ** c", "a^(b^c)", r"a^{b^{c}}"),
    ("(a ** b) ** c", "(a^b)^c", r"(a^{b})^{c}"),
    ("a ** (b + 1)", "a^(b + 1)", r"a^{b + 1}"),
    ("(a / b) ** 2", "(a / b)²", r"\left(\frac{a}{b}\right)^{2}"),
    ("1 / grad", "1 / (∂L/∂out)", r"\frac{1}{\partial L / \partial \mathrm{out}}"),
    ("grad.T @ a", "(∂L/∂out)ᵀ @ a", r"\left(\frac{\partial L}{\partial \mathrm{out}}\right)^{\top} \, a"),
    ("grad / (2 * result)", "∂L/∂out / (2·out)", r"\frac{\partial L / \partial \mathrm{out}}{2 \, \mathrm{out}}"),
    ("a & (b | c)", "a ∧ (b ∨ c)", r"a \land (b \lor c)"),
    ("~(a > 0) & (b == 1)", "¬(a > 0) and b == 1", r"\lnot (a > 0) \text{ and } b = 1"),
    ("(a > 0) & b & c | (d < 1)", "(a > 0 and b and c) or d < 1", None),
    ("a & b & (c > 0)", "a ∧ b and c > 0", r"a \land b \text{ and } c > 0"),
    (
        "not a == b or c and d",
        "not a == b or (c and d)",
        r"\text{not } a = b \text{ or } (c \text{ and } d)",
    ),
    ("(a < b) < c", "(a < b) < c", r"(a < b) < c"),
    ("a <= b != c", "a ≤ b ≠ c", r"a \le b \ne c"),
    ("a is not None", "a is not None", r"a \text{ is not } \text{None}"),
    ("(lambda x, y: x + y)", "(x, y) ↦ x + y", r"(x, y) \mapsto x + y"),
    ("[a * x for x in b if x > 0]", "[a ⊙ x | x ∈ b, x > 0]", r"[a \odot x \mid x \in b, x > 0]"),
    ("[(a, b), (c,), *d]", "[(a, b), (c,), *d]", r"[(a, b), (c,), *d]"),
    ("(a + b)[i] + a[..., 1:]", "(a + b)[i] + a[..., 1:]", r"(a + b)[i] + a[\ldots, 1{:}]"),
    ("a[0] + mat1[0]", "a[0] + mat1[0]", r"a_{0} + \mathrm{mat}_{1}[0]"),
    ("a[::2, None]", "a[::2, None]", r"a[{:}{:}2, \text{None}]"),
]
NAMES = [
    ("grad", "∂L/∂out", r"\frac{\partial L}{\partial \mathrm{out}}"),
    ("grad_values", "∂L/∂values", r"\frac{\partial L}{\partial \mathrm{values}}"),
    ("grad_result", "∂L/∂out", r"\frac{\partial L}{\partial \mathrm{out}}"),
    ("grads[i]", "∂L/∂out[i]", r"\frac{\partial L}{\partial \mathrm{out}_{i}}"),
    ("result[i]", "out[i]", r"\mathrm{out}_{i}"),
    ("running_mean", "running_mean", r"\mathrm{running\_mean}"),
    ("grad_grad_input", "∂L/∂grad_input", r"\frac{\partial L}{\partial \mathrm{grad\_input}}"),
    ("W_ih + mu_grad", "W_ih + mu_grad", r"W_{\mathrm{ih}} + \mu_{\mathrm{grad}}"),
    ("[grad for grad in grads]", "[grad | grad ∈ ∂L/∂out]", None),
    ("(lambda grad: grad + grad_x)", "grad ↦ grad + ∂L/∂x", None),
    ("mat1 @ x2", "mat1 @ x2", r"\mathrm{mat}_{1} \, x_{2}"),
    ("alpha * x + eps", "α·x + ε", r"\alpha \, x + \varepsilon"),
    ("(1 - beta1) * x / lambd", "(1 - β1)·x / λ", r"\frac{(1 - \beta_{1}) \, x}{\lambda}"),
    ("A.mT @ x", "Aᵀ @ x", r"A^{\top} \, x"),
    ("x.real * x.ndim", "Re(x) ⊙ x.ndim", None),
    ("x.shape[dim] * x", "x.shape[dim]·x", r"\operatorname{size}_{\mathrm{dim}}(x) \, x"),
]
CONSTANTS = [
    ("2 * x", "2·x", r"2 \, x"),
    ("x * 2", "x·2", r"x \cdot 2"),
    ("2 * pi * 3", "2·π·3", r"2 \, \pi \cdot 3"),
    ("-2 * (a + b)", "-2·(a + b)", r"-2 \, (a + b)"),
    ("2.0 * a * b", "2·a ⊙ b", r"2 \, a \odot b"),
    ("a / b * 2", "(a / b)·2", r"\frac{a}{b} \cdot 2"),
    ("2 * (a / b)", "2·(a / b)", r"2 \, \frac{a}{b}"),
    ("x ** 2 + x ** -1 + x ** 0.5", "x² + x⁻¹ + x^0.5", r"x^{2} + x^{-1} + x^{0.5}"),
    ("1e-05 + 2.5e-12 * x", "1e-05 + 2.5e-12·x", r"10^{-5} + 2.5 \cdot 10^{-12} \, x"),
    ("-inf + nan + 1e999", "-∞ + nan + ∞", r"-\infty + \mathrm{nan} + \infty"),
    ("1j + 2.5j", "i + 2.5i", "i + 2.5i"),
    ("(None, True, 'a_b')", "(None, True, 'a_b')", r"(\text{None}, \text{True}, \texttt{a\_b})"),
]
FUNCTIONS = [
    ("exp(self) / sum(exp(self), dim, keepdim=True)", "exp(self) / (Σ_dim exp(self))", None),
    (
        "result * (grad - sum(grad * result, dim, keepdim=True))",
        "out ⊙ (∂L/∂out - Σ_dim ∂L/∂out ⊙ out)",
        (
            r"\mathrm{out} \odot \left(\frac{\partial L}{\partial \mathrm{out}}"
            r" - \sum_{\mathrm{dim}} \frac{\partial L}{\partial \mathrm{out}} \odot \mathrm{out}\right)"
        ),
    ),
    ("sum(x) * y", "(Σ x) ⊙ y", r"\left(\sum x\right) \odot y"),
    ("sum(x + y, dim=[0, -1])", "Σ_{0, -1} (x + y)", r"\sum_{0, -1} (x + y)"),
    ("-sum(a * b, 1) + 1", "-Σ_1 a ⊙ b + 1", r"-\sum_{1} a \odot b + 1"),
    ("sum([g * x for x in xs])", "Σ_{x ∈ xs} g ⊙ x", r"\sum_{x \in \mathrm{xs}} g \odot x"),
    ("mean(x, dim) ** 2", "mean_dim(x)²", r"\operatorname{mean}_{\mathrm{dim}}(x)^{2}"),
    ("amax(x)", "max(x)", r"\max(x)"),
    ("einsum('ik,kj->ij', a, b)", "Σ_k a_ik b_kj", r"\sum_{k} a_{ik} \, b_{kj}"),
    ("einsum('i,j', a, b)", "a_i b_j", r"a_{i} \, b_{j}"),
    (
        "einsum('...i,i', mat1, a + 1)",
        "Σ_i mat1_{…i} (a + 1)_i",
        r"\sum_{i} (\mathrm{mat}_{1})_{\ldots i} \, (a + 1)_{i}",
    ),
    ("einsum(equation, *xs)", "einsum(equation, *xs)", None),
    (
        "where(x > 0, grad, where(x < -1, alpha * grad, 0))",
        "{∂L/∂out if x > 0; α·∂L/∂out if x < -1; 0 otherwise}",
        (
            r"\begin{cases} \frac{\partial L}{\partial \mathrm{out}} & \text{if } x > 0 \\ "
            r"\alpha \, \frac{\partial L}{\partial \mathrm{out}} & \text{if } x < -1 \\ "
            r"0 & \text{otherwise} \end{cases}"
        ),
    ),
    (
        "where(c, 1, 0) * x if training else y",
        "{{1 if c; 0 otherwise} ⊙ x if training; y otherwise}",
        None,
    ),
    ("A @ inverse == eye(A.shape[-1])", "A @ inverse = I", r"A \, \mathrm{inverse} = I"),
    ("a == b and c == d", "a = b and c = d", r"a = b \text{ and } c = d"),
    ("-mH(A) @ grad @ mH(A)", "-Aᴴ @ ∂L/∂out @ Aᴴ", None),
    ("(a + b) * conj(c)", "(a + b) ⊙ conj(c)", r"(a + b) \odot \overline{c}"),
    ("exp(x) ** 2", "exp(x)²", r"(e^{x})^{2}"),
    ("sqrt(a + b) ** 2", "(√(a + b))²", r"\sqrt{a + b}^{2}"),
    ("abs(x) * norm(x, p)", "|x| ⊙ ‖x‖_p", r"\left|x\right| \odot \left\lVert x \right\rVert_{p}"),
    (
        "f(x, *ys, grad=alpha)",
        "f(x, *ys, grad=α)",
        r"\operatorname{f}(x, *\mathrm{ys}, \mathrm{grad}=\alpha)",
    ),
]

# What is not printed, and parts of tensors.
LIGHT = [
    ("cast(x + y, dtype) * 2", "(x + y)·2", r"(x + y) \cdot 2"),
    ("cast(x == y, dtype)", "x == y", "[x = y]"),
    ("restore_dims(grad, dim, x.ndim, keepdim) * x", "∂L/∂out ⊙ x", None),
    ("(lambda t: restore_dims(t, dim))", "t ↦ restore_dims(t, dim)", None),
    ("A @ x == expand(b, x.shape)", "A @ x = b", r"A \, x = b"),
    ("expand(b, size)", "expand(b, size)", None),
    ("full(shape, value + 1) * zeros_like(x) * ones_like(x)", "(value + 1) ⊙ 0 ⊙ 1", None),
    ("zeros([n], like=x) + permutation_matrix(p, n, x)", "zeros([n]) + permutation_matrix(p, n)", None),
    ("numel(x) * y + conj(alpha) * log(2) * y", "numel(x)·y + conj(α)·log(2)·y", None),
    ("maximum(x, 0)", "max(x, 0)", r"\max(x, 0)"),
    ("sort(x, dim, descending=True)", "sort_dim(x, descending=True)", None),
    ("cat([a, *b], -1)", "cat_{-1}(a, *b)", r"\operatorname{cat}_{-1}(a, *b)"),
    ("cat([g for g in a])", "cat([g | g ∈ a])", None),
    ("squeeze(x, range(n))", "squeeze(x, range(n))", None),
    ("sum_to(x / y, s)", "sum_to(x / y, s)", r"\operatorname{\mathrm{sum\_to}}\!\left(\frac{x}{y}, s\right)"),
    ("inv(mH(A)) @ mT(pinv(B)) @ inv(inv(C))", "A⁻ᴴ @ B⁺ᵀ @ (C⁻¹)⁻¹", None),
    ("mH(inv(A))", "A⁻ᴴ", r"A^{-\mathsf{H}}"),
    ("exp(x / 2) + exp(f(x))", "exp(x / 2) + exp(f(x))", r"e^{x / 2} + \exp(\operatorname{f}(x))"),
    ("einsum('na,nb->ab', x_patches, W_ih)", "Σ_n x_patches_{na} W_ih_{nb}", None),
    ("einsum('na...->a', grad)", "Σ_{n…} (∂L/∂out)_{na…}", None),
    ("gather(x + y, dim, index)", "(x + y)[index]_dim", r"(x + y)[\mathrm{index}]_{\mathrm{dim}}"),
    ("scatter_add(zeros_like(x), 0, i, a == b)", "0[i += (a == b)]_0", r"0[i \mathrel{+}= (a = b)]_{0}"),
    ("index_select(x, dim, i)", "x[..., i, ...]_dim", None),
    ("index_add(x, 1, i, y)", "x[:, i += y]", r"x[{:}, i \mathrel{+}= y]"),
    ("index_fill(grad, dim, i, 0)", "(∂L/∂out)[..., i, ... ← 0]_dim", None),
    ("index_put(x, [i, j], y, accumulate=True)", "x[i, j += y]", None),
    ("index_put(x, at, y)", "x[at ← y]", r"x[\mathrm{at} \gets y]"),
    ("index_put(x, at, y, accumulate)", "index_put(x, at, y, accumulate)", None),
    ("put(x, i, y, True) + take(x, i)", "put(x, i += y) + take(x, i)", None),
    ("masked_scatter(x, m, y) + masked_select(x, m)", "x[m ← y] + x[m]", None),
    ("select(x, -2, i)", "x[..., i, :]", None),
    ("slice(x, dim, 0, end)", "x[..., :end, ...]_dim", None),
    ("narrow(x, 1, k - 1, 1) + narrow(x, 1, k, n)", "x[:, k - 1:k] + x[:, k:k + n]", None),
    ("place(grad, x.shape, -1, 0, k)", "0[..., :k ← ∂L/∂out]", None),
    ("place_at(grad, sizes, dim, i)", "zeros(sizes)[..., i, ... ← ∂L/∂out]_dim", None),
    ("slice_scatter(x, y, dim, start, end, step)", "x[..., start:end:step, ... ← y]_dim", None),
    ("select_scatter(x, y, 1, 2)", "x[:, 2 ← y]", None),
    ("unsqueeze(x, -2) + unsqueeze(x, 1)", "x[..., None, :] + x[:, None]", None),
    ("unsqueeze(x, dim)", "unsqueeze_dim(x)", None),
    ("x.shape[0] + x.shape[1:]", None, r"\operatorname{size}_{0}(x) + \operatorname{shape}_{1{:}}(x)"),
    ("log1p(-x / y) + log1p(x)", None, r"\log\!\left(1 - \frac{x}{y}\right) + \log(1 + x)"),
    ("a[:-1]", "a[:-1]", "a[{:}{-}1]"),
    (
        "f(where(c, 1, 0), x)",
        None,
        (
            r"\operatorname{f}\!\left(\left(\begin{cases} 1 & \text{if } c \\ "
            r"0 & \text{otherwise} \end{cases}\right), x\right)"
        ),
    ),
]


@pytest.mark.parametrize(("code", "plain", "tex"), [*PRECEDENCE, *NAMES, *CONSTANTS, *FUNCTIONS, *LIGHT])
def test_prints(code, plain, tex):
    assert plain is None or text(code) == plain
    assert tex is None or latex(code) == tex


def test_a_definition_is_no_equation():
    assert text("x == y", relation=False) == "x == y"
    assert latex("x == y", relation=False) == "[x = y]"
    assert latex("(x > 0) & y", relation=False) == r"[x > 0 \text{ and } y]"
    assert latex("x + y", relation=False) == "x + y"


def test_arguments_of_the_op_print_as_they_are_called():
    names = Names(arguments=frozenset({"grad_output"}), scalars=frozenset({"threshold"}))
    assert text("grad * grad_output * threshold", names) == "(∂L/∂out ⊙ grad_output)·threshold"
    assert latex("grad_output", names) == r"\mathrm{grad\_output}"


# Reading back: the text and the LaTeX of operators are turned into Python again.
BINARY = ["+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>", "<", "!=", "and", "or"]
DIGITS = {new: old for old, new in SUPERSCRIPTS.items()}


def floor(match: re.Match[str]) -> str:
    """`(x // y)` for what stands between floor signs: x / y with one slash outside of parentheses."""
    depths = itertools.accumulate((char == "(") - (char == ")") for char in match[1])
    (slash,) = (at for at, depth in enumerate(depths) if depth == 0 and match[1][at] == "/")
    return f"({match[1][:slash]}//{match[1][slash + 1 :]})".replace("//", "÷")


Signs = list[tuple[str, str | Callable[[re.Match[str]], str]]]

TEXT_BRACKETS: Signs = [(r"⌊([^⌊⌋]*)⌋", floor)]
TEXT_SIGNS: Signs = [
    (r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda match: "**" + match[0].translate(DIGITS)),
    *((r"\^", "**"), ("⊙|·", "*"), ("∧", "&"), ("∨", "|"), ("⊕", "^"), ("mod", "%"), ("≠", "!="), ("÷", "//")),
]
LATEX_BRACKETS: Signs = [
    *((r"\\left\(", "("), (r"\\right\)", ")"), (r"\\text\{( \w+ )\}", r"\1")),
    (r"\\left\\lfloor \\frac\{([^{}]*)\}\{([^{}]*)\} \\right\\rfloor", r"((\1)÷(\2))"),
    (r"\\lfloor ((?:(?!.floor).)*) \\rfloor", floor),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
]
LATEX_SIGNS: Signs = [
    *((r"\\odot|\\cdot", "*"), (r"\\,", "@"), (r"\\bmod", "%"), (r"\\land", "&"), (r"\\lor", "|"), (r"\\oplus", "^")),
    *((r"\\ll", "<<"), (r"\\gg", ">>"), (r"\\ne", "!="), ("÷", "//")),
]


def read(printed: str, brackets: Signs, signs: Signs) -> str:
    """The code of a printed formula: brackets from the innermost outwards, then the signs between them."""
    before = ""
    while before != printed:
        before = printed
        for pattern, code in brackets:
            printed = re.sub(pattern, code, printed)
    for pattern, code in signs:
        printed = re.sub(pattern, code, printed)
    return printed


def read_text(code: str) -> str:
    return read(text(code), TEXT_BRACKETS, TEXT_SIGNS)


def read_latex(code: str) -> str:
    return read(latex(code), LATEX_BRACKETS, LATEX_SIGNS)


NESTINGS = [
    code
    for first, second in itertools.product(BINARY, repeat=2)
    for code in (f"a {first} (b {second} c)", f"(a {first} b) {second} c")
] + [
    # A fraction inside a fraction prints on one line, with rules of its own.
    code.format(*signs)
    for signs in itertools.product(["-", "*", "/", "//", "**"], repeat=3)
    for code in ("a {} (b {} (c {} d))", "a {} ((b {} c) {} d)", "(a {} b) {} (c {} d)", "((a {} b) {} c) {} d")
]


class Joined(ast.NodeTransformer):
    """Conditions as they print: & and | of what is true or false are words."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        word = {ast.BitAnd: ast.And, ast.BitOr: ast.Or}.get(type(node.op))
        truth = any(isinstance(side, ast.Compare | ast.BoolOp) for side in (node.left, node.right))
        return ast.BoolOp(word(), [node.left, node.right]) if word and truth else self.generic_visit(node)


@pytest.mark.parametrize("code", NESTINGS)
def test_nested_operators_read_back(code):
    want = ast.dump(Joined().visit(ast.parse(code, mode="eval").body))
    assert ast.dump(parse(read_text(code))) == want
    assert ast.dump(parse(read_latex(code))) == want


ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**"]
SIGNED = [
    code.format(first=first, second=second)
    for first, second in itertools.product(ARITHMETIC, repeat=2)
    for code in (
        "-a {first} b {second} c",
        "-(a {first} b) {second} c",
        "a {first} -(b {second} c)",
        "a {first} (-b {second} -c)",
        "-(a {first} b {second} c)",
        "a {first} 2 {second} b",
        "2 {first} (a {second} 3)",
    )
]


@pytest.mark.parametrize("code", SIGNED)
def test_signs_and_numbers_keep_the_value(code):
    values = {"a": 7.3, "b": 2.3, "c": 0.6}
    evaluate = Evaluator()
    want = evaluate(code, values)
    thin = read_latex(code).replace("@", "*")  # a thin space is also a product with a scalar
    assert evaluate(read_text(code), values) == pytest.approx(want)
    assert evaluate(thin, values) == pytest.approx(want)


@pytest.mark.parametrize("name", table())
def test_each_function_prints(name):
    """With all of its parameters and with those that it needs, in both notations, brackets closed."""
    parameters = table()[name].signature.parameters.values()
    rest = [each for each in parameters if each.kind is each.VAR_POSITIONAL]
    given = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = [each.name for each in parameters if each.name in given and each.default is each.empty]
    for arguments in (given, needed, [f"{each} + 1" for each in given] + ["a - 1" for _ in rest]):
        code = f"{name}({', '.join(arguments)})"
        plain, tex = text(f"2 ** {code}"), latex(f"{code} ** 2")
        for opening, closing in ("()", "[]", "⌊⌋", "⌈⌉"):
            assert plain.count(opening) == plain.count(closing), plain
        assert len(re.findall(r"(?<!\\){", tex)) == len(re.findall(r"(?<!\\)}", tex)), tex
        assert tex.count(r"\left") == tex.count(r"\right"), tex
        assert not re.search(r"\^{[^{}]*}\^", tex), f"two exponents: {tex}"


def test_reading_formulas_never_imports_torch():
    code = (
        "import sys; from gradcat.formula.typeset import latex, local, text; from gradcat.formula.lint import lint;"
        "[f('grad * exp(sum(x, dim))') for f in (latex, local, text)]; lint('grad * exp(x)', ['grad', 'x']);"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LOCAL = [
    ("grad", "1"),
    ("-grad", "-1"),
    ("grad * conj(other)", "other"),
    ("conj(other) * grad", "other"),
    ("grad / conj(other)", "1 / other"),
    ("-grad * conj(self / (other * other))", "-(self / (other * other))"),
    ("-grad * conj(result / other)", "-(result / other)"),
    ("grad * conj(self) * x", "self * conj(x)"),
    ("grad * conj(alpha * 2j)", "alpha * 2j"),
    ("grad * 2j * conj(x)", "-(2j * x)"),
    ("grad * conj(exponent * self ** (exponent - 1))", "exponent * self ** (exponent - 1)"),
    ("grad * cos(conj(self))", "cos(self)"),
    ("grad * abs(x) * conj(x)", "abs(x) * x"),
    ("grad * (1 - conj(result) ** 2)", "1 - result ** 2"),
    ("grad * result * (1 - result)", "result * (1 - result)"),
    ("grad / (2 * result)", "1 / (2 * result)"),
    ("-grad / x", "-(1 / x)"),
    ("grad * y / -x", "-(y / x)"),
    ("grad / self / other", "1 / (self * other)"),
    ("grad / self * other", "other / self"),
    ("grad * -sin(self)", "-sin(self)"),
    ("-(-grad) * x", "x"),
    ("x * (1 / y) * grad", "x / y"),
    ("2 * grad * x + grad", "2 * x + 1"),
    ("grad * x - grad * -y", "x + y"),
    ("grad * 0 + grad * x", "x"),
    ("grad * x - 0 * grad", "x"),
    ("where(self > 0, grad, 0)", "where(self > 0, 1, 0)"),
    ("where(self > 0, grad, alpha * grad * exp(self))", "where(self > 0, 1, alpha * exp(self))"),
    ("where(self > 0, zeros_like(x), -grad)", "where(self > 0, 0, -1)"),
    ("grad / x if training else grad", "1 / x if training else 1"),
    *((code, None) for code in ("x", "sum(grad)", "grad @ x", "grad.T", "grad[0]", "conj(grad)", "mask(grad)")),
    *((code, None) for code in ("grad * grad", "1 / grad", "grad ** 2", "grad + x", "result * (grad - sum(grad))")),
    *((code, None) for code in ("where(grad > 0, 1, 0)", "where(x, grad, y)", "grad_values * x", "[grad, x]")),
]


@pytest.mark.parametrize(("code", "want"), LOCAL)
def test_local_derivative(code, want):
    assert local(code) == want


def test_local_derivative_looks_into_definitions():
    where = {"scaled": "grad * conj(x)", "twice": "2 * scaled", "moved": "sum(grad)", "factor": "x + 1"}
    assert local("twice * factor", where) == "2 * x * conj(factor)"
    assert local("grad * factor", where) == "factor"
    assert local("grad * moved", where) is None
    assert local("grad * kept", {"kept": "deep + 1", "deep": "conj(other)"}) == "conj(kept)"


@pytest.mark.parametrize("code", [code for code, want in LOCAL if want and "conj" not in code and "_like" not in code])
def test_local_derivative_is_the_vjp_of_one(code):
    names = {"self": 1.3, "other": 0.7, "result": 0.4, "x": 2.1, "y": 0.9, "alpha": 1.6, "training": True}
    evaluate = Evaluator()
    factor = local(code)
    assert factor is not None
    assert evaluate(factor, names) * 3.7 == pytest.approx(evaluate(code, names | {"grad": 3.7}))
