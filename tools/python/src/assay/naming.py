"""Helps with names that people type: suggests corrections, and lists the existing names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn, TypeVar

_Value = TypeVar("_Value")


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for an unknown name, in one line: a similar name, and the existing ones."""
    names = list(known)
    guess = get_close_matches(str(name), names, 1)
    there = ", ".join(names) or "none"
    meant = f"; did you mean {guess[0]!r}? There are" if guess else "; there are"
    return f"no {kind} {name!r}{meant} {there}"


class Named(dict[str, _Value]):
    """A dictionary whose KeyError lists the existing names."""

    def __init__(self, kind: str, values: dict[str, _Value]) -> None:
        super().__init__(values)
        self._kind = kind

    def __missing__(self, name: str) -> NoReturn:
        raise UnknownName(unknown(self._kind, name, self))


class UnknownName(KeyError):
    """A KeyError that prints its text without quotes."""

    def __str__(self) -> str:
        return str(self.args[0])
