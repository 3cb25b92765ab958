"""The program `assay`, which makes the cases and judges the outputs."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

_USAGE = 2  # exit code: the arguments are wrong

_imported: list[str] = []  # the kernels whose files this process imports now


@contextlib.contextmanager
def importing(location: str) -> Iterator[None]:
    """Forbids calls of the program during the import of a kernel's file. Otherwise a script that defines a kernel and sweeps
    it would sweep again in every worker process."""
    _imported.append(location)
    try:
        yield
    finally:
        _imported.pop()


class AssayError(RuntimeError):
    """Raised if the program assay was not found, or reports wrong usage."""


class RefusedLine(AssayError):
    """Raised if the program refuses its words: exit status 2."""


def _starts_it(path: Path) -> bool:
    """Returns whether the file is the script that pip generates for `main`, which only starts the program."""
    with path.open("rb") as file:
        return b"assay.program" in file.read(1000)


def _at_hand() -> Iterator[Path]:
    """The wheel's program, those on PATH, then those of build folders above this folder."""
    yield Path(__file__).resolve().parent / "bin" / "assay"
    for listed in os.get_exec_path():
        found = shutil.which("assay", path=listed)
        if found and not _starts_it(Path(found)):
            yield Path(found)
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            for preset in ("release", "dev"):
                yield folder / "build" / preset / "bin" / "assay"


@cache
def _is_assay(program: str) -> bool:
    """Returns whether the program prints a version of assay, as programs made with Assay also do."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return False
    return done.returncode == 0 and done.stdout.startswith("assay ")


def find_program(path: str | os.PathLike[str] | None = None) -> Path:
    """The program: the given one, else that of the environment variable ASSAY, else the wheel's, else on PATH, else in a
    build folder above this folder."""
    for source, named in (("given", path), ("the environment's ASSAY", os.environ.get("ASSAY"))):
        if named:
            if not (found := shutil.which(named)):
                raise AssayError(f"'{named}' ({source}) is not a program")
            if not _is_assay(found):
                raise AssayError(f"'{named}' ({source}) is not the program assay")
            return Path(found).resolve()
    for candidate in _at_hand():
        if os.access(candidate, os.X_OK):
            return candidate
    raise AssayError(
        "the program assay is not on PATH and not in a folder build/release/bin above this one; "
        "build it with tools/sweep, and pass its path, or set ASSAY to it"
    )


def main() -> NoReturn:
    """The command `assay` of an environment: replaces this process by the program."""
    try:
        program = next(path for path in _at_hand() if os.access(path, os.X_OK))
    except StopIteration:
        sys.exit("assay: this package assay does not contain the program: install the wheel of a release, or build one with tools/sweep")
    os.execv(program, [sys.argv[0], *sys.argv[1:]])


@dataclass(frozen=True)
class Program:
    """Runs the commands of `assay`."""

    path: Path

    @property
    def name(self) -> str:
        """The first word of replay lines in its reports."""
        return self.path.name

    @property
    def shown(self) -> str:
        """The word that starts it in a shell: its name if that is found on PATH, else its path."""
        found = shutil.which(self.name)
        return self.name if found and (Path(found).resolve() == self.path or _starts_it(Path(found))) else str(self.path)

    def run(
        self,
        words: Sequence[str | os.PathLike[str]],
        accepted: Sequence[int] = (0,),
        leaves: Path | None = None,
    ) -> str:
        """Returns its standard output. Raises AssayError with its message if it exits with another status, or does not write
        the expected file."""
        if _imported:
            raise AssayError(
                f"{_imported[-1].rpartition(':')[0]} calls Assay while a worker process imports it to get the kernel: put the call "
                "under 'if __name__ == \"__main__\":'"
            )
        line = [str(self.path), *map(str, words)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode not in accepted or (leaves is not None and not leaves.exists()):
            said = (done.stderr.strip() or done.stdout.strip())[-2000:]
            # Omit the command from the message, because its temporary files no longer exist. The error text already
            # names the caller's input.
            if done.returncode == _USAGE and said:
                raise RefusedLine(said.removeprefix("assay: "))
            raise AssayError(f"{' '.join(line)}: exit status {done.returncode}: {said}")
        return done.stdout
