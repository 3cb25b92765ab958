"""Implementations for the tests: correct and wrong attention gradients in numpy, and cases for them."""

from __future__ import annotations

import os

import numpy as np

import assay
from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of

OPERATOR = "flash_attention_score_grad"
SMALL_LINES = [
    f"{OPERATOR} {flags}"
    for flags in (
        "--dtype=fp32 --seq_q=3 --seq_kv=5 --head_dim=8 --head_dim_v=8",
        "--dtype=bf16 --layout=BSH --heads_q=4 --heads_kv=2 --seq_q=6 --seq_kv=9",
        "--dtype=fp16 --layout=SBH --batch=2 --seq_q=5 --seq_kv=5 --sparse_mode=2 --atten_mask=compressed",
        "--dtype=bf16 --layout=BSND --seq_q=7 --seq_kv=4 --sparse_mode=3 --atten_mask=compressed",
        "--dtype=fp32 --heads_q=2 --heads_kv=1 --seq_q=6 --seq_kv=6 --sparse_mode=1 --atten_mask=B1SS --batch=2",
        "--dtype=bf16 --layout=TND --entry_point=u1 --heads_q=2 --lengths_q=3,4 --lengths_kv=5,2",
        "--dtype=bf16 --inputs=padded --seq_q=4 --seq_kv=4",
        "--dtype=fp16 --track=exact --seq_q=8 --seq_kv=8 --scale_value=0.0625",
    )
]


def dense(problem: Attention, scale_of_dk: float = 1.0) -> Gradients:
    """The documents' formulas in double, rounded once."""
    q, k, v, dy, out = (
        np.asarray(x, np.float64)
        for x in (problem.query, problem.key, problem.value, problem.dy, problem.attention_in)
    )
    k, v = np.repeat(k, problem.group, 1), np.repeat(v, problem.group, 1)
    scores = problem.scale * q @ k.swapaxes(2, 3)
    with np.errstate(over="ignore"):
        p = np.exp(scores - problem.softmax_max[..., None]) / problem.softmax_sum[..., None]
    p = p if problem.keep is None else np.where(problem.keep, p, 0)
    ds = p * (dy @ v.swapaxes(2, 3) - np.sum(dy * out, -1, keepdims=True))
    dk, dv = scale_of_dk * problem.scale * ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ dy
    grouped = (problem.key.shape[0], problem.key.shape[1], problem.group)
    dk, dv = (g.reshape(*grouped, *g.shape[2:]).sum(2) for g in (dk, dv))
    return Gradients(*(g.astype(problem.query.dtype) for g in (problem.scale * ds @ k, dk, dv)))


@assay.implementation(name="numpy", numerics="fp32_staging,order=fixed", unsupported=not_offered)
def right(case: assay.Case) -> dict[str, np.ndarray]:
    return outputs_of(case, [dense(problem) for problem in attentions_of(case)])


@assay.implementation(name="without scale", numerics="fp32_staging", unsupported=not_offered)
def without_scale(case: assay.Case) -> dict[str, np.ndarray]:
    return outputs_of(case, [dense(problem, 1 / problem.scale) for problem in attentions_of(case)])


@assay.implementation(numerics="fp32_staging")
def troubled(case: assay.Case) -> dict[str, np.ndarray]:
    """One wrong implementation of each kind, for one layout."""
    layout = case.problem["layout"]
    print("this is not an answer")
    if layout == "BSH":
        raise assay.Unsupported("BSH")
    if layout == "SBH":
        raise assay.Rejected(161002, "no SBH")
    if layout == "BSND":
        raise MemoryError("too small")
    if layout == "TND":
        os._exit(3)
    return right(case)


@assay.implementation(numerics="fp32_staging", unsupported=not_offered)
def in_place(case: assay.Case) -> dict[str, np.ndarray]:
    """Its outputs are correct, but it changes the key."""
    outputs = right(case)
    case.inputs["key"][..., -1] += 1
    return outputs


nothing = None
turns = iter(range(10**9))


@assay.implementation(numerics="fp32_staging,order=fixed")
def moody(case: assay.Case) -> dict[str, np.ndarray]:
    """Declares a fixed order, but in every second run the last bits of the outputs differ."""
    outputs = dict(right(case))
    if next(turns) % 2:
        outputs["dq"] = np.nextafter(outputs["dq"], np.float32(np.inf))
    return outputs
