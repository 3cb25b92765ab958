"""Declarations of implementations."""

from __future__ import annotations

import json

import pytest

import assay
import kernels
from assay.implementation import as_implementation, numerics_json


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


def test_what_the_package_brings_is_found_as_a_module() -> None:
    """assay/adapters/torch.py as a file of its own would be the module `torch`, which it imports."""

    def attention(case: assay.Case) -> dict[str, assay.dtypes.Array]:
        return {}

    attention.__module__, attention.__qualname__ = "assay.adapters.torch", "attention"
    assert as_implementation(attention).location() == "assay.adapters.torch:attention"
