"""Verdicts on stored outputs that once were wrong."""

import subprocess
from pathlib import Path

import numpy as np

import assay
from assay.program import find_program

SINK = ["flash_attention_score_grad", "--entry_point=g3", "--sink=N", "--heads_q=8", "--heads_kv=8", "--seq_q=9", "--seq_kv=9"]
PACKED = "flash_attention_score_grad --layout=TND --entry_point=u1 --dtype=fp16 --heads_q=3 --heads_kv=3 --lengths_q=9,14 --lengths_kv=21,17"


def test_the_gradient_of_eight_sinks_is_not_taken_for_replicas_of_one(tmp_path: Path) -> None:
    file = tmp_path / "case.h5"
    subprocess.run([find_program(), "export", file, "--implementation=optimized-a2", *SINK], check=True, capture_output=True)
    checked = subprocess.run([find_program(), "check", file], check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@assay.implementation(name="threes", numerics="fp32_staging,stats=own")
def threes(case: assay.Case) -> dict[str, np.ndarray]:
    like = {"dq": "query", "dk": "key", "dv": "value"}
    return {name: np.full_like(case.inputs[own], 3) for name, own in like.items()}


def test_statistics_that_fit_no_other_order_excuse_nothing() -> None:
    report = assay.judge(threes, PACKED)[0]
    assert report.verdict.startswith("nonconformant"), report
