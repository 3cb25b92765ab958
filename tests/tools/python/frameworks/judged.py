"""Judges a framework's attention on the replay lines of this folder: one row of the table in README.md."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import assay
from assay.adapters.attention import Attention, Gradients, attentions_of, outputs_of
from assay.judging import export_lines
from lines import lines

COUNT = int(os.environ.get("ASSAY_FRAMEWORK_CASES", "175"))
AUTOGRAD_COUNT = COUNT // 5  # each case is judged four times


def judged(
    implementation: assay.Implementation, dtype: str, chosen: Sequence[str] | None = None
) -> assay.Reports:
    """Returns and prints the verdicts on these lines (default: the lines for attention as frameworks offer it)."""
    reports = assay.judge(implementation, lines(dtype, COUNT) if chosen is None else chosen)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(reports.verdicts.items()))
    print(f"\n{implementation.name}, {dtype}: {len(reports)} cases: {counts}")
    for report in (*reports.failures, *reports.not_conclusive):
        print(report.explanation())
    assert not reports.not_conclusive
    # Only two types of cases may be skipped: cases with queries that attend to no key, and exact cases if none exists
    # for the declared arithmetic.
    assert count_judged(reports) >= 0.6 * len(reports)
    return reports


def judged_kernel(
    implementation: assay.Implementation, dtype: str, chosen: Sequence[str]
) -> assay.Reports:
    """Does the same for another project's kernel, with replay lines that were made for it. At least 60 of 70 cases must
    be judged, as docs/frameworks.md promises. With fewer cases the same fraction must be judged."""
    reports = judged(implementation, dtype, chosen)
    least = 60 * len(chosen) // 70
    assert count_judged(reports) >= least, f"{count_judged(reports)} cases judged, expected at least {least}"
    return reports


def bound_line(line: str) -> str:
    """The line as a case of track bound."""
    return " ".join(word for word in line.split() if not word.startswith("--track="))


def judged_autograd(function: assay.AutogradFunction, dtype: str, chosen: Sequence[str] | None = None) -> list[assay.AutogradReport]:
    """Returns and prints the verdicts on forward and backward, for the parts together. At least 60 % of the cases are judged."""
    chosen = list(map(bound_line, lines(dtype, AUTOGRAD_COUNT))) if chosen is None else chosen
    reports = [assay.judge_autograd(function, line) for line in chosen]
    counts = Counter(" and ".join(report.wrong) or "nothing" for report in reports)
    print(f"\n{function.name}, {dtype}: {len(reports)} cases: " + ", ".join(f"{part} is wrong in {count}" for part, count in counts.items()))
    for report in reports:
        if not report.conforms:
            print(report.summary())
    assert not any(report.not_conclusive and not report.wrong for report in reports)
    assert sum("end_to_end" in report.reports for report in reports) >= 0.6 * len(reports)
    return reports


def count_judged(reports: assay.Reports) -> int:
    """Counts the cases whose outputs were compared."""
    return sum(report.judged for report in reports)


def failing_outputs(report: assay.Report) -> set[str]:
    """The outputs that caused a verdict. (Notes are about outputs that passed.)"""
    return {finding.tensor for finding in report.findings if finding.tensor and finding.rule != "note"}


def share_of_equal_bits(
    implementation: assay.Implementation,
    model: Callable[[Attention], Gradients],
    report: assay.Report,
    folder: Path,
) -> dict[str, float]:
    """The fraction of elements in failing outputs that equal a model of the implementation's arithmetic bit by bit."""
    case = export_lines(folder / f"{report.id}.h5", [report.command], implementation.numerics)[0]
    made = implementation(case)
    modelled = outputs_of(case, [model(problem) for problem in attentions_of(case)])
    return {name: float((made[name] == modelled[name]).mean()) for name in failing_outputs(report)}
