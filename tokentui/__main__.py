"""`python -m tokentui`, and the entry point of the program."""

from __future__ import annotations

import sys

from tokentui.cli.program import run


def main() -> int:
    """Run the program on the words of the command line. Returns the exit code."""
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
