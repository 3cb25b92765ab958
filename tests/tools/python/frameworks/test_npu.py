"""The adapter of torch_npu.npu_fusion_attention with a stand-in of its documented signature. No Ascend device is used."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import pytest
import torch

import assay
from judged import judged
from lines import lines

MOST = 2147483647
CASES = 40


def _heads_first(tensor: Any, layout: str, heads: int) -> Any:
    """(batch, heads, seq, dim)."""
    if layout in ("BSH", "SBH"):
        tensor = tensor.reshape(*tensor.shape[:2], heads, -1)
    return tensor.permute({"SBH": (1, 2, 0, 3), "BNSD": (0, 1, 2, 3)}.get(layout, (0, 2, 1, 3)))


def _in_layout(tensor: Any, layout: str) -> Any:
    order = {"SBH": (2, 0, 1, 3), "BNSD": (0, 1, 2, 3)}.get(layout, (0, 2, 1, 3))
    tensor = tensor.permute(order)
    return tensor.reshape(*tensor.shape[:2], -1) if layout in ("BSH", "SBH") else tensor


def _excluded(mask: Any, mode: int, seq_q: int, seq_kv: int, before: int, after: int) -> Any:
    """The pairs that the documentation masks in the modes of this test."""
    if mask is None:
        return torch.zeros(seq_q, seq_kv, dtype=torch.bool)
    if mode == 1:
        return mask
    assert mask.shape == (2048, 2048) and bool(mask[0, 1]) and not bool(mask[1, 0])
    ahead = torch.arange(seq_kv) - torch.arange(seq_q)[:, None]
    if mode == 2:
        return ahead > 0
    ahead = ahead - (seq_kv - seq_q)
    return ahead > 0 if mode == 3 else (ahead > after) | (ahead < -before)


def _attention(query: Any, key: Any, value: Any, excluded: Any, scale: float, dead_rows: bool) -> Any:
    group = query.shape[1] // key.shape[1]
    key, value = (x.float().repeat_interleave(group, dim=1) for x in (key, value))
    scores = (scale * query.float() @ key.transpose(2, 3)).masked_fill(excluded, torch.finfo(torch.float32).min)
    p = torch.softmax(scores, dim=-1)
    if dead_rows:
        p = p.masked_fill(excluded.all(-1, keepdim=True), 0)
    return (p @ value).to(query.dtype)


def npu_fusion_attention(
    query: Any, key: Any, value: Any, head_num: int, input_layout: str, pse: Any = None, padding_mask: Any = None,
    atten_mask: Any = None, scale: float = 1.0, keep_prob: float = 1.0, pre_tockens: int = MOST, next_tockens: int = MOST,
    inner_precise: int = 0, prefix: Any = None, actual_seq_qlen: Any = None, actual_seq_kvlen: Any = None,
    sparse_mode: int = 0, gen_mask_parallel: bool = True, sync: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The documented signature and formula, in fp32."""
    assert pse is None and padding_mask is None and keep_prob == 1 and prefix is None
    dead_rows = inner_precise == 2 or sparse_mode in (3, 4)

    def one(q: Any, k: Any, v: Any) -> Any:
        excluded = _excluded(atten_mask, sparse_mode, q.shape[2], k.shape[2], pre_tockens, next_tockens)
        return _attention(q, k, v, excluded[..., : q.shape[2], : k.shape[2]], scale, dead_rows)

    if input_layout == "TND":
        assert actual_seq_qlen[-1] == len(query) and actual_seq_kvlen[-1] == len(key)
        begins = [0, *actual_seq_qlen], [0, *actual_seq_kvlen]
        parts = []
        for q0, q1, k0, k1 in zip(begins[0], actual_seq_qlen, begins[1], actual_seq_kvlen):
            sequence = (x[a:b].transpose(0, 1)[None] for x, a, b in ((query, q0, q1), (key, k0, k1), (value, k0, k1)))
            parts.append(one(*sequence)[0].transpose(0, 1))
        out = torch.cat(parts)
    else:
        group = query.shape[-1] // key.shape[-1] if input_layout in ("BSH", "SBH") else 1
        heads = (head_num, head_num // group, head_num // group)
        tensors = [_heads_first(x, input_layout, n) for x, n in zip((query, key, value), heads)]
        out = _in_layout(one(*tensors), input_layout)
    return out, None, None, None, 0, 0, 0


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("torch_npu")
    module.npu_fusion_attention = npu_fusion_attention  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_npu", module)
    sys.modules.pop("assay.adapters.npu", None)
    return importlib.import_module("assay.adapters.npu")


def _ordinary(dtype: str) -> list[str]:
    """Exact cases depend on how a device rounds ties. The stand-in does not model this."""
    return [line for line in lines(dtype, 2 * CASES) if "--track=bound" in line][:CASES]


@pytest.mark.parametrize("dtype", ("fp32", "bf16", "fp16"))
def test_the_documented_computation_conforms(stand_in: Any, dtype: str) -> None:
    assert not judged(stand_in.attention, dtype, _ordinary(dtype)).failures


DEAD_ROWS = (
    "flash_attention_score_grad --dtype=fp32 --seq_q=16 --seq_kv=16 --sparse_mode=1 --atten_mask=SS --mask=dead_rows"
)
WRONG = {
    "pre_tockens": lambda given: given + 1,
    "scale": lambda given: -given,
    "inner_precise": lambda given: 0,
    "actual_seq_qlen": lambda given: given and [given[0] + 1, *given[1:]],
    "sparse_mode": lambda given: {2: 3, 3: 2}.get(given, given),
}


@pytest.mark.parametrize("argument", WRONG)
def test_each_argument_matters(stand_in: Any, argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*tensors: Any, **words: Any) -> Any:
        return npu_fusion_attention(*tensors, **{**words, argument: WRONG[argument](words[argument])})

    monkeypatch.setattr(stand_in.torch_npu, "npu_fusion_attention", mistaken)
    verdicts = assay.judge(stand_in.attention, [*_ordinary("fp32")[:25], DEAD_ROWS]).verdicts
    assert any(verdict.startswith("nonconformant") for verdict in verdicts) and "crash" not in verdicts
