"""Incremental encoding of a typed text: each key encodes only the words around the change again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.ways import UNKNOWN
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.patterns import TakesTooLong
from tokentui.text.pretokenize import PreToken, Pretokenizer


class Row(Protocol):
    """A token of the text: `start` and `end` are characters, `word` is the number of its pre-token."""

    @property
    def id(self) -> int | None: ...
    @property
    def text(self) -> str: ...
    @property
    def piece(self) -> bytes | None: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def word(self) -> int: ...


R = TypeVar("R", bound=Row)
Word = tuple[PreToken, int]
"""A pre-token, and by how many characters it stands further on than it says."""


class Typed(Generic[R]):
    """The tokens of a text that changes, by a vocabulary that grows. They are those of `encode`.

    Args:
        make: Makes a token of its id, text, piece, start, end and the number of its word.
    """

    def __init__(self, make: Callable[[int | None, str, bytes | None, int, int, int], R]) -> None:
        self._make = make
        self._encoder: WordEncoder | None = None
        self._text = ""
        self._words: list[Word] = []
        self._rows: tuple[R, ...] = ()
        self.too_slow: tuple[str, TakesTooLong] | None = None
        """A text over which a pattern takes too long, so that it is not tried at every step."""

    def encode(self, vocabulary: Vocabulary, merges: int, text: str) -> tuple[R, ...]:
        """Encode a text.

        Args:
            vocabulary: The vocabulary of a trainer, perhaps still growing.
            merges: How many of its merges count.
            text: The text.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`; it names the unit and
                its place.
        """
        encoder = self._encoder
        if encoder is None or encoder.vocabulary is not vocabulary:
            encoder, self._text, self._words, self._rows = WordEncoder(vocabulary, merges), "", [], ()
        elif encoder.merges != merges:
            encoder = encoder.after(merges)
            self._rows = ()
        self._encoder = None  # until all is done: an error leaves nothing to go on with
        if text != self._text:
            self._retype(encoder, text)
        if not self._rows:
            self._rows = self._encoded(encoder, self._words, 0)
        self._encoder = encoder
        return self._rows

    def _retype(self, encoder: WordEncoder, text: str) -> None:
        """Take another text: find its words, and the tokens where those of the old text are known."""
        start, old_end, new_end = _changed(encoder.pretokenizer, self._text, text)
        first, last = self._number_at(start), self._number_at(old_end)
        found = [(pretoken, start) for pretoken in encoder.pretokenizer.pretokens(text[start:new_end])]
        by, more = new_end - old_end, first + len(found) - last
        if self._rows:
            rows = self._rows
            left, right = bisect_left(rows, first, key=_word), bisect_left(rows, last, key=_word)
            after: Iterable[R] = rows[right:]
            if by or more:
                make = self._make
                after = [make(r.id, r.text, r.piece, r.start + by, r.end + by, r.word + more) for r in after]
            self._rows = (*rows[:left], *self._encoded(encoder, found, first), *after)
        rest = self._words[last:]
        self._words[first:] = found
        self._words += [(pretoken, moved + by) for pretoken, moved in rest] if by else rest
        self._text = text

    def _number_at(self, place: int) -> int:
        """The number of words before a place that is inside no word."""
        return bisect_left(self._words, place, key=_start)

    def _encoded(self, encoder: WordEncoder, words: Iterable[Word], number: int) -> tuple[R, ...]:
        """The tokens of words, of which the first has a number."""
        make, refuses = self._make, UNKNOWN.of(encoder.vocabulary.recipe.unknown).refused
        rows: list[R] = []
        for word, (pretoken, by) in enumerate(words, number):
            spans = pretoken.unit_spans
            for token in encoder.word(pretoken.text):
                if refuses and token.unknown:
                    raise encoder.refusal(pretoken.moved(by), token)
                start, end = spans[token.start][0] + by, spans[token.end - 1][1] + by
                rows.append(make(token.id, token.text, token.piece, start, end, word))
        return tuple(rows)


def _start(word: Word) -> int:
    return word[0].start + word[1]


def _word(row: Row) -> int:
    return row.word


def _changed(pretokenizer: Pretokenizer, old: str, new: str) -> tuple[int, int, int]:
    """The range to encode again, as (start in both texts, end in the old one, end in the new one).

    No word crosses either end. The characters before and after a place decide if it is safe. A place with the
    same two characters in both texts is therefore safe in both.
    """
    if not pretokenizer.in_parts:
        return 0, len(old), len(new)
    same = _alike(old, new)
    room = min(len(old), len(new)) - same
    tail = _alike(old[: -room - 1 : -1], new[: -room - 1 : -1])
    start, step = 0, 32
    while not start and step < 2 * same:
        cut = pretokenizer.safe_cut(new, max(1, same - step))
        while cut < same:
            start = cut
            cut = pretokenizer.safe_cut(new, cut + 1)
        step *= 2
    end = pretokenizer.safe_cut(new, len(new) - tail + 1) if tail else len(new)
    return start, end + len(old) - len(new), end


def _alike(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
