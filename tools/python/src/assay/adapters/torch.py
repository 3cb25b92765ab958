"""Three attention gradients of PyTorch:

composed  matrix products and softmax in the type of the tensors, through autograd; every version of PyTorch has it
math      scaled_dot_product_attention, backend MATH, through autograd: 16-bit tensors are computed in fp32
flash     the backward kernel of backend FLASH_ATTENTION for CPUs, called with the given statistics and output

They run on the CPU; the first two also run on another device: `composed.on("cuda")`, or the one that
ASSAY_DEVICE names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of, zeros
from assay.adapters.device import current_device, device_implementation, is_cpu
from assay.adapters.tensors import to_numpy, to_torch
from assay.cases import Case
from assay.dtypes import Array


Kernel = Callable[[Attention], Gradients]


def _keeps_every_row(problem: Attention) -> bool:
    return problem.keep is None or bool(np.all(np.any(problem.keep, axis=-1)))


def _run(case: Case, kernel: Kernel) -> dict[str, Array]:
    problems = attentions_of(case)
    return outputs_of(case, [kernel(p) if p.query.size and p.key.size else zeros(p) for p in problems])


def _through_autograd(problem: Attention, forward: Callable[[Any, Any, Any], Any]) -> Gradients:
    leaves = [to_torch(x).requires_grad_() for x in (problem.query, problem.key, problem.value)]
    gradients = torch.autograd.grad(forward(*leaves), leaves, to_torch(problem.dy))
    return Gradients(*(to_numpy(gradient, problem.query.dtype) for gradient in gradients))


def _mask(problem: Attention) -> Any:
    return None if problem.keep is None else to_torch(problem.keep)


def _for_each_query_head(tensor: Any, group: int) -> Any:
    if group == 1:
        return tensor
    heads = tensor.shape[1] * group  # computed here: PyTorch before 2.0 cannot do it on device meta
    return tensor.repeat_interleave(group, dim=1, output_size=heads)


def _softmax(scores: Any) -> Any:
    return torch.softmax(scores, dim=-1)


def _composed(
    problem: Attention,
    product: Callable[[Any, Any], Any] = torch.matmul,
    softmax: Callable[[Any], Any] = _softmax,
) -> Gradients:
    def forward(query: Any, key: Any, value: Any) -> Any:
        key = _for_each_query_head(key, problem.group)
        value = _for_each_query_head(value, problem.group)
        scores = product(query * problem.scale, key.transpose(-2, -1))
        if problem.keep is not None:
            scores = scores.masked_fill(~_mask(problem), float("-inf"))
        return product(softmax(scores), value)

    return _through_autograd(problem, forward)


def _composed_not_offered(case: Case) -> str | None:
    if reason := not_offered(case):
        return reason
    if not all(_keeps_every_row(problem) for problem in attentions_of(case)):
        return "fully masked rows: their softmax is NaN"
    return None


@device_implementation(
    name="torch-composed",
    numerics="fp32:torch_fp32,operand_scaled=true bf16:torch_composed_bf16 fp16:torch_composed_bf16",
    unsupported=_composed_not_offered,
)
def composed(case: Case) -> dict[str, Array]:
    return _run(case, _composed)


def _math(problem: Attention) -> Gradients:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def forward(query: Any, key: Any, value: Any) -> Any:
        with sdpa_kernel(SDPBackend.MATH):
            return torch.nn.functional.scaled_dot_product_attention(
                query,
                key,
                value,
                attn_mask=_mask(problem),
                scale=problem.scale,
                enable_gqa=problem.group > 1,
            )

    return _through_autograd(problem, forward)


@device_implementation(
    name="torch-math", numerics="fp32:torch_fp32,operand_scaled=true bf16:torch_fp32 fp16:torch_fp32", unsupported=not_offered
)
def math(case: Case) -> dict[str, Array]:
    return _run(case, _math)


def _flash(problem: Attention) -> Gradients:
    query, dy, out = (to_torch(x) for x in (problem.query, problem.dy, problem.attention_in))
    key = _for_each_query_head(to_torch(problem.key), problem.group)
    value = _for_each_query_head(to_torch(problem.value), problem.group)
    logsumexp = to_torch(problem.softmax_max + np.log(problem.softmax_sum))
    bias = None
    if problem.keep is not None:
        bias = torch.zeros(problem.keep.shape, dtype=query.dtype).masked_fill(~_mask(problem), float("-inf"))
        bias = bias.expand(*query.shape[:2], -1, -1)
    gradients = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        dy, query, key, value, out, logsumexp, 0.0, False, attn_mask=bias, scale=problem.scale
    )
    shapes = (problem.query.shape, problem.key.shape, problem.value.shape)
    return Gradients(*(_over_group(g, shape, problem) for g, shape in zip(gradients, shapes)))


def _over_group(gradient: Any, shape: tuple[int, ...], problem: Attention) -> Array:
    """The kernel does not support groups: adds the gradients of all query heads of a key head, as autograd would."""
    if tuple(gradient.shape) != shape:
        batch, heads, seq, dim = shape
        gradient = gradient.reshape(batch, heads, problem.group, seq, dim).sum(2)
    return to_numpy(gradient, problem.query.dtype)


def _flash_not_offered(case: Case) -> str | None:
    if not is_cpu(current_device()):
        return "a device other than the CPU"
    if case.problem["head_dim"] != case.problem["head_dim_v"]:
        return "value and query with different head sizes"
    return not_offered(case)


@device_implementation(
    name="torch-flash",
    numerics=" ".join(f"{io}:cuda_flash,fused=false,partials={io}" for io in ("fp32", "bf16", "fp16")),
    unsupported=_flash_not_offered,
)
def flash(case: Case) -> dict[str, Array]:
    return _run(case, _flash)
