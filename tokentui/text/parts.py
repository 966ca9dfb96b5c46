"""A named part of a corpus, by its counted pre-tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokentui.text.count import Words


class Part(NamedTuple):
    """One of the corpora of a training.

    Attributes:
        name: Its name, such as that of a language; empty for the only one of a corpus without names.
        words: Its counted pre-tokens.
        development: Those of a text that only judges the training; None where it has none.
        times: How often each of its words counts: its counts have it already.
    """

    name: str
    words: Words
    development: Words | None = None
    times: int = 1

    @property
    def said(self) -> str:
        """The part in a word: `hi`, or `hi*7` where its words count seven times."""
        return self.name if self.times == 1 else f"{self.name}*{self.times}"
