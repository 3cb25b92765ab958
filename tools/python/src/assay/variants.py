"""Formulas of the user: a score that replaces the documented one, and a condition that masks pairs (docs/variants.md)."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.dtypes import Array, WrongType, exactly
from assay.naming import Named, unknown
from assay.parts import AXES, drawn_part
from assay.program import Program, find_program

if TYPE_CHECKING:
    from assay.cases import Case

FLAG = "--variant=formula:"
_BASES = ("flash_attention_score_grad", "flash_attention_score")
_WORDS = {"and": "&", "or": "|", "not": "!"}
# For each axis of the problem, the fields that contain its length. If there are several fields, the largest value
# counts. _LENGTHS contains the default values of these fields.
_AXES = {"seq": ("seq_q", "seq_kv"), "heads": ("heads_q",), "kv": ("heads_kv",), "batch": ("batch",)}
_LENGTHS = {"seq_q": 16, "seq_kv": 16, "heads_q": 1, "heads_kv": 1, "batch": 1}
_DOCUMENTS = 4

Parameter = float | tuple[float, float]
Values = str | tuple[str, float, float] | Sequence[float] | Array


@dataclass(frozen=True)
class Variant:
    """A formula that replaces the score of an operator, masks pairs, or both; see `variant`."""

    name: str
    base: str
    score: str = ""
    keep: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    arrays: Mapping[str, Values] = field(default_factory=dict)
    gradients: Sequence[str] = ()
    dlse: str = ""

    def line(self, seed: int = 1, **fields: object) -> str:
        """The replay line of a case with these fields. `seed` also draws parameters and arrays that are ranges."""
        words = [f"--{name}={_text(value)}" for name, value in fields.items()]
        return self._completed([self.base, *words, f"--seed={seed}"], fields, seed)

    def plan(self, largest: int = 20_000, random: int | None = None, seed: int = 1, program: str | os.PathLike[str] | None = None) -> list[str]:
        """Replay lines of the operator's own plan that can have a formula, each with this one: its parameters and arrays are
        drawn anew for each line."""
        flags = [f"--largest={largest}", f"--seed={seed}", *([] if random is None else [f"--random={random}"])]
        return planned(self, None, flags, seed, program)

    def _completed(self, words: list[str], fields: Mapping[str, object], seed: int) -> str:
        random = np.random.default_rng([seed, *self.name.encode()])
        texts = (("score", self.score), ("keep", self.keep), ("dlse", self.dlse), ("gradients", ",".join(self.gradients)))
        items = [f"{name}={_without_blanks(text)}" for name, text in texts if text]
        for name, value in self.parameters.items():
            with _naming(f"parameter {name!r}"):
                items.append(f"{name}={_number(_drawn_parameter(value, random))}")
        for name, array in self.arrays.items():
            with _naming(f"array {name!r}"):
                items.append(f"{name}={_list(_drawn_array(array, fields, random))}")
        return " ".join([*words, FLAG + ";".join(items)])


def planned(
    variant: Variant | None, part: str | None, flags: Sequence[str] = (), seed: int = 1, program: str | os.PathLike[str] | None = None
) -> list[str]:
    """Replay lines of the operator's own plan that can have a formula and a part ("kv" or "q"), each with this variant, and
    with a part that is drawn for the line."""
    from assay.cases import read_cases

    if part not in (None, *AXES):
        raise ValueError(f"part is {part!r}; accepted: {', '.join(AXES)}")
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        file = Path(folder) / "plan.h5"
        Program(find_program(program)).run(["export", file, "--recipe-only", "--only=track=bound", *(flags or ["--largest=20000"])])
        base = _BASES[0] if variant is None else variant.base
        cases = [case for case in read_cases(file) if case.operator == base and _can_have_formula(case)]
    lines = []
    for number, case in enumerate(cases, seed):
        words = case.command.split()
        if part is not None:
            drawn = drawn_part(case.problem, part, number)
            if drawn is None:
                continue
            words.append(f"--part={drawn}")
        lines.append(" ".join(words) if variant is None else variant._completed(words, case.problem, number))
    return list(dict.fromkeys(lines))


def variant(
    name: str,
    *,
    base: str = "flash_attention_score_grad",
    score: str = "",
    keep: str = "",
    parameters: Mapping[str, Parameter] | None = None,
    arrays: Mapping[str, Values] | None = None,
    bias_grad: bool | Sequence[str] = False,
    dlse: str = "",
) -> Variant:
    """Describes a formula: `score` of s, i, j, b, n, kv, parameters and arrays replaces the score s; `keep` masks the pairs
    for which it is false. The program checks both texts.

    parameters: a number, or a range (low, high) from which each case draws. arrays: the numbers; or "seq", "heads", "kv" or
    "batch", the axis whose length the array has, whose numbers are drawn: ascending document numbers for "seq", else numbers
    between 1/8 and 1; or (axis, low, high): integers if both are int. bias_grad: the arrays and parameters whose gradients
    the kernel returns, each as "d" and its name; True: all of the score. dlse: the gradient of the loss by the LSE of a query,
    a function of b, n and i.
    """
    if not (score or keep or dlse):
        raise ValueError(f"variant {name!r} has neither a score nor a keep; give at least one of them")
    if base not in _BASES:
        raise ValueError(f"base is {base!r}; accepted: {', '.join(_BASES)}")
    for text in (score, keep, dlse):
        if ";" in text:
            raise ValueError(f"{text!r} contains ';', which expressions do not have")
    parameters, arrays = dict(parameters or {}), dict(arrays or {})
    return Variant(name, base, score, keep, parameters, arrays, _gradients(bias_grad, score, [*arrays, *parameters]), dlse)


def gradients_of(command: str) -> list[str]:
    """The arrays and parameters of the formula in a replay line whose gradients are outputs."""
    texts = [text for name, text in _all_items(command) if name == "gradients"]
    return [name for text in texts for name in text.split(",")]


def gathered(command: str, outputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """Replaces the gradients of a formula by one output, dformula, which the program reads. Raises WrongType for a gradient
    whose shape is not that of its array, and if only some of the gradients are given."""
    wanted = [f"d{name}" for name in gradients_of(command)]
    missing = [name for name in wanted if name not in outputs]
    if len(missing) == len(wanted):
        return outputs
    if missing:
        raise WrongType(f"{', '.join(missing)} is missing; expected all of {', '.join(wanted)}, the gradients of the formula, or none")
    arrays = dict(_items(command))
    parts: list[Array] = []
    for name in wanted:
        part, text = np.asarray(outputs[name]), arrays[name[1:]]
        shape = _array(text).shape if _is_list(text) else ()
        if part.shape != shape and not (part.size == 1 and shape == ()):
            raise WrongType(f"{name} has shape {part.shape}; expected {shape}, the shape of {name[1:]}")
        parts.append(exactly(name, part, np.dtype(np.float32)).reshape(-1))
    return {name: array for name, array in outputs.items() if name not in wanted} | {"dformula": np.concatenate(parts)}


def parameters_of(command: str) -> dict[str, float]:
    """The parameters of the formula in a replay line, rounded to fp32 as the judge uses them."""
    return Named("parameter", {name: float(np.float32(text)) for name, text in _items(command) if not _is_list(text)})


def arrays_of(command: str) -> dict[str, Array]:
    """The arrays of the formula in a replay line: int64 if all numbers are integers, else float32."""
    return Named("array", {name: _array(text) for name, text in _items(command) if _is_list(text)})


def _gradients(bias_grad: bool | Sequence[str], score: str, names: list[str]) -> list[str]:
    read = re.findall(r"[A-Za-z_]\w*", score)
    wanted = [name for name in names if bias_grad and name in read] if isinstance(bias_grad, bool) else list(bias_grad)
    if bias_grad and not wanted:
        raise ValueError("bias_grad=True, but the score reads no array and no parameter")
    for name in wanted:
        if name not in names:
            raise ValueError(f"bias_grad: {unknown('array or parameter', name, names)}")
    return wanted


def _all_items(command: str) -> list[tuple[str, str]]:
    words = [word for word in command.split() if word.startswith(FLAG)]
    items = [item.partition("=") for word in words for item in word.removeprefix(FLAG).split(";")]
    return [(name, text) for name, _, text in items]


def _items(command: str) -> list[tuple[str, str]]:
    """The parameters and arrays."""
    return [(name, text) for name, text in _all_items(command) if name not in ("score", "keep", "dlse", "gradients")]


def _is_list(text: str) -> bool:
    return "," in text or "x" in text


def _array(text: str) -> Array:
    numbers: list[np.float32] = []
    for item in text.split(","):
        count, times, number = item.rpartition("x")
        numbers += [np.float32(number)] * (int(count) if times else 1)
    array = np.array(numbers, np.float32)
    return array.astype(np.int64) if np.all(array == np.trunc(array)) else array


def _list(numbers: Array) -> str:
    """The numbers as text; runs of equal numbers as COUNTxNUMBER, and always in the form of a list."""
    texts = [_number(number) for number in numbers]
    runs: list[list[Any]] = []
    for text in texts:
        if runs and runs[-1][1] == text:
            runs[-1][0] += 1
        else:
            runs.append([1, text])
    parts = [text if count == 1 else f"{count}x{text}" for count, text in runs]
    return parts[0] if len(parts) == 1 and "x" in parts[0] else f"1x{parts[0]}" if len(parts) == 1 else ",".join(parts)


def _number(value: float) -> str:
    number = np.float32(value)
    if not np.isfinite(number):
        raise ValueError(f"{value!r} is not a number of fp32")
    return np.format_float_positional(number, unique=True, trim="-") if 1e-6 < abs(number) < 1e9 or number == 0 else repr(float(number))


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _without_blanks(text: str) -> str:
    """An expression as one word of a replay line."""
    signs = re.sub(r"\b(and|or|not)\b", lambda word: _WORDS[word[0]], text)
    if found := re.search(r"[\w.]\s+[\w.]", signs):
        raise ValueError(f"{text!r}: expected an operation in {found[0]!r}")
    return re.sub(r"\s+", "", signs)


@contextmanager
def _naming(item: str) -> Iterator[None]:
    """Adds the name of a parameter or an array to the message of an error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{item}: {error}") from error


def _require_range(low: float, high: float) -> None:
    if not low <= high:
        raise ValueError(f"the range ({low!r}, {high!r}) is empty; expected (low, high) with low <= high")


def _drawn_parameter(value: Parameter, random: np.random.Generator) -> float:
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(f"{value!r}; expected a number or a range (low, high)")
        low, high = value
        _require_range(low, high)
        if isinstance(low, int) and isinstance(high, int):
            return float(random.integers(low, high + 1))
        return float(random.uniform(low, high))
    return float(value)


def _drawn_array(value: Values, fields: Mapping[str, object], random: np.random.Generator) -> Array:
    if isinstance(value, str):
        length = _length(value, fields)
        if value == "seq":
            return np.sort(random.integers(0, _DOCUMENTS, length))
        return random.uniform(0.125, 1, length)
    if isinstance(value, tuple) and isinstance(value[0], str):
        if len(value) != 3:
            raise ValueError(f"{value!r}; expected (axis, low, high)")
        axis, low, high = cast(tuple[str, float, float], value)
        _require_range(low, high)
        length = _length(axis, fields)
        if isinstance(low, int) and isinstance(high, int):
            return random.integers(low, high + 1, length)
        return random.uniform(low, high, length)
    numbers = np.asarray(value)
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"an array has shape {numbers.shape}; expected one axis with at least one number")
    return numbers


def _length(axis: str, fields: Mapping[str, object]) -> int:
    if axis not in _AXES:
        raise ValueError(f"unknown axis {axis!r}; accepted: {', '.join(_AXES)}")
    return max(1, *(int(str(fields.get(name, _LENGTHS[name]))) for name in _AXES[axis]))


def _can_have_formula(case: Case) -> bool:
    flags = ("--variant=", "--violate=", "--rows=", "--relation=", "--sink=")
    return case.track == "bound" and not any(word.startswith(flags) for word in case.command.split())
