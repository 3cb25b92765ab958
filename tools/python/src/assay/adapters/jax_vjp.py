"""Forward and backward of JAX together, for assay.judge_autograd:

function   wraps a jax.custom_vjp
attention  jax.nn.dot_product_attention, differentiated by jax.vjp; it hides what it saves
pallas     the forward and backward kernels of jax.experimental.pallas.ops.gpu.attention, a jax.custom_vjp; on a CPU they run in
           Pallas's interpreter

They run on the device that JAX finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import attention as gpu

from assay.adapters import jax as gradients_of_jax
from assay.adapters.attention import ForwardAttention, Gradients, forwards_of, output_of, outputs_by_problem, outputs_of
from assay.autograd import AutogradFunction
from assay.cases import Case
from assay.dtypes import Array
from assay.implementation import Predicate

Converted = Mapping[str, Array]


@dataclass(frozen=True)
class _Saved:
    case: Case
    arguments: list[Any]
    residuals: Any
    output: Any
    values: Converted


def _same(_: Case, array: Array) -> Array:
    return array


def function(
    of: Any,
    *,
    arguments: Callable[[Case], Sequence[Any]],
    gradients: Sequence[str],
    saved: Callable[[Case, Any], Converted] | Sequence[str] = (),
    name: str,
    numerics: str = "",
    unsupported: Predicate | None = None,
    from_case: Callable[[Case, Array], Array] = _same,
    to_case: Callable[[Case, Array], Array] = _same,
) -> AutogradFunction:
    """A jax.custom_vjp as a function that can be judged: its functions fwd and bwd are called.

    arguments: the arguments for a case, tensors and others. gradients: the names of the gradients that bwd returns; "" for
    one that is not judged. saved: the names of the residuals, if they are a tuple, "" for one that is not an input of the
    gradient; or a function from the residuals to the saved values by name. to_case, from_case: between the function's layout
    of output and gradients, and that of the case.
    """

    def values_of(case: Case, residuals: Any) -> Converted:
        if callable(saved):
            return saved(case, residuals)
        if saved and len(saved) != len(residuals):
            raise ValueError(f"{name} saved {len(residuals)} residuals, but {len(saved)} names were given: {', '.join(saved)}")
        return {of_case: np.asarray(residual) for of_case, residual in zip(saved, residuals) if of_case}

    def forward(case: Case) -> tuple[Array, _Saved]:
        given = list(arguments(case))
        output, residuals = of.fwd(*given)
        return to_case(case, np.asarray(output)), _Saved(case, given, residuals, output, values_of(case, residuals))

    def backward(kept: _Saved, gradient: Array) -> dict[str, Array]:
        constants = [kept.arguments[place] for place in of.nondiff_argnums]
        made = of.bwd(*constants, kept.residuals, jnp.asarray(from_case(kept.case, gradient)))
        return {of_case: to_case(kept.case, np.asarray(array)) for of_case, array in zip(gradients, made) if of_case}

    return AutogradFunction(forward, backward, name, numerics, unsupported, lambda kept: kept.values)


def _sequence_first(array: Array) -> Any:
    return jnp.asarray(np.swapaxes(array, 1, 2))


@dataclass(frozen=True)
class _Pullback:
    case: Case
    of_problem: list[Any]


@partial(jax.jit, static_argnames="scale")
def _attention(query: Any, key: Any, value: Any, mask: Any, scale: float) -> Any:
    return jax.nn.dot_product_attention(query, key, value, mask=mask, scale=scale, implementation="xla")


def _forward(case: Case) -> tuple[Array, _Pullback]:
    def pulled_back(problem: ForwardAttention) -> Any:
        mask = None if problem.keep is None else jnp.asarray(problem.keep)
        inputs = map(_sequence_first, (problem.query, problem.key, problem.value))
        return jax.vjp(lambda q, k, v: _attention(q, k, v, mask, problem.scale), *inputs)

    made = [pulled_back(problem) for problem in forwards_of(case)]
    return output_of(case, [np.swapaxes(np.asarray(output), 1, 2) for output, _ in made]), _Pullback(case, [pull for _, pull in made])


def _backward(saved: _Pullback, gradient: Array) -> dict[str, Array]:
    rows = outputs_by_problem(saved.case, gradient)
    made = [pull(_sequence_first(dy)) for pull, dy in zip(saved.of_problem, rows)]
    return outputs_of(saved.case, [Gradients(*(np.swapaxes(np.asarray(g), 1, 2) for g in each)) for each in made])


attention = AutogradFunction(
    _forward, _backward, "jax", gradients_of_jax.attention.numerics, gradients_of_jax.attention.predicate
)


def _arguments(case: Case) -> list[Any]:
    (problem,) = forwards_of(case)
    call = (problem.scale, problem.keep is not None, gradients_of_jax.BLOCKS, "triton", None, 2, None, jax.default_backend() == "cpu", False, False)
    return [*map(_sequence_first, (problem.query, problem.key, problem.value)), None, *call]


def _to_layout(case: Case, array: Array) -> Array:
    """From (batch, seq, heads, dim)."""
    return output_of(case, [np.swapaxes(array, 1, 2)])


def _from_layout(case: Case, array: Array) -> Array:
    return np.swapaxes(outputs_by_problem(case, array)[0], 1, 2)


def _statistics(case: Case, residuals: Any) -> Converted:
    *_, out, base_2 = residuals  # query, key, value, segment ids, output, logsumexp to base 2
    return {"attention_in": _to_layout(case, np.asarray(out)), "logsumexp": np.log(2) * np.asarray(base_2, np.float64)}


def _pallas_not_offered(case: Case) -> str | None:
    if case.problem["layout"] == "TND":
        return "packed sequences"
    return gradients_of_jax.pallas.unsupported(case)


pallas = function(
    gpu.mha,
    arguments=_arguments,
    gradients=("dq", "dk", "dv"),
    saved=_statistics,
    name="jax-pallas",
    numerics=gradients_of_jax.pallas.numerics,
    unsupported=_pallas_not_offered,
    from_case=_from_layout,
    to_case=_to_layout,
)
