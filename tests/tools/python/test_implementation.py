"""Declarations of implementations."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

import assay
import kernels
from assay.implementation import as_implementation, numerics_json
from assay.serving import load


def test_numerics_are_of_the_type() -> None:
    text = "fp32:torch_fp32 bf16:jax_cpu,order=fixed,exp_error=1e-6,lse_form=true"
    assert json.loads(numerics_json(text, "fp32") or "") == {"preset": "torch_fp32"}
    assert json.loads(numerics_json(text, "bf16") or "") == {
        "preset": "jax_cpu",
        "order": "fixed",
        "exp_error": 1e-6,
        "lse_form": True,
    }
    assert numerics_json(text, "fp16") is None
    assert numerics_json("", "fp32") is None
    assert json.loads(numerics_json("order=any", "fp32") or "") == {"order": "any"}


def test_a_decorated_function_is_still_called_as_one() -> None:
    @assay.implementation(unsupported=lambda case: "nothing is")
    def mine(case: assay.Case) -> dict[str, assay.Case]:
        return {"dq": case}

    assert mine.name == "mine"
    assert mine("x") == {"dq": "x"}
    assert mine.unsupported("x") == "nothing is"
    assert as_implementation(mine) is mine
    assert as_implementation(test_numerics_are_of_the_type).name == "test_numerics_are_of_the_type"


def test_a_decorator_without_arguments_does_the_same() -> None:
    @assay.implementation
    def mine(case: assay.Case) -> dict[str, assay.Case]:
        return {"dq": case}

    assert (mine.name, mine.numerics, mine("x")) == ("mine", "", {"dq": "x"})


def test_an_implementation_is_found_by_file_and_name() -> None:
    assert kernels.right.location() == f"{kernels.__file__}:right"
    with pytest.raises(ValueError, match="top level"):
        as_implementation(lambda case: {}).location()


def test_a_kernel_of_the_package_is_found_as_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """If assay/adapters/torch.py were loaded as a single file, it would be the module `torch`, which it imports."""
    module = types.ModuleType("assay.adapters.mine")
    module.attention = lambda case: {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert as_implementation(module.attention).location() == "assay.adapters.mine:attention"


WRAPPED = """
import functools
import assay

def kernel(case):
    return {name: 0 * array for name, array in case.inputs.items()}

@functools.wraps(kernel)
def other(case):
    raise RuntimeError

def make(factor):
    def scaled(case):
        return {}
    return scaled

doubled = make(2)
part = functools.partial(kernel)
declared = assay.implementation(numerics="torch_fp32", unsupported=lambda case: "nothing is")(kernel)
renamed = assay.implementation(name="flash v2")(kernel)
"""


@pytest.mark.parametrize("name", ["kernel", "other", "doubled", "part", "declared", "renamed"])
def test_the_name_leads_to_the_implementation_and_to_no_other(tmp_path: Path, name: str) -> None:
    """functools.wraps copies the name of the wrapped function. A sweep that finds the kernel by this name would judge
    the wrong function."""
    (tmp_path / "wrapped.py").write_text(WRAPPED, encoding="utf-8")
    module = vars(sys.modules[load(f"{tmp_path / 'wrapped.py'}:kernel").function.__module__])
    assert as_implementation(module[name]).location() == f"{tmp_path / 'wrapped.py'}:{name}"


def test_an_implementation_without_a_top_level_name_has_no_location(tmp_path: Path) -> None:
    (tmp_path / "wrapped.py").write_text(WRAPPED, encoding="utf-8")
    kernel = load(f"{tmp_path / 'wrapped.py'}:kernel").function
    with pytest.raises(ValueError, match="bind it to a name at the top level"):
        assay.implementation(numerics="fp32_staging")(kernel).location()
