"""Case files that Assay exported are read, copied, and extended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

import assay
from assay.program import Program


def test_a_case_describes_itself(cases: list[assay.Case]) -> None:
    grouped = cases[1]
    assert grouped.operator == "flash_attention_score_grad"
    assert grouped.command.startswith("flash_attention_score_grad --layout=BSH")
    assert (grouped.entry_point, grouped.product, grouped.track, grouped.seed) == ("g1", "a2", "bound", 1)
    assert grouped.problem["heads_q"] == 4 and grouped.problem["keep_prob"] == 1.0
    assert grouped.problem["lengths_q"] == []
    assert grouped.dtype.name == "bfloat16"
    assert cases[5].problem["lengths_kv"] == [5, 2]


def test_tensors_come_in_the_documented_types_and_shapes(cases: list[assay.Case]) -> None:
    inputs = cases[4].inputs
    assert inputs["query"].shape == (2, 2, 6, cases[4].problem["head_dim"])
    assert inputs["atten_mask"].dtype == np.bool_ and inputs["atten_mask"].shape == (2, 1, 6, 6)
    assert inputs["softmax_max"].shape == (2, 2, 6, 8)
    assert cases[1].inputs["query"].dtype.name == "bfloat16"


def test_views_have_the_strides_of_the_call(cases: list[assay.Case]) -> None:
    padded = cases[6]
    for name, dense in padded.inputs.items():
        assert np.array_equal(padded.views[name], dense), name
    view = padded.views["query"]
    assert not view.flags.c_contiguous
    assert cases[0].views["query"].flags.c_contiguous


def test_the_reference_is_there_with_its_tolerance(cases: list[assay.Case]) -> None:
    dq = cases[1].expected["dq"]
    rows = 4 * 6
    assert dq.value.shape == dq.tau.shape == dq.radius.shape == (rows, cases[1].problem["head_dim"])
    assert dq.value.dtype == np.float64 and dq.rounded.dtype.name == "bfloat16"
    assert np.all(np.abs(dq.rounded.astype(np.float64) - dq.value) <= dq.tau + dq.radius)
    assert dq.profile == "fp32_staging"
    assert dq.rows is not None and dq.rows.tolist() == list(range(rows))


@pytest.mark.parametrize("places", [slice(None), slice(1, None), slice(None, None, -1)])
def test_a_file_holds_the_chosen_cases_in_their_order(exported: Path, tmp_path: Path, places: slice) -> None:
    chosen = assay.read_cases(exported)[places]
    assay.write_cases(tmp_path / "some.h5", chosen)
    assert [case.id for case in assay.read_cases(tmp_path / "some.h5")] == [case.id for case in chosen]


def test_a_copy_is_judged_as_the_original(exported: Path, tmp_path: Path) -> None:
    """Assay checks digests when it reads: it would refuse a copy with one changed bit."""
    copy = tmp_path / "copy.h5"
    originals = assay.read_cases(exported)
    assay.write_cases(copy, originals)
    copies = assay.read_cases(copy)
    assert [c.command for c in copies] == [c.command for c in originals]
    reports = []
    for case in copies:
        values = {name: e.rounded for name, e in case.expected.items()}
        shapes = {"dq": "query", "dk": "key", "dv": "value"}
        if case.problem["layout"] == "BNSD":
            outputs = {name: v.reshape(case.inputs[shapes[name]].shape) for name, v in values.items()}
            assay.write_outputs(case, "rounded", outputs, '{"preset": "fp32_staging"}')
    report = tmp_path / "report.json"
    Program(assay.find_program()).run(["check", copy, "--report", report])
    reports = assay.read_reports(report)
    assert len(reports) == 4 and reports.conforms, reports.summary()


def test_outputs_are_read_back(cases: list[assay.Case]) -> None:
    dq = np.arange(6, dtype=np.float32).reshape(2, 3)
    assay.write_outputs(cases[0], "a/b 100%", {"dq": dq})
    assay.write_outputs(cases[0], "a/b 100%", {"dq": dq + 1}, '{"order": "any"}')  # replaces
    assert np.array_equal(cases[0].outputs("a/b 100%")["dq"], dq + 1)
    assert list(cases[0].outputs("a/b 100%")) == ["dq"]
    assert cases[0].outputs("nobody") == {}


def test_outputs_leave_no_storage_of_those_that_they_replace(cases: list[assay.Case]) -> None:
    storage = f"cases/{cases[0].id}/storage/actual/mine"
    with h5py.File(cases[0].path, "r+") as file:
        file[f"{storage}/dq"] = np.zeros(9)
    assay.write_outputs(cases[0], "mine", {"dq": np.zeros((2, 3), np.float32)})
    with h5py.File(cases[0].path) as file:
        assert storage not in file


def test_a_file_is_replaced_at_once(exported: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    assay.write_cases(copy, assay.read_cases(exported))
    copy.chmod(0o640)
    before = copy.read_bytes()

    def torn() -> Iterator[assay.Case]:
        yield assay.read_cases(exported)[0]
        assert copy.read_bytes() == before, "the old file must stay until the end"
        raise RuntimeError("stopped half way")

    with pytest.raises(RuntimeError, match="half way"):
        assay.write_cases(copy, torn())
    case = assay.read_cases(copy)[0]
    with pytest.raises(TypeError):
        assay.write_outputs(case, "x", {"dq": np.zeros((1, 1))}, profile=object())  # type: ignore[arg-type]
    assert copy.read_bytes() == before
    assay.write_outputs(case, "x", {"dq": np.zeros((1, 1))})
    assert copy.stat().st_mode & 0o777 == 0o640
    assert list(case.outputs("x")) == ["dq"]
    assert [path.name for path in tmp_path.iterdir()] == ["copy.h5"], "no other file may be left"


def test_invalid_files_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "assay-9"
    with pytest.raises(assay.CaseFileError, match="x.h5.*'assay-9'; expected 'assay-2'"):
        assay.read_cases(path)
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "assay-2"
        file.create_group("cases/abc/problem")
    with pytest.raises(assay.CaseFileError, match="abc lacks operator, entry_point"):
        assay.read_cases(path)
