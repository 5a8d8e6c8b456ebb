"""The vocabulary of sparse tensors: what is stored, in every layout, held against torch's own values()."""

import pytest
import torch

from gradcat.formula.evaluate import Evaluator
from gradcat.formula.vocabulary.sparse import densify

evaluate = Evaluator()

DENSE = torch.tensor([[0.0, 1.0, 0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0, 4.0, 0.0]], dtype=torch.float64)
HYBRID = torch.stack([DENSE, 2 * DENSE + 1], -1) * (DENSE != 0)[..., None]

TENSORS = {
    "coo": DENSE.to_sparse(),
    "hybrid coo": HYBRID.to_sparse(2),
    "csr": DENSE.to_sparse_csr(),
    "csc": DENSE.to_sparse_csc(),
    "bsr": DENSE.to_sparse_bsr((2, 3)),
    "bsc": DENSE.to_sparse_bsc((1, 2)),
    "hybrid csr": HYBRID.to_sparse_csr(dense_dim=1),
    "batched csr": torch.stack([DENSE, 5 * DENSE]).to_sparse_csr(),
    "batched bsc": torch.stack([DENSE, 5 * DENSE]).to_sparse_bsc((2, 3)),
}


@pytest.mark.parametrize("sparse", TENSORS.values(), ids=TENSORS)
def test_places(sparse):
    x = densify(sparse)
    assert torch.equal(x, sparse.to_dense())
    assert torch.equal(evaluate("index(x, places(x))", {"x": x}), sparse.values())
    assert torch.equal(evaluate("where(stored(x), 0, x)", {"x": x}), torch.zeros_like(x))
    assert evaluate("numel(index(x, places(x)))", {"x": x}) == int(evaluate("count(stored(x))", {"x": x}))


def test_a_stored_zero_is_stored():
    x = densify(torch.sparse_coo_tensor([[0, 1]], torch.tensor([0.0, 3.0]), (3,)))
    assert evaluate("tolist(stored(x))", {"x": x}) == [True, True, False]


def test_a_dense_tensor_stores_everything_and_has_no_places():
    assert bool(evaluate("all(stored(x))", {"x": DENSE}))
    with pytest.raises(ValueError, match="was sparse"):
        evaluate("places(x)", {"x": DENSE})


@pytest.mark.parametrize(("layout", "rows"), [("csr", True), ("bsr", True), ("csc", False), ("bsc", False)])
def test_by_rows(layout, rows):
    assert evaluate("by_rows(layout)", {"layout": TENSORS[layout].layout}) is rows
