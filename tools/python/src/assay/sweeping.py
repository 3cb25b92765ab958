"""`assay sweep` from Python: in this process's program, or in parts that an executor runs, on this machine or others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from assay.implementation import Function, Implementation
from assay.judging import command_of
from assay.program import Program, find_program
from assay.reports import Reports, read_reports

_OWN_FLAGS = ("--implementation", "--report", "--shard")  # of the words that are made here
_FILES = ("--store", "--html", "--junit", "--resume", "--require-judged", "--least-judged")  # of the whole sweep


class Future(Protocol):
    """What an executor promises: concurrent.futures.Future, or a framework's own."""

    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


class Executor(Protocol):
    """What runs calls somewhere: concurrent.futures.Executor, Dask's Client.get_executor(), mpi4py's MPIPoolExecutor ..."""

    def submit(self, function: Any, /, *arguments: Any) -> Future: ...


def sweep(
    function: Function | Implementation | str,
    *flags: str,
    program: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    parts: int = 8,
) -> Reports:
    """Has `assay sweep` drive a function at the top level of a file, live: exact cases for its own numerics, fresh seeds,
    relations between runs. `flags` are those of `assay sweep`; instead of a function, what stands behind --implementation.

    report: where report.json is written. executor: runs the sweep as so many `parts`, each a call that may be repeated
    elsewhere; the result is that of one process but for times; `--budget` is each part's own. Its workers need the same program, at the same path, and
    what the function imports. Where one of them fails the others are cancelled.
    """
    tool = Program(find_program(program))
    _refuse(flags, _OWN_FLAGS, "is set by sweep() itself")
    name = function if isinstance(function, str) else command_of(function)
    words = ["sweep", *flags, f"--implementation={name}"]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        written = Path(folder) / "report.json" if report is None else Path(report)
        if executor is None:
            tool.run([*words, f"--report={written}"], accepted=(0, 1, 3), leaves=written)
        else:
            _refuse(flags, _FILES, "is about the whole sweep, and an executor runs parts of it")
            spendable = any(flag.partition("=")[0] == "--budget" for flag in flags)
            _merge(tool, _run_parts(tool, words, executor, parts), Path(folder), written, spendable)
        return read_reports(written)


def run_part(program: str, words: Sequence[str], part: str) -> str:
    """The report, as JSON, of one part of a sweep: what an executor calls, on any machine, any number of times."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        report = Path(folder) / "report.json"
        Program(Path(program)).run([*words, f"--shard={part}", f"--report={report}"], accepted=(0, 1, 3), leaves=report)
        return report.read_text(encoding="utf-8")


def _run_parts(tool: Program, words: list[str], executor: Executor, parts: int) -> list[str]:
    if parts < 1:
        raise ValueError(f"parts is {parts}, wanted 1 or more")
    futures = [executor.submit(run_part, str(tool.path), words, f"{k}/{parts}") for k in range(1, parts + 1)]
    try:
        return [str(future.result()) for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _merge(tool: Program, reports: list[str], folder: Path, written: Path, unfinished: bool) -> None:
    files = [folder / f"part{number + 1}.json" for number in range(len(reports))]
    for file, text in zip(files, reports, strict=True):
        file.write_text(text, encoding="utf-8")
    accepting = ["--unfinished"] if unfinished else []
    tool.run(["merge", *files, *accepting, f"--report={written}"], accepted=(0, 1, 3), leaves=written)


def _refuse(flags: Sequence[str], names: Sequence[str], why: str) -> None:
    for flag in flags:
        if flag.partition("=")[0] in names:
            raise ValueError(f"{flag!r} {why}")
