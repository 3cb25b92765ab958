"""Makes a Python function an implementation: a name, its declared numerics, and the cases that it does not support."""

from __future__ import annotations

import contextlib
import json
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import overload

from assay.cases import Case
from assay.dtypes import Array

Function = Callable[[Case], Mapping[str, Array]]
Predicate = Callable[[Case], str | None]


class Unsupported(Exception):
    """Raised by an implementation that does not support a case; the text says why."""


class Rejected(Exception):
    """Raised by an implementation that refuses a call, with one of the documented status codes."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}")
        self.status, self.text = status, text


@dataclass(frozen=True)
class Implementation:
    """A function from a case to its outputs by name, and the facts that Assay needs about it.

    `numerics` is a preset ("ascend_a2"), a preset and fields that differ ("ascend_a2,order=fixed"), or one such text for
    each type ("fp32:torch_fp32 bf16:jax_cpu"): `assay list presets`, conformance/adapters/command.md.
    """

    function: Function
    name: str
    numerics: str = ""
    predicate: Predicate | None = None

    def __post_init__(self) -> None:
        for what, value in (("name", self.name), ("numerics", self.numerics)):
            if not isinstance(value, str):
                wanted = "a text such as 'fp32_staging,order=fixed'" if what == "numerics" else "a text"
                raise TypeError(f"{what} is {type(value).__name__} ({value!r}); expected {wanted}")
        if self.predicate is not None and not callable(self.predicate):
            given = f"{type(self.predicate).__name__} ({self.predicate!r})"
            raise TypeError(f"unsupported is {given}; expected a function from a case to a reason or None")

    def __call__(self, case: Case) -> Mapping[str, Array]:
        outputs = self.function(case)
        if not isinstance(outputs, Mapping):
            raise TypeError(f"{self.name} returned {type(outputs).__name__}; expected outputs by name")
        wanted = case.gradients if isinstance(case, Case) else []  # a decorated function may be called with anything
        if missing := [f"d{name}" for name in wanted if f"d{name}" not in outputs]:
            raise Unsupported(f"{self.name} does not return {', '.join(missing)}, which the formula requires")
        return outputs

    def unsupported(self, case: Case) -> str | None:
        """Why the implementation does not support the case, or None."""
        return self.predicate(case) if self.predicate is not None else None

    def profile(self, dtype: str) -> str | None:
        """The numerics for one type as the JSON of a case file; None if nothing is declared."""
        return numerics_json(self.numerics, dtype)

    def on(self, device: str) -> Implementation:
        """Returns the implementation on a device. Raises TypeError unless the adapter accepts a device."""
        takers = "the adapters of torch, torch_cuda, fla, flash_attn and npu accept a device"
        raise TypeError(f"{self.name} does not accept a device, but '{device}' was given: {takers}")

    def ready(self) -> Implementation:
        """The implementation for use in this process: resolves its device, if it accepts one, and checks that it exists."""
        return self

    @property
    def promises_fixed_order(self) -> bool:
        """True if the implementation declares that two runs give the same bits."""
        return "order=fixed" in self.numerics

    def location(self) -> str:
        """Returns FILE:NAME, or MODULE:NAME for modules of this package, by which another process can import the implementation.

        Raises ValueError if no top-level name refers to it. Every name is checked: functools.wraps gives a function the name
        of the function that it wraps."""
        own = sys.modules.get(getattr(self.function, "__module__", None) or "")
        others = sys.modules.copy()
        script = others.pop("__main__", None)  # the last choice: another process runs only a part of a script
        for module in (own, *others.values(), script):
            if not isinstance(module, ModuleType):
                continue
            for name in self._names_in(module):
                if module.__name__.startswith("assay."):
                    return f"{module.__name__}:{name}"  # the file adapters/torch.py alone would be a module "torch"
                if file := getattr(module, "__file__", None):
                    return f"{Path(file).resolve()}:{name}"
        raise ValueError(f"{self.name} cannot be imported by another process: bind it to a name at the top level of a file")

    @property
    def name_in_code(self) -> str:
        """The name under which the function was defined; FUNCTION if it has none, such as a lambda."""
        name = str(getattr(self.function, "__name__", ""))
        return name if name.isidentifier() else "FUNCTION"

    def _names_in(self, module: ModuleType) -> list[str]:
        """Names that refer to the implementation; first the name under which its function was defined."""
        defined = getattr(self.function, "__qualname__", "")
        names = [name for name, value in vars(module).copy().items() if self._is(value)]
        with contextlib.suppress(Exception):  # torch.classes raises RuntimeError for an unknown name
            if defined and self._is(operator.attrgetter(defined)(module)):
                names.insert(0, defined)
        return names

    def _is(self, value: object) -> bool:
        """Returns whether `value`, imported in another process, is the same implementation."""
        if isinstance(value, Implementation):
            return (value.function, value.name, value.numerics, value.predicate) == (self.function, self.name, self.numerics, self.predicate)
        return value is self.function and self == as_implementation(self.function)

    def words(self) -> list[str]:
        """The arguments after `python -m assay serve`."""
        return [self.location()]


@overload
def implementation(function: Function, /) -> Implementation: ...
@overload
def implementation(*, name: str | None = None, numerics: str = "", unsupported: Predicate | None = None) -> Callable[[Function], Implementation]: ...
def implementation(
    function: Function | None = None, /, *, name: str | None = None, numerics: str = "", unsupported: Predicate | None = None
) -> Implementation | Callable[[Function], Implementation]:
    """Decorates a function of a case, with arguments or without: makes an implementation for `judge` and `serve`."""

    def decorate(function: Function) -> Implementation:
        if isinstance(function, Implementation) or not callable(function):
            raise TypeError(f"implementation() got {type(function).__name__}; expected a function of a case")
        return Implementation(function, name or function.__name__, numerics, unsupported)

    return decorate if function is None else decorate(function)


def as_implementation(function: Function | Implementation) -> Implementation:
    """Wraps a function that is not an implementation: it declares no numerics and supports everything."""
    if isinstance(function, Implementation):
        return function
    if not callable(function):
        raise TypeError(f"{type(function).__name__}; expected a function or an implementation")
    return Implementation(function, getattr(function, "__name__", type(function).__name__))


def _value(text: str) -> bool | float | str:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float.fromhex(text) if text.startswith("0x") else float(text)
    except ValueError:
        return text


def numerics_json(text: str, dtype: str) -> str | None:
    """Returns the declaration for one type as JSON. This function does not check the words; Assay does."""
    profile: str | None = None
    for word in text.replace(";", " ").split():
        stated, colon, items = word.rpartition(":")
        if colon and stated != dtype:
            continue
        fields: dict[str, bool | float | str] = {}
        for item in items.split(","):
            field, equals, value = item.partition("=")
            fields[field if equals else "preset"] = _value(value) if equals else field
        profile = json.dumps(fields)
    return profile
