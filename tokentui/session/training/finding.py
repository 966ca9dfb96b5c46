"""An index of the tokens and the words of a step, in which a text is found at each letter that is typed.

All texts stand in one string of bytes, in lower case, a separator before each. `bytes.find` goes through the
200,000 tokens of a file in some milliseconds.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokentui.core.jobs import check
from tokentui.session.training.step_context import StepContext

_SEPARATOR = b"\xff"
"""A byte that no text in UTF-8 has."""
_BETWEEN_CHECKS = 10_000
_MARKS = " ▁#Ġ"
"""The signs in front of a token that nobody types."""


@dataclass(frozen=True, slots=True)
class FoundToken:
    """A token that was found.

    Attributes:
        id: Its id.
        piece: Its exact bytes.
        step: The step that makes it; 0 if it is there from the start, None if that is not known.
        uses: Its uses in the corpus at the step; None if they are not counted.
    """

    id: int
    piece: bytes
    step: int | None
    uses: int | None


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word of the corpus that was found, and its count."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Matches:
    """The tokens and the words that hold a text, the best first.

    Attributes:
        tokens: The tokens.
        words: The words.
    """

    tokens: tuple[FoundToken, ...] = ()
    words: tuple[FoundWord, ...] = ()


def _lowered(text: str) -> bytes:
    return text.lower().encode("utf-8", "surrogatepass")


class _Texts:
    """Texts in one string. The number of a text is its place in the sequence that they came from."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._starts = array("q")
        parts, at = [], 0
        for number, text in enumerate(texts):
            if number % _BETWEEN_CHECKS == 0:
                check()
            lowered = _lowered(text.lstrip(_MARKS) or text)
            at += 1
            self._starts.append(at)
            at += len(lowered)
            parts.append(lowered)
        self._joined = _SEPARATOR + _SEPARATOR.join(parts) + _SEPARATOR

    def find(self, text: str, most: int) -> list[int]:
        """Return the numbers of at most `most` texts that contain a text, ignoring case: first those that
        equal it, then those that begin with it, then the others, each group in ascending order."""
        wanted = _lowered(text.strip() or text)
        found: dict[int, None] = {}
        if wanted not in self._joined:
            return []
        for sought, skip in (
            (_SEPARATOR + wanted + _SEPARATOR, 1), (_SEPARATOR + wanted, 1), (wanted, 0),
        ):
            for number in self._matches(sought, skip):
                if len(found) >= most:
                    return [*found]
                found[number] = None
        return [*found]

    def _matches(self, sought: bytes, skip: int) -> Iterator[int]:
        """Yield the number of each text that holds `sought`, once, in order.

        `skip` is 1 if `sought` begins with the separator, so that the text after it counts.
        """
        joined, starts, at = self._joined, self._starts, -1
        while (at := joined.find(sought, at + 1)) >= 0:
            number = bisect_right(starts, at + skip) - 1
            yield number
            at = joined.index(_SEPARATOR, at + skip) - 1


class SearchIndex:
    """The tokens and the words of a step.

    Args:
        context: The step; of its trainer only the counted words are read.
        uses: The uses of each symbol at the step.
    """

    def __init__(self, context: StepContext, uses: Sequence[int]) -> None:
        tokenizer = context.tokenizer
        self._entries = list(tokenizer.entries())
        self._by_id = {entry.id: number for number, entry in enumerate(self._entries)}
        self._tokens = _Texts([entry.text for entry in self._entries])
        self._vocabulary, self._uses = tokenizer.vocabulary, uses
        words = context.training.trainer.words
        self._words, self._counts = words.words, words.counts
        order = sorted(range(len(self._words)), key=lambda number: -self._counts[number])
        self._order = order
        self._word_texts = _Texts([self._words[number] for number in order])

    def find(self, text: str, most: int) -> Matches:
        """Return the tokens and words that contain a text, at most `most` of each. `#484` and `484` also find
        the token with this id, which comes first. White space alone finds nothing, and a text that begins
        with `#` nothing but an id."""
        tokens: dict[int, None] = {}
        if (number := re.fullmatch(r"#?(\d{1,12})", text.strip(), re.ASCII)) is not None:
            place = self._by_id.get(int(number[1]))
            if place is not None:
                tokens[place] = None
        if text.strip() and not text.startswith("#"):
            tokens |= dict.fromkeys(self._tokens.find(text, most))
        words = self._word_texts.find(text, most) if text.strip() and not text.startswith("#") else []
        return Matches(
            tuple(map(self._token, [*tokens][:most])),
            tuple(
                FoundWord(self._words[self._order[number]], int(self._counts[self._order[number]]))
                for number in words[:most]
            ),
        )

    def _token(self, number: int) -> FoundToken:
        """Return an entry as a found token. Its step is None without a symbol, and its uses are None if they
        are not counted."""
        entry = self._entries[number]
        symbol = entry.symbol
        known = symbol is not None and symbol < len(self._uses)
        uses = int(self._uses[symbol]) if known and symbol is not None else None
        step = self._vocabulary.made_at(symbol) if symbol is not None else None
        return FoundToken(entry.id, entry.piece, step, uses)


class TextSearch:
    """The index of the last step that was searched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[object, int] | None = None
        self._index: SearchIndex | None = None

    def knows(self, context: StepContext) -> bool:
        """Return whether the index of this step is in memory."""
        return self._key == (context.training.trainer, context.step)

    def find(self, context: StepContext, uses: Sequence[int], text: str, most: int) -> Matches:
        """Find a text at a step, see `SearchIndex.find`. The index of the step is made once and kept.

        A second call waits for the index that the first one makes.
        """
        with self._lock:
            if self._index is None or not self.knows(context):
                self._index = SearchIndex(context, uses)
                self._key = context.training.trainer, context.step
            return self._index.find(text, most)
