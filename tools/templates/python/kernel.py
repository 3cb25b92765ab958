"""A kernel of your own: the gradient of attention in numpy. EDIT marks three places; the rest may stay."""

from __future__ import annotations

import assay
import numpy as np


def unsupported(case: assay.Case) -> str | None:
    """The reason why the kernel does not support this case; None if it supports it."""
    # EDIT 1: the cases that your kernel does not support. Their verdict is "not_applicable", and they do not count.
    if case.operator != "flash_attention_score_grad":
        return "only flash_attention_score_grad"
    if case.problem["layout"] not in ("BNSD", "BSND"):
        return "only the layouts BNSD and BSND"
    if {"atten_mask", "drop_mask", "pse_shift", "sink"} & set(case.inputs) or case.problem["sparse_mode"] != 0:
        return "no mask, bias, dropout or sink"
    return None


# EDIT 2: the name of your kernel, and its numerics: how it rounds and in which types it computes. "assay list presets"
# shows the known numerics.
@assay.implementation(name="mine", numerics="fp32_staging", unsupported=unsupported)
def kernel(case: assay.Case) -> dict[str, np.ndarray]:
    """The gradients of one case, by their names."""
    # EDIT 3: your kernel. The inputs are arrays of the documented shapes. The outputs must have the type case.dtype.
    problem = case.problem
    tokens_first = problem["layout"] == "BSND"
    heads_of = (lambda x: x.swapaxes(1, 2)) if tokens_first else (lambda x: x)
    x = {name: array.astype(np.float32) for name, array in case.inputs.items()}
    q, k, v, dy, out = (heads_of(x[name]) for name in ("query", "key", "value", "dy", "attention_in"))
    group = problem["heads_q"] // problem["heads_kv"]  # query heads that share a head of keys
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)

    scale = problem["scale_value"]
    p = np.exp(scale * q @ k.swapaxes(2, 3) - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1]
    dp = dy @ v.swapaxes(2, 3)
    ds = p * (dp - np.sum(dy * out, axis=-1, keepdims=True))
    dq = scale * ds @ k
    dk = scale * ds.swapaxes(2, 3) @ q
    dv = p.swapaxes(2, 3) @ dy

    dk, dv = (y.reshape(y.shape[0], -1, group, *y.shape[2:]).sum(axis=2) for y in (dk, dv))
    return {name: heads_of(y).astype(case.dtype) for name, y in {"dq": dq, "dk": dk, "dv": dv}.items()}
