"""Judges forward and backward of JAX together."""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import assay
from assay.adapters import jax_vjp as adapter
from judged import bound_line, judged_autograd
from lines import compiled_lines

CASES = int(os.environ.get("ASSAY_KERNEL_CASES", "70")) // 3  # only padded layouts are offered
LINE = "flash_attention_score_grad --dtype={} --batch=2 --heads_q=2 --heads_kv=2 --seq_q=33 --seq_kv=40 --head_dim=16 --head_dim_v=16 --scale_value=0.25"


def _has_masked_rows(report: assay.AutogradReport) -> bool:
    return bool(report.forward.findings) and all(finding.expected == 0 for finding in report.forward.findings if finding.d >= 0)


@pytest.mark.parametrize("dtype", ("fp32", "bf16"))
def test_only_fully_masked_rows_of_dot_product_attention_fail(dtype: str) -> None:
    wrong = [report for report in judged_autograd(adapter.attention, dtype) if report.wrong]
    assert wrong
    for report in wrong:
        assert report.wrong == ("forward",) and _has_masked_rows(report), report.summary()


def _has_more_queries_than_keys(report: assay.AutogradReport) -> bool:
    """Returns whether the case is causal and has more queries than one block of keys."""
    return "--seq_q=31" in report.command and "--seq_kv" not in report.command


@pytest.mark.parametrize("dtype", ("fp32", "fp16", "bf16"))
def test_the_forward_of_the_pallas_kernel_reads_keys_after_the_last(dtype: str) -> None:
    """The forward computes the end of its loop over keys from the number of queries, as its backward does. The backward
    fails in 16 bits, too: it rounds the row term (test_pallas.py)."""
    reports = judged_autograd(adapter.pallas, dtype, list(map(bound_line, compiled_lines(dtype, CASES))))
    wrong = [report for report in reports if "forward" in report.wrong]
    assert wrong and wrong == [report for report in reports if _has_more_queries_than_keys(report)]
    assert {report.wrong for report in wrong} == {("forward", "saved")}
    assert {report.wrong for report in reports if report not in wrong} == ({()} if dtype == "fp32" else {(), ("backward",)})


def injected(output: float = 1, total: float = 1, gradient: float = 1) -> Any:
    """Attention without a mask as a jax.custom_vjp, with factors for output, saved sum and dk."""

    @jax.custom_vjp
    def attention(query: Any, key: Any, value: Any, scale: Any) -> Any:
        return forward(query, key, value, scale)[0]

    def forward(query: Any, key: Any, value: Any, scale: Any) -> Any:
        scores = scale * jnp.matmul(query, key.mT, precision="highest")
        maximum = scores.max(-1)
        weights = jnp.exp(scores - maximum[..., None])
        found = weights.sum(-1)
        out = output * jnp.matmul(weights, value, precision="highest") / found[..., None]
        return out, (query, key, value, scale, maximum, total * found, out)

    def backward(residuals: Any, dy: Any) -> Any:
        query, key, value, scale, maximum, found, out = residuals
        p = jnp.exp(scale * jnp.matmul(query, key.mT, precision="highest") - maximum[..., None]) / found[..., None]
        ds = p * (jnp.matmul(dy, value.mT, precision="highest") - (dy * out).sum(-1, keepdims=True))
        dk = gradient * scale * jnp.matmul(ds.mT, query, precision="highest")
        return scale * jnp.matmul(ds, key, precision="highest"), dk, jnp.matmul(p.mT, dy, precision="highest"), None

    attention.defvjp(forward, backward)
    return attention


def wrapped(**factors: float) -> assay.AutogradFunction:
    return adapter.function(
        injected(**factors),
        arguments=lambda case: [*(jnp.asarray(case.inputs[name]) for name in ("query", "key", "value")), case.problem["scale_value"]],
        gradients=("dq", "dk", "dv"),
        saved=("query", "key", "value", "", "softmax_max", "softmax_sum", "attention_in"),
        name="injected",
        numerics="fp32_staging",
    )


@pytest.mark.parametrize(
    ("factors", "wrong"),
    [({}, ()), ({"output": 1.02}, ("forward",)), ({"total": 1.02}, ("saved",)), ({"gradient": 1.02}, ("backward",))],
)
def test_the_wrong_part_of_a_custom_vjp_is_named(factors: dict[str, float], wrong: tuple[str, ...]) -> None:
    report = assay.judge_autograd(wrapped(**factors), LINE.format("fp32"))
    assert report.wrong == wrong, report.summary()


def test_the_number_of_residuals_is_checked() -> None:
    short = adapter.function(injected(), arguments=lambda case: [*(jnp.asarray(case.inputs[n]) for n in ("query", "key", "value")), 0.25],
                             gradients=("dq", "dk", "dv"), saved=("query",), name="short")
    report = assay.judge_autograd(short, LINE.format("fp32"))
    assert report.wrong == ("forward",) and "short saved 7 residuals, but 1 names were given: query" in report.causes[0].evidence
