"""Judges forward and backward of Triton kernels together, in Triton's interpreter."""

from __future__ import annotations

import os

import pytest

import assay
from assay.adapters import fla, flash_attn
from judged import bound_line, judged_autograd
from lines import aligned_lines, causal_lines

CASES = int(os.environ.get("ASSAY_KERNEL_CASES", "70")) // 7  # each case is judged four times


@pytest.mark.parametrize("dtype", ("fp32", "fp16"))
def test_flash_linear_attention_conforms(dtype: str) -> None:
    reports = judged_autograd(fla.attention_function, dtype, list(map(bound_line, causal_lines(dtype, CASES))))
    assert all(report.conforms for report in reports)


def _multiplies_infinity(report: assay.AutogradReport) -> bool:
    """Returns whether the last block of keys of an unmasked call has padding, and the scale is negative."""
    words = dict(word.removeprefix("--").partition("=")[::2] for word in report.command.split())
    lengths = [int(length) for length in words.get("lengths_kv", words.get("seq_kv", "64")).split(",")]
    return float(words.get("scale_value", 1)) < 0 and "sparse_mode" not in words and any(length % 32 for length in lengths)


@pytest.mark.parametrize("dtype", ("fp32", "fp16"))
def test_the_forward_of_flash_attn_multiplies_minus_infinity_by_the_scale(dtype: str) -> None:
    """The kernel sets the scores of padding keys to -infinity, and multiplies them by the scale afterwards. With a negative
    scale they become +infinity. In fp16 the backward reads the padding, too (docs/frameworks.md)."""
    reports = judged_autograd(flash_attn.attention_function, dtype, list(map(bound_line, aligned_lines(dtype, CASES))))
    wrong = [report for report in reports if "forward" in report.wrong]
    assert wrong and wrong == [report for report in reports if _multiplies_infinity(report)]
    for report in wrong:
        assert report.wrong == ("forward", "saved") and report.not_conclusive == ("backward",), report.summary()
    assert {report.wrong for report in reports if report not in wrong} <= ({()} if dtype == "fp32" else {(), ("backward",)})
