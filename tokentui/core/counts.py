"""Counts and sizes as a user writes them: `32000`, `32,000`, `32_000`, `32k` and `1.5M`."""

from __future__ import annotations

import re

COUNT = r"(?:\d{1,3}(?:,\d{3})+|\d{1,15}|\d{1,12}(?:\.\d{1,6})?[kKmM])"
"""A regular expression for a count without underscores, for ASCII digits (`re.ASCII`)."""

_COUNT = re.compile(COUNT, re.ASCII)
_TIMES = {"k": 10**3, "m": 10**6}


def read_count(text: str) -> int | None:
    """Return the whole number that a text spells; None if it spells none.

    >>> read_count("32k"), read_count("1.5M"), read_count("32,000"), read_count("1.5"), read_count("2.0001k")
    (32000, 1500000, 32000, None, None)
    """
    text = text.strip().replace("_", "")
    if not _COUNT.fullmatch(text):
        return None
    number, times = text.replace(",", ""), _TIMES.get(text[-1].lower(), 1)
    whole, _, fraction = number.rstrip("kKmM").partition(".")
    scaled = int(whole + fraction) * times
    return None if scaled % 10 ** len(fraction) else scaled // 10 ** len(fraction)
