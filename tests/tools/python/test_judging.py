"""Tests the verdicts on Python functions."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
import kernels
from assay.program import Program, find_program


def by_layout(reports: assay.Reports, cases: list[assay.Case]) -> dict[str, assay.Report]:
    return {str(case.problem["layout"]): report for case, report in zip(cases, reports)}


def test_a_right_kernel_conforms(exported: Path) -> None:
    seen: list[tuple[int, int]] = []
    reports = assay.judge(kernels.right, exported, progress=lambda done, all: seen.append((done, all)))
    assert len(reports) == 8 and reports.verdicts == {"conforms": 8}, reports.summary()
    assert seen[-1] == (8, 8)
    assert "guards and padding" in reports[0].unconfirmed
    assert "determinism" not in reports[0].unconfirmed
    assert 0 < max(reports[0].worst.values()) < 1
    assert assay.assert_conforms(kernels.right, kernels.SMALL_LINES[0]).conforms


def test_a_wrong_kernel_is_reported_with_its_place(exported: Path) -> None:
    with pytest.raises(AssertionError) as raised:
        assay.assert_conforms(kernels.without_scale, exported)
    text = str(raised.value)
    assert "without scale does not conform" in text
    assert "assay run flash_attention_score_grad --" in text
    assert "dk" in text and "nonconformant" in text
    failures = assay.judge(kernels.without_scale, exported).failures
    assert {finding.tensor for failure in failures for finding in failure.findings} >= {"dk"}


def test_a_forward_that_keeps_the_logsumexp_alone_conforms(tmp_path: Path) -> None:
    def forward(case: assay.Case, error: float = 0.0) -> dict[str, np.ndarray]:
        x = {name: array.astype(np.float64) for name, array in case.inputs.items()}
        scores = case.problem["scale_value"] * x["query"] @ x["key"].swapaxes(2, 3)
        lse = np.log(np.exp(scores).sum(-1))
        output = np.exp(scores - lse[..., None]) @ x["value"]
        statistics = np.broadcast_to((lse + error)[..., None], (*lse.shape, 8)).astype(np.float32)
        return {"softmax_max": statistics, "softmax_sum": np.ones_like(statistics), "attention_out": output.astype(case.dtype)}

    lines = [f"flash_attention_score --dtype={dtype} --seq_q=33 --seq_kv=65 --scale_value=0.125" for dtype in ("fp32", "bf16")]
    declares = assay.implementation(name="keeps", numerics="fp32_staging,saves=lse")
    assert assay.judge(declares(forward), lines).verdicts == {"conforms": 2}
    wrong = assay.judge(declares(lambda case: forward(case, 1e-3)), lines)
    assert {finding.tensor for report in wrong for finding in report.findings} == {"softmax_max"}
    assert len(wrong.failures) == 2, wrong.summary()
    rough = assay.implementation(name="rough", numerics="fp32_staging,saves=lse,log_error=1e-3")
    assert assay.judge(rough(lambda case: forward(case, 0.9e-3)), lines).verdicts == {"conforms": 2}
    program = assay.program.Program(assay.find_program())
    file = tmp_path / "cases.h5"
    program.run(["export", file, "--numerics=fp32_staging,saves=lse", *lines[0].split()])
    case = assay.read_cases(file)[0]
    assert sorted(case.expected) == ["attention_out", "softmax_max"]
    assay.write_outputs(case, "mine", forward(case))
    assert "mine conforms" in program.run(["check", file, "--numerics=fp32_staging,saves=lse"]).splitlines()[-1]


def test_replay_lines_start_with_the_program_that_judged(tmp_path: Path) -> None:
    program = shutil.copy(assay.find_program(), tmp_path / "my_kernels")
    judged, not_offered = kernels.SMALL_LINES[:2]
    for kernel, line in ((kernels.without_scale, judged), (kernels.troubled, not_offered)):
        report = assay.judge(kernel, line, program=program)[0]
        assert report.replay.startswith(f"{program} run {report.command} --implementation='command:")
        assert report.replay in report.explanation()
        assert len(assay.judge(kernel, report.replay, program=program)) == 1


def test_a_replay_line_gives_the_same_verdict_unchanged(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom kernels import right, without_scale\n"
        "import assay\n\n@assay.implementation(name='mine', numerics='fp32_staging')\ndef mine(case):\n"
        "    return without_scale(case)\n",
        encoding="utf-8",
    )
    report = assay.judge(assay.serving.load(f"{tmp_path / 'mine.py'}:mine"), kernels.SMALL_LINES[0])[0]
    done = subprocess.run(["sh", "-c", report.replay], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith(report.verdict), done.stdout + done.stderr


def test_a_local_function_is_repeated_by_a_call_in_python() -> None:
    def local(case: assay.Case) -> dict[str, np.ndarray]:
        return dict(kernels.without_scale(case))

    for function, name in ((local, "local"), (lambda case: local(case), "FUNCTION")):
        report = assay.judge(function, kernels.SMALL_LINES[0])[0]
        call, _, why = report.replay.partition("  # ")
        assert call == f"assay.judge({name}, {report.command!r})"
        assert why.startswith("Python, not a command") and why.endswith("at the top level of a file")
        assert report.replay in str(assay.judge(function, kernels.SMALL_LINES[0]))
        again = eval(report.replay, {"assay": assay, name: function})  # noqa: S307
        assert again[0].verdict == report.verdict != "conforms"


@pytest.mark.slow
def test_replay_lines_of_others_run_no_commands(tmp_path: Path) -> None:
    report = assay.judge(kernels.right, kernels.SMALL_LINES[0])[0]
    mine = tmp_path / "mine"
    for command in (f"; touch {mine}", f"$(touch {mine})", f"`touch {mine}`", f"\ntouch {mine}", f"'; touch {mine}; '"):
        other = dataclasses.replace(report, program=f"true{command}", command=report.command + " " + command)
        subprocess.run(["sh", "-c", other.replay], stderr=subprocess.DEVNULL, check=False)
        assert not mine.exists(), other.replay


@pytest.mark.slow
def test_cases_may_be_given_in_many_ways(exported: Path) -> None:
    first, second = assay.read_cases(exported)[:2]
    line = kernels.SMALL_LINES[0]
    for cases, count in (
        (first, 1),
        ([first, second], 2),
        (f"assay run {line}", 1),
        ([line, second], 2),
        (assay.Plan(only="--seq_q=3 ", largest=2000, random=0), None),
    ):
        reports = assay.judge(kernels.right, cases)
        assert count is None or len(reports) == count
        assert not reports.failures, reports.summary()
    assert first.outputs("numpy") == {}  # judge does not write to a given file


def test_an_invalid_case_among_cases_is_reported(cases: list[assay.Case]) -> None:
    with pytest.raises(TypeError, match=r"^cases\[1\] is int; expected a Case or a replay line$"):
        assay.judge(kernels.right, [cases[0], 3])  # type: ignore[list-item]


def test_a_replay_line_may_be_longer_than_the_name_of_a_file() -> None:
    lengths = ",".join(["1"] * 130)
    line = f"{kernels.OPERATOR} --dtype=fp32 --layout=TND --entry_point=u1 --lengths_q={lengths} --lengths_kv={lengths}"
    assert len(line) > 255 and assay.judge(kernels.right, line).conforms


def test_trouble_is_a_verdict_and_the_others_are_judged(cases: list[assay.Case]) -> None:
    chosen = [case for case in cases if case.problem["layout"] != "TND"]
    seen = by_layout(assay.judge(kernels.troubled, chosen), chosen)
    assert seen["BSH"].verdict == "not_applicable" and "does not support this: BSH" in str(seen["BSH"].findings[0])
    assert seen["SBH"].verdict == "rejected_wrongly" and "161002 no SBH" in str(seen["SBH"].findings[0])
    assert seen["BSND"].verdict == "crash" and "MemoryError: too small" in str(seen["BSND"].findings[0])
    assert "kernels.py:" in str(seen["BSND"].findings[0])
    assert seen["BNSD"].verdict == "conforms"


def test_a_verdict_carries_its_reason(cases: list[assay.Case]) -> None:
    chosen = [case for case in cases if case.problem["layout"] != "TND"]
    seen = by_layout(assay.judge(kernels.troubled, chosen), chosen)
    rules = {layout: report.decided_by for layout, report in seen.items()}
    assert rules == {"BSH": "not_offered", "SBH": "legal_call", "BSND": "conduct", "BNSD": "agreement"}
    assert "elements of dq, dk, dv agree" in seen["BNSD"].evidence
    wrong = assay.judge(kernels.without_scale, cases[0])[0]
    assert wrong.decided_by == "bound" and "tau" in wrong.evidence
    assert f"decided by bound: {wrong.evidence}" in wrong.explanation()
    changed = assay.judge(kernels.in_place, cases[0])[0]
    assert (changed.decided_by, changed.evidence) == ("conduct", str(changed.findings[0]))


def test_the_refusal_of_a_disputed_call_does_not_fail() -> None:
    def narrow(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        raise assay.Rejected(161002, "too wide")

    line = f"{kernels.OPERATOR} --seq_q=3 --seq_kv=3 --head_dim_v=8 --head_dim="
    wide, usual = assay.judge(narrow, [line + "520", line + "16"])
    assert wide.verdict == "not_applicable" and "open: FAG-C44a" in str(wide.findings[0])
    assert usual.verdict == "rejected_wrongly"


def test_inputs_that_are_changed_in_place_are_a_verdict(cases: list[assay.Case]) -> None:
    report = assay.judge(kernels.in_place, cases[0])[0]
    assert report.verdict == "nonconformant_structural" and report.command == cases[0].command
    assert str(report.findings[0]) == "the implementation changed its input key"

    def through_a_view(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        outputs = kernels.right(case)
        case.views["dy"][..., 0] = 7
        return dict(outputs)

    assert "changed its input dy" in str(assay.judge(through_a_view, cases[0])[0].findings[0])
    assert not cases[0].changed_inputs()


def test_invalid_functions_and_outputs_are_reported(cases: list[assay.Case]) -> None:
    with pytest.raises(TypeError, match="^NoneType; expected a function"):
        assay.judge(None, cases[0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^NoneType; expected a function"):
        assay.sweep(None)  # type: ignore[arg-type]
    report = assay.judge(lambda case: None, cases[0])[0]  # type: ignore[arg-type, return-value]
    assert report.verdict == "crash" and "returned NoneType; expected outputs by name" in str(report.findings[0])


def test_a_kernel_does_not_end_the_program_that_judges_it(cases: list[assay.Case]) -> None:
    def leaves(case: assay.Case) -> dict[str, Any]:
        raise SystemExit(0)

    report = assay.judge(leaves, cases[0])[0]
    assert report.verdict == "crash" and "SystemExit: 0" in str(report.findings[0])


def test_another_program_than_assay_is_reported(cases: list[assay.Case], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY", "/bin/true")
    with pytest.raises(assay.AssayError, match=r"^'/bin/true' \(the environment's ASSAY\) is not the program assay$"):
        assay.judge(kernels.right, cases[0])


def run_command(command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`assay` with a program that serves as a kernel."""
    line = [str(assay.find_program()), *words, "--implementation", command]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "location, fault",
    [
        (f"{kernels.__file__}:no_such", "AttributeError: module 'kernels' has no attribute 'no_such'"),
        ("/no/such.py:right", "FileNotFoundError: no such file: /no/such.py"),
        (f"{kernels.__file__}:nothing", "nothing is NoneType; expected a function"),
    ],
)
def test_a_function_that_cannot_be_served_is_wrong_usage(location: str, fault: str) -> None:
    command = f"command:{sys.executable} -m assay serve {location}"
    for words in (["run", *kernels.SMALL_LINES[0].split()], ["sweep", kernels.OPERATOR, "--only=--seq_q=3 ", "--random=0"]):
        done = run_command(command, *words)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert fault in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_assay_sees_inputs_that_a_served_function_changes() -> None:
    done = run_command(assay.command_of(kernels.in_place), "run", *kernels.SMALL_LINES[0].split())
    assert done.returncode == 1 and "nonconformant_structural" in done.stdout, done
    assert "changed its input key" in done.stdout


def test_a_broken_promise_of_a_fixed_order_is_seen(cases: list[assay.Case]) -> None:
    assert assay.judge(kernels.moody, cases[0]).verdicts == {"nondeterministic": 1}


def test_an_output_of_another_shape_or_type_is_an_error_of_use(cases: list[assay.Case]) -> None:
    def transposed(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        return {name: array.swapaxes(-1, -2) for name, array in kernels.right(case).items()}

    report = assay.judge(transposed, cases[0])[0]
    assert report.verdict == "usage_error" and not report.conforms
    assert re.search(r"\bd[kqv] has shape", str(report.findings[0]))  # the first case of the file
    assert report.command == cases[0].command and "/tmp" not in str(report.findings[0])


def test_outputs_in_another_floating_type_are_judged_if_nothing_is_lost(cases: list[assay.Case]) -> None:
    def wide(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        return {name: array.astype(np.float64) for name, array in kernels.right(case).items()}

    def unrounded(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        return {name: array + np.float64(2.0**-40) for name, array in wide(case).items()}

    case = next(case for case in cases if case.problem["dtype"] == "bf16")
    assert assay.judge(wide, case).conforms
    report = assay.judge(unrounded, case)[0]
    assert report.verdict == "usage_error" and report.command == case.command
    assert "dq is float64; expected bfloat16, and dq[0, " in str(report.findings[0])


def test_judging_nothing_is_not_a_success(cases: list[assay.Case]) -> None:
    nothing = assay.implementation(unsupported=lambda case: "nothing is offered")(lambda case: {})
    assert not assay.judge(nothing, cases[0]).conforms
    with pytest.raises(AssertionError, match="1 not_applicable"):
        assay.assert_conforms(nothing, cases[0])


def test_missing_exact_inputs_for_the_numerics_are_reported(tmp_path: Path) -> None:
    grouped = f"{kernels.OPERATOR} --track=exact --scale_value=0.0625 --heads_q=4 --heads_kv=1 --seq_q=8 --seq_kv=8"
    loose = assay.implementation(name="loose", numerics="jax_cpu")(kernels.right.function)
    report = assay.judge(loose, [grouped])[0]
    assert report.verdict == "not_applicable" and "partial results in bf16" in str(report.findings[0])
    assert assay.judge(kernels.right, [grouped]).conforms


def test_misuse_is_reported_by_assay() -> None:
    with pytest.raises(assay.AssayError, match="no_such_operator"):
        assay.judge(kernels.right, "no_such_operator --seq_q=3")
    with pytest.raises(assay.AssayError, match="/no/such/assay.*given"):
        assay.judge(kernels.right, program="/no/such/assay")


@pytest.mark.slow
def test_assay_itself_drives_a_function() -> None:
    only = "--only=--layout=BSND --dtype=fp32 --batch=1 --heads_q=1"
    reports = assay.sweep(kernels.right, kernels.OPERATOR, only, "--random=0", "--shrink=0")
    assert len(reports) > 0 and not reports.failures, reports.summary()
    assert reports.verdicts["conforms"] > 0


@pytest.mark.slow
def test_the_default_plan_has_many_cases_of_every_operator(tmp_path: Path) -> None:
    program, file = Program(find_program()), tmp_path / "plan.h5"
    program.run(["export", file, "--recipe-only", *assay.Plan().words()])
    operators = set(re.findall(r"^run (\w+)$", program.run(["help", "--as=commands"]), re.MULTILINE))
    counts = Counter(case.operator for case in assay.read_cases(file))
    assert set(counts) == operators and min(counts.values()) >= 10, counts
