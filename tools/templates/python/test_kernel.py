"""Judges the kernel on a few cases: python3 -m pytest"""

import assay
import pytest
from kernel import kernel

CASES = [
    "flash_attention_score_grad --dtype=fp32 --seq_q=5 --seq_kv=7",
    "flash_attention_score_grad --dtype=bf16 --batch=2 --heads_q=4 --heads_kv=2 --seq_q=33 --seq_kv=65 --scale_value=0.125",
    "flash_attention_score_grad --dtype=fp16 --layout=BSND --seq_q=64 --seq_kv=64 --scale_value=0.125",
]


@pytest.mark.assay(cases=CASES)
def test_kernel(assay_case):
    assay.assert_conforms(kernel, assay_case)
