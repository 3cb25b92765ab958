"""Tests without a GPU of on_device.py, judge_kept.py, traced.py and the adapters for NVIDIA's devices."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.adapters import torch_cuda
from assay.adapters.attention import attentions_of
from assay.dtypes import Array
from assay.judging import export_lines

HERE = Path(__file__).resolve().parent
LINE = "flash_attention_score_grad --dtype={} --heads_q=4 --heads_kv=2 --seq_q=9 --seq_kv={} --head_dim=33 --head_dim_v=33"
CAUSAL = " --sparse_mode=2 --atten_mask=compressed"


def run(program: str, *words: str) -> str:
    command = [sys.executable, str(HERE / program), *words]
    made = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_saved_outputs_can_be_judged_again(tmp_path: Path) -> None:
    words = ("--device=cpu", "--only=^torch.math.bf16", "--seconds=3", "--keep")
    assert "torch.math.bf16 lines" in run("on_device.py", str(tmp_path), *words).splitlines()[-1]
    file = tmp_path / "torch.math.bf16.lines.npz"
    printed = [json.loads(line) for line in file.with_suffix(".jsonl").read_text().splitlines()]
    assert printed and all(t["verdict"].startswith("conforms") for t in printed)
    right, wrong = run("judge_kept.py", str(file), "--numerics", "torch_fp32", "cuda_flash,round_out=rtz").splitlines()
    assert right.startswith("torch_fp32: ") and "nonconformant" not in right and "nonconformant" in wrong
    assert "nonconformant" in run("on_device.py", str(tmp_path / "wrong"), *words, "--numerics=cuda_flash,round_out=rtz")
    unstaged, staged = run("judge_kept.py", str(file), "--steps", "", "staged").splitlines()
    shares = [[float(x) for x in text.split("[")[1].split("]")[0].split()] for text in (unstaged, staged)]
    assert shares[0][2] > 0.98 > shares[1][2], (unstaged, staged)  # dv: P is not rounded


@pytest.mark.parametrize("kernel", (torch_cuda.flash, torch_cuda.efficient, torch_cuda.cudnn), ids=lambda k: k.name)
@pytest.mark.parametrize("mask", ("", CAUSAL))
def test_tensors_lie_on_the_device_and_outputs_have_the_shapes_of_inputs(
    kernel: assay.Implementation, mask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = export_lines(tmp_path / "case.h5", [LINE.format("bf16", 9) + mask])[0]
    monkeypatch.setattr(torch_cuda, "to_numpy", lambda tensor, dtype: np.zeros(tuple(tensor.shape), dtype))
    on_meta = kernel.on("meta")
    assert on_meta.unsupported(case) is None
    outputs = on_meta(case)
    assert {name: x.shape for name, x in outputs.items()} == {
        "dq": case.inputs["query"].shape, "dk": case.inputs["key"].shape, "dv": case.inputs["value"].shape
    }  # fmt: skip


@pytest.mark.parametrize(
    "kernel, dtype, words, reason",
    (
        (torch_cuda.flash, "fp32", "", "tensors of fp32"),
        (torch_cuda.flash, "bf16", " --sparse_mode=3 --atten_mask=compressed", "a mask other than the causal mask"),
        (torch_cuda.cudnn, "fp32", "", "tensors of fp32"),
        (torch_cuda.efficient, "bf16", " --head_dim_v=16", "value and query with different head sizes"),
        (torch_cuda.flex, "bf16", " --head_dim=8 --head_dim_v=8", "a head size of 8"),
    ),
)
def test_unsupported_cases_give_a_reason(
    kernel: assay.Implementation, dtype: str, words: str, reason: str, tmp_path: Path
) -> None:
    line = LINE.format(dtype, 11)
    for word in words.split():
        line = " ".join(x for x in line.split() if not x.startswith(word.partition("=")[0] + "="))
    case = export_lines(tmp_path / "case.h5", [line + words])[0]
    assert reason in (kernel.on("meta").unsupported(case) or "")
    assert "the CPU" in (kernel.unsupported(case) or "") or dtype == "fp32"


def test_the_bias_hides_what_the_mask_hides_in_aligned_rows(tmp_path: Path) -> None:
    case = export_lines(tmp_path / "case.h5", [LINE.format("fp16", 11) + CAUSAL])[0]
    problem = attentions_of(case)[0]
    bias = torch_cuda._bias(problem)
    assert bias.shape == (1, 4, 9, 11) and bias.stride(-2) % 16 == 0 and bias.dtype == torch.float16
    hidden: Array = np.broadcast_to(~problem.keep, bias.shape) if problem.keep is not None else np.zeros(1)
    assert np.array_equal(np.isneginf(bias.numpy()), hidden)
    assert bool((bias[~torch.from_numpy(hidden.copy())] == 0).all())


def test_a_negative_scale_moves_to_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    sys.path.insert(0, str(HERE))
    from traced import _without_negative_scale

    def kernel(problem: Any) -> tuple[Any, ...]:
        assert problem.scale >= 0
        return (torch.ones(1), torch.tensor([problem.query[0]]), torch.tensor([problem.scale]))

    from types import SimpleNamespace

    changed = _without_negative_scale(kernel)
    monkeypatch.setattr("traced.replace", lambda p, **fields: SimpleNamespace(**{**vars(p), **fields}))
    dq, dk, dv = changed(SimpleNamespace(query=np.array([2.0]), scale=-0.5))
    assert (dq.item(), dk.item(), dv.item()) == (-1, -2, 0.5)
    dq, dk, dv = changed(SimpleNamespace(query=np.array([2.0]), scale=0.5))
    assert (dq.item(), dk.item(), dv.item()) == (1, 2, 0.5)
