"""Tests formulas of users: numpy kernels with injected faults fail, healthy ones conform, and lines are complete."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.adapters.attention import Gradients, attentions_of, not_offered, outputs_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Places:
    """The number of each pair's query, key and query head, as arrays that broadcast to (batch, heads, queries, keys)."""

    i: Array
    j: Array
    n: Array


Score = Callable[[assay.Case, Array, Places], tuple[Array, Array]]
Keep = Callable[[assay.Case, Places], Array]


def _same(case: assay.Case, s: Array, at: Places) -> tuple[Array, Array]:
    return s, np.ones_like(s)


def _all(case: assay.Case, at: Places) -> Array:
    return np.ones((1, 1, 1, 1), bool)


@dataclass(frozen=True)
class Kernel:
    """A gradient of attention in fp32, in layout BNSD, with a formula."""

    score: Score = _same
    keep: Keep = _all
    slope_in_dq: bool = True
    slope_in_dk: bool = True
    slope_in_dv: bool = False
    scale_in_score: bool = True

    def __call__(self, case: assay.Case) -> dict[str, Array]:
        x = {name: array.astype(np.float32) for name, array in case.inputs.items()}
        heads, kv = int(str(case.problem["heads_q"])), int(str(case.problem["heads_kv"]))
        key, value = (np.repeat(x[name], heads // kv, axis=1) for name in ("key", "value"))
        scale = np.float32(case.problem["scale_value"])
        queries, keys = x["query"].shape[2], key.shape[2]
        at = Places(np.arange(queries)[:, None], np.arange(keys)[None, :], np.arange(heads)[None, :, None, None])
        product = x["query"] @ key.swapaxes(2, 3)
        s, slope = self.score(case, scale * product if self.scale_in_score else product, at)
        with np.errstate(over="ignore", invalid="ignore"):
            p = np.exp(s - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1]
        p = np.where(self.keep(case, at), p, np.float32(0))
        ds = p * (x["dy"] @ value.swapaxes(2, 3) - np.sum(x["dy"] * x["attention_in"], -1, keepdims=True))
        of_dq, of_dk = (ds * slope if used else ds for used in (self.slope_in_dq, self.slope_in_dk))
        by_head = {
            "dk": scale * of_dk.swapaxes(2, 3) @ x["query"],
            "dv": (p * slope if self.slope_in_dv else p).swapaxes(2, 3) @ x["dy"],
        }
        outputs = {name: _summed(array, kv) for name, array in by_head.items()} | {"dq": scale * of_dq @ key}
        return {name: array.astype(np.float32).astype(case.dtype) for name, array in outputs.items()}


def _summed(array: Array, kv: int) -> Array:
    batch, heads, rows, dim = array.shape
    return array.reshape(batch, kv, heads // kv, rows, dim).sum(2)


def judged(kernel: Kernel, line: str) -> assay.Reports:
    return assay.judge(assay.implementation(name="kernel", numerics="fp32_staging")(lambda case: kernel(case)), line)


SHAPE = {"dtype": "fp32", "heads_q": 4, "heads_kv": 2, "seq_q": 33, "seq_kv": 49, "head_dim": 32, "head_dim_v": 32}

softcap = assay.variant("softcap", score="cap * tanh(s / cap)", parameters={"cap": (1.0, 4.0)})
window = assay.variant(
    "document_window", keep="abs(i - j) <= w and doc[i] == doc[j]", parameters={"w": 7}, arrays={"doc": "seq"}
)
alibi = assay.variant("alibi", score="s - slopes[n] * abs(i - j)", arrays={"slopes": "heads"})


def _cap(case: assay.Case) -> np.float32:
    return np.float32(case.parameters["cap"])


def capped(case: assay.Case, s: Array, at: Places) -> tuple[Array, Array]:
    t = np.tanh(s / _cap(case))
    return _cap(case) * t, 1 - t * t


def _softcap(value: Callable[[Array, np.float32], Array], slope: Callable[[Array, np.float32], Array]) -> Kernel:
    return Kernel(lambda case, s, at: (value(s, _cap(case)), slope(s, _cap(case))))


def _value(s: Array, c: np.float32) -> Array:
    return c * np.tanh(s / c)


def _slope(s: Array, c: np.float32) -> Array:
    return 1 - np.tanh(s / c) ** 2


SOFTCAP_FAULTS = {
    "no slope": _softcap(_value, lambda s, c: np.ones_like(s)),
    "no cap": Kernel(),
    "cap twice": _softcap(lambda s, c: _value(_value(s, c), c), _slope),
    "slope of the capped score": _softcap(_value, lambda s, c: _slope(_value(s, c), c)),
    "slope without square": _softcap(_value, lambda s, c: 1 - np.tanh(s / c)),
    "slope with the capped score": _softcap(_value, lambda s, c: 1 - _value(s, c) ** 2),
    "slope divided by cap": _softcap(_value, lambda s, c: _slope(s, c) / c),
    "unscaled score": replace(Kernel(capped), scale_in_score=False),
    "slope in dv": replace(Kernel(capped), slope_in_dv=True),
    "no slope in dq": replace(Kernel(capped), slope_in_dq=False),
    "no slope in dk": replace(Kernel(capped), slope_in_dk=False),
    "cap larger by a thousandth": _softcap(lambda s, c: _value(s, c * np.float32(1.001)), _slope),
    "another function": _softcap(lambda s, c: s / (1 + np.abs(s / c)), lambda s, c: 1 / (1 + np.abs(s / c)) ** 2),
    "tanh in fp16": _softcap(lambda s, c: c * np.tanh(s / c).astype(np.float16).astype(np.float32), _slope),
    "slope 0.1 % too large": _softcap(_value, lambda s, c: _slope(s, c) * np.float32(1.001)),
}

WINDOW_FAULTS: dict[str, Keep] = {
    "one key less": lambda case, at: (np.abs(at.i - at.j) < case.parameters["w"]) & _same_document(case, at),
    "one key more": lambda case, at: (np.abs(at.i - at.j) <= case.parameters["w"] + 1) & _same_document(case, at),
    "no documents": lambda case, at: np.abs(at.i - at.j) <= case.parameters["w"],
    "no window": lambda case, at: _same_document(case, at),
    "no mask": _all,
    "either": lambda case, at: (np.abs(at.i - at.j) <= case.parameters["w"]) | _same_document(case, at),
    "window to the left only": lambda case, at: (at.i - at.j <= case.parameters["w"]) & _same_document(case, at),
    "window to the right only": lambda case, at: (at.j - at.i <= case.parameters["w"]) & _same_document(case, at),
    "causal": lambda case, at: (np.abs(at.i - at.j) <= case.parameters["w"]) & _same_document(case, at) & (at.j <= at.i),
    "next document": lambda case, at: (np.abs(at.i - at.j) <= case.parameters["w"])
    & (case.arrays["doc"][at.i] <= case.arrays["doc"][at.j]),
    "document of the previous key": lambda case, at: (np.abs(at.i - at.j) <= case.parameters["w"])
    & (case.arrays["doc"][at.i] == case.arrays["doc"][np.maximum(at.j - 1, 0)]),
    "keys from the end": lambda case, at: (np.abs(at.i - at.j + at.j.size - at.i.size) <= case.parameters["w"])
    & _same_document(case, at),
}


def _same_document(case: assay.Case, at: Places) -> Array:
    doc = case.arrays["doc"]
    return doc[at.i] == doc[at.j]


def windowed(case: assay.Case, at: Places) -> Array:
    return (np.abs(at.i - at.j) <= case.parameters["w"]) & _same_document(case, at)


def _biased(bias: Callable[[Array, Places], Array]) -> Score:
    def score(case: assay.Case, s: Array, at: Places) -> tuple[Array, Array]:
        return (s - bias(case.arrays["slopes"], at)).astype(np.float32), np.ones_like(s)

    return score


ALIBI_FAULTS: dict[str, Score] = {
    "no bias": _same,
    "the next head's slope": _biased(lambda of, at: np.roll(of, 1)[at.n] * np.abs(at.i - at.j)),
    "the first head's slope": _biased(lambda of, at: of[0] * np.abs(at.i - at.j)),
    "the group's slope": _biased(lambda of, at: of[at.n // 2] * np.abs(at.i - at.j)),
    "wrong sign": _biased(lambda of, at: -of[at.n] * np.abs(at.i - at.j)),
    "no magnitude": _biased(lambda of, at: of[at.n] * (at.i - at.j)),
    "square of the distance": _biased(lambda of, at: of[at.n] * (at.i - at.j) ** 2),
    "distance from the end": _biased(lambda of, at: of[at.n] * np.abs(at.i - at.j + at.j.size - at.i.size)),
    "one more": _biased(lambda of, at: of[at.n] * (np.abs(at.i - at.j) + 1)),
    "slopes in bf16": _biased(
        lambda of, at: (of.view(np.uint32) & 0xFFFF0000).view(np.float32)[at.n] * np.abs(at.i - at.j)
    ),
    "scaled bias": _biased(lambda of, at: np.float32(0.25) * of[at.n] * np.abs(at.i - at.j)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(
    ("variant", "kernel"),
    [
        (softcap, Kernel(capped)),
        (window, Kernel(keep=windowed)),
        (alibi, Kernel(_biased(lambda of, at: of[at.n] * np.abs(at.i - at.j)))),
    ],
    ids=["softcap", "window", "alibi"],
)
def test_a_healthy_kernel_conforms(variant: assay.Variant, kernel: Kernel, dtype: str) -> None:
    for seed in (1, 2):
        reports = judged(kernel, variant.line(seed, **(SHAPE | {"dtype": dtype, "batch": 2})))
        assert reports.verdicts == {"conforms": 1}, reports[0].explanation()
        assert max(reports[0].worst.values()) > 0.001


@pytest.mark.parametrize("name", SOFTCAP_FAULTS)
def test_a_fault_of_a_softcap_fails(name: str) -> None:
    assert not judged(SOFTCAP_FAULTS[name], softcap.line(**SHAPE)).conforms


@pytest.mark.slow
@pytest.mark.parametrize("name", WINDOW_FAULTS)
def test_a_fault_of_a_window_fails(name: str) -> None:
    assert not judged(Kernel(keep=WINDOW_FAULTS[name]), window.line(**SHAPE)).conforms


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIBI_FAULTS)
def test_a_fault_of_a_bias_fails(name: str) -> None:
    assert not judged(Kernel(ALIBI_FAULTS[name]), alibi.line(**SHAPE)).conforms


@dataclass(frozen=True)
class Forward:
    """A forward in fp32, with a formula."""

    kernel: Kernel
    uncapped_max: bool = False

    def __call__(self, case: assay.Case) -> dict[str, Array]:
        x = {name: array.astype(np.float32) for name, array in case.inputs.items()}
        group = x["query"].shape[1] // x["key"].shape[1]
        key, value = (np.repeat(x[name], group, axis=1) for name in ("key", "value"))
        s = np.float32(case.problem["scale_value"]) * x["query"] @ key.swapaxes(2, 3)
        heads, queries, keys = s.shape[1:]
        at = Places(np.arange(queries)[:, None], np.arange(keys)[None, :], np.arange(heads)[None, :, None, None])
        keep = self.kernel.keep(case, at)
        capped_score = np.where(keep, self.kernel.score(case, s, at)[0], -np.inf)
        largest = np.max(np.where(keep, s, -np.inf) if self.uncapped_max else capped_score, -1, keepdims=True)
        p = np.exp(capped_score - largest)
        z = np.sum(p, -1, keepdims=True)
        copies = np.ones(8, np.float32)
        return {
            "softmax_max": (largest * copies).astype(np.float32),
            "softmax_sum": (z * copies).astype(np.float32),
            "attention_out": (p / z @ value).astype(case.dtype),
        }


FORWARDS = {
    "softcap": (softcap, Kernel(capped), Kernel()),
    "window": (window, Kernel(keep=windowed), Kernel(keep=WINDOW_FAULTS["one key more"])),
    "alibi": (alibi, Kernel(_biased(lambda of, at: of[at.n] * np.abs(at.i - at.j))), Kernel(ALIBI_FAULTS["wrong sign"])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORWARDS)
def test_a_forward_is_judged_with_its_formula(name: str) -> None:
    variant, healthy, faulty = FORWARDS[name]
    line = replace(variant, base="flash_attention_score").line(**SHAPE)

    def verdicts(kernel: Forward) -> dict[str, int]:
        return dict(assay.judge(assay.implementation(name="forward", numerics="fp32_staging")(lambda case: kernel(case)), line).verdicts)

    assert verdicts(Forward(healthy)) == {"conforms": 1}
    assert not {"conforms", "not_applicable"} & set(verdicts(Forward(faulty)))
    if variant is softcap:
        assert "conforms" not in verdicts(Forward(healthy, uncapped_max=True))


def test_a_line_is_complete_and_drawn_from_its_seed() -> None:
    line = softcap.line(3, seq_q=5)
    assert line == softcap.line(3, seq_q=5) != softcap.line(4, seq_q=5)
    assert line.startswith("flash_attention_score_grad --seq_q=5 --seed=3 --variant=formula:score=cap*tanh(s/cap);cap=")
    [case] = [report.command for report in assay.judge(Kernel(capped), line)]
    assert 1 <= assay.variants.parameters_of(case)["cap"] <= 4
    doc = assay.variants.arrays_of(window.line(seq_kv=40))["doc"]
    assert doc.dtype == np.int64 and doc.size == 40 and np.all(np.diff(doc) >= 0)
    assert assay.variants.arrays_of(alibi.line(heads_q=1))["slopes"].size == 1


def test_arrays_survive_their_text() -> None:
    for numbers in ([0.1, 0.1, -2.5e-9, 3e12], [7], [1, 1, 2], [0.5]):
        line = assay.variant("x", keep="values[0] < 1", arrays={"values": numbers}).line()
        assert assay.variants.arrays_of(line)["values"].tolist() == np.float32(numbers).tolist()


def test_errors_in_a_formula_are_named() -> None:
    with pytest.raises(ValueError, match="neither a score nor a keep"):
        assay.variant("none")
    with pytest.raises(ValueError, match="expected an operation"):
        assay.variant("two", score="s s").line()
    with pytest.raises(assay.AssayError, match=r"score: character 3: unknown name 'capp'"):
        assay.judge(Kernel(), assay.variant("typo", score="2*capp").line())
    with pytest.raises(assay.AssayError, match="this operator does not accept formulas"):
        assay.judge(Kernel(), "nsa_compress_grad " + softcap.line().split()[-1])


def in_double(score: Score, keep: Keep = _all) -> Callable[[assay.Case], dict[str, Array]]:
    """A kernel in double, for every layout and mask."""

    def kernel(case: assay.Case) -> dict[str, Array]:
        results = []
        for of in attentions_of(case):
            q, k, v, dy, out = (np.asarray(x, np.float64) for x in (of.query, of.key, of.value, of.dy, of.attention_in))
            k, v = np.repeat(k, of.group, 1), np.repeat(v, of.group, 1)
            queries, keys = q.shape[2], k.shape[2]
            at = Places(np.arange(queries)[:, None], np.arange(keys)[None, :], np.arange(q.shape[1])[None, :, None, None])
            s, slope = score(case, of.scale * q @ k.swapaxes(2, 3), at)
            with np.errstate(over="ignore"):
                p = np.exp(s - of.softmax_max[..., None]) / of.softmax_sum[..., None]
            p = np.where(keep(case, at) & (True if of.keep is None else of.keep), p, 0)
            ds = p * (dy @ v.swapaxes(2, 3) - np.sum(dy * out, -1, keepdims=True)) * slope
            kv = of.key.shape[1]
            gradients = of.scale * ds @ k, _summed(of.scale * ds.swapaxes(2, 3) @ q, kv), _summed(p.swapaxes(2, 3) @ dy, kv)
            results.append(Gradients(*(gradient.astype(of.query.dtype) for gradient in gradients)))
        return dict(outputs_of(case, results))

    return kernel


def test_a_kernel_that_does_not_compute_formulas_does_not_fail() -> None:
    program = assay.program.Program(assay.find_program())
    with pytest.raises(assay.AssayError, match="--variant has a formula, which 'optimized-a2' does not compute; give your kernel"):
        program.run(["run", *softcap.line(**SHAPE).split(), "--implementation=optimized-a2"])


def test_a_kernel_without_formulas_does_not_fail_a_sweep_of_lines(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text(f"{softcap.line(**SHAPE)}\nflash_attention_score_grad --seq_q=5\n")
    report = tmp_path / "report.json"
    assay.program.Program(assay.find_program()).run(["sweep", f"--lines={lines}", "--implementation=optimized-a2", f"--report={report}"])
    assert assay.read_reports(report).verdicts == {"conforms": 1, "not_applicable": 1}


MODULE = """
import assay, numpy as np

@assay.implementation(name="capped", numerics="fp32_staging")
def capped(case):
    x, scale, cap = case.inputs, case.problem["scale_value"], np.float32(case.parameters["cap"])
    t = np.tanh(np.float32(scale) * x["query"] @ x["key"].swapaxes(2, 3) / cap)
    p = np.exp(cap * t - x["softmax_max"][..., :1]) / x["softmax_sum"][..., :1]
    ds = p * (x["dy"] @ x["value"].swapaxes(2, 3) - np.sum(x["dy"] * x["attention_in"], -1, keepdims=True)) * SLOPE
    return {"dq": np.float32(scale) * ds @ x["key"], "dk": np.float32(scale) * ds.swapaxes(2, 3) @ x["query"], "dv": p.swapaxes(2, 3) @ x["dy"]}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("slope", "verdict"), [("(1 - t * t)", "conforms"), ("1", "nonconformant_proven")])
def test_a_program_gets_the_formula_so_the_printed_command_repeats_the_case(tmp_path: Path, slope: str, verdict: str) -> None:
    (tmp_path / "kernel.py").write_text(MODULE.replace("SLOPE", slope))
    kernel = f"command:{sys.executable} -m assay serve {tmp_path / 'kernel.py'}:capped"
    lines, report = tmp_path / "lines.txt", tmp_path / "report.json"
    lines.write_text(softcap.line(**(SHAPE | {"heads_kv": 4})) + "\n")
    program = str(assay.find_program())
    command = [program, "sweep", f"--lines={lines}", f"--implementation={kernel}", f"--report={report}", "--shrink=0"]
    subprocess.run(command, capture_output=True, check=False)
    reports = assay.read_reports(report)
    assert reports.verdicts == {verdict: 1}
    again = subprocess.run([program, *shlex.split(reports[0].replay)[1:]], capture_output=True, check=False, text=True)
    assert again.stdout.startswith(verdict), again.stdout + again.stderr


PROGRAM = """
import sys
import assay
from kernel import capped

[case] = assay.read_cases(sys.argv[1])
assay.cases.add_outputs(case, "capped", capped.function(case))
"""


def test_a_program_that_does_not_write_the_gradients_of_a_formula_is_not_judged_as_a_function_is(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(MODULE.replace("SLOPE", "(1 - t * t)"))
    (tmp_path / "program.py").write_text(PROGRAM)
    learned = assay.variant("learned", score=softcap.score, parameters={"cap": 3.0}, bias_grad=True)
    for variant, verdict in ((softcap, "conforms"), (learned, "not_applicable")):
        words = ["run", *variant.line(**(SHAPE | {"heads_kv": 4})).split(), "--json"]
        kernel = f"--implementation=command:{sys.executable} {tmp_path / 'program.py'} {{}}"
        done = subprocess.run([str(assay.find_program()), *words, kernel], capture_output=True, check=False, text=True)
        assert f'"verdict": "{verdict}"' in done.stdout, done.stdout + done.stderr
    assert "does not write dformula, the gradients of the formula" in done.stdout


def cap_forward(case: assay.Case) -> tuple[Array, dict[str, Any]]:
    x, scale = {name: array.astype(np.float64) for name, array in case.inputs.items()}, float(str(case.problem["scale_value"]))
    s = case.parameters["cap"] * np.tanh(scale * x["query"] @ x["key"].swapaxes(2, 3) / case.parameters["cap"])
    largest = s.max(-1).astype(np.float32)
    weights = np.exp(s - largest[..., None])
    total = weights.sum(-1).astype(np.float32)
    output = (weights / total[..., None] @ x["value"]).astype(case.dtype)
    return output, {"case": case, "softmax_max": largest, "softmax_sum": total, "attention_in": output}


def cap_backward(saved: dict[str, Any], dy: Array, slope: Callable[[Array], Array] = lambda t: 1 - t * t) -> dict[str, Array]:
    case = saved["case"]
    q, k, v = (case.inputs[name].astype(np.float64) for name in ("query", "key", "value"))
    scale, cap = case.problem["scale_value"], case.parameters["cap"]
    t = np.tanh(scale * q @ k.swapaxes(2, 3) / cap)
    p = np.exp(cap * t - saved["softmax_max"][..., None]) / saved["softmax_sum"][..., None]
    ds = p * (dy @ v.swapaxes(2, 3) - np.sum(dy * saved["attention_in"], -1, keepdims=True, dtype=np.float64)) * slope(t)
    gradients = {"dq": scale * ds @ k, "dk": scale * ds.swapaxes(2, 3) @ q, "dv": p.swapaxes(2, 3) @ dy}
    return {name: gradient.astype(case.dtype) for name, gradient in gradients.items()}


@pytest.mark.slow
def test_forward_and_backward_with_a_formula_are_judged_together() -> None:
    line = softcap.line(**(SHAPE | {"heads_kv": 4}))
    right = assay.AutogradFunction(cap_forward, cap_backward, name="right", numerics="fp32_staging")
    assert assay.judge_autograd(right, line).sentence() == "right: forward, saved values and backward conform"
    wrong = assay.AutogradFunction(
        cap_forward, lambda saved, dy: cap_backward(saved, dy, np.ones_like), name="wrong", numerics="fp32_staging"
    )
    assert assay.judge_autograd(wrong, line).sentence() == "wrong: the backward is wrong (dq, dk)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"parameters": {"c": float("nan")}}, "parameter 'c': nan is not a number of fp32"),
        ({"parameters": {"c": (5, 1)}}, r"parameter 'c': the range \(5, 1\) is empty"),
        ({"parameters": {"c": (1, 2, 3)}}, "parameter 'c': .* expected a number or a range"),
        ({"arrays": {"c": "seqs"}}, "array 'c': unknown axis 'seqs'"),
        ({"arrays": {"c": ("seq", 5)}}, "array 'c': .* expected .axis, low, high."),
    ],
)
def test_an_error_names_the_parameter_or_array(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assay.variant("wrong", score="s", **values).line()


def judged_in_double(kernel: Callable[[assay.Case], dict[str, Array]], lines: list[str]) -> assay.Reports:
    return assay.judge(assay.implementation(name="double", numerics="fp32_staging", unsupported=not_offered)(kernel), lines)


@pytest.mark.slow
def test_a_sweep_of_a_formula_judges_the_plan() -> None:
    lines = softcap.plan(largest=1000, random=5)
    assert len(lines) > 8 and len({line.partition(";cap=")[2] for line in lines}) == len(lines)
    assert any("--layout=TND" in line for line in lines) and any("--layout=BSH" in line for line in lines)
    reports = judged_in_double(in_double(capped), lines)
    assert set(reports.verdicts) <= {"conforms", "conforms_weak", "not_applicable", "vacuous"}, reports.summary()
    assert reports.verdicts["conforms"] > 10


PACKED = SHAPE | {"layout": "TND", "entry_point": "u2", "batch": 3, "lengths_q": [33, 0, 9], "lengths_kv": [20, 5, 49]}


def _window(case: assay.Case, i: Array, j: Array) -> Array:
    doc = case.arrays["doc"]
    return (np.abs(i - j) <= case.parameters["w"]) & (doc[i % doc.size] == doc[j % doc.size])


def test_places_in_packed_sequences_start_at_each_sequence() -> None:
    line = window.line(**PACKED)
    assert judged_in_double(in_double(_same, windowed), [line]).conforms
    # A faulty kernel counts positions from the start of the packed tensor instead of the start of the sequence. The
    # last sequence starts at query 33 and at key 25.
    counted_on = in_double(_same, lambda case, at: _window(case, at.i + (at.i.size == 9) * 33, at.j + (at.j.size == 49) * 25))
    assert not judged_in_double(counted_on, [line]).conforms
    assert judged_in_double(in_double(capped), [softcap.line(**PACKED)]).conforms
    assert not judged_in_double(in_double(lambda case, s, at: (capped(case, s, at)[0], np.ones_like(s))), [softcap.line(**PACKED)]).conforms
