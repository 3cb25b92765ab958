"""Tests gradients of the arrays and parameters of a formula: numpy kernels with injected faults fail, healthy ones conform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import assay
from assay.dtypes import WrongType
from assay.variants import gathered

Array = np.ndarray[Any, Any]

QUERIES, KEYS = 33, 49
SHAPE: dict[str, object] = {
    "dtype": "fp32", "batch": 2, "heads_q": 4, "heads_kv": 2, "seq_q": QUERIES, "seq_kv": KEYS, "head_dim": 32, "head_dim_v": 32,
    "scale_value": 0.25,
}
DISTANCES = 8

alibi = assay.variant("alibi", score="s - slopes[n] * abs(i - j)", arrays={"slopes": "heads"}, bias_grad=True)
# A bias that depends on the distance, as in the model T5: buckets for keys before the query and for keys after it.
by_distance = assay.variant(
    "by_distance",
    score="s + bias[where(j > i, 7 + max(min(j - i, 8), 1), max(min(i - j, 7), 0))]",
    arrays={"bias": np.linspace(-1, 1, 2 * DISTANCES)},
    keep="abs(i - j) <= w",
    parameters={"w": 20},
    bias_grad=["bias"],
)
dense = assay.variant(
    "dense",
    score="s + bias[i * keys + j]",
    arrays={"bias": np.random.default_rng(7).uniform(-1, 1, QUERIES * KEYS)},
    parameters={"keys": KEYS},
    bias_grad=["bias"],
)
capped = assay.variant(
    "capped",
    score="cap * tanh(s / cap) - slopes[n] * abs(i - j)",
    arrays={"slopes": "heads"},
    parameters={"cap": (1.0, 4.0)},
    bias_grad=True,
)


@dataclass(frozen=True)
class Pairs:
    """Numbers of all pairs, (batch, heads, queries, keys): the documented score, P, P dP and dS of the formula's score."""

    s: Array
    p: Array
    product: Array
    ds: Array

    @property
    def distance(self) -> Array:
        queries, keys = self.ds.shape[2:]
        return (np.arange(queries)[:, None] - np.arange(keys)[None, :]).astype(np.float32)


Gradients = Callable[[assay.Case, Pairs], Mapping[str, Array]]


def buckets(distance: Array) -> Array:
    """The bucket of i - j."""
    after = np.minimum(distance, DISTANCES - 1)
    return np.where(distance < 0, DISTANCES + np.minimum(-distance, DISTANCES) - 1, after).astype(np.int64)


def score_of(case: assay.Case, s: Array) -> tuple[Array, Array, Array | bool]:
    """The score of the formula, its derivative by s, and the pairs that it keeps."""
    i, j, n = np.arange(s.shape[2])[:, None], np.arange(s.shape[3])[None, :], np.arange(s.shape[1])[:, None, None]
    distance = np.abs(i - j).astype(np.float32)
    if "cap" in case.parameters:
        cap = np.float32(case.parameters["cap"])
        t = np.tanh(s / cap)
        return cap * t - case.arrays["slopes"][n] * distance, 1 - t * t, True
    if "u" in case.arrays:
        return s, np.ones_like(s), True
    if "slopes" in case.arrays:
        return s - case.arrays["slopes"][n] * distance, np.ones_like(s), True
    if "keys" in case.parameters:
        return s + case.arrays["bias"].reshape(QUERIES, KEYS), np.ones_like(s), True
    return s + case.arrays["bias"][buckets(i - j)], np.ones_like(s), distance <= case.parameters["w"]


def kernel(
    gradients: Gradients, is_masked: bool = True, dlse: Callable[[assay.Case], Array] = lambda case: np.zeros(1, np.float32)
) -> Callable[[assay.Case], dict[str, Array]]:
    """A gradient of attention in fp32, in layout BNSD. `is_masked`: dS is 0 for pairs that the formula masks. `dlse`: the
    gradient of the LSE, which broadcasts to (batch, heads, queries, 1)."""

    def run(case: assay.Case) -> dict[str, Array]:
        x = {name: array.astype(np.float32) for name, array in case.inputs.items()}
        batch, heads = x["query"].shape[:2]
        kv = x["key"].shape[1]
        key, value = (np.repeat(x[name], heads // kv, axis=1) for name in ("key", "value"))
        scale = np.float32(case.problem["scale_value"])
        s = scale * x["query"] @ key.swapaxes(2, 3)
        score, slope, keep = score_of(case, s)
        p = (np.exp(score - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1]).astype(np.float32)
        dp = x["dy"] @ value.swapaxes(2, 3)
        unmasked = p * (dp - np.sum(x["dy"] * x["attention_in"], -1, keepdims=True) + dlse(case))
        p = np.where(keep, p, np.float32(0))
        ds = np.where(keep, unmasked, np.float32(0))
        of_s = ds * slope
        by_head = {"dk": scale * of_s.swapaxes(2, 3) @ x["query"], "dv": p.swapaxes(2, 3) @ x["dy"]}
        found = {name: array.reshape(batch, kv, heads // kv, *array.shape[2:]).sum(2) for name, array in by_head.items()}
        found["dq"] = scale * of_s @ key
        outputs = {name: array.astype(np.float32).astype(case.dtype) for name, array in found.items()}
        wanted = gradients(case, Pairs(s, p, p * dp, ds if is_masked else unmasked))
        return outputs | {name: np.asarray(array, np.float32) for name, array in wanted.items()}

    return run


def judged(run: Callable[[assay.Case], dict[str, Array]], line: str, numerics: str = "fp32_staging") -> assay.Report:
    return assay.judge(assay.implementation(name="kernel", numerics=numerics)(run), line)[0]


def of_slopes(case: assay.Case, of: Pairs) -> dict[str, Array]:
    return {"dslopes": -np.sum(of.ds * np.abs(of.distance), (0, 2, 3))}


def of_distances(case: assay.Case, of: Pairs) -> dict[str, Array]:
    return {"dbias": np.bincount(buckets(of.distance).ravel(), of.ds.sum((0, 1)).ravel(), 2 * DISTANCES)}


def of_dense(case: assay.Case, of: Pairs) -> dict[str, Array]:
    return {"dbias": of.ds.sum((0, 1)).ravel()}


def of_cap(case: assay.Case, of: Pairs) -> dict[str, Array]:
    x = of.s / np.float32(case.parameters["cap"])
    t = np.tanh(x)
    return of_slopes(case, of) | {"dcap": np.sum(of.ds * (t - x * (1 - t * t)))}


def one_by_one(case: assay.Case, of: Pairs) -> dict[str, Array]:
    """Atomic additions in fp32, in the order of memory."""
    found = np.zeros(2 * DISTANCES, np.float32)
    np.add.at(found, np.broadcast_to(buckets(of.distance), of.ds.shape), of.ds)
    return {"dbias": found}


HEALTHY = {
    "alibi": (alibi, of_slopes),
    "by_distance": (by_distance, of_distances),
    "by_distance_atomic": (by_distance, one_by_one),
    "dense": (dense, of_dense),
    "capped": (capped, of_cap),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_kernel_conforms(name: str, dtype: str) -> None:
    variant, gradients = HEALTHY[name]
    for seed in (1, 2):
        report = judged(kernel(gradients), variant.line(seed, **(SHAPE | {"dtype": dtype})))
        assert report.verdict == "conforms", report.explanation()
        wanted = {f"d{gradient}" for gradient in variant.gradients}
        assert wanted <= set(report.worst) and min(report.worst[one] for one in wanted) > 1e-7, report.worst


def _bf16(x: Array) -> Array:
    return (np.asarray(x, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def _with(change: Callable[[Pairs], Pairs], gradients: Gradients) -> Gradients:
    return lambda case, of: gradients(case, change(of))


def _part(of: Pairs, **places: slice) -> Pairs:
    """Only these pairs are summed."""
    kept = np.zeros_like(of.ds)
    kept[tuple(places.get(axis, slice(None)) for axis in "bnij")] = 1
    return Pairs(of.s, of.p, of.product * kept, of.ds * kept)


def _scaled(factor: Callable[[assay.Case], float], gradients: Gradients) -> Gradients:
    return lambda case, of: {name: array * np.float32(factor(case)) for name, array in gradients(case, of).items()}


def _rolled(gradients: Gradients) -> Gradients:
    return lambda case, of: {name: np.roll(array, 1) for name, array in gradients(case, of).items()}


def _of_group(case: assay.Case, of: Pairs) -> dict[str, Array]:
    return {"dslopes": np.repeat(of_slopes(case, of)["dslopes"].reshape(-1, 2).sum(1), 2)}


def common_faults(gradients: Gradients) -> dict[str, Gradients]:
    return {
        "the first sequence only": _with(lambda of: _part(of, b=slice(0, 1)), gradients),
        "the last sequence only": _with(lambda of: _part(of, b=slice(1, 2)), gradients),
        "the last block of queries is lost": _with(lambda of: _part(of, i=slice(0, 32)), gradients),
        "the last block of keys is lost": _with(lambda of: _part(of, j=slice(0, 48)), gradients),
        "wrong sign": _scaled(lambda case: -1, gradients),
        "multiplied by scale_value": _scaled(lambda case: float(str(case.problem["scale_value"])), gradients),
        "mean over the batch": _scaled(lambda case: 0.5, gradients),
        "P dP instead of dS": _with(lambda of: Pairs(of.s, of.p, of.product, of.product), gradients),
        "P instead of dS": _with(lambda of: Pairs(of.s, of.p, of.product, of.p), gradients),
        "the next element": _rolled(gradients),
        "rounded to bf16": lambda case, of: {name: _bf16(array) for name, array in gradients(case, of).items()},
        "zeros": _scaled(lambda case: 0, gradients),
    }


# The gradient of a slope is a sum of thousands of terms with alternating signs. Its tolerance is wider than a rounding
# of the sum to bf16, so this fault cannot be detected.
ALIBI_FAULTS = {name: fault for name, fault in common_faults(of_slopes).items() if name != "rounded to bf16"} | {
    "the group's sum": _of_group,
    "no magnitude": lambda case, of: {"dslopes": -np.sum(of.ds * of.distance, (0, 2, 3))},
    "square of the distance": lambda case, of: {"dslopes": -np.sum(of.ds * of.distance**2, (0, 2, 3))},
    "not multiplied by the distance": lambda case, of: {"dslopes": np.sum(of.ds, (0, 2, 3))},
    "multiplied by the slope": lambda case, of: {"dslopes": of_slopes(case, of)["dslopes"] * case.arrays["slopes"]},
    "dS in bf16": _with(lambda of: Pairs(of.s, of.p, of.product, _bf16(of.ds)), of_slopes),
}


def _buckets(change: Callable[[Array], Array]) -> Gradients:
    """The bucket of another distance."""
    return lambda case, of: {
        "dbias": np.bincount(buckets(change(of.distance)).ravel(), of.ds.sum((0, 1)).ravel(), 2 * DISTANCES)
    }


def _without_far(case: assay.Case, of: Pairs) -> dict[str, Array]:
    """The pairs in the last bucket of each side are only those at its first distance."""
    near = (of.distance < DISTANCES) & (of.distance >= -DISTANCES)
    return of_distances(case, Pairs(of.s, of.p, of.product, of.ds * near))


DISTANCE_FAULTS = common_faults(of_distances) | {
    "one bucket off": _buckets(lambda distance: distance + 1),
    "i and j exchanged": _buckets(lambda distance: -distance),
    "distance from the end": _buckets(lambda distance: distance + KEYS - QUERIES),
    "no distances beyond the last bucket": _without_far,
    "one head only": _with(lambda of: _part(of, n=slice(0, 1)), of_distances),
}


def _of_cap(change: Callable[[Array, Array], Array]) -> Gradients:
    def gradients(case: assay.Case, of: Pairs) -> dict[str, Array]:
        x = of.s / np.float32(case.parameters["cap"])
        return of_slopes(case, of) | {"dcap": np.sum(of.ds * change(x, np.tanh(x)))}

    return gradients


CAP_FAULTS = {
    "only the factor": _of_cap(lambda x, t: t),
    "only the argument": _of_cap(lambda x, t: -x * (1 - t * t)),
    "wrong sign of the argument": _of_cap(lambda x, t: t + x * (1 - t * t)),
    "the derivative by s": _of_cap(lambda x, t: 1 - t * t),
    "dcap is dslopes[0]": lambda case, of: of_slopes(case, of) | {"dcap": of_slopes(case, of)["dslopes"][0]},
    "dS of s": lambda case, of: of_cap(case, Pairs(of.s, of.p, of.product, of.ds * (1 - np.tanh(of.s / case.parameters["cap"]) ** 2))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIBI_FAULTS)
def test_a_fault_of_the_gradient_of_slopes_fails(name: str) -> None:
    assert is_failure_of(judged(kernel(ALIBI_FAULTS[name]), alibi.line(**SHAPE)), "dslopes")


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTANCE_FAULTS)
def test_a_fault_of_the_gradient_of_a_bias_by_distance_fails(name: str) -> None:
    assert is_failure_of(judged(kernel(DISTANCE_FAULTS[name]), by_distance.line(**SHAPE)), "dbias")


def test_a_gradient_that_ignores_the_mask_fails() -> None:
    assert is_failure_of(judged(kernel(of_distances, is_masked=False), by_distance.line(**SHAPE)), "dbias")


@pytest.mark.slow
@pytest.mark.parametrize("name", common_faults(of_dense).keys() - {"the next element"})
def test_a_fault_of_the_gradient_of_a_dense_bias_fails(name: str) -> None:
    assert is_failure_of(judged(kernel(common_faults(of_dense)[name]), dense.line(**SHAPE)), "dbias")


@pytest.mark.slow
@pytest.mark.parametrize("name", CAP_FAULTS)
def test_a_fault_of_the_gradient_of_a_parameter_fails(name: str) -> None:
    report = judged(kernel(CAP_FAULTS[name]), capped.line(**SHAPE))
    assert not report.conforms, report.worst


def is_failure_of(report: assay.Report, output: str) -> bool:
    """Returns whether the report is a failure of this output alone."""
    failing = {finding.tensor for finding in report.findings if finding.tensor}
    return report.verdict.startswith("nonconformant") and failing == {output}


def of_lse(sign: float = 1, of_batch: float = 1, shift: int = 0) -> Callable[[assay.Case], Array]:
    def dlse(case: assay.Case) -> Array:
        u, v = case.arrays["u"][:QUERIES, None], case.arrays["v"][:, None, None]
        return np.float32(sign) * (np.roll(u, shift) * v - np.float32(of_batch) * np.arange(2, dtype=np.float32)[:, None, None, None])

    return dlse


lse = assay.variant("lse", dlse="u[i] * v[n] - b", arrays={"u": ("seq", -2.0, 2.0), "v": "heads"})
LSE_FAULTS = {
    "no gradient of the LSE": of_lse(sign=0),
    "wrong sign": of_lse(sign=-1),
    "half": of_lse(sign=0.5),
    "the same for every sequence": of_lse(of_batch=0),
    "the next query": of_lse(shift=1),
}


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_a_healthy_kernel_with_a_gradient_of_the_lse_conforms(dtype: str) -> None:
    report = judged(kernel(lambda case, of: {}, dlse=of_lse()), lse.line(**(SHAPE | {"dtype": dtype})))
    assert report.verdict == "conforms", report.explanation()


@pytest.mark.parametrize("name", LSE_FAULTS)
def test_a_fault_of_the_gradient_of_the_lse_fails(name: str) -> None:
    report = judged(kernel(lambda case, of: {}, dlse=LSE_FAULTS[name]), lse.line(**SHAPE))
    assert report.verdict.startswith("nonconformant")
    assert {finding.tensor for finding in report.findings if finding.tensor} == {"dq", "dk"}


def test_a_kernel_that_does_not_return_the_gradients_does_not_fail() -> None:
    report = judged(kernel(lambda case, of: {}), alibi.line(**SHAPE))
    assert report.verdict == "not_applicable"
    assert "does not return dslopes" in report.evidence


def test_a_gradient_has_the_shape_of_its_array() -> None:
    report = judged(kernel(lambda case, of: {"dslopes": np.zeros((2, 4))}), alibi.line(**SHAPE))
    assert report.verdict == "usage_error"
    assert "dslopes has shape (2, 4); expected (4,), the shape of slopes" in report.evidence


def test_a_line_names_the_gradients() -> None:
    assert ";gradients=slopes;" in alibi.line(**SHAPE)
    assert assay.variants.gradients_of(capped.line()) == ["slopes", "cap"]
    with pytest.raises(ValueError, match="no array or parameter 'slope'; did you mean 'slopes'"):
        assay.variant("wrong", score="s - slopes[n]", arrays={"slopes": "heads"}, bias_grad=["slope"])
    with pytest.raises(ValueError, match="the score reads no array and no parameter"):
        assay.variant("wrong", score="s * s", bias_grad=True)


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (
            assay.variant("branch", score="where(even[n] == 1, s / 2, s)", arrays={"even": [1, 0] * 2}, bias_grad=True),
            "the derivative of the score by 'even' is 0 everywhere",
        ),
        (
            assay.variant("k", score="s + k[j]", arrays={"k": [1.5] * KEYS}, bias_grad=True),
            "'dk' is another output: choose another name for 'k'",
        ),
        (
            assay.variant("forward", base="flash_attention_score", score="s * w", parameters={"w": 2.0}, bias_grad=True),
            "only score= and keep= for a forward operator",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, assay.variants.Variant) else "",
)
def test_the_program_refuses_gradients_that_it_cannot_judge(variant: assay.variants.Variant, message: str) -> None:
    with pytest.raises(assay.AssayError, match=message):
        judged(kernel(lambda case, of: {}), variant.line(**SHAPE))


def test_a_kernel_cannot_return_only_some_of_the_gradients() -> None:
    both = assay.variant("both", score="s + a * g[n]", parameters={"a": 2.0}, arrays={"g": "heads"}, bias_grad=True)
    line = both.line(seq_q=5, seq_kv=7)
    assert gathered(line, {"dq": np.zeros(1)}).keys() == {"dq"}
    with pytest.raises(WrongType, match="^da is missing; expected all of d"):
        gathered(line, {"dg": np.zeros(1, np.float32)})
