"""Serves an implementation to `assay ... --implementation command:...`."""

import argparse
import sys

from assay.serving import answers_apart, load, one_line, serve


def words_of(words: list[str]) -> argparse.Namespace:
    """Parses the command line; an error ends the process with status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m assay",
        usage="%(prog)s serve FILE:NAME | MODULE:NAME [--device DEVICE]",
        description=__doc__,
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=["serve"], metavar="serve")
    parser.add_argument("place", metavar="FILE:NAME | MODULE:NAME")
    parser.add_argument("--device", help="device of an adapter: cuda, npu ... [ASSAY_DEVICE, else cpu]")
    parsed = parser.parse_args(words)
    if ":" not in parsed.place:
        parser.error(f"'{parsed.place}' is not FILE:NAME or MODULE:NAME")
    return parsed


def main(words: list[str]) -> int:
    parsed = words_of(words)
    answers = answers_apart()  # a file may print when it is loaded
    try:
        implementation = load(parsed.place)
        if parsed.device is not None:
            implementation = implementation.on(parsed.device)
        implementation = implementation.ready()
    except Exception as failure:  # the file may raise anything while it is loaded
        text = f"{type(failure).__name__}: {one_line(str(failure))}"
        print(f"python -m assay serve: {parsed.place}: {text}", file=sys.stderr)
        return 2
    serve(implementation, answers=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
