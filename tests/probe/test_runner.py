"""A probe's death costs that probe alone."""

import threading
import time
from dataclasses import asdict

import pytest

from gradcat.errors import GradcatError
from gradcat.model import Probe
from gradcat.probe import runner

GOOD = Probe("torch.exp(self)", {"self": "randn(2, 3)"}, "test")


def run(*probes, **options):
    return list(runner.run([{"task": "probe", "probe": asdict(probe)} for probe in probes], **options))


@pytest.fixture
def deadly(tmp_path, monkeypatch):
    """A user's module whose functions end or hang the process."""
    (tmp_path / "deadly.py").write_text(
        "import ctypes, os, sys, threading\n"
        "def segfault(x): ctypes.string_at(0)\n"
        "def leave(x): os._exit(3)\n"
        "def hang(x): threading.Event().wait()\n"
        "def chatter(x): print('{\"id\": 99}'); os.write(1, b'noise'); return x * 2\n"
        "def interrupt(x): raise SystemExit(7)\n"
    )
    monkeypatch.chdir(tmp_path)


def call(name):
    return Probe(f"deadly.{name}(self)", {"self": "randn(2, 3)"}, "test")


@pytest.mark.parametrize(
    ("name", "said"), [("segfault", "SIGSEGV"), ("leave", "exit 3"), ("hang", "no answer within 2 s")]
)
def test_death_is_noted_on_the_probe(deadly, name, said):
    before, dead, after = run(GOOD, call(name), GOOD, imports=["deadly"], limit=2)
    assert before["direct"] == after["direct"] == "ExpBackward0"
    assert said in dead["died"]


def test_prints_and_exits_do_no_harm(deadly):
    chatter, left, good = run(call("chatter"), call("interrupt"), GOOD, imports=["deadly"])
    assert chatter["direct"] == "MulBackward0"
    assert left["error"] == "SystemExit: 7"
    assert good["direct"] == "ExpBackward0"


REFUSED = [
    ("torch.no_such_op(self)", "unknown op torch.no_such_op: torch has no 'no_such_op' in this torch"),
    ("torch.os.system('true')", "torch.os is the module os, not an op of torch"),
    ("os.system('true')", "ops are named under torch"),
    ("torch.load('file')", "torch.load is not an op"),
    ("torch.hub.load('a', 'b')", "torch.hub is not an op"),
    ("torch.utils.collect_env.run('ls')", "torch.utils"),
    ("torch._import_dotted_name('os.system')('true')", ""),
    ("torch.UntypedStorage.from_file('file', True, 16)", ""),
    ("torch.tensor([1]).numpy().tofile('file')", ""),
    ("torch.PyTorchFileWriter('file')", ""),
    ("open('file')", "unknown function 'open'"),
    ("torch.exp(missing)", "unknown name 'missing'"),
    ("torch.nn", "is a module"),
    ("torch.mm(self, self)", "RuntimeError: mat1 and mat2 shapes cannot be multiplied"),
]


def test_refusals_name_op_and_reason():
    answers = run(*(Probe(text, {"self": "randn(2, 3)"}, "test") for text, _ in REFUSED))
    for answer, (text, said) in zip(answers, REFUSED, strict=True):
        assert said in answer["error"], text


DOMAINS = [
    ("uniform(2, 1, 3)", "the lower end must be below the upper end"),
    ("randn(2, -3)", "sides are whole numbers from 0"),
    ("spd()", "needs at least the side of the matrix"),
    ("integers(5, 5, 2)", "the lower end must be below the upper end"),
    ("rnadn(2)", "unknown function 'rnadn'"),
]


def test_samplers_say_what_is_wrong_with_a_domain():
    answers = run(*(Probe("torch.exp(self)", {"self": text}, "test") for text, _ in DOMAINS))
    for answer, (text, said) in zip(answers, DOMAINS, strict=True):
        assert f"input self: {text}: " in answer["error"]
        assert said in answer["error"]


def test_a_module_that_cannot_be_imported_is_named():
    with pytest.raises(GradcatError, match="--import no_such_module"):
        run(GOOD, imports=["no_such_module"])


def test_a_run_ends_when_somebody_stops_its_child(deadly):
    child = runner.Child()
    tasks = [{"task": "probe", "probe": asdict(probe)} for probe in (GOOD, call("hang"), call("hang"))]
    answers = runner.run(tasks, imports=["deadly"], child=child)
    assert next(answers)["direct"] == "ExpBackward0"
    threading.Timer(0.1, child.stop).start()
    start = time.monotonic()
    with pytest.raises(GradcatError, match="was stopped"):
        next(answers)
    assert time.monotonic() - start < runner.LIMIT / 2


def test_stopping_early_leaves_no_child(deadly):
    answers = runner.run([{"task": "probe", "probe": asdict(p)} for p in (GOOD, call("hang"))], imports=["deadly"])
    assert next(answers)["direct"] == "ExpBackward0"
    start = time.monotonic()
    answers.close()
    assert time.monotonic() - start < runner.LIMIT / 2
