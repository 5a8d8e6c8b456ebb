"""The language is a list: what is on it parses, what is not is refused by name."""

import pytest

from gradcat.formula.syntax import FormulaError, names, parse

REFUSED = [
    ("__import__('os')", "__import__"),
    ("x.__class__", "__class__"),
    ("x.data", ".data"),
    ("x.exp()", ".exp"),
    ("(lambda: 1)()", "only functions of the vocabulary"),
    ("f(x)(y)", "only functions of the vocabulary"),
    ("{1: 2}", "Dict"),
    ("{1, 2}", "Set"),
    ("{x for x in y}", "SetComp"),
    ("(x for x in y)", "GeneratorExp"),
    ("x := 1", "not an expression"),
    ("(x := 1)", "NamedExpr"),
    ("await x", "Await"),
    ("f'{x}'", "JoinedStr"),
    ("b'x'", "bytes"),
    ("x; y", "not an expression"),
    ("import os", "not an expression"),
    ("x +", "not an expression"),
    ("", "not an expression"),
    ("x\x00", "not an expression"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_refused(text, said):
    with pytest.raises(FormulaError, match=None) as error:
        parse(text)
    assert said in str(error.value)


def test_methods_are_for_calls_of_ops():
    assert parse("self.exp()", ops=True)
    with pytest.raises(FormulaError):
        parse("self.__reduce__()", ops=True)


ROWS = [
    ("grad * conj(other)", {"grad", "other"}, {"conj"}),
    ("[g * x for g, x in zip(grads, self)]", {"grads", "self"}, {"zip"}),
    ("fold(lambda a, b: a + b * c, 0, xs)", {"c", "xs"}, {"fold"}),
    ("x if n > 2 else y[i:, -1]", {"x", "n", "y", "i"}, set()),
]


@pytest.mark.parametrize(("text", "free", "called"), ROWS)
def test_names(text, free, called):
    assert names(parse(text)) == (free, called)
