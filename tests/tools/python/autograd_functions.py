"""Autograd functions in numpy for the tests: correct ones, and ones with a fault in the forward, in what it saves, or in the
backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import assay
from assay.dtypes import Array

FLASH = "flash_attention_score_grad --dtype={} --batch=2 --heads_q=2 --heads_kv=2 --seq_q=33 --seq_kv=40 --head_dim=16 --head_dim_v=16 --scale_value=0.25"
COMPRESS = "nsa_compress_grad --dtype={} --heads=2 --lengths=70,5,48 --head_dim=16"
SELECTED = "nsa_selected_attention_grad --dtype={} --heads_q=4 --heads_kv=2 --lengths_q=5,3 --lengths_kv=96,64 --selected_block_count=3"
NUMERICS = "fp32_staging"
Change = Callable[[dict[str, Any]], None]


def unchanged(values: dict[str, Any]) -> None:
    pass


def wide(case: assay.Case) -> dict[str, Array]:
    return {name: array.astype(np.float64) for name, array in case.inputs.items()}


def attention(change_output: Change = unchanged, change_saved: Change = unchanged, change_gradients: Change = unchanged,
              **facts: Any) -> assay.AutogradFunction:
    """Attention without a mask in layout BNSD, in double, rounded once. Each change edits what its part returns."""

    def forward(case: assay.Case) -> tuple[dict[str, Array], dict[str, Any]]:
        x = wide(case)
        scores = case.problem["scale_value"] * x["query"] @ x["key"].swapaxes(2, 3)
        maximum = scores.max(-1).astype(np.float32)
        weights = np.exp(scores - maximum[..., None])
        total = weights.sum(-1)
        output = {"attention_out": (weights / total[..., None] @ x["value"]).astype(case.dtype)}
        change_output(output)
        saved = {"case": case, "softmax_max": maximum, "softmax_sum": total.astype(np.float32), "attention_in": output["attention_out"].copy()}
        change_saved(saved)
        return output, saved

    def backward(saved: dict[str, Any], gradient: Array) -> dict[str, Array]:
        case = saved["case"]
        x, scale, dy = wide(case), case.problem["scale_value"], gradient.astype(np.float64)
        maximum = saved["softmax_max"].astype(np.float64)[..., None]
        p = np.exp(scale * x["query"] @ x["key"].swapaxes(2, 3) - maximum) / saved["softmax_sum"].astype(np.float64)[..., None]
        ds = p * (dy @ x["value"].swapaxes(2, 3) - np.sum(dy * saved["attention_in"].astype(np.float64), -1, keepdims=True))
        wanted = {"dq": scale * ds @ x["key"], "dk": scale * ds.swapaxes(2, 3) @ x["query"], "dv": p.swapaxes(2, 3) @ dy}
        gradients: dict[str, Any] = {name: array.astype(case.dtype) for name, array in wanted.items()}
        change_gradients(gradients)
        return gradients

    return assay.AutogradFunction(forward, backward, **{"name": "attention", "numerics": NUMERICS, **facts})


def _listed(case: assay.Case) -> Array:
    """How often each query lists each key, for every query head: (tokens of query, heads, tokens of key)."""
    p: dict[str, Any] = dict(case.problem)
    size, blocks = p["selected_block_size"], case.inputs["topk_indices"]
    times = np.zeros((len(blocks), p["heads_kv"], sum(p["lengths_kv"])))
    first_keys = np.repeat(np.concatenate([[0], np.cumsum(p["lengths_kv"])[:-1]]), p["lengths_q"])
    for token, head, place in np.ndindex(*blocks.shape):
        first = first_keys[token] + size * blocks[token, head, place]
        times[token, head, first : first + size] += 1
    return times.repeat(p["heads_q"] // p["heads_kv"], 1)


def selected_attention(change_output: Change = unchanged, change_saved: Change = unchanged, change_gradients: Change = unchanged,
                       **facts: Any) -> assay.AutogradFunction:
    """Attention to the key blocks of lists, packed, in double, rounded once."""

    def of_heads(case: assay.Case) -> tuple[Array, Array, Array, Array]:
        x, group = wide(case), int(case.problem["heads_q"]) // int(case.problem["heads_kv"])  # type: ignore[arg-type]
        key, value = x["key"].repeat(group, 1), x["value"].repeat(group, 1)
        return x["query"], key, value, case.problem["scale_value"] * np.einsum("tnd,snd->tns", x["query"], key)

    def forward(case: assay.Case) -> tuple[dict[str, Array], dict[str, Any]]:
        _, _, value, scores = of_heads(case)
        times = _listed(case)
        maximum = np.where(times > 0, scores, -np.inf).max(-1).astype(np.float32)
        weights = times * np.exp(scores - maximum[..., None])
        total = weights.sum(-1)
        output = {"attention_out": np.einsum("tns,snd->tnd", weights / total[..., None], value).astype(case.dtype)}
        change_output(output)
        saved = {"case": case, "softmax_max": maximum, "softmax_sum": total.astype(np.float32), "attention_out": output["attention_out"].copy()}
        change_saved(saved)
        return output, saved

    def backward(saved: dict[str, Any], gradient: Array) -> dict[str, Array]:
        case, dy = saved["case"], gradient.astype(np.float64)
        query, key, value, scores = of_heads(case)
        p = _listed(case) * np.exp(scores - saved["softmax_max"].astype(np.float64)[..., None]) / saved["softmax_sum"].astype(np.float64)[..., None]
        row_term = np.sum(dy * saved["attention_out"].astype(np.float64), -1, keepdims=True)
        ds = case.problem["scale_value"] * p * (np.einsum("tnd,snd->tns", dy, value) - row_term)
        of_keys = {"dk": np.einsum("tns,tnd->snd", ds, query), "dv": np.einsum("tns,tnd->snd", p, dy)}
        heads_kv = int(case.problem["heads_kv"])  # type: ignore[arg-type]
        wanted = {name: array.reshape(len(array), heads_kv, -1, array.shape[-1]).sum(2) for name, array in of_keys.items()}
        wanted["dq"] = np.einsum("tns,snd->tnd", ds, key)
        gradients: dict[str, Any] = {name: array.astype(case.dtype) for name, array in wanted.items()}
        change_gradients(gradients)
        return gradients

    return assay.AutogradFunction(forward, backward, **{"name": "selected", "numerics": NUMERICS, **facts})


def recorded(case: assay.Case, change_saved: Change = unchanged) -> assay.AutogradFunction:
    """A function with the exact forward of a case of attention, whatever its layout, mask and bias are. Its gradients are 0."""

    def forward(_: assay.Case) -> tuple[Array, dict[str, Any]]:
        saved = {name: case.inputs[name].copy() for name in ("softmax_max", "softmax_sum", "attention_in")}
        change_saved(saved)
        return case.inputs["attention_in"].copy(), saved

    def backward(_: dict[str, Any], gradient: Array) -> dict[str, Array]:
        like = {"dq": "query", "dk": "key", "dv": "value", "dq_rope": "query_rope", "dk_rope": "key_rope", "dsink": "sink"}
        return {name: np.zeros_like(case.inputs[like[name]]) for name in case.expected}

    return assay.AutogradFunction(forward, backward, "recorded", NUMERICS)


def _windows(case: assay.Case) -> list[slice]:
    """The tokens of each window of every sequence."""
    p: dict[str, Any] = dict(case.problem)
    lengths, found, first = p["lengths"] or [p["seq"]] * p["batch"], [], 0
    for length in lengths:
        for start in range(0, length - p["compress_block_size"] + 1, p["compress_stride"]):
            found.append(slice(first + start, first + start + p["compress_block_size"]))
        first += length
    return found


def compression(change_output: Change = unchanged, change_saved: Change = unchanged, change_gradients: Change = unchanged) -> assay.AutogradFunction:
    """Weighted sums over windows, in double, rounded once."""

    def forward(case: assay.Case) -> tuple[dict[str, Array], dict[str, Any]]:
        x = wide(case)
        sums = [np.einsum("thd,th->hd", x["input"][window], x["weight"]) for window in _windows(case)]
        output = {"output": np.stack(sums).astype(case.dtype)}
        change_output(output)
        saved = {"case": case, "input": case.inputs["input"].copy(), "weight": case.inputs["weight"].copy()}
        change_saved(saved)
        return output, saved

    def backward(saved: dict[str, Any], gradient: Array) -> dict[str, Array]:
        case = saved["case"]
        tokens, weight = (saved[name].astype(np.float64) for name in ("input", "weight"))
        wanted = {"input_grad": np.zeros_like(tokens), "weight_grad": np.zeros_like(weight)}
        for window, row in zip(_windows(case), gradient.astype(np.float64)):
            wanted["input_grad"][window] += row[None] * weight[..., None]
            wanted["weight_grad"] += np.einsum("thd,hd->th", tokens[window], row)
        gradients: dict[str, Any] = {name: array.astype(case.dtype) for name, array in wanted.items()}
        change_gradients(gradients)
        return gradients

    return assay.AutogradFunction(forward, backward, name="compression", numerics=NUMERICS)


def scaled(name: str, factor: float) -> Change:
    """Multiplies one of the returned tensors."""

    def change(values: dict[str, Any]) -> None:
        values[name] = (values[name] * factor).astype(values[name].dtype)

    return change


def _outputs_of_forward(case: assay.Case) -> dict[str, Array]:
    output, saved = attention().forward(case)
    replicas = {name: np.repeat(saved[name][..., None], 8, -1) for name in ("softmax_max", "softmax_sum")}
    return {"attention_out": output["attention_out"], **replicas}  # type: ignore[index, call-overload]


@assay.implementation(name="served", numerics=NUMERICS)
def served_forward(case: assay.Case) -> dict[str, Array]:
    return _outputs_of_forward(case)


@assay.implementation(name="served_wrongly", numerics=NUMERICS)
def served_forward_with_a_wrong_sum(case: assay.Case) -> dict[str, Array]:
    outputs = _outputs_of_forward(case)
    outputs["softmax_sum"] = outputs["softmax_sum"] * np.float32(1.02)
    return outputs
