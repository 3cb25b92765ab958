"""Repairs the bf16 arithmetic of Triton's interpreter, one operation at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from assay.adapters.device import prepare_triton
from assay.dtypes import Array

prepare_triton()  # Triton decides at its import whether it interprets
import triton.language as tl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402

_converted = interpreter._convert_float
_operated = interpreter.InterpreterBuilder.binary_op


def _values(operand: Any) -> Array:
    """Returns the numbers of an operand. The interpreter stores bf16 numbers as 16-bit integers (their bit patterns)."""
    if operand.dtype.scalar == tl.bfloat16:
        return (operand.data.astype(np.uint32) << 16).view(np.float32)
    return operand.data


def _product(_: Any, a: Any, b: Any, sum_before: Any, *__: Any) -> Any:
    values = np.matmul(_values(a), _values(b), dtype=sum_before.data.dtype) + sum_before.data
    return interpreter.TensorHandle(values, sum_before.dtype.scalar)


def _to_nearest(values: Array, source: Any, target: Any, mode: Any) -> Array:
    if (source, target) != (tl.float32, tl.bfloat16):
        return _converted(values, source, target, mode)
    bits = torch.from_numpy(np.ascontiguousarray(values)).to(torch.bfloat16).view(torch.int16)
    return bits.numpy().view(np.uint16)


def _by_numbers(self: Any, a: Any, b: Any, operation: Any) -> Any:
    if tl.bfloat16 not in (a.dtype.scalar, b.dtype.scalar):
        return _operated(self, a, b, operation)
    values = operation(_values(a), _values(b))
    if values.dtype == np.float32:
        values = _to_nearest(values, tl.float32, tl.bfloat16, None)
    return interpreter.TensorHandle(values, a.dtype.scalar)


def repair_products(patch: pytest.MonkeyPatch) -> None:
    """tl.dot of bf16 tensors multiplies their numbers, not their bit patterns as integers."""
    patch.setattr(interpreter.InterpreterBuilder, "create_dot", _product)


def repair_elements(patch: pytest.MonkeyPatch) -> None:
    """Sums and products of bf16 elements use their numbers, rounded once, not their bit patterns as integers."""
    patch.setattr(interpreter.InterpreterBuilder, "binary_op", _by_numbers)


def repair_casts(patch: pytest.MonkeyPatch) -> None:
    """A cast of fp32 to bf16 rounds to nearest, ties to even, as a device does. It does not truncate."""
    patch.setattr(interpreter, "_convert_float", _to_nearest)
