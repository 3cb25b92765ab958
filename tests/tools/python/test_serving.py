"""The protocol of conformance/adapters/command.md, implemented in Python."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import assay
import kernels
from assay.serving import answer, load, serve


def question(folder: Path) -> Path:
    """The file without cases that asks for numerics."""
    path = folder / "numerics.h5"
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "assay-2"
        file.create_group("cases")
    return path


def single(case: assay.Case, folder: Path) -> Path:
    path = folder / f"{case.id}.h5"
    assay.write_cases(path, [case])
    return path


def test_answers(cases: list[assay.Case], tmp_path: Path) -> None:
    files = {case.problem["layout"]: single(case, tmp_path) for case in cases}
    assert answer(kernels.right, str(files["BNSD"])) == "done"
    assert set(assay.read_cases(files["BNSD"])[0].outputs("numpy")) == {"dq", "dk", "dv"}
    assert answer(kernels.troubled, str(files["BSH"])) == "unsupported: BSH"
    assert answer(kernels.troubled, str(files["SBH"])) == "rejected: 161002 no SBH"
    assert answer(kernels.troubled, str(files["BSND"])) == "error: MemoryError: too small"
    assert answer(kernels.right, str(question(tmp_path))) == "numerics: fp32_staging,order=fixed"
    assert answer(kernels.right.function, str(question(tmp_path))) == "done"
    assert answer(kernels.in_place, str(files["BNSD"])) == "changed: key"
    assert answer(kernels.right, "/no/such.h5").startswith("error: FileNotFoundError")


def test_a_wrong_type_is_reported_as_by_judge(cases: list[assay.Case], tmp_path: Path) -> None:
    wrong = {case.problem["dtype"]: case for case in cases}["bf16"]
    for dtype, said in (
        (np.float32, r"dq is float32; expected bfloat16, and dq\[0, .*\] = .* is not a bfloat16: round it as the kernel does"),
        (np.int32, "dq is int32; expected bfloat16: cast it at the point where the kernel casts"),
    ):
        def other(case: assay.Case) -> dict[str, np.ndarray]:
            return {name: array.astype(dtype) * dtype(1.1) for name, array in kernels.right(case).items()}

        report = assay.judge(other, wrong)[0]
        assert report.verdict == "usage_error" and re.fullmatch(said, report.evidence), report.evidence
        assert answer(other, str(single(wrong, tmp_path))) == f"error: {report.evidence}"


def test_regimes_are_printed_after_done(cases: list[assay.Case], tmp_path: Path) -> None:
    def tiled(case: assay.Case) -> dict[str, np.ndarray]:
        case.regimes["key_tile.tail"] += 3
        case.regimes["key_tile.whole"] += 0
        return kernels.right(case)

    assert answer(tiled, str(single(cases[0], tmp_path))) == "done: key_tile.tail=3 key_tile.whole=0"


def test_an_invalid_regime_is_reported_by_name(cases: list[assay.Case], tmp_path: Path) -> None:
    def tiled(case: assay.Case) -> dict[str, np.ndarray]:
        case.regimes.update(wrong)
        return kernels.right(case)

    for wrong in ({"dtype": 1}, {"key tile.tail": 1}, {"a.b\nrejected: 161002": 1}, {"\udcff.b": 1}):
        printed = answer(tiled, str(single(cases[0], tmp_path)))
        assert printed.startswith(f"error: ValueError: regime {next(iter(wrong))!r}: expected AXIS.VALUE"), printed
    wrong = {"key_tile.tail": 0.5}
    assert answer(tiled, str(single(cases[0], tmp_path))).startswith("error: TypeError")
    wrong = {"key_tile.tail": True}
    assert answer(tiled, str(single(cases[0], tmp_path))) == "done: key_tile.tail=1"


def test_every_question_gets_one_line(cases: list[assay.Case], tmp_path: Path) -> None:
    files = [question(tmp_path), *(single(case, tmp_path) for case in cases[:2])]
    answers = io.StringIO()
    serve(kernels.right, io.StringIO("".join(f"{file}\n" for file in files)), answers)
    assert answers.getvalue() == "numerics: fp32_staging,order=fixed\ndone\ndone\n"


def test_a_process_serves_and_keeps_prints_out_of_its_answers(cases: list[assay.Case], tmp_path: Path) -> None:
    line = [sys.executable, "-m", "assay", "serve", kernels.troubled.location()]
    printed = subprocess.run(
        line, input=f"{single(cases[1], tmp_path)}\n", capture_output=True, text=True, check=True
    )
    assert printed.stdout == "unsupported: BSH\n"
    assert printed.stderr == "this is not an answer\n"


def test_a_served_function_is_loaded_by_name() -> None:
    assert load("kernels:right").name == "numpy"
    assert load(f"{kernels.__file__}:without_scale").name == "without scale"
    with pytest.raises(TypeError, match="SMALL_LINES is list"):
        load("kernels:SMALL_LINES")
    wrong = subprocess.run([sys.executable, "-m", "assay", "dance"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "serve FILE:NAME" in wrong.stderr and "'dance'" in wrong.stderr
    words = [sys.executable, "-m", "assay", "serve", f"{kernels.__file__}:nothing"]
    wrong = subprocess.run(words, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and len(wrong.stderr.splitlines()) == 1
    assert "nothing is NoneType; expected a function" in wrong.stderr


def test_a_device_is_for_those_that_take_one() -> None:
    location = kernels.right.location()
    for words in ([location, "--device=cuda"], ["--device", "cuda", location]):
        line = [sys.executable, "-m", "assay", "serve", *words]
        wrong = subprocess.run(line, input="", capture_output=True, text=True, check=False)
        assert wrong.returncode == 2 and len(wrong.stderr.splitlines()) == 1, wrong.stderr
        assert "numpy does not accept a device, but 'cuda' was given" in wrong.stderr


@pytest.mark.slow
def test_a_script_that_sweeps_its_own_kernel_does_not_start_itself_without_end(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import assay\n"
        "@assay.implementation(name='mine', numerics='fp32_staging')\n"
        "def mine(case): return {}\n"
        "assay.sweep(mine, '--only=seq_kv=16 and seq_q=16', '--budget=3s')\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "script.py calls Assay while a worker process imports it to get the kernel" in done.stderr
    assert 'put the call under \'if __name__ == "__main__":\'' in done.stderr
