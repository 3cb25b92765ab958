"""pytest plug-in: a test with the argument `assay_case` runs once for each case.

    @pytest.mark.assay(only="--dtype=bf16", largest=2000)
    def test_kernel(assay_case):
        assay.assert_conforms(my_kernel, assay_case)

The marker accepts as keywords the fields of assay.Plan, `cases` (a file of `assay export`, or replay lines) and
`numerics` (for which exact cases are made). The options --assay-* override it; one that selects cases of a plan also
replaces `cases`. A test whose cases do not apply to its implementation is skipped.
With --pdb an exception of the kernel does not become a verdict, so that the debugger stops in the kernel.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay import judging
from assay.cases import Case, CaseFileError, read_cases
from assay.judging import NotApplicable, Plan, export_lines, export_plan
from assay.program import AssayError, Program, find_program

_TEXTS = ("only", "product")
_NUMBERS = ("largest", "random", "seed")
_files = pytest.StashKey[dict[tuple[Any, ...], list[Case]]]()
_misuse = pytest.StashKey[list[str]]()
_JUDGED = "assay_judged"  # a property of a test: True if its case was judged
_SHARE = 0.1  # share of the cases of a test that must be judged, unless the user gives a number
_folder = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


class _InvalidMarker(Exception):
    """The marker is wrong with any options."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"marker assay: {reason}")


@dataclass(frozen=True)
class _Wrong:
    """An invalid marker, with the reason; it has no cases."""

    reason: str


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "cases of Assay")
    group.addoption("--assay-binary", metavar="PATH", help="path of the program assay [ASSAY, else PATH, else build folders]")
    group.addoption("--assay-cases", metavar="FILE", help="file of `assay export` with cases, instead of a plan")
    group.addoption("--assay-only", metavar="TEXT", help="cases whose replay line, with defaults written out, contains this text")
    group.addoption("--assay-product", metavar="NAME", help="only calls on this Atlas product: a2 or a3")
    group.addoption(
        "--assay-require-judged", metavar="N", type=int,
        help="cases of each test that must be judged, not skipped [a tenth, at least one]",
    )  # fmt: skip
    for name in _NUMBERS:
        group.addoption(f"--assay-{name}", metavar="N", type=int, help=f"as --{name} of `assay export`")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "assay(only, largest, random, seed, product, cases, numerics): cases for assay_case"
    )
    config.stash[_files] = {}
    config.stash[_misuse] = []
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist; its controller sees the results of all workers
        config.pluginmanager.register(_Requirement(config.getoption("--assay-require-judged")), "assay-require-judged")
    judging.exceptions_pass = bool(config.getoption("usepdb", default=False))
    if binary := config.getoption("--assay-binary"):
        try:
            os.environ["ASSAY"] = str(find_program(binary))
        except AssayError as error:
            raise pytest.UsageError(f"--assay-binary: {error}") from None


def pytest_unconfigure(config: pytest.Config) -> None:
    judging.exceptions_pass = False
    if _folder in config.stash:
        config.stash[_folder].cleanup()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "assay_case" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("assay")
    try:
        if marker is not None and marker.args:
            raise _InvalidMarker(f"{marker.args[0]!r} has no name; expected e.g. cases=...")
        cases = _cases_for(metafunc.config, dict(marker.kwargs) if marker else {})
    except (AssayError, CaseFileError, OSError, pytest.UsageError, _InvalidMarker) as error:
        if not _has_options(metafunc.config) or isinstance(error, _InvalidMarker):
            # Make only this test fail, with this reason. The other tests still run.
            metafunc.parametrize("assay_case", [_Wrong(str(error))], ids=["marker"])
            return
        metafunc.config.stash[_misuse].append(f"{metafunc.definition.nodeid}: {error}")
        cases = []
    metafunc.parametrize("assay_case", cases, ids=[_readable(case) for case in cases])


def pytest_collection_finish(session: pytest.Session) -> None:
    """Reports a wrong option as wrong usage of pytest. Done here, because no collector catches the error."""
    if misuse := session.config.stash[_misuse]:
        raise pytest.UsageError("\n".join(misuse))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fails a test with an invalid marker before its function and its fixtures run."""
    case = getattr(item, "callspec", None) and item.callspec.params.get("assay_case")  # type: ignore[attr-defined]
    if isinstance(case, _Wrong):
        pytest.fail(case.reason, pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Uses the old style of hooks, because the version of pluggy in Debian 12 does not support the new one."""
    if call.when == "call" and "assay_case" in getattr(item, "fixturenames", ()):
        skipped = call.excinfo is not None and isinstance(
            call.excinfo.value, (NotApplicable, pytest.skip.Exception)
        )
        item.user_properties.append((_JUDGED, not skipped))
    if call.when == "call" and call.excinfo is not None and isinstance(reason := call.excinfo.value, NotApplicable):
        text = str(reason).splitlines()[0]
        call.excinfo = pytest.CallInfo.from_call(lambda: pytest.skip(text), call.when).excinfo


def _has_options(config: pytest.Config) -> bool:
    """Returns whether an option selects the cases of all tests."""
    return any(config.getoption(f"--assay-{name}") is not None for name in (*_TEXTS, *_NUMBERS, "cases"))


class _Requirement:
    """Fails the run if too few cases were judged: a kernel that supports almost nothing would pass almost every case."""

    def __init__(self, wanted: int | None) -> None:
        if wanted is not None and wanted < 0:
            raise pytest.UsageError(f"--assay-require-judged is {wanted}; it must be 0 or more")
        self._wanted = wanted
        self._cases: Counter[str] = Counter()
        self._judged: Counter[str] = Counter()

    def _missing(self) -> list[str]:
        lines = []
        for test, cases in self._cases.items():
            least = max(1, math.ceil(_SHARE * cases)) if self._wanted is None else self._wanted
            if self._judged[test] < least:
                lines.append(f"{test}: {self._judged[test]} of {cases} cases were judged; expected at least {least}")
        return lines

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, judged in report.user_properties if report.when == "call" else ():
            if name == _JUDGED:
                test = report.nodeid.partition("[")[0]
                self._cases[test] += 1
                self._judged[test] += bool(judged)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._missing() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if missing := self._missing():
            terminalreporter.section("assay: too few cases were judged")
            for line in missing:
                terminalreporter.line(line)
            terminalreporter.line("The other cases were skipped: pytest -rs prints why; with --assay-require-judged=N, fewer judged cases are enough.")


def _readable(case: Case) -> str:
    """The replay line without the operator: it distinguishes the cases of a test."""
    return case.command.partition(" ")[2].replace("--", "").replace(" ", ",") or case.id


def _chosen(cases: Any) -> Path | tuple[str, ...] | None:
    """The cases of a marker: a file, or replay lines."""
    if cases is None:
        return None
    if isinstance(cases, (str, os.PathLike)) and os.path.isfile(cases):
        return Path(cases)
    several = isinstance(cases, Iterable) and not isinstance(cases, str)
    lines = tuple(cases) if several else (cases,)
    for line in lines:
        if not isinstance(line, str):
            raise _InvalidMarker(f"cases: {line!r} is neither a file nor a replay line")
    if not lines:
        raise _InvalidMarker("cases is empty; expected a file or replay lines")
    return lines


def _cases_for(config: pytest.Config, wanted: dict[str, Any]) -> list[Case]:
    options = {
        name: value for name in (*_TEXTS, *_NUMBERS) if (value := config.getoption(f"--assay-{name}")) is not None
    }
    numerics = str(wanted.pop("numerics", ""))
    chosen = _chosen(wanted.pop("cases", None))
    if unknown := set(wanted) - {*_TEXTS, *_NUMBERS}:
        raise _InvalidMarker(f"no argument {', '.join(sorted(unknown))}")
    file = config.getoption("--assay-cases")
    if file is not None:
        if not Path(file).is_file():
            raise pytest.UsageError(f"--assay-cases: no such file: {file!r}")
        chosen, wanted = Path(file), options
    elif options:
        chosen, wanted = None, wanted | options
    if chosen is not None and wanted:
        fields = ", ".join(sorted(wanted))
        raise pytest.UsageError(f"{fields}: this selects cases of a plan, but the cases are already given; use only one of the two")
    if isinstance(chosen, Path):
        return read_cases(chosen)
    lines = chosen or ()
    key = (lines, numerics, *sorted(wanted.items()))
    known = config.stash[_files]
    if key not in known:
        known[key] = _exported(config, lines, numerics, wanted)
    return known[key]


def _exported(config: pytest.Config, lines: tuple[str, ...], numerics: str, wanted: dict[str, Any]) -> list[Case]:
    program = Program(find_program())
    if _folder not in config.stash:
        config.stash[_folder] = tempfile.TemporaryDirectory(prefix="assay-pytest-")
    folder = Path(config.stash[_folder].name)
    number = len(config.stash[_files])
    file = folder / f"cases{number}.h5"
    if lines:
        return export_lines(file, lines, numerics, program)
    return export_plan(file, Plan(**wanted), numerics, program)
