"""Tensors of PyTorch on the device of the adapters, which ASSAY_DEVICE names: cuda, npu; the CPU where nothing does.

It is read once: Triton compiles or interprets for all of a process, and numerics may depend on it.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
import torch

from assay.dtypes import Array

DEVICE = os.environ.get("ASSAY_DEVICE", "cpu")
ON_CPU = DEVICE == "cpu"
if DEVICE.startswith("npu"):
    importlib.import_module("torch_npu")  # PyTorch does not know the device without it


def to_torch(array: Array) -> Any:
    """A tensor with the same bits; torch does not know numpy's bfloat16."""
    dense = np.ascontiguousarray(array)
    if dense.dtype.name == "bfloat16":
        return torch.from_numpy(dense.view(np.int16)).view(torch.bfloat16).to(DEVICE)
    return torch.from_numpy(dense).to(DEVICE)


def to_numpy(tensor: Any, dtype: np.dtype[Any]) -> Array:
    """The inverse of `to_torch`."""
    dense = tensor.detach().contiguous().cpu()
    if dtype.name == "bfloat16":
        return np.asarray(dense.view(torch.int16).numpy().view(dtype))
    return np.asarray(dense.numpy())
