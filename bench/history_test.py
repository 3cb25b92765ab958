"""Tests of bench/history. Run: python3 bench/history_test.py"""

import json
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).with_name("history")
RATE = {"benchmark": "judge", "problem": "small", "quantity": "cases", "unit": "1/s", "value": 100.0, "deviation": 1.0, "runs": 7}
TORCH = {
    "problem": "fp32 N2 S2048 D128 dense", "threads": 2, "unit": "GFLOP/s", "median": {"assay": 200.0, "torch": 160.0},
    "deviation": {"assay": 2.0, "torch": 1.0}, "best_of_torch": "torch", "times_faster": {"assay": 1.25},
}  # fmt: skip


class History(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "new" / "history.jsonl"

    def run_program(self, command: str, *lines: object) -> subprocess.CompletedProcess[str]:
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        return subprocess.run(
            [PROGRAM, command, "--history", self.file], input=text, capture_output=True, text=True, check=False
        )

    def test_a_lower_rate_is_worse_and_a_higher_rate_is_not(self) -> None:
        self.assertEqual(self.run_program("add", RATE).returncode, 0)
        self.assertEqual(self.run_program("add", RATE | {"value": 150.0}).returncode, 0)
        found = self.run_program("add", RATE | {"value": 100.0})  # the median of the earlier values is 125
        self.assertEqual(found.returncode, 1)
        self.assertIn("worse by 20 %: judge, small, cases: 100 1/s", found.stdout)
        self.assertEqual(len(self.file.read_text().splitlines()), 3)

    def test_a_longer_time_is_worse(self) -> None:
        time = RATE | {"quantity": "search", "unit": "s"}
        self.run_program("add", time)
        self.assertEqual(self.run_program("add", time | {"value": 80.0}).returncode, 0)
        self.assertEqual(self.run_program("add", time | {"value": 130.0}).returncode, 1)

    def test_a_loss_within_the_spread_is_not_reported(self) -> None:
        self.run_program("add", RATE)
        self.assertEqual(self.run_program("add", RATE | {"value": 85.0, "deviation": 6.0}).returncode, 0)
        self.assertEqual(self.run_program("add", RATE | {"value": 80.0, "deviation": 3.0}).returncode, 1)

    def test_a_share_of_a_pipe_is_neither_good_nor_bad(self) -> None:
        share = RATE | {"quantity": "l2_share", "unit": "%"}
        self.run_program("add", share)
        self.assertEqual(self.run_program("add", share | {"value": 10.0}).returncode, 0)

    def test_values_of_another_machine_are_not_compared(self) -> None:
        self.file.parent.mkdir()
        self.file.write_text(json.dumps({"machine": "another", "date": "2026-01-01", "commit": "1"} | RATE | {"value": 900.0}) + "\n")
        found = self.run_program("add", RATE)
        self.assertEqual(found.returncode, 0)
        self.assertIn("1 without an earlier value on this machine", found.stdout)

    def test_a_comparison_with_pytorch_gives_rates_and_ratios(self) -> None:
        self.run_program("add", TORCH)
        found = self.run_program("add", TORCH | {"times_faster": {"assay": 1.0}})
        self.assertIn("worse by 20 %: beside_torch, fp32 N2 S2048 D128 dense, 2 threads, assay to the best of PyTorch: 1 times", found.stdout)

    def test_a_line_that_is_not_a_figure_is_named_and_nothing_is_added(self) -> None:
        for line in ("judge, small", "{}", "[1]", json.dumps(RATE | {"value": "fast"}), '{"value": NaN}'):
            found = self.run_program("add", RATE, line)
            self.assertEqual(found.returncode, 1, line)
            self.assertIn("line 2 of the standard input is not a figure", found.stderr)
            self.assertFalse(self.file.exists())

    def test_the_page_marks_what_is_worse(self) -> None:
        self.run_program("add", RATE, RATE | {"problem": "<large>"})
        self.run_program("add", RATE | {"value": 50.0}, RATE | {"problem": "<large>"})
        page = self.run_program("draw").stdout
        self.assertEqual(page.count("(50 % worse)"), 1)
        self.assertEqual(page.count("<svg"), 2)
        self.assertIn("&lt;large&gt;", page)

    def test_a_missing_history_says_how_to_make_one(self) -> None:
        self.assertIn("'assay_bench | bench/history add' makes it", self.run_program("draw").stderr)


if __name__ == "__main__":
    unittest.main()
