"""Element types by the documents' names, as numpy knows them."""

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
    """The numpy type of a documented element type; hifloat8, which numpy lacks, comes as its bits."""
    if name not in _NUMPY:
        raise ValueError(f"no element type '{name}'; there are {', '.join(_NUMPY)}")
    dtype: np.dtype[Any] = np.dtype(_NUMPY[name])
    return dtype


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The documented name of a numpy type."""
    for name, candidate in _NUMPY.items():
        if np.dtype(candidate) == dtype:
            return name
    raise ValueError(f"the documents have no name for the numpy type {dtype}; they know {', '.join(_NUMPY)}")


class WrongType(ValueError):
    """An output in a type in which it cannot be judged."""


def exactly(name: str, output: Array, due: np.dtype[Any]) -> Array:
    """The output in the type that is due. A type that holds every value of that one is as good if no value is rounded.

    Raises WrongType naming output, type and the first value that would be rounded.
    """
    if output.dtype == due:
        return output
    wanted = f"{name} is {output.dtype}, wanted {due}"
    if output.dtype not in (np.float32, np.float64) or output.dtype.itemsize <= due.itemsize:
        raise WrongType(f"{wanted}: cast it where the kernel does")
    with np.errstate(over="ignore"):
        cast = output.astype(due)
    lost = (cast.astype(np.float64) != output) & ~np.isnan(output)
    if np.any(lost):
        first = tuple(int(k) for k in np.argwhere(lost)[0])
        where = ", ".join(map(str, first))
        raise WrongType(f"{wanted}, and {name}[{where}] = {float(output[first])!r} is no {due}: round it as the kernel does")
    return cast
