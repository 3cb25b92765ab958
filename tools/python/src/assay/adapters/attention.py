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
class Attention:
    """One dense problem; key and value may have fewer heads than query."""

    query: Array  # (batch, heads_q, seq_q, dim)
    key: Array  # (batch, heads_kv, seq_kv, dim)
    value: Array  # (batch, heads_kv, seq_kv, dim_v)
    dy: Array  # (batch, heads_q, seq_q, dim_v)
    attention_in: Array  # same shape as dy
    softmax_max: Array  # (batch, heads_q, seq_q)
    softmax_sum: Array
    keep: Array | None  # boolean (batch or 1, heads_q or 1, seq_q, seq_kv); None: every query attends to every key
    scale: float

    @property
    def group(self) -> int:
        """The number of query heads that share a key head."""
        return int(self.query.shape[1] // self.key.shape[1])


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
        return "dropout with a given mask: frameworks draw their own mask"
    if p["head_dim_rope"] != 0:
        return "rope tensors in addition to query and key"
    if p["pse_shift"] != "none":
        return f"position bias of type {p['pse_type']} and shape {p['pse_shift']}"
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
    p: dict[str, Any] = dict(case.problem)
    return _packed(case, p) if p["layout"] == "TND" else [_padded(case, p)]


def _padded(case: Case, p: dict[str, Any]) -> Attention:
    x, layout = case.inputs, str(p["layout"])
    masks = [keep_of(case, b, p["seq_q"], p["seq_kv"]) for b in range(p["batch"])]
    kept = [mask for mask in masks if mask is not None]
    return Attention(
        query=_heads(x["query"], layout, p["heads_q"]),
        key=_heads(x["key"], layout, p["heads_kv"]),
        value=_heads(x["value"], layout, p["heads_kv"]),
        dy=_heads(x["dy"], layout, p["heads_q"]),
        attention_in=_heads(x["attention_in"], layout, p["heads_q"]),
        softmax_max=x["softmax_max"][..., 0],
        softmax_sum=x["softmax_sum"][..., 0],
        keep=np.concatenate(kept) if kept else None,
        scale=p["scale_value"],
    )


def _packed(case: Case, p: dict[str, Any]) -> list[Attention]:
    def rows(name: str, first: int, length: int) -> Array:
        return np.swapaxes(case.inputs[name][first : first + length], 0, 1)[None]

    def statistics(name: str, first: int, length: int) -> Array:
        tensor = case.inputs[name]
        if p["statistics_order"] == "tokens_first":
            return rows(name, first, length)[..., 0]
        heads = tensor.shape[1]
        packed = tensor.reshape(-1, 8)[heads * first : heads * (first + length)]
        return packed.reshape(1, heads, length, 8)[..., 0]

    problems, first_q, first_kv = [], 0, 0
    for b, (length_q, length_kv) in enumerate(zip(lengths_of(p, "q"), lengths_of(p, "kv"))):
        problems.append(
            Attention(
                query=rows("query", first_q, length_q),
                key=rows("key", first_kv, length_kv),
                value=rows("value", first_kv, length_kv),
                dy=rows("dy", first_q, length_q),
                attention_in=rows("attention_in", first_q, length_q),
                softmax_max=statistics("softmax_max", first_q, length_q),
                softmax_sum=statistics("softmax_sum", first_q, length_q),
                keep=keep_of(case, b, length_q, length_kv),
                scale=p["scale_value"],
            )
        )
        first_q, first_kv = first_q + length_q, first_kv + length_kv
    return problems


def outputs_of(case: Case, gradients: Sequence[Gradients]) -> dict[str, Array]:
    """Combines the gradients of `attentions_of(case)` to the outputs of the case."""
    layout = str(case.problem["layout"])
    outputs = {}
    for name, parts in zip(Gradients._fields, zip(*gradients)):
        if layout == "TND":
            outputs[name] = np.concatenate([np.swapaxes(part[0], 0, 1) for part in parts])
        else:
            outputs[name] = _in_layout(parts[0], layout)
    return outputs


def zeros(problem: Attention) -> Gradients:
    """Returns the gradients (zeros) of a problem without queries or without keys."""
    return Gradients(np.zeros_like(problem.query), np.zeros_like(problem.key), np.zeros_like(problem.value))
