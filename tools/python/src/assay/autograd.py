"""Judges a forward and its backward together: forward, saved values and backward each get a verdict. docs/autograd.md."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay import judging
from assay.autograd_report import AutogradReport, Part
from assay.cases import Case, add_outputs, read_cases, replace_inputs, write_cases
from assay.dtypes import Array, WrongType
from assay.implementation import Predicate, Unsupported, numerics_json
from assay.judging import export_lines, frame_of_kernel
from assay.naming import Named
from assay.pairs import MAXIMUM, SUM, Pair, keeps_only_logsumexp, known_saved_values, pair_of, with_rows_without_keys
from assay.program import AssayError, Program, RefusedLine, find_program
from assay.reports import Finding, Report, read_reports

_SUM_P_DP = ("torch_composed_bf16", "torch_fp32", "jax_cpu")  # presets whose row term is the sum of P dP
_FOREIGN = "foreign_statistics"  # an input profile
Outputs = Mapping[str, Array]
Forward = Callable[[Case], tuple[Array | Outputs, Any]]
Backward = Callable[[Any, Array], Outputs]


def mapped_values(saved: Any) -> Outputs:
    """The values by name of what a forward saved, if it saved a mapping; else nothing is known about them."""
    if not isinstance(saved, Mapping):
        return {}
    return {name: value for name, value in saved.items() if isinstance(name, str)}


@dataclass(frozen=True)
class AutogradFunction:
    """A forward and its backward.

    forward(case) returns its output, and anything that backward needs. It gets the inputs of the forward only.
    backward(saved, gradient of the output) returns the gradients by name.
    saved_values(saved) returns those saved values that are inputs of the gradient, by name; also "logsumexp". The default
    works if `saved` is a mapping.
    numerics, unsupported: as for assay.implementation. forward_numerics: those of the forward, if they differ.
    """

    forward: Forward
    backward: Backward
    name: str = ""
    numerics: str = ""
    unsupported: Predicate | None = None
    saved_values: Callable[[Any], Outputs] = mapped_values
    forward_numerics: str = ""

    @property
    def numerics_of_forward(self) -> str:
        return self.forward_numerics or self.numerics


def as_autograd_function(function: Any) -> AutogradFunction:
    """The function itself, or one with the attributes of an object, such as a class with two static methods."""
    if isinstance(function, AutogradFunction):
        return function if function.name else replace(function, name=getattr(function.forward, "__name__", "function"))
    if any("torch.autograd" in base.__module__ for base in getattr(function, "__mro__", ())):
        raise TypeError(f"{function.__name__} is a torch.autograd.Function; expected assay.adapters.torch_autograd.function({function.__name__}, ...)")
    parts = {name: getattr(function, name, None) for name in ("forward", "backward")}
    for name, part in parts.items():
        if not callable(part):
            raise TypeError(f"{type(function).__name__} has no function '{name}'; expected an assay.AutogradFunction")
    name = getattr(function, "name", "") or getattr(function, "__name__", type(function).__name__)
    return AutogradFunction(
        parts["forward"],  # type: ignore[arg-type]
        parts["backward"],  # type: ignore[arg-type]
        name,
        getattr(function, "numerics", ""),
        getattr(function, "unsupported", None),
        getattr(function, "saved_values", mapped_values),
        getattr(function, "forward_numerics", ""),
    )


def _with_fields(numerics: str, fields: Callable[[str], str]) -> str:
    """The declaration with further fields in the text of every type; `fields` gets the text of one type."""
    texts = (numerics or "fp32: fp16: bf16:").replace(";", " ").split()
    return " ".join(f"{text},{fields(text)}".replace(":,", ":") for text in texts)


def _sums_p_dp(text: str) -> bool:
    """Returns whether the row term is the sum of P dP, which needs no output of the forward."""
    _, _, preset = text.partition(",")[0].rpartition(":")
    declared = [item for item in text.split(",") if "delta=" in item]
    return "delta=own" in declared[-1].rpartition(":")[2].split() if declared else preset in _SUM_P_DP


def at_saved_values(numerics: str, pair: Pair) -> str:
    """The numerics of a backward that reads the saved values."""
    if not pair.has_statistics:
        return numerics
    return _with_fields(numerics, lambda text: "stats=given" if _sums_p_dp(text) else "stats=given,delta=given")


def at_true_values(numerics: str, pair: Pair) -> str:
    """The numerics of a gradient whose statistics and output come from the function's own forward: its bound contains the
    errors of the forward."""
    if not pair.has_statistics:
        return numerics
    return _with_fields(numerics, lambda text: "stats=own" if _sums_p_dp(text) else "stats=own,delta=own_output")


def _only(case: Case, names: set[str]) -> Case:
    """The case with these inputs, in arrays of its own."""
    shown = replace(case)
    for kind in ("inputs", "views"):
        shown.__dict__[kind] = Named("input", {name: array for name, array in getattr(replace(case), kind).items() if name in names})
    return shown


def _renamed(report: Report, names: Mapping[str, str]) -> Report:
    """The part of a report that is about these tensors, under other names."""

    def said(text: str) -> str:
        for tensor, name in names.items():
            text = text.replace(tensor, name)
        return text

    tensors = [dict(one, name=names[one["name"]]) for one in report.members.get("tensors", ()) if one["name"] in names]
    findings = [replace(one, tensor=names.get(one.tensor, ""), text=said(one.text)) for one in report.findings if one.tensor in ("", *names)]
    return replace(report, members=dict(report.members, tensors=tensors), findings=findings, evidence=said(report.evidence))


@dataclass(frozen=True)
class _Run:
    """The results of one call of forward and backward."""

    outputs: dict[str, Array]
    saved: dict[str, Array]
    gradients: dict[str, Array]
    only_logsumexp: bool = False  # the saved statistics were made from a logsumexp, and saves=lse is not declared


class _Failure(Exception):
    """A part that gave no values, with the report that says why."""

    def __init__(self, part: Part, report: Report) -> None:
        super().__init__(report.evidence)
        self.part, self.report = part, report


class _Judge:
    """Judges one function on one case, in a folder for files."""

    def __init__(self, function: AutogradFunction, pair: Pair, program: Program, folder: Path) -> None:
        self.function, self.pair, self.program, self.folder = function, pair, program, folder
        self.forwards: dict[str, Case | None] = {}  # cases of the forward by their replay lines

    def judge(self, line: str) -> AutogradReport:
        case = export_lines(self.folder / "case.h5", [line], self.function.numerics, self.program)[0]
        if case.track != "bound":
            raise AssayError(f"'{line}': the track is {case.track}; judge_autograd needs a case of track bound")
        if case.profile == _FOREIGN:
            raise AssayError(f"'{line}': profile {_FOREIGN} changes the statistics; judge_autograd needs those of an exact forward")
        reason = self.function.unsupported(case) if self.function.unsupported is not None else None
        try:
            if reason:
                raise Unsupported(reason)
            if case.part is not None:
                raise Unsupported(f"a forward saves the statistics of all keys, not those of the part {case.part}; use assay.judge")
            run = self._run(case)
        except Unsupported as reason_of_run:
            text = f"the function does not support this: {reason_of_run}"
            return self._result(case, {"forward": self._report(case, "not_applicable", "not_offered", "note", text)})
        except _Failure as failure:
            return self._result(case, {failure.part.value: failure.report})
        return self._judged(case, run)

    def _run(self, case: Case) -> _Run:
        results = {*self.pair.results, self.pair.output_gradient}
        shown = _only(case, set(case.inputs) - results)
        with self._watched(case, Part.FORWARD):
            outputs, saved = self.function.forward(shown)
            outputs = outputs if isinstance(outputs, Mapping) else {self.pair.output: np.asarray(outputs)}
            if self.pair.output not in outputs:
                raise WrongType(f"the forward returned {', '.join(outputs) or 'nothing'}; expected {self.pair.output}")
        self._require_unchanged(shown, Part.FORWARD)
        with self._watched(case, Part.SAVED):
            shown_values = self.function.saved_values(saved)
            known = known_saved_values(self.pair, case, shown_values, self._saves_lse(case))
        known = {name: values.copy() for name, values in known.items()}  # the backward may write into what was saved
        gradient = case.inputs[self.pair.output_gradient].copy()
        with self._watched(case, Part.BACKWARD):
            gradients = dict(self.function.backward(saved, gradient))
        self._require_unchanged(shown, Part.BACKWARD)
        return _Run(dict(outputs), known, gradients, keeps_only_logsumexp(self.pair, shown_values) and not self._saves_lse(case))

    def _saves_lse(self, case: Case) -> bool:
        """Returns whether the forward declares that maximum and sum are any two numbers with the right logsumexp."""
        return '"saves": "lse"' in (self._profile(case, self.function.numerics_of_forward) or "")

    def _watched(self, case: Case, part: Part) -> _Watched:
        return _Watched(self, case, part)

    def _require_unchanged(self, shown: Case, part: Part) -> None:
        fresh = replace(shown)
        changed = sorted({name for kind in ("inputs", "views") for name, array in shown.__dict__[kind].items()
                          if array.tobytes() != getattr(fresh, kind)[name].tobytes()})
        if changed:
            text = f"the {part.value} changed its input {', '.join(changed)}"
            raise _Failure(part, self._report(shown, "nonconformant_structural", "conduct", "structure", text))

    def _judged(self, case: Case, run: _Run) -> AutogradReport:
        unequal = [name for name, values in run.saved.items()
                   if name not in self.pair.results and values.tobytes() != case.inputs[name].tobytes()]
        saved = self._report_on_saved(case, run)
        # For fully masked rows, a correct forward may save other statistics than the documents state. The expected
        # gradient uses the documented statistics, so they replace the saved ones.
        judged = replace(run, saved=with_rows_without_keys(case, run.saved)) if saved is not None and saved.conforms else run
        reports = {
            "forward": self._report_on_output(case, run),
            "saved": saved,
            "backward": self._report_on_backward(case, judged),
            "end_to_end": self._report_on_gradients(case, run.gradients, {}, at_true_values(self.function.numerics_of_forward, self.pair)),
        }
        copied = self.pair.saved_output
        output = np.asarray(run.outputs[self.pair.output])
        is_copy = copied in run.saved and run.saved[copied].tobytes() == output.tobytes()
        return self._result(case, reports, tuple(unequal), (copied,) if is_copy else ())

    def _report_on_backward(self, case: Case, run: _Run) -> Report | None:
        if not self._shows_all(run.saved):
            return None
        if wild := [name for name, values in run.saved.items() if np.any(np.isfinite(case.inputs[name]) & ~np.isfinite(values))]:
            text = f"the saved {', '.join(wild)} is not finite, so no gradient is expected"
            return self._report(case, "inconclusive", "exemption", "note", text)
        return self._report_on_gradients(case, run.gradients, run.saved)

    def _shows_all(self, saved: Mapping[str, Array]) -> bool:
        """Returns whether every result of the forward that the gradient reads is visible. If a pair has no results, the
        gradient reads only inputs."""
        return all(name in saved for name in self.pair.results)

    def _report_on_output(self, case: Case, run: _Run) -> Report:
        """Judges the output together with exact statistics, so that only the output can fail."""
        output = np.asarray(run.outputs[self.pair.output])
        if self._forward_of(case) is not None:
            judged = self._report_of_forward(case, {self.pair.output: output}, "output")
            return _renamed(judged, {self.pair.output: self.pair.output})
        saved_as = self.pair.saved_output
        return _renamed(self._report_on_inputs(case, {saved_as: output}, Part.FORWARD), {saved_as: self.pair.output})

    def _report_on_saved(self, case: Case, run: _Run) -> Report | None:
        results = {name: values for name, values in run.saved.items() if name in self.pair.results}
        if self.pair.as_inputs and results and (run.only_logsumexp or self._forward_of(case) is None):
            return self._report_on_inputs(case, results, Part.SAVED)
        if run.only_logsumexp:  # an error of the logsumexp is seen in the gradients at the true values
            results = {name: values for name, values in results.items() if name not in (MAXIMUM, SUM)}
        if not results:
            return None
        names = {self.pair.results[name]: name for name in results}
        return _renamed(self._report_of_forward(case, {names_of: results[name] for names_of, name in names.items()}, "saved"), names)

    def _report_on_inputs(self, case: Case, results: Mapping[str, Array], part: Part) -> Report:
        """Judges results of the forward as inputs of the gradient. The bound is the worst case, and contains the rounding of a
        logsumexp if the numerics declare one."""
        try:
            file = self._file(case, part.value, results)
        except WrongType as failure:
            return self._report(case, "usage_error", "stored_case", "note", str(failure))
        add_outputs(read_cases(file)[0], self.function.name, {}, self._profile(case, self.function.numerics_of_forward))
        return self._checked(file, "@forward", given=True)

    def _forward_of(self, case: Case) -> Case | None:
        """The case of the forward with the problem of a case of the gradient. None: the forward's documents forbid this call,
        and its results can be judged as inputs of the gradient."""
        line = self.pair.line_of_forward(case)
        if line not in self.forwards:
            try:
                self.forwards[line] = export_lines(self.folder / "forward.h5", [line], "", self.program)[0]
            except RefusedLine:  # the line has the fields of a legal case: only the forward's documents can forbid it
                if not self.pair.as_inputs:
                    raise
                self.forwards[line] = None
        return self.forwards[line]

    def _report_of_forward(self, case: Case, outputs: Outputs, name: str) -> Report:
        """Judges these results with the operator of the forward; the others are exact."""
        made = self._forward_of(case)
        assert made is not None
        exact = {of_forward: case.inputs[own] for own, of_forward in self.pair.results.items()}
        try:
            file = self._file(made, f"forward_{name}", {own: case.inputs[own] for own in made.inputs})
            add_outputs(read_cases(file)[0], self.function.name, exact | dict(outputs), self._profile(case, self._numerics_of_forward(made)))
        except WrongType as failure:
            return self._report(case, "usage_error", "stored_case", "note", str(failure))
        return self._checked(file, "", given=True)

    def _numerics_of_forward(self, made: Case) -> str:
        """The declared numerics. An entry point of the gradient may have its own memory order of statistics; the line of the
        forward names it."""
        declared = self.function.numerics_of_forward
        if "statistics_order" not in declared or "statistics_order" not in made.problem:
            return declared
        return _with_fields(declared, lambda _: f"statistics_order={made.problem['statistics_order']}")

    def _report_on_gradients(self, case: Case, gradients: Outputs, saved: Mapping[str, Array], numerics: str | None = None) -> Report:
        """Judges the gradients at these values of inputs; at those of the case if `saved` is empty."""
        declared = at_saved_values(self.function.numerics, self.pair) if numerics is None else numerics
        file = self._file(case, "gradients_at_saved" if saved else "gradients", saved)
        try:
            add_outputs(read_cases(file)[0], self.function.name, gradients, self._profile(case, declared))
        except WrongType as failure:
            return self._report(case, "usage_error", "stored_case", "note", str(failure))
        return self._checked(file, "", given=bool(saved))

    def _profile(self, case: Case, numerics: str) -> str | None:
        return numerics_json(numerics, str(case.problem["dtype"]))

    def _file(self, case: Case, name: str, inputs: Mapping[str, Array]) -> Path:
        """A copy of the case's file with these inputs."""
        file = self.folder / f"{name}.h5"
        write_cases(file, [case])
        replace_inputs(read_cases(file)[0], inputs)
        return file

    def _checked(self, file: Path, suffix: str, given: bool) -> Report:
        """Has the program judge the only implementation in the file."""
        report = file.with_suffix(".json")
        flags = ["--given-inputs"] if given else []
        self.program.run(["check", file, *flags, "--report", report], accepted=(0, 1, 2, 3), leaves=report)
        found = [one for one in read_reports(report) if one.implementation == self.function.name + suffix]
        if len(found) != 1:
            raise AssayError(f"{self.program.shown} judged {len(found)} implementations '{self.function.name}{suffix}'; expected one")
        return self._repeatable(judging.without_path(found[0], file))

    def _repeatable(self, report: Report) -> Report:
        members = {name: of for name, of in report.members.items() if name != "outputs_file"}
        return replace(report, members=members, implementation=self.function.name)

    def _report(self, case: Case, verdict: str, decided_by: str, rule: str, text: str) -> Report:
        finding = Finding(rule=rule, text=text)
        return Report(case.id, case.operator, case.command, self.function.name, verdict, [finding],
                      program=self.program.shown, decided_by=decided_by, evidence=text)

    def _result(self, case: Case, reports: Mapping[str, Report | None], unequal: tuple[str, ...] = (), copied: tuple[str, ...] = ()) -> AutogradReport:
        again = f"assay.judge_autograd(FUNCTION, {case.command!r})"  # the caller's name for the function is unknown here
        made = {part: replace(report, repeated_by=again) for part, report in reports.items() if report is not None}
        return AutogradReport(self.function.name, case.command, made.get("forward"), made.get("saved"), made.get("backward"),
                              made.get("end_to_end"), unequal, copied)


class _Watched:
    """Turns an exception of one part into its report."""

    def __init__(self, judge: _Judge, case: Case, part: Part) -> None:
        self.judge, self.case, self.part = judge, case, part

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, failure: BaseException | None, trace: Any) -> None:
        if failure is None or isinstance(failure, Unsupported) or not isinstance(failure, (Exception, SystemExit)):
            return
        if isinstance(failure, WrongType) or (self.part is Part.SAVED and isinstance(failure, ValueError)):
            raise _Failure(self.part, self.judge._report(self.case, "usage_error", "stored_case", "note", str(failure))) from failure
        if judging.exceptions_pass:
            return
        where = frame_of_kernel(failure)
        text = f"{type(failure).__name__}: {failure} ({where.filename}:{where.lineno})"
        report = self.judge._report(self.case, "crash", "conduct", "structure", text)
        raise _Failure(self.part, replace(report, exception=failure)) from failure


def judge_autograd(function: Any, line: str, *, program: str | os.PathLike[str] | None = None) -> AutogradReport:
    """Runs a forward, then the backward on what it saved, and judges both.

    `function`: an AutogradFunction, or an object with functions forward and backward. `line`: a replay line of the gradient,
    of track bound."""
    judged = as_autograd_function(function)
    found = Program(find_program(program))
    bare = line.removeprefix("assay run ").removeprefix(f"{found.name} run ").strip()
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        return _Judge(judged, pair_of(bare), found, Path(folder)).judge(bare)
