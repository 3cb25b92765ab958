"""Gradients of PyTorch's fused attention on NVIDIA devices. All except `flex` use the given statistics and output.

flash      the kernels of backend FLASH_ATTENTION: 16-bit types, no mask or a causal one; grouped heads
efficient  the kernels of backend EFFICIENT_ATTENTION: every type, any mask as a bias
cudnn      the kernels of backend CUDNN_ATTENTION: 16-bit types, any mask as a bias; grouped heads
flex       torch.nn.attention.flex_attention, compiled, through autograd: every type, any mask as a predicate; compiling takes
           seconds for each shape

`flash.on("cuda")` or ASSAY_DEVICE selects the device; none of them runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of, zeros
from assay.adapters.device import current_device, device_implementation, is_cpu
from assay.adapters.tensors import to_numpy, to_torch
from assay.cases import Case
from assay.dtypes import Array

SIXTEEN_BITS = ("bf16", "fp16")
ALIGNMENT = 8  # head sizes and rows of a bias are padded to multiples of this, as in PyTorch
LEAST_HEAD_SIZE_OF_FLEX = 16
ROWS_OF_EFFICIENT = 32  # the statistics of `efficient` are padded to multiples of this


class _Operands(NamedTuple):
    """The operands of every kernel, with head sizes padded with zeros."""

    dy: Any
    query: Any
    key: Any
    value: Any
    out: Any
    logsumexp: Any  # (batch, heads_q, seq_q), fp32


def _padded(array: Array) -> Any:
    missing = -array.shape[-1] % ALIGNMENT
    return to_torch(np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)]))


def _operands(problem: Attention) -> _Operands:
    logsumexp = problem.softmax_max + np.log(problem.softmax_sum.astype(np.float64))
    return _Operands(
        dy=_padded(problem.dy),
        query=_padded(problem.query),
        key=_padded(problem.key),
        value=_padded(problem.value),
        out=_padded(problem.attention_in),
        logsumexp=to_torch(np.asarray(logsumexp, np.float32)),
    )


def _is_causal(problem: Attention) -> bool:
    """Returns whether queries attend to the keys up to their own, with as many keys as queries."""
    seq_q, seq_kv = problem.query.shape[2], problem.key.shape[2]
    return problem.keep is not None and seq_q == seq_kv and bool(np.all(problem.keep == np.tri(seq_q, dtype=bool)))


def _sees_all(problem: Attention) -> bool:
    return problem.keep is None or bool(np.all(problem.keep))


def _no_random_numbers() -> tuple[Any, Any]:
    """Seed and offset for dropout, which is off."""
    return tuple(torch.zeros((), dtype=torch.int64, device=current_device()) for _ in range(2))


def _flash(problem: Attention) -> tuple[Any, ...]:
    x = _operands(problem)
    lengths = (problem.query.shape[2], problem.key.shape[2])
    return tuple(
        torch.ops.aten._scaled_dot_product_flash_attention_backward(
            x.dy, x.query, x.key, x.value, x.out, x.logsumexp, None, None, *lengths,
            0.0, not _sees_all(problem), *_no_random_numbers(), scale=problem.scale,
        )
    )  # fmt: skip


def _bias(problem: Attention) -> Any:
    """The mask as a bias for the scores, (batch, heads_q, seq_q, seq_kv), in aligned rows; None without a mask."""
    if problem.keep is None:
        return None
    (batch, heads, seq_q, _), seq_kv = problem.query.shape, problem.key.shape[2]
    keep = np.broadcast_to(problem.keep, (batch, heads, seq_q, seq_kv))
    keep = np.pad(keep, [(0, 0)] * 3 + [(0, -seq_kv % (2 * ALIGNMENT))])
    kept = torch.from_numpy(np.ascontiguousarray(keep)).to(current_device())
    bias = torch.zeros(kept.shape, dtype=to_torch(problem.query[:0]).dtype, device=current_device())
    return bias.masked_fill(~kept, float("-inf"))[..., :seq_kv]


def _efficient(problem: Attention) -> tuple[Any, ...]:
    x, group = _operands(problem), problem.group
    # The 16-bit kernels ignore the strides of the attention output. They expect the memory order (batch, seq, heads,
    # dim).
    out = x.out.transpose(1, 2).contiguous().transpose(1, 2)
    key, value = (tensor.repeat_interleave(group, dim=1) for tensor in (x.key, x.value))
    seq_q = problem.query.shape[2]
    logsumexp = torch.nn.functional.pad(x.logsumexp, (0, -seq_q % ROWS_OF_EFFICIENT), value=float("inf"))
    dq, dk, dv, _ = torch.ops.aten._scaled_dot_product_efficient_attention_backward(
        x.dy, x.query, key, value, _bias(problem), out, logsumexp, *_no_random_numbers(),
        0.0, [True, True, True, False], False, scale=problem.scale,
    )  # fmt: skip
    return (dq, *(g if group == 1 else g.unflatten(1, (-1, group)).sum(2) for g in (dk, dv)))


def _cudnn(problem: Attention) -> tuple[Any, ...]:
    x = _operands(problem)
    lengths = (problem.query.shape[2], problem.key.shape[2])
    return tuple(
        torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            x.dy, x.query, x.key, x.value, x.out, x.logsumexp.unsqueeze(-1), *_no_random_numbers(),
            _bias(problem), None, None, *lengths, 0.0, False, scale=problem.scale,
        )
    )  # fmt: skip


@cache
def _compiled_flex() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096
    return torch.compile(flex_attention, dynamic=False)


def _flex(problem: Attention) -> tuple[Any, ...]:
    from torch.nn.attention.flex_attention import create_block_mask

    leaves = [to_torch(x).requires_grad_() for x in (problem.query, problem.key, problem.value)]
    block_mask = None
    if problem.keep is not None:
        (batch, heads, seq_q, _), seq_kv = problem.query.shape, problem.key.shape[2]
        keep = to_torch(np.broadcast_to(problem.keep, (batch, heads, seq_q, seq_kv)))

        def is_kept(b: Any, h: Any, q: Any, kv: Any) -> Any:
            return keep[b, h, q, kv]

        block_mask = create_block_mask(is_kept, batch, heads, seq_q, seq_kv, device=current_device())
    out = _compiled_flex()(*leaves, block_mask=block_mask, scale=problem.scale, enable_gqa=problem.group > 1)
    return tuple(torch.autograd.grad(out, leaves, to_torch(problem.dy)))


def _run(case: Case, kernel: Callable[[Attention], tuple[Any, ...]]) -> dict[str, Array]:
    def gradients(problem: Attention) -> Gradients:
        if not (problem.query.size and problem.key.size):
            return zeros(problem)
        inputs = (problem.query, problem.key, problem.value)
        made = zip(kernel(problem), inputs)
        return Gradients(*(to_numpy(g[..., : array.shape[-1]], case.dtype) for g, array in made))

    return outputs_of(case, [gradients(problem) for problem in attentions_of(case)])


def _not_offered(case: Case) -> str | None:
    if is_cpu(current_device()):
        return "the CPU: the kernels run only on NVIDIA devices"
    if reason := not_offered(case):
        return reason
    if case.problem["head_dim"] != case.problem["head_dim_v"]:
        return "value and query with different head sizes"
    return None


def _sixteen_bits_alone(case: Case) -> str | None:
    if case.problem["dtype"] not in SIXTEEN_BITS:
        return f"tensors of {case.problem['dtype']}"
    return _not_offered(case)


def _flash_not_offered(case: Case) -> str | None:
    if reason := _sixteen_bits_alone(case):
        return reason
    problems = attentions_of(case)
    if not (all(map(_sees_all, problems)) or all(map(_is_causal, problems))):
        return "a mask other than the causal mask of equal numbers of queries and keys"
    return None


def _flex_not_offered(case: Case) -> str | None:
    if reason := _not_offered(case):
        return reason
    head_dim: Any = case.problem["head_dim"]
    if head_dim < LEAST_HEAD_SIZE_OF_FLEX:
        return f"a head size of {head_dim}: only sizes of at least {LEAST_HEAD_SIZE_OF_FLEX} are supported"
    return None


def _declared(preset: str, *types: str) -> str:
    """The numerics for these types. The partial dk and dv of a group of query heads are rounded before they are added.
    Kernels with round_stage=unknown_any round dS times the scale; fp16 loses small values of it."""
    return " ".join(
        f"{io}:{preset.format(io=io)},partials={io}" + (",floor=0x1p-24" if io == "fp16" and "unknown_any" in preset else "")
        for io in types
    )


@device_implementation(
    name="torch-cuda-flash", numerics=_declared("cuda_flash", *SIXTEEN_BITS), unsupported=_flash_not_offered
)
def flash(case: Case) -> dict[str, Array]:
    return _run(case, _flash)


# This kernel rounds P before it computes dS from P.
@device_implementation(
    name="torch-cuda-efficient",
    numerics="fp32:cuda_flash " + _declared("cuda_flash,store_p={io},round_stage=unknown_any", *SIXTEEN_BITS),
    unsupported=_not_offered,
)
def efficient(case: Case) -> dict[str, Array]:
    return _run(case, _efficient)


@device_implementation(
    name="torch-cuda-cudnn",
    numerics=_declared("cuda_flash,round_stage=unknown_any", *SIXTEEN_BITS),
    unsupported=_sixteen_bits_alone,
)
def cudnn(case: Case) -> dict[str, Array]:
    return _run(case, _cudnn)


@device_implementation(
    name="torch-cuda-flex",
    numerics=_declared("cuda_flash,stats=own,delta=own_output", "fp32", *SIXTEEN_BITS),
    unsupported=_flex_not_offered,
)
def flex(case: Case) -> dict[str, Array]:
    return _run(case, _flex)
