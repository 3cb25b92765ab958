"""The error messages for wrong arguments in Python: one line, with what was expected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
import kernels

LINE = kernels.SMALL_LINES[0]


def one_line(raised: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(raised.value)
    assert len(text.splitlines()) == 1, text
    return text


def test_invalid_cases_are_reported() -> None:
    with pytest.raises(TypeError) as raised:
        assay.judge(kernels.right, 42)  # type: ignore[arg-type]
    assert one_line(raised).startswith("cases is int (42); expected a replay line, a file of 'assay export', a Case")


def test_a_wrong_line_is_named_by_its_number_and_not_by_a_temporary_file() -> None:
    with pytest.raises(assay.AssayError) as raised:
        assay.judge(kernels.right, [LINE, "nsa_compress_grad --seq=0"])
    assert one_line(raised).startswith("line 2: --seq=0: accepted: 1 to ")


@pytest.mark.parametrize("path", ["no/such/cases.h5", Path("no/such/cases"), Path("no/such/cases.h5")])
def test_a_file_that_is_not_there_is_named(path: str | Path) -> None:
    for use in (assay.read_cases, lambda given: assay.judge(kernels.right, given)):
        with pytest.raises(FileNotFoundError) as raised:
            use(path)
        assert one_line(raised) == f"the file '{path}' does not exist; expected a file of 'assay export'"


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "cases.h5").write_text("no HDF5", encoding="utf-8")
    with pytest.raises(assay.CaseFileError) as raised:
        assay.judge(kernels.right, tmp_path / "cases.h5")
    assert "is not an HDF5 file; expected a file of 'assay export'" in one_line(raised)


def test_numerics_are_a_text() -> None:
    for numerics, given in (({"order": "fixed"}, "dict"), (None, "NoneType")):
        with pytest.raises(TypeError) as raised:
            assay.implementation(name="mine", numerics=numerics)(lambda case: {})  # type: ignore[arg-type]
        assert one_line(raised).startswith(f"numerics is {given} ({numerics!r}); expected a text such as")
    with pytest.raises(TypeError, match=r"^unsupported is str \('no'\); expected a function"):
        assay.implementation(unsupported="no")(lambda case: {})  # type: ignore[arg-type]


def test_an_executor_has_submit() -> None:
    with pytest.raises(TypeError) as raised:
        assay.sweep(kernels.right, executor="dask")  # type: ignore[arg-type]
    assert one_line(raised).startswith("executor is str ('dask'); expected an object with submit(), such as")
    with pytest.raises(TypeError, match=r"^flags contain int \(3\); expected strings"):
        assay.sweep(kernels.right, 3)  # type: ignore[arg-type]


def test_a_misspelt_tensor_is_named_with_those_there_are(cases: list[assay.Case]) -> None:
    case = cases[0]
    for names, wrong, right in (
        (case.inputs, "querry", "query"),
        (case.views, "vallue", "value"),
        (case.expected, "dqq", "dq"),
        (case.problem, "head_dims", "head_dim"),
    ):
        with pytest.raises(KeyError) as raised:
            names[wrong]
        said = one_line(raised)
        assert f"{wrong!r}; did you mean {right!r}? There are " in said and all(name in said for name in names)
        assert names.get(wrong) is None and wrong not in names


def test_a_misspelt_tensor_in_a_kernel_is_a_verdict_that_names_its_line() -> None:
    def mine(case: assay.Case) -> dict[str, np.ndarray]:
        return {"dq": case.inputs["querry"]}

    report = assay.judge(mine, LINE)[0]
    assert report.verdict == "crash" and "did you mean 'query'?" in report.evidence
    assert f"{Path(__file__).name}:" in report.evidence, report.evidence


def test_reports_print_as_their_summary() -> None:
    reports = assay.judge(kernels.right, [LINE, kernels.SMALL_LINES[4]])
    assert str(reports) == reports.summary() == "2 cases, 2 judged: 2 conforms"
    assert repr(reports) == "<Reports: 2 cases, 2 judged: 2 conforms>"


def test_a_case_that_does_not_apply_is_not_counted_among_those_judged() -> None:
    def none_in_fp32(case: assay.Case) -> str | None:
        return "no fp32" if case.problem["dtype"] == "fp32" else None

    kernel = assay.Implementation(kernels.right.function, "mine", "fp32_staging", none_in_fp32)
    reports = assay.judge(kernel, [LINE, kernels.SMALL_LINES[7]])
    assert reports.summary() == "2 cases, 1 judged: 1 conforms; 1 not_applicable"


def test_a_narrow_output_is_an_error() -> None:
    """The kernel must not write a float16 array: float16 and bfloat16 represent different values."""
    def halved(case: assay.Case) -> dict[str, np.ndarray]:
        return {name: np.zeros(array.shape, np.float16) for name, array in kernels.right(case).items()}

    for line, wanted in ((LINE, "float32"), (kernels.SMALL_LINES[6], "bfloat16")):
        report = assay.judge(halved, line)[0]
        assert report.verdict == "usage_error" and f"is float16; expected {wanted}: cast it" in report.evidence


@pytest.mark.slow
def test_judge_gives_the_reason_that_run_gives(tmp_path: Path) -> None:
    """An exact case with a scale for which no exact inputs exist."""
    line = f"{kernels.OPERATOR} --dtype=fp16 --track=exact --seq_q=8 --seq_kv=8 --scale_value=0.3"
    (tmp_path / "lines.txt").write_text(line + "\n", encoding="utf-8")
    judged = assay.judge(kernels.right, line)[0]
    run = assay.sweep(kernels.right, f"--lines={tmp_path / 'lines.txt'}")[0]
    assert (judged.verdict, judged.decided_by) == (run.verdict, run.decided_by)
    assert judged.evidence.endswith(run.evidence) and run.evidence
