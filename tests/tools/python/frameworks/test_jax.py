"""JAX's attention gradient on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.adapters import jax as adapter
from assay.adapters.attention import Attention, Gradients, attentions_of
from assay.judging import export_lines
from judged import failing_outputs, judged, share_of_equal_bits


@pytest.mark.parametrize("dtype", ("fp32", "bf16"))
def test_every_failure_is_explained(dtype: str, tmp_path: Path) -> None:
    """Two faults occur, and a model of each gives the same outputs. First, JAX masks by a large negative score.
    Therefore a fully masked query attends to every key equally, and adds its share of dy to dV. Second, the compiler keeps dS in
    fp32, although the source rounds it to the type of the tensors. The preset jax_cpu declares this rounding. Only
    exact cases of track exact_staged show that it is missing. """
    failures = judged(adapter.attention, dtype).failures
    assert failures
    for report in failures:
        file = tmp_path / f"{report.id}.h5"
        case = export_lines(file, [report.command], adapter.attention.numerics)[0]
        outputs = failing_outputs(report)
        if "dv" in outputs:
            assert _has_the_share_of_dead_rows(case), report.explanation()
        if outputs & {"dq", "dk"}:
            assert dtype == "bf16" and "--track=exact_staged" in report.command, report.explanation()
            shares = share_of_equal_bits(adapter.attention, _with_dscore_unrounded, report, tmp_path)
            assert min(shares.get(name, 1) for name in ("dq", "dk")) > 0.99, (report.command, shares)


def _with_dscore_unrounded(problem: Attention) -> Gradients:
    """The gradients of an exact case without groups, rounded only at the end."""
    q, k, v, dy, out = (
        np.asarray(x, np.float64)
        for x in (problem.query, problem.key, problem.value, problem.dy, problem.attention_in)
    )
    with np.errstate(over="ignore"):
        p = np.exp(problem.scale * q @ k.swapaxes(2, 3) - problem.softmax_max[..., None])
        p = p / problem.softmax_sum[..., None]
    p = np.where((p > 1e-30) & (problem.keep if problem.keep is not None else True), p, 0)
    ds = problem.scale * p * (dy @ v.swapaxes(2, 3) - np.sum(dy * out, -1, keepdims=True))
    gradients = (ds @ k, ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ dy)
    return Gradients(*(g.astype(problem.query.dtype) for g in gradients))


def _dead_rows(problem: Attention) -> np.ndarray:
    if problem.keep is None:
        return np.zeros((1, 1, problem.query.shape[2]), bool)
    return ~np.any(problem.keep, axis=-1)


def _share_of_dead_rows(problem: Attention, dy: np.ndarray) -> np.ndarray:
    """The contribution of fully masked rows to dV if they attend to every key equally, (rows of dV, dim)."""
    dead = np.where(_dead_rows(problem)[..., None], dy, 0)
    batch, heads, seq_kv, dim = problem.value.shape
    rows = dead.reshape(batch, heads, -1, dim).sum(2, keepdims=True) / seq_kv
    return np.broadcast_to(rows, problem.value.shape).reshape(-1, dim)


def _has_the_share_of_dead_rows(case: assay.Case) -> bool:
    """dV equals the definition plus the contribution of fully masked rows, which is not 0."""
    expected_value, share, magnitude, made = case.expected["dv"], [], [], []
    for problem in attentions_of(case):
        dy = problem.dy.astype(np.float64)
        share.append(_share_of_dead_rows(problem, dy))
        magnitude.append(_share_of_dead_rows(problem, np.abs(dy)))
        made.append(adapter._gradients(problem).dv.reshape(share[-1].shape).astype(np.float64))
    modelled = expected_value.value + np.concatenate(share)[expected_value.rows]
    rounding = 2.0**-7 if case.problem["dtype"] == "bf16" else 2.0**-18
    allowed = expected_value.tau + rounding * (np.abs(expected_value.value) + np.concatenate(magnitude)[expected_value.rows])
    made_rows = np.concatenate(made)[expected_value.rows]
    return any(map(np.any, share)) and bool(np.all(np.abs(made_rows - modelled) <= allowed))
