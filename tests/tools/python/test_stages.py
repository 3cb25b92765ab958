"""Stages of a kernel, compared with those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import assay

LINE = ("flash_attention_score_grad --dtype=fp32 --heads_q=2 --seq_q=5 --seq_kv=7 --head_dim=8 --head_dim_v=8"
        " --scale_value=0.5 --sparse_mode=2 --atten_mask=compressed")


def computed(case: assay.Case, scale: float, with_row_term: bool = True) -> dict[str, NDArray[np.floating]]:
    x = {name: np.asarray(array, np.float32) for name, array in case.inputs.items() if name != "atten_mask"}
    s = np.float32(scale) * (x["query"] @ x["key"].swapaxes(2, 3))
    keep = np.tri(*s.shape[2:], dtype=bool)
    p = np.where(keep, np.exp(s - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1], 0)
    dp = x["dy"] @ x["value"].swapaxes(2, 3)
    row = np.sum(x["dy"] * x["attention_in"], -1) * with_row_term
    return {"S": s, "P": p, "dP": dp, "row_term": row, "dS": p * (dp - row[..., None])}


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory) -> assay.Case:
    return assay.export_lines(tmp_path_factory.mktemp("stages") / "case.h5", [LINE])[0]


def test_the_gradients_follow_from_the_stages(case: assay.Case) -> None:
    expected_value = assay.stages(LINE)
    dq = 0.5 * expected_value["dS"] @ np.asarray(case.inputs["key"], np.float64)
    dv = (expected_value["P"].swapaxes(2, 3) @ np.asarray(case.inputs["dy"], np.float64)).sum(1, keepdims=True)
    for name, gradient in (("dq", dq), ("dv", dv)):
        expected = case.expected[name]
        assert np.abs(gradient - expected.value.reshape(gradient.shape)).max() < 1e-12, name


def test_right_stages_deviate_nowhere(case: assay.Case) -> None:
    stages = computed(case, 0.5)
    assert assay.first_deviation(LINE, stages) is None
    assert assay.first_deviation("assay run " + LINE, {"dS": stages["dS"].astype(np.float16)}) is None


def test_the_first_wrong_stage_is_named(case: assay.Case) -> None:
    found = assay.first_deviation(LINE, computed(case, 0.25))
    assert found is not None and found.stage == "S" and found.of == 2 * (1 + 2 + 3 + 4 + 5)
    later = assay.first_deviation(LINE, computed(case, 0.5, with_row_term=False))
    assert later is not None and later.stage == "row_term" and "row_term deviates first" in str(later)
    stages = computed(case, 0.5)
    stages["dS"][0, 1, 4, 4] = np.nan
    nan = assay.first_deviation(LINE, stages)
    assert nan is not None and (nan.stage, nan.where, nan.elements) == ("dS", (0, 1, 4, 4), 1)


def test_stages_that_cannot_be_compared_are_refused(case: assay.Case) -> None:
    with pytest.raises(assay.AssayError, match="`computed` is empty; expected at least one stage"):
        assay.first_deviation(LINE, {})
    with pytest.raises(assay.AssayError, match="S has complex numbers"):
        assay.first_deviation(LINE, {"S": computed(case, 0.5)["S"] + 1j})


def test_masked_elements_are_not_compared(case: assay.Case) -> None:
    stages = computed(case, 0.5)
    stages["S"][0, 0, 0, 6] = -np.inf
    stages["dP"][0, 0, 0, 6] = np.nan
    assert assay.first_deviation(LINE, stages) is None
    stages["P"][0, 0, 0, 6] = 0.5
    found = assay.first_deviation(LINE, stages)
    assert found is not None and (found.stage, found.expected) == ("P", 0)


def test_an_unknown_stage_is_reported(case: assay.Case) -> None:
    with pytest.raises(assay.AssayError, match="no stage 'Q'; it has S, P, dP, row_term, dS"):
        assay.first_deviation(LINE, {"Q": np.zeros(1)})
    with pytest.raises(assay.AssayError, match=r"S has the shape \(3,\); the shape in the case is \(1, 2, 5, 7\)"):
        assay.first_deviation(LINE, {"S": np.zeros(3)})
    with pytest.raises(assay.AssayError, match="the operator has no intermediate values"):
        assay.stages("nsa_compress_grad")


@pytest.mark.parametrize("tolerance", [-1, -1e-30, float("nan"), float("inf")])
def test_an_invalid_tolerance_is_reported(tolerance: float) -> None:
    """With such a tolerance every stage deviates, or none."""
    with pytest.raises(ValueError, match=f"^tolerance is {tolerance}; expected a finite number"):
        assay.first_deviation(LINE, {}, tolerance)


def test_a_tolerance_of_0_requires_equal_numbers() -> None:
    exact = {"S": assay.stages(LINE)["S"]}
    assert assay.first_deviation(LINE, exact, tolerance=0) is None
    found = assay.first_deviation(LINE, {"S": np.nextafter(exact["S"], 9)}, tolerance=0)
    assert found is not None and found.stage == "S"
