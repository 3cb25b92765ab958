"""Runs `assay sweep` from Python: in one process, or in parts that an executor runs, on this machine or others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from assay.implementation import Function, Implementation
from assay.judging import command_of, judge
from assay.program import AssayError, Program, find_program
from assay.report_files import read_report
from assay.reports import Reports, read_reports
from assay.variants import Variant, planned

_OWN_FLAGS = ("--implementation", "--report", "--shard")  # flags that sweep() sets itself
# Flags of a whole sweep, not of its parts: sweep() passes them to `assay merge`. Each flag is mapped to the name of the
# argument of sweep().
_OF_MERGE = {
    "--html": "html",
    "--junit": "junit",
    "--require-judged": "require_judged",
}
_STORES = ("--store", "--resume")
_ENDS_EARLY = ("--budget", "--fail-fast")  # with these flags, unfinished parts may be joined
_ENDED = (0, 1, 3)  # exit codes of a sweep that has a result


class Future(Protocol):
    """The interface of the result of submit(): concurrent.futures.Future, or a framework's own."""

    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


class Executor(Protocol):
    """The interface of an executor: concurrent.futures.Executor, Dask's Client.get_executor(), mpi4py's MPIPoolExecutor ..."""

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
    variant: Variant | None = None,
    part: str | None = None,
    **others: object,
) -> Reports:
    """Runs `assay sweep` on a function at the top level of a file, which is called live: exact cases for its own
    numerics, fresh seeds, relations between runs. `flags` are those of `assay sweep`; instead of a
    function, pass the value of --implementation.

    report, html, junit: the files for the results. require_judged: raises AssayError if fewer cases
    were judged numerically and none failed. executor: runs the sweep in this number of `parts`, each
    a call that may be repeated elsewhere; the result equals that of one process except for times.
    `--budget` and `--fail-fast` apply to each part, and the finished cases are reported. The workers
    of the executor need the same program, at the same path, and the modules that the function
    imports. If one part fails, the others are cancelled.

    variant: judges the cases of the operator's plan that can have a formula, with this one, each with parameters drawn anew.
    Without flags and files, the function may be any function, and runs in this process. With flags or files, `assay sweep`
    calls it as without a variant: it groups failures by cause, and shrinks failing cases and their parameters.

    part: "kv" or "q": judges the cases of the plan that can have a part, each with a part of its keys or queries.
    """
    for other, value in others.items():
        flag = f"--{other.replace('_', '-')}={value}"
        raise TypeError(f"sweep() has no argument {other!r}; pass flags of 'assay sweep' as strings, such as {flag!r}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {type(executor).__name__} ({executor!r}); expected an object with submit(), such as "
            "concurrent.futures.ProcessPoolExecutor() or dask.distributed.Client().get_executor()"
        )
    _require_strings(flags)
    if variant is not None or part is not None:
        if executor is not None:
            raise ValueError("with a variant or a part, sweep() accepts no executor")
        _refuse(flags, ("--lines",), "is set by sweep() itself, which judges the cases of the variant or the part")
        lines = planned(variant, part, program=program)
        if not (flags or report or html or junit or require_judged or isinstance(function, str)):
            return judge(function, lines, program=program)
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            listed = Path(folder) / "lines.txt"
            listed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            return sweep(function, *flags, f"--lines={listed}", program=program, report=report, html=html, junit=junit,
                         require_judged=require_judged)
    tool = Program(find_program(program))
    _refuse(flags, _OWN_FLAGS, "is set by sweep() itself")
    files = {"report": report, "html": html, "junit": junit}
    name = _name_of(function)
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


def gate(
    function: Function | Implementation | str,
    *flags: str,
    program: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
) -> Reports:
    """Runs `assay gate` on a function at the top level of a file: judges the strongest few seconds of cases, up to the first
    failure, which is the last report. `flags` are those of `assay gate`, such as an operator or "--budget=2s"; instead of a
    function, pass the value of KERNEL. report: the file for the results.
    """
    _require_strings(flags)
    _refuse(flags, ("--report",), "is set by gate() itself: use the argument report of gate()")
    tool = Program(find_program(program))
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        written = Path(folder) / "report.json" if report is None else Path(report)
        tool.run(["gate", _name_of(function), *flags, *_asked({"report": written}, 0)], accepted=_ENDED, leaves=written)
        return _judged_enough(written, 0, tool)


def run_part(program: str, words: Sequence[str], part: str) -> str:
    """The report, as JSON, of one part of a sweep. An executor calls this on any machine, any number of times."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        report = Path(folder) / "report.json"
        line = [*words, f"--shard={part}", f"--report={report}"]
        Program(Path(program)).run(line, accepted=_ENDED, leaves=report)
        return report.read_text(encoding="utf-8")


def _run_parts(tool: Program, words: list[str], executor: Executor, parts: int) -> list[str]:
    if parts < 1:
        raise ValueError(f"parts is {parts}; expected 1 or more")
    futures = [executor.submit(run_part, str(tool.path), words, f"{k}/{parts}") for k in range(1, parts + 1)]
    try:
        return [str(future.result()) for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _kept(texts: list[str], folder: Path) -> list[Path]:
    """Writes the reports of parts to files."""
    files = [folder / f"part{number + 1}.json" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def _asked(files: Mapping[str, str | os.PathLike[str] | None], require_judged: int) -> list[str]:
    """Flags that `sweep` and `merge` share. Checks before any case runs that the files can be written: `merge` would
    report that only after the last case."""
    if require_judged < 0:
        raise ValueError(f"require_judged is {require_judged}; expected 0 or more")
    given = {name: Path(file) for name, file in files.items() if file is not None}
    for name, file in given.items():
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise ValueError(f"{name} is '{file}'; expected a file in an existing folder")
    judged = [f"--require-judged={require_judged}"] if require_judged else []
    return [*(f"--{name}={file}" for name, file in given.items()), *judged]


def _least_of(flags: Sequence[str]) -> int:
    """The value of the flag --require-judged; 0 if it is absent."""
    words = _with_values(flags, ("--require-judged",))
    return int(words[-1].rpartition("=")[2]) if words else 0


def _judged_enough(file: Path, least: int, tool: Program) -> Reports:
    """The reports of a file, with the program's name in this shell. Too few judged cases are an error, unless a case failed:
    the failure is more important."""
    found = read_reports(file)
    reports = Reports([replace(report, program=tool.shown) for report in found], found.causes)
    if least > 0 and not reports.failures:
        of = read_report(file)[0]["summary"]
        if of["value_cases"] < least:
            raise AssayError(f"only {of['value_cases']} of {of['planned']} cases were judged numerically; --require-judged is {least}")
    return reports


def _name_of(function: Function | Implementation | str) -> str:
    """The value of --implementation."""
    return function if isinstance(function, str) else command_of(function)


def _require_strings(flags: Sequence[object]) -> None:
    for flag in flags:
        if not isinstance(flag, str):
            raise TypeError(f"flags contain {type(flag).__name__} ({flag!r}); expected strings such as '--random=0'")


def _name(flag: str) -> str:
    return flag.partition("=")[0]


def _has(flags: Sequence[str], names: Collection[str]) -> bool:
    return any(_name(flag) in names for flag in flags)


def _with_values(flags: Sequence[str], names: Collection[str]) -> list[str]:
    """The flags of these names with their values, which may be separate words."""
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
    """Refuses flags for the whole sweep, which would apply to each part."""
    why = "applies to a whole sweep, but with an executor the sweep runs in parts"
    for name, argument in _OF_MERGE.items():
        _refuse(flags, (name,), f"{why}: give sweep() the argument {argument}")
    parts = "run `assay sweep --shard i/n --store FILE` for each part and join the files with `assay merge`"
    _refuse(flags, _STORES, f"stores the cases of only one process; instead of an executor, {parts}")
