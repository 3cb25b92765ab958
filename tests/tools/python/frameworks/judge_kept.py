"""Judges the outputs that on_device.py --keep saved with other numerics, or compares them with models of a kernel's steps.

Usage, in this folder: python judge_kept.py FILE.npz [--failed] [--numerics TEXT ...] [--steps TEXT ...]
--failed selects the cases that did not conform on the device (FILE.jsonl). For each of the
numerics it prints the count of each verdict. For each model (staged_model.py) it prints the mean and the smallest share
of elements of dq, dk and dv that equal the model bit by bit, over cases of track bound.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import assay
from assay.adapters.attention import attentions_of, outputs_of
from assay.dtypes import Array
from assay.judging import export_lines
from staged_model import gradients, steps_of

OPERANDS = {"dq": "query", "dk": "key", "dv": "value"}


class Kept:
    """Returns the stored gradients of a case."""

    def __init__(self, file: Path) -> None:
        self.kept = np.load(file)
        self.lines = sorted({name.rpartition("|")[0] for name in self.kept.files})

    def __call__(self, case: assay.Case) -> Mapping[str, Array]:
        def kept(output: str) -> Array:
            bits: Array = self.kept[f"{case.command}|{output}"]
            return bits.view(case.dtype).reshape(case.inputs[OPERANDS[output]].shape)

        return {output: kept(output) for output in OPERANDS}


def failed(file: Path) -> set[str]:
    printed = [json.loads(line) for line in file.read_text().splitlines()]
    return {t["command"] for t in printed if not t["verdict"].startswith("conforms")}


def equal_bits(kept: Kept, lines: list[str], steps: str) -> list[list[float]]:
    """For each case and output, returns the fraction of elements that equal the model bit by bit."""
    shares, taken = [], steps_of(steps)
    with tempfile.TemporaryDirectory() as folder:
        for case in export_lines(Path(folder) / "cases.h5", lines):
            made = kept(case)
            model = outputs_of(case, [gradients(problem, taken) for problem in attentions_of(case)])
            shares.append([float((made[output] == model[output]).mean()) for output in OPERANDS])
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--numerics", nargs="*", default=[])
    parser.add_argument("--steps", nargs="*", default=[])
    words = parser.parse_args()
    kept = Kept(words.file)
    lines = kept.lines
    if words.failed:
        failing = failed(words.file.with_suffix(".jsonl"))
        lines = [line for line in lines if line in failing]
    for numerics in words.numerics:
        counts = Counter(r.verdict for r in assay.judge(assay.Implementation(kept, words.file.stem, numerics), lines))
        print(f"{numerics}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for steps in words.steps:
        of_bound = [line for line in lines if "--track=" not in line]
        if not of_bound:
            print(f"{steps}: no lines")
            continue
        shares = np.array(equal_bits(kept, of_bound, steps))
        print(f"{steps}: {len(shares)} lines, mean {shares.mean(0).round(4)}, least {shares.min(0).round(4)}")


if __name__ == "__main__":
    main()
