"""What the definition computes between inputs and outputs, and the first of a kernel's own stages that deviates from it."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.program import AssayError, Program, find_program

# In the order in which each is computed from those before it.
ORDER = ("S", "P", "P_dropped", "dP", "row_term", "dS")


@dataclass(frozen=True)
class Deviation:
    """A stage that is further from the definition than its type explains."""

    stage: str
    where: tuple[int, ...]  # of the worst element: batch, head, query and, but for row_term, key
    actual: float
    expected: float
    elements: int  # that deviate
    of: int  # that were compared

    def __str__(self) -> str:
        return (f"{self.stage} deviates first: {self.elements} of {self.of} elements, the worst at "
                f"{self.where}: {self.actual:.9g} instead of {self.expected:.9g}")


def stages(line: str, program: Program | None = None) -> dict[str, NDArray[np.float64]]:
    """S, P, P_dropped (where there is dropout), dP, dS of shape (batch, heads_q, seq_q, seq_kv) and row_term (batch,
    heads_q, seq_q) of the case of a replay line, from the definition in 113 bits. NaN is where a kernel may have anything:
    S and dP of masked pairs, and what lies beyond the end of a shorter sequence."""
    program = program or Program(find_program())
    words = shlex.split(line.removeprefix("assay run ").removeprefix(f"{program.name} run "))
    with tempfile.TemporaryDirectory(prefix="assay-stages-") as folder:
        told = program.run(["dump", *words, "--npy", folder])
        files = [Path(folder, "stages", f"{name}.npy") for name in ORDER]
        found = {file.stem: np.load(file) for file in files if file.exists()}
    if not found:
        raise AssayError(f"{line}: {told.strip().splitlines()[-1]}")
    return found


def _tolerance(dtype: np.dtype[Any]) -> float:
    """As a share of a stage's size: some roundings of this type, far below what a wrong formula makes. No verdict rests on
    it."""
    if dtype.name == "bfloat16":
        return 2.0**-5
    return 2.0**-7 if dtype == np.float16 else 2.0**-16


def _size(name: str, due: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """What the errors of a stage are compared with. Products of vectors (S, dP, row_term) may be small by cancellation: their
    size is the largest of a head. That of P and dS is the largest of a row, of dS before its difference is taken."""
    magnitudes = {stage: np.nan_to_num(np.abs(array)) for stage, array in due.items()}
    if name == "dS":
        magnitudes["dS"] = magnitudes["P"] * (magnitudes["dP"] + magnitudes["row_term"][..., None])
    axes = (-2, -1) if name in ("S", "dP") else (-1,)
    return np.maximum.reduce(magnitudes[name], axis=axes, keepdims=True)


def first_deviation(
    line: str, computed: Mapping[str, ArrayLike], tolerance: float | None = None, program: Program | None = None
) -> Deviation | None:
    """The first of these stages of a kernel that is not what the definition computes, if one is not.
    `tolerance` is a share of a stage's largest magnitude, see `_size`; else it follows from the type of the kernel's array.
    Raises AssayError for a stage that the case does not have or that has another shape, or where there is none, and
    ValueError for a tolerance by which everything would deviate, or nothing."""
    if tolerance is not None and not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance is {tolerance}, wanted a finite number that is 0 or more")
    if not computed:
        raise AssayError("computed has no stage: nothing would be compared")
    due = stages(line, program)
    for name in computed:
        if name not in due:
            raise AssayError(f"the case has no stage '{name}'; it has {', '.join(due)}")
    for name, expected in due.items():
        if name not in computed:
            continue
        array = np.asarray(computed[name])
        if np.iscomplexobj(array):
            raise AssayError(f"{name} has complex numbers; the case's are real")
        if array.shape != expected.shape:
            raise AssayError(f"{name} has the shape {array.shape}; the case's is {expected.shape}")
        actual = array.astype(np.float64)
        compared = ~np.isnan(expected)
        limit = (_tolerance(array.dtype) if tolerance is None else tolerance) * _size(name, due)
        with np.errstate(invalid="ignore"):
            error = np.where(compared, np.abs(actual - np.where(compared, expected, 0)), 0)
        error[np.isnan(error)] = np.inf
        wrong = error > limit
        if wrong.any():
            excess = np.where(wrong, error, -1)
            where = tuple(int(k) for k in np.unravel_index(int(excess.argmax()), excess.shape))
            return Deviation(name, where, float(actual[where]), float(expected[where]), int(wrong.sum()), int(compared.sum()))
    return None
