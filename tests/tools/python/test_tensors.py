"""Every element type is stored bit by bit, and Assay's own files are read bit by bit."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from assay.dtypes import dtype_name, numpy_dtype
from assay.tensors import read_tensor, write_tensor

NAMES = "fp16 bf16 fp32 fp64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool float8_e5m2 float8_e4m3fn".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_tensor_survives_a_file(name: str, tmp_path: Path) -> None:
    dtype = numpy_dtype(name)
    bits = np.arange(24 * dtype.itemsize, dtype=np.uint8) % (2 if name == "bool" else 251)
    array = bits.view(dtype).reshape(2, 3, 4)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        write_tensor(file, "some/folder/x", array.swapaxes(0, 2))  # not contiguous
        again = read_tensor(file["some/folder/x"])
    assert again.dtype == dtype
    assert again.shape == (4, 3, 2)
    assert again.tobytes() == array.swapaxes(0, 2).tobytes()


def test_every_bf16_is_read_by_others_as_its_value(tmp_path: Path) -> None:
    bits = np.arange(65536, dtype=np.uint16)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        write_tensor(file, "x", bits.view(numpy_dtype("bf16")))
        values = file["x"][()]
        assert read_tensor(file["x"]).view(np.uint16).tolist() == bits.tolist()
    assert values.dtype == np.float32
    wanted = (bits.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(values, wanted, equal_nan=True)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_tensors_without_elements_survive_a_file(shape: tuple[int, ...], tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        write_tensor(file, "x", np.ones(shape, np.float32))
        assert read_tensor(file["x"]).shape == shape


def test_types_without_a_name_are_refused() -> None:
    with pytest.raises(ValueError, match="complex64.*fp16, bf16"):
        dtype_name(np.dtype(np.complex64))
    with pytest.raises(ValueError, match="'fp17' is not an element type; accepted are fp16"):
        numpy_dtype("fp17")
