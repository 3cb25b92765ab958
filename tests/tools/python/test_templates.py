"""The Python kernel that `assay new` writes conforms, and a fault in it is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.program import find_program


def said(words: list[str | Path], status: int) -> str:
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "PYTHON": sys.executable})
    assert ran.returncode == status, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout


@pytest.mark.slow
def test_a_new_kernel_conforms_until_it_has_a_fault(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    said([find_program(), "new", "python", folder], 0)
    assert "3 passed" in said([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder], 0)
    sweep: list[str | Path] = [folder / "sweep", "--random=0", "--only=layout=BNSD", "--budget=5s", "--require-judged=5"]
    assert " conforms: " in said(sweep, 0).splitlines()[-1]
    said([folder / "sweep", "--random=0", "--only=sink=N", "--budget=5s"], 3)  # none of these cases is for the kernel
    kernel = folder / "kernel.py"
    text = kernel.read_text(encoding="utf-8")
    assert text.count("EDIT") == 4  # one of them in the first line
    kernel.write_text(text.replace("dk = scale * ds", "dk = ds"), encoding="utf-8")
    printed = said(sweep, 1)
    assert "dk: " in printed
    # The printed command must repeat the failure in any folder.
    command = next(line for line in printed.splitlines() if " run flash_attention_score_grad" in line)
    again = subprocess.run(["sh", "-c", command[command.index(": ") + 2 :]], cwd="/", capture_output=True, text=True, check=False, timeout=300)
    assert again.returncode == 1, command + again.stderr
