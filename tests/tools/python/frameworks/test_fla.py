"""The Triton kernels of flash-linear-attention in Triton's interpreter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.adapters import fla as adapter
from assay.dtypes import Array
from interpreter import repair_casts, repair_elements, repair_products
from judged import judged_kernel
from lines import causal_lines, selected_lines

CASES = int(os.environ.get("ASSAY_KERNEL_CASES", "70"))  # the interpreter takes seconds for each
FEW = max(CASES // 7, 3)


@pytest.mark.parametrize("dtype", ("fp32", "fp16"))
def test_attention_conforms(dtype: str) -> None:
    assert not judged_kernel(adapter.attention, dtype, causal_lines(dtype, CASES)).failures


class _Remembering:
    """The kernel's outputs, computed once for each case and judged under several declarations."""

    def __init__(self) -> None:
        self.outputs: dict[str, Mapping[str, Array]] = {}

    def __call__(self, case: assay.Case) -> Mapping[str, Array]:
        if case.command not in self.outputs:
            self.outputs[case.command] = adapter.selected(case)
        return self.outputs[case.command]


def test_selected_blocks_conform_where_the_scaling_of_q_is_declared() -> None:
    """The kernels multiply q by the scale and round it to the type of the tensors. If they declare this, it is not an
    error. Otherwise ordinary cases fail, unless the scale is a power of two, which rounds nothing."""
    function = _Remembering()
    declared = replace(adapter.selected, function=function)
    lines = selected_lines("fp16", CASES)
    assert not judged_kernel(declared, "fp16", lines).failures
    assert "operand_scaled=true" in declared.numerics
    silent = replace(declared, numerics=declared.numerics.replace(",operand_scaled=true", ""))
    failing = assay.judge(silent, [line for line in lines if "--track=bound" in line]).failures
    print(f"\nwithout operand_scaled: {len(failing)} cases fail")
    assert failing
    assert all("--scale_value" in report.command for report in failing)  # 0.0625 is the default


def test_in_bf16_the_interpreter_is_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter multiplies bit patterns as integers and truncates in casts. The multiplication makes every result
    wrong. If it is repaired, truncation remains, which conforms if the kernel declares it. If both are repaired, the
    kernels conform."""
    lines = causal_lines("bf16", CASES)
    assert len(judged_kernel(adapter.attention, "bf16", lines[:FEW]).failures) == FEW
    repair_products(monkeypatch)
    assert judged_kernel(adapter.attention, "bf16", lines[:FEW]).failures
    cutting = replace(adapter.attention, numerics="cuda_flash,round_stage=rtz,round_out=rtz")
    assert not judged_kernel(cutting, "bf16", lines[:FEW]).failures
    repair_casts(monkeypatch)
    assert not judged_kernel(adapter.attention, "bf16", lines).failures


def test_selected_blocks_in_bf16_meet_a_third_fault_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel multiplies q by the scale, element by element. Here, too, the interpreter multiplies the bit
    patterns."""
    lines = selected_lines("bf16", CASES)
    assert len(judged_kernel(adapter.selected, "bf16", lines[:3]).failures) == 3
    repair_products(monkeypatch)
    repair_casts(monkeypatch)
    assert len(judged_kernel(adapter.selected, "bf16", lines[:3]).failures) == 3
    repair_elements(monkeypatch)
    assert not judged_kernel(adapter.selected, "bf16", lines).failures


@pytest.mark.parametrize(
    "words, reason",
    (
        ("--seq_q=8 --seq_kv=16 --sparse_mode=3 --atten_mask=compressed", "as many keys as queries"),
        ("--seq_q=8 --seq_kv=8", "a mask that is not causal"),
        ("--seq_q=8 --seq_kv=8 --sparse_mode=4 --atten_mask=compressed --pre_tokens=2 --next_tokens=1", "a mask that is not causal"),
    ),
)
def test_calls_that_attention_does_not_offer_are_not_judged(words: str, reason: str) -> None:
    report = assay.judge(adapter.attention, f"flash_attention_score_grad --dtype=fp32 {words}")[0]
    assert report.verdict == "not_applicable" and reason in report.evidence


@pytest.mark.parametrize(
    "words, reason",
    (
        ("--heads_q=4 --seq_q=32 --seq_kv=32 --sparse_mode=2 --atten_mask=compressed", "groups of 4 heads"),
        ("--heads_q=16 --seq_q=16 --seq_kv=32 --sparse_mode=2 --atten_mask=compressed", "as many keys as queries"),
        ("--heads_q=16 --seq_q=32 --seq_kv=32", "keys after the query's position"),
        ("--heads_q=16 --seq_q=48 --seq_kv=48 --selected_block_size=48 --selected_block_count=1 --sparse_mode=2 --atten_mask=compressed", "blocks of 48 keys"),
    ),
)
def test_calls_that_selected_does_not_offer_are_not_judged(words: str, reason: str) -> None:
    report = assay.judge(adapter.selected, f"nsa_selected_attention_grad --dtype=fp16 {words}")[0]
    assert report.verdict == "not_applicable" and reason in report.evidence


def test_a_window_that_is_one_key_wider_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (
        "flash_attention_score_grad --dtype=fp32 --seq_q=20 --seq_kv=20 --sparse_mode=4 --atten_mask=compressed"
        " --pre_tokens=2 --next_tokens=0"
    )
    assert assay.judge(adapter.attention, line).conforms
    kernels = adapter.attention_kernels()
    kernel = kernels.parallel_attn_bwd

    def wider(*, window_size: int, **words: Any) -> Any:
        return kernel(window_size=window_size + 1, **words)

    monkeypatch.setattr(kernels, "parallel_attn_bwd", wider)
    assert assay.judge(adapter.attention, line).failures
