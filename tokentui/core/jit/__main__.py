"""Compile the kernels: `python -m tokentui.core.jit`. An explorer starts it as a child, so that no screen
waits."""

import sys

from tokentui.core.jit import load

if __name__ == "__main__":
    sys.exit(0 if load() else 1)
