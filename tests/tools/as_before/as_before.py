"""Checks that commands print the recorded output: reports with all digits, tilings, schedules, texts.

python3 as_before.py ASSAY RECORD [--write]
RECORD contains the commands, each with its output. They run in one temporary folder, in which `lines` is this folder's
folder of replay lines and `lib` that of the program. After an intended change of the output, record it again with
--write and read the difference before you commit it. Other tests check that the output is right.
"""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIGN = "$ "


def printed(command, assay, folder):
    environment = {"PATH": f"{assay.parent}:{HERE}:{os.defpath}", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = "" if ran.stdout.endswith("\n") or not ran.stdout else "\n"
    status = f"[exit {ran.returncode}]\n" if ran.returncode else ""
    return f"{SIGN}{command}\n{ran.stdout}{end}{status}"


def main():
    assay, record = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    before = record.read_text(encoding="utf-8")
    commands = [line.removeprefix(SIGN) for line in before.splitlines() if line.startswith(SIGN)]
    if len(commands) < 2:
        sys.exit(f"{record} holds {len(commands)} commands")
    with tempfile.TemporaryDirectory() as folder:
        for name, at in ("lines", HERE / "lines"), ("lib", assay.parent.parent / "lib"):
            (pathlib.Path(folder) / name).symlink_to(at)
        now = "".join(printed(command, assay, folder) for command in commands)
    if sys.argv[3:] == ["--write"]:
        record.write_text(now, encoding="utf-8")
        return
    different = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=1))
    print("\n".join(different) or f"{len(commands)} commands print the recorded output")
    sys.exit(bool(different))


main()
