"""The evaluator gives what Python gives, and nothing that is not in the language."""

import pytest

from gradcat.formula.evaluate import Evaluator, Scope
from gradcat.formula.syntax import FormulaError

SCOPE = {"x": 3, "y": -2, "z": 0.5, "xs": [1, 2, 3], "pair": [(1, 2), (3, 4)], "none": None}
ROWS = [
    ("x - (y - z)", 3 - (-2 - 0.5)),
    ("-x ** 2", -9),
    ("x / y / z", 3 / -2 / 0.5),
    ("x // 2 % 2", 3 // 2 % 2),
    ("x & 1 | 4 ^ 2", 3 & 1 | 4 ^ 2),
    ("x << 1 >> 2", 3 << 1 >> 2),
    ("~x", ~3),
    ("y < x <= 3", True),
    ("x if none is None else unknown", 3),
    ("none is not None and unknown", False),
    ("x or unknown", 3),
    ("xs[1:]", [2, 3]),
    ("xs[-1]", 3),
    ("[a * b for a, b in pair if a > 1]", [12]),
    ("[a + b for a in xs for b in xs if a < b]", [3, 4, 5]),
    ("[*xs, x]", [1, 2, 3, 3]),
    ("(x, y)", (3, -2)),
    ("2 in xs and 5 not in xs", True),
    ("pi > 3 and inf > 0", True),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_value(text, expected):
    assert Evaluator()(text, SCOPE) == expected


REFUSED = [
    ("grd * x", "unknown name 'grd'; in scope: none, pair"),
    ("expp(x)", "nearest in the vocabulary: exp"),
    ("9 ** 99999", "exponent above"),
    ("xs(1)", "unknown function 'xs'"),
    ("open('x')", "unknown function 'open'"),
    ("eval('1')", "unknown function 'eval'"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_refused(text, said):
    with pytest.raises(FormulaError) as error:
        Evaluator()(text, SCOPE)
    assert said in str(error.value)


def test_definitions_are_evaluated_once_and_only_when_asked_for():
    counted = []
    evaluator = Evaluator({"count": lambda value: counted.append(value) or value})
    scope = Scope({"x": 2}, {"a": "count(x) + 1", "b": "a * a", "never": "unknown"}, evaluator=evaluator)
    assert evaluator("b + a", scope) == 12
    assert counted == [2]


def test_a_circle_of_definitions_is_named():
    evaluator = Evaluator()
    with pytest.raises(FormulaError, match="a -> b -> a defines itself"):
        evaluator("a", Scope({}, {"a": "b", "b": "a"}, evaluator=evaluator))
