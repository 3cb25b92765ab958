"""PyTorch's attention gradients on the CPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.adapters import torch as adapter
from assay.adapters.attention import Attention, Gradients
from assay.dtypes import Array
from assay.judging import export_lines
from judged import judged, share_of_equal_bits

torch.set_num_threads(1)
has_sdpa = pytest.mark.skipif(
    not hasattr(torch.nn, "attention"), reason=f"PyTorch {torch.__version__} has no torch.nn.attention"
)


@pytest.mark.parametrize("dtype", ("fp32", "bf16"))
def test_composed_operators_conform(dtype: str) -> None:
    reports = judged(adapter.composed, dtype)
    assert not reports.failures or torch.__version__ < (2, 0)
    if dtype == "bf16":  # every intermediate is rounded, so bounds are wide and only exact cases count as coverage
        assert all(r.verdict != "conforms" for r in reports if "--track=" not in r.command)


class _SoftmaxWithSumsInFp32(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, scores: Any) -> Any:
        p = torch.softmax(scores.float(), dim=-1).to(scores.dtype)
        context.save_for_backward(p)
        return p

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        p, dp = (x.float() for x in (*context.saved_tensors, gradient))
        return (p * (dp - (p * dp).sum(-1, keepdim=True))).to(gradient.dtype)


@pytest.mark.skipif(torch.__version__ >= (2, 0), reason="this version does not have the fault")
def test_before_version_2_sums_in_bf16_are_what_fails() -> None:
    """Products of small matrices and the gradient of softmax accumulate in bf16. The same operators with fp32 sums,
    rounded once, conform."""

    def product(a: Any, b: Any) -> Any:
        return (a.float() @ b.float()).to(a.dtype)

    @assay.implementation(
        name="torch-composed-with-sums-in-fp32",
        numerics=adapter.composed.numerics,
        unsupported=adapter.composed.predicate,
    )
    def with_sums_in_fp32(case: assay.Case) -> dict[str, Array]:
        return adapter._run(
            case, lambda problem: adapter._composed(problem, product, _SoftmaxWithSumsInFp32.apply)
        )

    failures = judged(adapter.composed, "bf16").failures
    assert failures
    assert not assay.judge(with_sums_in_fp32, [report.command for report in failures]).failures


@has_sdpa
@pytest.mark.parametrize("dtype", ("fp32", "bf16"))
def test_the_math_backend_conforms(dtype: str) -> None:
    assert not judged(adapter.math, dtype).failures


@has_sdpa
def test_the_flash_backend_conforms_in_fp32() -> None:
    assert not judged(adapter.flash, "fp32").failures


@has_sdpa
def test_the_flash_backend_adds_blocks_in_bf16(tmp_path: Path) -> None:
    """The gradients are in the type of the tensors during accumulation: dK and dV after every block of queries, dQ
    after every block of keys. A model of these roundings gives the failing outputs. Only cases with more than one block
    fail."""
    failures = judged(adapter.flash, "bf16").failures
    assert failures
    for report in failures:
        shares = share_of_equal_bits(adapter.flash, _in_blocks, report, tmp_path)
        print(report.command, shares)
        assert min(shares.values()) > 0.98, report.explanation()


def _blocks(length: int, size: int) -> Iterator[slice]:
    return (slice(first, first + size) for first in range(0, length, size))


def _in_blocks(problem: Attention) -> Gradients:
    """The gradients with P and dS staged, and each gradient rounded after every block."""
    q, k, v, dy, out = (
        np.asarray(x, np.float64)
        for x in (problem.query, problem.key, problem.value, problem.dy, problem.attention_in)
    )
    k, v = np.repeat(k, problem.group, 1), np.repeat(v, problem.group, 1)
    with np.errstate(over="ignore"):
        p = np.exp(problem.scale * q @ k.swapaxes(2, 3) - problem.softmax_max[..., None])
        p = p / problem.softmax_sum[..., None]
    p = p if problem.keep is None else np.where(problem.keep, p, 0)
    ds = p * (dy @ v.swapaxes(2, 3) - np.sum(dy * out, -1, keepdims=True))
    p, ds = _rounded(p), _rounded(ds)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for keys in _blocks(k.shape[2], 512):
        dq = _rounded(dq + problem.scale * ds[..., keys] @ k[:, :, keys])
    seq = q.shape[2]
    for rows in _blocks(seq, 256 if seq >= 768 else 64 if seq >= 192 else 32):
        dk = _rounded(dk + problem.scale * ds[:, :, rows].swapaxes(2, 3) @ q[:, :, rows])
        dv = _rounded(dv + p[:, :, rows].swapaxes(2, 3) @ dy[:, :, rows])
    grouped = (problem.key.shape[0], problem.key.shape[1], problem.group)
    dk, dv = (g.reshape(*grouped, *g.shape[2:]).sum(2) for g in (dk, dv))
    return Gradients(*(g.astype(problem.query.dtype) for g in (dq, dk, dv)))


def _rounded(values: Array) -> Array:
    return torch.from_numpy(np.ascontiguousarray(values)).to(torch.bfloat16).to(torch.float64).numpy()


@pytest.mark.parametrize("implementation", (adapter.composed, pytest.param(adapter.math, marks=has_sdpa)), ids=lambda i: i.name)
def test_every_tensor_lies_on_the_device_that_is_asked_for(
    implementation: assay.Implementation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Device meta computes only shapes, and refuses a tensor on another device."""
    line = (
        "flash_attention_score_grad --dtype=bf16 --heads_q=4 --heads_kv=2 --seq_q=8 --seq_kv=8 --sparse_mode=2"
        " --atten_mask=compressed"
    )
    case = export_lines(tmp_path / "case.h5", [line])[0]
    devices = []

    def shape_of(tensor: Any, dtype: Any) -> Array:
        devices.append(tensor.device.type)
        return np.zeros(tuple(tensor.shape), dtype)

    monkeypatch.setattr(adapter, "to_numpy", shape_of)
    assert implementation.on("meta")(case)["dk"].shape == case.inputs["key"].shape
    monkeypatch.setenv("ASSAY_DEVICE", "meta")  # the variable is read at every use
    assert implementation(case)["dk"].shape == case.inputs["key"].shape
    assert devices == ["meta"] * 6
    assert implementation.on("cpu").ready().device == "cpu" and implementation.ready().device == "meta"


LINE = "flash_attention_score_grad --dtype=fp32 --seq_q=8 --seq_kv=8"


def test_an_adapter_on_the_cpu_conforms_here_and_where_it_is_served() -> None:
    on_cpu = adapter.composed.on("cpu")
    assert assay.judge(on_cpu, LINE).conforms
    assert assay.command_of(on_cpu).endswith(" serve assay.adapters.torch:composed --device=cpu")
    words = ("flash_attention_score_grad", "--only=--layout=BSND --dtype=fp32 --batch=1 --heads_q=1")
    assert assay.sweep(on_cpu, *words, "--random=0", "--shrink=0").verdicts["conforms"] > 0


def test_a_device_that_pytorch_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="^device is 'cuba', which PyTorch cannot use: .* cuba"):
        assay.judge(adapter.composed.on("cuba"), LINE)
    line = [sys.executable, "-m", "assay", "serve", "assay.adapters.torch:composed", "--device=cuba"]
    printed = subprocess.run(line, input="", capture_output=True, text=True, check=False)
    assert printed.returncode == 2 and "device is 'cuba'" in printed.stderr and len(printed.stderr.splitlines()) == 1
    monkeypatch.setenv("ASSAY_DEVICE", "cuba")
    with pytest.raises(ValueError, match="^ASSAY_DEVICE is 'cuba', which PyTorch cannot use"):
        assay.judge(adapter.composed, LINE)


@has_sdpa
def test_the_flash_backend_is_of_the_cpu_alone() -> None:
    report = assay.judge(adapter.flash.on("meta"), LINE)[0]
    assert report.verdict == "not_applicable" and "another device than the CPU" in report.evidence
