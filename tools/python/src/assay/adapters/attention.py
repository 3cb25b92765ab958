"""FlashAttentionScoreGrad in the form that frameworks use: (batch, heads, seq, dim), a boolean mask, a scale.

The sparse modes, which say to which keys a query attends, are implemented here from the documents, because frameworks do not have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.cases import Case
from assay.dtypes import Array

OPERATOR = "flash_attention_score_grad"


@dataclass(frozen=True)
class ForwardAttention:
    """One dense problem of a forward; key and value may have fewer heads than query."""

    query: Array  # (batch, heads_q, seq_q, dim)
    key: Array  # (batch, heads_kv, seq_kv, dim)
    value: Array  # (batch, heads_kv, seq_kv, dim_v)
    keep: Array | None  # boolean (batch or 1, heads_q or 1, seq_q, seq_kv); None: every query attends to every key
    scale: float

    @property
    def group(self) -> int:
        """The number of query heads that share a key head."""
        return int(self.query.shape[1] // self.key.shape[1])


@dataclass(frozen=True)
class Attention(ForwardAttention):
    """One dense problem of a gradient."""

    dy: Array  # (batch, heads_q, seq_q, dim_v)
    attention_in: Array  # same shape as dy
    softmax_max: Array  # (batch, heads_q, seq_q)
    softmax_sum: Array


class Gradients(NamedTuple):
    """The gradients of one Attention, in its shapes."""

    dq: Array
    dk: Array
    dv: Array


def not_offered(case: Case) -> str | None:
    """Returns why no framework's attention function supports the case; None if one may."""
    if case.operator != OPERATOR:
        return f"the operator {case.operator}"
    p: dict[str, Any] = dict(case.problem)
    if p["keep_prob"] != 1.0:
        return "dropout with a given mask: frameworks generate their own random mask"
    if p["head_dim_rope"] != 0:
        return "rope tensors in addition to query and key"
    if p["pse_shift"] != "none":
        return f"position bias of type {p['pse_type']} and shape {p['pse_shift']}"
    if p["sink"] != "none":
        return "a sink"
    if case.part is not None:
        return f"the part {case.part} of the keys or queries"
    return None


def _heads(array: Array, layout: str, heads: int) -> Array:
    """Transposes a padded tensor to (batch, heads, seq, dim)."""
    if layout in ("BSH", "SBH"):
        array = array.reshape(*array.shape[:2], heads, array.shape[2] // heads if heads else 0)
    axes = {"BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3), "BSND": (0, 2, 1, 3), "BNSD": (0, 1, 2, 3)}[layout]
    return np.transpose(array, axes)


def _in_layout(array: Array, layout: str) -> Array:
    """The inverse of `_heads`."""
    batch, heads, seq, dim = array.shape
    if layout == "SBH":
        return np.transpose(array, (2, 0, 1, 3)).reshape(seq, batch, heads * dim)
    if layout == "BNSD":
        return array
    rows = np.transpose(array, (0, 2, 1, 3))
    return rows if layout == "BSND" else rows.reshape(batch, seq, heads * dim)


def lengths_of(p: dict[str, Any], side: str) -> list[int]:
    """Returns the length of every sequence of queries (side "q") or keys ("kv")."""
    return p[f"lengths_{side}"] or [p[f"seq_{side}"]] * p["batch"]


def _user_mask(case: Case, b: int, seq_q: int, seq_kv: int) -> Array:
    mask = case.inputs["atten_mask"].astype(bool)
    if mask.ndim == 2:
        mask = mask[None, None]
    excluded: Array = mask[b if mask.shape[0] > 1 else 0][None, :, :seq_q, :seq_kv]
    return ~excluded


def _band_sequence(mode: int, lengths_q: Sequence[int]) -> int:
    """Returns the sequence to which the window of modes 7 and 8 belongs."""
    filled = [b for b, length in enumerate(lengths_q) if length]
    return (filled[-1] if mode == 7 else filled[0]) if filled else 0


def keep_of(case: Case, b: int, seq_q: int, seq_kv: int) -> Array | None:
    """Returns which keys the queries of sequence b attend to: booleans (1, heads or 1, seq_q, seq_kv); None: all."""
    p: dict[str, Any] = dict(case.problem)
    if p["atten_mask"] == "none":
        return None
    mode = int(p["sparse_mode"])
    if mode in (0, 1, 5):
        return _user_mask(case, b, seq_q, seq_kv)
    if mode in (7, 8):
        in_band = b == _band_sequence(mode, lengths_of(p, "q"))
        mode = 4 if in_band else (3 if mode == 7 else 2)
    i, j = np.arange(seq_q)[:, None], np.arange(seq_kv)[None, :]
    diagonal = i if mode == 2 else i + (seq_kv - seq_q)
    if mode == 4:
        kept = (j >= diagonal - p["pre_tokens"]) & (j <= diagonal + p["next_tokens"])
    else:
        kept = j <= diagonal
    if mode == 6:
        kept = kept | (j < p["prefix"][b])
    return np.asarray(kept[None, None])


def attentions_of(case: Case) -> list[Attention]:
    """Returns the case as dense problems: one, or for packed sequences one for each sequence."""
    outputs = (outputs_by_problem(case, case.inputs[name]) for name in ("dy", "attention_in"))
    statistics = (_statistics_by_problem(case, case.inputs[name]) for name in ("softmax_max", "softmax_sum"))
    return [
        Attention(**vars(problem), dy=dy, attention_in=out, softmax_max=maximum, softmax_sum=total)
        for problem, dy, out, maximum, total in zip(forwards_of(case), *outputs, *statistics)
    ]


def forwards_of(case: Case) -> list[ForwardAttention]:
    """Returns the problems of `attentions_of` as far as a forward reads them."""
    p: dict[str, Any] = dict(case.problem)
    return _packed(case, p) if p["layout"] == "TND" else [_padded(case, p)]


def _rows(array: Array, first: int, length: int) -> Array:
    return np.swapaxes(array[first : first + length], 0, 1)[None]


def _sequences(case: Case) -> list[tuple[int, int]]:
    """First query and number of queries of each packed sequence."""
    lengths = lengths_of(dict(case.problem), "q")
    return [(sum(lengths[:b]), length) for b, length in enumerate(lengths)]


def outputs_by_problem(case: Case, array: Array) -> list[Array]:
    """Splits an array of the shape of the output into arrays (batch, heads_q, seq_q, dim_v) of `forwards_of(case)`."""
    p: dict[str, Any] = dict(case.problem)
    if p["layout"] == "TND":
        return [_rows(array, *sequence) for sequence in _sequences(case)]
    return [_heads(array, str(p["layout"]), p["heads_q"])]


def _statistics_by_problem(case: Case, tensor: Array) -> list[Array]:
    if case.problem["layout"] != "TND":
        return [tensor[..., 0]]
    if case.problem["statistics_order"] == "tokens_first":
        return [_rows(tensor, *sequence)[..., 0] for sequence in _sequences(case)]
    heads, rows = tensor.shape[1], tensor.reshape(-1, 8)
    return [rows[heads * first : heads * (first + length)].reshape(1, heads, length, 8)[..., 0] for first, length in _sequences(case)]


def _padded(case: Case, p: dict[str, Any]) -> ForwardAttention:
    x, layout = case.inputs, str(p["layout"])
    masks = [keep_of(case, b, p["seq_q"], p["seq_kv"]) for b in range(p["batch"])]
    kept = [mask for mask in masks if mask is not None]
    return ForwardAttention(
        query=_heads(x["query"], layout, p["heads_q"]),
        key=_heads(x["key"], layout, p["heads_kv"]),
        value=_heads(x["value"], layout, p["heads_kv"]),
        keep=np.concatenate(kept) if kept else None,
        scale=p["scale_value"],
    )


def _packed(case: Case, p: dict[str, Any]) -> list[ForwardAttention]:
    problems, first_q, first_kv = [], 0, 0
    for b, (length_q, length_kv) in enumerate(zip(lengths_of(p, "q"), lengths_of(p, "kv"))):
        problems.append(
            ForwardAttention(
                query=_rows(case.inputs["query"], first_q, length_q),
                key=_rows(case.inputs["key"], first_kv, length_kv),
                value=_rows(case.inputs["value"], first_kv, length_kv),
                keep=keep_of(case, b, length_q, length_kv),
                scale=p["scale_value"],
            )
        )
        first_q, first_kv = first_q + length_q, first_kv + length_kv
    return problems


def output_of(case: Case, parts: Sequence[Array]) -> Array:
    """Combines arrays (batch, heads_q, seq_q, dim_v) of `forwards_of(case)` to the output of the case."""
    layout = str(case.problem["layout"])
    if layout != "TND":
        return _in_layout(parts[0], layout)
    return np.concatenate([np.swapaxes(part[0], 0, 1) for part in parts])


def statistics_of(case: Case, parts: Sequence[Array]) -> Array:
    """Combines arrays (batch, heads_q, seq_q) of `forwards_of(case)` to a statistic of the case, without replicas."""
    if case.problem["layout"] != "TND":
        return parts[0]
    if case.problem["statistics_order"] == "tokens_first":
        return np.concatenate([np.swapaxes(part[0], 0, 1) for part in parts])
    return np.concatenate([part.ravel() for part in parts]).reshape(-1, parts[0].shape[1])


def outputs_of(case: Case, gradients: Sequence[Gradients]) -> dict[str, Array]:
    """Combines the gradients of `attentions_of(case)` to the outputs of the case."""
    return {name: output_of(case, parts) for name, parts in zip(Gradients._fields, zip(*gradients))}


def zeros(problem: Attention) -> Gradients:
    """Returns the gradients (zeros) of a problem without queries or without keys."""
    return Gradients(np.zeros_like(problem.query), np.zeros_like(problem.key), np.zeros_like(problem.value))
