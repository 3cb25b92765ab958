"""The pytest plug-in in test suites of its users."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kernels

SUITE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import assay, kernels, pytest

@pytest.mark.assay(cases=kernels.SMALL_LINES[:2])
def test_right(assay_case):
    assay.assert_conforms(kernels.right, assay_case)

@pytest.mark.assay(cases=kernels.SMALL_LINES[:2])
def test_wrong(assay_case):
    assay.assert_conforms(kernels.without_scale, assay_case)
"""


def test_a_test_runs_once_for_each_case(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    result = pytester.runpytest("-q", "-rf")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*assay run flash_attention_score_grad --*"])
    listed = pytester.runpytest("--collect-only", "-q").stdout.str()
    assert "test_right[layout=BSH,heads_q=4,heads_kv=2,seq_q=6,seq_kv=9" in listed


@pytest.mark.slow
def test_options_choose_the_cases(pytester: pytest.Pytester, exported: Path) -> None:
    pytester.makepyfile(
        f"""
        def test_case(assay_case):
            assert assay_case.problem["seq_q"] <= 8
        """
    )
    pytester.runpytest(f"--assay-cases={exported}").assert_outcomes(passed=len(kernels.SMALL_LINES))
    few = pytester.runpytest("--assay-only=--seq_q=1 ", "--assay-largest=200", "--assay-random=0", "--collect-only", "-q")
    assert "seq_q=1" in few.stdout.str()


@pytest.mark.slow
def test_options_override_the_cases_of_a_marker(pytester: pytest.Pytester, exported: Path) -> None:
    pytester.makepyfile(SUITE.split("@pytest.mark.assay(cases=kernels.SMALL_LINES[:2])\ndef test_wrong")[0])
    pytester.runpytest(f"--assay-cases={exported}").assert_outcomes(passed=len(kernels.SMALL_LINES))
    listed = pytester.runpytest("--assay-largest=200", "--assay-random=0", "--collect-only", "-q").stdout.str()
    assert "test_right[" in listed and "seq_q=6,seq_kv=9" not in listed


@pytest.mark.slow
@pytest.mark.parametrize(
    "options, fault",
    [
        (["--assay-cases=/no/such/file"], "no such file: '/no/such/file'"),
        (["--assay-cases={exported}", "--assay-only=--seq_q=1"], "only: this selects cases of a plan"),
        (["--assay-largest=-1"], "--largest"),
        (["--assay-only=no such text"], "no such text"),
    ],
)
def test_wrong_options_are_wrong_usage(
    pytester: pytest.Pytester, exported: Path, options: list[str], fault: str
) -> None:
    pytester.makepyfile(SUITE)
    result = pytester.runpytest(*(option.format(exported=exported) for option in options))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert fault in result.stderr.str() and "Traceback" not in result.stderr.str()


def test_cases_that_are_not_for_the_implementation_are_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        SUITE.split("@pytest")[0]
        + """
nothing = assay.implementation(name="mine", unsupported=lambda case: "only on Sundays")(lambda case: {})

@pytest.mark.assay(cases=kernels.SMALL_LINES[:1])
def test_nothing(assay_case):
    assay.assert_conforms(nothing, assay_case)
"""
    )
    result = pytester.runpytest("-q", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*SKIPPED*mine: *only on Sundays*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED, "no case was judged"
    result.stdout.fnmatch_lines(["*test_nothing: 0 of 1 cases were judged; expected at least 1"])
    assert pytester.runpytest("-q", "--assay-require-judged=0").ret == pytest.ExitCode.OK


def test_a_kernel_that_offers_one_case_of_twenty_does_not_pass(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        SUITE.split("@pytest")[0]
        + """
WIDE = [f"nsa_compress_grad --dtype=fp16 --seq=64 --seed={k}" for k in range(19)]

@pytest.mark.assay(cases=WIDE)
def test_little(assay_case):
    if assay_case.seed > 0:
        raise assay.NotApplicable("only the first")
"""
    )
    result = pytester.runpytest("-q")
    result.assert_outcomes(passed=1, skipped=18)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*test_little: 1 of 19 cases were judged; expected at least 2", "*--assay-require-judged=N*"])
    assert pytester.runpytest("-q", "--assay-require-judged=1").ret == pytest.ExitCode.OK


@pytest.mark.slow
def test_an_exception_of_a_kernel_is_the_cause_and_reaches_the_debugger(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        SUITE.split("@pytest")[0]
        + """
@assay.implementation(name="mine")
def raising(case):
    seen_by_the_debugger = case.problem["seq_q"]
    raise ZeroDivisionError("in the kernel")

@pytest.mark.assay(cases=kernels.SMALL_LINES[:1])
def test_raising(assay_case):
    assay.assert_conforms(raising, assay_case)
"""
    )
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ZeroDivisionError: in the kernel", "*AssertionError: mine does not conform*"])
    debugged = pytester.run(sys.executable, "-m", "pytest", "-q", "--pdb", stdin=b"p seen_by_the_debugger * 1000\nq\n")
    debugged.stdout.fnmatch_lines(["*entering PDB*", "*(Pdb) 3000*"])


@pytest.mark.parametrize(
    "marker, fault",
    [
        ('dtype="bf16"', "no argument dtype"),
        ('cases=["no_such_operator"]', "no_such_operator"),
        ('largest="many"', "many"),
        ("cases=[]", "cases is empty; expected a file or replay lines"),
        ("cases=iter(())", "cases is empty"),
        ("cases=3", "cases: 3 is neither a file nor a replay line"),
        ('cases=["nsa_compress_grad", None]', "cases: None is neither a file nor a replay line"),
        ('cases=__import__("pathlib").Path("no/such.h5")', "no/such.h5') is neither a file nor"),
        ('"nsa_compress_grad"', "'nsa_compress_grad' has no name; expected e.g. cases="),
    ],
)
def test_a_wrong_marker_costs_its_own_test(pytester: pytest.Pytester, marker: str, fault: str) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.assay({marker})
        def test_case(assay_case): pass

        @pytest.mark.assay(cases={kernels.SMALL_LINES[:1]!r})
        def test_other(assay_case): assert assay_case.problem["seq_q"] == 3
        """
    )
    result = pytester.runpytest()
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] == 1 and outcomes.get("errors", 0) + outcomes.get("failed", 0) == 1
    assert fault in result.stdout.str() and "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("program", ["/no/such/assay", "/bin/true"])
def test_a_wrong_program_is_wrong_usage(pytester: pytest.Pytester, program: str) -> None:
    result = pytester.runpytest_subprocess(f"--assay-binary={program}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert program in result.stderr.str() and "Traceback" not in result.stderr.str()
