"""Reads report.json, which may be untrusted and large. Refuses the same files as the program."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

MOST_BYTES, DEEPEST = 1 << 30, 64  # same limits as in the program
SCHEMA = "assay-report-2"
_OPEN = ' "cases": ['  # last line before the cases; each case has one line


class ReportError(ValueError):
    """Raised if a file is not a report."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ReportError(f'it has the member "{twice}" twice in an object')
    return members


def _constant(word: str) -> Any:
    raise ReportError(f"it has {word}, which JSON does not have")


def _nesting(value: Any) -> int:
    """Nesting depth of lists and objects, including the value."""
    level, deepest = [value], 0
    while level := [one for one in level if isinstance(one, (dict, list))]:
        deepest += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return deepest


def parse(text: str) -> Any:
    """Parses a JSON text. Raises ReportError also for NaN, a repeated member, and more than 64 levels."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
        if _nesting(value) > DEEPEST:
            raise ReportError(f"it nests deeper than {DEEPEST} levels")
    except RecursionError:
        raise ReportError(f"it nests deeper than {DEEPEST} levels") from None
    except json.JSONDecodeError as error:
        raise ReportError(f"it is not JSON: {error}") from error
    return value


class PackedCase(Mapping[str, Any]):
    """An element of cases[], unpacked on access: all unpacked elements would take six times the size of the file."""

    def __init__(self, line: bytes) -> None:
        self._packed = zlib.compress(line, 1)

    def _members(self) -> dict[str, Any]:
        members = json.loads(zlib.decompress(self._packed))
        return members if isinstance(members, dict) else {}

    def __getitem__(self, name: str) -> Any:
        return self._members()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())


def _checked(line: bytes) -> PackedCase:
    if not isinstance(parse(line.decode("utf-8")), dict):
        raise ReportError(f"a case is {line[:40].decode('utf-8', 'replace')!r}; expected an object")
    return PackedCase(line)


def _head(members: Any) -> Mapping[str, Any]:
    if not isinstance(members, dict):
        raise ReportError("it is not a JSON object")
    if members.get("schema") != SCHEMA:
        raise ReportError(f"it has the schema {members.get('schema')!r}; expected {SCHEMA!r}")
    if not isinstance(members.get("environment"), dict):
        raise ReportError("it has no object 'environment'")
    return members


def _by_line(lines: Iterator[bytes]) -> tuple[Mapping[str, Any], list[PackedCase]] | bytes:
    """The head and the cases of a report in the program's own layout; for another layout, its whole text."""
    head = []
    for line in lines:
        head.append(line)
        if line.rstrip(b"\n").decode("utf-8", "replace") == _OPEN:
            break
    first = next(lines, b"")
    if not first.strip().startswith((b'{"id"', b"]}")):
        return b"".join((*head, first, *lines))
    lines = chain((first,), lines)
    cases, more, closed = [], True, False
    for line in filter(None, (line.strip() for line in lines)):
        if closed or not more and line != b"]}":
            raise ReportError(f"it has {line[:40].decode('utf-8', 'replace')!r} after its last case")
        closed = line == b"]}"
        if not closed:
            more = line.endswith(b",")
            cases.append(_checked(line.removesuffix(b",")))
    if not closed or more and cases:
        raise ReportError("it ends in the middle of its cases")
    return _head(parse(b"".join(head).decode("utf-8") + "]}")), cases


def read_report(path: str | os.PathLike[str]) -> tuple[Mapping[str, Any], list[PackedCase]]:
    """All members except `cases`, and the cases. Raises ReportError naming the file, OSError."""
    try:
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            if stat.S_ISREG(facts.st_mode) and facts.st_size > MOST_BYTES:
                raise ReportError(f"it has {facts.st_size} bytes; a report has at most {MOST_BYTES}")
            read = _by_line(iter(file.readline, b""))
            if not isinstance(read, bytes):
                return read
            members = dict(_head(parse(read.decode("utf-8"))))
            cases = members.pop("cases", None)
            if not isinstance(cases, list):
                raise ReportError("it has no array 'cases'")
            return members, [_checked(json.dumps(case).encode()) for case in cases]
    except UnicodeDecodeError as error:
        raise ReportError(f"{os.fspath(path)}: it is not UTF-8: {error}") from error
    except ReportError as error:
        raise ReportError(f"{os.fspath(path)}: {error}") from error
