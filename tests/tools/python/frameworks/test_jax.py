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


def _excess(problem: Attention) -> np.ndarray:
    """What dead rows add to dV if they attend to every key alike."""
    dy = np.where(_dead_rows(problem)[..., None], problem.dy.astype(np.float64), 0)
    batch, heads, seq_kv, dim = problem.value.shape
    rows = dy.reshape(batch, heads, -1, dim).sum(2, keepdims=True) / seq_kv
    return np.broadcast_to(rows, problem.value.shape)


def _follows_the_model(case: assay.Case) -> bool:
    """dV is that of the definition and the excess together, which is not 0."""
    dv = case.expected["dv"]
    excess = np.concatenate([_excess(p).reshape(-1, dv.value.shape[1]) for p in attentions_of(case)])
    gradients = [adapter._gradients(p).dv.reshape(-1, dv.value.shape[1]) for p in attentions_of(case)]
    modelled = dv.value + excess[dv.rows]
    made = np.concatenate(gradients).astype(np.float64)[dv.rows]
    rounding = 2.0**-7 if case.problem["dtype"] == "bf16" else 2.0**-20
    allowed = dv.tau + rounding * (np.abs(modelled) + np.max(np.abs(excess)))
    return bool(np.any(excess)) and bool(np.all(np.abs(made - modelled) <= allowed))
