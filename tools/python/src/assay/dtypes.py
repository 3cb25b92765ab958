"""Converts between the documents' names of element types and numpy types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_NUMPY: dict[str, Any] = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "fp64": np.float64,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
    "hifloat8": np.uint8,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy type of a documented element type; for hifloat8, which numpy lacks, the type of its bits."""
    if name not in _NUMPY:
        raise ValueError(f"'{name}' is not an element type; accepted are {', '.join(_NUMPY)}")
    dtype: np.dtype[Any] = np.dtype(_NUMPY[name])
    return dtype


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The documented name of a numpy type."""
    for name, candidate in _NUMPY.items():
        if np.dtype(candidate) == dtype:
            return name
    raise ValueError(f"the documents have no name for the numpy type {dtype}; they name {', '.join(_NUMPY)}")


class WrongType(ValueError):
    """Raised for an output in a type that cannot be judged."""


def exactly(name: str, output: Array, dtype: np.dtype[Any]) -> Array:
    """The output in the expected type. A wider type is accepted if no value needs rounding.

    Raises WrongType naming output, type and the first value that would be rounded.
    """
    if output.dtype == dtype:
        return output
    wanted = f"{name} is {output.dtype}; expected {dtype}"
    if output.dtype not in (np.float32, np.float64) or output.dtype.itemsize <= dtype.itemsize:
        raise WrongType(f"{wanted}: cast it at the point where the kernel casts")
    with np.errstate(over="ignore"):
        cast = output.astype(dtype)
    lost = (cast.astype(np.float64) != output) & ~np.isnan(output)
    if np.any(lost):
        first = tuple(int(k) for k in np.argwhere(lost)[0])
        where = ", ".join(map(str, first))
        raise WrongType(f"{wanted}, and {name}[{where}] = {float(output[first])!r} is not a {dtype}: round it as the kernel does")
    return cast
