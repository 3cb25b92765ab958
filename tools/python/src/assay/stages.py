"""Computes the stages (intermediate results) of the definition, and finds the first stage of a kernel that deviates from them."""

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

# The stages (intermediate tensors) of attention in the order of computation: each stage depends on the stages before
# it.
ORDER = ("S", "P", "P_dropped", "dP", "row_term", "dS")


@dataclass(frozen=True)
class Deviation:
    """A stage that deviates from the definition by more than the rounding of its type explains."""

    stage: str
    where: tuple[int, ...]  # of the worst element: batch, head, query and, except for row_term, key
    actual: float
    expected: float
    elements: int  # number of elements that deviate
    of: int  # number of elements that were compared

    def __str__(self) -> str:
        return (f"{self.stage} deviates first: {self.elements} of {self.of} elements, the worst at "
                f"{self.where}: {self.actual:.9g} instead of {self.expected:.9g}")


def stages(line: str, program: Program | None = None) -> dict[str, NDArray[np.float64]]:
    """S, P, P_dropped (if there is dropout), dP, dS of shape (batch, heads_q, seq_q, seq_kv) and row_term (batch,
    heads_q, seq_q) of the case of a replay line, from the definition in 113 bits. NaN marks elements that a kernel may set
    freely: S and dP of masked pairs, and elements beyond the end of a shorter sequence."""
    program = program or Program(find_program())
    words = shlex.split(line.removeprefix("assay run ").removeprefix(f"{program.name} run "))
    with tempfile.TemporaryDirectory(prefix="assay-stages-") as folder:
        output = program.run(["dump", *words, "--npy", folder])
        files = [Path(folder, "stages", f"{name}.npy") for name in ORDER]
        found = {file.stem: np.load(file) for file in files if file.exists()}
    if not found:
        raise AssayError(f"{line}: {output.strip()}")  # the program says why
    return found


def _tolerance(dtype: np.dtype[Any]) -> float:
    """Returns a tolerance as a share of a stage's size: several roundings of this type, far below the error of a wrong
    formula. No verdict depends on it."""
    if dtype.name == "bfloat16":
        return 2.0**-5
    return 2.0**-7 if dtype == np.float16 else 2.0**-16


def _size(name: str, defined: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The scale for the errors of a stage. Products of vectors (S, dP, row_term) may be small by cancellation: their scale is
    the largest magnitude of a head. For P and dS it is the largest of a row, for dS before the subtraction."""
    magnitudes = {stage: np.nan_to_num(np.abs(array)) for stage, array in defined.items()}
    if name == "dS":
        magnitudes["dS"] = magnitudes["P"] * (magnitudes["dP"] + magnitudes["row_term"][..., None])
    axes = (-2, -1) if name in ("S", "dP") else (-1,)
    return np.maximum.reduce(magnitudes[name], axis=axes, keepdims=True)


def first_deviation(
    line: str, computed: Mapping[str, ArrayLike], tolerance: float | None = None, program: Program | None = None
) -> Deviation | None:
    """The first of these stages of a kernel that deviates from the definition, or None.
    `tolerance` is a share of a stage's largest magnitude, see `_size`; by default it follows from the type of the kernel's array.
    Raises AssayError if `computed` is empty or a stage does not exist in the case or has another shape, and
    ValueError for a tolerance that would accept everything or nothing."""
    if tolerance is not None and not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance is {tolerance}; expected a finite number that is 0 or more")
    if not computed:
        raise AssayError("`computed` is empty; expected at least one stage, such as P or dS")
    defined = stages(line, program)
    for name in computed:
        if name not in defined:
            raise AssayError(f"the case has no stage '{name}'; it has {', '.join(defined)}")
    for name, expected in defined.items():
        if name not in computed:
            continue
        array = np.asarray(computed[name])
        if np.iscomplexobj(array):
            raise AssayError(f"{name} has complex numbers; the numbers of the case are real")
        if array.shape != expected.shape:
            raise AssayError(f"{name} has the shape {array.shape}; the shape in the case is {expected.shape}")
        actual = array.astype(np.float64)
        compared = ~np.isnan(expected)
        limit = (_tolerance(array.dtype) if tolerance is None else tolerance) * _size(name, defined)
        with np.errstate(invalid="ignore"):
            error = np.where(compared, np.abs(actual - np.where(compared, expected, 0)), 0)
        error[np.isnan(error)] = np.inf
        wrong = error > limit
        if wrong.any():
            excess = np.where(wrong, error, -1)
            where = tuple(int(k) for k in np.unravel_index(int(excess.argmax()), excess.shape))
            return Deviation(name, where, float(actual[where]), float(expected[where]), int(wrong.sum()), int(compared.sum()))
    return None
