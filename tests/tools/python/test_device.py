"""Tests the device of adapters without a framework: a stand-in for PyTorch has the devices `cpu` and `cuda`."""

from __future__ import annotations

import dataclasses
import os
import sys
from types import ModuleType

import pytest

import assay
from assay.adapters import device
from assay.adapters.device import DeviceImplementation, current_device, device_implementation, prepare_triton


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(size: int, *, device: str) -> None:
        if device not in ("cpu", "cuda", "cuda:1"):
            raise RuntimeError(f"no device type {device}\nof many")

    torch = ModuleType("torch")
    torch.empty = empty  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delenv("ASSAY_DEVICE", raising=False)
    device._require.cache_clear()


@device_implementation(
    name="placed",
    numerics="fp32:ascend_a2",
    numerics_on_device="fp32:ascend_a2,product=tf32",
    unsupported=lambda case: None if current_device() == "cuda" else f"not on {current_device()}",
)
def placed(case: assay.Case) -> dict[str, assay.dtypes.Array]:
    raise assay.Unsupported(current_device())


def where(implementation: DeviceImplementation) -> str:
    """Returns the device on which it is called."""
    with pytest.raises(assay.Unsupported) as printed:
        implementation("case")  # type: ignore[arg-type]
    return str(printed.value)


def test_the_environment_is_read_when_an_implementation_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert where(placed) == "cpu" and placed.ready().device == "cpu"
    monkeypatch.setenv("ASSAY_DEVICE", "cuda")
    assert where(placed) == "cuda" and placed.ready().device == "cuda"
    assert where(placed.on("cpu")) == "cpu" and placed.on("cpu").ready().device == "cpu"
    assert placed.unsupported("case") is None and placed.on("cpu").unsupported("case") == "not on cpu"  # type: ignore[arg-type]
    monkeypatch.setenv("ASSAY_DEVICE", "")
    assert where(placed) == "cpu"


def test_numerics_are_those_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    on_cuda = placed.on("cuda:1")
    assert "tf32" in on_cuda.numerics and "tf32" in on_cuda.on("cuda").numerics
    assert "tf32" not in placed.numerics + on_cuda.on("cpu").numerics + placed.on("cpu:0").numerics
    monkeypatch.setenv("ASSAY_DEVICE", "cuda")
    assert "tf32" in placed.ready().numerics


def test_the_named_device_is_passed_to_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert assay.command_of(placed.on("cuda")).endswith("test_device.py:placed --device=cuda")
    monkeypatch.setenv("ASSAY_DEVICE", "cuda")
    assert assay.command_of(placed).endswith("test_device.py:placed"), "the other process reads the environment"


def test_a_device_that_is_not_there_is_named_and_who_named_it(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "nsa_compress_grad"
    with pytest.raises(ValueError, match="^device is 'cuba', which PyTorch cannot use: no device type cuba$"):
        assay.judge(placed.on("cuba"), line)
    with pytest.raises(ValueError, match="^device is 'npu', which .* No module named 'torch_npu'$"):
        assay.judge(placed.on("npu"), line)
    with pytest.raises(ValueError, match="^device of placed is ''; expected cpu, cuda"):
        placed.on("")
    monkeypatch.setenv("ASSAY_DEVICE", "cuba")
    with pytest.raises(ValueError, match="^ASSAY_DEVICE is 'cuba', which PyTorch cannot use"):
        assay.judge(placed, line)


def test_a_process_interprets_triton_or_compiles_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.setenv("TRITON_INTERPRET", "")  # so that it is restored after the test
    for name, interprets in (("cuda", "0"), ("cpu", "1")):
        monkeypatch.setenv("ASSAY_DEVICE", name)
        prepare_triton()
        assert os.environ["TRITON_INTERPRET"] == interprets
    monkeypatch.setitem(sys.modules, "triton", ModuleType("triton"))
    prepare_triton()
    monkeypatch.setenv("ASSAY_DEVICE", "cuda")
    with pytest.raises(ValueError, match="^device is 'cuda', for which Triton must compile, but TRITON_INTERPRET made it interpret"):
        prepare_triton()
    monkeypatch.delenv("TRITON_INTERPRET")
    prepare_triton()
    with_triton = dataclasses.replace(placed, prepare=prepare_triton)
    assert with_triton.ready().device == "cuda"
    with pytest.raises(ValueError, match="^device is 'cpu', for which Triton must interpret"):
        with_triton.on("cpu").ready()
