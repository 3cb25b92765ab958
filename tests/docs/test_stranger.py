"""Runs docs/packs_judging.md unchanged: a user without Assay gets verdicts with at most 20 lines of plain numpy."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from test_snippets import blocks_of, run, session

PAGE = "docs/packs_judging.md"


@pytest.fixture
def stranger() -> str:
    return next(code for language, code, _ in blocks_of(PAGE) if language == "python" and "# stranger.py" in code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes the pack of the page in a folder. Returns the folder and the time that this took."""
    folder, started = tmp_path_factory.mktemp("stranger"), time.monotonic()
    making = next(code for language, code, _ in blocks_of(PAGE) if language == "sh" and "--to pack" in code)
    run("sh", making, folder, session(folder))
    (folder / "seconds").write_text(str(time.monotonic() - started), encoding="utf-8")
    return folder


def verdicts(stranger: str, folder: Path) -> list[str]:
    (folder / "stranger.py").write_text(stranger, encoding="utf-8")
    judging = next(code for language, code, _ in blocks_of(PAGE) if language == "python" and "# judging.py" in code)
    (folder / "judging.py").write_text(judging, encoding="utf-8")
    # Runs the next command without the Python package and without the program assay.
    return run("sh", f"{sys.executable} -E -s stranger.py\n", folder, {"PATH": "/usr/bin:/bin"}).splitlines()


def test_a_right_kernel_conforms_within_two_minutes(stranger: str, folder: Path) -> None:
    assert len(stranger.strip().splitlines()) <= 21  # one line contains only its name
    assert "assay" not in stranger.replace("assay pack", "") and "h5py" not in stranger
    started = time.monotonic()
    printed = verdicts(stranger, folder)
    assert time.monotonic() - started + float((folder / "seconds").read_text(encoding="utf-8")) < 120
    assert len(printed) >= 9 and all(line.endswith(" conforms") for line in printed), printed


@pytest.mark.parametrize("right, wrong, outputs", [
    ("scale * ds @ k", "ds @ k", {"dq"}),
    ("np.sum(dy * o, -1, keepdims=True)", "0", {"dq", "dk"}),
    ("p.swapaxes(2, 3) @ dy", "1.02 * p.swapaxes(2, 3) @ dy", {"dv"}),
])
def test_a_wrong_kernel_fails(stranger: str, folder: Path, right: str, wrong: str, outputs: set[str]) -> None:
    assert right in stranger
    printed = verdicts(stranger.replace(right, wrong), folder)
    assert {line.split()[1] for line in printed if line.endswith(" fails")} == outputs
