"""Saved tensors: the same as torch's own hooks count, and nothing is run to count them."""

from __future__ import annotations

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from gradcat.trace.memory import report, size


def counted(run):
    """(slots, bytes, storages, bytes of storages) that saved_tensors_hooks sees, and the output."""
    packed = []

    def pack(tensor):
        packed.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run()
    storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in packed}
    total = sum(tensor.numel() * tensor.element_size() for tensor in packed)
    return (len(packed), total, len(storages), sum(storages.values())), output


def test_totals_are_those_of_saved_tensors_hooks(bare, model_and_input):
    model, x = model_and_input

    def run():
        torch.manual_seed(1)
        return model(x).square().mean()

    expected, hooked = counted(run)
    for loss in (run(), hooked):
        found = bare(loss, params=model).memory()
        assert (found.slots, found.slot_bytes, len(found.storages), found.bytes()) == expected
    saved = {storage.name for storage in found.storages if storage.kind == "parameter"}
    assert saved <= set(dict(model.named_parameters()))
    assert 0 < found.bytes("parameter") <= sum(p.numel() * 4 for p in model.parameters())
    assert found.bytes("activation") > 0


def test_a_checkpointed_block_is_not_run_again(bare):
    runs = []

    def block(x):
        runs.append(1)
        return (x * 2).exp().sin()

    x = torch.randn(3, requires_grad=True)
    trace = bare(checkpoint(block, x, use_reentrant=False).sum())
    found = trace.memory()
    assert "".join(trace.text())
    assert trace.hazards == []
    assert len(runs) == 1
    assert (found.packed, found.slots, found.slot_bytes) == (2, 1, 8)  # the number 2 is no tensor of the user: no hook
    assert "2 slots hold what a hook put there" in "\n".join(report(found, 10))


def test_hooks_of_the_user_do_not_run(bare):
    ran = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: ran.append(t) or t):
        y = torch.ones(2, requires_grad=True).exp().sum()
    trace = bare(y)
    trace.memory()
    assert "".join(trace.text())
    assert not ran


def test_a_view_pins_its_base(bare):
    big = torch.randn(1000, 4)
    x = torch.ones(2, 4, requires_grad=True)
    found = bare((x * big[:2]).sum()).memory()
    (storage,) = found.storages
    assert (storage.bytes, storage.used, storage.pinned) == (16_000, 32, True)
    assert "pinned by a view of 32 B" in next(report(found, 10))


def test_shared_storage_counts_once(bare):
    x = torch.ones(4, requires_grad=True)
    y = x.exp()
    found = bare((y * y + y * x).sum()).memory()
    assert (found.slots, found.slot_bytes) == (5, 80)
    kinds = {(storage.kind, storage.bytes, len(storage.slots)) for storage in found.storages}
    assert kinds == {("input", 16, 1), ("activation", 16, 4)}


def test_what_ctx_keeps_is_counted_apart(bare):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.mask = x.detach() > 0
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    found = bare(Double.apply(torch.ones(8, requires_grad=True))).memory()
    assert (found.slots, found.bytes("ctx"), found.bytes()) == (1, 8, 40)


@pytest.mark.parametrize("device", ["meta", "fake"])
def test_a_model_too_large_for_this_machine(bare, device):
    from gradcat.trace.source import on_device

    with on_device(device):
        model = torch.nn.Sequential(torch.nn.Linear(100_000, 1_000_000), torch.nn.ReLU())
        loss = model(torch.randn(64, 100_000)).sum()
    found = bare(loss, params=model).memory()
    assert found.bytes("activation") == 4 * (64 * 100_000 + 64 * 1_000_000)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5 MiB"), (3 << 40, "3 TiB")]
)
def test_size(count, said):
    assert size(count) == said
