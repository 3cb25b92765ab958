"""Tests formulas of users against PyTorch: the gradients of autograd in double conform, and differ by far less than tolerated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import assay

Score = Callable[[assay.Case, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]

softcap = assay.variant("softcap", score="cap * tanh(s / cap)", parameters={"cap": (1.0, 4.0)})
window = assay.variant(
    "document_window", keep="abs(i - j) <= w and doc[i] == doc[j]", parameters={"w": 7}, arrays={"doc": "seq"}
)
alibi = assay.variant("alibi", score="s - slopes[n] * abs(i - j)", arrays={"slopes": "heads"})
soft_window = assay.variant("soft_window", score="s - log(1 + exp(s - c)) * min(abs(i - j), 3) / 4", parameters={"c": 1.5})


def capped(case: assay.Case, s: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    return case.parameters["cap"] * torch.tanh(s / case.parameters["cap"])


def windowed(case: assay.Case, s: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    doc = torch.from_numpy(case.arrays["doc"])
    kept = ((i - j).abs() <= case.parameters["w"]) & (doc[i] == doc[j])
    return s.masked_fill(~kept, -torch.inf)


def biased(case: assay.Case, s: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    return s - torch.from_numpy(case.arrays["slopes"]).double()[:, None, None] * (i - j).abs()


def softened(case: assay.Case, s: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    return s - torch.nn.functional.softplus(s - case.parameters["c"]) * (i - j).abs().clamp(max=3) / 4


def by_autograd(score: Score) -> assay.Implementation:
    """The gradients that autograd gives for softmax(score) value: it computes statistics and output itself."""

    @assay.implementation(name="autograd", numerics="fp32_staging")
    def gradients(case: assay.Case) -> dict[str, np.ndarray]:
        q, k, v, dy = (
            torch.from_numpy(case.inputs[name].astype(np.float64)).requires_grad_() for name in ("query", "key", "value", "dy")
        )
        group = q.shape[1] // k.shape[1]
        s = float(np.float32(case.problem["scale_value"])) * q @ k.repeat_interleave(group, 1).mT
        i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
        p = torch.softmax(score(case, s, i, j), -1).nan_to_num(0)
        found = torch.autograd.grad(p @ v.repeat_interleave(group, 1), (q, k, v), dy.detach())
        return {name: np.nan_to_num(x.numpy()).astype(case.dtype) for name, x in zip(("dq", "dk", "dv"), found, strict=True)}

    return gradients


@pytest.mark.parametrize(
    ("variant", "score"),
    [(softcap, capped), (window, windowed), (alibi, biased), (soft_window, softened)],
    ids=["softcap", "window", "alibi", "soft_window"],
)
def test_the_reference_is_that_of_autograd(variant: assay.Variant, score: Score) -> None:
    lines = [
        variant.line(seed, dtype="fp32", batch=2, heads_q=4, heads_kv=2, seq_q=33, seq_kv=49, head_dim=32, head_dim_v=16)
        for seed in (1, 2, 3)
    ]
    reports = assay.judge(by_autograd(score), lines)
    assert reports.verdicts == {"conforms": 3}, reports[0].explanation()
    # The inputs statistics and attention_in are rounded to fp32; autograd does not read them.
    assert max(worst for report in reports for worst in report.worst.values()) < 0.9
