"""The kernel that `assay new` writes runs unchanged, and a fault in it is found.

python3 conforms_test.py ASSAY KIND
KIND is cpp, plugin or command; the tests of the Python package cover the fourth.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

# Faults that the test injects into the templates. For each type of kernel: the file, a correct line of it, and the same
# line with a fault.
FAULTS = {
    "cpp": ("main.cpp", "add(dk(b, kv, j), p.scale_value * dscore,", "add(dk(b, kv, j), dscore,"),
    "plugin": ("kernel.c", "gradient = p->scale * probability", "gradient = probability"),
    "command": ("kernel.py", "weight[:, :, None] * dy[row]", "weight[:, :, None] * dy[0]"),
}


def said(words, status, folder, **environment):
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=500,
                         env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    if ran.returncode != status:
        sys.exit(f"{words} ended with {ran.returncode}, not {status}:\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return ran.stdout.splitlines() or [""]


def main():
    assay, kind = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    name, right, wrong = FAULTS[kind]
    with tempfile.TemporaryDirectory() as made:
        at = pathlib.Path(made, "a folder of 'mine'")
        last = said([assay, "new", kind, at], 0, made)[-1]
        if last != f"wrote a kernel that conforms; to judge it, run {at}/sweep":
            sys.exit(f"the last line is: {last}")
        said([assay, "new", kind, at], 2, made)  # an existing file is not overwritten
        sweep = [at / "sweep", "--random=0", "--budget=4s", "--require-judged=5", "--shrink=0"]
        last = said(sweep, 0, made, PYTHON=sys.executable)[-1]
        if " conforms: " not in last:
            sys.exit(f"the last line is: {last}")
        if not (at / "report.html").is_file():
            sys.exit("the sweep must write a page")
        text = (at / name).read_text(encoding="utf-8")
        if text.count("EDIT") < 3 or right not in text:
            sys.exit(f"{name} lacks its three places marked EDIT, or the line {right!r}")
        (at / name).write_text(text.replace(right, wrong), encoding="utf-8")
        said(sweep, 1, made, PYTHON=sys.executable)


main()
