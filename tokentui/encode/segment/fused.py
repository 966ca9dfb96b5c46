"""Viterbi as Hugging Face's Unigram has it: a run of unknown units is one part, scores are as its JSON reader
gives them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from tokentui.encode.segment.parts import Part, byte_parts
from tokentui.encode.segment.viterbi import UNKNOWN_PENALTY, Viterbi
from tokentui.encode.vocabulary import Vocabulary


class FusedViterbi(Viterbi):
    """The most probable segmentation; a run of unknown units is one part, or the tokens of its bytes where
    all are tokens.

    Of segmentations that are as good as equal rounding decides, so the scores are those that the library has.

    Args:
        vocabulary: One with scores.
        merges: Of no meaning here.
        fallback: The symbol of each byte-fallback token by its byte.
        unknown: The symbol of the unknown token: where a text spells it, that is an unknown unit too.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, fallback: Mapping[int, int], unknown: int | None
    ) -> None:
        super().__init__(vocabulary, merges)
        self._fallback = fallback
        self._unknown_symbol = unknown
        self._scores = list(map(as_read, self._scores))
        self._unknown = min(self._scores, default=0.0) - UNKNOWN_PENALTY

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts."""
        parts: list[Part] = []
        for part in super().segment(units, characters):
            known = part.symbol is not None and part.symbol != self._unknown_symbol
            if not known and parts and parts[-1].symbol is None:
                parts[-1] = parts[-1]._replace(end=part.end)
            else:
                parts.append(part if known else part._replace(symbol=None))
        return [
            made
            for part in parts
            for made in ([part] if part.symbol is not None else self._of_run(part, units))
        ]

    def _of_run(self, part: Part, units: Sequence[bytes]) -> list[Part]:
        known = self._table.get(b"".join(units[part.start : part.end]), -1)
        return [part._replace(symbol=known)] if known >= 0 else byte_parts(part, units, self._fallback)


@functools.lru_cache(maxsize=1 << 17)  # each step of an opened file asks for all of them
def as_read(score: float) -> float:
    """A number as Rust's serde_json reads it from a file: its digits as a whole number, rounded, and then
    divided.

    That is not always the nearest number of double precision. Source: serde_json 1.0, `f64_from_parts`.
    """
    digits, _, exponent = repr(score).partition("e")
    whole, _, part = digits.lstrip("-").partition(".")
    if exponent or len(whole) + len(part) > _MOST_DIGITS:
        return score
    value = float(int(whole + part)) / 10.0 ** len(part)
    return -value if score < 0 else value


_MOST_DIGITS = 19
