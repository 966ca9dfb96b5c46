"""Patterns of Oniguruma, which Hugging Face's files hold, as patterns of the `regex` library that match the same."""

from __future__ import annotations

import functools

from tokentui.formats.oniguruma.nodes import Untranslated
from tokentui.formats.oniguruma.reading import read
from tokentui.formats.oniguruma.writing import written


@functools.lru_cache(maxsize=64)
def translated(pattern: str) -> str:
    """A pattern of Oniguruma's as one of the `regex` library.

    Raises:
        Untranslated: It holds what is not translated, or is none.
    """
    return written(read(pattern))


__all__ = ["Untranslated", "translated"]
