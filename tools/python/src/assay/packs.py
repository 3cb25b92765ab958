"""Fixture packs in all their file formats: docs/packs.md of the project."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import h5py
import numpy as np

from assay.dtypes import Array, numpy_dtype

FIELDS = ("place", "value", "radius", "tau", "rounded")
_SAFETENSORS = {"F16": "fp16", "BF16": "bf16", "F32": "fp32", "F64": "fp64", "I8": "int8", "I16": "int16", "I32": "int32",
                "I64": "int64", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool"}


class PackError(ValueError):
    """Raised if a folder is not a pack, or lacks a requested part."""


@dataclass(frozen=True)
class PackCase:
    """A case of a pack."""

    id: str
    command: str  # the replay line
    recipe: Mapping[str, Any] = field(repr=False)
    _pack: _Pack = field(repr=False)

    @property
    def flags(self) -> dict[str, str]:
        """The flags of the replay line; omitted ones have their defaults, see `assay help run OPERATOR`."""
        return dict(word[2:].split("=", 1) for word in self.command.split()[1:])

    @property
    def inputs(self) -> dict[str, Array]:
        """All inputs by name. Raises PackError for an input that is drawn, not stored: `assay pack --whole` stores all."""
        return {name: self._pack.input(self.id, name, tensor) for name, tensor in self.recipe["inputs"].items()}

    def golden(self, output: str) -> dict[str, Array]:
        """Arrays place, value, radius, tau and rounded of the judged elements of an output."""
        return self._pack.golden(self.id, output)

    def off(self, outputs: Mapping[str, Array]) -> dict[str, int]:
        """The number of wrong elements of each output; 0 means correct. Outputs may have a wider type than documented."""
        found = {}
        for name, described in self.recipe["outputs"].items():
            if name not in outputs:
                raise PackError(f"{self.id}: no output {name}; expected one of {', '.join(self.recipe['outputs'])}")
            output, golden = np.asarray(outputs[name]), self.golden(name)
            if output.shape != tuple(described["shape"]):
                raise PackError(f"{self.id}: {name} has the shape {output.shape}; it must be {tuple(described['shape'])}")
            actual = output.reshape(-1)[golden["place"]]
            with np.errstate(over="ignore"):
                cast = actual.astype(numpy_dtype(described["dtype"])).astype(np.float64)
            room = golden["tau"].astype(np.float64) + golden["radius"]
            near = [np.abs(a - golden["value"]) <= room for a in (actual.astype(np.float64), cast)]
            found[name] = int(np.sum(~(near[0] | near[1] | (cast == golden["rounded"]))))
        return found


class _Pack:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        manifest = folder / "manifest.json"
        if not manifest.is_file():
            raise PackError(f"{folder} is not a pack: it has no manifest.json")
        self.manifest = json.loads(manifest.read_text(encoding="utf-8"))
        if self.manifest.get("schema") != "assay-pack-1":
            raise PackError(f"{manifest}: the schema is {self.manifest.get('schema')!r}; expected 'assay-pack-1'")
        self.format = self.manifest.get("format", "hdf5")  # older packs had only this format
        readers: dict[str, Callable[[Path], _Files]] = {"hdf5": _Hdf5, "npz": _Npz, "safetensors": _Safetensors}
        if self.format not in readers:
            raise PackError(f"{manifest}: the format is {self.format!r}; expected one of {', '.join(readers)}")
        self.files = readers[self.format](folder)

    def input(self, id: str, name: str, tensor: Mapping[str, Any]) -> Array:
        stored = self.files.input(self.manifest["inputs"][id][name])
        if stored is None:
            raise PackError(f"{self.folder}: {name} of {id} is generated from the recipe, not stored: 'assay pack --whole' stores it, see docs/packs.md")
        dtype = numpy_dtype(tensor["dtype"])
        return stored.view(dtype) if tensor["dtype"] == "bf16" and stored.dtype == np.uint16 else stored.astype(dtype, copy=False)

    def golden(self, id: str, output: str) -> dict[str, Array]:
        return self.files.golden(f"{id}/{output}")


class _Files(Protocol):
    """The files with goldens and inputs; an input that is not stored is None."""

    def input(self, digest: str) -> Array | None: ...

    def golden(self, path: str) -> dict[str, Array]: ...


class _Hdf5:
    def __init__(self, folder: Path) -> None:
        self.goldens, self.inputs = folder / "goldens.h5", folder / "inputs.h5"

    def input(self, digest: str) -> Array | None:
        with h5py.File(self.inputs) as file:
            return None if digest not in file else np.asarray(file[digest][()])

    def golden(self, path: str) -> dict[str, Array]:
        with h5py.File(self.goldens) as file:
            records = file[path][()]
        return {name: records[name] for name in FIELDS}


class _Npz:
    def __init__(self, folder: Path) -> None:
        self.goldens, self.inputs = np.load(folder / "goldens.npz"), np.load(folder / "inputs.npz")

    def input(self, digest: str) -> Array | None:
        return None if digest not in self.inputs else np.asarray(self.inputs[digest])

    def golden(self, path: str) -> dict[str, Array]:
        return {name: self.goldens[f"{path}/{name}"] for name in FIELDS}


class _Safetensors:
    def __init__(self, folder: Path) -> None:
        self.goldens, self.inputs = _mapped(folder / "goldens.safetensors"), _mapped(folder / "inputs.safetensors")

    def input(self, digest: str) -> Array | None:
        return self.inputs.get(digest)

    def golden(self, path: str) -> dict[str, Array]:
        return {name: self.goldens[f"{path}/{name}"] for name in FIELDS}


def _mapped(path: Path) -> dict[str, Array]:
    """The arrays of a safetensors file, memory-mapped."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > path.stat().st_size - 8:
            raise PackError(f"{path}: a header of {length} bytes in a file of {path.stat().st_size}")
        header = json.loads(file.read(length))
    data = np.memmap(path, np.uint8, "r", offset=8 + length) if path.stat().st_size > 8 + length else np.zeros(0, np.uint8)
    arrays = {}
    for name, of in header.items():
        begin, end = of["data_offsets"]
        arrays[name] = np.asarray(data[begin:end]).view(numpy_dtype(_SAFETENSORS[of["dtype"]])).reshape(of["shape"])
    return arrays


def read_pack(folder: str | os.PathLike[str]) -> list[PackCase]:
    """The cases of a pack. Raises PackError if the folder is not a pack."""
    pack = _Pack(Path(folder))
    lines = (Path(folder) / "recipes.jsonl").read_text(encoding="utf-8").splitlines()
    return [PackCase(id=recipe["id"], command=recipe["command"], recipe=recipe, _pack=pack) for recipe in map(json.loads, lines)]
