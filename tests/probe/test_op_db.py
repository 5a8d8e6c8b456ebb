"""Every op that PyTorch's own sample database names is called by a probe of ops.yaml."""

import pytest

from gradcat import files, op_db, probes
from gradcat.opnames import called

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's op_db imports expecttest: pip install expecttest")


@pytest.fixture(scope="module")
def database():
    return op_db.names()


def test_every_op_and_alias_is_called(database):
    ops = {op for probe in probes.load([files.ops()]) for op in called(probe.call, probe.inputs)}
    found = op_db.covered(database, ops)
    assert len(found.names) > 600
    assert not found.missing, f"{len(found.missing)} ops of op_db have no probe: {', '.join(found.missing)}"


def test_what_is_excused_is_in_the_database(database):
    assert set(op_db.NO_OPS) <= set(database)
    assert {f"{name}_" for name in op_db.IN_PLACE_ONLY} <= set(database)


def test_a_missing_op_is_named():
    found = op_db.covered(["nn.functional.relu", "sin", "jiterator_unary"], ["torch.sin"])
    assert (found.names, found.missing) == (("nn.functional.relu", "sin"), ("nn.functional.relu",))
