"""Chooses the cases of `assay gate`: few cheap cases with as many different pairs of field values as possible, and a call
that breaks each requirement. It does not look at injected faults, so the share that the gate detects is a fair measure.

python3 gate_cases.py ASSAY FOLDER [OPERATOR ...]
FOLDER gets OPERATOR.json, the cases of `assay mutants --by-case`; an existing file is used again. Writes
tools/assay/gate/OPERATOR.txt.
"""

import argparse
import concurrent.futures
import heapq
import itertools
import json
import os
import pathlib
import subprocess
import sys

GATE = pathlib.Path(__file__).resolve().parents[2] / "tools/assay/gate"
OVERHEAD = 2e-3  # seconds that a case takes in addition to its expected cost
AGAIN = 0.25  # value of a pair that one case covers already; further ones have no value
USAGE = 2  # exit code
BUDGET = 1.0  # seconds of the cases of an operator, by their expected cost
UNIMPORTANT = {"seed", "violate", "product"}
HEAD = """# The cases of `assay gate` for this operator, which tests/mutants/gate_cases.py chooses.
[every plan, fixed seed]
"""


def correct_variant(assay, operator):
    listed = subprocess.run([assay, "mutants", operator, "--list", "--json"], check=True, capture_output=True, text=True)
    return next(one for one in json.loads(listed.stdout) if one["healthy"] and one["subject"] == "numbers")["implementation"]


def without_refused(assay, operator, lines):
    """Returns the lines that the program accepts as cases: some cases of `assay mutants` are calls that a document forbids."""
    kernel = f"--implementation={correct_variant(assay, operator)}"

    def is_legal(line):
        return subprocess.run([assay, "run", *line.split(), kernel], capture_output=True, check=False).returncode != USAGE

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for line, legal in zip(lines, pool.map(is_legal, lines)) if legal]


def candidates(assay, folder, operator):
    """Returns the small cases of a sweep, each with its expected cost. A single correct variant judges them."""
    file, variant = folder / f"{operator}.json", correct_variant(assay, operator)
    if not file.exists():
        only = f"--only={variant.removeprefix('mutant-')}"
        subprocess.run([assay, "mutants", operator, only, "--by-case", f"--report={file}", "--quiet"],
                       stdout=subprocess.DEVNULL, check=False)
    return json.loads(file.read_text())["seen_by_case"]


def fields(line):
    return dict(word[2:].split("=", 1) for word in line.split()[1:])


def kind(name, value):
    """Returns the kind of a value: a word is its own kind; of a number, its magnitude and whether 16 divides it."""
    if value.lstrip("-").isdigit() and name not in ("sparse_mode", "pse_type"):
        number = int(value)
        return f"{name}: {number.bit_length()} bits, {number % 16 == 0}, {number < 0}"
    return f"{name}: {value}" if "," not in value and "x" not in value else f"{name}: {min(value.count(','), 3)} commas"


def pairs(line, names):
    """Returns the kinds of the fields with these names, and their pairs. A line omits fields that have their default."""
    values = fields(line)
    kinds = [kind(name, values.get(name, "default")) for name in names]
    return [*kinds, *itertools.combinations(kinds, 2)]


def covering(cases):
    """Returns cases in the order of their value: the pairs that no case before has, for their cost."""
    times = {}
    names = sorted({name for case in cases for name in fields(case["replay"])} - UNIMPORTANT)
    found = {case["replay"]: pairs(case["replay"], names) for case in cases}
    cost = {case["replay"]: case["expected_seconds"] + OVERHEAD for case in cases}

    def value(line):
        return sum((1, AGAIN, 0)[times.get(pair, 0)] for pair in found[line]) / cost[line]

    heap = [(-value(line), line) for line in sorted(found)]
    heapq.heapify(heap)
    order, spent = [], 0.0
    while heap and spent < BUDGET:
        _, line = heapq.heappop(heap)
        now = value(line)
        if now == 0:
            continue
        if heap and now < -heap[0][0]:  # values only fall, so the first that keeps the top is the best
            heapq.heappush(heap, (-now, line))
            continue
        order.append(line)
        spent += cost[line]
        for pair in found[line]:
            times[pair] = min(2, times.get(pair, 0) + 1)
    return order


def breaking(cases):
    """Returns the cheapest call that breaks each requirement."""
    first = {}
    for case in sorted(cases, key=lambda case: case["expected_seconds"]):
        first.setdefault(fields(case["replay"])["violate"].split(":")[0], case["replay"])
    return list(first.values())


def mixed(first, second):
    """Returns the lines of both lists, each in its order, with about the same share of each at every place."""
    places = [((k + 1) / len(lines), line) for lines in (first, second) for k, line in enumerate(lines)]
    return [line for _, line in sorted(places, key=lambda one: one[0])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("operators", nargs="*")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run([words.assay, "list", "operators", "--json"], check=True, capture_output=True, text=True)
    for operator in words.operators or [one["operator"] for one in json.loads(listed.stdout)]:
        cases = candidates(words.assay, words.folder, operator)
        with_values = [case for case in cases if not {"violate"} & set(fields(case["replay"]))
                       and fields(case["replay"]).get("track") != "arguments"]
        numbers = without_refused(words.assay, operator, covering(with_values))
        broken = breaking([case for case in cases if "violate" in fields(case["replay"])])
        (GATE / f"{operator}.txt").write_text(HEAD + "".join(line + "\n" for line in mixed(numbers, broken)))
        print(f"{operator}: {len(numbers)} of {len(with_values)} cases with values, {len(broken)} that break a requirement")
    return 0


if __name__ == "__main__":
    sys.exit(main())
