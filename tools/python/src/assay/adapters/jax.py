"""Two attention gradients of JAX, on the device that JAX finds:

attention  jax.nn.dot_product_attention, differentiated by jax.vjp
pallas     the backward kernel of jax.experimental.pallas.ops.gpu.attention, called with the given statistics and output; on
           a CPU it runs in Pallas's interpreter
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import attention as gpu

from assay.adapters.attention import Attention, Gradients, attentions_of, not_offered, outputs_of, zeros
from assay.cases import Case
from assay.dtypes import Array
from assay.implementation import implementation


ON_GPU = jax.default_backend() == "gpu"
# On a GPU, XLA and Triton multiply fp32 tensors in tf32. In fp16, small values of dS times the scale underflow to 0.
FP32_ON_GPU, FP16_ON_GPU = (",product=tf32", ",floor=0x1p-24") if ON_GPU else ("", "")


def _unsupported(case: Case) -> str | None:
    if case.problem["head_dim"] != case.problem["head_dim_v"]:
        return "value and query with different head sizes"
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


@implementation(
    name="jax",
    numerics=f"fp32:jax_cpu{FP32_ON_GPU} bf16:jax_cpu fp16:jax_cpu{FP16_ON_GPU}",
    unsupported=_unsupported,
)
def attention(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    return outputs_of(case, [_gradients(p) if p.query.size and p.key.size else zeros(p) for p in problems])


BLOCKS = gpu.BlockSizes.get_default()
LONGEST_BLOCK = 128


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _in_blocks(seq: int, size: int | None) -> bool:
    return size is not None and seq % min(seq, size) == 0


def _pallas_not_offered(case: Case) -> str | None:
    if reason := _unsupported(case):
        return reason
    p: dict[str, Any] = dict(case.problem)
    if p["heads_q"] != p["heads_kv"]:
        return "grouped heads"
    if ON_GPU and not _is_power_of_two(p["head_dim"]):
        return f"a head size of {p['head_dim']}: the compiled kernel accepts powers of two"
    for problem in attentions_of(case):
        seq_q, seq_kv = problem.query.shape[2], problem.key.shape[2]
        if not (_in_blocks(seq_q, BLOCKS.block_q) and _in_blocks(seq_q, BLOCKS.block_q_dq)):
            return f"{seq_q} queries are not a multiple of a block"
        if not (_in_blocks(seq_kv, BLOCKS.block_k) and _in_blocks(seq_kv, BLOCKS.block_kv_dkv)):
            return f"{seq_kv} keys are not a multiple of a block"
        if ON_GPU and not all(seq >= 16 and _is_power_of_two(min(seq, LONGEST_BLOCK)) for seq in (seq_q, seq_kv)):
            return f"{seq_q} queries and {seq_kv} keys: the compiled kernel needs blocks of 16, 32, 64 or 128"
        if -(-seq_q // BLOCKS.block_q_dq) != -(-seq_kv // BLOCKS.block_kv_dkv):
            return "different numbers of query and key blocks"
        if problem.keep is not None and not _is_causal(problem):
            return "a mask that is not causal"
    return None


def _is_causal(problem: Attention) -> bool:
    seq_q, seq_kv = problem.query.shape[2], problem.key.shape[2]
    return bool(np.all(problem.keep == np.tri(seq_q, seq_kv, dtype=bool)))


@partial(jax.jit, static_argnames=("scale", "causal"))
def _kernel(query: Any, key: Any, value: Any, out: Any, logsumexp: Any, dy: Any, scale: float, causal: bool) -> Any:
    return gpu._mha_backward(
        sm_scale=scale,
        causal=causal,
        block_sizes=BLOCKS,
        backward_pass_impl="triton",
        num_warps=None,
        num_stages=2,
        grid=None,
        interpret=jax.default_backend() == "cpu",
        debug=False,
        return_residuals=False,
        res=(query, key, value, None, out, logsumexp),
        do=dy,
    )[:3]


def _pallas(problem: Attention) -> Gradients:
    logsumexp = (problem.softmax_max + np.log(problem.softmax_sum.astype(np.float64))) / np.log(2)
    gradients = _kernel(
        *map(_sequence_first, (problem.query, problem.key, problem.value, problem.attention_in)),
        jnp.asarray(logsumexp.astype(np.float32)),
        _sequence_first(problem.dy),
        scale=problem.scale,
        causal=problem.keep is not None,
    )
    return Gradients(*(np.swapaxes(np.asarray(gradient), 1, 2) for gradient in gradients))


# This kernel multiplies dS by the scale before it rounds dS. The error is therefore up to one ulp of dS.
@implementation(
    name="jax-pallas",
    numerics=" ".join(
        [f"fp32:cuda_flash{FP32_ON_GPU}", *(f"{io}:cuda_flash,round_stage=unknown_any" for io in ("bf16", "fp16"))]
    ),
    unsupported=_pallas_not_offered,
)
def pallas(case: Case) -> dict[str, Array]:
    problems = attentions_of(case)
    return outputs_of(case, [_pallas(p) if p.query.size and p.key.size else zeros(p) for p in problems])
