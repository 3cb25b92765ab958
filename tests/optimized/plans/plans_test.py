"""Whether `assay device plan` says of some problems what it said before: tilings, buffers, busy shares, times, schedules.

python3 plans_test.py ASSAY [--write]
plans.txt beside holds the commands, each with what it printed. A model that is meant to say something else is written
anew with --write, and the difference is read before it is kept.
"""

import difflib
import pathlib
import subprocess
import sys

PLANS = pathlib.Path(__file__).with_name("plans.txt")
SIGN = "$ assay device plan "


def plan(assay, words):
    told = subprocess.run([assay, "device", "plan", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if told.returncode != 0:
        sys.exit(f"{SIGN}{words}\n{told.stdout}")
    return told.stdout


def main():
    assay = sys.argv[1]
    before = PLANS.read_text(encoding="utf-8")
    commands = [line.removeprefix(SIGN) for line in before.splitlines() if line.startswith(SIGN)]
    if len(commands) < 2:
        sys.exit(f"{PLANS} holds {len(commands)} commands")
    now = "\n".join(f"{SIGN}{words}\n{plan(assay, words)}" for words in commands)
    if sys.argv[2:] == ["--write"]:
        PLANS.write_text(now, encoding="utf-8")
        return
    different = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=1))
    print("\n".join(different) or f"{len(commands)} plans are as before")
    sys.exit(bool(different))


main()
