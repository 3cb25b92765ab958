"""The pairs of a forward operator and its gradient, and the values that a forward saves for the backward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from assay.cases import Case
from assay.dtypes import Array, exactly
from assay.naming import unknown
from assay.program import AssayError
from assay.variants import FLAG

LOGSUMEXP = "logsumexp"
MAXIMUM, SUM = "softmax_max", "softmax_sum"
_DEAD = np.float32(np.finfo(np.float32).max)  # the statistics of a fully masked row are -_DEAD and _DEAD


@dataclass(frozen=True)
class Pair:
    """A forward and its gradient. The case of a pair is a case of the gradient."""

    gradient: str  # operator
    forward: str  # operator
    output: str  # the name under which a forward returns its output
    output_gradient: str  # the input of the gradient that is the gradient of this output
    results: Mapping[str, str] = field(default_factory=dict)  # inputs of the gradient that a forward computes: names in the forward
    entry_points: Mapping[str, str] = field(default_factory=dict)  # of the gradient: of the forward; empty: each has one
    as_inputs: bool = False  # the program can also judge the results as inputs of the gradient

    @property
    def has_statistics(self) -> bool:
        return MAXIMUM in self.results

    @property
    def saved_output(self) -> str:
        """The input of the gradient that is the output of the forward; empty: there is none."""
        return next((name for name, of_forward in self.results.items() if of_forward == self.output), "")

    def line_of_forward(self, case: Case) -> str:
        """The replay line of the forward with the problem of this case of the gradient. The forward gets the inputs of the
        gradient's case, so fields that choose only data are left out."""
        _, *words = case.command.split()
        skipped = _ONLY_GRADIENT
        if self.entry_points.get(case.entry_point) != "l5":  # the only forward with softmaxOutLayout
            skipped += ("softmax_in_layout",)
        line = [self.forward, *(word for word in words if word.startswith(FLAG) or _name_of(word) not in skipped)]
        if self.entry_points:
            line.append(f"--entry_point={self.entry_points[case.entry_point]}")
        if case.problem.get("layout") == "TND":  # the forward may have another default
            line.append(f"--statistics_order={case.problem['statistics_order']}")
        return " ".join(line)


# Flags of a gradient's replay line that the forward operator does not have, or for which it accepts other values.
_ONLY_GRADIENT: tuple[str, ...] = ("entry_point", "product", "profile", "variant", "inputs", "outputs", "statistics_order")


def _name_of(word: str) -> str:
    return word.removeprefix("--").partition("=")[0]


# One entry for each pair of a gradient operator and its forward operator.
PAIRS = (
    Pair("nsa_compress_grad", "nsa_compress", output="output", output_gradient="output_grad"),
    Pair(
        "nsa_selected_attention_grad",
        "nsa_selected_attention",
        output="attention_out",
        output_gradient="attention_out_grad",
        results={MAXIMUM: MAXIMUM, SUM: SUM, "attention_out": "attention_out"},
    ),
    Pair(
        "flash_attention_score_grad",
        "flash_attention_score",
        output="attention_out",
        output_gradient="dy",
        results={MAXIMUM: MAXIMUM, SUM: SUM, "attention_in": "attention_out"},
        entry_points={"g1": "f1", "g2": "f2", "u1": "l1", "u2": "l2", "u3": "l3", "u4": "l1", "g3": "f3", "u5": "l5"},
        as_inputs=True,
    ),
)


def keeps_only_logsumexp(pair: Pair, saved: Mapping[str, Array]) -> bool:
    """Returns whether a function saved the logsumexp instead of maximum and sum. Unless it declares saves=lse, the rounding
    error is not in the tolerance of softmax_sum as an output of the forward."""
    return pair.has_statistics and LOGSUMEXP in saved and SUM not in saved


def pair_of(line: str) -> Pair:
    """The pair to whose gradient the line belongs. Raises AssayError for another operator."""
    operator = line.split()[0] if line.split() else ""
    for pair in PAIRS:
        if pair.gradient == operator:
            return pair
    raise AssayError(unknown("gradient with a forward", operator, [pair.gradient for pair in PAIRS]))


def split_logsumexp(case: Case, logsumexp: Array) -> dict[str, Array]:
    """The statistics max and sum with this logsumexp: the maximum is the exact one. Only the sum then contains the error of
    the logsumexp. Rows without unmasked keys have the statistics of the documents, whatever their logsumexp is."""
    maximum = case.inputs[MAXIMUM]
    given = _with_replicas(LOGSUMEXP, logsumexp, maximum.shape).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.exp(given - maximum).astype(np.float32)
    return with_rows_without_keys(case, {MAXIMUM: maximum, SUM: total})


def with_rows_without_keys(case: Case, saved: Mapping[str, Array]) -> dict[str, Array]:
    """These values with the statistics of the documents in rows without unmasked keys."""
    if MAXIMUM not in saved or SUM not in saved:
        return dict(saved)
    without = (np.abs(case.inputs[MAXIMUM]) == _DEAD) | (case.inputs[SUM] == 0)
    return dict(saved) | {name: np.where(without, case.inputs[name], saved[name]) for name in (MAXIMUM, SUM)}


def _with_replicas(name: str, values: Array, shape: tuple[int, ...]) -> Array:
    """Statistics have eight equal values for a row; a function may save one."""
    values = np.asarray(values)
    if values.shape == shape[:-1]:
        values = values[..., None]
    if values.shape not in (shape, (*shape[:-1], 1)):
        raise ValueError(f"saved {name} has the shape {values.shape}; expected {shape[:-1]} or {shape}")
    return np.ascontiguousarray(np.broadcast_to(values, shape))


def known_saved_values(pair: Pair, case: Case, saved: Mapping[str, Array], saves_lse: bool = False) -> dict[str, Array]:
    """The saved values that are inputs of the gradient, in the shapes and types of its case. With `saves_lse`, a logsumexp
    is the maximum of a sum 1.

    Raises ValueError for a value of another shape, and WrongType for one of another type."""
    found: dict[str, Array] = {}
    if pair.has_statistics and LOGSUMEXP in saved and saves_lse:
        given = _with_replicas(LOGSUMEXP, saved[LOGSUMEXP], case.inputs[MAXIMUM].shape)
        found |= {MAXIMUM: exactly(LOGSUMEXP, given, np.dtype(np.float32)), SUM: np.ones(given.shape, np.float32)}
    elif pair.has_statistics and LOGSUMEXP in saved:
        found |= split_logsumexp(case, np.asarray(saved[LOGSUMEXP]))
    for name, own in case.inputs.items():
        if name not in saved or name == pair.output_gradient:
            continue
        values = np.asarray(saved[name])
        if pair.has_statistics and name in (MAXIMUM, SUM):
            values = _with_replicas(name, values, own.shape)
        if values.shape != own.shape:
            raise ValueError(f"saved {name} has the shape {values.shape}; expected {own.shape}")
        found[name] = exactly(f"saved {name}", values, own.dtype)
    return found
