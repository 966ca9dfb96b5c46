"""The line of `tokentui --version`, which is answered before the command line is imported."""

from __future__ import annotations

import sys

import tokentui


def line(engine: str) -> str:
    """Return the versions of tokentui and Python, and the engine."""
    # importing the module `platform` would take longer than everything else here
    name = "CPython" if sys.implementation.name == "cpython" else sys.implementation.name
    return f"tokentui {tokentui.__version__}, {name} {sys.version.split()[0]}, engine: {engine}"
