"""Text to ids and nothing else: a word is looked up, not placed, and large texts go through kernels where
they are loaded."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tokentui.core import jit
from tokentui.core.jobs import tick
from tokentui.encode.decode import NO_ID
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.pipeline import Special
from tokentui.encode.segment.ways import UNKNOWN, Refused
from tokentui.text.count import chunks

if TYPE_CHECKING:
    from tokentui.encode.kernels.encode import Compiled

_CHECK_EVERY = 1024
KERNEL_CHARS = 4096
"""Shorter texts are encoded before the kernels have their tables."""


class IdEncoder:
    """Encodes texts to ids by one vocabulary at one number of merges.

    Args:
        encoder: What encodes words.
    """

    def __init__(self, encoder: WordEncoder) -> None:
        self._encoder = encoder
        self._refuses = UNKNOWN.of(encoder.vocabulary.recipe.unknown).refused
        self._compiled: Compiled | None = None

    def encode(
        self,
        text: str | bytes,
        *,
        special_tokens: bool = False,
        allow_special: bool = False,
        threads: int | None = None,
    ) -> array[int]:
        """The ids of a text, those of `encode`; `NO_ID` for a token that has none.

        Args:
            text: The text; bytes are taken as `encode` takes them.
            special_tokens, allow_special: As for `encode`.
            threads: How many threads the kernels use; by default as the text and the machine have it.

        Returns:
            32-bit numbers where that does for all, else 64-bit ones.

        Raises:
            TokentuiError, Cancelled: As `encode` does.
        """
        encoder = self._encoder
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        found = encoder.texts(text, allow_special)
        try:
            if found is not None:
                before, after = encoder.around if special_tokens else ((), ())
                ids = _packed(map(encoder.vocabulary.special_id, before))
                for part in found:
                    if isinstance(part, Special):
                        more = _packed([encoder.vocabulary.special_id(part.name)])
                    else:
                        more = self._ids(part, threads)
                    ids = _joined(ids, more)
                return _joined(ids, _packed(map(encoder.vocabulary.special_id, after)))
            spelled = encoder.spelled(text, allow_special)
            if spelled is not None:
                return _packed(self._numbers(spelled, encoder.around if special_tokens else ((), ())))
        except Refused:
            pass  # who encodes it with its places says where it stands
        encoding = encoder.encode(text, allow_special=allow_special, special_tokens=special_tokens)
        return _packed(NO_ID if number is None else number for number in encoding.ids)

    def _numbers(
        self, found: Iterable[Special | list[str]], around: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> Iterator[int]:
        special_id = self._encoder.vocabulary.special_id
        yield from map(special_id, around[0])
        for part in found:
            if isinstance(part, Special):
                yield special_id(part.name)
                continue
            for n, word in enumerate(part):
                if n % _CHECK_EVERY == 0:
                    tick(n, len(part))
                yield from self._word(word)
        yield from map(special_id, around[1])

    def _ids(self, text: str, threads: int | None) -> array[int]:
        if len(text) >= KERNEL_CHARS and jit.ready(len(text), "encode"):
            if self._compiled is None:
                from tokentui.encode.kernels.encode import Compiled  # not worth it for what is typed

                self._compiled = Compiled(self._encoder, self._word)
            if self._compiled.knows:
                return self._compiled.encode(text, threads)
        return _packed(number for word in self._words(text) for number in self._word(word))

    def _words(self, text: str) -> Iterator[str]:
        pretokenizer = self._encoder.pretokenizer
        done = 0
        for part, first in chunks([text], pretokenizer):
            tick(done, len(text))
            yield from pretokenizer.words(part, first=first)
            done += len(part)

    def _word(self, word: str) -> list[int]:
        """The ids of a word.

        Raises:
            Refused: One of its units is unknown and the recipe refuses it.
        """
        tokens = self._encoder.word(word)
        if self._refuses and any(token.unknown for token in tokens):
            raise Refused
        return [NO_ID if token.id is None else token.id for token in tokens]


def _packed(numbers: Iterable[int]) -> array[int]:
    kept = list(numbers)
    try:
        return array("i", kept)
    except OverflowError:
        return array("q", kept)


def _joined(ids: array[int], more: array[int]) -> array[int]:
    if ids.typecode != more.typecode:
        ids, more = array("q", ids), array("q", more)
    return ids + more
