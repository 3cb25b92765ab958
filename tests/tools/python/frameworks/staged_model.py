"""Gradients of attention in double with selected roundings: a kernel that gives the same bits is explained by the model.

A model is a set of STEPS, written with "+": "staged+scaled+row_term".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from assay.adapters.attention import Attention, Gradients
from assay.dtypes import Array

STEPS = {
    "staged": "P and dS are rounded before they enter the products of the gradients",
    "scaled": "with staged: it is dS times the scale that is rounded",
    "p": "dS is computed from the rounded P",
    "dp": "dP is rounded",
    "row_products": "the products of the row term are rounded",
    "row_term": "the row term is rounded",
    "own_output": "the row term uses the kernel's own output: exp(S - max) is rounded, multiplied by V, divided by the sum, rounded",
    "own_row_term": "the row term is the sum of P dP over the keys",
    "partials": "what each query head gives to a key head is rounded before it is added",
    "tf32_truncating": "operands of products are cut off to tf32",
}
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def steps_of(text: str) -> frozenset[str]:
    steps = frozenset(text.split("+")) if text else frozenset()
    if unknown := steps - STEPS.keys():
        raise ValueError(f"unknown step {sorted(unknown)[0]!r}; accepted: {', '.join(STEPS)}")
    return steps


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    return torch.from_numpy(np.ascontiguousarray(values)).to(TYPES[dtype.name]).to(torch.float64).numpy()


def _cut_off(values: Array) -> Array:
    bits = values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).astype(np.float64)


def gradients(problem: Attention, steps: frozenset[str]) -> Gradients:
    dtype, scale, group = problem.query.dtype, problem.scale, problem.group
    fields = (problem.query, problem.key, problem.value, problem.dy, problem.attention_in)
    q, k, v, dy, out = (np.asarray(x, np.float64) for x in fields)
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)

    def rounded_in(step: str, values: Array) -> Array:
        return _rounded(values, dtype) if step in steps else values

    def product(a: Array, b: Array) -> Array:
        if "tf32_truncating" in steps:
            a, b = _cut_off(a), _cut_off(b)
        return a @ b

    with np.errstate(over="ignore", invalid="ignore"):
        scores = scale * product(q, k.swapaxes(2, 3))
        if problem.keep is not None:
            scores = np.where(problem.keep, scores, -np.inf)
        p = np.exp(scores - problem.softmax_max[..., None]) / problem.softmax_sum[..., None]
    if "own_output" in steps:
        largest = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
        out = _rounded(product(_rounded(e, dtype), v) / e.sum(-1, keepdims=True), dtype)
    dp = rounded_in("dp", product(dy, v.swapaxes(2, 3)))
    terms = p * dp if "own_row_term" in steps else dy * out
    row_term = rounded_in("row_term", rounded_in("row_products", terms).sum(-1, keepdims=True))
    ds = rounded_in("p", p) * (dp - row_term)
    ds = rounded_in("staged", ds * scale) / scale if "scaled" in steps else rounded_in("staged", ds)
    dk, dv = scale * product(ds.swapaxes(2, 3), q), product(rounded_in("staged", p).swapaxes(2, 3), dy)
    if group > 1:
        heads = (problem.key.shape[0], problem.key.shape[1], group)
        dk, dv = (rounded_in("partials", g).reshape(*heads, *g.shape[2:]).sum(2) for g in (dk, dv))
    return Gradients(*(g.astype(dtype) for g in (scale * product(ds, k), dk, dv)))
