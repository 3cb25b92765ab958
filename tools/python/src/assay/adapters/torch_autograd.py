"""Forward and backward of PyTorch together, for assay.judge_autograd:

function  wraps a torch.autograd.Function
math      torch.nn.functional.scaled_dot_product_attention, backend MATH; it hides what it saves
flash     the same, backend FLASH_ATTENTION

On a CPU; ASSAY_DEVICE names another device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from assay.adapters import torch as gradients_of_torch
from assay.adapters.attention import ForwardAttention, Gradients, forwards_of, not_offered, output_of, outputs_by_problem, outputs_of, statistics_of
from assay.adapters.tensors import to_numpy, to_torch
from assay.autograd import AutogradFunction
from assay.cases import Case
from assay.dtypes import Array, numpy_dtype
from assay.implementation import Predicate


def array_of(tensor: Any) -> Array:
    """The elements of a tensor in its own type."""
    dtype = numpy_dtype("bf16") if tensor.dtype == torch.bfloat16 else np.dtype(np.float32)  # only bf16 needs its type
    return to_numpy(tensor, dtype)


@dataclass(frozen=True)
class _Saved:
    """The result of a call of a torch.autograd.Function: its output with its graph, and the inputs of the graph."""

    output: Any
    leaves: Mapping[str, Any]  # by the names of their gradients
    values: Mapping[str, Array]


def function(
    of: type[torch.autograd.Function],
    *,
    arguments: Callable[[Case], Sequence[Any]],
    gradients: Sequence[str],
    saved: Sequence[str] = (),
    name: str = "",
    numerics: str = "",
    unsupported: Predicate | None = None,
) -> AutogradFunction:
    """A torch.autograd.Function as a function that can be judged.

    arguments: the arguments of `apply` for a case, tensors and others. gradients: the names of the gradients of the first
    arguments; "" for an argument without gradient. saved: the names of the tensors in the order of `save_for_backward`; ""
    for a tensor that is not an input of the gradient. The output of `apply` is the output, or the first of several.
    """

    def forward(case: Case) -> tuple[Array, _Saved]:
        given = list(arguments(case))
        leaves = {}
        for place, gradient in enumerate(gradients):
            if gradient:
                leaves[gradient] = given[place] = given[place].detach().requires_grad_()
        made = of.apply(*given)
        output = made if torch.is_tensor(made) else made[0]
        kept = output.grad_fn.saved_tensors
        if saved and len(saved) != len(kept):
            raise ValueError(f"{of.__name__} saved {len(kept)} tensors, but {len(saved)} names were given: {', '.join(saved)}")
        values = {name: array_of(tensor) for name, tensor in zip(saved, kept) if name}
        return array_of(output), _Saved(output, leaves, values)

    def backward(kept: _Saved, gradient: Array) -> dict[str, Array]:
        made = torch.autograd.grad(kept.output, list(kept.leaves.values()), to_torch(gradient))
        return {name: array_of(tensor) for name, tensor in zip(kept.leaves, made)}

    return AutogradFunction(forward, backward, name or of.__name__, numerics, unsupported, lambda kept: kept.values)


@dataclass(frozen=True)
class _Attention:
    """One dense problem after the forward."""

    output: Any
    leaves: tuple[Any, ...]
    logsumexp: Any  # (batch, heads_q, seq_q), fp32; None: the function hides it


@dataclass(frozen=True)
class _SavedAttention:
    case: Case
    problems: list[_Attention]
    values: Mapping[str, Array]


def _logsumexp_of(node: Any, problem: ForwardAttention) -> Any:
    """The statistics that the node of a fused kernel saved; None for other nodes. Some kernels pad the rows."""
    for attribute in ("_saved_logsumexp", "_saved_log_sumexp"):
        if hasattr(node, attribute):
            found = getattr(node, attribute)
            return found.reshape(*found.shape[:3])[..., : problem.query.shape[2]]
    return None


def _forward(problem: ForwardAttention, backend: Any) -> _Attention:
    from torch.nn.attention import sdpa_kernel

    leaves = tuple(to_torch(x).requires_grad_() for x in (problem.query, problem.key, problem.value))
    key, value, grouped = *leaves[1:], problem.group > 1
    if grouped and backend.name != "MATH":  # the kernels do not support groups: the graph adds the gradients of a group
        key, value = (gradients_of_torch._for_each_query_head(tensor, problem.group) for tensor in (key, value))
        grouped = False
    mask = None if problem.keep is None else to_torch(problem.keep)
    with sdpa_kernel(backend):
        output = torch.nn.functional.scaled_dot_product_attention(
            leaves[0], key, value, attn_mask=mask, scale=problem.scale, enable_gqa=grouped
        )
    return _Attention(output, leaves, _logsumexp_of(output.grad_fn, problem))


def scaled_dot_product_attention(
    backend: str, *, name: str, numerics: str, unsupported: Predicate, forward_numerics: str = ""
) -> AutogradFunction:
    """torch.nn.functional.scaled_dot_product_attention with one backend, a name of torch.nn.attention.SDPBackend."""

    def forward(case: Case) -> tuple[Array, _SavedAttention]:
        from torch.nn.attention import SDPBackend

        made = [_forward(problem, getattr(SDPBackend, backend)) for problem in forwards_of(case)]
        output = output_of(case, [array_of(one.output) for one in made])
        values = {}
        if all(one.logsumexp is not None for one in made):
            values = {"attention_in": output, "logsumexp": statistics_of(case, [array_of(one.logsumexp) for one in made])}
        return output, _SavedAttention(case, made, values)

    def backward(saved: _SavedAttention, gradient: Array) -> dict[str, Array]:
        rows = outputs_by_problem(saved.case, gradient)
        made = [torch.autograd.grad(one.output, one.leaves, to_torch(dy)) for one, dy in zip(saved.problems, rows)]
        return outputs_of(saved.case, [Gradients(*map(array_of, gradients)) for gradients in made])

    return AutogradFunction(forward, backward, name, numerics, unsupported, lambda saved: saved.values, forward_numerics)


def _flash_not_offered(case: Case) -> str | None:
    return gradients_of_torch._flash_not_offered(case)


math = scaled_dot_product_attention("MATH", name="torch-math", numerics=gradients_of_torch.math.numerics, unsupported=not_offered)
# For 16-bit types, the forward kernel computes exp with a relative error of up to 1.09e-4, even for exp(0).
flash = scaled_dot_product_attention(
    "FLASH_ATTENTION",
    name="torch-flash",
    numerics=gradients_of_torch.flash.numerics,
    unsupported=_flash_not_offered,
    forward_numerics=" ".join(
        f"{io}:cuda_flash,fused=false,partials={io}" + ("" if io == "fp32" else ",exp_error=1.1e-4") for io in ("fp32", "bf16", "fp16")
    ),
)
