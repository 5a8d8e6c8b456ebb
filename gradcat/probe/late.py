"""Modules of torch that `import torch` leaves out. A probe that names something in one has it imported."""

from __future__ import annotations

#: Modules of torch that `import torch` leaves out: the only ones that naming something in them imports.
LATE = (
    "torch._dynamo._trace_wrapped_higher_order_op",
    "torch._dynamo.create_parameter_op",
    "torch._dynamo.decorators",
    "torch._export.db.examples.autograd_function",
    "torch._functorch.aot_autograd",
    "torch._functorch.autograd_function",
    "torch._inductor.test_operators",
    "torch._subclasses.complex_tensor._core",
    "torch.ao.quantization.fx._decomposed",
    "torch.autograd._functions",
    "torch.distributed._functional_collectives",
    "torch.distributed._local_tensor",
    "torch.distributed.device_mesh",
    "torch.distributed.fsdp",
    "torch.distributed.nn.functional",
    "torch.distributed.tensor",
    "torch.fx.experimental.proxy_tensor",
    "torch.nn.attention.flex_attention",
    "torch.nn.utils._per_sample_grad",
    "torch.testing._internal.distributed.fake_pg",
)
