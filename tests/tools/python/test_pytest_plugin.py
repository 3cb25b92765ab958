"""The plug-in, in test suites of its users."""

from __future__ import annotations

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


def test_misuse_is_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.assay(dtype="bf16")
        def test_case(assay_case): pass
        """
    )
    result = pytester.runpytest()
    assert result.ret != 0
    assert "no argument dtype" in result.stdout.str() + result.stderr.str()
    assert pytester.runpytest("--assay-binary=/no/such/assay").ret != 0
