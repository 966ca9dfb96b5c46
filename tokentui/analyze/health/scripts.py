"""What tokens are written in: the script of their letters, or what they are where they have none."""

from __future__ import annotations

import functools
from typing import Any

import regex

SCRIPTS = (
    "Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Han", "Hiragana", "Katakana", "Hangul", "Devanagari", "Bengali",
    "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Khmer", "Myanmar",
    "Tibetan", "Georgian", "Armenian", "Ethiopic", "Mongolian", "Cherokee", "Syriac", "Thaana", "Tifinagh", "Javanese",
    "Balinese", "Bopomofo",
)
"""The scripts that are told apart; all others are `other letters`."""
PARTS, SEVERAL = "parts of characters", "several scripts"
_SPACES = " ▁\t\n\r\v\f\xa0\u3000"


def written_in(piece: bytes) -> str:
    """What a token without its mark is written in."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return PARTS
    bare = text.strip(_SPACES)
    if not bare:
        return "spaces"
    if bare.isascii():
        return "Latin" if bare.isalpha() or any(map(str.isalpha, bare)) else "digits" if any(map(str.isdigit, bare)) else "signs"
    found = {str(match.lastgroup) for match in _letters().finditer(bare)}
    if {"Han", "Hiragana"} <= found or {"Han", "Katakana"} <= found or {"Hiragana", "Katakana"} <= found:
        found = found - {"Han", "Hiragana", "Katakana"} | {"Japanese"}
    if found:
        return "other letters" if found == {"other"} else found.pop() if len(found) == 1 else SEVERAL
    return "digits" if any(map(str.isdigit, bare)) else "emoji" if _EMOJI.search(bare) else "signs"


_EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}")


@functools.cache
def _letters() -> Any:
    named = "|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS)
    return regex.compile(rf"(?=[\p{{L}}\p{{M}}])(?:{named}|(?P<other>\p{{L}}))")
