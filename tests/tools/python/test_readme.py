"""What README.md shows of Python is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import assay
import kernels
from assay.program import find_program

README = Path(__file__).parents[3] / "README.md"


def block(heading: str, number: int = 0) -> str:
    """A block of Python below a heading."""
    section = README.read_text(encoding="utf-8").split(f"\n### {heading}\n")[1].split("\n### ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.S)[number]


def run(code: str, folder: Path, *words: str) -> str:
    script = folder / "test_of_readme.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False,
                          env={"ASSAY": str(find_program()), "PATH": "/usr/bin:/bin"})
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_first_kernel_is_judged_in_15_lines(tmp_path: Path) -> None:
    code = block("In Python")
    assert len(code.strip().splitlines()) <= 15
    assert "1 cases: 1 conforms" in run(code, tmp_path, "test_of_readme.py")
    suite = code.split("\nprint(")[0] + "\n" + block("In Python", 1)
    assert re.search(r"\d+ passed", run(suite, tmp_path, "-m", "pytest", "-q"))


def test_ten_lines_judge_without_assay(cases: list[assay.Case], tmp_path: Path) -> None:
    code = block("Without Assay")
    assert len(code.strip().splitlines()) <= 10
    case = next(case for case in cases if case.problem["layout"] == "BNSD")
    assay.write_outputs(case, "right", kernels.right(case))
    assay.write_outputs(case, "wrong", kernels.without_scale(case))
    words = ("test_of_readme.py", str(case.path))
    assert run(code, tmp_path, *words, "right").count("conforms") == 3
    told = run(code, tmp_path, *words, "wrong")
    assert re.search(r"dk .*fails", told) and re.search(r"dq .*conforms", told)
