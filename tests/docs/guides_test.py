"""Tests the program's guides in man, bash and zsh, and as a page of the handbook.

Usage: guides_test.py PROGRAM tools/docs/commands
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, COMMANDS = (Path(word).resolve() for word in sys.argv[1:3])


def run(words, text="", **further):
    return subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True, check=False, **further)


def guide(language):
    return run([PROGRAM, "help", f"--as={language}"]).stdout


def bash(*words):
    """Returns bash's completions of the last word."""
    line = " ".join(f"'{word}'" for word in words)
    script = f"{guide('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _assay; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return run(["bash", "--norc"], script).stdout.split()


def zsh(*words):
    """Returns zsh's descriptions of all possible last words."""
    line = " ".join(f"'{word}'" for word in words)
    script = f"_describe() {{ print -l -- $found }}\nwords=({line}); CURRENT={len(words)}\n{guide('zsh')}"
    return run(["zsh", "-f"], script).stdout.splitlines()


class Guides(unittest.TestCase):
    def test_bash_completes_commands_and_flags(self):
        self.assertEqual(bash("assay", "sw"), ["sweep"])
        self.assertEqual(bash("assay", "sweep", "--bud"), ["--budget"])
        self.assertIn("nsa_compress_grad", bash("assay", "run", ""))
        self.assertEqual(bash("assay", "run", "nsa_compress_grad", "--compress_s"), ["--compress_stride"])
        self.assertEqual(bash("assay", "sweep", "--shard", "1/2", "--sto"), ["--store"])
        self.assertEqual(bash("assay", "device", "pl"), ["plan"])
        self.assertEqual(bash("assay", "nothing_like_it"), [])

    def test_zsh_describes_commands_and_flags(self):
        self.assertIn("sweep:judge an implementation on many cases: the main command", zsh("assay", ""))
        self.assertTrue(any(word.startswith("--budget:") for word in zsh("assay", "sweep", "")))
        self.assertFalse(any(word.startswith("--budget:") for word in zsh("assay", "check", "")))
        self.assertTrue(any(word.startswith("--compress_stride:") for word in zsh("assay", "run", "nsa_compress_grad", "")))

    def test_man_reads_the_page(self):
        checked = run(["mandoc", "-T", "lint", "-W", "error"], guide("man"))
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))
        text = run(["mandoc", "-T", "ascii"], guide("man"))
        page = run(["col", "-b"], text.stdout).stdout if shutil.which("col") else text.stdout
        for part in ("assay device plan", "NO_COLOR", "require"):
            self.assertIn(part, page)

    def test_a_page_that_differs_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            check = [COMMANDS, "--check", folder]
            self.assertEqual(run([COMMANDS, folder], env=os.environ).returncode, 0)
            self.assertEqual(run(check).returncode, 0)
            page = Path(folder, "sweep.md")
            page.write_text(page.read_text().replace("`--budget <time>`", "`--budged <time>`"))
            printed = run(check)
            self.assertEqual(printed.returncode, 1)
            self.assertIn("--budged", printed.stdout)
            run([COMMANDS, folder])
            Path(folder, "swep.md").write_text("no command\n")
            self.assertIn("swep.md", run(check).stdout)

    def test_examples_of_the_help_run_unchanged(self):
        """Runs the examples in their order in one folder: later ones read the files of earlier ones."""
        commands, without, done = ["", *guide("commands").splitlines()], [], set()
        with tempfile.TemporaryDirectory() as folder:
            for command in commands:
                _, _, after = run([PROGRAM, "help", *command.split()]).stdout.partition("\nExamples:\n")
                examples = [line.strip() for line in after.splitlines() if line.strip()]
                if len(examples) < 2:
                    without.append(command)
                for line in examples:
                    if line in done:
                        continue
                    done.add(line)
                    ran = run(["bash", "-c", line], cwd=folder, env={"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})
                    fails = line.split()[1] == "shrink"
                    self.assertEqual(ran.returncode, 1 if fails else 0, f"{line}\n{ran.stderr}")
        self.assertEqual(without, [])

    def test_help_names_the_kind_of_every_value(self):
        for command in ["", *guide("commands").splitlines()]:
            self.assertNotRegex(run([PROGRAM, "help", *command.split()]).stdout, r"\b(TEXT|INT|FLOAT)\b", command)

    def test_replay_lines_begin_with_what_was_typed(self):
        words = ["run", "flash_attention_score_grad", "--seq_q=2", "--seq_kv=2"]
        with tempfile.TemporaryDirectory() as folder:
            named = Path(folder, "my assay")
            named.symlink_to(PROGRAM)
            typed = run([named, *words]).stdout.splitlines()[1]
            self.assertTrue(typed.startswith(f"  '{named}' run flash_attention_score_grad"), typed)
            again = run(["bash", "-c", typed]).stdout
            self.assertEqual(again.splitlines()[1], typed)
            found = run(["assay", *words], env={"PATH": str(PROGRAM.parent)}).stdout.splitlines()[1]
            self.assertTrue(found.startswith("  assay run flash_attention_score_grad"), found)
            report = Path(folder, "report.json")
            run([named, "sweep", "--only=seq_q=1 ", "--random=0", "--budget=1s", f"--report={report}"])
            self.assertNotIn(folder, report.read_text())

    def test_no_colour_goes_into_a_pipe_and_a_terminal_has_some(self):
        words = [PROGRAM, "run", "flash_attention_score_grad", "--seq_q=2", "--seq_kv=2"]
        self.assertNotIn("\x1b", run(words).stdout)
        line = " ".join(f"'{word}'" for word in words)
        on = run(["script", "-qec", line, "/dev/null"], env={"TERM": "xterm", "PATH": os.environ["PATH"]}).stdout
        self.assertIn("\x1b[32mconforms\x1b[0m", on)
        off = run(["script", "-qec", line, "/dev/null"], env={"TERM": "xterm", "NO_COLOR": "1", "PATH": os.environ["PATH"]}).stdout
        self.assertNotIn("\x1b", off)
        self.assertIn("conforms", off)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
