"""Judges the kernels of frameworks on a device, each in a process of its own, and prints a table.

Usage, in this folder: python on_device.py FOLDER [--device=cuda] [--only=PATTERN] [--numerics=TEXT] [--seconds=N] [--at_once=N] [--keep]
Writes one file for each kernel and type into FOLDER: the verdict of each line, and the findings of each failing one.
--keep also saves the outputs of small cases, which judge_kept.py judges with other numerics on any machine.
The script finds the program as the package `assay` does. A kernel whose package is missing is listed with its name.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
Lines = Callable[[str, int], list[str]]


class Kernel(NamedTuple):
    """One row of the table: an implementation of an adapter, and the lines on which it is judged."""

    adapter: str
    name: str
    lines: str
    dtypes: Sequence[str] = ("fp32", "bf16", "fp16")
    count: int = 175
    at_once: int = 7  # lines in one call of assay.judge; 1 if a shape takes long to compile

    def label(self, dtype: str) -> str:
        return f"{self.adapter}.{self.name}.{dtype}"


KERNELS = (
    Kernel("torch", "composed", "lines", count=70),
    Kernel("torch", "math", "lines", count=70),
    Kernel("torch_cuda", "flash", "aligned_lines", ("bf16", "fp16")),
    Kernel("torch_cuda", "flash", "causal_lines", ("bf16", "fp16")),
    Kernel("torch_cuda", "efficient", "lines"),
    Kernel("torch_cuda", "cudnn", "lines", ("bf16", "fp16")),
    Kernel("torch_cuda", "flex", "compiled_lines", count=28, at_once=1),
    Kernel("traced", "flash_without_negative_scale", "aligned_lines", ("bf16", "fp16")),
    Kernel("traced", "flash_without_negative_scale", "causal_lines", ("bf16", "fp16")),
    Kernel("traced", "cudnn_without_negative_scale", "lines", ("bf16", "fp16")),
    Kernel("jax", "attention", "compiled_lines", count=70),
    Kernel("jax", "pallas", "compiled_lines", count=70),
    Kernel("fla", "attention", "causal_lines", count=70),
    Kernel("fla", "selected", "selected_lines", ("bf16", "fp16"), count=14, at_once=1),
)


class Keeping:
    """Calls a function and stores the outputs of small cases, each as an array named by case and output."""

    LARGEST = 60_000  # in bytes for one case

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.kept: dict[str, Any] = {}

    def __call__(self, case: Any) -> Any:
        outputs = self.function(case)
        if sum(array.nbytes for array in outputs.values()) <= self.LARGEST:
            for name, array in outputs.items():
                self.kept[f"{case.command}|{name}"] = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        return outputs


def judge_one(kernel: Kernel, dtype: str, file: Path, options: argparse.Namespace) -> None:
    """Writes verdicts and findings, one JSON object for each line, and stops after `options.seconds`."""
    import assay

    lines = importlib.import_module("lines")
    module = "traced" if kernel.adapter == "traced" else f"assay.adapters.{kernel.adapter}"
    implementation = getattr(importlib.import_module(module), kernel.name)
    if kernel.adapter != "jax":  # JAX uses the device that it finds
        implementation = implementation.on(options.device)
    if options.numerics:
        implementation = replace(implementation, numerics=options.numerics)
    keeping = Keeping(implementation.function)
    if options.keep:
        implementation = replace(implementation, function=keeping)
    started = time.monotonic()
    chosen = getattr(lines, kernel.lines)(dtype, kernel.count)
    with file.open("w") as log:
        for first in range(0, len(chosen), kernel.at_once):
            if time.monotonic() - started > options.seconds:
                break
            for report in assay.judge(implementation, chosen[first : first + kernel.at_once]):
                failed = report.verdict.startswith("nonconformant") or report.verdict in ("inconclusive", "tool_failure")
                printed: dict[str, Any] = {"verdict": report.verdict, "command": report.command}
                printed["text"] = report.explanation() if failed else report.evidence[:200]
                log.write(json.dumps(printed) + "\n")
            log.flush()
    if options.keep:
        np.savez_compressed(file.with_suffix(".npz"), **keeping.kept)


def row(label: str, file: Path, status: int, error: str, total: int, seconds: float) -> str:
    verdicts: dict[str, int] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        verdict = json.loads(line)["verdict"]
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    last = (error.strip().splitlines() or [""])[-1]
    why = "" if status == 0 else f"  stopped ({status}): {last[:300]}"
    return f"{label:60} {sum(verdicts.values())} of {total} in {seconds:.0f} s: {counts}{why}"


def judge_in_a_process(kernel: Kernel, dtype: str, words: argparse.Namespace) -> str:
    file = words.folder / f"{kernel.label(dtype)}.{kernel.lines}.jsonl"
    command = [sys.executable, __file__, str(words.folder), f"--device={words.device}", f"--seconds={words.seconds}"]
    command += [f"--numerics={words.numerics}"] if words.numerics else []
    command += ["--keep"] if words.keep else []
    command.append(f"--kernel={json.dumps([*kernel, dtype])}")
    started = time.monotonic()
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    try:
        made = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=words.seconds + 60, check=False)
        status, error = made.returncode, made.stderr
    except subprocess.TimeoutExpired:
        status, error = 124, "took too long"
    printed = row(f"{kernel.label(dtype)} {kernel.lines}", file, status, error, kernel.count, time.monotonic() - started)
    print(printed, flush=True)
    return printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="pattern of labels, such as 'torch_cuda.flash|jax'")
    parser.add_argument("--numerics", default="", help="numerics instead of those that the adapters declare")
    parser.add_argument("--seconds", type=float, default=120, help="time limit for each kernel and type")
    parser.add_argument("--at_once", type=int, default=8)
    parser.add_argument("--keep", action="store_true", help="keep the outputs of small cases")
    parser.add_argument("--kernel", help="internal: used by this program")
    words = parser.parse_args()
    if words.kernel:
        *fields, dtype = json.loads(words.kernel)
        kernel = Kernel(*fields)
        judge_one(kernel, dtype, words.folder / f"{kernel.label(dtype)}.{kernel.lines}.jsonl", words)
        return
    words.folder.mkdir(parents=True, exist_ok=True)
    tasks = [(k, dtype) for k in KERNELS for dtype in k.dtypes if re.search(words.only, k.label(dtype))]
    with ThreadPoolExecutor(words.at_once) as pool:
        rows = list(pool.map(lambda task: judge_in_a_process(*task, words), tasks))
    print("\n" + "\n".join(sorted(rows)))


if __name__ == "__main__":
    main()
