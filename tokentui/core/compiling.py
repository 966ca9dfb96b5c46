"""The compiler of kernels: decorators and their options.

Only kernel modules import this module, and `tokentui.core.jit.load` imports the kernel modules.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from tokentui.core import jit

numba: Any = importlib.import_module("numba")  # it has no types to check against
F = TypeVar("F", bound=Callable[..., Any])

types = numba.types
BYTES = types.Array(types.uint8, 1, "C")
NUMBERS = types.Array(types.int64, 1, "C")
HALVES = types.Array(types.uint64, 1, "C")
EVENTS = types.Array(types.int32, 1, "C")
GIVEN_BYTES = types.Array(types.uint8, 1, "C", readonly=True)
GIVEN_SHORTS = types.Array(types.uint16, 1, "C", readonly=True)
GIVEN_NUMBERS = types.Array(types.int64, 1, "C", readonly=True)
GIVEN_WINDOWS = types.Array(types.uint64, 1, "A", readonly=True, aligned=False)
"""Eight bytes at each place of a text."""

_OPTIONS = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
if hasattr(importlib.import_module("numba.core.options").DefaultOptions, "_nrt"):
    # Kernels make no arrays, so none needs counting of its users; with it each call of a helper counts all
    # that are passed, which made counting words a third slower.
    _OPTIONS["_nrt"] = False


def kernel(signature: Any) -> Callable[[F], F]:
    """Compile a function for one signature, or load what was compiled before. It runs without the
    interpreter's lock."""

    def compiled(function: F) -> F:
        folder = jit.folder()
        if folder is None:
            return cast(F, numba.njit(signature, **_OPTIONS)(function))
        # Numba looks for its folder when a function is decorated. Others who use it keep theirs.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return cast(F, numba.njit(signature, cache=True, **_OPTIONS)(function))
        finally:
            numba.config.CACHE_DIR = before

    return compiled


def helper(function: F) -> F:
    """A part of kernels, called by them."""
    return cast(F, numba.njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """A part of kernels, compiled into them where it is called: it does less than the passing of its arrays
    would."""
    return cast(F, numba.njit(forceinline=True, **_OPTIONS)(function))


# An odd number without a pattern, for multiplicative hashing (Knuth, The Art of Computer Programming, volume
# 3, section 6.4).
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@inlined
def hashed(key: Any, shift: Any) -> Any:
    """Return where in a table the search for a key of 64 bits begins; 64 less `shift` bits are left of the
    hash."""
    return np.int64(key * SPREAD >> shift)
