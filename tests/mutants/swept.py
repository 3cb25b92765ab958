"""Runs the program on mutants: until each injected fault is caught, or complete sweeps of the correct variants.

A fault in argument checks counts as caught only by a case on which the original kernel conforms.

python3 swept.py ASSAY FOLDER bugs|healthy [--only TEXT] [--budget SECONDS]
FOLDER contains finished sweeps under the digest of the program; an interrupted run resumes there.
Prints the results, writes them to bugs.json or healthy.json next to the sweeps, and exits with 1 if a promise
of README is broken.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ARGUMENTS, NUMBERS = "--only=track=arguments", "--only=!track=arguments"  # which cases each part sweeps
SOON = 60.0  # seconds
JUDGED_ELEMENTS = 10**9
HEALTHY_RUNS = 10_000
VARIANTS = 20  # for each operator
CONFORMS, FAILS = 0, 1  # exit codes of a sweep
CONFORMANT = ("conforms", "conforms_weak", "rejected_as_specified", "rejected_other_code")
SIZES = ("default", []), ("full", ["--full"])


def mutants(assay, only):
    chosen = [f"--only={only}"] if only else []
    listed = subprocess.run([assay, "mutants", "--list", "--json", *chosen], check=True,
                            capture_output=True, text=True)
    found = json.loads(listed.stdout)
    if not found:
        raise ValueError(f"no mutant or variant has '{only}' in its name")
    return found


def sweep(assay, mutant, file, *flags):
    """Returns the report of a sweep, or the stored report if the sweep was finished before."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        words = [assay, "sweep", mutant["operator"], f"--implementation={mutant['implementation']}",
                 f"--report={file}.part", "--shrink=0", "--quiet", "--seed=1", *flags]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode not in (CONFORMS, FAILS):
            raise RuntimeError(f"{' '.join(words)} exits with {run.returncode}\n{run.stderr}")
        os.replace(f"{file}.part", file)
    return json.loads(file.read_text())


def lines_of_sound(assay, folder, sound, size, flags):
    """Chooses the argument cases in which a kernel without faults conforms."""
    report = sweep(assay, sound, folder / f"{size}_arguments" / f"{sound['operator']}.json", ARGUMENTS, *flags)
    lines = [case["command_line"] for case in report["cases"] if case["verdict"] in CONFORMANT]
    file = folder / f"{size}_arguments" / f"{sound['operator']}.txt"
    file.write_text("".join(line + "\n" for line in lines))
    return f"--lines={file}"


def caught(assay, folder, mutant, chosen):
    """Returns the size ("default", "full" or None) of the sweep that caught the mutant, its seconds, and its number of
    cases."""
    spent = 0.0
    for size, flags in SIZES:
        for number, (cases, printing) in enumerate(chosen(mutant, size, flags)):
            file = folder / size / f"{mutant['operator']}.{mutant['implementation']}.{number}.json"
            summary = sweep(assay, mutant, file, "--fail-fast", *cases)["summary"]
            spent += summary["seconds"]
            if summary["exit_code"] == FAILS and (printing is None or printing in summary["verdicts"]):
                return size, spent, summary["cases"]
    return None, spent, summary["cases"]


def printed(futures, what):
    """Returns the results in the order of the mutants, and prints the progress."""
    start, done = time.monotonic(), 0
    for _ in concurrent.futures.as_completed(futures):
        done += 1
        if done % 50 == 0 or done == len(futures):
            left = (time.monotonic() - start) / done * (len(futures) - done)
            print(f"{done} of {len(futures)} {what}, about {left / 60:.0f} min left", flush=True)
    return [future.result() for future in futures]


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.2f} %)"


def bugs(assay, folder, only, _):
    injected = [one for one in mutants(assay, only) if not one["healthy"]]
    lines = {}
    for sound in mutants(assay, "argument_checks"):
        for size, flags in SIZES:
            lines[sound["operator"], size] = lines_of_sound(assay, folder, sound, size, flags)

    def chosen(mutant, size, flags):
        numbers = [NUMBERS, *flags]
        if mutant["subject"] != "arguments":
            return [(numbers, None)]
        # A fault in the argument checks is also detected if a numerical case is wrongly refused. Other verdicts of
        # numerical cases do not count, because they do not depend on the argument checks.
        return [([lines[mutant["operator"], size]], None), (numbers, "rejected_wrongly")]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = printed([pool.submit(caught, assay, folder, one, chosen) for one in injected], "injected faults")
    of = len(injected)
    by_default = sum(row[0] == "default" for row in rows)
    soon = sum(row[0] == "default" and row[1] <= SOON for row in rows)
    at_all = sum(row[0] is not None for row in rows)
    print(f"caught within {SOON:.0f} s: {share(soon, of)}, by the default sweep: "
          f"{share(by_default, of)}, by the full one: {share(at_all, of)}")
    for one, (by, seconds, cases) in zip(injected, rows):
        if by != "default" or seconds > SOON:
            print(f"{one['implementation']} of {one['operator']}: "
                  + (f"caught by the {by} sweep in {seconds:.0f} s" if by else "not caught"))
    result = {"bugs": of, "within_60_s": soon, "by_default_sweep": by_default,
              "by_full_sweep": at_all,
              "rows": [{**one, "caught_by": by, "seconds": seconds, "cases": cases}
                       for one, (by, seconds, cases) in zip(injected, rows)]}
    return result, soon >= 0.95 * of and by_default >= 0.99 * of and at_all == of


def healthy(assay, folder, only, budget):
    variants = [one for one in mutants(assay, only)
                if one["healthy"] and one["subject"] == "numbers"]

    part, flags = (f"healthy_{budget}s", [f"--budget={budget}s"]) if budget else ("healthy", [])

    def swept(one):
        file = folder / part / f"{one['operator']}.{one['implementation']}.json"
        return sweep(assay, one, file, NUMBERS, *flags)["summary"]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = printed([pool.submit(swept, one) for one in variants], "healthy variants")
    false_positives = [one for one, row in zip(variants, rows) if row["exit_code"] != CONFORMS]
    result = {"variants": {}, "runs": sum(row["value_cases"] for row in rows),
              "elements": sum(sum(row["certified"]["rungs"].values()) for row in rows),
              "false_positives": [one["implementation"] for one in false_positives]}
    for one in variants:
        result["variants"][one["operator"]] = result["variants"].get(one["operator"], 0) + 1
    print(f"{len(variants)} healthy variants, {result['runs']} runs, {result['elements']} judged "
          f"elements, {len(false_positives)} variants failed {result['false_positives'] or ''}")
    wide = (result["runs"] >= HEALTHY_RUNS and result["elements"] >= JUDGED_ELEMENTS
            and min(result["variants"].values()) >= VARIANTS)
    return result, not false_positives and wide


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("what", choices=("bugs", "healthy"))
    parser.add_argument("--only", default="", help="mutants whose name contains this text")
    parser.add_argument("--budget", type=int, help="seconds for each sweep of a healthy variant; default: complete sweeps")
    words = parser.parse_args()
    digest = hashlib.sha256(pathlib.Path(words.assay).read_bytes()).hexdigest()[:16]
    folder = words.folder / digest
    result, as_promised = {"bugs": bugs, "healthy": healthy}[words.what](
        words.assay, folder, words.only, words.budget)
    (folder / f"{words.what}.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0 if as_promised else 1


if __name__ == "__main__":
    sys.exit(main())
