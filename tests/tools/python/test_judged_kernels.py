"""Tests how many cases must be judged in the tests of frameworks/."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import assay

sys.path.insert(0, str(Path(__file__).parent / "frameworks"))
import judged as frameworks  # noqa: E402

ANY = assay.Implementation(lambda case: {}, "any")


def reports(judged: int, asked: int) -> assay.Reports:
    verdicts = ["conforms"] * judged + ["not_applicable"] * (asked - judged)
    return assay.Reports([assay.Report(str(k), "", "", "any", verdict) for k, verdict in enumerate(verdicts)])


@pytest.mark.parametrize("asked, least", [(70, 60), (140, 120), (10, 8), (3, 2)])
def test_sixty_of_seventy_lines_of_a_kernel_are_judged(
    asked: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/frameworks.md promises this number. If there are fewer cases, the same fraction is required."""
    lines = [f"line {k}" for k in range(asked)]
    monkeypatch.setattr(assay, "judge", lambda *_: reports(least, asked))
    assert len(frameworks.judged_kernel(ANY, "fp32", lines)) == asked
    monkeypatch.setattr(assay, "judge", lambda *_: reports(least - 1, asked))
    with pytest.raises(AssertionError):
        frameworks.judged_kernel(ANY, "fp32", lines)
