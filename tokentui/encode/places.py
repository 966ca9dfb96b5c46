"""The places of tokens from their ids alone, for long texts."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Mapping, Sequence
from typing import overload

from tokentui.core.errors import TokentuiError
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.vocabulary import byte_token

_MARK = "▁".encode()
_TRIED = "The street, a caf\u00e9\n in it: 12"
_CONTINUATION = bytes(range(0x80, 0xC0))


class PlacedTokens(Sequence[EncodedToken]):
    """The tokens of a text. Each is made when it is asked for.

    Args:
        ids: Their ids.
        starts: The index in the text of the first character of each.
        ends: The index after the last character of each.
        names: The readable text and the exact bytes by the id.
    """

    def __init__(
        self, ids: Sequence[int], starts: Sequence[int], ends: Sequence[int],
        names: Mapping[int, tuple[str, bytes]],
    ) -> None:
        self.ids, self.starts, self.ends, self._names = ids, starts, ends, names

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> EncodedToken: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[EncodedToken]: ...

    def __getitem__(self, at: int | slice) -> EncodedToken | Sequence[EncodedToken]:
        """Return a token. Its `word` is -1: pre-tokens are not known."""
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        text, piece = self._names[self.ids[at]]
        return EncodedToken(self.ids[at], text, piece, self.starts[at], self.ends[at], -1)


class _Bytes:
    """The bytes of the text that each token stands for, by id.

    Args:
        encoder: The encoder of the tokens.
    """

    def __init__(self, encoder: WordEncoder) -> None:
        self.names = encoder.names_by_id
        self.texts = {number: piece for number, (_, piece) in self.names.items()}
        named = {byte_token(value).encode(): bytes([value]) for value in range(256)}
        self.texts = {number: named.get(piece, piece) for number, piece in self.texts.items()}
        self.counts = {
            number: len(text.translate(None, _CONTINUATION)) for number, text in self.texts.items()
        }
        """The number of characters that begin in each."""
        self.inner = {number for number, text in self.texts.items() if text[:1] in _continuations}
        """The ids of tokens that begin inside a character."""


_continuations = frozenset(bytes([value]) for value in _CONTINUATION)


class Placer:
    """Places the tokens of texts by the bytes that their ids stand for. The first text takes some
    milliseconds for each 10,000 entries of the vocabulary.

    Args:
        encoder: The encoder of the tokens.
    """

    def __init__(self, encoder: WordEncoder) -> None:
        self._encoder = encoder
        self._bytes: _Bytes | None = None
        self._agrees: bool | None = None
        """True if the places of a short text are those of the encoder; None if that is not known yet."""

    def place(self, text: str, ids: Sequence[int]) -> PlacedTokens | None:
        """Return the tokens of a text with their places, those of `WordEncoder.encode`; None if their bytes
        one after the other are not the text, as where a normalization changes it, or if the encoder leaves
        characters between tokens.

        Args:
            text: The text.
            ids: Its ids.
        """
        if self._agrees is None:
            self._agrees = self._try()
        return self._placed(text, ids) if self._agrees else None

    def _try(self) -> bool:
        """Return whether the places agree with those of the encoder, by one text with many cases.

        True if the text cannot be encoded or placed, as nothing is known then.
        """
        try:
            rows = self._encoder.encode(_TRIED).rows
        except TokentuiError:
            return True  # it lacks a character: the bytes decide
        placed = self._placed(_TRIED, [row.id for row in rows if row.id is not None])
        return placed is None or [row[:5] for row in placed] == [row[:5] for row in rows]

    def _placed(self, text: str, ids: Sequence[int]) -> PlacedTokens | None:
        """Return the tokens with their places in a text, by the bytes of each id.

        None if the bytes of the ids do not spell the text, also with marks for its spaces.
        """
        known = self._bytes = self._bytes or _Bytes(self._encoder)
        try:
            whole = text.encode()
            joined = b"".join(map(known.texts.__getitem__, ids))
        except (KeyError, UnicodeEncodeError):
            return None
        before = 0
        if joined != whole:
            # A vocabulary may mark spaces, and add one before the text.
            marked = whole.replace(b" ", _MARK)
            if joined not in (marked, _MARK + marked):
                return None
            before = int(joined != marked)
        places = array("q", itertools.accumulate(map(known.counts.__getitem__, ids), initial=-before))
        starts, ends = places[:-1], places[1:]
        if before and starts:
            starts[0] = 0
        if not whole.isascii():
            for number, token_id in enumerate(ids):
                if token_id in known.inner:
                    starts[number] -= 1
        return PlacedTokens(ids, starts, ends, known.names)
