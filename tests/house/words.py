"""Finds words that make a reader stop (words.txt) in our own text. Usage: words.py [--root FOLDER] [path ...]

Prints every line that has one, with what to write instead, and fails if there is one.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Files in which the forbidden words are allowed: quotations, generated text, records of outputs, and the inputs of
# fuzzing.
KEPT = re.compile(
    r"\.(json|h5|bin|png|svg|lock)$|as_before/.*\.txt$|/locked/|^docs/commands/|^tests/house/words|^tests/optimized/(plans|refusals)"
    r"|/corpus/|^tools/dashboard/page\.js$"
)
# Finds these words at the start of a comment, a docstring, a paragraph or a sentence.
OPENING = re.compile(r"(?:(?://+<?|#|\*|\"\"\"|^) ?|[.:] )(?:Of|What|Whether) [a-z`][^?]*$")
THERE = re.compile(r"\b[Tt]here (is|are|was) no\b")


def rules():
    """The pattern of each rule, what to write instead, and an example that breaks it."""
    found = []
    for line in (HERE / "words.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, instead, example = (part.strip() for part in line.split("->"))
            found.append((re.compile(rf"\b(?:{pattern})\b"), instead, example))
    found.append((OPENING, "a sentence that opens with its subject", "// What the kernel returns."))
    return found


def tracked(root):
    listed = subprocess.run(["git", "-C", root, "ls-files"], check=False, capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split()
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def breaches(root, paths):
    all_rules = rules()
    for path in paths:
        if KEPT.search(path):
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            plain = THERE.sub("", line)
            for pattern, instead, _ in all_rules:
                if found := pattern.search(plain):
                    yield f"{path}:{number}: '{found[0].strip()}': write {instead}: {line.strip()[:120]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("paths", nargs="*", help="start of a path below the root (default: all)")
    options = parser.parse_args()
    paths = [path for path in tracked(options.root) if path.startswith(tuple(options.paths) or "")]
    found = list(breaches(options.root, paths))
    for line in found:
        print(line)
    print(f"{len(found)} lines have a word of tests/house/words.txt, in {len(paths)} files")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
