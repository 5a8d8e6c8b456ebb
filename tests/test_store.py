"""The cache saves time. It never changes an answer, whatever happens to its file."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from dataclasses import replace

import pytest
import samples

from gradcat import store
from gradcat.library import Library
from gradcat.model import Catalog, Node
from gradcat.record import decode, encode
from gradcat.words import NOT_RUN

KEY = {"format": store.FORMAT, "torch": "2.13.0+cpu"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("GRADCAT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def warnings():
    """What was said on stderr."""
    return []


def read_all(reader):
    """Everything that a command may read."""
    rows = [tuple(getattr(row, name) for name in row.__slots__) for row in reader.rows()]
    return reader.catalog(), rows, reader.resolve("torch.max"), encode(reader.node("MulBackward0"))


def test_round_trip(warnings):
    catalog = samples.catalog()
    assert store.load(KEY, warnings.append) is None
    assert store.save(KEY, catalog, warnings.append).catalog() == catalog
    assert store.load(KEY, warnings.append).catalog() == catalog
    assert warnings == []


def test_same_bytes_for_the_same_catalog():
    assert store.to_bytes(KEY, samples.catalog()) == store.to_bytes(KEY, samples.catalog())


def test_every_node_reads_alike_from_the_cache_and_from_the_record(warnings):
    reader = store.save(KEY, samples.catalog(), warnings.append)
    for node in samples.catalog().nodes:
        assert decode(Node, encode(reader.node(node.name))) == node
        assert reader.node(node.name).facts.in_place.items() == list(node.facts.in_place.items())
        assert [saved.shape for saved in reader.node(node.name).saved] == [saved.shape for saved in node.saved]
    assert reader.find("NoSuchBackward0") is None


def test_a_cut_file_is_noticed_wherever_it_was_cut(warnings):
    store.save(KEY, samples.catalog(), warnings.append)
    path = store.path_of(KEY)
    with open(path, "rb") as file:
        whole = file.read()
    for length in [*range(200), *range(200, len(whole), 97), len(whole) - 1]:
        with open(path, "wb") as file:
            file.write(whole[:length])
        said = []
        assert store.load(KEY, said.append) is None, length
        assert "damaged" in said[0]


@pytest.mark.parametrize("seed", range(300))
def test_a_flipped_byte_is_noticed_by_whoever_reads_it(seed):
    data = bytearray(store.to_bytes(KEY, samples.catalog()))
    expected = read_all(store.Reader(io.BytesIO(bytes(data))))
    chance = random.Random(seed)
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    try:
        got = read_all(store.Reader(io.BytesIO(bytes(data))))
    except store.Damaged:
        return
    assert got == expected  # the flip was in a line break, which nobody reads


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_cache(seed):
    with pytest.raises(store.Damaged):
        store.Reader(io.BytesIO(random.Random(seed).randbytes(5000)))


def test_a_damaged_record_costs_a_rebuild(monkeypatch, warnings):
    library = Library(warn=warnings.append)
    monkeypatch.setattr(Library, "rebuild", lambda self: self.keep(samples.catalog()))
    store.save(library.key, samples.catalog(), warnings.append)
    path = store.path_of(library.key)
    with open(path, "r+b") as file:
        data = file.read()
        file.seek(data.index(b"mul_tensor_backward"))
        file.write(b"X")
    node = library.read(lambda reader: reader.node("MulBackward0"))
    assert node.upstream.formulas["self"].startswith("mul_tensor_backward")
    assert len(warnings) == 1
    assert "damaged" in warnings[0]
    assert store.load(library.key, warnings.append).node("MulBackward0").name == "MulBackward0"


def test_a_warning_is_said_once(warnings):
    library = Library(warn=warnings.append)
    for message in ("one", "two", "one"):
        library.warn(message)
    assert warnings == ["one", "two"]


def test_a_file_of_another_key_is_not_believed(warnings):
    store.save(KEY, samples.catalog(), warnings.append)
    other = {**KEY, "torch": "2.12.0"}
    os.rename(store.path_of(KEY), store.path_of(other))
    assert store.load(other, warnings.append) is None
    assert "something else" in warnings[0]


def test_an_unwritable_folder_costs_time_alone(cache, warnings):
    cache.write_text("a file where the folder should be")
    reader = store.save(KEY, samples.catalog(), warnings.append)
    assert reader.catalog() == samples.catalog()
    assert "cannot be written" in warnings[0]
    assert "GRADCAT_CACHE" in warnings[0]
    assert store.load(KEY, warnings.append) is None


def test_an_unreadable_file_costs_time_alone(warnings):
    os.makedirs(store.path_of(KEY))  # a folder where the file should be
    assert store.load(KEY, warnings.append) is None
    assert "cannot be read" in warnings[0]


@pytest.mark.parametrize(
    "changed", ["torch", "ops", "rules", "rules folder", "imports", "module", "python", "gradcat"], ids=str
)
def test_whatever_a_catalog_depends_on_changes_the_key(changed, tmp_path, monkeypatch):
    (tmp_path / "ops.yaml").write_text("a: b")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "one.yaml").write_text("a: b")
    (tmp_path / "mine.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def key(torch="2.13.0", imports=("mine",)):
        return store.key(torch, [tmp_path / "ops.yaml"], [str(tmp_path / "rules")], imports)

    before = key()
    assert key() == before
    if changed in ("torch", "imports"):
        after = key(torch="2.13.1") if changed == "torch" else key(imports=())
    else:
        if changed == "python":
            monkeypatch.setattr(sys, "version_info", (3, 99, 0))
        elif changed == "gradcat":
            monkeypatch.setattr(store, "__version__", "99")
        else:
            name = {"ops": "ops.yaml", "rules": "rules/one.yaml", "rules folder": "rules/two.yaml", "module": "mine.py"}
            (tmp_path / name[changed]).write_text("a: c")
        after = key()
    assert after != before
    assert store.path_of(after) != store.path_of(before)


def test_old_files_are_pruned_and_the_fresh_one_stays(cache, warnings):
    for i in range(store.KEPT + 5):
        store.save({**KEY, "torch": str(i)}, samples.catalog(), warnings.append)
        os.utime(store.path_of({**KEY, "torch": str(i)}), (i, i))
    (cache / ".half.tmp").write_bytes(b"a process was killed here")
    (cache / "notes.txt").write_bytes(b"not ours")
    os.utime(cache / ".half.tmp", (0, 0))
    store.save(KEY, samples.catalog(), warnings.append)
    names = {path.name for path in cache.iterdir()}
    assert len(names) == store.KEPT + 1
    assert os.path.basename(store.path_of(KEY)) in names
    assert "notes.txt" in names
    assert warnings == []


HAMMER = """
import sys, samples
from gradcat import store
key = {"format": store.FORMAT, "torch": "2.13.0+cpu"}
expected = samples.catalog()
said = []
for _ in range(40):
    store.save(key, expected, said.append)
    assert store.load(key, said.append).catalog() == expected
sys.exit(f"said: {said}" if said else 0)
"""


def test_processes_at_the_same_time_do_not_disturb_each_other(cache):
    paths = os.pathsep.join([os.path.dirname(samples.__file__), os.path.dirname(os.path.dirname(samples.__file__))])
    environment = dict(os.environ, PYTHONPATH=paths)
    started = [subprocess.Popen([sys.executable, "-c", HAMMER], env=environment) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert [path.suffix for path in cache.iterdir()] == [".jsonl"]


def test_what_another_process_verified_meanwhile_is_kept(monkeypatch, warnings):
    """Both verify another node of one catalog; whoever stores last keeps the evidence of both."""
    fresh = replace(samples.catalog(), nodes=tuple(unproved(node) for node in samples.catalog().nodes))
    proved = {node.name: node for node in samples.catalog().nodes}

    def verified(catalog: Catalog, sources, names, **options) -> Catalog:
        return replace(catalog, nodes=tuple(proved[n.name] if n.name in names else n for n in catalog.nodes))

    monkeypatch.setattr("gradcat.evidence.verified", verified)
    first, second = Library(warn=warnings.append), Library(warn=warnings.append)
    first.keep(fresh)
    second.reader()
    first.prove(["MulBackward0"])
    second.prove(["ExpBackward0"])
    nodes = {node.name: node for node in Library().reader().catalog().nodes}
    assert nodes["MulBackward0"].verification.status == "verified"
    assert nodes["ExpBackward0"].verification.status == "verified"
    assert nodes["MaxBackward0"].verification.reason == NOT_RUN


def unproved(node: Node) -> Node:
    """The node before its rule was run."""
    return replace(node, verification=Node("").verification)
