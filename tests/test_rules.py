"""rules/*.yaml is read strictly, and the shipped table is whole: sorted, named well, every name in scope."""

import pytest

from gradcat import files, reflect, rules
from gradcat.errors import GradcatError
from gradcat.formula.lint import lint
from gradcat.model import ABSENT
from gradcat.schema import parse_schema

BAD = [
    ("N:\n  forward: exp(\n", ":2", "not an expression"),
    ("N:\n  forward: exp(self)\n  backwards:\n    self: grad\n", ":3", "unknown key 'backwards'"),
    ("N:\n  forward: self\n  backward:\n    self: grad\n    self: -grad\n", ":5", "'self' is repeated"),
    ("N:\n  forward: self\nN:\n  forward: self\n", ":3", "'N' is repeated"),
    ("N:\n  forward: __import__('os')\n", ":2", "not in the language"),
    ("N:\n  forward: self.data_ptr\n", ":2", ".data_ptr is not in the language"),
    ("N:\n  forward: self.sum()\n", ":2", "only functions of the vocabulary"),
    ("N:\n  forward: (yield)\n", ":2", "Yield is not in the language"),
    ("N:\n  like: M\n", ":1", "M has no rule"),
    ("M:\n  like: N\nN:\n  like: M\n", ":1", "goes round in a circle"),
    ("N:\n  forward: self\n  rename:\n    a: b\n", ":3", "rename: goes with like:"),
    ("N:\n  backward:\n    self: todo\n", ":3", "a todo needs its reason"),
    ("N: {}\n", ":1", "an empty rule"),
    (f"N:\n  forward: {'-' * 70}self\n", ":2", "nested deeper"),
    (f"N:\n  forward: self{' + self' * 400}\n", ":2", "the limit is 2000"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_refuses(tmp_path, text, line, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(GradcatError) as error:
        rules.load([path])
    assert f"bad.yaml{line}: " in str(error.value)
    assert message in str(error.value)


def test_like_takes_over_and_renames(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(
        "A:\n  forward: x * y\n  where:\n    g: grad_out * y\n  backward:\n    x: g\n    y: zero\n"
        "B:\n  like: A\n  rename:\n    x: self\n    out: values\n  backward:\n    y: x * grad_values\n"
    )
    rule = rules.load([path])["B"]
    assert rule.forward == {"": "self * y"}
    assert rule.where == {"g": "grad_values * y"}
    assert rule.backward == {"self": "g", "y": "x * grad_values"}


SHIPPED = rules.load([files.rules()])
UPSTREAM = reflect.upstream()


def scope(rule):
    """Names that a formula of the rule may use."""
    if rule.node not in UPSTREAM:
        return None
    schema = parse_schema(UPSTREAM[rule.node].schema)
    outputs = [output.name for output in schema.returns]
    grads = ["grad", "grads", *(f"grad_{name}" for name in outputs)]
    return {*(argument.name for argument in schema.arguments), *outputs, *grads, *rule.where}


@pytest.mark.parametrize("rule", SHIPPED.values(), ids=SHIPPED)
def test_names_are_in_scope(rule):
    names = scope(rule)
    if names is None:
        pytest.skip("upstream has no schema of it")
    formulas = {**rule.forward, **rule.where, **{k: v for k, v in rule.backward.items() if v not in ABSENT}}
    problems = [f"{rule.node}.{name}: {problem}" for name, code in formulas.items() for problem in lint(code, names)]
    assert not problems


@pytest.mark.parametrize("rule", SHIPPED.values(), ids=SHIPPED)
def test_inputs_are_arguments(rule):
    if rule.node in UPSTREAM:
        arguments = [argument.name for argument in parse_schema(UPSTREAM[rule.node].schema).arguments]
        assert set(rule.backward) <= set(arguments), rule.place


def test_files_are_sorted_and_opened_by_a_comment():
    import os

    import yaml

    for path in files.yaml_files(files.rules()):
        with open(path) as file:
            text = file.read()
        assert text.startswith("# "), f"{path}: say first what the family's formulas share"
        keys = [key.value for key, _ in yaml.compose(text, yaml.CSafeLoader).value]
        assert keys == sorted(keys), f"{os.path.basename(path)}: nodes in alphabetical order"


def test_no_todo_is_silent():
    assert all(
        rule.reasons.get(name) for rule in SHIPPED.values() for name, text in rule.backward.items() if text == "todo"
    )
