"""Tests `assay check --given-inputs`, which judges at the inputs of a file instead of those of the replay line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
import kernels
from assay.cases import replace_inputs
from assay.judging import export_lines
from assay.program import Program

LINE = kernels.SMALL_LINES[0]


def verdicts(file: Path, *flags: str) -> dict[str, assay.Report]:
    report = file.with_suffix(".json")
    Program(assay.find_program()).run(["check", file, *flags, "--report", report, "--force"], accepted=(0, 1, 2, 3))
    return {report.implementation: report for report in assay.read_reports(report)}


def with_inputs(case: assay.Case, inputs: dict[str, assay.dtypes.Array]) -> Path:
    """Adds the gradients at these inputs, by a correct kernel."""
    replace_inputs(case, inputs)
    again = assay.read_cases(case.path)[0]
    assay.write_outputs(again, "mine", kernels.right(again), kernels.right.profile("fp32"))
    return case.path


def test_a_kernel_is_judged_at_the_inputs_of_the_file(tmp_path: Path) -> None:
    case = export_lines(tmp_path / "case.h5", [LINE], "fp32_staging")[0]
    twice = 2 * case.inputs["softmax_sum"]
    file = with_inputs(case, {"softmax_sum": twice})
    refused = verdicts(file)
    assert list(refused) == ["mine"] and refused["mine"].verdict == "usage_error"
    assert "input 'softmax_sum' has digest" in refused["mine"].evidence
    given = verdicts(file, "--given-inputs")
    assert given["mine"].verdict == "conforms", given["mine"].explanation()
    assert "judged with the softmax_sum from the file, not from the replay line" in [f.text for f in given["mine"].findings]
    assert given["mine@forward"].verdict == "nonconformant_proven"  # the sum is not that of the forward
    assert {name: worst > 1 for name, worst in given["mine@forward"].worst.items()} == {
        "softmax_max": False, "softmax_sum": True, "attention_in": False}


def test_other_values_of_a_tensor_are_ordinary_inputs(tmp_path: Path) -> None:
    case = export_lines(tmp_path / "case.h5", ["nsa_compress_grad --seq=40"])[0]
    replace_inputs(case, {"input": -case.inputs["input"]})
    again = assay.read_cases(case.path)[0]
    outputs = {name: one.rounded.reshape(again.inputs[of].shape) for (name, one), of in zip(again.expected.items(), ("input", "weight"))}
    assay.write_outputs(again, "old", outputs)
    report = verdicts(case.path, "--given-inputs")
    assert list(report) == ["old"] and "weight_grad" in report["old"].worst
    assert report["old"].worst["input_grad"] <= 1 < report["old"].worst["weight_grad"]  # only weight_grad reads the input


def test_the_replicas_of_statistics_are_checked(tmp_path: Path) -> None:
    case = export_lines(tmp_path / "case.h5", [LINE], "fp32_staging")[0]
    changed = case.inputs["softmax_sum"].copy()
    changed[..., 7] = np.nextafter(changed[..., 7], np.float32(np.inf))
    report = verdicts(with_inputs(case, {"softmax_sum": changed}), "--given-inputs")["mine@forward"]
    assert report.verdict == "nonconformant_structural" and report.evidence == "replicas of softmax_sum differ"


def test_cases_without_inputs_of_their_own_are_refused(tmp_path: Path) -> None:
    exact = export_lines(tmp_path / "exact.h5", [kernels.SMALL_LINES[-1]], "fp32_staging")[0]
    assay.write_outputs(exact, "mine", kernels.right(exact))
    report = verdicts(exact.path, "--given-inputs")[""]
    assert report.verdict == "usage_error" and "--given-inputs needs a case of track bound; --track is 'exact'" in report.evidence


def test_an_input_of_another_type_is_refused(tmp_path: Path) -> None:
    case = export_lines(tmp_path / "case.h5", [LINE])[0]
    with pytest.raises(assay.dtypes.WrongType, match="^key is int64; expected float32"):
        replace_inputs(case, {"key": case.inputs["key"].astype(np.int64)})
