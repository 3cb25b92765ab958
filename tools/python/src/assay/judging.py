"""Judges a Python function: Assay makes the cases, the function computes outputs, Assay judges them."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.cases import Case, add_outputs, read_cases, write_cases
from assay.dtypes import WrongType
from assay.implementation import Function, Implementation, Rejected, Unsupported, as_implementation
from assay.program import AssayError, Program, find_program
from assay.reports import Finding, Report, Reports, read_reports, report_from

Cases = str | os.PathLike[str] | Case | Iterable[Case | str]
# If True, an exception of the user's function ends the judging, so that a debugger stops at the exception. If False,
# the exception becomes a verdict.
exceptions_pass = False

Progress = Callable[[int, int], None]
_WHY_NO_COMMAND = "Python, not a command: a command needs the function at the top level of a file"


@dataclass(frozen=True)
class Plan:
    """The selection of the cases that Assay samples; None means the default of `assay export --help`."""

    only: str | None = None  # condition as for --only of `assay export`
    largest: int | None = 20_000  # largest number of query and key elements of a case
    random: int | None = None
    seed: int | None = None
    product: str | None = None

    def words(self) -> list[str]:
        """The plan as flags of `assay export`."""
        flags = {name: getattr(self, name) for name in ("only", "largest", "random", "seed", "product")}
        return [f"--{name}={value}" for name, value in flags.items() if value is not None]


def export_plan(file: Path, plan: Plan, numerics: str = "", program: Program | None = None) -> list[Case]:
    """Writes the cases of a plan to a file. Exact cases are made for `numerics`."""
    program = program or Program(find_program())
    declared = [f"--numerics={numerics}"] if numerics else []
    program.run(["export", file, *declared, *plan.words()])
    return read_cases(file)


def export_lines(
    file: str | os.PathLike[str], lines: Sequence[str], numerics: str = "", program: Program | None = None
) -> list[Case]:
    """Writes the cases of replay lines to a file. The lines may start with "assay run" or the program's own name."""
    file = Path(file)
    program = program or Program(find_program())
    listed = file.with_suffix(".txt")
    bare = [line.removeprefix("assay run ").removeprefix(f"{program.name} run ") for line in lines]
    listed.write_text("".join(line + "\n" for line in bare), encoding="utf-8")
    declared = [f"--numerics={numerics}"] if numerics else []
    try:
        program.run(["export", file, *declared, f"--lines={listed}"])
    except AssayError as error:  # the temporary file is deleted before the user reads the message: name only the line
        raise type(error)(str(error).replace(f"{listed}:", "line ")) from None
    return read_cases(file)


def _names_file(text: str) -> bool:
    """Returns whether a text is the path of a file, existing or mistyped, not a replay line."""
    return os.path.isfile(text) or (" " not in text and text.endswith((".h5", ".hdf5")))


class NotApplicable(AssertionError):
    """Raised if none of the cases applies to the implementation; the text starts with the reason of the first case."""


class _Judge:
    """Judges one implementation with one program, in one folder for files."""

    def __init__(self, implementation: Implementation, program: Program, folder: Path) -> None:
        self.implementation, self.program, self.folder = implementation, program, folder
        self.served = _served(implementation)

    def cases_of(self, cases: Cases | Plan) -> list[Case]:
        """The cases in files of our own, to which outputs can be added."""
        if isinstance(cases, Plan):
            return export_plan(self.folder / "plan.h5", cases, self.implementation.numerics, self.program)
        if isinstance(cases, Case):
            return self._copied([cases])
        if isinstance(cases, str) and not _names_file(cases):
            return self._exported([cases])
        if isinstance(cases, (str, os.PathLike)):
            return self._copied(read_cases(cases))
        if not isinstance(cases, Iterable):
            wanted = "a replay line, a file of 'assay export', a Case, a Plan, or several lines and Cases"
            raise TypeError(f"cases is {type(cases).__name__} ({cases!r}); expected {wanted}")
        chosen = list(cases)
        for place, one in enumerate(chosen):
            if not isinstance(one, (Case, str)):
                raise TypeError(f"cases[{place}] is {type(one).__name__}; expected a Case or a replay line")
        return self._copied([case for case in chosen if isinstance(case, Case)]) + self._exported(
            [line for line in chosen if isinstance(line, str)]
        )

    def _exported(self, lines: list[str]) -> list[Case]:
        if not lines:
            return []
        return export_lines(self.folder / "lines.h5", lines, self.implementation.numerics, self.program)

    def _copied(self, cases: list[Case]) -> list[Case]:
        if not cases:
            return []
        file = self.folder / "cases.h5"
        write_cases(file, cases)
        return read_cases(file)

    def judge(self, cases: Sequence[Case], progress: Progress | None) -> Reports:
        reports: dict[tuple[Path, str], Report] = {}
        for number, case in enumerate(cases):
            if report := self._run(case):
                reports[case.path, case.id] = report
            if progress is not None:
                progress(number + 1, len(cases))
        left = [case for case in cases if (case.path, case.id) not in reports]
        for file in dict.fromkeys(case.path for case in left):
            reported = {report.id: without_path(report, file) for report in self._checked(file)}
            for case in (case for case in left if case.path == file):
                stored = case.verdict(self.implementation.name)
                reports[file, case.id] = report_from(stored, self.program.shown) if stored else reported[case.id]
        return Reports([self._repeatable(reports[case.path, case.id]) for case in cases])

    def _repeatable(self, report: Report) -> Report:
        """Adds the way to repeat the case: a command if another process can import the function, else a call in Python."""
        # The file with the outputs is temporary and is deleted after this call, so the report must not name it.
        report = replace(report, members={name: of for name, of in report.members.items() if name != "outputs_file"})
        if self.served:
            line = replace(report, implementation=self.served, program=self.program.shown, repeated_by=None).replay
        else:
            line = f"assay.judge({self.implementation.name_in_code}, {report.command!r})  # {_WHY_NO_COMMAND}"
        return replace(report, repeated_by=line)

    def _run(self, case: Case) -> Report | None:
        """Adds outputs to the file of the case; or returns a verdict if the function gives none."""
        try:
            if not case.inputs:
                return self._report(case, "not_applicable", "no_exact_inputs", "note", self._why_no_inputs(case))
            if reason := self.implementation.unsupported(case):
                raise Unsupported(reason)
            names = [self.implementation.name]
            if self.implementation.promises_fixed_order:
                names.append(names[0] + "@2")  # a second run checks determinism
            profile = self.implementation.profile(str(case.problem["dtype"]))
            for name in names:
                outputs = self.implementation(case)
                if changed := case.changed_inputs():
                    text = f"the implementation changed its input {', '.join(changed)}"
                    return self._report(case, "nonconformant_structural", "conduct", "structure", text)
                add_outputs(case, name, outputs, profile)
        except Unsupported as reason:
            text = f"the implementation does not support this: {reason}"
            return self._report(case, "not_applicable", "not_offered", "note", text)
        except Rejected as refusal:
            if case.open_question:
                text = f"refused the call: {refusal}; {case.open_question}"
                return self._report(case, "not_applicable", "open_question", "status", text)
            text = f"refused a legal call: {refusal}"
            return self._report(case, "rejected_wrongly", "legal_call", "status", text)
        except WrongType as failure:
            return self._report(case, "usage_error", "stored_case", "note", str(failure))
        except (Exception, SystemExit) as failure:  # a kernel must not end the program that
            if exceptions_pass:
                raise
            where = frame_of_kernel(failure)
            text = f"{type(failure).__name__}: {failure} ({where.filename}:{where.lineno})"
            return replace(self._report(case, "crash", "conduct", "structure", text), exception=failure)
        return None

    def _why_no_inputs(self, case: Case) -> str:
        """Returns the message with which `assay export` refuses this case: it names the case and the reason."""
        declared = [f"--numerics={self.implementation.numerics}"] if self.implementation.numerics else []
        try:
            self.program.run(["export", self.folder / "inexact.h5", *declared, *case.command.split()])
        except AssayError as refusal:
            return str(refusal)
        return f"no exact inputs for numerics '{self.implementation.numerics}'"

    def _report(self, case: Case, verdict: str, decided_by: str, rule: str, text: str) -> Report:
        """A report with this verdict and its reason; `rule` is that of the finding with the same text."""
        finding = Finding(rule=rule, text=text)
        return Report(case.id, case.operator, case.command, self.implementation.name, verdict, [finding],
                      program=self.program.shown, decided_by=decided_by, evidence=text)

    def _checked(self, file: Path) -> Reports:
        report = self.folder / "report.json"
        named = f"--implementation={self.implementation.name}"
        self.program.run(["check", file, named, "--report", report], accepted=(0, 1, 2, 3), leaves=report)
        return read_reports(report)


def frame_of_kernel(failure: BaseException) -> traceback.FrameSummary:
    """Returns the stack frame that raised the exception; if this package raised it, the kernel's frame that called the package."""
    frames = traceback.extract_tb(failure.__traceback__)
    own = str(Path(__file__).parent)
    return next((frame for frame in reversed(frames) if not frame.filename.startswith(own)), frames[-1])


def _served(implementation: Implementation) -> str:
    """The value for --implementation; empty if no other process can import the function."""
    try:
        return command_of(implementation)
    except (TypeError, ValueError, OSError):
        return ""


def without_path(report: Report, file: Path) -> Report:
    """Removes the name of a temporary file, which users cannot open, from a report."""
    reported = [replace(finding, text=finding.text.replace(f"{file}:", "")) for finding in report.findings]
    return replace(report, findings=reported, evidence=report.evidence.replace(f"{file}:", ""))


def judge(
    function: Function | Implementation,
    cases: Cases | Plan | None = None,
    *,
    program: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reports:
    """Runs a function on cases and judges its outputs with Assay.

    `cases`: a Plan (default: Plan()), a file of `assay export`, Case objects, replay lines.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        ready = as_implementation(function).ready()
        session = _Judge(ready, Program(find_program(program)), Path(folder))
        return session.judge(session.cases_of(Plan() if cases is None else cases), progress)


def assert_conforms(
    function: Function | Implementation,
    cases: Cases | Plan | None = None,
    *,
    program: str | os.PathLike[str] | None = None,
) -> Reports:
    """Judges, and raises AssertionError with the first failures and their replay lines; NotApplicable if no case applies
    to this implementation, which the pytest plug-in turns into a skipped test. Its __cause__ is the function's exception."""
    reports = judge(function, cases, program=program)
    if not reports.conforms:
        name = as_implementation(function).name
        if reports and all(report.verdict == "not_applicable" for report in reports):
            raise NotApplicable(f"{name}: {reports[0].findings[0]}\n{reports.summary()}")
        raised = next((report.exception for report in reports if report.exception is not None), None)
        raise AssertionError(f"{name} does not conform, or was not judged\n{reports.summary()}") from raised
    return reports


def command_of(function: Function | Implementation) -> str:
    """The value for --implementation that makes `assay` itself run a function at the top level of a file."""
    words = [sys.executable, "-m", "assay", "serve", *as_implementation(function).words()]
    return "command:" + shlex.join(words)
