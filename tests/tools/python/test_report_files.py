"""Tests reports from other sources: the package refuses what the program refuses, and a large report takes little memory."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.program import find_program


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "report.json"
    words = [find_program(), "sweep", "nsa_compress_grad", "--budget=2s", "--report", path, "--implementation=mutant-input_sums_16_bit"]
    subprocess.run(words, check=False, capture_output=True)
    return path


def program_refuses(path: Path) -> bool:
    return subprocess.run([find_program(), "report", path], check=False, capture_output=True).returncode == 2


@pytest.mark.slow
def test_members_and_findings_are_those_of_the_file(report: Path) -> None:
    cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
    reports = assay.read_reports(report)
    assert len(reports) == len(cases) > 5
    for read, case in zip(reports, cases, strict=True):
        assert dict(read.members) == case and read.verdict == case["verdict"]
        assert [finding.text for finding in read.findings] == [finding["text"] for finding in case["findings"]]
    assert any(read.findings for read in reports)


def reworded(value: Any, draw: random.Random) -> Any:
    """Replaces each sentence by random words, most of them words of the program's sentences."""
    words = ("judged", "elements of", "fail", "the output is NaN", "FAG-C20:", "crash", "dq", "Z.", "accepted", "flower")
    if isinstance(value, dict):
        return {
            name: " ".join(draw.choices(words, k=8))
            if name in ("text", "evidence", "note", "pattern") and isinstance(member, str)
            else reworded(member, draw)
            for name, member in value.items()
        }
    return [reworded(member, draw) for member in value] if isinstance(value, list) else value


def test_a_reworded_report_gives_the_same_facts(report: Path, tmp_path: Path) -> None:
    other = tmp_path / "reworded.json"
    other.write_text(json.dumps(reworded(json.loads(report.read_text(encoding="utf-8")), random.Random(7))), encoding="utf-8")
    read, again = assay.read_reports(report), assay.read_reports(other)
    assert [one.evidence for one in read] != [one.evidence for one in again]
    assert read.verdicts == again.verdicts and read.causes
    assert [replace(cause, pattern="") for cause in read.causes] == [replace(cause, pattern="") for cause in again.causes]
    for one, same in zip(read, again, strict=True):
        assert (one.verdict, one.decided_by, one.replay, one.worst) == (same.verdict, same.decided_by, same.replay, same.worst)
        assert [replace(finding, text="") for finding in one.findings] == [replace(finding, text="") for finding in same.findings]


def test_another_layout_is_the_same_report(report: Path, tmp_path: Path) -> None:
    other = tmp_path / "sorted.json"
    other.write_text(json.dumps(json.loads(report.read_text(encoding="utf-8")), sort_keys=True, indent=1), encoding="utf-8")
    assert list(assay.read_reports(other)) == list(assay.read_reports(report))


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["lines", "indented"])
@pytest.mark.parametrize("old, new, reason", [
    ('"verdict":"', '"verdict":"splendid_', "verdict is 'splendid_"),
    ('"seconds_total":', '"seconds_total":NaN,"x":', "NaN"),
    ('"seconds_total":', '"seconds_total":-Infinity,"x":', "-Infinity"),
    ('{"id":', '{"id":"0","id":', 'has the member "id" twice'),
    ('"note":"', '"note":' + "[" * 90 + "]" * 90 + ',"x":"', "nests deeper than 64 levels"),
    ('"note":"', '"note":' + "[" * 90_000 + "]" * 90_000 + ',"x":"', "nests deeper than 64 levels"),
    ('"findings":[', '"findings":7,"x":[', "a case of the report is invalid"),
    ('"verdict":"', '"vurdict":"', "a case of the report is invalid: KeyError: 'verdict'"),
    ('"command_line":"', '"command_line":7,"x":"', "command_line is 7"),
    ('"schema": "assay-report-2"', '"schema": "assay-report-2", "schema": "assay-report-2"', 'has the member "schema" twice'),
    ('"schema": "assay-report-2"', '"schema": "assay-report-9"', "the schema 'assay-report-9'; expected 'assay-report-2'"),
    ('"summary": {\n  "cases": ', '"summary": {\n  "cases": 1', "summary.cases is 1"),
    ('"verdicts": {', '"verdicts": {"crash": 3, ', "summary.verdicts.crash is 3, but cases contains 0"),
])
def test_reports_that_the_program_refuses_are_refused(report: Path, tmp_path: Path, layout: str, old: str, new: str, reason: str) -> None:
    text = report.read_text(encoding="utf-8")
    assert old in text
    changed = tmp_path / "changed.json"
    text = text.replace(old, new, 1)
    changed.write_text(text if layout == "lines" else text.replace(' "cases": [', ' "cases":\n ['), encoding="utf-8")
    with pytest.raises(assay.ReportError) as error:
        assay.read_reports(changed)
    assert reason in str(error.value) and str(changed) in str(error.value)
    assert program_refuses(changed)


@pytest.mark.parametrize("change, reason", [
    (lambda lines: lines[:-2], "ends in the middle of its cases"),
    (lambda lines: [*lines[:-3], lines[-3].rstrip(",") + ",", "]}", ""], "ends in the middle of its cases"),
    (lambda lines: [*lines, "{}"], "after its last case"),
    (lambda lines: ["[]"], "is not a JSON object"),
    (lambda lines: ["{"], "is not JSON"),
    (lambda lines: ["\udcff"], "is not UTF-8"),
])
def test_a_torn_report_is_named(report: Path, tmp_path: Path, change, reason: str) -> None:  # type: ignore[no-untyped-def]
    torn = tmp_path / "torn.json"
    torn.write_bytes("\n".join(change(report.read_text(encoding="utf-8").split("\n"))).encode("utf-8", "surrogateescape"))
    with pytest.raises(assay.ReportError, match=reason):
        assay.read_reports(torn)
    assert program_refuses(torn)


@pytest.mark.slow
def test_a_large_report_takes_less_room_than_its_file(report: Path, tmp_path: Path) -> None:
    *head, last, end, _ = report.read_text(encoding="utf-8").split("\n")
    large, more = tmp_path / "large.json", 24_000_000 // len(last)
    printed = "\n".join(head)
    for member in ("cases", "value_cases", json.loads(last)["verdict"]):
        printed = re.sub(f'(\\n +"{member}": )(\\d+)', lambda found: f"{found[1]}{int(found[2]) + more}", printed, count=1)
    with large.open("w", encoding="utf-8") as file:
        file.write(printed + "\n")
        for _ in range(more):
            file.write(last + ",\n")
        file.write(f"{last}\n{end}\n")
    code = ("import resource, sys, assay; before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
            "assay.read_reports(sys.argv[1]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
    room = subprocess.run([sys.executable, "-c", code, large], check=True, capture_output=True, text=True).stdout
    assert int(room) * 1024 < large.stat().st_size


def test_outputs_of_a_file_are_judged_again_by_the_line_of_their_report(report: Path) -> None:
    read = assay.read_reports(report)[0]
    of_a_file = replace(read, members={**read.members, "outputs_file": "of a kernel.h5"})
    assert read.replay.startswith(f"{read.program} run ")
    assert of_a_file.replay == f"{read.program} check 'of a kernel.h5' --implementation={read.implementation} --case={read.id}"
