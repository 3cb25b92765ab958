"""Tests sweeps and runs of a gradient together with its forward, `--forward`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.reports import read_reports
from autograd_functions import FLASH, served_forward, served_forward_with_a_wrong_sum


def swept_pair(folder: Path, forward: str, code: int) -> tuple[str, dict[str, Any]]:
    lines, report = folder / "lines.txt", folder / "report.json"
    lines.write_text("".join(FLASH.format(dtype).replace("33", str(rows)) + "\n" for dtype in ("fp32", "bf16") for rows in (9, 17)))
    program = assay.program.Program(assay.find_program())
    flags = ["--lines", lines, "--implementation=optimized-a2", "--forward", forward, "--report", report, "--shrink=1"]
    text = program.run(["sweep", "flash_attention_score_grad", *flags], accepted=(code,))
    return text, json.loads(report.read_text())


def test_a_sweep_judges_each_case_with_the_forward(tmp_path: Path) -> None:
    text, report = swept_pair(tmp_path, "optimized-a2", 0)
    assert "optimized-a2 with the forward optimized-a2 conforms: 4 cases, 4 judged numerically" in text.splitlines()[-1]
    assert [case["pair"]["forward"] for case in report["cases"]] == 4 * ["optimized-a2"]
    parts = report["cases"][0]["pair"]["parts"]
    assert parts == {"softmax_max": "saved", "softmax_sum": "saved", "attention_out": "forward", "dq": "backward", "dk": "backward", "dv": "backward"}
    assert [tensor["name"] for tensor in report["cases"][0]["tensors"]] == list(parts)


@pytest.mark.slow
def test_a_cause_of_a_sweep_names_the_wrong_part(tmp_path: Path) -> None:
    forward = assay.judging.command_of(served_forward_with_a_wrong_sum)
    text, report = swept_pair(tmp_path, forward, 1)
    assert len(report["causes"]) == 1, text
    assert report["causes"][0]["pattern"].startswith("the values that the forward saved are wrong: softmax_sum: "), text
    assert all(case["evidence"].startswith("the values that the forward saved are wrong (softmax_sum): ") for case in report["cases"])
    failing = read_reports(tmp_path / "report.json").failures[0]
    path = f"{Path(assay.find_program()).parent}:{os.environ['PATH']}"
    again = subprocess.run(["sh", "-c", failing.replay], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    assert again.returncode == 1 and again.stdout.splitlines()[-1] == "the values that the forward saved are wrong (softmax_sum).", again
    assert f"--implementation=optimized-a2 --forward={shlex.quote(forward)}" in text


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_an_unknown_forward_is_named_with_its_flag(command: str) -> None:
    program = assay.program.Program(assay.find_program())
    with pytest.raises(assay.AssayError, match=r"--forward is 'nobody'; implementations of flash_attention_score are .*Try: assay list implementations"):
        program.run([command, "flash_attention_score_grad", "--forward=nobody"])
    with pytest.raises(assay.AssayError, match="--forward is 'optimized-a2', but nsa_compress is not a gradient whose forward Assay covers"):
        program.run([command, "nsa_compress", "--forward=optimized-a2"])


def test_each_part_of_a_pair_names_its_implementation() -> None:
    program = assay.program.Program(assay.find_program())
    forward = assay.judging.command_of(served_forward)
    text = program.run(["run", *FLASH.format("fp32").split(), "--implementation=optimized-a2", "--forward", forward, "--json"])
    parts = json.loads(text)["parts"]
    assert [parts[name]["implementation"] for name in ("forward", "backward")] == [forward, "optimized-a2"]
