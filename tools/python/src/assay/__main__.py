"""python -m assay serve FILE:NAME | MODULE:NAME - serves that implementation to `assay ... --implementation command:...`"""

import sys

from assay.serving import load, one_line, serve


def main(words: list[str]) -> int:
    if len(words) != 2 or words[0] != "serve" or ":" not in words[1]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        implementation = load(words[1])
    except Exception as failure:  # whatever the file does when it is loaded
        print(f"python -m assay serve: {words[1]}: {type(failure).__name__}: {one_line(str(failure))}", file=sys.stderr)
        return 2
    serve(implementation)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
