"""JAX's attention gradient on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.adapters import jax as adapter
from assay.adapters.attention import Attention, attentions_of
from assay.judging import export_lines
from judged import failing_outputs, judged


@pytest.mark.parametrize("dtype", ("fp32", "bf16"))
def test_it_conforms_but_for_queries_without_a_key(dtype: str, tmp_path: Path) -> None:
    """A mask is a large negative score there, so that a query that attends to nothing attends to every key alike, and its
    share of dy is in dV; dQ and dK of such rows are 0 as they should be."""
    failures = judged(adapter.attention, dtype).failures
    assert failures
    for report in failures:
        file = tmp_path / f"{report.id}.h5"
        case = export_lines(file, [report.command], adapter.attention.numerics)[0]
        assert failing_outputs(report) == {"dv"}, report.explanation()
        assert _follows_the_model(case), report.explanation()


def _dead_rows(problem: Attention) -> np.ndarray:
    if problem.keep is None:
        return np.zeros((1, 1, problem.query.shape[2]), bool)
    return ~np.any(problem.keep, axis=-1)


def _share_of_dead_rows(problem: Attention, dy: np.ndarray) -> np.ndarray:
    """What dead rows add to dV if they attend to every key alike, (rows of dV, dim)."""
    dead = np.where(_dead_rows(problem)[..., None], dy, 0)
    batch, heads, seq_kv, dim = problem.value.shape
    rows = dead.reshape(batch, heads, -1, dim).sum(2, keepdims=True) / seq_kv
    return np.broadcast_to(rows, problem.value.shape).reshape(-1, dim)


def _follows_the_model(case: assay.Case) -> bool:
    """dV is that of the definition and the share of dead rows together, which is not 0."""
    due, share, magnitude, made = case.expected["dv"], [], [], []
    for problem in attentions_of(case):
        dy = problem.dy.astype(np.float64)
        share.append(_share_of_dead_rows(problem, dy))
        magnitude.append(_share_of_dead_rows(problem, np.abs(dy)))
        made.append(adapter._gradients(problem).dv.reshape(share[-1].shape).astype(np.float64))
    modelled = due.value + np.concatenate(share)[due.rows]
    rounding = 2.0**-7 if case.problem["dtype"] == "bf16" else 2.0**-18
    allowed = due.tau + rounding * (np.abs(due.value) + np.concatenate(magnitude)[due.rows])
    made_rows = np.concatenate(made)[due.rows]
    return any(map(np.any, share)) and bool(np.all(np.abs(made_rows - modelled) <= allowed))
