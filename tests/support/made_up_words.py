"""Texts of made-up words, written by rule: many words that differ, without a large file."""

from __future__ import annotations

import functools
from itertools import product


@functools.cache
def made_up(parts: tuple[str, ...], lines: int, *, numbered: bool = False) -> str:
    """Lines of twelve words.

    Args:
        parts: The syllables of each place in a word, separated by spaces.
        lines: How many lines.
        numbered: True to end every fifth word with the number of its line, so that more of them differ.
    """
    words = ["".join(one) for one in product(*(part.split() for part in parts))]
    return "\n".join(
        " ".join(
            words[(n * 7 + k * k) % len(words)] + (str(n) if numbered and k % 5 == 0 else "")
            for k in range(12)
        )
        for n in range(lines)
    )


def novel(lines: int) -> str:
    """A text with enough different words to take a while."""
    return made_up(("str un pre o mis", "ong der able ing tion ed"), lines, numbered=True)


def short_words(lines: int) -> str:
    """A text of 64 words, with more steps than most tests make."""
    return made_up(("st u p o", "on de a i", "g r ble ed"), lines)
