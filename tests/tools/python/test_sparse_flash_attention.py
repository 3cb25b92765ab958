"""References of SparseFlashAttentionGrad, computed again in float64, and a numpy kernel that is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.judging import export_lines

OPERATOR = "sparse_flash_attention_grad"
PACKED = "--layout=TND --heads_q=2"
LINES = [
    f"{OPERATOR} {flags}".strip()
    for flags in (
        "",
        "--seq_q=1 --seq_kv=1 --head_dim_rope=0",
        "--dtype=fp16 --heads_q=4 --seq_q=3 --seq_kv=7 --scale_value=0",
        "--heads_q=2 --seq_q=5 --seq_kv=9 --scale_value=-0.125 --seed=2",
        "--dtype=fp16 --batch=3 --heads_q=2 --seq_q=2 --seq_kv=11 --sparse_mode=3",
        "--heads_q=2 --seq_q=9 --seq_kv=3 --sparse_mode=3 --value_form=merged",
        "--dtype=fp16 --seq_q=6 --seq_kv=6 --sparse_mode=3 --head_dim_rope=0",
        "--heads_q=8 --seq_q=4 --seq_kv=20 --sparse_block_size=8",
        "--heads_q=2 --seq_q=5 --seq_kv=33 --sparse_block_size=16 --sparse_mode=3",
        "--dtype=fp16 --heads_q=2 --seq_q=3 --seq_kv=65 --sparse_block_size=64 --value_form=merged",
        "--heads_q=2 --seq_q=40 --seq_kv=40 --sparse_block_size=32 --sparse_mode=3 --lists=descending",
        "--heads_q=2 --seq_q=4 --seq_kv=60 --sparse_block_size=8 --sparse_block_count=3",
        "--dtype=fp16 --heads_q=2 --seq_q=7 --seq_kv=61 --sparse_block_size=8 --sparse_block_count=3 --sparse_mode=3",
        "--heads_q=2 --seq_q=7 --seq_kv=61 --sparse_block_count=5 --sparse_mode=3 --lists=recent",
        "--heads_q=2 --seq_q=7 --seq_kv=30 --sparse_block_count=5 --sparse_mode=3 --lists=sink --value_form=merged",
        "--heads_q=4 --seq_q=3 --seq_kv=30 --sparse_block_count=2 --lists=first",
        "--dtype=fp16 --seq_q=2 --seq_kv=1025",
        "--seq_q=3 --seq_kv=1026 --sparse_mode=3 --value_form=merged",
        f"{PACKED} --seq_q=3 --seq_kv=8",
        f"--dtype=fp16 {PACKED} --lengths_q=4,6 --lengths_kv=9,14",
        f"{PACKED} --lengths_q=7,2 --lengths_kv=2,9 --sparse_mode=3",
        f"{PACKED} --lengths_q=1,12,1 --lengths_kv=40,3,1 --value_form=merged --sparse_mode=3",
        f"--dtype=fp16 {PACKED} --lengths_q=6,3 --lengths_kv=70,200 --sparse_block_size=16 --sparse_block_count=2",
        f"{PACKED} --lengths_q=6,3 --lengths_kv=70,201 --sparse_block_size=16 --sparse_block_count=2 --sparse_mode=3",
        f"{PACKED} --batch=3 --seq_q=4 --seq_kv=10 --head_dim_rope=0 --value_form=merged",
        "--heads_q=64 --seq_q=2 --seq_kv=12",
        "--heads_q=2 --seq_q=4 --seq_kv=12 --inputs=columns",
        "--dtype=fp16 --heads_q=2 --batch=2 --seq_q=4 --seq_kv=12 --inputs=transposed",
        "--heads_q=2 --seq_q=4 --seq_kv=12 --profile=foreign_statistics --seed=3",
        "--heads_q=2 --seq_q=4 --seq_kv=12 --profile=peaked --value_form=merged",
        "--heads_q=2 --seq_q=4 --seq_kv=12 --profile=large_exponent",
        "--dtype=fp16 --heads_q=2 --seq_q=4 --seq_kv=12 --profile=offset --sparse_mode=3",
        "--heads_q=2 --seq_q=8 --seq_kv=12 --profile=sparse_dy --sparse_block_size=8",
    )
]


def sequences(case: assay.Case) -> list[tuple[int, int, int, int]]:
    """First query token, queries, first key token and keys of every sequence."""
    p = case.problem
    queries = p["lengths_q"] or [p["seq_q"]] * p["batch"]
    keys = p["lengths_kv"] or [p["seq_kv"]] * p["batch"]
    starts_q, starts_k = np.cumsum([0, *queries]), np.cumsum([0, *keys])
    return [(int(q), nq, int(k), nk) for q, nq, k, nk in zip(starts_q, queries, starts_k, keys, strict=False)]


def by_token(array: np.ndarray) -> np.ndarray:
    """(tokens, heads, channels) in double."""
    return np.asarray(array, np.float64).reshape(-1, *array.shape[-2:])


def gradients(case: assay.Case, *, merge: bool | None = None) -> dict[str, np.ndarray]:
    """The formulas of the page in double: (tokens, heads, channels)."""
    p, given = case.problem, case.inputs
    rope, merged = p["head_dim_rope"] > 0, p["value_form"] == "merged"
    query, key, d_out, out = (by_token(given[name]) for name in ("query", "key", "d_out", "out"))
    value = key if merged else by_token(given["value"])
    if rope:
        query = np.concatenate([query, by_token(given["query_rope"])], 2)
        key = np.concatenate([key, by_token(given["key_rope"])], 2)
    tokens, heads = query.shape[:2]
    maximum, total = (
        np.asarray(given[name], np.float64).reshape(tokens, heads) for name in ("softmax_max", "softmax_sum")
    )
    lists = np.asarray(given["sparse_indices"]).reshape(tokens, -1)
    scale, size = float(np.float32(p["scale_value"])), p["sparse_block_size"]
    d_query, d_key, d_value = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    for first_q, queries, first_k, keys in sequences(case):
        for s in range(queries):
            t = first_q + s
            seen = keys if p["sparse_mode"] == 0 else keys - queries + s + 1
            rows = [
                first_k + int(block) * size + j
                for block in lists[t]
                if block >= 0
                for j in range(size)
                if int(block) * size + j < seen
            ]
            if not rows:
                continue
            score = scale * query[t] @ key[rows, 0].T
            prob = np.exp(score - maximum[t][:, None]) / total[t][:, None]
            delta = np.sum(d_out[t] * out[t], -1, keepdims=True)
            dscore = prob * (d_out[t] @ value[rows, 0].T - delta)
            d_query[t] = scale * dscore @ key[rows, 0]
            d_key[rows, 0] += scale * dscore.T @ query[t]
            d_value[rows, 0] += prob.T @ d_out[t]
    result = {"d_query": d_query[..., :512], "d_key": d_key[..., :512]}
    if merged if merge is None else merge:
        result["d_key"] = result["d_key"] + d_value
    if not merged:
        result["d_value"] = d_value
    if rope:
        result |= {"d_query_rope": d_query[..., 512:], "d_key_rope": d_key[..., 512:]}
    return result


def rows_of(case: assay.Case, name: str, gradient: np.ndarray) -> np.ndarray:
    """The rows in the order of references: sequence by sequence, then head by head."""
    ordered = []
    for first_q, queries, first_k, keys in sequences(case):
        first, count = (first_q, queries) if name.startswith("d_query") else (first_k, keys)
        ordered.append(gradient[first : first + count].swapaxes(0, 1).reshape(-1, gradient.shape[2]))
    return np.concatenate(ordered)


@pytest.mark.slow
def test_references_agree_with_float64(tmp_path: Path) -> None:
    assert len(LINES) == len(set(LINES)) and len(LINES) >= 30
    export_lines(tmp_path / "cases.h5", LINES, "fp32_staging")
    compared = 0
    for case in assay.read_cases(tmp_path / "cases.h5"):
        own = gradients(case)
        assert set(own) == set(case.expected)
        for name, expected in case.expected.items():
            value = rows_of(case, name, own[name])
            assert np.max(np.abs(value - expected.value)) <= 1e-12 * np.max(np.abs(value)), (case.command, name)
            compared += 1
    assert compared >= 4 * len(LINES) - 12


def shaped(case: assay.Case, own: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    shapes = {name: case.inputs[name.removeprefix("d_") if name != "d_value" else "key"].shape for name in own}
    return {name: gradient.reshape(shapes[name]).astype(case.dtype) for name, gradient in own.items()}


@assay.implementation(name="numpy", numerics="fp32_staging")
def right(case: assay.Case) -> dict[str, np.ndarray]:
    return shaped(case, gradients(case))


@assay.implementation(name="never merges", numerics="fp32_staging")
def never_merges(case: assay.Case) -> dict[str, np.ndarray]:
    return shaped(case, gradients(case, merge=False))


@pytest.mark.parametrize("line", [LINES[0], LINES[9], LINES[20]])
def test_a_numpy_kernel_conforms(line: str) -> None:
    assert assay.judge(right, line).conforms


def test_a_gradient_that_is_not_merged_fails() -> None:
    assert assay.judge(never_merges, LINES[0]).conforms
    assert not assay.judge(never_merges, LINES[9]).conforms
