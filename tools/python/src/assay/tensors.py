"""Tensors in HDF5 files, element by element with the same bytes as in memory: no library converts them."""

from __future__ import annotations

import hashlib
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5s, h5t

from assay.dtypes import Array, dtype_name, numpy_dtype

_BITS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _bf16() -> Any:
    kind = h5t.IEEE_F16LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)  # sign, exponent and fraction: first bits and sizes
    kind.set_ebias(127)
    return kind


def _storage_type(dtype: np.dtype[Any]) -> Any:
    """The HDF5 type of the stored elements of a numpy type."""
    name = dtype_name(dtype)
    if name == "bf16":
        return _bf16()
    if name in ("bool", "float8_e5m2", "float8_e4m3fn"):
        return h5t.STD_U8LE
    return h5t.py_create(dtype.newbyteorder("<"))


def _bits_of(array: Array) -> Array:
    dense = np.ascontiguousarray(array).reshape(array.shape)
    return dense.view(_BITS[array.dtype.itemsize])


def digest(array: Array) -> str:
    """The digest of a tensor: fixtures/README.md, "Digests"."""
    heading = f"{dtype_name(array.dtype)} ({', '.join(map(str, array.shape))})\n"
    return hashlib.sha256(heading.encode() + _bits_of(array).tobytes()).hexdigest()


def read_tensor(dataset: h5py.Dataset) -> Array:
    """A tensor that Assay stored, in the numpy type of its attribute dtype."""
    dtype = numpy_dtype(str(dataset.attrs["dtype"]))
    bits = np.empty(dataset.shape, _BITS[dtype.itemsize])
    if bits.size:
        dataset.id.read(h5s.ALL, h5s.ALL, bits, mtype=dataset.id.get_type())
    return bits.view(dtype)


def write_tensor(group: h5py.Group, name: str, array: Array) -> h5py.Dataset:
    """Stores an array in its type of the schema; creates the parent groups of `name`."""
    *folders, leaf = name.split("/")
    parent = group.require_group("/".join(folders)) if folders else group
    kind = _storage_type(array.dtype)
    space = h5s.create_simple(array.shape) if array.shape else h5s.create(h5s.SCALAR)
    identity = h5d.create(parent.id, leaf.encode(), kind, space)
    if array.size:
        identity.write(h5s.ALL, h5s.ALL, _bits_of(array), mtype=kind)
    dataset = h5py.Dataset(identity)
    dataset.attrs["dtype"] = dtype_name(array.dtype)
    return dataset
