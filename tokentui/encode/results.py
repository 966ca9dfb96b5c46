"""Frozen values about a text: the ways to write it, why it is not one token, the text of a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from tokentui.core.records import dataclass


@dataclass(frozen=True, slots=True)
class WordSegmentations:
    """The ways to write a word, or a text, in the tokens of a vocabulary.

    Attributes:
        word: The word, or the text.
        count: The number of all segmentations into tokens of the vocabulary.
        ways: The first of them, the fewest tokens first, each with its natural log probability where there is
            a model of that; then the most probable first.
        chosen: The one that the encoder takes; empty for a word that the recipe refuses.
        how: The encoder's way of choosing, in words.
        shares: Of a model with probabilities the share of each of `ways` in the probability of all; those of
            all ways sum to 1.
    """

    word: str
    count: int
    ways: tuple[tuple[tuple[bytes, ...], float | None], ...]
    chosen: tuple[bytes, ...]
    how: str
    shares: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The reason why a text is not one token.

    Attributes:
        reason: The name of the reason, a record of `tokentui.encode.why_not.REASONS`; `one-token` for a text
            that is one.
        sentence: The reason with its proof, one sentence or two.
        facts: The values of the proof by their names: texts, bytes, ids, steps, counts and places.
    """

    reason: str
    sentence: str
    facts: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Reachability:
    """A token, and whether a text becomes it.

    Attributes:
        id: Its id.
        piece: Its exact bytes, marks included.
        text: A text among whose tokens it is; None where no text that was tried has it.
        reason: The name of the reason where no text becomes it; empty where one does.
        sentence: The same in words.
        facts: The values of the proof by their names.
    """

    id: int
    piece: bytes
    text: str | None
    reason: str = ""
    sentence: str = ""
    facts: Mapping[str, object] = field(default_factory=dict, hash=False)
