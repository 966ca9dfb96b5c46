"""What lets kernels cut a text before the steps of a file: stretches that these steps treat one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from tokentui.text.split import SPACE_MARK

Words: TypeAlias = "Callable[[list[str]], Iterable[Sequence[str]]]"
"""Returns the words of each of some stretches."""


class Stretching(NamedTuple):
    """How the steps of a file treat the stretches of a text.

    Attributes:
        split: The name of the stretches for the scanner. Empty if the steps only mark spaces: then the text
            is one word, and kernels cut it where no token has two characters side by side.
        words: Returns the words of each of some stretches. Without `split`, none is the start of a text.
        front: What the steps put in front of a text, as it would be typed.
        once: True if a text that begins with a space or ▁ gets nothing in front.
        each: True if a text after a special token is treated as one at the start.
        crossing: Matches in a name that stretches may cut; None for none.
    """

    split: str
    words: Words
    front: str = ""
    once: bool = False
    each: bool = True
    crossing: re.Pattern[str] | None = None

    @property
    def marks_spaces(self) -> bool:
        """True if each space becomes ▁."""
        return self.words is marked_words

    @property
    def opened(self) -> Callable[[bytes], bytes] | None:
        """A function that adds `front` to the first bytes of a text; None if there is nothing to add."""
        if not self.front:
            return None
        front, begun = self.front.encode(), (b" ", SPACE_MARK.encode()) if self.once else ()
        return lambda text: front + text if text and not text.startswith(begun) else text


def marked_words(stretches: list[str]) -> list[tuple[str]]:
    """Return stretches as words of their own, with ▁ for each space."""
    return [(stretch.replace(" ", SPACE_MARK),) for stretch in stretches]


def plain_words(stretches: list[str]) -> list[tuple[str]]:
    """Return stretches as words of their own."""
    return [(stretch,) for stretch in stretches]
