"""Limits on the contents of a tokenizer file; the limits that a user can set stand in `tokentui.core.limits`.

All of it is far beyond the files that there are; what is beyond it is refused in a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokentui.core import limits
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


_SHORT = 1 << 10
_MOST_GROWTH = 64
_MOST_STEPS = 1_000


def check_growth(before: int, after: int, place: Place) -> None:
    """Look at how many characters a step makes of a text. No step of any tokenizer comes near to the limit.

    Raises:
        TokentuiError: It is beyond the limit.
    """
    if after > max(_SHORT, _MOST_GROWTH * before):
        raise place.error(f"{before:,} characters become {after:,}: more than {_MOST_GROWTH} times as many", "mend the step")


def check_steps(value: Any, place: Place) -> None:
    """Look at how many steps stand in one another and one after the other.

    Raises:
        TokentuiError: They are beyond the limit.
    """
    steps, level = 0, [value] if type(value) in (dict, list) else []
    while level:
        steps += sum(type(one) is dict and "type" in one for one in level)
        if steps > _MOST_STEPS:
            raise place.error(f"more than {_MOST_STEPS:,} steps", "mend the file")
        level = [inner for one in level for inner in (one.values() if type(one) is dict else one) if type(inner) in (dict, list)]


def check_spread(pattern: str, place: Place) -> None:
    """Look at how large a pattern of the `regex` library is with all its counted repeats written out.

    Raises:
        TokentuiError: It is beyond the limit.
    """
    if limits.spread(pattern) > limits.MOST_SPREAD:
        raise place.error("the pattern repeats too many times", "write smaller counts")
