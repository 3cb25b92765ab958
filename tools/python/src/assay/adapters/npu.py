"""The attention gradient of Ascend's PyTorch extension: torch_npu.npu_fusion_attention, differentiated by autograd.

Written from its documentation (docs/context/torch_npu-npu_fusion_attention.md of op-plugin) and never
run on hardware. The tensors are on the device of `attention.on("npu")`, or of ASSAY_DEVICE=npu. The
forward pass computes its own statistics and attention output.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from assay.adapters.attention import attentions_of, lengths_of, not_offered
from assay.adapters.device import device_implementation
from assay.adapters.tensors import to_numpy, to_torch
from assay.cases import Case
from assay.dtypes import Array

torch_npu: Any = importlib.import_module("torch_npu")

SHOWS_DEAD_ROWS = (2, 3, 4)  # sparse modes in which the operator finds fully masked queries from the lengths
COMPUTES_DEAD_ROWS = 2  # value of inner_precise with which it computes them


def _has_dead_rows(case: Case) -> bool:
    return any(p.keep is not None and not np.all(np.any(p.keep, axis=-1)) for p in attentions_of(case))


def _offered(case: Case) -> str | None:
    if reason := not_offered(case):
        return reason
    p: dict[str, Any] = dict(case.problem)
    if p["head_dim_v"] > p["head_dim"]:
        return "a head size of value larger than that of key"
    if p["layout"] == "TND" and p["sparse_mode"] not in SHOWS_DEAD_ROWS and _has_dead_rows(case):
        return "packed sequences with a fully masked row"
    return None


def _ends(lengths: Sequence[int]) -> list[int]:
    """Cumulative sums of the lengths, the format of packed sequences."""
    return [int(end) for end in np.cumsum(lengths)]


@device_implementation(
    name="torch-npu", numerics="ascend_a2,stats=own,delta=own", unsupported=_offered
)
def attention(case: Case) -> dict[str, Array]:
    p: dict[str, Any] = dict(case.problem)
    x, packed = case.inputs, p["layout"] == "TND"
    leaves = [to_torch(x[name]).requires_grad_() for name in ("query", "key", "value")]
    out, *_ = torch_npu.npu_fusion_attention(
        *leaves,
        p["heads_q"],
        p["layout"],
        atten_mask=to_torch(x["atten_mask"]) if "atten_mask" in x else None,
        scale=p["scale_value"],
        pre_tockens=p["pre_tokens"],
        next_tockens=p["next_tokens"],
        inner_precise=COMPUTES_DEAD_ROWS if _has_dead_rows(case) else 0,
        prefix=p["prefix"] or None,
        actual_seq_qlen=_ends(lengths_of(p, "q")) if packed else None,
        actual_seq_kvlen=_ends(lengths_of(p, "kv")) if packed else None,
        sparse_mode=p["sparse_mode"],
    )
    gradients = torch.autograd.grad(out, leaves, to_torch(x["dy"]))
    return {name: to_numpy(g, case.dtype) for name, g in zip(("dq", "dk", "dv"), gradients)}
