"""Sweeps injected faults that were reported for public kernels, and checks the first cause that Assay prints.

python3 public_faults.py ASSAY FOLDER [--only TEXT] [--seeds N] [--budget SECONDS] [--least SHARE] [--prefixes PROGRAM]
The expected causes are in public_faults.json next to this file, under OPERATOR/NAME: outputs (without rope), a part of
the stage's name, and for each field that decides, a pattern that a term of the cause must match. FOLDER contains
finished sweeps under the digest of the program. Exits with 1 if a fault is not caught or fewer than SHARE (default 0.85) of the first causes are
right. --prefixes names the program cause_prefixes: then it also exits with 1 if a cause that was right is wrong for a
longer part of the same sweep.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys

EXPECTED = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
FAILS = 1  # exit code of a sweep


def run(words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def file_of(folder, fault, seed):
    return folder / f"{fault.replace('/', '.')}.{seed}.json"


def swept(assay, folder, fault, seed, budget):
    """Returns the report of a sweep, or the stored report if the sweep was finished before."""
    file = file_of(folder, fault, seed)
    if not file.exists():
        operator, name = fault.split("/")
        words = [assay, "sweep", operator, f"--implementation=mutant-{name}", "--shrink=0",
                 f"--seed={seed}", "--only=!track=arguments", f"--report={file}.part", "--quiet"]
        done = run(words + ([f"--budget={budget}s"] if budget else []))
        if done.returncode not in (0, FAILS):
            raise RuntimeError(f"{fault}: exit code {done.returncode}\n{done.stderr}")
        pathlib.Path(f"{file}.part").rename(file)
    return json.loads(file.read_text())


def faults_of(cause, expected):
    """Lists the differences between a first cause and the expected one; empty if it is right."""
    # Ignores outputs of the forward pass. Only the relation "cascade" (forward, then backward) reports such outputs, if
    # the forward pass has the fault, too.
    of_forward = ("attention_in", "softmax_max", "softmax_sum")
    outputs = sorted(name for name in cause["outputs"] if not name.endswith("_rope") and name not in of_forward)
    wrong = []
    if outputs != sorted(expected["outputs"]):
        wrong.append(f"outputs {outputs}")
    if expected["stage"] not in cause["stage"]:
        wrong.append(f"stage '{cause['stage']}'")
    for pattern in expected["fields"]:
        if not any(re.match(pattern, term) for term in cause["fields"]):
            wrong.append(f"fields {cause['fields']} without {pattern}")
    return wrong


def made_worse(program, report, expected):
    """Lists the parts of a sweep whose first cause is wrong although the first cause of a shorter part is right."""
    worse, was_right = [], False
    for line in run([program, report]).stdout.splitlines():
        cases, _, outputs, stage, fields = line.split("\t")
        cause = {"outputs": outputs.split(), "stage": stage, "fields": fields.split()}
        wrong = faults_of(cause, expected)
        if wrong and was_right:
            worse.append(f"of {cases} cases {'; '.join(wrong)}")
        was_right = was_right or not wrong
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="faults whose name contains this text, or one of TEXT,TEXT")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=int, help="seconds for each sweep; default: complete sweeps")
    parser.add_argument("--least", type=float, default=0.85)
    parser.add_argument("--prefixes", help="the program cause_prefixes")
    words = parser.parse_args()
    digest = hashlib.sha256(pathlib.Path(words.assay).read_bytes()).hexdigest()[:16]
    folder = words.folder / digest
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [fault for fault in EXPECTED if any(text in fault for text in words.only.split(","))]
    if not chosen:
        raise ValueError(f"no fault has '{words.only}' in its name")
    right = runs = uncaught = worse = 0
    for fault in chosen:
        for seed in range(1, words.seeds + 1):
            report = swept(words.assay, folder, fault, seed, words.budget)
            runs += 1
            if not report["causes"]:
                uncaught += 1
                print(f"{fault}, seed {seed}: not caught")
                continue
            wrong = faults_of(report["causes"][0], EXPECTED[fault])
            right += not wrong
            cause = report["causes"][0]
            print(f"{fault}, seed {seed}: {'right' if not wrong else 'WRONG, ' + '; '.join(wrong)}: "
                  f"{', '.join(cause['outputs'])} where {' and '.join(cause['fields']) or 'any fields'} "
                  f"({len(cause['cases'])} cases, {cause['others']} others), 1 of {len(report['causes'])}", flush=True)
            if words.prefixes:
                parts = made_worse(words.prefixes, file_of(folder, fault, seed), EXPECTED[fault])
                worse += bool(parts)
                for part in parts:
                    print(f"  {part}")
    print(f"right first causes: {right} of {runs}; not caught: {uncaught}; "
          f"worse with more cases: {worse}")
    return 0 if uncaught == 0 and worse == 0 and right >= words.least * runs else 1


if __name__ == "__main__":
    sys.exit(main())
