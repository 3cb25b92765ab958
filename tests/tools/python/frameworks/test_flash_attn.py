"""FlashAttention's Triton kernels in Triton's interpreter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.adapters import flash_attn as adapter
from assay.adapters.attention import Attention, Gradients, attentions_of, outputs_of
from assay.judging import export_lines
from interpreter import repair_casts, repair_elements, repair_products
from judged import judged_kernel
from lines import aligned_lines

CASES = int(os.environ.get("ASSAY_KERNEL_CASES", "70"))


def test_attention_conforms_in_fp32() -> None:
    assert not judged_kernel(adapter.attention, "fp32", aligned_lines("fp32", CASES)).failures


def _not_finite(problem: Attention) -> Gradients:
    """Returns where the model expects numbers that are not finite: the queries for which dS at a padding key exceeds
    fp16. Score and dP of a padding key are 0."""
    statistics = problem.softmax_max + np.log(problem.softmax_sum.astype(np.float64))
    row_term = np.sum(problem.dy.astype(np.float64) * problem.attention_in, axis=-1)
    rows = np.exp(-statistics) * np.abs(row_term) >= 65520
    gradients = Gradients(*(np.zeros(x.shape, bool) for x in (problem.query, problem.key, problem.value)))
    gradients.dq[rows] = True
    return gradients


def test_attention_in_fp16_computes_with_keys_after_the_last_one(tmp_path: Path) -> None:
    """If the call has no mask, the kernel does not mask the padding keys in the last block of 32 keys. The padding keys
    are 0, so that their dS should have no effect. But the kernel rounds dS to fp16: infinity times 0 gives NaN in dq of
    exactly these rows."""
    failures = judged_kernel(adapter.attention, "fp16", aligned_lines("fp16", CASES)).failures
    for report in failures:
        case = export_lines(tmp_path / f"{report.id}.h5", [report.command], adapter.attention.numerics)[0]
        problems = attentions_of(case)
        assert all(problem.keep is None and problem.key.shape[2] % 32 for problem in problems)
        modelled = outputs_of(case, [_not_finite(problem) for problem in problems])
        for name, output in adapter.attention(case).items():
            assert np.array_equal(~np.isfinite(output.astype(np.float32)), modelled[name])
    print(f"\nkeys after the last one: {len(failures)} cases fail")


def test_attention_in_bf16_conforms_where_the_interpreter_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = aligned_lines("bf16", CASES)
    assert len(judged_kernel(adapter.attention, "bf16", lines[:3]).failures) == 3
    repair_products(monkeypatch)
    repair_casts(monkeypatch)
    repair_elements(monkeypatch)
    assert not judged_kernel(adapter.attention, "bf16", lines).failures


@pytest.mark.parametrize(
    "words, reason",
    (
        ("--seq_q=8 --seq_kv=16 --sparse_mode=2 --atten_mask=compressed", "a mask that is not causal"),
        ("--seq_q=8 --seq_kv=8 --sparse_mode=4 --atten_mask=compressed --pre_tokens=2 --next_tokens=1", "a mask that is not causal"),
        ("--seq_q=8 --seq_kv=8 --head_dim=32 --head_dim_v=16", "values of another size"),
    ),
)
def test_calls_that_are_not_offered_are_not_judged(words: str, reason: str) -> None:
    report = assay.judge(adapter.attention, f"flash_attention_score_grad --dtype=fp32 {words}")[0]
    assert report.verdict == "not_applicable" and reason in report.evidence


def test_a_mask_that_is_forgotten_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "flash_attention_score_grad --dtype=fp32 --seq_q=20 --seq_kv=33 --sparse_mode=3 --atten_mask=compressed"
    assert assay.judge(adapter.attention, line).conforms
    kernels = adapter.kernels()
    kernel = kernels.attention_prefill_backward_triton_split_impl

    def without_mask(*, causal: bool, **words: Any) -> Any:
        return kernel(causal=not causal, **words)

    monkeypatch.setattr(kernels, "attention_prefill_backward_triton_split_impl", without_mask)
    assert assay.judge(adapter.attention, line).failures
