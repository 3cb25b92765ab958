"""JAX's attention kernel in Pallas, in its interpreter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import assay
from assay.adapters import jax as adapter
from assay.adapters.attention import Attention, Gradients, attentions_of, outputs_of
from assay.dtypes import Array
from assay.judging import export_lines
from judged import failing_outputs, judged_kernel
from lines import compiled_lines

CASES = int(os.environ.get("ASSAY_KERNEL_CASES", "70"))
MOST = 0.95  # a row term close to a tie may round the other way if its sum has another order: then one row differs


def _reads_behind_the_last_key(report: assay.Report) -> bool:
    """Returns whether the case is causal and has more queries than one block of keys."""
    return "--seq_q=31" in report.command and "--seq_kv" not in report.command


@pytest.mark.parametrize("dtype", ("fp32", "fp16", "bf16"))
def test_every_failure_is_explained(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two faults occur. First, the bound of the loop over blocks of keys is computed from queries, so that dq reads
    blocks after the last one. Second, in 16 bits the row term is rounded to the type of the tensors (in fp16 each of
    its products, too), and dS is rounded after the scale is applied, which loses small numbers. A model of these steps
    gives the same outputs within the tolerance."""
    failures = judged_kernel(adapter.pallas, dtype, compiled_lines(dtype, CASES)).failures
    assert any(map(_reads_behind_the_last_key, failures))
    narrow = [report for report in failures if not _reads_behind_the_last_key(report)]
    assert bool(narrow) == (dtype != "fp32")
    for report in narrow:
        shares = _share_within_tau(report, tmp_path)
        assert min(shares.values()) > MOST, (report.command, shares)
    _read_no_block_behind_the_last(monkeypatch)
    again = assay.judge(
        adapter.pallas, [report.command for report in failures if _reads_behind_the_last_key(report)]
    )
    assert not again.failures or dtype != "fp32"
    for report in again.failures:
        shares = _share_within_tau(report, tmp_path)
        assert min(shares.values()) > MOST, (report.command, shares)


def _share_within_tau(report: assay.Report, folder: Path) -> dict[str, float]:
    """The fraction of elements in failing outputs that equal the model within the tolerance of a correct output."""
    case = export_lines(folder / f"{report.id}.h5", [report.command], adapter.pallas.numerics)[0]
    made = adapter.pallas(case)
    modelled = outputs_of(case, [_with_narrow_row_terms(problem) for problem in attentions_of(case)])
    shares = {}
    for name in failing_outputs(report):
        expected_value = case.expected[name]
        rows = (x[name].astype(np.float64).reshape(-1, expected_value.value.shape[-1]) for x in (made, modelled))
        off = np.abs(np.subtract(*rows))
        shares[name] = float((off[expected_value.rows if expected_value.rows is not None else slice(None)] <= expected_value.tau).mean())
    return shares


class _WithinBlocks:
    """Replaces jax.lax so that loops run over at most one block. The cases of this test have only one block."""

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.lax, name)

    def fori_loop(self, first: Any, end: Any, *rest: Any) -> Any:
        return jax.lax.fori_loop(first, jnp.minimum(end, 1), *rest)


def _read_no_block_behind_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter.gpu, "lax", _WithinBlocks())
    adapter._kernel.clear_cache()


def _with_narrow_row_terms(problem: Attention) -> Gradients:
    """The gradients with row term, P and scaled dS in the type of the tensors."""
    narrow = problem.query.dtype
    q, k, v, dy, out = (
        np.asarray(x, np.float64)
        for x in (problem.query, problem.key, problem.value, problem.dy, problem.attention_in)
    )

    def rounded(values: Array) -> Array:
        return values.astype(narrow).astype(np.float64)

    with np.errstate(over="ignore"):
        p = np.exp(problem.scale * q @ k.swapaxes(2, 3) - problem.softmax_max[..., None]) / problem.softmax_sum[..., None]
    p = p if problem.keep is None else np.where(problem.keep, p, 0)
    products = rounded(dy * out) if narrow == np.float16 else dy * out
    ds = rounded(problem.scale * p * (dy @ v.swapaxes(2, 3) - rounded(products.sum(-1, keepdims=True))))
    gradients = (ds @ k, ds.swapaxes(2, 3) @ q, rounded(p).swapaxes(2, 3) @ dy)
    return Gradients(*(g.astype(narrow) for g in gradients))
