"""Wraps kernels so that they avoid one suspected fault. If the suspicion is right, lines that failed then conform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.adapters import torch_cuda
from assay.adapters.attention import Attention
from assay.adapters.device import DeviceImplementation
from assay.cases import Case
from assay.dtypes import Array

Kernel = Callable[[Attention], tuple[Any, ...]]


def _without_negative_scale(kernel: Kernel) -> Kernel:
    """Gives the same gradients for a negative scale: uses -q and the scale's magnitude."""

    def called(problem: Attention) -> tuple[Any, ...]:
        if problem.scale >= 0:
            return kernel(problem)
        dq, *others = kernel(replace(problem, query=-problem.query, scale=-problem.scale))
        return (-dq, *others)

    return called


def _changed(implementation: DeviceImplementation, kernel: Kernel) -> DeviceImplementation:
    def function(case: Case) -> dict[str, Array]:
        return torch_cuda._run(case, kernel)

    return replace(implementation, name=f"{implementation.name}-traced", function=function)


flash_without_negative_scale = _changed(torch_cuda.flash, _without_negative_scale(torch_cuda._flash))
cudnn_without_negative_scale = _changed(torch_cuda.cudnn, _without_negative_scale(torch_cuda._cudnn))
