"""`python -m tokentui`, and the entry point of the program."""

from __future__ import annotations

import gc
import os
import sys

GARBAGE = 100_000
"""After how many objects more the collector looks around: what a command makes lives until its end, or is
freed at once."""

_ASKED = "TOKENTUI_LIMITS", "_TOKENTUI_COMPLETE", "_TOKENTUI_TEST_KERNELS"
"""Environment variables that the answer to --version depends on, or whose errors come first."""


def main() -> int:
    """Run the program on the words of the command line. Returns the exit code."""
    if sys.argv[1:] == ["--version"] and _wrote_version():
        return 0
    from tokentui.core.runtime import interrupts_end

    gc.set_threshold(GARBAGE)
    # NumPy would start threads for matrices, of which there are none here
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with interrupts_end():
        from tokentui.cli.main import run
    code = run(sys.argv[1:])
    gc.freeze()  # the end of the interpreter would look through all that was made once more, object by object
    return code


def _wrote_version() -> bool:
    """Write the answer to --version, without the imports of the command line. Returns False to leave it to
    them: the environment says more, or standard output takes nothing."""
    if any(map(os.environ.get, _ASKED)):
        return False
    from tokentui.cli.version import line
    from tokentui.core.library import engine_at_once

    try:
        print(line(engine_at_once()), flush=True)  # noqa: T201
    except (OSError, ValueError):  # the program reports it
        return False
    return sys.stdout is not None


if __name__ == "__main__":
    from tokentui.core.children import leave_current_folder

    leave_current_folder()
    sys.exit(main())
