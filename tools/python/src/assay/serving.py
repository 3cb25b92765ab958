"""The server side of `command:`: serves a Python function by the protocol of conformance/adapters/command.md."""

from __future__ import annotations

import importlib
import importlib.util
import operator
import os
import re
import sys
from pathlib import Path
from typing import TextIO

from assay.cases import add_outputs, read_cases
from assay.dtypes import WrongType
from assay.implementation import Function, Implementation, Rejected, Unsupported, as_implementation
from assay.program import importing


def answer(function: Function | Implementation, path: str) -> str:
    """Processes one case file and returns the answer of the protocol."""
    implementation = as_implementation(function)
    try:
        implementation = implementation.ready()
        cases = read_cases(path)
        if not cases:
            return f"numerics: {implementation.numerics}" if implementation.numerics else "done"
        if reason := implementation.unsupported(cases[0]):
            raise Unsupported(reason)
        outputs = implementation(cases[0])
        if changed := cases[0].changed_inputs():
            return one_line(f"changed: {', '.join(changed)}")
        add_outputs(cases[0], implementation.name, outputs)
        regimes = " ".join(regime(name, times) for name, times in cases[0].regimes.items())
        return f"done: {regimes}" if regimes else "done"
    except Unsupported as reason:
        return one_line(f"unsupported: {reason}")
    except Rejected as refusal:
        return one_line(f"rejected: {refusal}")
    except WrongType as failure:  # the same message as in `judge`
        return one_line(f"error: {failure}")
    except (Exception, SystemExit) as failure:
        return one_line(f"error: {type(failure).__name__}: {failure}")


def regime(name: str, times: int) -> str:
    """A regime and its count, in the format of an answer."""
    if not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", name, re.ASCII):
        raise ValueError(f"regime {name!r}: expected AXIS.VALUE of letters, digits and _, such as key_tile.tail")
    return f"{name}={operator.index(times)}"


def one_line(text: str) -> str:
    """Returns the same words on one line, as an answer requires."""
    return " ".join(text.split())


def answers_apart() -> TextIO:
    """A stream that carries only answers: everything printed from now on goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    return answers


def serve(function: Function | Implementation, questions: TextIO | None = None, answers: TextIO | None = None) -> None:
    """Answers requests until there are no more. The output of the function goes to stderr, so it does not mix with the answers."""
    answers = answers or answers_apart()
    implementation = as_implementation(function).ready()
    for line in questions or sys.stdin:
        print(answer(implementation, line.rstrip("\n")), file=answers, flush=True)


def load(location: str) -> Implementation:
    """The implementation at FILE:NAME, or at MODULE:NAME."""
    place, _, name = location.rpartition(":")
    if place.endswith(".py"):
        path = Path(place).resolve()
        if not path.is_file():
            raise FileNotFoundError(f"no such file: {path}")
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        with importing(location):
            spec.loader.exec_module(module)
    else:
        with importing(location):
            module = importlib.import_module(place)
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    try:
        return as_implementation(found)  # type: ignore[arg-type]
    except TypeError as error:
        raise TypeError(f"{location} is {error}") from None
