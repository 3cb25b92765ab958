"""Sweeps planted bugs of causes that people reported of kernels, and looks at the first cause that Assay names.

python3 public_faults.py ASSAY FOLDER [--only TEXT] [--seeds N] [--budget SECONDS] [--least SHARE] [--prefixes PROGRAM]
The causes that are expected lie in public_faults.json beside this file: outputs (rope apart), a part of the stage's
name, and for each field that decides a pattern of a term. What was swept lies in FOLDER under the digest of the
program. Exits 1 where a bug is not caught or fewer than SHARE (default 0.85) of the first causes are right; with
--prefixes, the program cause_prefixes, also where a cause that was right is wrong of a longer part of the same sweep.
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


def swept(assay, folder, fault, seed, budget):
    """The report of a sweep; that of one that was finished before."""
    file = folder / f"{fault}.{seed}.json"
    if not file.exists():
        words = [assay, "sweep", EXPECTED[fault]["operator"], f"--implementation=mutant-{fault}", "--shrink=0",
                 f"--seed={seed}", "--only=!track=arguments", f"--report={file}.part", "--quiet"]
        done = run(words + ([f"--budget={budget}s"] if budget else []))
        if done.returncode not in (0, FAILS):
            raise RuntimeError(f"{fault}: exit code {done.returncode}\n{done.stderr}")
        pathlib.Path(f"{file}.part").rename(file)
    return json.loads(file.read_text())


def faults_of(cause, expected):
    """What of a first cause is not as expected; nothing of one that is right."""
    # Ignore what the forward gives: only the relation "cascade" reports it, where the forward has the fault as well.
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
    """Parts of a sweep whose first cause is wrong although that of a shorter part was right."""
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
    parser.add_argument("--only", default="", help="faults whose name holds this text, or one of TEXT,TEXT")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=int, help="seconds of a sweep, which is whole without")
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
                parts = made_worse(words.prefixes, folder / f"{fault}.{seed}.json", EXPECTED[fault])
                worse += bool(parts)
                for part in parts:
                    print(f"  {part}")
    print(f"first causes that are right: {right} of {runs}; not caught: {uncaught}; "
          f"worse of more cases: {worse}")
    return 0 if uncaught == 0 and worse == 0 and right >= words.least * runs else 1


if __name__ == "__main__":
    sys.exit(main())
