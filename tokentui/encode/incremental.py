"""Encode a text while it is typed: each change encodes only the words around it."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from operator import attrgetter

from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.pretokenize import PreToken


class Typed:
    """The tokens of a changing text by a growing vocabulary, equal to those of `WordEncoder.encode`."""

    def __init__(self) -> None:
        self._encoder: WordEncoder | None = None
        self._text = ""
        self._words: list[PreToken] = []
        self._starts: list[int] = []
        """The start of each word in the text. The places in the `PreToken`s are relative to the part that
        they were cut from."""
        self._rows: tuple[EncodedToken, ...] = ()

    def encode(self, vocabulary: Vocabulary, merges: int, text: str) -> tuple[EncodedToken, ...]:
        """Encode a text, and keep it with its tokens for the next call.

        Args:
            vocabulary: The vocabulary of a trainer. It may grow. Another one than in the last call starts
                again with an empty text.
            merges: How many of its merges count.
            text: The text.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`. The message has the
                unit and its place.
        """
        encoder = self._encoder
        if encoder is None or encoder.vocabulary is not vocabulary:
            encoder = WordEncoder(vocabulary, merges)
            self._text, self._words, self._starts, self._rows = "", [], [], ()
        elif encoder.merges != merges:
            encoder = encoder.at_merges(merges)
            self._rows = ()
        self._encoder = None  # until all is done: an error leaves nothing to go on with
        if text != self._text:
            self._retype(encoder, text)
        if not self._rows:
            self._rows = tuple(encoder.tokens_of(self._words, 0, self._starts))
        self._encoder = encoder
        return self._rows

    def _retype(self, encoder: WordEncoder, text: str) -> None:
        """Replace the text: cut only the changed part into words again, and encode only these if the other
        tokens are known."""
        old, starts, pretokenizer = self._text, self._starts, encoder.pretokenizer
        # The part to cut again, from `start` to `end` in the new text: no word crosses its ends. The two
        # characters around a place decide whether it is safe. So a place with the same two in both texts is
        # safe in both.
        start, end, by = 0, len(text), len(text) - len(old)
        if pretokenizer.in_parts:
            same = _common_prefix(old, text)
            room = min(len(old), len(text)) - same
            tail = _common_prefix(old[: -room - 1 : -1], text[: -room - 1 : -1])
            step = 32
            while not start and step < 2 * same:
                for cut in itertools.takewhile(same.__gt__, pretokenizer.cuts(text, max(1, same - step))):
                    start = cut
                step *= 2
            if tail:
                end = pretokenizer.safe_cut(text, len(text) - tail + 1)
        first, last = (bisect_left(starts, place) for place in (start, end - by))
        fresh = pretokenizer.analyze(text[start:end]).pretokens
        places = [start + pretoken.start for pretoken in fresh]
        more = first + len(fresh) - last
        if rows := self._rows:
            word = attrgetter("word")
            after = rows[bisect_left(rows, last, key=word) :]
            if by or more:
                after = tuple([
                    EncodedToken(token_id, token, piece, first_at + by, end_at + by, at_word + more)
                    for token_id, token, piece, first_at, end_at, at_word in after
                ])
            self._rows = (
                *rows[: bisect_left(rows, first, key=word)], *encoder.tokens_of(fresh, first, places), *after
            )
        self._words[first:last] = fresh
        starts[first:] = places + ([place + by for place in starts[last:]] if by else starts[last:])
        self._text = text


def _common_prefix(left: str, right: str) -> int:
    """Return the length of the common prefix of two texts, in characters."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
