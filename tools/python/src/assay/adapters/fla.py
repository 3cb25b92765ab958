"""Triton kernels of flash-linear-attention (package fla-core): their backward functions, called with the given statistics:

attention  fla.ops.attn.parallel: causal, with or without a window, for padded and packed sequences
attention_function  the same with its own forward, for assay.judge_autograd
selected   fla.ops.nsa.parallel: the blocks of keys in a list, up to the query's position

On a CPU they run in Triton's interpreter; `attention.on("cuda")`, or ASSAY_DEVICE, compiles them
for that device.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.adapters.attention import (
    ForwardAttention,
    Gradients,
    attentions_of,
    forwards_of,
    not_offered,
    output_of,
    outputs_by_problem,
    outputs_of,
    statistics_of,
)
from assay.adapters.device import current_device, device_implementation, is_cpu, prepare_triton
from assay.adapters.tensors import to_numpy, to_torch
from assay.autograd import AutogradFunction
from assay.cases import Case
from assay.dtypes import Array

SELECTED = "nsa_selected_attention_grad"
LARGEST_IN_FP32 = 64  # a head size of 128 needs more shared memory than an H200 has


def attention_kernels() -> Any:
    """Returns the module with the kernels of `attention`."""
    prepare_triton()
    return importlib.import_module("fla.ops.attn.parallel")


def selection_kernels() -> Any:
    """Returns the module with the kernels of `selected`."""
    prepare_triton()
    module = importlib.import_module("fla.ops.nsa.parallel")
    if is_cpu(current_device()):
        for kernel in (module.parallel_nsa_bwd_kernel_dq, module.parallel_nsa_bwd_kernel_dkv):
            del kernel.fn.configs[1:]  # with several, Triton would measure times on a device
    return module


def _offsets(lengths: Sequence[int]) -> Any:
    """Returns the start of each sequence in a packed tensor, and the end of the last one."""
    return to_torch(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _seen_by_last(problem: ForwardAttention) -> int:
    """Returns the number of keys to which the last query attends."""
    return problem.key.shape[2] if problem.keep is None else int(problem.keep[0, 0, -1:].sum())


def _is_window(problem: ForwardAttention, window: int) -> bool:
    """Returns whether every query attends exactly to its own key and the `window` - 1 keys before it."""
    distance = np.subtract.outer(np.arange(problem.query.shape[2]), np.arange(problem.key.shape[2]))
    keep = np.ones((1, 1, 1, 1), bool) if problem.keep is None else problem.keep
    return bool(np.all(keep == ((distance >= 0) & (distance < window))))


def _attention_not_offered(case: Case) -> str | None:
    if reason := not_offered(case):
        return reason
    head_dim: Any = case.problem["head_dim"]
    if not is_cpu(current_device()) and case.problem["dtype"] == "fp32" and head_dim > LARGEST_IN_FP32:
        return f"fp32 with a head size of {head_dim}: compiled fp32 kernels accept at most {LARGEST_IN_FP32}"
    problems = attentions_of(case)
    if any(problem.query.shape[2] != problem.key.shape[2] for problem in problems):
        return "unequal numbers of keys and queries"
    window = max(map(_seen_by_last, problems))
    if not all(_is_window(problem, window) for problem in problems):
        return "a mask that is not causal, with one window for all sequences"
    return None


def _packed(arrays: Sequence[Array]) -> Any:
    return to_torch(np.concatenate([np.swapaxes(array, 1, 2) for array in arrays], axis=1))


def _by_problem(tensor: Any, case: Case, problems: Sequence[ForwardAttention]) -> list[Array]:
    """The inverse of `_packed`."""
    dtype = np.dtype(np.float32) if str(tensor.dtype) == "torch.float32" else case.dtype
    array = np.swapaxes(to_numpy(tensor, dtype), 1, 2)
    return np.split(array, np.cumsum([problem.query.shape[2] for problem in problems])[:-1], axis=2)


def _call(case: Case, problems: Sequence[ForwardAttention]) -> dict[str, Any]:
    """The arguments that forward and backward have in common, except query, key and value."""
    lengths = [problem.query.shape[2] for problem in problems]
    window = max(map(_seen_by_last, problems))
    return {
        "g_cumsum": None,
        "scale": problems[0].scale,
        "window_size": window if window < max(lengths) else None,
        "cu_seqlens": _offsets(lengths) if case.problem["layout"] == "TND" else None,
    }


def _backward(case: Case, problems: Sequence[ForwardAttention], out: Any, logsumexp: Any, dy: Sequence[Array]) -> dict[str, Array]:
    query = _packed([p.query for p in problems])
    *gradients, _, _ = attention_kernels().parallel_attn_bwd(
        q=query,
        k=_packed([p.key for p in problems]),
        v=_packed([p.value for p in problems]),
        o=out,
        lse=logsumexp,
        do=_packed(dy),
        **_call(case, problems),
    )
    parts = (_by_problem(gradient.to(query.dtype), case, problems) for gradient in gradients)
    return outputs_of(case, [Gradients(*each) for each in zip(*parts)])


def _logsumexp(maximum: Array, total: Array, base: float) -> Array:
    """Returns the logsumexp that the kernels store, as a logarithm to this base, rounded once."""
    return np.asarray((maximum + np.log(total.astype(np.float64))) / np.log(base), np.float32)


# On a GPU, Triton multiplies fp32 tensors in tf32 unless a kernel requests a higher precision. These kernels request
# none, so the matrix unit truncates their operands to tf32.
@device_implementation(
    name="fla-attention",
    numerics="fp32:cuda_flash bf16:cuda_flash fp16:cuda_flash",
    numerics_on_device="fp32:cuda_flash,product=tf32_truncating bf16:cuda_flash fp16:cuda_flash",
    unsupported=_attention_not_offered,
    prepare=attention_kernels,
)
def attention(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    logsumexp = _packed([_logsumexp(p.softmax_max, p.softmax_sum, 2) for p in problems])
    return _backward(case, problems, _packed([p.attention_in for p in problems]), logsumexp, [p.dy for p in problems])


def _forward(case: Case) -> tuple[Array, dict[str, Any]]:
    problems = forwards_of(case)
    out, logsumexp = attention_kernels().parallel_attn_fwd(
        q=_packed([p.query for p in problems]),
        k=_packed([p.key for p in problems]),
        v=_packed([p.value for p in problems]),
        sink_bias=None,
        **_call(case, problems),
    )
    output = output_of(case, _by_problem(out, case, problems))
    natural = np.log(2) * statistics_of(case, _by_problem(logsumexp, case, problems)).astype(np.float64)
    return output, {"case": case, "out": out, "of_kernel": logsumexp, "attention_in": output, "logsumexp": natural}


def _backward_of_saved(saved: dict[str, Any], gradient: Array) -> dict[str, Array]:
    case = saved["case"]
    return _backward(case, forwards_of(case), saved["out"], saved["of_kernel"], outputs_by_problem(case, gradient))


attention_function = AutogradFunction(_forward, _backward_of_saved, "fla-attention", attention.numerics, attention.predicate)


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _selected_not_offered(case: Case) -> str | None:
    if case.operator != SELECTED:
        return f"the operator {case.operator}"
    p: dict[str, Any] = dict(case.problem)
    if p["sparse_mode"] != 2:
        return "keys after the query's position"
    if (p["lengths_q"] or p["seq_q"]) != (p["lengths_kv"] or p["seq_kv"]):
        return "unequal numbers of keys and queries"
    group = p["heads_q"] // p["heads_kv"]
    if group < 16 or not _is_power_of_two(group):
        return f"groups of {group} heads: only powers of two that are at least 16 are supported"
    if not _is_power_of_two(p["selected_block_size"]):
        return f"blocks of {p['selected_block_size']} keys: only powers of two are supported"
    return None


def _lists(blocks: Array) -> Array:
    """Lists of blocks, padded to the power of two that Triton needs: -1 means no block."""
    count = blocks.shape[-1]
    missing = (1 << (count - 1).bit_length()) - count
    return np.pad(blocks, [(0, 0)] * (blocks.ndim - 1) + [(0, missing)], constant_values=-1)


@device_implementation(
    name="fla-selected",
    numerics="cuda_flash,fused=false,operand_scaled=true",
    unsupported=_selected_not_offered,
    prepare=selection_kernels,
)
def selected(case: Case) -> dict[str, Array]:
    p: dict[str, Any] = dict(case.problem)
    x, lengths = case.inputs, p["lengths_q"]
    batch = 1 if lengths else p["batch"]

    def batched(array: Array) -> Any:
        return to_torch(array.reshape(batch, -1, *array.shape[1:]))

    nsa, offsets = selection_kernels(), _offsets(lengths) if lengths else None
    blocks = _lists(x["topk_indices"])
    gradients = nsa.parallel_nsa_bwd(
        q=batched(x["query"]),
        k=batched(x["key"]),
        v=batched(x["value"]),
        o=batched(x["attention_out"]),
        lse=batched(_logsumexp(x["softmax_max"][..., 0], x["softmax_sum"][..., 0], np.e)),
        do=batched(x["attention_out_grad"]),
        block_indices=batched(blocks),
        block_counts=blocks.shape[-1],
        block_size=p["selected_block_size"],
        scale=p["scale_value"],
        cu_seqlens=offsets,
        token_indices=nsa.prepare_token_indices(offsets) if lengths else None,
    )
    made = (to_numpy(g, case.dtype) for g in gradients)
    return {name: g.reshape(-1, *g.shape[2:]) for name, g in zip(Gradients._fields, made)}
