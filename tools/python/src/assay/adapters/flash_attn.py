"""FlashAttention's Triton backward kernels (package flash-attn, for AMD devices), called with the given statistics:

attention  flash_attn.flash_attn_triton_amd.bwd_prefill_split: causal or not, for padded and packed sequences

On a CPU they run in Triton's interpreter; `attention.on("cuda")`, or ASSAY_DEVICE, compiles them
for the AMD device of that name: Triton for NVIDIA devices does not have their options.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of
from assay.adapters.device import current_device, device_implementation, is_cpu, prepare_triton
from assay.adapters.tensors import to_numpy, to_torch
from assay.cases import Case
from assay.dtypes import Array


def kernels() -> Any:
    """The module with the kernels. The package itself would import all of its kernels, some of which need other versions of
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
    return importlib.import_module(f"{name}.bwd_prefill_split")


def _is_causal(problem: Attention) -> bool:
    """Returns whether queries attend to the keys up to their own; the last query's own key is the last key."""
    queries, keys = problem.query.shape[2], problem.key.shape[2]
    distance = np.subtract.outer(np.arange(queries) + (keys - queries), np.arange(keys))
    return problem.keep is not None and bool(np.all(problem.keep == (distance >= 0)))


def _sees_all(problem: Attention) -> bool:
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


@device_implementation(
    name="flash-attn-triton",
    numerics="fp32:cuda_flash bf16:cuda_flash fp16:cuda_flash",
    unsupported=_attention_not_offered,
    prepare=kernels,
)
def attention(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    packed = case.problem["layout"] == "TND"

    def joined(arrays: list[Array]) -> Any:
        """(tokens, heads, ...) for packed sequences, (batch, heads, seq, ...) for padded ones."""
        return to_torch(np.concatenate([np.swapaxes(array[0], 0, 1) for array in arrays]) if packed else arrays[0])

    def starts(lengths: list[int]) -> Any:
        return to_torch(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)) if packed else None

    queries, keys = [p.query.shape[2] for p in problems], [p.key.shape[2] for p in problems]
    q, k, v = (joined([getattr(p, name) for p in problems]) for name in ("query", "key", "value"))
    gradients = [tensor.new_zeros(tensor.shape) for tensor in (q, k, v)]
    kernels().attention_prefill_backward_triton_split_impl(
        do=joined([p.dy for p in problems]),
        q=q,
        k=k,
        v=v,
        o=joined([p.attention_in for p in problems]),
        softmax_lse=joined([_logsumexp(p) for p in problems]),
        dq=gradients[0],
        dk=gradients[1],
        dv=gradients[2],
        sm_scale=problems[0].scale,
        alibi_slopes=None,
        causal=not all(map(_sees_all, problems)),
        layout="thd" if packed else "bhsd",
        cu_seqlens_q=starts(queries),
        cu_seqlens_k=starts(keys),
        max_seqlen_q=max(queries),
        max_seqlen_k=max(keys),
        dropout_p=0.0,
        philox_seed=None,
        philox_offset=None,
        use_exp2=False,
        **{f"descale_{name}": None for name in ("q", "k", "v", "o", "do", "dq", "dk", "dv")},
    )
    made = [to_numpy(gradient, case.dtype) for gradient in gradients]
    if not packed:
        return outputs_of(case, [Gradients(*made)])
    splits = (np.cumsum(queries)[:-1], np.cumsum(keys)[:-1], np.cumsum(keys)[:-1])
    parts = zip(*(np.split(array, where) for array, where in zip(made, splits)))
    return outputs_of(case, [Gradients(*(np.swapaxes(array, 0, 1)[None] for array in each)) for each in parts])
