"""What a tokenizer file may hold beside what `tokentui.limits` says, where the limits stand that a user may have reason to set.

All of it is far beyond the files that there are; what is beyond it is refused in a line.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokentui import limits
from tokentui.formats.checking import Place

LARGEST_ID = (1 << 31) - 1
"""The greatest id."""
MOST_WORK = 1 << 29
"""The squares of the lengths of all tokens together: what looking for the parts of each costs."""
LONGEST_RESULT = 1 << 10
"""Bytes that one normalisation rule may make."""
LARGEST_PATTERN = 1 << 16
"""Characters of a pattern."""


def check_tokens(lengths: Iterable[int], place: Place) -> None:
    """Look at how many tokens there are and how long they are.

    Raises:
        TokentuiError: It is beyond the limits.
    """
    tokens = work = 0
    most = limits.now().vocabulary
    for length in lengths:
        tokens += 1
        work += length * length
    if tokens > most:
        raise place.error(f"{tokens:,} tokens; the limit is {most:,}", limits.reading("vocabulary"))
    if work > MOST_WORK:
        raise place.error("the tokens are longer than those of any tokenizer", "mend the file or train it again")
