"""Counts the injected faults that `assay gate` detects within five seconds on one core.

python3 gated.py ASSAY [--every N] [--file rows.json]
Judges every N-th fault. Exits with 1 if it detects less than 90 % of them, or if a correct variant fails. Counts processor
time, so that other work on the machine does not change the result.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys

SECONDS = 5
BUDGET = "60s"  # of elapsed time, which other work may take
WANTED = 0.9
CONFORMS, FAILS = 0, 1  # exit codes


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gate(assay, mutant):
    """Returns the exit code, the seconds of processor time, and the printed line."""
    start = processor_seconds()
    words = [assay, "gate", mutant["implementation"], mutant["operator"], f"--budget={BUDGET}", "--quiet"]
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode not in (CONFORMS, FAILS):
        raise RuntimeError(f"{' '.join(words)} exits with {run.returncode}\n{run.stdout}{run.stderr}")
    return run.returncode, processor_seconds() - start, run.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--file", type=pathlib.Path, help="JSON file of the results")
    words = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    listed = subprocess.run([words.assay, "mutants", "--list", "--json"], check=True, capture_output=True, text=True)
    every = json.loads(listed.stdout)
    faults = [one for one in every if not one["healthy"]][:: words.every]
    healthy = [one for one in every if one["healthy"] and one["subject"] == "numbers"][:: words.every]
    rows = [{**one, **dict(zip(("code", "seconds", "line"), gate(words.assay, one)))} for one in faults + healthy]
    if words.file:
        words.file.write_text(json.dumps(rows, indent=1) + "\n")
    detected = [row for row in rows if row["code"] == FAILS and not row["healthy"] and row["seconds"] <= SECONDS]
    wrong = [row for row in rows if row["code"] == FAILS and row["healthy"]]
    print(f"{len(detected)} of {len(faults)} injected faults detected within {SECONDS} s, "
          f"median {statistics.median(row['seconds'] for row in detected):.2f} s; "
          f"{len(wrong)} of {len(healthy)} correct variants fail")
    for row in rows:
        if row not in detected and (not row["healthy"] or row in wrong):
            print(f"{row['implementation']} of {row['operator']} ({row['seconds']:.1f} s): {row['line']}")
    return 0 if len(detected) >= WANTED * len(faults) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
