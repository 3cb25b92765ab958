"""Tests the causes that sweeps of injected faults print, with the program itself: python3 causes_reported_test.py ASSAY"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ASSAY = sys.argv.pop(1)
DIGESTS = pathlib.Path(__file__).resolve().parents[1] / "tools/as_before/digests"
SENTENCES = ("text", "evidence", "note", "pattern")
WORDS = ("judged", "elements of", "fail", "the output is NaN", "FAG-C20:", "crash", "dq", "Z.", "accepted", "flower")
FLASH = "flash_attention_score_grad"
GROUPED = [f"{FLASH} --dtype={dtype} --heads_q=8 --seq_q={seq} --seq_kv={seq + 7} --head_dim=32 --head_dim_v=32 --seed={seq}"
           for dtype in ("bf16", "fp16") for seq in (17, 33, 49)]
SINGLE = [line.replace("--heads_q=8", "--heads_q=1") for line in GROUPED]


class Printed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sweep(self, mutant, *words, lines=None):
        """Returns the report of a sweep and its printed text."""
        report = self.folder / "report.json"
        chosen = []
        if lines is not None:
            file = self.folder / "lines.txt"
            file.write_text("\n".join(lines) + "\n")
            chosen = [f"--lines={file}"]
        done = subprocess.run([ASSAY, "sweep", FLASH, f"--implementation=mutant-{mutant}", f"--report={report}",
                               *chosen, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return json.loads(report.read_text()), done.stdout

    def test_numerics_that_explain_a_cause_are_printed(self):
        report, printed = self.sweep("public_casts_truncate", "--shrink=1", lines=GROUPED + SINGLE)
        shrunk = report["shrunk"][0]
        self.assertNotEqual(shrunk["declared"], "", printed)
        self.assertGreater(shrunk["of_cause"], 1)
        self.assertEqual(shrunk["of_cause"], len(report["causes"][0]["cases"]))
        self.assertGreaterEqual(shrunk["conform_declared"], 0.95 * shrunk["run_declared"])
        self.assertIn(f"{shrunk['conform_declared']} of the {shrunk['of_cause']} failing cases of this cause", printed)

    def test_no_numerics_are_printed_for_a_fault_that_is_small_in_its_smallest_case(self):
        report, printed = self.sweep("row_term_missing", "--shrink=1", lines=GROUPED)
        self.assertEqual(report["shrunk"][0]["declared"], "", printed)

    def test_an_output_with_poison_was_never_written(self):
        line = f"{FLASH} --layout=TND --entry_point=u1 --lengths_q=5,0,7 --lengths_kv=6,4,3 --dtype="
        report, _ = self.sweep("public_keys_without_queries_unwritten", "--shrink=0",
                               lines=[line + dtype for dtype in ("bf16", "fp16", "fp32")])
        deviation = report["causes"][0]["deviation"]
        self.assertEqual(deviation["fact"]["kind"], "never_written")
        self.assertGreater(2 * deviation["cases"], len(report["causes"][0]["cases"]))
        for case in report["cases"]:
            self.assertEqual(case["fields"]["keys_without_query"], "4", case["command_line"])
            self.assertEqual(case["fields"]["queries_without_key"], "0", case["command_line"])

    def test_a_key_without_a_query_is_called_so(self):
        line = f"{FLASH} --layout=TND --entry_point=u1 --lengths_q=5,0 --lengths_kv=6,4 --dtype=fp32"
        report, _ = self.sweep("workspace_not_zeroed", "--shrink=0",
                               lines=[line.replace("lengths_q=5,0", "lengths_q=0,5").replace("6,4", "4,0")])
        texts = [finding["text"] for finding in report["cases"][0]["findings"]]
        self.assertTrue(any("is not zero although the query attends to no key" in text for text in texts), texts)
        report, _ = self.sweep("public_accumulator_of_dk_of_no_loop", "--shrink=0", lines=[
            line + " --sparse_mode=3 --atten_mask=compressed"])
        texts = [finding["text"] for finding in report["cases"][0]["findings"]]
        self.assertTrue(any("is not zero although no query attends to the key" in text for text in texts), texts)

    def test_a_kernel_that_refuses_nothing_has_one_cause(self):
        report, _ = self.sweep("no_checks", "--shrink=0", "--only=--violate=FAG-C0")
        self.assertEqual(len(report["causes"]), 1)
        self.assertTrue(report["causes"][0]["refuses_nothing"])
        self.assertEqual(report["causes"][0]["fields"], [])

    def test_causes_print_their_number_of_cases(self):
        _, printed = self.sweep("all_zeros", "--shrink=0", "--budget=3s", "--only=!track=arguments")
        self.assertRegex(printed, r"causes: .*; they are based on \d+ of \d+ planned cases, \d+ judged numerically: a whole sweep may give more information")


    def test_a_reworded_report_has_the_same_digests_and_no_changes(self):
        """Programs read the members of a report, never its sentences."""
        report, _ = self.sweep("row_term_missing", "--shrink=0", lines=GROUPED)
        draw = random.Random(20261128)
        written, other = self.folder / "report.json", self.folder / "reworded.json"
        other.write_text(json.dumps(reworded(report, draw)))
        self.assertNotEqual(json.loads(other.read_text()), report)
        digests = [subprocess.run([sys.executable, DIGESTS, file], capture_output=True, text=True, check=True).stdout
                   for file in (written, other)]
        self.assertEqual(*digests)
        compared = subprocess.run([ASSAY, "report", other, written], capture_output=True, text=True)
        self.assertIn(f"{len(report['cases'])} cases in both, 0 only now, 0 only", compared.stdout)
        causes = compared.stdout[compared.stdout.index("causes: "):]
        for cause in report["causes"]:
            self.assertIn(cause["pattern"], causes)
            self.assertIn(" and ".join(cause["fields"]), causes)


def reworded(value, draw):
    """Replaces each sentence of a report by random words, most of them words of the program's sentences."""
    if isinstance(value, dict):
        return {name: " ".join(draw.choices(WORDS, k=8)) if name in SENTENCES and isinstance(member, str) else reworded(member, draw)
                for name, member in value.items()}
    return [reworded(member, draw) for member in value] if isinstance(value, list) else value


if __name__ == "__main__":
    unittest.main()
