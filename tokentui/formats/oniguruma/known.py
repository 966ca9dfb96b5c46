"""The patterns of the splits in Oniguruma's syntax: there a counted repeat cannot be possessive, and `$` is the end of a line."""

from __future__ import annotations

from tokentui.text.split import SPLITS

END = r"(?![\s\S])"
"""The end of a text."""


def pattern_of(split: str) -> str:
    """A split's pattern in Oniguruma's syntax."""
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    return SPLITS[split].pattern.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++" + END).replace("(?s).+", r"[\s\S]+")
