"""Tests that packs contain the same data in every format, and that other programs can read them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import assay
from assay.program import find_program

FORMATS = ("hdf5", "npz", "safetensors")


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("packs") / name for name in FORMATS}
    for name, folder in folders.items():
        words = [find_program(), "pack", "smoke", "--to", folder, "--whole", "--format", name]
        subprocess.run(words, check=True, capture_output=True)
    return folders


@pytest.mark.slow
def test_every_format_holds_the_same_bits(packs: dict[str, Path]) -> None:
    all_cases = [assay.read_pack(folder) for folder in packs.values()]
    dtypes = set()
    for cases in zip(*all_cases, strict=True):
        first, *others = cases
        for other in others:
            assert (other.id, other.command, other.recipe) == (first.id, first.command, first.recipe)
            for name, value in first.inputs.items():
                again = other.inputs[name]
                dtypes.add(first.recipe["inputs"][name]["dtype"])
                assert again.dtype == value.dtype and again.shape == value.shape == tuple(first.recipe["inputs"][name]["shape"])
                assert again.tobytes() == value.tobytes(), (first.id, name)
            for output in first.recipe["outputs"]:
                for field, values in first.golden(output).items():
                    again = other.golden(output)[field]
                    assert again.dtype == values.dtype and again.tobytes() == values.tobytes(), (first.id, output, field)
    assert {"bf16", "fp16", "fp32", "int32", "uint8", "bool"} <= dtypes


def test_rounded_outputs_pass_and_their_neighbours_fail(packs: dict[str, Path]) -> None:
    for folder in packs.values():
        for case in assay.read_pack(folder):
            outputs = {}
            for name, output in case.recipe["outputs"].items():
                golden = case.golden(name)
                outputs[name] = np.zeros(output["shape"])
                outputs[name].reshape(-1)[golden["place"]] = golden["rounded"]
            assert not any(case.off(outputs).values())
            name = next(name for name in outputs if case.golden(name)["place"].size)
            place = case.golden(name)["place"][0]
            outputs[name].reshape(-1)[place] += 1 + abs(outputs[name]).max()
            assert case.off(outputs)[name] == 1
            with pytest.raises(assay.PackError, match=f"no output {next(iter(outputs))}"):
                case.off({})
            with pytest.raises(assay.PackError, match="it must be"):
                case.off({**outputs, name: np.zeros(3)})


def test_outputs_of_a_wider_type_are_cast(packs: dict[str, Path]) -> None:
    zeros = 0
    for folder in packs.values():
        for case in assay.read_pack(folder):
            outputs = {}
            for name, output in case.recipe["outputs"].items():
                golden = case.golden(name)
                outputs[name] = np.full(output["shape"], 1e-52)
                rounded = golden["rounded"].astype(np.float64)
                zeros += int(np.sum(rounded == 0))
                outputs[name].reshape(-1)[golden["place"]] = np.where(rounded == 0, 1e-52, rounded * (1 + 2.0**-40))
            assert not any(case.off(outputs).values()), case.command
    assert zeros > 100


def test_safetensors_take_more_room_as_the_page_says(packs: dict[str, Path]) -> None:
    sizes = [sum(file.stat().st_size for file in packs[name].iterdir()) for name in ("npz", "safetensors")]
    assert 5 < sizes[1] / sizes[0] < 100


def test_safetensors_reads_ours(packs: dict[str, Path]) -> None:
    folder = packs["safetensors"]
    inputs = safetensors.numpy.load_file(folder / "inputs.safetensors")
    digests = json.loads((folder / "manifest.json").read_text())["inputs"]
    seen = set()
    for case in assay.read_pack(folder):
        for name, value in case.inputs.items():
            stored = inputs[digests[case.id][name]]
            assert stored.dtype == value.dtype and stored.tobytes() == value.tobytes()
            seen.add(stored.dtype)
    assert np.dtype(ml_dtypes.bfloat16) in seen
    goldens = safetensors.numpy.load_file(folder / "goldens.safetensors")
    assert any(np.any(values != 0) for name, values in goldens.items() if name.endswith("/tau"))


@pytest.mark.slow
def test_an_invalid_pack_or_missing_array_is_reported(packs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(assay.PackError, match=r"no manifest\.json"):
        assay.read_pack(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "assay-pack-9"}')
    with pytest.raises(assay.PackError, match="assay-pack-9"):
        assay.read_pack(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "assay-pack-1", "format": "zarr"}')
    with pytest.raises(assay.PackError, match="zarr"):
        assay.read_pack(tmp_path)
    subprocess.run([find_program(), "pack", "smoke", "--to", tmp_path / "drawn", "--format", "npz"], check=True, capture_output=True)
    with pytest.raises(assay.PackError, match="is generated from the recipe, not stored"):
        for case in assay.read_pack(tmp_path / "drawn"):
            _ = case.inputs


def test_a_changed_file_of_every_format_is_found(packs: dict[str, Path]) -> None:
    for name, folder in packs.items():
        verify = [find_program(), "pack", "--verify", folder]
        assert subprocess.run(verify, capture_output=True, check=False).returncode == 0
        file = folder / {"hdf5": "inputs.h5", "npz": "inputs.npz", "safetensors": "inputs.safetensors"}[name]
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        printed = subprocess.run(verify, capture_output=True, text=True, check=False)
        assert printed.returncode == 2 and file.name in printed.stdout, printed


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    words = [find_program(), "pack", "smoke", "--to", tmp_path / "x", "--format", "zarr"]
    printed = subprocess.run(words, capture_output=True, text=True, check=False)
    assert printed.returncode == 2 and "--format is 'zarr'; it must be hdf5, npz or safetensors" in printed.stderr
    assert not (tmp_path / "x").exists()
