"""Reads stored cases (schema assay-2): headers immediately, tensors on first use."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from assay.dtypes import Array, exactly, numpy_dtype
from assay.naming import Named
from assay.parts import Part, inputs_of_part, part_of, whole_gradients
from assay.replacing import replacing, turn
from assay.tensors import digest, read_tensor, write_tensor
from assay.variants import arrays_of, gathered, gradients_of, parameters_of

SCHEMA = "assay-2"
Field = int | float | str | list[int]
_Read = TypeVar("_Read")
_HEADER = ("operator", "entry_point", "product", "command", "profile", "track")
_FP32_OUTPUTS = ("softmax_max", "softmax_sum", "dsink", "dformula")


class CaseFileError(ValueError):
    """Raised if a file is not a case file, or lacks a part of a case."""


def link_of(name: str) -> str:
    """Encodes a name as an HDF5 link."""
    return "%2E" if name == "." else name.replace("%", "%25").replace("/", "%2F")


def name_of(link: str) -> str:
    """The inverse of `link_of`."""
    return link.replace("%2F", "/").replace("%2E", ".").replace("%25", "%")


@dataclass(frozen=True)
class Expected:
    """The reference of one output: rows of `value` exact to within `radius`, and the tolerance of an output (`tau`)."""

    value: Array
    radius: Array
    tau: Array
    rounded: Array
    profile: str
    rows: Array | None = None  # numbers of the judged rows; None: all of them


@dataclass(frozen=True)
class Case:
    """One call: the `problem`, its `inputs`, and the `expected` outputs."""

    path: Path
    id: str
    operator: str
    entry_point: str
    product: str
    command: str  # the replay line
    profile: str  # input profile: the kind of input data
    track: str
    seed: int
    problem: Mapping[str, Field] = field(repr=False)
    open_question: str = ""  # an ambiguity of the documents, so that a refusal is not a failure
    call: Mapping[str, Field] = field(default_factory=dict, repr=False)  # facts that `problem` does not contain

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the problem."""
        return numpy_dtype(str(self.problem["dtype"]))

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """The tensors of the call by their documented names, dense. With a part: those of the device with this part."""
        return Named("input", self._of_part(self.whole_inputs))

    @cached_property
    def whole_inputs(self) -> dict[str, Array]:
        """The tensors of all keys and queries, also if the case has a part."""
        read = self._read(lambda case: {name_of(n): read_tensor(d) for n, d in _members(case, "inputs")})
        return Named("input", read)

    @cached_property
    def part(self) -> Part | None:
        """The part of the keys or queries whose gradient is judged; None: all of them. `problem` describes all of them."""
        return part_of(self.command)

    def _of_part(self, inputs: dict[str, Array]) -> dict[str, Array]:
        return inputs if self.part is None else inputs_of_part(self.problem, inputs, self.part)

    @cached_property
    def parameters(self) -> dict[str, float]:
        """The parameters of the formula of the case; empty without a formula."""
        return parameters_of(self.command)

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """The arrays of the formula of the case; empty without a formula."""
        return arrays_of(self.command)

    @cached_property
    def gradients(self) -> list[str]:
        """The arrays and parameters of the formula whose gradients are outputs, each named "d" and its name."""
        return gradients_of(self.command)

    @cached_property
    def views(self) -> dict[str, Array]:
        """The tensors with the strides and offsets of the call, as views of their storage."""
        read = self._read(lambda case: {name_of(n): _view(case, n, d) for n, d in _members(case, "inputs")})
        return Named("input", self._of_part(read))

    @cached_property
    def expected(self) -> dict[str, Expected]:
        """The reference of each output."""
        read = self._read(lambda case: {name_of(n): _expected(g) for n, g in _members(case, "expected")})
        return Named("output", read)

    @cached_property
    def regimes(self) -> Counter[str]:
        """How often the run used each regime (branch or tail of the kernel's tiling). The kernel may set it: `case.regimes["key_tile.tail"] += 1`."""
        return Counter()

    def changed_inputs(self) -> list[str]:
        """Returns the names of the inputs into which the function wrote: their elements differ from those of the file."""
        fresh = replace(self)
        return sorted(
            {
                name
                for kind in ("inputs", "whole_inputs", "views")
                if kind in self.__dict__
                for name, array in getattr(fresh, kind).items()
                if getattr(self, kind)[name].tobytes() != array.tobytes()
            }
        )

    def outputs(self, implementation: str) -> dict[str, Array]:
        """The outputs of an implementation for the case, in the types in which they were written."""

        def read(case: h5py.Group) -> dict[str, Array]:
            members = _members(case, f"actual/{link_of(implementation)}")
            return {name_of(n): _foreign(d) for n, d in members if n != "profile"}

        return Named("output", self._read(read))

    def verdict(self, implementation: str) -> dict[str, Any]:
        """The verdict of `assay check` on an implementation, see tools/report_schema.md; empty if there is none."""

        def read(case: h5py.Group) -> dict[str, Any]:
            path = f"verdicts/{link_of(implementation)}"
            return dict(json.loads(case[path][()])) if path in case else {}

        return self._read(read)

    def _read(self, use: Callable[[h5py.Group], _Read]) -> _Read:
        with h5py.File(self.path) as file:
            return use(file["cases"][link_of(self.id)])


def _members(group: h5py.Group, name: str) -> list[tuple[str, Any]]:
    return list(group[name].items()) if name in group else []


def _foreign(dataset: h5py.Dataset) -> Array:
    return read_tensor(dataset) if "dtype" in dataset.attrs else np.asarray(dataset[()])


def _view(case: h5py.Group, link: str, dense: h5py.Dataset) -> Array:
    if f"storage/inputs/{link}" not in case:
        return read_tensor(dense)
    dtype = numpy_dtype(str(dense.attrs["dtype"]))
    storage = _storage(case[f"storage/inputs/{link}"], dtype)
    strides = [int(stride) * dtype.itemsize for stride in dense.attrs["strides"]]
    first = storage[int(dense.attrs["offset"]) :]
    return np.lib.stride_tricks.as_strided(first, dense.shape, strides)


def _storage(dataset: h5py.Dataset, dtype: np.dtype[Any]) -> Array:
    if "dtype" in dataset.attrs:
        return read_tensor(dataset)
    values = np.asarray(dataset[()])
    return values if values.dtype == dtype else values.astype(dtype)  # a wider float type, so the conversion is exact


def _expected(group: h5py.Group) -> Expected:
    dtype = numpy_dtype(str(group.attrs["dtype"]))
    return Expected(
        value=group["value"][()],
        radius=group["radius"][()],
        tau=group["tau"][()],
        rounded=_storage(group["rounded"], dtype),
        profile=str(group["tau"].attrs["profile"]),
        rows=group["rows"][()] if "rows" in group else None,
    )


def _plain(value: Any) -> Field:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode()
    return value  # type: ignore[no-any-return]


def _problem(group: h5py.Group) -> dict[str, Field]:
    fields: dict[str, Field] = {name: _plain(value) for name, value in group.attrs.items()}
    lists: dict[str, Field] = {name_of(link): [int(x) for x in data[()]] for link, data in group.items()}
    return Named("field", fields | lists)


def read_cases(path: str | os.PathLike[str]) -> list[Case]:
    """The cases of a file, in its order; their tensors are read when they are used."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"the file '{path}' does not exist; expected a file of 'assay export'")
    if not h5py.is_hdf5(path):
        raise CaseFileError(f"{path} is not an HDF5 file; expected a file of 'assay export'")
    with h5py.File(path) as file:
        if (found := file.attrs.get("schema")) != SCHEMA:
            raise CaseFileError(f"{path}: the schema is {found!r}; expected {SCHEMA!r}")
        return [_header(path, name_of(link), group) for link, group in file["cases"].items()]


def _header(path: Path, identity: str, group: h5py.Group) -> Case:
    missing = [name for name in (*_HEADER, "seed") if name not in group.attrs]
    if missing or "problem" not in group:
        raise CaseFileError(f"{path}:/cases/{identity} lacks {', '.join(missing) or 'problem'}")
    texts = {name: str(_plain(group.attrs[name])) for name in _HEADER}
    problem, call = (_problem(group[name]) if name in group else {} for name in ("problem", "call"))
    return Case(
        path=path,
        id=identity,
        seed=int(group.attrs["seed"]),
        problem=problem,
        open_question=str(_plain(group.attrs.get("open_question", ""))),
        call=call,
        **texts,
    )


def write_cases(path: str | os.PathLike[str], cases: Iterable[Case]) -> None:
    """Writes these cases, complete, to a new file; an existing file is replaced only when the new one is complete."""
    cases = list(cases)
    with replacing(Path(path)) as pending:
        if _are_in_order_of_one_file(cases):
            shutil.copyfile(cases[0].path, pending)
            with h5py.File(pending, "r+") as file:
                for name in set(file["cases"]) - {link_of(case.id) for case in cases}:
                    del file["cases"][name]
            return
        with h5py.File(pending, "w", track_order=True) as file:
            file.attrs["schema"] = SCHEMA
            target = file.create_group("cases", track_order=True)
            for case in cases:
                with h5py.File(case.path) as source:
                    for name in ("tool", "revision"):
                        if name in source.attrs:
                            file.attrs[name] = source.attrs[name]
                    source.copy(source["cases"][link_of(case.id)], target, name=link_of(case.id))


def _are_in_order_of_one_file(cases: list[Case]) -> bool:
    """Returns whether one file contains these cases in this order. Such a file is copied whole: HDF5 1.10 (Debian) may crash
    when it copies a single case."""
    if not cases or any(case.path != cases[0].path for case in cases):
        return False
    with h5py.File(cases[0].path) as file:
        names = iter(file["cases"])
        return all(link_of(case.id) in names for case in cases)  # `in` advances the iterator: checks the order


def write_outputs(
    case: Case, implementation: str, outputs: Mapping[str, Array], profile: str | None = None
) -> None:
    """Adds the outputs of an implementation to the file of the case; `profile` is the JSON of its numerics.

    The file is copied and replaced atomically, under a lock. Raises WrongType, and writes nothing, for an output whose
    values are not of the case's type.
    """
    with turn(case.path), replacing(case.path) as pending:
        shutil.copyfile(case.path, pending)
        add_outputs(replace(case, path=pending), implementation, outputs, profile)


def replace_inputs(case: Case, inputs: Mapping[str, Array]) -> None:
    """Replaces inputs of a case in a private, temporary file; with them it is judged by `assay check --given-inputs`.

    Raises WrongType, and writes nothing, for an input of another type."""
    arrays = {name: exactly(name, np.asarray(array), case.inputs[name].dtype) for name, array in inputs.items()}
    with h5py.File(case.path, "r+") as file:
        group = file["cases"][link_of(case.id)]
        for name, array in arrays.items():
            link = link_of(name)
            for old in (f"inputs/{link}", f"storage/inputs/{link}"):
                if old in group:
                    del group[old]
            write_tensor(group["inputs"], link, array)
            group["digests"].attrs[link] = digest(array)


def add_outputs(case: Case, implementation: str, outputs: Mapping[str, Array], profile: str | None = None) -> None:
    """Does the same in a private, temporary file without copying it; if the process is killed, the file may be incomplete."""
    with h5py.File(case.path, "r+") as file:
        group = file["cases"][link_of(case.id)]
        outputs = gathered(case.command, outputs)
        if case.part is not None:
            outputs = whole_gradients(case.problem, case.inputs, case.part, outputs)
        arrays = {name: exactly(name, np.asarray(output), _output_dtype(case, group, name)) for name, output in outputs.items()}
        folder = f"actual/{link_of(implementation)}"
        for old in (folder, f"storage/{folder}"):
            if old in group:
                del group[old]
        own = group.require_group(folder)
        for name, array in arrays.items():
            write_tensor(own, link_of(name), array)
        if profile is not None:
            own["profile"] = profile


def _output_dtype(case: Case, group: h5py.Group, name: str) -> np.dtype[Any]:
    """The type of an output: that of its reference. Without one: fp32 for statistics, gradients of a sink or a formula and
    sums over a part, else that of the problem."""
    path = f"expected/{link_of(name)}"
    if path in group:
        return numpy_dtype(str(group[path].attrs["dtype"]))
    is_fp32 = name in _FP32_OUTPUTS or (case.part is not None and case.part.sums_to(name))
    return np.dtype(np.float32) if is_fp32 else case.dtype
