"""python -m assay serve FILE:NAME | MODULE:NAME - serves that implementation to `assay ... --implementation command:...`"""

import sys

from assay.serving import load, serve


def main(words: list[str]) -> int:
    if len(words) != 2 or words[0] != "serve" or ":" not in words[1]:
        print(__doc__, file=sys.stderr)
        return 2
    serve(load(words[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
