"""The device of the adapters that accept one: PyTorch's tensors are on it, and Triton compiles
its kernels for it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache

from assay.cases import Case
from assay.dtypes import Array
from assay.implementation import Function, Implementation, Predicate

CPU = "cpu"
VARIABLE = "ASSAY_DEVICE"
_of_this_call: ContextVar[str] = ContextVar("device")
_INTERPRET = "TRITON_INTERPRET"
_SWITCHED_ON = ("1", "true", "on")  # the values that Triton accepts


def current_device() -> str:
    """Returns the device of the implementation that is running; if none is running, the one that the environment names now."""
    return _of_this_call.get("") or os.environ.get(VARIABLE) or CPU


def is_cpu(name: str) -> bool:
    """Returns whether this is a name of the CPU: "cpu", "cpu:0"."""
    return name.partition(":")[0] == CPU


@contextmanager
def _on(name: str) -> Iterator[None]:
    before = _of_this_call.set(name)
    try:
        yield
    finally:
        _of_this_call.reset(before)


@cache
def _require(name: str, said_by: str) -> None:
    """Raises ValueError if this PyTorch does not support the device, or cannot use it."""
    try:
        if name.startswith("npu"):
            importlib.import_module("torch_npu")  # without it PyTorch does not know the device
        importlib.import_module("torch").empty(0, device=name)
    except Exception as failure:  # each backend raises its own exceptions
        why = (str(failure).splitlines() or [type(failure).__name__])[0]
        raise ValueError(f"{said_by} is '{name}', which PyTorch cannot use: {why}") from failure


def prepare_triton() -> None:
    """Makes Triton interpret kernels on the CPU, and compile them for other devices. Triton decides
    that when it is imported, so a process can do only one of the two: call this before the import.

    Raises ValueError if the process already does the other one."""
    name, interprets = current_device(), is_cpu(current_device())
    if "triton" not in sys.modules:
        os.environ[_INTERPRET] = "1" if interprets else "0"
    if interprets != (os.environ.get(_INTERPRET, "").lower() in _SWITCHED_ON):
        required, found = ("interpret", "compile") if interprets else ("compile", "interpret")
        raise ValueError(
            f"device is '{name}', for which Triton must {required}, but {_INTERPRET} made it {found} in"
            " this process when it was imported: use another process, as assay.sweep does"
        )


@dataclass(frozen=True)
class DeviceImplementation(Implementation):
    """An implementation whose tensors are on a device: the one that `on` was given, else the one in the environment
    variable ASSAY_DEVICE, which is read when the implementation is used."""

    device: str = ""
    elsewhere: str = ""  # numerics on the other kind of device (CPU or not)
    prepare: Callable[[], object] | None = None  # loads modules that depend on the device

    def on(self, device: str) -> DeviceImplementation:
        """Returns the implementation on this PyTorch device, with the numerics for that device."""
        if not device:
            raise ValueError(f"device of {self.name} is ''; expected cpu, cuda, npu or the like")
        if is_cpu(device) == is_cpu(self.device or CPU):
            return replace(self, device=device)
        return replace(self, device=device, numerics=self.elsewhere, elsewhere=self.numerics)

    def ready(self) -> DeviceImplementation:
        """Raises ValueError for a device that is not available."""
        said_by = "device" if self.device else VARIABLE
        placed = self if self.device else self.on(current_device())
        _require(placed.device, said_by)
        if self.prepare is not None:
            with _on(placed.device):
                self.prepare()
        return placed

    def _is(self, value: object) -> bool:
        """Returns whether `value`, imported in another process and moved to the device, is the same implementation."""
        if not isinstance(value, DeviceImplementation):
            return False
        of_both = [(one.function, one.name, {one.numerics, one.elsewhere}, one.predicate) for one in (value, self)]
        return of_both[0] == of_both[1]

    def words(self) -> list[str]:
        """If no device was named, another process reads ASSAY_DEVICE in its own environment."""
        return [*super().words(), *([f"--device={self.device}"] if self.device else [])]

    def __call__(self, case: Case) -> Mapping[str, Array]:
        with _on(self.device or current_device()):
            return super().__call__(case)

    def unsupported(self, case: Case) -> str | None:
        with _on(self.device or current_device()):
            return super().unsupported(case)


def device_implementation(
    *,
    name: str,
    numerics: str,
    unsupported: Predicate,
    numerics_on_device: str = "",
    prepare: Callable[[], object] | None = None,
) -> Callable[[Function], DeviceImplementation]:
    """As `assay.implementation`, for a function that puts its tensors on `current_device()`.

    numerics_on_device: the numerics on devices other than the CPU, if they differ.
    """

    def decorate(function: Function) -> DeviceImplementation:
        elsewhere = numerics_on_device or numerics
        return DeviceImplementation(
            function, name, numerics, unsupported, elsewhere=elsewhere, prepare=prepare
        )

    return decorate
