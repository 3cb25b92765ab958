"""Makes Python objects from reports of Assay (tools/report_schema.md)."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from assay.report_files import PackedCase, ReportError, read_report

# These sets group the verdicts, which docs/verdicts.md describes.
CONFORMANT = frozenset(
    ("conforms", "conforms_weak", "rejected_as_specified", "rejected_other_code", "not_applicable")
)
NOT_CONCLUSIVE = frozenset(("inconclusive", "vacuous", "tool_failure"))
FAILURES = frozenset(
    ("nonconformant_structural", "nonconformant_proven", "nonconformant_statistical", "statistical_unconfirmed", "nondeterministic",
     "rejected_wrongly", "accepted_wrongly", "crash", "timeout", "usage_error")
)


def _words(text: str, only_one: bool = False) -> str:
    """Quotes an untrusted text so that a shell reads it only as words."""
    try:
        words = shlex.split(text)
    except ValueError:  # an unterminated quotation
        words = [text]
    return shlex.join([text] if only_one and len(words) != 1 else words)


@dataclass(frozen=True)
class Finding:
    """One finding: the rule, the tensor, the place, the expected value."""

    rule: str
    text: str
    tensor: str = ""
    b: int = -1
    n: int = -1
    s: int = -1
    d: int = -1
    actual: float = 0.0
    expected: float = 0.0
    tolerance: float = 0.0
    fact: Mapping[str, Any] | None = None  # what the rule saw, without words: kind, values, parts
    pattern: Mapping[str, Any] | None = None  # common properties of all failing elements
    count: Mapping[str, int] | None = None  # failing and judged elements or tiles
    refusal: Mapping[str, Any] | None = None  # of a refused call that breaks a requirement: status, documented
    again: Mapping[str, Any] | None = None  # how often a failing case failed when it ran again
    message: str | None = None  # the kernel's own words, if it refused the call

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Report:
    """The verdict on one case."""

    id: str
    operator: str
    command: str
    implementation: str
    verdict: str
    findings: Sequence[Finding] = ()
    members: Mapping[str, Any] = field(default_factory=dict, repr=False)  # all of tools/report_schema.md
    program: str = "assay"  # the program that judged: assay, or a binary with its own registry
    decided_by: str = "judge_failure"  # the rule: conformance/README.md, "Rules"
    evidence: str = ""  # the facts that the rule used
    exception: BaseException | None = field(default=None, repr=False, compare=False)  # raised by a function in this process
    repeated_by: str | None = None  # how to repeat the case without a command: a call in Python

    @property
    def conforms(self) -> bool:
        """True if the case does not count against the implementation: it conforms, or the case does not apply to it."""
        return self.verdict in CONFORMANT

    @property
    def judged(self) -> bool:
        """True if the outputs were judged."""
        return self.verdict not in NOT_CONCLUSIVE and self.verdict != "not_applicable"

    @property
    def unconfirmed(self) -> list[str]:
        """Facts that cannot be checked from a file alone."""
        return list(self.members.get("unconfirmed", ()))

    @property
    def replay(self) -> str:
        """The command that repeats the case, with the implementation."""
        if self.repeated_by is not None:
            return self.repeated_by
        file = self.members.get("outputs_file")
        if file is not None:
            words = ("check", file, f"--implementation={self.implementation}", f"--case={self.id}")
            return f"{_words(self.program, only_one=True)} {shlex.join(words)}"
        line = f"{_words(self.program, only_one=True)} run {_words(self.command)}"
        if (pair := self.members.get("pair")) is not None:
            return f"{line} --implementation={shlex.quote(pair['gradient'])} --forward={shlex.quote(pair['forward'])}"
        return f"{line} --implementation={shlex.quote(self.implementation)}" if self.implementation else line

    @property
    def worst(self) -> dict[str, float]:
        """Largest error of each output as a fraction of its tolerance."""
        return {t["name"]: float(t["worst"]) for t in self.members.get("tensors", ())}

    def explanation(self) -> str:
        """The verdict in a few lines, the replay line first."""
        lines = [f"{self.verdict}: {self.replay}"]
        if self.evidence:
            lines.append(f"  decided by {self.decided_by}: {self.evidence}")
        stated = sorted(self.findings, key=lambda finding: finding.d >= 0)  # puts findings about several elements first
        lines += [f"  {f.rule}: {f.text}" for f in stated[:6]]
        if len(self.findings) > 6:
            lines.append(f"  and {len(self.findings) - 6} findings more")
        lines += [f"  {name}: worst error/tau {ratio:.3g}" for name, ratio in self.worst.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Cause:
    """The common properties of failing cases of a sweep: tools/causes_schema.md."""

    outputs: tuple[str, ...]
    stage: str  # stage of the operator's computation; empty if the outputs do not show it
    fields: tuple[str, ...]  # terms that separate these cases from those that conform
    others: int  # cases that match these fields but do not fail in this way
    pattern: str  # how they fail, for people
    cases: tuple[str, ...]  # ids
    line: str  # replay line of the shortest case or of its shrunk form
    terms: tuple[Mapping[str, Any], ...] = ()  # the fields as objects
    deviation: Mapping[str, Any] | None = None  # frequent deviation from the expected values: `fact`, `cases`, `outputs`
    places: Mapping[str, Any] | None = None  # frequent places of failing elements, with the same members
    refuses_nothing: bool = False  # the kernel accepts nearly all forbidden calls
    wrong: str | None = None  # the part of a pair that is wrong: forward, saved or backward

    def __str__(self) -> str:
        failing, others = (f"{count} case{'' if count == 1 else 's'}" for count in (len(self.cases), self.others))
        where = (
            f"where {' and '.join(self.fields)} ({failing} fail, {others} with these fields do not fail)"
            if self.fields
            else f"{failing} fail; no condition separates them from {others} without this failure"
            if self.others
            else f"in all {failing} that have it"
        )
        stage = f"; stage: {self.stage}" if self.stage else ""
        return f"{self.pattern}, {where}{stage}: {self.line}"


def _cause_from(members: Mapping[str, Any]) -> Cause:
    def texts(name: str) -> tuple[str, ...]:
        return tuple(str(one) for one in members[name])

    try:
        stage, pattern, line = (str(members[name]) for name in ("stage", "pattern", "line"))
        return Cause(texts("outputs"), stage, texts("fields"), int(members["others"]), pattern, texts("cases"), line,
                     tuple(members["terms"]), members.get("deviation"), members.get("places"), bool(members["refuses_nothing"]),
                     members.get("wrong"))
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(f"the report contains an invalid cause: {type(error).__name__}: {error}") from error


class Reports(Sequence[Report]):
    """The verdicts on several cases, and for a sweep the causes of the failures."""

    def __init__(self, reports: Sequence[Report], causes: Sequence[Cause] = ()) -> None:
        self._reports, self.causes = list(reports), list(causes)

    def __getitem__(self, index: Any) -> Any:
        return self._reports[index]

    def __len__(self) -> int:
        return len(self._reports)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Reports: {self._counts()}>"

    def __iter__(self) -> Iterator[Report]:
        return iter(self._reports)

    @property
    def verdicts(self) -> Counter[str]:
        """The number of cases of each verdict."""
        return Counter(report.verdict for report in self)

    @property
    def failures(self) -> list[Report]:
        """Verdicts against the implementation."""
        return [r for r in self if not r.conforms and r.verdict not in NOT_CONCLUSIVE]

    @property
    def not_conclusive(self) -> list[Report]:
        """Cases whose verdict is not conclusive."""
        return [report for report in self if report.verdict in NOT_CONCLUSIVE]

    @property
    def conforms(self) -> bool:
        """At least one case was judged, and none failed or was not conclusive."""
        return any(r.judged for r in self) and not self.failures and not self.not_conclusive

    def _counts(self) -> str:
        """The number of judged cases with their verdicts, then of the other cases."""
        judged = Counter(report.verdict for report in self if report.judged)
        others = Counter(report.verdict for report in self if not report.judged)
        texts = [", ".join(f"{count} {verdict}" for verdict, count in c.most_common()) for c in (judged, others)]
        cases = f"{len(self)} case{'' if len(self) == 1 else 's'}, {judged.total()} judged"
        return cases + (f": {texts[0]}" if texts[0] else "") + (f"; {texts[1]}" if texts[1] else "")

    def summary(self, shown: int = 3) -> str:
        """The number of judged cases, their verdicts, the first causes of a sweep, and the first failures."""
        stated = [*self.failures, *self.not_conclusive]
        lines = [self._counts()]
        lines += [f"cause {number}: {cause}" for number, cause in enumerate(self.causes[:shown], 1)]
        lines += [report.explanation() for report in stated[:shown]]
        if len(stated) > shown:
            lines.append(f"and {len(stated) - shown} case{'' if len(stated) - shown == 1 else 's'} more")
        return "\n".join(lines)


class PackedFindings(Sequence[Finding]):
    """The findings of a case of a file, created on access."""

    def __init__(self, case: PackedCase) -> None:
        self._case = case

    def _all(self) -> list[Finding]:
        return [finding_from(finding) for finding in self._case["findings"]]

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._case["findings"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == list(other)


def finding_from(members: Mapping[str, Any]) -> Finding:
    """Reads one element of findings[]."""
    known = {field.name for field in fields(Finding)}
    values = {name: value for name, value in members.items() if name in known}
    for name in ("actual", "expected", "tolerance"):
        values[name] = float(values[name])  # JSON has an empty lists for "nan", "inf" and "-inf"
    return Finding(**values)


def report_from(members: Mapping[str, Any], program: str = "assay") -> Report:
    """Reads one element of cases[] of that program. Raises ReportError for an unknown verdict or a member of another type."""
    try:
        return _report_from(members, program)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ReportError):
            raise
        raise ReportError(f"a case of the report is invalid: {type(error).__name__}: {error}") from error


def _report_from(members: Mapping[str, Any], program: str) -> Report:
    members = dict(members)
    for name in ("id", "operator", "command_line", "implementation", "verdict"):
        if not isinstance(members[name], str):
            raise ReportError(f"case {name} is {members[name]!r}; expected a string")
    if members["verdict"] not in CONFORMANT | NOT_CONCLUSIVE | FAILURES:
        raise ReportError(f"verdict is {members['verdict']!r}; expected one of {', '.join(sorted(CONFORMANT | NOT_CONCLUSIVE | FAILURES))}")
    return Report(
        id=members["id"],
        operator=members["operator"],
        command=members["command_line"],
        implementation=members["implementation"],
        verdict=members["verdict"],
        findings=[finding_from(finding) for finding in members["findings"]],
        members=members,
        program=program,
        decided_by=members["decided_by"],
        evidence=members["evidence"],
    )


def read_reports(path: str | os.PathLike[str]) -> Reports:
    """The cases of a report.json. Raises ReportError if the file is not a valid report, as the program does."""
    head, cases = read_report(path)
    program = head["environment"]["program"]
    reports: list[Report] = []
    for packed in cases:
        try:
            report = report_from(packed, program)  # checks every member once
        except ReportError as error:
            raise ReportError(f"{os.fspath(path)}: cases[{len(reports)}]: {error}") from error
        reports.append(replace(report, findings=PackedFindings(packed), members=packed))
    _require_counts(os.fspath(path), head.get("summary"), reports)
    return Reports(reports, [_cause_from(cause) for cause in head.get("causes", ())])


def _require_counts(path: str, summary: Any, reports: list[Report]) -> None:
    """Raises ReportError if the counts in the summary of a report differ from its cases."""
    held = Counter(f"verdicts.{report.verdict}" for report in reports)
    held["cases"] = len(reports)
    try:
        stated = Counter({f"verdicts.{verdict}": int(count) for verdict, count in summary["verdicts"].items()})
        stated["cases"] = int(summary["cases"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReportError(f"{path}: summary has no valid counts of cases and verdicts: {type(error).__name__}: {error}") from error
    for member in sorted(stated.keys() | held.keys()):
        if stated[member] != held[member]:
            raise ReportError(f"{path}: summary.{member} is {stated[member]}, but cases contains {held[member]}: the file was changed after "
                              "its sweep; run the sweep again to get a correct report")
