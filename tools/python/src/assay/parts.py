"""Parts of the keys or queries, whose gradients other devices add up: ring attention, context parallelism
(docs/partial_gradients.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.dtypes import Array, WrongType

FLAG = "--part="
AXES = {"kv": "seq_kv", "q": "seq_q"}  # with the field that contains the number of positions
_SEQUENCE_AXES = {"BSH": 1, "SBH": 0, "BSND": 1, "BNSD": 2}
_OF_KEYS = ("key", "value", "key_rope")
_OF_QUERIES = ("query", "dy", "attention_in", "query_rope")
_STATISTICS = ("softmax_max", "softmax_sum")
_MASKS = ("SS", "11SS", "B1SS", "BNSS")
_LIKE = {"dq": "query", "dq_rope": "query_rope", "dk": "key", "dk_rope": "key_rope", "dv": "value"}


@dataclass(frozen=True)
class Part:
    """Positions `first` to `last`, both included, of the keys ("kv") or of the queries ("q") of every sequence."""

    axis: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.axis}:{self.first}-{self.last}"

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def slice(self) -> slice:
        return slice(self.first, self.last + 1)

    def sums_to(self, gradient: str) -> bool:
        """True for gradients that are sums over the part, in fp32; the others are complete, and are those of the part."""
        return gradient in _LIKE and gradient.startswith("dq") == (self.axis == "kv")


def part_of(command: str) -> Part | None:
    """The part in a replay line; None if the line has none."""
    for word in command.split():
        if word.startswith(FLAG):
            axis, _, positions = word.removeprefix(FLAG).partition(":")
            first, _, last = positions.partition("-")
            return Part(axis, int(first), int(last))
    return None


def drawn_part(problem: Mapping[str, object], axis: str, number: int) -> Part | None:
    """A part of the positions of an axis, drawn with this number; None if the problem can have no part."""
    length = int(str(problem[AXES[axis]]))
    if problem["layout"] not in _SEQUENCE_AXES or length < 2:
        return None
    random = np.random.default_rng([number, *axis.encode()])
    first, last = sorted(int(position) for position in random.integers(0, length, 2))
    return Part(axis, first, last)


def inputs_of_part(problem: Mapping[str, object], inputs: Mapping[str, Array], part: Part) -> dict[str, Array]:
    """The inputs that the device with this part has. A part of the keys: key, value, and the columns of masks, biases and
    dropout bits; a part of the queries: query, dy, attention_in, statistics, and the rows of masks, biases and dropout bits."""
    axes = _sliced_axes(problem, part)
    return {name: _packed_bits(problem, array, part) if name == "drop_mask" else _sliced(array, axes.get(name), part)
            for name, array in inputs.items()}


def whole_gradients(problem: Mapping[str, object], inputs: Mapping[str, Array], part: Part, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Adds the rows outside the part, which are zero, to the gradients that are complete. `inputs` are those of the part.
    Raises WrongType for a gradient that has another shape than its input, or is a sum in a narrower type than fp32."""
    found = dict(outputs)
    for name, of_input in _LIKE.items():
        if name not in found or of_input not in inputs:
            continue
        array, like = np.asarray(found[name]), inputs[of_input]
        if array.shape != like.shape:
            raise WrongType(f"{name} has shape {array.shape}; expected {like.shape}, the shape of {of_input} in the part {part}")
        if part.sums_to(name):
            if array.dtype.itemsize < np.dtype(np.float32).itemsize:
                raise WrongType(f"{name} is {array.dtype}; expected float32: it is a sum over the part {part}, to which other parts are added")
            continue
        axis = _SEQUENCE_AXES[str(problem["layout"])]
        shape = list(array.shape)
        shape[axis] = int(str(problem[AXES[part.axis]]))
        found[name] = np.zeros(shape, array.dtype)
        found[name][(slice(None),) * axis + (part.slice,)] = array
    return found


def _sliced_axes(problem: Mapping[str, object], part: Part) -> dict[str, int]:
    """The axis of each input that is divided."""
    of_keys = part.axis == "kv"
    sequence = _SEQUENCE_AXES[str(problem["layout"])]
    axes = {name: sequence for name in (_OF_KEYS if of_keys else _OF_QUERIES)}
    if not of_keys:
        axes |= {name: 2 for name in _STATISTICS}
    if problem["atten_mask"] in _MASKS:
        axes["atten_mask"] = -1 if of_keys else -2
    if problem["pse_shift"] in ("BNSS", "1NSS") or (of_keys and problem["pse_shift"] == "BN1S"):
        axes["pse_shift"] = -1 if of_keys else -2
    return axes


def _sliced(array: Array, axis: int | None, part: Part) -> Array:
    return array if axis is None else array[(slice(None),) * (axis % array.ndim) + (part.slice,)]


def _packed_bits(problem: Mapping[str, object], drop_mask: Array, part: Part) -> Array:
    """The dropout bits of the pairs in the part, packed as those of all pairs."""
    shape = [int(str(problem[name])) for name in ("batch", "heads_q", "seq_q", "seq_kv")]
    bits = np.unpackbits(drop_mask.view(np.uint8).reshape(-1), count=int(np.prod(shape)), bitorder="little").reshape(shape)
    return np.packbits(_sliced(bits, 3 if part.axis == "kv" else 2, part).reshape(-1), bitorder="little")
