"""Every rule of words.txt can fail, and plain text passes: python3 words_test.py"""

import pathlib
import tempfile
import unittest

import words


class Words(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "page.md").write_text(text + "\n")
            return list(words.breaches(root, ["page.md"]))

    def test_each_rule_fails_on_its_example(self):
        for pattern, _, example in words.rules():
            with self.subTest(pattern.pattern):
                self.assertEqual(len(self.found(example)), 1)

    def test_plain_text_passes(self):
        for text in ("There is no such file.", "The row after this one is expected.", "What does the judge compare?", "it is no longer there"):
            with self.subTest(text):
                self.assertEqual(self.found(text), [])


if __name__ == "__main__":
    unittest.main()
