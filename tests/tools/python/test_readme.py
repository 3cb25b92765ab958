"""Tests that the examples of README.md and the handbook are as short as promised, and distinguish correct kernels from wrong ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import assay
import kernels
from assay.judging import export_lines
from assay.program import find_program

ROOT = Path(__file__).parents[3]


def block(page: str, heading: str, number: int = 0) -> str:
    """A Python block under a heading."""
    section = re.split(r"\n##+ ", (ROOT / page).read_text(encoding="utf-8").split(f"# {heading}\n")[1])[0]
    return re.findall(r"```python\n(.*?)```", section, re.S)[number]


def run(code: str, folder: Path, *words: str) -> str:
    script = folder / "test_of_readme.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False,
                          env={"ASSAY": str(find_program()), "PATH": "/usr/bin:/bin"})
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_first_kernel_is_judged_in_15_lines(tmp_path: Path) -> None:
    code = block("README.md", "In Python")
    assert len(code.strip().splitlines()) <= 15
    assert "1 case, 1 judged: 1 conforms" in run(code, tmp_path, "test_of_readme.py")


def test_the_kernel_of_the_handbook_rounds_its_outputs_in_every_type(tmp_path: Path) -> None:
    """The statistics are in fp32, and numpy combines fp32 and 16-bit numbers in fp32, too."""
    (tmp_path / "my_kernel.py").write_text(block("docs/kernel_python.md", "My kernel in Python"), encoding="utf-8")
    lines = [f"{kernels.OPERATOR} --dtype={dtype} --seq_q=9 --seq_kv=17 {flags}" for dtype in ("fp32", "fp16", "bf16")
             for flags in ("", "--heads_q=4 --heads_kv=4 --head_dim=8 --head_dim_v=8 --profile=foreign_statistics",
                           "--track=exact --scale_value=0.0625")]
    code = f"import assay\nfrom my_kernel import mine\nprint(assay.judge(mine, {lines}).summary())\n"
    printed = run(code, tmp_path, "test_of_readme.py")
    assert re.match(r"(\d) cases, \1 judged: \1 conforms\n", printed), printed


def outputs_of_rounded(case: assay.Case) -> dict[str, np.ndarray]:
    """Returns the outputs of a kernel that is correct to the last bit."""
    outputs = {}
    for name, expected in case.expected.items():
        heads = case.problem["heads_q" if name == "dq" else "heads_kv"]
        length = case.problem["seq_q" if name == "dq" else "seq_kv"]
        rows = np.zeros((case.problem["batch"] * heads * length, expected.rounded.shape[1]), case.dtype)
        rows[slice(None) if expected.rows is None else expected.rows] = expected.rounded
        outputs[name] = rows.reshape(case.problem["batch"], heads, length, -1)
    return outputs


def test_few_lines_accept_only_outputs_right_to_the_last_bit(tmp_path: Path) -> None:
    file, code = tmp_path / "cases.h5", block("docs/goldens.md", "Without Assay")
    lines = [
        f"{kernels.OPERATOR} {flags}"
        for flags in (
            "--dtype=bf16 --track=exact --seq_q=16 --seq_kv=16 --scale_value=0.0625",
            "--dtype=fp16 --track=exact --seq_q=8 --seq_kv=24 --sparse_mode=3 --atten_mask=compressed --scale_value=0.0625",
            "--dtype=fp32 --seq_q=9 --seq_kv=4 --sparse_mode=1 --atten_mask=SS --mask=dead_rows",
            "--dtype=fp16 --seq_q=301 --seq_kv=9 --head_dim=16 --head_dim_v=16 --profile=overflow_fp16",
            "--dtype=bf16 --seq_q=5 --seq_kv=6 --sparse_mode=1 --atten_mask=SS --mask=all_dead",
        )
    ]
    export_lines(file, lines, "ascend_a2")
    away = 0
    for case in assay.read_cases(file):
        right = outputs_of_rounded(case)
        assay.write_outputs(case, "right", right)
        wrong = {name: value.copy() for name, value in right.items()}
        for name, value in wrong.items():
            row = 0 if case.expected[name].rows is None else case.expected[name].rows[0]
            value.reshape(-1, value.shape[-1])[row, 0] += 1 + abs(value).max()
        assay.write_outputs(case, "wrong", wrong)
        if case.track == "exact":
            expected_value = case.expected.values()
            away += sum(np.sum(expected.rounded != expected.value.astype(case.dtype)) for expected in expected_value)
    assert away > 0  # ties round away from zero; numpy rounds them to even
    words = ("test_of_readme.py", str(file))
    printed = run(code, tmp_path, *words, "right")
    assert printed.count("conforms") == 3 * len(lines) and "fails" not in printed
    assert run(code, tmp_path, *words, "wrong").count("fails") == 3 * len(lines)


def test_few_lines_judge_without_assay(cases: list[assay.Case], tmp_path: Path) -> None:
    code = block("docs/goldens.md", "Without Assay")
    assert len(code.strip().splitlines()) <= 15  # one of the lines contains only a name
    case = next(case for case in cases if case.problem["layout"] == "BNSD")
    assay.write_outputs(case, "right", kernels.right(case))
    assay.write_outputs(case, "wrong", kernels.without_scale(case))
    words = ("test_of_readme.py", str(case.path))
    assert run(code, tmp_path, *words, "right").count("conforms") == 3
    printed = run(code, tmp_path, *words, "wrong")
    assert re.search(r"dk .*fails", printed) and re.search(r"dq .*conforms", printed)


def test_few_lines_refuse_a_name_without_outputs(cases: list[assay.Case], tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(block("docs/goldens.md", "Without Assay"))
    words = [sys.executable, "judge.py", str(cases[0].path), "rihgt"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "has no outputs of rihgt in layout BNSD" in done.stderr
