"""The program `assay`, which makes the cases and judges the outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class AssayError(RuntimeError):
    """The program assay is not to be found, or says that it was used wrongly."""


def _build_folders() -> Iterator[Path]:
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            for preset in ("release", "dev"):
                yield folder / "build" / preset / "bin" / "assay"


@cache
def _is_assay(program: str) -> bool:
    """Whether it answers as assay does, and as programs do that are made of it."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return False
    return done.returncode == 0 and done.stdout.startswith("assay ")


def find_program(path: str | os.PathLike[str] | None = None) -> Path:
    """The program: as given, else of the environment's ASSAY, else on PATH, else in a build folder above here."""
    for source, candidate in (("given", path), ("the environment's ASSAY", os.environ.get("ASSAY"))):
        if candidate:
            if not (found := shutil.which(candidate)):
                raise AssayError(f"'{candidate}' ({source}) is no program")
            if not _is_assay(found):
                raise AssayError(f"'{candidate}' ({source}) is not the program assay")
            return Path(found).resolve()
    if found := shutil.which("assay"):
        return Path(found)
    for built in _build_folders():
        if os.access(built, os.X_OK):
            return built
    raise AssayError(
        "the program assay is not on PATH and not in a folder build/release/bin above this one; "
        "build it with tools/sweep, and give its path, or set ASSAY to it"
    )


@dataclass(frozen=True)
class Program:
    """Runs the commands of `assay`."""

    path: Path

    @property
    def name(self) -> str:
        """With which its replay lines start."""
        return self.path.name

    def run(
        self,
        words: Sequence[str | os.PathLike[str]],
        accepted: Sequence[int] = (0,),
        leaves: Path | None = None,
    ) -> str:
        """Its standard output. Raises AssayError with what it says where it ends with another status, or without the file
        that it should have left."""
        line = [str(self.path), *map(str, words)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode not in accepted or (leaves is not None and not leaves.exists()):
            said = (done.stderr.strip() or done.stdout.strip())[-2000:]
            raise AssayError(f"{' '.join(line)}: exit status {done.returncode}: {said}")
        return done.stdout
