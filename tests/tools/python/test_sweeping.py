"""A sweep whose parts an executor runs."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
import kernels
from assay.sweeping import run_part
from timeless import timeless

FLAGS = (kernels.OPERATOR, "--only=--layout=BSND --dtype=fp32 --batch=1 --heads_q=1", "--random=0", "--shrink=0")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one process."""
    report = tmp_path_factory.mktemp("whole") / "report.json"
    alone = assay.sweep(kernels.right, *FLAGS, report=report)
    assert alone.verdicts["conforms"] >= 3, alone.summary()
    return report


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_parts_that_an_executor_runs_are_the_whole_sweep(pool: type[Executor], whole: Path, tmp_path: Path) -> None:
    joined = tmp_path / "joined.json"
    with pool(2) as executor:  # type: ignore[call-arg]
        parts = assay.sweep(kernels.right, *FLAGS, report=joined, executor=executor, parts=3)
    assert [report.command for report in parts] == [report.command for report in assay.read_reports(whole)]
    assert timeless(joined) == timeless(whole)


def test_a_budget_is_each_parts_own(whole: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        parts = assay.sweep(kernels.right, *FLAGS, "--budget=0.000001", executor=executor, parts=2)
        assert not list(parts)
        within = assay.sweep(kernels.right, *FLAGS, "--budget=600", executor=executor, parts=2)
    assert len(list(within)) == len(list(assay.read_reports(whole)))


class Idle:
    """Runs nothing; the worker of the part `broken` is lost."""

    def __init__(self, broken: str) -> None:
        self.broken, self.futures = broken, list[Future[Any]]()

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        assert function is run_part
        if arguments[-1] == self.broken:
            future.set_exception(OSError("the worker is gone"))
        return future


def test_a_part_that_fails_is_told_and_the_others_are_cancelled() -> None:
    executor = Idle("1/3")
    with pytest.raises(OSError, match="the worker is gone"):
        assay.sweep(kernels.right, *FLAGS, executor=executor, parts=3)
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_what_cannot_be_run_in_parts_is_named() -> None:
    executor = Idle("1/2")
    for flag in ("--store=s.h5", "--require-judged=3", "--junit=j.xml"):
        with pytest.raises(ValueError, match=f"^'{flag}' is about the whole sweep"):
            assay.sweep(kernels.right, flag, executor=executor)
    for flag in ("--shard=1/2", "--report=r.json"):
        with pytest.raises(ValueError, match=f"^'{flag}' is set by sweep"):
            assay.sweep(kernels.right, flag)
    with pytest.raises(ValueError, match="^parts is 0, wanted 1 or more$"):
        assay.sweep(kernels.right, executor=executor, parts=0)
    assert not executor.futures
