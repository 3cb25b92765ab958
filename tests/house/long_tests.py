"""Compares tests/long_tests.txt with the tests and their times.

Usage: long_tests.py BUILD [--names]
Prints the listed tests that do not exist; without --names also tests that are not listed and took longer than the limit in
the last runs of ctest in the folder BUILD. The exit code is 1 if a listed test does not exist.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).parent.parent / "long_tests.txt"
LIMIT = 2.0  # seconds
AT_NIGHT = {"long", "nightly", "weekly"}


def stem(test: str) -> str:
    """The name of a test in the list: without a comment on its parameter."""
    at_night = ".at_night" if test.endswith(".at_night") else ""
    return re.sub(r"\.?(  #.*)?$", "", test.removesuffix(at_night)) + at_night


def labels_of(build: Path) -> dict[str, set[str]]:
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {
        stem(test["name"]): {label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]}
        for test in json.loads(shown.stdout)["tests"]
    }


def times_of(build: Path) -> dict[str, float]:
    times = {}
    for line in (build / "Testing/Temporary/CTestCostData.txt").read_text().splitlines():
        if line == "---":
            break
        name, _runs, seconds = line.rsplit(" ", 2)
        times[stem(name)] = float(seconds)
    return times


def main(build: Path, names_only: bool) -> int:
    labels = labels_of(build)
    listed = [line for line in LIST.read_text().splitlines() if not line.startswith("#")]
    missing = [name for name in listed if name not in labels]
    for name in missing:
        print(f"{LIST.name} has '{name}', which is not a test; remove or correct this line")
    if not names_only:
        for name, seconds in sorted(times_of(build).items()):
            if seconds >= LIMIT and name in labels and not labels[name] & AT_NIGHT:
                print(f"{name} took {seconds:.1f} s")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--names" in sys.argv))
