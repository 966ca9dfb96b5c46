"""`python -m tokentui`, and the entry point of the program."""

from __future__ import annotations

import gc
import os
import sys

from tokentui.core.children import leave_current_folder

GARBAGE = 100_000
"""After how many objects more the collector looks around: what a command makes lives until its end, or is
freed at once."""


def main() -> int:
    """Run the program on the words of the command line. Returns the exit code."""
    from tokentui.core.runtime import interrupts_end

    gc.set_threshold(GARBAGE)
    # NumPy would start threads for matrices, of which there are none here
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with interrupts_end():
        from tokentui.cli.main import run
    code = run(sys.argv[1:])
    gc.freeze()  # the end of the interpreter would look through all that was made once more, object by object
    return code


if __name__ == "__main__":
    leave_current_folder()
    sys.exit(main())
