"""Tests that environments install only files whose hashes are listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "tools" / "python"
FILES = sorted((PACKAGE / "requirements").glob("*.txt"))


def pins(text: str) -> dict[str, str]:
    """Versions by the normalized package name."""
    return {name.replace("_", "-").lower(): version for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.M)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_every_package_is_locked_with_hashes(file: Path) -> None:
    wanted, locked = file.read_text(encoding="utf-8"), (file.parent / "locked" / file.name).read_text(encoding="utf-8")
    assert pins(wanted).items() <= pins(locked).items()
    for package in re.split(r"\n(?=\S)", locked.strip()):
        assert re.match(r"[\w.-]+==\S+", package) and "--hash=sha256:" in package, package
    built_here = re.findall(r"^#: built here: (\S+)", wanted, re.M)
    for package in built_here:
        assert package in (file.parent / "locked" / f"{file.stem}.built_here.txt").read_text(encoding="utf-8")


def test_pip_is_called_with_hashes_alone() -> None:
    calls = [line for line in (PACKAGE / "environment").read_text(encoding="utf-8").splitlines() if '"${pip[@]}"' in line]
    assert calls
    for call in calls:
        assert "--require-hashes" in call or "--no-build-isolation --editable" in call, call
