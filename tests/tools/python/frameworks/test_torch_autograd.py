"""Judges forward and backward of PyTorch together, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.adapters import torch_autograd as adapter
from assay.adapters.tensors import to_torch
from judged import judged_autograd

LINE = "flash_attention_score_grad --dtype={} --batch=2 --heads_q=2 --heads_kv=2 --seq_q=33 --seq_kv=40 --head_dim=16 --head_dim_v=16 --scale_value=0.25"


@pytest.mark.parametrize("dtype", ("fp32", "fp16"))
@pytest.mark.parametrize("function", (adapter.flash, adapter.math), ids=lambda one: one.name)
def test_the_backends_conform(function: assay.AutogradFunction, dtype: str) -> None:
    assert not any(report.wrong for report in judged_autograd(function, dtype))


def test_the_math_backend_conforms_in_bf16() -> None:
    assert not any(report.wrong for report in judged_autograd(adapter.math, "bf16"))


def test_only_the_backward_of_the_flash_backend_fails_in_bf16() -> None:
    """The backward adds blocks in bf16 (test_torch.py)."""
    wrong = [report.wrong for report in judged_autograd(adapter.flash, "bf16") if report.wrong]
    assert wrong and set(wrong) == {("backward",)}


def test_the_exp_of_the_flash_forward_is_seen_in_what_it_saves() -> None:
    """In 16-bit types the forward computes exp with an error of 1e-4. If the numerics do not declare it, the saved
    logsumexp fails; the backward, which gets this value, does not."""
    undeclared = replace(adapter.flash, forward_numerics="")
    wrong = [report for report in judged_autograd(undeclared, "fp16") if report.wrong]
    assert wrong
    for report in wrong:
        assert report.wrong == ("saved",) and report.causes[0].tensors == ("softmax_sum",), report.summary()
        assert report.backward.conforms, report.summary()


class Attention(torch.autograd.Function):
    """Attention without a mask, with the faults that the tests plant."""

    output_factor = sum_factor = gradient_factor = 1.0

    @classmethod
    def forward(cls, ctx: Any, query: Any, key: Any, value: Any, scale: float) -> Any:  # type: ignore[override]
        scores = scale * query.double() @ key.double().mT
        maximum = scores.amax(-1).float()
        weights = torch.exp(scores - maximum[..., None])
        total = weights.sum(-1)
        output = (cls.output_factor * weights / total[..., None] @ value.double()).to(query.dtype)
        ctx.save_for_backward(query, key, value, maximum, (cls.sum_factor * total).float(), output)
        ctx.scale = scale
        return output

    @classmethod
    def backward(cls, ctx: Any, dy: Any) -> Any:  # type: ignore[override]
        query, key, value, maximum, total, output = (tensor.double() for tensor in ctx.saved_tensors)
        dy, scale, dtype = dy.double(), ctx.scale, ctx.saved_tensors[0].dtype
        p = torch.exp(scale * query @ key.mT - maximum[..., None]) / total[..., None]
        ds = p * (dy @ value.mT - (dy * output).sum(-1, keepdim=True))
        gradients = (scale * ds @ key, cls.gradient_factor * scale * ds.mT @ query, p.mT @ dy)
        return (*(gradient.to(dtype) for gradient in gradients), None)


class WrongOutput(Attention):
    output_factor = 1.02


class WrongSum(Attention):
    sum_factor = 1.02


class WrongGradient(Attention):
    gradient_factor = 1.02


SAVED = ("query", "key", "value", "softmax_max", "softmax_sum", "attention_in")


def wrapped(of: type[torch.autograd.Function], saved: Sequence[str] = SAVED) -> assay.AutogradFunction:
    def arguments(case: assay.Case) -> list[Any]:
        return [*(to_torch(case.inputs[name]) for name in ("query", "key", "value")), case.problem["scale_value"]]

    return adapter.function(of, arguments=arguments, gradients=("dq", "dk", "dv"), saved=saved, numerics="fp32_staging")


@pytest.mark.parametrize("dtype", ("fp32", "fp16", "bf16"))
@pytest.mark.parametrize(
    ("of", "wrong", "tensors"),
    [
        (Attention, (), ()),
        (WrongOutput, ("forward",), ("attention_out",)),
        (WrongSum, ("saved",), ("softmax_sum",)),
        (WrongGradient, ("backward",), ("dk",)),
    ],
)
def test_the_wrong_part_of_a_torch_function_is_named(of: Any, wrong: tuple[str, ...], tensors: tuple[str, ...], dtype: str) -> None:
    report = assay.judge_autograd(wrapped(of), LINE.format(dtype))
    assert report.wrong == wrong, report.summary()
    assert tensors == (report.causes[0].tensors if report.causes else ())


def test_saved_values_of_a_torch_function_may_stay_unnamed() -> None:
    assert assay.judge_autograd(wrapped(Attention, ()), LINE.format("fp32")).sentence() == "Attention: forward and backward conform"
    assert assay.judge_autograd(wrapped(WrongSum, ()), LINE.format("fp32")).wrong == ("saved_or_backward",)
    unnamed = assay.judge_autograd(wrapped(Attention, ("", "", "", "softmax_max", "softmax_sum", "attention_in")), LINE.format("fp32"))
    assert unnamed.conforms and unnamed.backward is not None
    short = assay.judge_autograd(wrapped(Attention, SAVED[:2]), LINE.format("fp32"))
    assert short.wrong == ("forward",) and "saved 6 tensors, but 2 names were given: query, key" in short.causes[0].evidence


def test_a_torch_function_needs_the_adapter() -> None:
    with pytest.raises(TypeError, match=r"^Attention is a torch\.autograd\.Function; expected assay\.adapters\.torch_autograd\.function\(Attention"):
        assay.judge_autograd(Attention, LINE.format("fp32"))


def test_a_tensor_keeps_its_bits() -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        tensor = torch.linspace(-3, 3, 7).to(dtype)
        array = adapter.array_of(tensor)
        assert array.dtype.name == str(dtype).removeprefix("torch.") and np.array_equal(array.astype(np.float64), tensor.double().numpy())
