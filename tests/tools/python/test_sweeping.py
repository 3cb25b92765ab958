"""A sweep whose parts an executor runs."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
import kernels
from assay.program import Program, find_program
from assay.sweeping import run_part
from timeless import timeless

# Selects only short sequences, because kernels in Python are slow.
ONLY = "--only=--layout=BSND --dtype=fp32 --batch=1 --heads_q=1 & !--seq_q=102 & !--seq_kv=8193"
FLAGS = (kernels.OPERATOR, ONLY, "--random=0", "--shrink=0", "--seed=1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one process."""
    report = tmp_path_factory.mktemp("whole") / "report.json"
    alone = assay.sweep(kernels.right, *FLAGS, report=report)
    assert alone.verdicts["conforms"] >= 3, alone.summary()
    return report


@pytest.mark.slow
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_parts_that_an_executor_runs_are_the_whole_sweep(pool: type[Executor], whole: Path, tmp_path: Path) -> None:
    joined = tmp_path / "joined.json"
    with pool(2) as executor:  # type: ignore[call-arg]
        parts = assay.sweep(kernels.right, *FLAGS, report=joined, executor=executor, parts=3)
    assert [report.command for report in parts] == [report.command for report in assay.read_reports(whole)]
    assert timeless(joined) == timeless(whole)


@pytest.mark.slow
def test_a_budget_is_each_parts_own(whole: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        parts = assay.sweep(kernels.right, *FLAGS, "--budget=0.000001", executor=executor, parts=2)
        assert not list(parts)
        within = assay.sweep(kernels.right, *FLAGS, "--budget=600", executor=executor, parts=2)
    assert len(list(within)) == len(list(assay.read_reports(whole)))


@pytest.mark.slow
def test_each_part_can_stop_after_its_first_failure(tmp_path: Path) -> None:
    alone = assay.sweep(kernels.without_scale, *FLAGS, "--fail-fast")
    assert alone[-1].verdict.startswith("nonconformant") and len(alone.failures) == 1
    with ThreadPoolExecutor(2) as executor:
        joined = assay.sweep(kernels.without_scale, *FLAGS, "--fail-fast", executor=executor, parts=2)
        whole = assay.sweep(kernels.right, *FLAGS, "--fail-fast", executor=executor, parts=2)
    # A part may contain no case that the kernel supports, so it may have no failure.
    assert 1 <= len(joined.failures) <= 2 and len(joined) < len(whole), joined.summary()
    assert alone[-1].command in [failure.command for failure in joined.failures]
    assert not whole.failures


def test_a_sweep_shows_its_causes_first() -> None:
    reports = assay.sweep(kernels.without_scale, *FLAGS)
    failing = {report.id for report in reports.failures}
    assert failing and {id for cause in reports.causes for id in cause.cases} == failing
    first = reports.causes[0]
    assert set(first.outputs) <= {"dq", "dk", "dv"} and first.line.startswith("flash_attention_score_grad ")
    assert reports.summary().splitlines()[1] == f"cause 1: {first}"


@pytest.mark.slow
@pytest.mark.parametrize("parts", [None, 2])
def test_files_and_a_least_number_are_of_the_whole_sweep(
    parts: int | None, whole: Path, tmp_path: Path
) -> None:
    report, page, junit = (tmp_path / name for name in ("all.json", "all.html", "all.xml"))
    baseline = tmp_path / "known.txt"
    failing = assay.sweep(kernels.without_scale, *FLAGS, "--fail-fast")[-1]
    known = f"# known\n2999-12-31 {failing.verdict} {failing.command}\n"
    baseline.write_text(known, encoding="utf-8")
    with ThreadPoolExecutor(2) as executor:
        split: dict[str, Any] = {} if parts is None else {"executor": executor, "parts": parts}
        reports = assay.sweep(
            kernels.without_scale, *FLAGS, "--baseline", str(baseline),
            report=report, html=page, junit=junit, require_judged=10**6, **split,
        )  # fmt: skip
        assert reports.failures, "the reports of the failures must be available"
        assert len(assay.read_reports(report)) == len(reports) == len(assay.read_reports(whole))
        assert junit.read_text(encoding="utf-8").count("<testcase") == len(reports)
        assert '<skipped message="known' in junit.read_text(encoding="utf-8")
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        least = sum(report.judged for report in assay.read_reports(whole))
        assert assay.sweep(kernels.right, *FLAGS, require_judged=least - 1, **split).conforms
        few = r"^only \d+ of \d+ cases were judged numerically; --require-judged is 1000$"
        with pytest.raises(assay.AssayError, match=few):
            some = assay.sweep(kernels.right, *FLAGS, report=report, require_judged=1000, **split)
            print(some.summary())
    assert len(assay.read_reports(report)) == len(reports), "the report must be written nevertheless"


@pytest.mark.parametrize(
    "argument, fault",
    [
        ({"require_judged": -1}, "require_judged is -1; expected 0 or more"),
        ({"junit": "/no/such/j.xml"}, "junit is '/no/such/j.xml'; expected a file in an existing folder"),
        ({"html": "/tmp"}, "html is '/tmp'; expected a file"),
    ],
)
def test_flags_that_merge_would_refuse_are_reported_first(argument: dict[str, Any], fault: str) -> None:
    executor = Idle("1/2")
    with pytest.raises(ValueError, match=f"^{fault}"):
        assay.sweep(kernels.right, *FLAGS, executor=executor, **argument)
    assert not executor.futures


class Idle:
    """A stand-in for an executor: runs nothing, and loses the worker of the part `broken`."""

    def __init__(self, broken: str) -> None:
        self.broken, self.futures = broken, list[Future[Any]]()

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        assert function is run_part
        if arguments[-1] == self.broken:
            future.set_exception(OSError("the worker is gone"))
        return future


def test_a_failing_part_is_reported_and_the_others_are_cancelled() -> None:
    executor = Idle("1/3")
    with pytest.raises(OSError, match="the worker is gone"):
        assay.sweep(kernels.right, *FLAGS, executor=executor, parts=3)
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_flags_that_parts_cannot_have_are_named() -> None:
    executor = Idle("1/2")
    for flag, argument in (("--html=x", "html"), ("--junit=j.xml", "junit"),
                           ("--require-judged=3", "require_judged")):
        printed = f"^'{flag}' applies to a whole sweep, .*: give sweep\\(\\) the argument {argument}$"
        with pytest.raises(ValueError, match=printed):
            assay.sweep(kernels.right, flag, executor=executor)
    for flag in ("--store=s.h5", "--resume"):
        printed = f"^'{flag}' stores the cases of only one process; instead of an executor, run `assay sweep --shard"
        with pytest.raises(ValueError, match=printed):
            assay.sweep(kernels.right, flag, executor=executor)
    for flag in ("--shard=1/2", "--report=r.json"):
        with pytest.raises(ValueError, match=f"^'{flag}' is set by sweep"):
            assay.sweep(kernels.right, flag)
    with pytest.raises(ValueError, match="^parts is 0; expected 1 or more$"):
        assay.sweep(kernels.right, executor=executor, parts=0)
    assert not executor.futures


def test_a_flag_that_is_given_as_a_keyword_is_shown_as_a_string() -> None:
    with pytest.raises(TypeError, match="^sweep.* has no argument 'budget'; .* such as '--budget=3s'$"):
        assay.sweep(kernels.right, budget="3s")
    with pytest.raises(TypeError, match="^implementation.* got Implementation; expected a function of a case$"):
        assay.implementation(assay.implementation(kernels.right))


@pytest.mark.slow
def test_replay_lines_of_a_sweep_name_the_program_that_ran() -> None:
    reports = assay.sweep(kernels.right, *FLAGS, "--fail-fast")
    assert reports[0].replay.startswith(Program(find_program()).shown + " run ")


def test_a_gate_ends_with_the_first_failure(tmp_path: Path) -> None:
    report = tmp_path / "gate.json"
    wrong = assay.gate(kernels.without_scale, kernels.OPERATOR, "--budget=600", report=report)
    assert wrong.failures == [wrong[-1]], wrong.summary()
    assert assay.read_reports(report)[-1].command == wrong[-1].command
    right = assay.gate("optimized-a2", "nsa_compress", "--budget=600")
    assert not right.failures and right.verdicts["conforms"] >= 50, right.summary()
    with pytest.raises(ValueError, match="argument report"):
        assay.gate(kernels.right, "--report=elsewhere.json")
