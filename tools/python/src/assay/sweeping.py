"""`assay sweep` from Python: in this process's program, or in parts that an executor runs, on this machine or others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from assay.implementation import Function, Implementation
from assay.judging import command_of
from assay.program import AssayError, Program, find_program
from assay.report_files import read_report
from assay.reports import Reports, read_reports

_OWN_FLAGS = ("--implementation", "--report", "--shard")  # of the words that are made here
# Of the whole sweep: which argument of sweep() has `assay merge` do the same.
_OF_MERGE = {
    "--html": "html",
    "--junit": "junit",
    "--require-judged": "require_judged",
}
_STORES = ("--store", "--resume")
_ENDS_EARLY = ("--budget", "--fail-fast")  # of parts that may be joined unfinished
_ENDED = (0, 1, 3)  # exit codes of a sweep that has a result


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
    html: str | os.PathLike[str] | None = None,
    junit: str | os.PathLike[str] | None = None,
    require_judged: int = 0,
    executor: Executor | None = None,
    parts: int = 8,
    **others: object,
) -> Reports:
    """Has `assay sweep` drive a function at the top level of a file, live: exact cases for its own
    numerics, fresh seeds, relations between runs. `flags` are those of `assay sweep`; instead of a
    function, what stands behind --implementation.

    report, html, junit: where the results are written. require_judged: AssayError is raised where
    fewer cases were judged by numbers and none failed. executor: runs the sweep as so many
    `parts`, each a call that may be repeated elsewhere; the result is that of one process but for
    times. `--budget` and `--fail-fast` are each part's own, and what was run is reported. Its
    workers need the same program, at the same path, and what the function imports. Where one of
    them fails the others are cancelled.
    """
    for other, value in others.items():
        flag = f"--{other.replace('_', '-')}={value}"
        raise TypeError(f"sweep() has no argument {other!r}; pass flags of 'assay sweep' as strings, such as {flag!r}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {type(executor).__name__} ({executor!r}), wanted an object with submit(), such as "
            "concurrent.futures.ProcessPoolExecutor() or dask.distributed.Client().get_executor()"
        )
    for flag in flags:
        if not isinstance(flag, str):
            raise TypeError(f"flags hold {type(flag).__name__} ({flag!r}), wanted texts such as '--random=0'")
    tool = Program(find_program(program))
    _refuse(flags, _OWN_FLAGS, "is set by sweep() itself")
    files = {"report": report, "html": html, "junit": junit}
    name = function if isinstance(function, str) else command_of(function)
    words = ["sweep", *flags, f"--implementation={name}"]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        written = Path(folder) / "report.json" if report is None else Path(report)
        asked = _asked(files | {"report": written}, require_judged)
        if executor is None:
            tool.run([*words, *asked], accepted=_ENDED, leaves=written)
        else:
            _refuse_for_parts(flags)
            asked += [*_with_values(flags, ("--baseline",)), *(flag for flag in flags if flag == "--force")]
            if _has(flags, _ENDS_EARLY):
                asked.append("--unfinished")
            texts = _run_parts(tool, words, executor, parts)
            tool.run(["merge", *_kept(texts, Path(folder)), *asked], _ENDED, leaves=written)
        return _judged_enough(written, max(require_judged, _least_of(flags)), tool)


def run_part(program: str, words: Sequence[str], part: str) -> str:
    """The report, as JSON, of one part of a sweep: what an executor calls, on any machine, any number of times."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        report = Path(folder) / "report.json"
        line = [*words, f"--shard={part}", f"--report={report}"]
        Program(Path(program)).run(line, accepted=_ENDED, leaves=report)
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


def _kept(texts: list[str], folder: Path) -> list[Path]:
    """The reports of parts as files."""
    files = [folder / f"part{number + 1}.json" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def _asked(files: Mapping[str, str | os.PathLike[str] | None], require_judged: int) -> list[str]:
    """Flags that `sweep` and `merge` share. A file that cannot be written is told before cases are
    run: `merge` would tell it when they all have been."""
    if require_judged < 0:
        raise ValueError(f"require_judged is {require_judged}, wanted 0 or more")
    given = {name: Path(file) for name, file in files.items() if file is not None}
    for name, file in given.items():
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise ValueError(f"{name} is '{file}', wanted a file in a folder that there is")
    judged = [f"--require-judged={require_judged}"] if require_judged else []
    return [*(f"--{name}={file}" for name, file in given.items()), *judged]


def _least_of(flags: Sequence[str]) -> int:
    """What the flag --require-judged demands; 0 without."""
    words = _with_values(flags, ("--require-judged",))
    return int(words[-1].rpartition("=")[2]) if words else 0


def _judged_enough(file: Path, least: int, tool: Program) -> Reports:
    """The reports of a file, which name the program as this shell finds it. Where they are too few that is an error, unless
    a failure says more."""
    found = read_reports(file)
    reports = Reports([replace(report, program=tool.shown) for report in found], found.causes)
    if least > 0 and not reports.failures:
        of = read_report(file)[0]["summary"]
        if of["value_cases"] < least:
            raise AssayError(f"only {of['value_cases']} of {of['planned']} cases were judged by numbers; --require-judged is {least}")
    return reports


def _name(flag: str) -> str:
    return flag.partition("=")[0]


def _has(flags: Sequence[str], names: Collection[str]) -> bool:
    return any(_name(flag) in names for flag in flags)


def _with_values(flags: Sequence[str], names: Collection[str]) -> list[str]:
    """The flags of these names with their values, which may be words of their own."""
    words, found = iter(flags), list[str]()
    for word in words:
        if _name(word) in names:
            found += [word] if "=" in word else [word, *islice(words, 1)]
    return found


def _refuse(flags: Sequence[str], names: Collection[str], why: str) -> None:
    for flag in flags:
        if _name(flag) in names:
            raise ValueError(f"{flag!r} {why}")


def _refuse_for_parts(flags: Sequence[str]) -> None:
    """What says something of a whole sweep, and would be said of each part."""
    why = "is about the whole sweep, and an executor runs parts of it"
    for name, argument in _OF_MERGE.items():
        _refuse(flags, (name,), f"{why}: give sweep() the argument {argument}")
    parts = "run `assay sweep --shard i/n --store FILE` for each part and join the files with `assay merge`"
    _refuse(flags, _STORES, f"keeps the cases of one process: without an executor, {parts}")
