"""Tests gradients of a part of the keys or queries (ring attention): numpy kernels with injected faults fail and the report names
the cause, healthy ones conform."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import assay
from assay.dtypes import Array

QUERIES, KEYS = 96, 128
SHAPE: dict[str, object] = {
    "batch": 2, "heads_q": 4, "heads_kv": 2, "seq_q": QUERIES, "seq_kv": KEYS, "head_dim": 32, "head_dim_v": 32, "scale_value": 0.25,
    "sparse_mode": 3, "atten_mask": "compressed", "pse_shift": "BNSS", "pse_type": 0, "entry_point": "g2", "keep_prob": 0.75,
    "drop_mask": "exact",
}


def line_of(part: str, **fields: object) -> str:
    words = [f"--{name}={value}" for name, value in (SHAPE | {"dtype": "bf16"} | fields).items() if value is not None]
    return " ".join(["flash_attention_score_grad", *words, f"--part={part}" if part else ""]).strip()


@dataclass(frozen=True)
class Step:
    """The inputs of a device in one step, and the positions of its queries and keys in the sequence."""

    x: dict[str, Array]
    i: Array
    j: Array
    mask_i: Array  # the positions with which the causal mask is computed
    mask_j: Array
    kept: Array  # dropout bits


def bits_of(case: assay.Case, i: Array, j: Array) -> Array:
    """The dropout bits of these queries and keys."""
    count = 2 * 4 * QUERIES * KEYS
    bits = np.unpackbits(case.whole_inputs["drop_mask"], count=count, bitorder="little").reshape(2, 4, QUERIES, KEYS)
    return bits[:, :, i[:, None], j[None, :]]


def step_of(case: assay.Case) -> Step:
    part = case.part
    assert part is not None
    i, j = np.arange(QUERIES), np.arange(KEYS)
    i, j = (i, j[part.slice]) if part.axis == "kv" else (i[part.slice], j)
    x = dict(case.inputs)
    bits = x.pop("drop_mask")
    x.pop("atten_mask")
    shape = (2, 4, len(i), len(j))
    kept = np.unpackbits(bits, count=int(np.prod(shape)), bitorder="little").reshape(shape)
    return Step({name: array.astype(np.float32) for name, array in x.items()}, i, j, i, j, kept)


def gradients(case: assay.Case, of: Step, *, own_statistics: bool = False, own_row_term: bool = False, staged: bool = False) -> dict[str, Array]:
    """The gradients of the part in fp32, in layout BNSD. `staged`: P and dS are rounded to bf16."""
    x, kv = of.x, 2
    stage = (lambda a: a.astype(case.dtype).astype(np.float32)) if staged else (lambda a: a)
    key, value = (np.repeat(x[name], 2, axis=1) for name in ("key", "value"))
    scale, factor = np.float32(case.problem["scale_value"]), of.kept * np.float32(1 / np.float32(case.problem["keep_prob"]))
    s = scale * x["query"] @ key.swapaxes(2, 3) + x["pse_shift"]
    mask = of.mask_j[None, :] <= of.mask_i[:, None] + (KEYS - QUERIES)
    s = np.where(mask, s, -np.inf)
    top, sum_ = x["softmax_max"][..., :1], x["softmax_sum"][..., :1]
    if own_statistics:
        top = np.maximum(s.max(-1, keepdims=True), np.float32(-1e30))
        sum_ = np.maximum(np.exp(s - top).sum(-1, keepdims=True), np.float32(1e-30))
    p = np.exp(s - top) / sum_
    dp = (x["dy"] @ value.swapaxes(2, 3)) * factor
    row_term = np.sum(x["dy"] * x["attention_in"], -1, keepdims=True)
    if own_row_term:
        row_term = np.sum(p * dp, -1, keepdims=True)
    ds, dropped = stage(p * (dp - row_term)), stage(p * factor)
    by_head = {"dk": scale * ds.swapaxes(2, 3) @ x["query"], "dv": dropped.swapaxes(2, 3) @ x["dy"]}
    found = {name: array.reshape(2, kv, 2, *array.shape[2:]).sum(2) for name, array in by_head.items()}
    return {"dq": scale * ds @ key, **found}


def returned(case: assay.Case, found: dict[str, Array]) -> dict[str, Array]:
    """The gradients in the types of the case: sums over the part stay in fp32."""
    assert case.part is not None
    return {name: (array if case.part.sums_to(name) else array.astype(case.dtype)).astype(np.float32).astype(
        np.float32 if case.part.sums_to(name) else case.dtype) for name, array in found.items()}


Kernel = Callable[[assay.Case], dict[str, Array]]


def healthy(case: assay.Case) -> dict[str, Array]:
    return returned(case, gradients(case, step_of(case)))


def staged(case: assay.Case) -> dict[str, Array]:
    return returned(case, gradients(case, step_of(case), staged=True))


def in_blocks(case: assay.Case) -> dict[str, Array]:
    """Adds blocks of 16 keys, as a kernel with tiles does."""
    of, found = step_of(case), dict[str, list[Array]]()
    for first in range(0, len(of.j), 16):
        cut = slice(first, first + 16)
        x = of.x | {"key": of.x["key"][:, :, cut], "value": of.x["value"][:, :, cut], "pse_shift": of.x["pse_shift"][..., cut]}
        block = gradients(case, Step(x, of.i, of.j[cut], of.mask_i, of.mask_j[cut], of.kept[..., cut]))
        for name, array in block.items():
            found.setdefault(name, []).append(array)
    joined = {name: sum(arrays[1:], arrays[0]) if name == "dq" else np.concatenate(arrays, 2) for name, arrays in found.items()}
    return returned(case, joined)


def judged(run: Kernel, line: str, numerics: str = "fp32_staging") -> assay.Report:
    return assay.judge(assay.implementation(name="kernel", numerics=numerics)(run), line)[0]


PARTS = ["kv:0-63", "kv:64-127", "kv:5-90", "kv:127-127", "q:0-31", "q:32-95", "q:95-95"]


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_a_healthy_kernel_conforms(part: str, dtype: str) -> None:
    report = judged(healthy, line_of(part, dtype=dtype))
    assert report.verdict == "conforms", report.explanation()


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kernel_that_stages_in_bf16_conforms(part: str, seed: int) -> None:
    report = judged(staged, line_of(part, seed=seed), "ascend_a2,round_stage=rne,round_out=rne")
    assert report.verdict == "conforms", report.explanation()


@pytest.mark.parametrize("part", ["kv:0-63", "kv:64-127", "kv:5-90", "q:32-95"])
def test_a_kernel_with_blocks_conforms(part: str) -> None:
    report = judged(in_blocks, line_of(part))
    assert report.verdict == "conforms", report.explanation()


def _rounded(run: Kernel) -> Kernel:
    def rounded(case: assay.Case) -> dict[str, Array]:
        found = run(case)
        assert case.part is not None
        return {name: array.astype(case.dtype).astype(np.float32) if case.part.sums_to(name) else array for name, array in found.items()}

    return rounded


def _with_step(change: Callable[[assay.Case, Step], Step]) -> Kernel:
    return lambda case: returned(case, gradients(case, change(case, step_of(case))))


def _with_gradients(**flags: bool) -> Kernel:
    return lambda case: returned(case, gradients(case, step_of(case), **flags))


def _of_first_part(case: assay.Case, of: Step) -> Step:
    """The step with the first part of this size, whatever the part of the case is."""
    assert case.part is not None
    first = replace(case)
    first.__dict__["part"] = assay.Part(case.part.axis, 0, case.part.size - 1)
    return step_of(first)


def _shifted(case: assay.Case, **positions: Array) -> dict[str, Any]:
    assert case.part is not None
    axis = "j" if case.part.axis == "kv" else "i"
    return {name: value - case.part.first for name, value in positions.items() if name.endswith(axis)}


def _first_positions(case: assay.Case, of: Step) -> tuple[Array, Array]:
    assert case.part is not None
    size = np.arange(case.part.size)
    return (of.i, size) if case.part.axis == "kv" else (size, of.j)


def _bias_from_start(case: assay.Case, of: Step) -> Step:
    i, j = _first_positions(case, of)
    bias = case.whole_inputs["pse_shift"].astype(np.float32)[:, :, i[:, None], j[None, :]]
    return replace(of, x=of.x | {"pse_shift": bias})


FAULTS: dict[str, tuple[Kernel, str, list[str]]] = {
    "softmax over the part": (_with_gradients(own_statistics=True), "softmax over the part alone", ["kv"]),
    "softmax and row term of the part": (_with_gradients(own_statistics=True, own_row_term=True), "softmax over the part alone", ["kv"]),
    "row term of the part": (_with_gradients(own_row_term=True), "row term from the output of the part alone", ["kv"]),
    "mask from the start": (
        _with_step(lambda case, of: replace(of, **_shifted(case, mask_i=of.mask_i, mask_j=of.mask_j))), "with the mask of positions 0 to", ["kv", "q"]),
    "dropout bits from the start": (
        _with_step(lambda case, of: replace(of, kept=bits_of(case, *_first_positions(case, of)))), "with the dropout bits of positions 0 to",
        ["kv", "q"]),
    "bias from the start": (_with_step(_bias_from_start), "with the position bias of positions 0 to", ["kv", "q"]),
    "rounded partial sum": (_rounded(healthy), "the kernel rounds the partial sum", ["kv", "q"]),
    "another part": (_with_step(_of_first_part), "are those of the part", ["kv", "q"]),
}
_CASES = [(name, axis) for name, (_, _, axes) in FAULTS.items() for axis in axes]
_PART = {"kv": "kv:64-127", "q": "q:48-95"}


@pytest.mark.parametrize(("name", "axis"), _CASES)
def test_a_fault_is_found_and_named(name: str, axis: str) -> None:
    run, cause, _ = FAULTS[name]
    report = judged(run, line_of(_PART[axis]))
    assert report.verdict.startswith("nonconformant"), report.explanation()
    named = [finding.text for finding in report.findings if cause in finding.text]
    assert named, report.explanation()
    others = [text for of, (_, text, _) in FAULTS.items() if text != cause and any(text in finding.text for finding in report.findings)]
    assert not others, others


def test_a_rounded_sum_is_found_in_a_kernel_that_stages_in_bf16() -> None:
    """The bound of such a kernel allows errors as large as those of a final cast."""
    report = judged(_rounded(staged), line_of("kv:64-127"), "ascend_a2,round_stage=rne,round_out=rne")
    assert report.verdict == "nonconformant_structural"
    assert "the kernel rounds the partial sum" in report.findings[0].text or report.decided_by == "structure", report.explanation()


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["BSH", "SBH", "BSND", "BNSD"])
@pytest.mark.parametrize("part", ["kv:16-40", "q:3-60"])
def test_the_inputs_are_those_of_the_part(layout: str, part: str) -> None:
    """Every layout and every shape of a mask; the gradients go back to the places of the part."""

    def run(case: assay.Case) -> dict[str, Array]:
        other = replace(case)
        dense = {name: _bnsd(array, layout) if array.ndim > 2 and name in _LAID_OUT else array for name, array in case.inputs.items()}
        other.__dict__.update(inputs=dense | {"pse_shift": case.inputs["pse_shift"]}, part=case.part)
        found = healthy(other)
        return {name: _from_bnsd(array, layout) for name, array in found.items()}

    report = judged(run, line_of(part, layout=layout))
    assert report.verdict == "conforms", report.explanation()


_LAID_OUT = ("query", "key", "value", "dy", "attention_in")


def _bnsd(array: Array, layout: str) -> Array:
    if layout == "BSND":
        return array.transpose(0, 2, 1, 3)
    if layout == "BNSD":
        return array
    batch_first = array if layout == "BSH" else array.swapaxes(0, 1)
    return batch_first.reshape(*batch_first.shape[:2], -1, 32).transpose(0, 2, 1, 3)


def _from_bnsd(array: Array, layout: str) -> Array:
    if layout == "BNSD":
        return array
    array = array.transpose(0, 2, 1, 3)
    if layout == "BSND":
        return array
    merged = array.reshape(*array.shape[:2], -1)
    return merged if layout == "BSH" else merged.swapaxes(0, 1)


def test_a_mask_of_the_user_is_divided() -> None:
    shapes = []

    def run(case: assay.Case) -> dict[str, Array]:
        shapes.append((case.inputs["atten_mask"].shape, case.inputs["key"].shape, case.inputs["softmax_max"].shape))
        raise assay.Unsupported("only shapes")

    for part in ("kv:16-40", "q:3-60"):
        judged(run, line_of(part, sparse_mode=0, atten_mask="B1SS"))
    assert shapes == [((2, 1, 96, 25), (2, 2, 25, 32), (2, 4, 96, 8)), ((2, 1, 58, 128), (2, 2, 128, 32), (2, 4, 58, 8))]


def test_other_shapes_and_types_are_refused() -> None:
    def whole_dk(case: assay.Case) -> dict[str, Array]:
        found = healthy(case)
        return found | {"dk": np.zeros((2, 2, KEYS, 32), case.dtype)}

    def narrow(case: assay.Case) -> dict[str, Array]:
        found = healthy(case)
        return found | {"dq": found["dq"].astype(case.dtype)}

    report = judged(whole_dk, line_of("kv:64-127"))
    assert report.verdict == "usage_error"
    assert report.evidence == "dk has shape (2, 2, 128, 32); expected (2, 2, 64, 32), the shape of key in the part kv:64-127"
    report = judged(narrow, line_of("kv:64-127"))
    assert report.evidence == "dq is bfloat16; expected float32: it is a sum over the part kv:64-127, to which other parts are added"


@pytest.mark.slow
def test_a_sweep_draws_parts() -> None:
    """Without flags the kernel runs in this process; it sees only cases with a part."""
    parts: list[assay.Part | None] = []

    def run(case: assay.Case) -> dict[str, Array]:
        parts.append(case.part)
        raise assay.Unsupported("only parts")

    assay.sweep(run, part="q")
    assert len(parts) > 100 and None not in parts
    assert {part.axis for part in parts if part} == {"q"}
    with pytest.raises(ValueError, match="part is 'k'; accepted: kv, q"):
        assay.sweep(run, part="k")


@assay.implementation(name="dense", numerics="fp32_staging")
def dense(case: assay.Case) -> dict[str, Array]:
    """A kernel without masks, biases and dropout, which another process imports."""
    p = case.problem
    if p["layout"] != "BNSD" or p["heads_q"] != p["heads_kv"] or p["atten_mask"] != "none" or p["pse_shift"] != "none" or p["drop_mask"] != "none":
        raise assay.Unsupported("only dense attention")
    x, scale = {name: array.astype(np.float32) for name, array in case.inputs.items()}, np.float32(case.problem["scale_value"])
    prob = np.exp(scale * x["query"] @ x["key"].swapaxes(2, 3) - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1]
    ds = prob * (x["dy"] @ x["value"].swapaxes(2, 3) - np.sum(x["dy"] * x["attention_in"], -1, keepdims=True))
    return returned(case, {"dq": scale * ds @ x["key"], "dk": scale * ds.swapaxes(2, 3) @ x["query"], "dv": prob.swapaxes(2, 3) @ x["dy"]})


@assay.implementation(name="dense_rounded", numerics="fp32_staging")
def dense_rounded(case: assay.Case) -> dict[str, Array]:
    return _rounded(dense)(case)


def test_a_program_gets_the_part() -> None:
    """The program assay runs the kernel in another process, repeats failures and shrinks them."""
    lines = "flash_attention_score_grad --dtype=bf16 --seq_q=48 --seq_kv=64 --head_dim=32 --head_dim_v=32 --scale_value=0.125 --part=kv:32-63"
    program = assay.find_program()
    for kernel, code in ((dense, 0), (dense_rounded, 1)):
        done = subprocess.run([program, "run", *lines.split(), f"--implementation={assay.command_of(kernel)}"], capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
    assert "the kernel rounds the partial sum" in done.stdout
    refused = subprocess.run([program, "run", *lines.split()], capture_output=True, text=True)
    assert refused.returncode == 2 and "computes only whole gradients" in refused.stderr


def test_a_formula_and_a_part() -> None:
    window = assay.variant("window", keep="i - j <= w", parameters={"w": 40})

    def run(case: assay.Case) -> dict[str, Array]:
        of = step_of(case)
        far = of.i[:, None] - of.j[None, :] > case.parameters["w"]
        bias = np.where(far, np.float32(-np.inf), of.x["pse_shift"])
        return returned(case, gradients(case, replace(of, x=of.x | {"pse_shift": bias})))

    fields = SHAPE | {"dtype": "bf16", "part": "kv:16-40"}
    report = judged(run, window.line(**fields))
    assert report.verdict == "conforms", report.explanation()
