"""Results about a text as frozen values: its segmentations, why it is not one token, the text of a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from tokentui.core.records import dataclass


class EncodedToken(NamedTuple):
    """A token of a text.

    Attributes:
        id: Its id; None for a token without an id.
        text: The token as readable text, marks included; specials and the unknown token by name.
        piece: Its exact bytes, marks included; None for the unknown token, the name's bytes for specials and
            `<0x41>`.
        start: The index in the text as typed of its first character.
        end: The index after its last character.
        word: The index of its pre-token, -1 for a special token.
    """

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    word: int


@dataclass(frozen=True, slots=True)
class WordSegmentations:
    """The segmentations of a word or text into tokens of the vocabulary.

    Attributes:
        word: The word, or the text.
        count: The number of all segmentations.
        ways: The first segmentations, each with its natural log probability or None. The most probable ones
            come first; without probabilities, those with the fewest tokens.
        chosen: The segmentation that the encoder chooses; empty for a word that the recipe refuses.
        how: A phrase on how the encoder chooses.
        shares: The probability of each of `ways` among all segmentations; empty without probabilities.
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
        reason: The name of the reason in `tokentui.encode.why_not.REASONS`; `one-token` for a text that is
            one token.
        sentence: The reason with its proof, in one or two sentences.
        facts: The values of the proof by name: texts, bytes, ids, steps, counts and places.
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
        text: A text whose tokens include it; None if no tried text has it.
        reason: The name of the reason why no text becomes it; empty if one does.
        sentence: The reason as a sentence.
        facts: The values of the proof by name.
    """

    id: int
    piece: bytes
    text: str | None
    reason: str = ""
    sentence: str = ""
    facts: Mapping[str, object] = field(default_factory=dict, hash=False)
