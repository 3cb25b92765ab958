"""Tests the verdicts on a forward and its backward: each part that is wrong is named."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import assay
from assay.autograd import at_saved_values, at_true_values
from assay.judging import export_lines
from assay.pairs import PAIRS, pair_of, split_logsumexp
from autograd_functions import (
    COMPRESS,
    FLASH,
    NUMERICS,
    SELECTED,
    attention,
    compression,
    recorded,
    scaled,
    selected_attention,
    served_forward,
    served_forward_with_a_wrong_sum,
)

DTYPES = ("fp32", "fp16", "bf16")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_correct_attention_conforms_in_all_parts(dtype: str) -> None:
    report = assay.judge_autograd(attention(), FLASH.format(dtype))
    assert report.conforms and report.wrong == (), report.summary()
    assert list(report.reports) == ["forward", "saved", "backward", "end_to_end"]
    assert all(one.verdict == "conforms" for one in report.reports.values()), report.summary()
    assert report.forward.operator == report.saved.operator == "flash_attention_score"
    assert list(report.forward.worst) == ["attention_out"]
    assert list(report.saved.worst) == ["softmax_max", "softmax_sum", "attention_in"]
    assert list(report.backward.worst) == list(report.end_to_end.worst) == ["dq", "dk", "dv"]
    assert report.sentence() == "attention: forward, saved values and backward conform"


@pytest.mark.parametrize("dtype", ("fp16", "bf16"))
def test_a_correct_compression_conforms(dtype: str) -> None:
    report = assay.judge_autograd(compression(), COMPRESS.format(dtype))
    assert report.conforms and report.wrong == (), report.summary()
    assert report.forward.operator == "nsa_compress" and list(report.forward.worst) == ["output"]
    assert list(report.backward.worst) == ["input_grad", "weight_grad"]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("changes", "wrong", "tensors"),
    [
        ({"change_output": scaled("attention_out", 1.02)}, "forward", {"attention_out"}),
        ({"change_saved": scaled("softmax_sum", 1.02)}, "saved", {"softmax_sum"}),
        ({"change_saved": scaled("attention_in", 0.98)}, "saved", {"attention_in"}),
        ({"change_gradients": scaled("dk", 1.02)}, "backward", {"dk"}),
    ],
    ids=["output", "statistic", "saved output", "gradient"],
)
def test_the_wrong_part_of_an_attention_is_named(dtype: str, changes: dict[str, Any], wrong: str, tensors: set[str]) -> None:
    report = assay.judge_autograd(attention(**changes), FLASH.format(dtype))
    assert report.wrong == (wrong,) and not report.conforms, report.summary()
    assert set(report.causes[0].tensors) == tensors
    assert (report.backward.verdict == "conforms") == (wrong != "backward")
    assert report.end_to_end.verdict.startswith("nonconformant"), report.summary()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "wrong", "tensors"),
    [
        ({"change_output": scaled("output", 1.02)}, "forward", {"output"}),
        ({"change_saved": scaled("weight", 1.02)}, "saved", {"weight"}),
        ({"change_gradients": scaled("weight_grad", 0.98)}, "backward", {"weight_grad"}),
    ],
    ids=["output", "saved input", "gradient"],
)
def test_the_wrong_part_of_a_compression_is_named(changes: dict[str, Any], wrong: str, tensors: set[str]) -> None:
    report = assay.judge_autograd(compression(**changes), COMPRESS.format("bf16"))
    assert report.wrong == (wrong,), report.summary()
    assert set(report.causes[0].tensors) == tensors
    assert (report.backward.verdict == "conforms") == (wrong != "backward")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("fp16", "bf16"))
def test_a_correct_selected_attention_conforms_in_all_parts(dtype: str) -> None:
    report = assay.judge_autograd(selected_attention(), SELECTED.format(dtype))
    assert all(one.verdict == "conforms" for one in report.reports.values()), report.summary()
    assert [one.operator for one in report.reports.values()] == 2 * ["nsa_selected_attention"] + 2 * ["nsa_selected_attention_grad"]
    assert list(report.saved.worst) == ["softmax_max", "softmax_sum", "attention_out"]
    assert list(report.backward.worst) == list(report.end_to_end.worst) == ["dq", "dk", "dv"]


@pytest.mark.parametrize(
    ("changes", "wrong", "tensors"),
    [
        ({"change_output": scaled("attention_out", 1.02)}, "forward", {"attention_out"}),
        ({"change_saved": scaled("softmax_sum", 1.02)}, "saved", {"softmax_sum"}),
        ({"change_saved": scaled("softmax_max", 1.02)}, "saved", {"softmax_max", "softmax_sum"}),
        ({"change_saved": scaled("attention_out", 0.98)}, "saved", {"attention_out"}),
        ({"change_gradients": scaled("dk", 1.02)}, "backward", {"dk"}),
    ],
    ids=["output", "sum", "maximum", "saved output", "gradient"],
)
def test_the_wrong_part_of_a_selected_attention_is_named(changes: dict[str, Any], wrong: str, tensors: set[str]) -> None:
    report = assay.judge_autograd(selected_attention(**changes), SELECTED.format("bf16"))
    assert report.wrong == (wrong,) and not report.conforms, report.summary()
    assert set(report.causes[0].tensors) == tensors
    assert (report.backward.verdict == "conforms") == (wrong != "backward")
    assert report.end_to_end.verdict.startswith("nonconformant"), report.summary()


PACKED = "flash_attention_score_grad --dtype=fp16 --layout=TND --heads_q=2 --heads_kv=2 --lengths_q=5,1,3 --lengths_kv=7,2,0"
DROPPED = " --drop_mask=exact --keep_prob=0.5"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "judged_by"),
    [
        (FLASH.format("fp16") + " --sparse_mode=2 --atten_mask=compressed" + DROPPED, "f1"),
        (FLASH.format("fp16").replace("40", "33") + " --layout=SBH --entry_point=g2 --pse_type=2 --pse_shift=BN", "f2"),
        (PACKED + " --entry_point=u1", "l1"),
        (PACKED + " --entry_point=u2", "l2"),
        (PACKED.replace("fp16", "bf16") + " --entry_point=u3 --head_dim_rope=64 --head_dim=128 --head_dim_v=128 --atten_mask=SS --sparse_mode=1", "l3"),
        (PACKED + " --entry_point=u4 --softmax_in_layout=same_as_input", "l1"),
        (PACKED + " --entry_point=u4 --statistics_order=tokens_first", "l1"),
        (FLASH.format("fp16") + " --entry_point=g3 --sink=N", "f3"),
        (PACKED + " --entry_point=u5 --sink=N --sink_size=plus_10", "l5"),
        (PACKED + " --entry_point=u5 --sink=N --softmax_in_layout=same_as_input", "l5"),
        (PACKED + " --entry_point=u1 --pse_shift=1NSS", ""),  # the forward's page wants 1,024 rows
    ],
)
def test_each_entry_point_has_a_forward(line: str, judged_by: str, tmp_path: Any) -> None:
    case = export_lines(tmp_path / "case.h5", [line], "fp32_staging")[0]
    right = assay.judge_autograd(recorded(case), line)
    assert right.wrong == ("backward",), right.summary()
    assert right.saved.operator == ("flash_attention_score" if judged_by else "flash_attention_score_grad")
    assert f"--entry_point={judged_by}" in pair_of(line).line_of_forward(case) or not judged_by
    wrong = assay.judge_autograd(recorded(case, scaled("softmax_sum", 1.02)), line)
    assert wrong.wrong == ("saved", "backward"), wrong.summary()


@pytest.mark.slow
def test_statistics_in_the_other_memory_order_do_not_conform(tmp_path: Any) -> None:
    for order in ("heads_first", "tokens_first"):
        line = PACKED + f" --entry_point=u4 --statistics_order={order}"
        case = export_lines(tmp_path / "case.h5", [line], "fp32_staging")[0]
        other = export_lines(tmp_path / "other.h5", [line.replace(order, "tokens_first" if order == "heads_first" else "heads_first")])[0]

        def swap(saved: dict[str, Any]) -> None:
            saved |= {name: other.inputs[name] for name in ("softmax_max", "softmax_sum")}

        report = assay.judge_autograd(recorded(case, swap), line)
        assert report.saved.verdict != "conforms" and report.forward.verdict == "conforms", report.summary()


def test_several_wrong_parts_are_all_named() -> None:
    wrong = attention(scaled("attention_out", 1.02), scaled("softmax_sum", 1.02), scaled("dq", -1))
    report = assay.judge_autograd(wrong, FLASH.format("fp32"))
    assert report.wrong == ("forward", "saved", "backward"), report.summary()
    assert report.sentence() == (
        "attention: the forward is wrong (attention_out); the values that the forward saved are wrong (softmax_sum); the backward is wrong (dq)"
    )


def test_the_result_has_the_verdicts_as_values() -> None:
    report = assay.judge_autograd(attention(change_saved=scaled("softmax_sum", 1.02)), FLASH.format("fp32"))
    members = json.loads(json.dumps(report.to_dict()))
    assert members["wrong"] == ["saved"] and members["conforms"] is False
    assert list(members["parts"]) == ["forward", "saved", "backward", "end_to_end"]
    assert members["causes"][0]["tensors"] == ["softmax_sum"] and members["causes"][0]["verdict"] == "nonconformant_proven"
    lines = report.summary().splitlines()
    assert lines[0] == "attention: the values that the forward saved are wrong (softmax_sum); the backward is right at the saved values"
    assert lines[2].startswith("  saved values: nonconformant_proven; worst error/tau: softmax_max ")
    assert lines[-1] == f"  repeat: assay.judge_autograd(FUNCTION, {report.command!r})"
    assert str(report) == report.summary()


def hides(saved: Any) -> dict[str, Any]:
    return {}


@pytest.mark.slow
def test_hidden_saved_values_leave_two_parts_open() -> None:
    right = assay.judge_autograd(attention(saved_values=hides), FLASH.format("bf16"))
    assert right.conforms and list(right.reports) == ["forward", "end_to_end"], right.summary()
    assert right.sentence() == "attention: forward and backward conform"
    for changes in ({"change_saved": scaled("softmax_sum", 1.02)}, {"change_gradients": scaled("dk", 1.02)}):
        wrong = assay.judge_autograd(attention(**changes, saved_values=hides), FLASH.format("bf16"))
        assert wrong.wrong == ("saved_or_backward",), wrong.summary()


def logsumexp(factor: float) -> Any:
    """Saves the logsumexp instead of maximum and sum."""

    def change(saved: dict[str, Any]) -> None:
        total = saved["softmax_max"] + np.log(saved["softmax_sum"].astype(np.float64))
        saved |= {"softmax_max": np.float32(total), "softmax_sum": np.ones(total.shape, np.float32), "logsumexp": np.float32(total) * np.float32(factor)}
        if factor != 1:
            saved["softmax_max"] = saved["logsumexp"]

    return change


READ = ("softmax_max", "softmax_sum", "attention_in")


def only_logsumexp(saved: dict[str, Any]) -> dict[str, Any]:
    return {name: saved[name] for name in ("logsumexp", "attention_in")}


def test_a_saved_logsumexp_is_judged() -> None:
    numerics = "fp32_staging,lse_form=true"
    right = attention(change_saved=logsumexp(1), saved_values=only_logsumexp, numerics=numerics)
    assert assay.judge_autograd(right, FLASH.format("fp32")).conforms
    wrong = attention(change_saved=logsumexp(1.01), saved_values=only_logsumexp, numerics=numerics)
    report = assay.judge_autograd(wrong, FLASH.format("fp32"))
    assert report.wrong == ("saved",) and report.backward.conforms, report.summary()


def all_statistics(saved: dict[str, Any]) -> dict[str, Any]:
    return {name: saved[name] for name in READ}


@pytest.mark.slow
@pytest.mark.parametrize("saved_values", [all_statistics, only_logsumexp])
@pytest.mark.parametrize("is_forbidden", [False, True])
def test_a_declared_logsumexp_is_judged_as_one_number(monkeypatch: pytest.MonkeyPatch, saved_values: Any, is_forbidden: bool) -> None:
    """`is_forbidden`: as for a call that the forward's documents forbid; the gradient's judge then compares the statistics."""
    if is_forbidden:
        monkeypatch.setattr("assay.autograd._Judge._forward_of", lambda judge, case: None)
    for factor, wrong in ((1, ()), (1.01, ("saved",))):
        function = attention(change_saved=logsumexp(factor), saved_values=saved_values, numerics="fp32_staging,saves=lse")
        report = assay.judge_autograd(function, FLASH.format("fp32"))
        assert report.wrong == wrong and list(report.saved.worst) == ["softmax_max", "attention_in"], report.summary()
        assert report.backward.conforms


@pytest.mark.slow
def test_a_declared_logsumexp_of_a_selected_attention_is_judged() -> None:
    for factor, wrong in ((1, ()), (1.05, ("saved",))):
        function = selected_attention(change_saved=logsumexp(factor), numerics=NUMERICS + ",saves=lse",
                                      saved_values=lambda saved: {name: saved[name] for name in ("logsumexp", "attention_out")})
        report = assay.judge_autograd(function, SELECTED.format("bf16"))
        assert report.wrong == wrong and list(report.saved.worst) == ["softmax_max", "attention_out"], report.summary()


def masked_attention(of_no_key: float, numerics: str) -> assay.AutogradFunction:
    """Attention that keeps the logsumexp, whose first rows attend to no key."""

    def scores_of(case: assay.Case) -> tuple[dict[str, Any], Any]:
        x = {name: array.astype(np.float64) for name, array in case.inputs.items() if name != "atten_mask"}
        scores = case.problem["scale_value"] * x["query"] @ x["key"].swapaxes(2, 3)
        rows, keys = scores.shape[2:]
        return x, np.where(np.arange(keys) <= np.arange(rows)[:, None] - (rows - keys), scores, -np.inf)

    def forward(case: assay.Case) -> Any:
        x, scores = scores_of(case)
        lse = np.log(np.exp(scores).sum(-1, where=scores > -np.inf, initial=0.0) + (scores.max(-1) == -np.inf))
        output = (np.exp(scores - lse[..., None]) @ x["value"]).astype(case.dtype)
        saved = np.where(scores.max(-1) == -np.inf, of_no_key, lse).astype(np.float32)
        return output, {"case": case, "softmax_max": saved, "softmax_sum": np.ones_like(saved), "attention_in": output}

    def backward(saved: dict[str, Any], dy: Any) -> Any:
        x, scores = scores_of(saved["case"])
        lse = np.where(np.isfinite(saved["softmax_max"]), saved["softmax_max"], 0).astype(np.float64)
        p = np.exp(scores - lse[..., None])
        ds = p * (dy @ x["value"].swapaxes(2, 3) - np.sum(dy.astype(np.float64) * saved["attention_in"], -1, keepdims=True))
        scale = saved["case"].problem["scale_value"]
        found = {"dq": scale * ds @ x["key"], "dk": scale * ds.swapaxes(2, 3) @ x["query"], "dv": p.swapaxes(2, 3) @ dy}
        return {name: array.astype(dy.dtype) for name, array in found.items()}

    return assay.AutogradFunction(forward, backward, "masked", numerics)


@pytest.mark.slow
@pytest.mark.parametrize("of_no_key", [np.inf, -np.inf])
def test_rows_without_keys_may_have_an_infinite_logsumexp(of_no_key: float) -> None:
    line = "flash_attention_score_grad --dtype=fp32 --seq_q=12 --seq_kv=9 --sparse_mode=3 --atten_mask=compressed"
    report = assay.judge_autograd(masked_attention(of_no_key, NUMERICS + ",saves=lse"), line)
    assert report.conforms and report.backward.verdict == "conforms", report.summary()
    undeclared = assay.judge_autograd(masked_attention(of_no_key, NUMERICS), line)
    assert undeclared.wrong[0] == "saved" and undeclared.backward.verdict == "inconclusive", undeclared.summary()


def test_a_saved_logsumexp_has_the_bound_of_its_rounding() -> None:
    """Large scores: the logsumexp, a number of 24 bits, has an error that softmax_sum as an output may not have."""
    line = FLASH.format("fp32").replace("0.25", "64")
    right = attention(change_saved=logsumexp(1), saved_values=only_logsumexp, numerics="fp32_staging,lse_form=true")
    report = assay.judge_autograd(right, line)
    assert report.conforms, report.summary()
    assert report.forward.operator == "flash_attention_score" and report.saved.operator == "flash_attention_score_grad"


@pytest.mark.slow
def test_a_wrong_logsumexp_of_a_selected_attention_is_seen_at_the_true_values() -> None:
    def only_sums(saved: dict[str, Any]) -> dict[str, Any]:
        return {name: saved[name] for name in ("logsumexp", "attention_out")}

    for factor, wrong in ((1, ()), (1.05, ("saved",))):
        report = assay.judge_autograd(selected_attention(change_saved=logsumexp(factor), saved_values=only_sums), SELECTED.format("bf16"))
        assert report.wrong == wrong and list(report.saved.worst) == ["attention_out"], report.summary()
        assert report.backward.verdict == "conforms"


def test_a_logsumexp_gives_the_statistics_of_the_documents_in_masked_rows(tmp_path: Any) -> None:
    line = "flash_attention_score_grad --dtype=fp32 --seq_q=8 --seq_kv=4 --sparse_mode=3 --atten_mask=compressed"
    case = export_lines(tmp_path / "case.h5", [line])[0]
    maximum, total = (case.inputs[name][..., 0].astype(np.float64) for name in ("softmax_max", "softmax_sum"))
    dead = maximum < -1e30
    assert dead.sum() == 4
    split = split_logsumexp(case, np.where(dead, -np.inf, maximum + np.log(total)))
    assert np.array_equal(split["softmax_max"], case.inputs["softmax_max"])
    assert np.array_equal(split["softmax_sum"][dead.nonzero()], case.inputs["softmax_sum"][dead.nonzero()])
    assert np.allclose(split["softmax_sum"], case.inputs["softmax_sum"], rtol=1e-6)


def raising(of: Exception) -> Any:
    def change(values: dict[str, Any]) -> None:
        raise of

    return change


@pytest.mark.parametrize(("part", "wrong"), [("change_output", "forward"), ("change_gradients", "backward")])
def test_an_exception_is_a_crash_of_its_part(part: str, wrong: str) -> None:
    report = assay.judge_autograd(attention(**{part: raising(MemoryError("too small"))}), FLASH.format("fp32"))
    assert report.wrong == (wrong,)
    assert report.causes[0].verdict == "crash" and "MemoryError: too small (" in report.causes[0].evidence
    assert "autograd_functions.py:" in report.causes[0].evidence or "test_autograd.py:" in report.causes[0].evidence


def test_calls_that_the_function_does_not_offer_are_not_applicable() -> None:
    for function in (attention(unsupported=lambda case: "fp32"), attention(raising(assay.Unsupported("fp32")))):
        report = assay.judge_autograd(function, FLASH.format("fp32"))
        assert report.conforms and report.wrong == ()
        assert report.sentence() == "attention: not applicable: the function does not support this: fp32"


def drop_the_last_key(saved: dict[str, Any]) -> None:
    saved["case"].inputs["key"][..., -1, :] = 0


def test_a_forward_that_writes_into_its_inputs_is_wrong() -> None:
    report = assay.judge_autograd(attention(change_saved=drop_the_last_key), FLASH.format("fp32"))
    assert report.wrong == ("forward",) and report.causes[0].evidence == "the forward changed its input key"


def wrong_shape(saved: dict[str, Any]) -> None:
    saved["softmax_sum"] = saved["softmax_sum"].swapaxes(0, 2)


def wrong_type(saved: dict[str, Any]) -> None:
    saved["softmax_sum"] = saved["softmax_sum"].astype(np.float64) * (1 + 2**-40)


def test_saved_values_of_another_shape_or_type_are_named() -> None:
    for change, text in ((wrong_shape, "saved softmax_sum has the shape (33, 2, 2); expected (2, 2, 33) or (2, 2, 33, 8)"),
                         (wrong_type, "saved softmax_sum is float64; expected float32, and saved softmax_sum[0, 0, 0, 0] = ")):
        report = assay.judge_autograd(attention(change_saved=change), FLASH.format("fp32"))
        assert report.wrong == ("saved",) and report.causes[0].verdict == "usage_error"
        assert report.causes[0].evidence.startswith(text), report.causes[0].evidence


def test_the_forward_gets_neither_results_nor_the_gradient_of_the_output() -> None:
    seen: list[str] = []
    right = attention()

    def forward(case: assay.Case) -> Any:
        seen.extend(case.inputs)
        return right.forward(case)

    assert assay.judge_autograd(assay.AutogradFunction(forward, right.backward, "spy", "fp32_staging"), FLASH.format("fp32")).conforms
    assert sorted(seen) == ["key", "query", "value"]


class Written:
    """A function as a class."""

    numerics = "fp32_staging"
    forward = staticmethod(attention().forward)
    backward = staticmethod(attention().backward)


def test_an_object_with_forward_and_backward_is_judged() -> None:
    report = assay.judge_autograd(Written, FLASH.format("fp32"))
    assert report.conforms and report.sentence().startswith("Written: ")
    with pytest.raises(TypeError, match=r"^int has no function 'forward'; expected an assay\.AutogradFunction$"):
        assay.judge_autograd(3, FLASH.format("fp32"))


def test_lines_that_have_no_pair_are_refused() -> None:
    with pytest.raises(assay.AssayError, match="^no gradient with a forward 'nsa_compress'; did you mean 'nsa_compress_grad'"):
        pair_of("nsa_compress --dtype=bf16")
    with pytest.raises(assay.AssayError, match="the track is exact; judge_autograd needs a case of track bound"):
        assay.judge_autograd(attention(), FLASH.format("fp32") + " --track=exact")
    with pytest.raises(assay.AssayError, match="profile foreign_statistics"):
        assay.judge_autograd(attention(), FLASH.format("fp32") + " --profile=foreign_statistics")


def test_each_pair_has_a_gradient_of_the_program() -> None:
    listed = assay.program.Program(assay.find_program()).run(["list", "operators"])
    for pair in PAIRS:
        assert f"\n{pair.gradient} " in listed and f"\n{pair.forward} " in listed


def lose_a_row(saved: dict[str, Any]) -> None:
    saved["softmax_sum"][0, 0, 3] = np.nan


def test_no_gradient_is_expected_if_saved_values_are_not_finite() -> None:
    report = assay.judge_autograd(attention(change_saved=lose_a_row), FLASH.format("fp32"))
    assert report.wrong == ("saved",) and report.causes[0].tensors == ("softmax_sum",), report.summary()
    assert report.not_conclusive == ("backward",)
    assert report.backward.evidence == "the saved softmax_sum is not finite, so no gradient is expected"


def test_the_numerics_say_where_the_statistics_come_from() -> None:
    flash, compress = pair_of("flash_attention_score_grad"), pair_of("nsa_compress_grad")
    for declared, saved, true in (
        ("fp32_staging", "fp32_staging,stats=given,delta=given", "fp32_staging,stats=own,delta=own_output"),
        ("", "fp32:stats=given,delta=given fp16:stats=given,delta=given bf16:stats=given,delta=given",
         "fp32:stats=own,delta=own_output fp16:stats=own,delta=own_output bf16:stats=own,delta=own_output"),
        ("fp32:torch_fp32,order=fixed bf16:cuda_flash", "fp32:torch_fp32,order=fixed,stats=given bf16:cuda_flash,stats=given,delta=given",
         "fp32:torch_fp32,order=fixed,stats=own bf16:cuda_flash,stats=own,delta=own_output"),
        ("ascend_a2,delta=own", "ascend_a2,delta=own,stats=given", "ascend_a2,delta=own,stats=own"),
        ("jax_cpu,delta=own_output", "jax_cpu,delta=own_output,stats=given,delta=given", "jax_cpu,delta=own_output,stats=own,delta=own_output"),
    ):
        assert (at_saved_values(declared, flash), at_true_values(declared, flash)) == (saved, true)
        assert at_saved_values(declared, compress) == at_true_values(declared, compress) == declared


@pytest.mark.slow
def test_the_forward_may_have_numerics_of_its_own() -> None:
    """The sum has the error of an exp that is 5e-4 too large."""
    changes = {"change_saved": scaled("softmax_sum", 1.0005)}
    assert assay.judge_autograd(attention(**changes), FLASH.format("fp32")).wrong == ("saved",)
    declared = assay.judge_autograd(attention(**changes, forward_numerics="fp32_staging,exp_error=1e-3"), FLASH.format("fp32"))
    assert declared.conforms, declared.summary()


def test_the_forward_gets_the_inputs_of_the_gradient() -> None:
    report = assay.judge_autograd(compression(), COMPRESS.format("bf16") + " --profile=sparse_dy --entry_point=c1 --inputs=padded")
    assert report.conforms, report.summary()
    assert report.forward.command == "nsa_compress --heads=2 --lengths=70,5,48"  # only fields of the problem, without defaults
    other = assay.judge_autograd(compression(), COMPRESS.format("bf16") + " --profile=all_positive")
    assert other.conforms, other.summary()


def test_the_backward_may_write_into_what_was_saved() -> None:
    right = attention()

    def backward(saved: Any, gradient: Any) -> Any:
        gradients = right.backward(saved, gradient)
        saved["attention_in"][...] = 0
        return gradients

    report = assay.judge_autograd(assay.AutogradFunction(right.forward, backward, "writes", "fp32_staging"), FLASH.format("fp32"))
    assert report.conforms, report.summary()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize(
    ("forward", "code", "said"),
    [
        (served_forward, 0, "forward, saved values and backward conform."),
        (served_forward_with_a_wrong_sum, 1, "the values that the forward saved are wrong (softmax_sum)."),
    ],
)
def test_the_command_judges_a_program_as_the_forward_of_a_gradient(forward: assay.Implementation, code: int, said: str, dtype: str) -> None:
    program = assay.program.Program(assay.find_program())
    line = FLASH.format(dtype).split()
    text = program.run(["run", *line, "--forward", assay.judging.command_of(forward)], accepted=(code,))
    assert text.splitlines()[-1] == said
    assert "\nbackward at the saved values: conforms " in text
