"""Draws comments, sentences of the handbook and messages, for somebody to read who has not seen them.

Usage: sample_text.py [--seed N] [--count N] {comments,sentences,messages} [path ...]
Prints a numbered list with the place of each text. A text counts as a stumble if it must be read twice, or if it uses a word
in a sense that a dictionary of computing does not have. Wanted: at most 5 of 100 of each kind.
"""

import argparse
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).parent.parent.parent
CODE = re.compile(r"\.(cpp|hpp|h|c|py|ts)$")
COMMENT = re.compile(r"(?:^[ \t]*(?:///?<?|#(?!include|pragma|if|endif|define|else|!)) ?[^\n]*\n)+", re.M)
LITERAL = re.compile(r'(?:f?"(?:\\.|[^"\\\n])*"\s*)+')
SENTENCE = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`])")


def tracked(*folders):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", *folders], check=True, capture_output=True, text=True)
    return listed.stdout.split()


def comments():
    for path in tracked():
        if CODE.search(path):
            text = (ROOT / path).read_text()
            for found in COMMENT.finditer(text):
                plain = " ".join(re.sub(r"^\s*(///?<?|#) ?", "", line).strip() for line in found[0].splitlines())
                if len(plain.split()) >= 4:
                    yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}", plain


def sentences():
    for path in tracked("docs", "README.md", "CONTRIBUTING.md"):
        if not path.endswith(".md") or path.startswith("docs/commands/"):
            continue
        text = re.sub(r"```.*?```", "", (ROOT / path).read_text(), flags=re.S)
        for block in text.split("\n\n"):
            if block.lstrip().startswith(("#", "|", "!")):
                continue
            for item in re.split(r"\n(?=[-*] |\d+\. )", block):
                for sentence in SENTENCE.split(" ".join(item.split())):
                    if len(sentence.split()) >= 4:
                        yield path, sentence


def messages():
    for path in tracked("spec", "reference", "engine", "optimized", "conformance", "fixtures", "mutants", "tools/assay", "tools/python/src"):
        if not re.search(r"\.(cpp|hpp|py)$", path):
            continue
        text = (ROOT / path).read_text()
        code = re.sub(r"^\s*(//|#)[^\n]*$", "", text, flags=re.M)
        code = re.sub(r'"""(.*?)"""', "", code, flags=re.S)
        for found in LITERAL.finditer(code):
            plain = "".join(re.findall(r'f?"((?:\\.|[^"\\\n])*)"', found[0]))
            if len(re.findall(r"[a-z]{2,}", plain)) >= 4 and " " in plain:
                yield path, plain


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"comments": comments, "sentences": sentences, "messages": messages}
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("paths", nargs="*", help="start of a path below the root (default: all)")
    options = parser.parse_intermixed_args()
    every = sorted(text for text in kinds[options.kind]() if text[0].startswith(tuple(options.paths) or ""))
    drawn = every if options.count >= len(every) else random.Random(options.seed).sample(every, options.count)
    for number, (place, text) in enumerate(drawn, 1):
        print(f"{number}. {place}: {text}")
    print(f"{len(drawn)} of {len(every)} {options.kind}, seed {options.seed}")


if __name__ == "__main__":
    main()
