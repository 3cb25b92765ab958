"""Sweeps our implementations with the date as the seed, so that each night runs different cases.

python3 sweep_of_the_day.py ASSAY [--day YYYYMMDD]
Prints the seed and the command that repeats the sweep. Exits with 1 if a case does not conform.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

KERNEL = "optimized-a2"


def operators(assay):
    """Returns the operators that we implement."""
    listed = subprocess.run([assay, "list", "implementations", "--json"], check=True, capture_output=True)
    return [one["operator"] for one in json.loads(listed.stdout) if one["implementation"] == KERNEL]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assay")
    parser.add_argument("--day", default=datetime.date.today().strftime("%Y%m%d"), help="YYYYMMDD, as the seed [today]")
    parser.add_argument("--budget", help="seconds for each operator")
    options = parser.parse_args()
    failed = []
    for operator in operators(options.assay):
        words = [options.assay, "sweep", operator, f"--implementation={KERNEL}", f"--seed={options.day}"]
        print("seed of the day:", " ".join(words), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            budget = [f"--budget={options.budget}"] if options.budget else []
            run = subprocess.run([*words, *budget, "--quiet", f"--report={report}"])
            with open(report, encoding="utf-8") as file:
                print(operator, json.load(file)["summary"]["verdicts"], flush=True)
        if run.returncode != 0:
            failed.append(operator)
    if failed:
        print("does not conform:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
