"""ops.yaml is read strictly: every fault is named with its file, its line and the remedy."""

import pytest

from gradcat import files, probes
from gradcat.errors import GradcatError

BAD = [
    ("a:\n- call: torch.mul(self\n", ":2", "not an expression"),
    ("a:\n- call: torch.exp(self)\n  call: torch.log(self)\n", ":3", "'call' is repeated (first on line 2)"),
    ("a:\n- call: torch.exp(self)\n  input: x\n", ":3", "unknown key 'input'; known: call, inputs"),
    ("a: [\n", ":2", "not YAML"),
    ("a:\n  call: torch.exp(self)\n", ":1", "a must be a list, not a mapping"),
    ("- call: torch.exp(self)\n", ":1", "must be a mapping"),
    ("", "", "holds no probes"),
    ("a:\n- inputs:\n    self: randn(2)\n", ":2", "no `call`"),
    (
        "a:\n- call: torch.exp(self)\n  inputs:\n    self: randn(2)\n    dim: (1\n",
        ":5",
        "inputs.dim: not an expression: '(' was never closed",
    ),
    ("a:\n- call: f(self)\n  inputs: {self: randn(2, 3)}\n", ":3", "YAML cuts at commas: write one a line"),
    ("a:\n- call: torch.exp(self)\n  device: mars\n", ":2", "'mars' is unknown; known: cpu, meta"),
    ("a:\n- call: torch.exp(self)\n  inputs:\n    self: [1, 2]\n", ":4", "must be text, not a list"),
    ("a:\n- call: __import__('os')\n", ":2", "'__import__' is not in the language"),
    ("a:\n- call: self.__class__\n", ":2", ".__class__ is not in the language"),
    ("a:\n- call: !!python/object:os.system x\n", ":2", "the tag"),
    ("a:\n- call: torch.exp(self)\na:\n- call: torch.exp(self)\n", ":3", "'a' is repeated"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_refuses(tmp_path, text, line, message):
    path = tmp_path / "ops.yaml"
    path.write_text(text)
    with pytest.raises(GradcatError) as error:
        probes.load([path])
    assert f"ops.yaml{line}: " in str(error.value)
    assert message in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(GradcatError, match=r"nowhere.yaml: cannot be read"):
        probes.load([tmp_path / "nowhere.yaml"])


def test_every_scalar_is_text(tmp_path):
    path = tmp_path / "ops.yaml"
    path.write_text("a:\n- call: f(self, dim)\n  inputs:\n    dim: no\n    self: 1.0\n")
    (probe,) = probes.load([path])
    assert probe.inputs == {"dim": "no", "self": "1.0"}


def test_shipped_file_is_read():
    loaded = probes.load([files.ops()])
    assert len(loaded) >= 200
    assert len({(p.call, tuple(p.inputs.items()), p.device, p.dispatch, p.kernel) for p in loaded}) == len(loaded)
