"""Judging a framework's attention on the lines of this folder: a row of the table in README.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import assay
from assay.adapters.attention import Attention, Gradients, attentions_of, outputs_of
from assay.judging import export_lines
from lines import lines

COUNT = int(os.environ.get("ASSAY_FRAMEWORK_CASES", "175"))


def judged(
    implementation: assay.Implementation, dtype: str, chosen: Sequence[str] | None = None
) -> assay.Reports:
    """The verdicts on these lines, or on those for attention as frameworks offer it; they are printed, too."""
    reports = assay.judge(implementation, lines(dtype, COUNT) if chosen is None else chosen)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(reports.verdicts.items()))
    print(f"\n{implementation.name}, {dtype}: {len(reports)} cases: {counts}")
    for report in (*reports.failures, *reports.not_conclusive):
        print(report.explanation())
    assert not reports.not_conclusive
    # Left out are at most queries without a key, or exact cases where a profile has none.
    assert count_judged(reports) >= 0.6 * len(reports)
    return reports


def judged_kernel(
    implementation: assay.Implementation, dtype: str, chosen: Sequence[str]
) -> assay.Reports:
    """The same for a kernel of others and lines that were made for it: of 70 at least 60 are judged,
    as docs/frameworks.md promises; of fewer lines as large a share."""
    reports = judged(implementation, dtype, chosen)
    least = 60 * len(chosen) // 70
    assert count_judged(reports) >= least, f"{count_judged(reports)} judged, promised are {least}"
    return reports


def count_judged(reports: assay.Reports) -> int:
    """How many lines had outputs that were looked at."""
    return sum(report.judged for report in reports)


def failing_outputs(report: assay.Report) -> set[str]:
    """The outputs that a verdict is about; a note tells of what would have passed."""
    return {finding.tensor for finding in report.findings if finding.tensor and finding.rule != "note"}


def share_of_equal_bits(
    implementation: assay.Implementation,
    model: Callable[[Attention], Gradients],
    report: assay.Report,
    folder: Path,
) -> dict[str, float]:
    """How many elements of the failing outputs a model of the implementation's arithmetic gives bit by bit."""
    case = export_lines(folder / f"{report.id}.h5", [report.command], implementation.numerics)[0]
    made = implementation(case)
    modelled = outputs_of(case, [model(problem) for problem in attentions_of(case)])
    return {name: float((made[name] == modelled[name]).mean()) for name in failing_outputs(report)}
