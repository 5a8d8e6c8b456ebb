"""A small catalog, made by hand: one node of each kind that renderers and commands must get right."""

from __future__ import annotations

from gradcat.model import Catalog, Edge, Facts, Formula, Node, Saved, Upstream, Verification, Vjp

MUL = Node(
    "MulBackward0",
    family="arithmetic",
    schema="mul.Tensor(Tensor self, Tensor other) -> Tensor",
    ops=("torch.mul", "torch.Tensor.mul_", "torch.nn.functional.gelu"),
    calls=("torch.mul(self, other)", "self.mul_(other)"),
    probes=(0, 2),
    status="harvested",
    device="cpu",
    forward={"": Formula("self * other", "self ⊙ other", r"\mathrm{self} \odot \mathrm{other}")},
    backward=(
        Vjp(
            "self",
            Formula(
                "grad * conj(other)",
                "∂L/∂out ⊙ conj(other)",
                r"\frac{\partial L}{\partial \mathrm{out}} \odot \overline{\mathrm{other}}",
            ),
            Formula("other", "other", r"\mathrm{other}"),
        ),
        Vjp(
            "other",
            Formula(
                "grad * conj(self)",
                "∂L/∂out ⊙ conj(self)",
                r"\frac{\partial L}{\partial \mathrm{out}} \odot \overline{\mathrm{self}}",
            ),
            Formula("self", "self", r"\mathrm{self}"),
        ),
    ),
    saved=(
        Saved("other", "input", "other", (3,), "float64", 24, "when self needs grad"),
        Saved("self", "input", "self", (2, 3), "float64", 48, "when other needs grad"),
    ),
    edges=(Edge(0, "self"), Edge(1, "other")),
    outputs=("float64 [2, 3]",),
    facts=Facts(
        in_place={"self": "breaks", "other": "breaks", "result": "safe"},
        second_backward="raises",
        double_backward="works",
        through=("MulBackward0", "SumBackward1"),
        forward_mode="works",
    ),
    siblings=("MulBackward1",),
    verification=Verification("verified", "", 0.0, 0.0, 3e-11, ("complex128", "float64"), 2),
    upstream=Upstream(
        {
            "self": "mul_tensor_backward(grad, other, self.scalar_type())",
            "other": "mul_tensor_backward(grad, self, other.scalar_type())",
        },
        {"result": "other_t * self_p + self_t * other_p"},
        ("self", "other"),
    ),
    snippet="import torch\nself = torch.randn(2, 3).requires_grad_()\n(torch.mul(self, 2)).grad_fn",
)
MUL1 = Node(
    "MulBackward1",
    family="arithmetic",
    schema="mul.Scalar(Tensor self, Scalar other) -> Tensor",
    ops=("torch.ops.aten.mul.Scalar",),
    calls=("torch.ops.aten.mul.Scalar(self, other)",),
    status="harvested",
    device="cpu",
    forward={"": Formula("self * other", "self ⊙ other", r"\mathrm{self} \odot \mathrm{other}")},
    backward=(
        Vjp("self", Formula("grad * conj(other)", "∂L/∂out ⊙ conj(other)", r"\overline{\mathrm{other}}")),
        Vjp("other", absent="todo", reason="nobody differentiates by a Python number"),
    ),
    edges=(Edge(0, "self"),),
    siblings=("MulBackward0",),
    verification=Verification("unverified", "not run yet"),
)
EXP = Node(
    "ExpBackward0",
    family="pointwise",
    schema="exp(Tensor self) -> Tensor",
    ops=("torch.exp", "torch.Tensor.exp_"),
    calls=("torch.exp(self)",),
    status="harvested",
    device="cpu",
    forward={"": Formula("exp(self)", "exp(self)", r"e^{\mathrm{self}}")},
    backward=(
        Vjp(
            "self",
            Formula("grad * conj(result)", "∂L/∂out ⊙ conj(out)", r"\frac{\partial L}{\partial \mathrm{out}}"),
            Formula("result", "out", r"\mathrm{out}"),
        ),
    ),
    saved=(Saved("result", "result", "result", (2, 3), "float64", 48),),
    edges=(Edge(0, "self"),),
    facts=Facts({"self": "safe", "result": "breaks"}, "raises", "works", "", ("MulBackward0",), "works"),
    verification=Verification("verified", "", 0.0, 1e-16, 4e-12, ("complex128", "float64"), 1),
    notes=("The derivative of exp is exp itself.",),
    source="Euler, Introductio in analysin infinitorum, 1748",
)
MAX0 = Node(
    "MaxBackward0",
    family="selection",
    schema="max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    ops=("torch.max",),
    calls=("torch.max(self, dim)",),
    status="harvested",
    device="cpu",
    forward={
        "values": Formula("amax(self, dim, keepdim)", "max_dim(self)", r"\max"),
        "indices": Formula("argmax(self, dim, keepdim)", "argmax_dim(self)", r"\arg\max"),
    },
    where={
        "spread": Formula("scatter(zeros(self.shape), dim, indices, grad)", "scatter(0, dim, indices, ∂L/∂values)", "S")
    },
    backward=(
        Vjp("self", Formula("spread", "spread", "S")),
        Vjp("dim", absent="non_differentiable"),
        Vjp("keepdim", absent="zero"),
    ),
    saved=(Saved("dim", "number"), Saved("indices", "index", "indices", (2,), "int64", 16)),
    edges=(Edge(0, "self"),),
    facts=Facts({"self": "safe", "values": "safe", "indices": "breaks"}, "raises", "constant", "", (), "works"),
    siblings=("MaxBackward1",),
    verification=Verification(
        "failed", "MaxBackward0.self: vjp is off by 0.5 (relative)", 0.0, 0.5, None, ("float64",), 1
    ),
)
MAX1 = Node(
    "MaxBackward1",
    family="selection",
    schema="max(Tensor self) -> Tensor",
    ops=("torch.max",),
    calls=("torch.max(self)",),
    status="harvested",
    device="meta",
    how="on the meta device, with torch's own kernel",
    forward={"": Formula("amax(self)", "max(self)", r"\max")},
    backward=(Vjp("self", absent="not_implemented"),),
    edges=(Edge(0, "self"), Edge(1, "", False)),
    siblings=("MaxBackward0",),
    verification=Verification("structural", "harvested without values: no kernel computes it on this machine"),
)
CUDNN = Node(
    "CudnnRnnBackward0",
    schema="_cudnn_rnn(Tensor input, Tensor[] weight, int weight_stride0) -> (Tensor, Tensor)",
    reason="needs a CUDA device",
    upstream=Upstream(
        {"input": "_cudnn_rnn_backward(input, weight, weight_stride0, weight_buf, hx, cx, result0, grads[0])"}
    ),
)
ACCUMULATE = Node(
    "AccumulateGrad",
    family="engine",
    kind="engine",
    status="harvested",
    device="cpu",
    how="seen inside the graph of another op",
    notes=("The end of the graph at a leaf: it adds what arrives to the leaf's .grad.",),
)


def catalog() -> Catalog:
    """The nodes above, as a catalog."""
    return Catalog(
        torch_version="2.13.0+cpu",
        gradcat_version="0.1.0",
        nodes=(ACCUMULATE, CUDNN, EXP, MAX0, MAX1, MUL, MUL1),
        index={
            "torch.mul": ("MulBackward0",),
            "torch.Tensor.mul_": ("MulBackward0",),
            "torch.ops.aten.mul.Scalar": ("MulBackward1",),
            "torch.exp": ("ExpBackward0",),
            "torch.max": ("MaxBackward0", "MaxBackward1"),
            "torch.nn.functional.gelu": ("MulBackward0",),
        },
        warnings=("ops.yaml:7: torch.wrong(self): unknown op torch.wrong",),
    )
