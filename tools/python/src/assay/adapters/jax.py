"""JAX's attention gradient on the CPU: jax.nn.dot_product_attention, differentiated by jax.vjp."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of, zeros
from assay.cases import Case
from assay.dtypes import Array
from assay.implementation import implementation


def _unsupported(case: Case) -> str | None:
    if case.problem["head_dim"] != case.problem["head_dim_v"]:
        return "a head size of value other than that of query"
    return not_offered(case)


def _sequence_first(array: Array) -> Any:
    return jnp.asarray(np.swapaxes(array, 1, 2))


@partial(jax.jit, static_argnames="scale")
def _pulled_back(query: Any, key: Any, value: Any, dy: Any, mask: Any, scale: float) -> Any:
    def forward(query: Any, key: Any, value: Any) -> Any:
        return jax.nn.dot_product_attention(
            query, key, value, mask=mask, scale=scale, implementation="xla"
        )

    return jax.vjp(forward, query, key, value)[1](dy)


def _gradients(problem: Attention) -> Gradients:
    mask = None if problem.keep is None else jnp.asarray(problem.keep)
    inputs = (problem.query, problem.key, problem.value, problem.dy)
    gradients = _pulled_back(*map(_sequence_first, inputs), mask, problem.scale)
    return Gradients(*(np.swapaxes(np.asarray(gradient), 1, 2) for gradient in gradients))


@implementation(name="jax", numerics="jax_cpu", unsupported=_unsupported)
def attention(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    return outputs_of(case, [_gradients(p) if p.query.size and p.key.size else zeros(p) for p in problems])
