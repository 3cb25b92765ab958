"""FlashAttention's Triton backward kernels (package flash-attn, for AMD devices), called with the given statistics:

attention  flash_attn.flash_attn_triton_amd.bwd_prefill_split: causal or not, for padded and packed sequences
attention_function  the same with its own forward, of fwd_prefill, for assay.judge_autograd

On a CPU they run in Triton's interpreter; `attention.on("cuda")`, or ASSAY_DEVICE, compiles them
for the AMD device of that name: Triton for NVIDIA devices does not have their options.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from assay.adapters.attention import (
    Attention,
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


def kernels(module: str = "bwd_prefill_split") -> Any:
    """A module with kernels. The package itself would import all of its kernels, some of which need other versions of
    Triton, and the compiled CUDA kernels."""
    prepare_triton()
    package = importlib.util.find_spec("flash_attn")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'flash_attn'", name="flash_attn")
    name, folder = "flash_attn_triton_amd", Path(package.submodule_search_locations[0]) / "flash_attn_triton_amd"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        assert spec is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{name}.{module}")


def _is_causal(problem: ForwardAttention) -> bool:
    """Returns whether queries attend to the keys up to their own; the last query's own key is the last key."""
    queries, keys = problem.query.shape[2], problem.key.shape[2]
    distance = np.subtract.outer(np.arange(queries) + (keys - queries), np.arange(keys))
    return problem.keep is not None and bool(np.all(problem.keep == (distance >= 0)))


def _sees_all(problem: ForwardAttention) -> bool:
    return problem.keep is None or bool(np.all(problem.keep))


def _attention_not_offered(case: Case) -> str | None:
    if reason := not_offered(case):
        return reason
    if not is_cpu(current_device()) and torch.version.hip is None:
        return "a device that is not from AMD: only Triton for AMD devices has the options of these kernels"
    problems = attentions_of(case)
    if any(problem.query.shape[3] != problem.value.shape[3] for problem in problems):
        return "value and query with different head sizes"
    if not (all(map(_sees_all, problems)) or all(map(_is_causal, problems))):
        return "a mask that is not causal"
    return None


def _logsumexp(problem: Attention) -> Array:
    """The logsumexp that the kernels store, rounded once."""
    return np.asarray(problem.softmax_max + np.log(problem.softmax_sum.astype(np.float64)), np.float32)


def _joined(case: Case, arrays: Sequence[Array]) -> Any:
    """(tokens, heads, ...) for packed sequences, (batch, heads, seq, ...) for padded ones."""
    return to_torch(np.concatenate([np.swapaxes(array[0], 0, 1) for array in arrays]) if case.problem["layout"] == "TND" else arrays[0])


def _by_problem(case: Case, tensor: Any, lengths: Sequence[int]) -> list[Array]:
    """The inverse of `_joined`."""
    array = to_numpy(tensor, np.dtype(np.float32) if tensor.dtype == torch.float32 else case.dtype)
    if case.problem["layout"] != "TND":
        return [array]
    return [np.swapaxes(part, 0, 1)[None] for part in np.split(array, np.cumsum(lengths)[:-1])]


def _call(case: Case, problems: Sequence[ForwardAttention]) -> dict[str, Any]:
    """The arguments that forward and backward have in common, except those whose names differ."""
    packed = case.problem["layout"] == "TND"

    def starts(lengths: Sequence[int]) -> Any:
        return to_torch(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)) if packed else None

    queries, keys = _lengths(problems)
    return {
        "q": _joined(case, [p.query for p in problems]),
        "k": _joined(case, [p.key for p in problems]),
        "v": _joined(case, [p.value for p in problems]),
        "sm_scale": problems[0].scale,
        "alibi_slopes": None,
        "causal": not all(map(_sees_all, problems)),
        "layout": "thd" if packed else "bhsd",
        "cu_seqlens_q": starts(queries),
        "cu_seqlens_k": starts(keys),
        "dropout_p": 0.0,
        "philox_seed": None,
        "philox_offset": None,
        "use_exp2": False,
    }


def _lengths(problems: Sequence[ForwardAttention]) -> tuple[list[int], list[int]]:
    return [p.query.shape[2] for p in problems], [p.key.shape[2] for p in problems]


def _backward(case: Case, problems: Sequence[ForwardAttention], out: Any, logsumexp: Any, dy: Sequence[Array]) -> dict[str, Array]:
    call, (queries, keys) = _call(case, problems), _lengths(problems)
    gradients = [call[name].new_zeros(call[name].shape) for name in ("q", "k", "v")]
    kernels().attention_prefill_backward_triton_split_impl(
        do=_joined(case, dy),
        o=out,
        softmax_lse=logsumexp,
        dq=gradients[0],
        dk=gradients[1],
        dv=gradients[2],
        max_seqlen_q=max(queries),
        max_seqlen_k=max(keys),
        **call,
        **{f"descale_{name}": None for name in ("q", "k", "v", "o", "do", "dq", "dk", "dv")},
    )
    parts = (_by_problem(case, g, lengths) for g, lengths in zip(gradients, (queries, keys, keys)))
    return outputs_of(case, [Gradients(*each) for each in zip(*parts)])


@device_implementation(
    name="flash-attn-triton",
    numerics="fp32:cuda_flash bf16:cuda_flash fp16:cuda_flash",
    unsupported=_attention_not_offered,
    prepare=kernels,
)
def attention(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    out, logsumexp = _joined(case, [p.attention_in for p in problems]), _joined(case, [_logsumexp(p) for p in problems])
    return _backward(case, problems, out, logsumexp, [p.dy for p in problems])


def _forward(case: Case) -> tuple[Array, dict[str, Any]]:
    problems = forwards_of(case)
    call, (queries, keys) = _call(case, problems), _lengths(problems)
    out = call["q"].new_zeros(*call["q"].shape[:-1], problems[0].value.shape[-1])
    logsumexp, _ = kernels("fwd_prefill").attention_prefill_forward_triton_impl(
        o=out,
        bias=None,
        max_seqlens_q=max(queries),
        max_seqlens_k=max(keys),
        cache_seqlens=None,
        cache_batch_idx=None,
        return_softmax=False,
        **call,
        **{f"descale_{name}": None for name in ("q", "k", "v", "o")},
    )
    output = output_of(case, _by_problem(case, out, queries))
    statistics = statistics_of(case, _by_problem(case, logsumexp, queries))
    return output, {"case": case, "out": out, "of_kernel": logsumexp, "attention_in": output, "logsumexp": statistics}


def _backward_of_saved(saved: dict[str, Any], gradient: Array) -> dict[str, Array]:
    case = saved["case"]
    return _backward(case, forwards_of(case), saved["out"], saved["of_kernel"], outputs_by_problem(case, gradient))


attention_function = AutogradFunction(_forward, _backward_of_saved, "flash-attn-triton", attention.numerics, attention.predicate)
