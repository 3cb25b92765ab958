"""Converts between numpy arrays and PyTorch tensors on the current device (see assay.adapters.device)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from assay.adapters.device import current_device
from assay.dtypes import Array


def to_torch(array: Array) -> Any:
    """Returns a tensor with the same bits. torch.from_numpy is not enough: it does not support numpy's bfloat16."""
    dense = np.ascontiguousarray(array)
    if dense.dtype.name == "bfloat16":
        return torch.from_numpy(dense.view(np.int16)).view(torch.bfloat16).to(current_device())
    return torch.from_numpy(dense).to(current_device())


def to_numpy(tensor: Any, dtype: np.dtype[Any]) -> Array:
    """The inverse of `to_torch`."""
    dense = tensor.detach().contiguous().cpu()
    if dtype.name == "bfloat16":
        return np.asarray(dense.view(torch.int16).numpy().view(dtype))
    return np.asarray(dense.numpy())
