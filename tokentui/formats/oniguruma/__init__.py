"""Patterns of Oniguruma, which Hugging Face's files hold, as patterns of the `regex` library that match the
same.
"""

from __future__ import annotations

import functools

from tokentui.formats.oniguruma.classes import Untranslated
from tokentui.formats.oniguruma.reading import read
from tokentui.formats.oniguruma.tree import written
from tokentui.text.split import SPLITS

END = r"(?![\s\S])"
"""The end of a text."""


@functools.lru_cache(maxsize=64)
def translated(pattern: str) -> str:
    """A pattern of Oniguruma's as one of the `regex` library.

    Raises:
        Untranslated: It holds what is not translated, or is none.
    """
    return written(read(pattern))


def pattern_of(split: str) -> str:
    """A split's pattern in Oniguruma's syntax: a counted repeat cannot be possessive there, and `$` is the
    end of a line.
    """
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    pattern = SPLITS[split].pattern.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++" + END)
    return pattern.replace("(?s).+", r"[\s\S]+")


__all__ = ["END", "Untranslated", "pattern_of", "translated"]
