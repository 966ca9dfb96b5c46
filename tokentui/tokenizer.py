"""A tokenizer: a vocabulary at one number of merges, ready to encode and decode."""

from __future__ import annotations

import functools
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tokentui.encode import Decoder, Encoding, IdEncoder, WordEncoder, WordExplanation, encode, explain, lost
from tokentui.encode.viterbi import Sampling
from tokentui.errors import TokentuiError
from tokentui.recipe import Recipe, nearest
from tokentui.vocabulary import Vocabulary, byte_token

RUN_KEYS = ("merges", "vocab_size", "min_count", "max_length", "first_id", "specials")
"""What a run of training may be asked for, in the order in which it is written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a vocabulary.

    Attributes:
        id: Its id.
        piece: The exact bytes, marks included; the name's bytes for specials and byte-fallback tokens.
        text: The same for people.
        kind: `special`, `unknown`, `byte` (byte fallback), `unit`, `merge`, `piece` of a model without
            merges, or `orphan` of a file: a token that no merge makes.
        score: The natural log probability of a unigram piece, None elsewhere.
    """

    id: int
    piece: bytes
    text: str
    kind: str
    score: float | None = None


class Tokenizer:
    """A vocabulary of which the first so many merges count. The vocabulary may grow on; this does not change.

    Args:
        vocabulary: The vocabulary, shared and not copied.
        merges: How many of its merges count; all that it has now where None.
        run: What training was asked for, by the names of `RUN_KEYS`; None values are left out.

    Raises:
        TokentuiError: More merges than there are, or a name in `run` that is none.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int | None = None, run: Mapping[str, object] | None = None
    ) -> None:
        have = len(vocabulary.merges)
        merges = have if merges is None else merges
        if not 0 <= merges <= have:
            raise TokentuiError(f"the vocabulary has {have} merges", f"merges={merges}", f"take 0 to {have}")
        asked = {key: value for key, value in (run or {}).items() if value is not None}
        for key in asked:
            if key not in RUN_KEYS:
                raise TokentuiError(f"no such key {key!r}", "run", nearest(key, RUN_KEYS))
        asked |= {"first_id": vocabulary.first_id, "specials": list(vocabulary.specials)}
        self.vocabulary = vocabulary
        self.merges = merges
        self.run: Mapping[str, object] = {key: asked[key] for key in RUN_KEYS if key in asked}

    @property
    def recipe(self) -> Recipe:
        """The recipe that it is run by."""
        return self.vocabulary.recipe

    @property
    def notes(self) -> tuple[str, ...]:
        """Of a tokenizer that was read from another tool's file: what was assumed and what is in doubt, a sentence each."""
        return self.vocabulary.notes

    @property
    def vocab_size(self) -> int:
        """The number of ids, specials counted."""
        return self.vocabulary.size(self.merges)

    def encode(
        self,
        text: str | bytes,
        *,
        special_tokens: bool = False,
        allow_special: bool = False,
        progress: Callable[[int, int], object] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> Encoding:
        """Encode a text, see `tokentui.encode.encode`."""
        return encode(
            self.vocabulary, self.merges, text, cache=self._encoder, allow_special=allow_special,
            special_tokens=special_tokens, progress=progress, cancel=cancel,
        )

    def encode_ids(
        self,
        text: str | bytes,
        *,
        special_tokens: bool = False,
        allow_special: bool = False,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> array[int]:
        """The ids of a text alone, much faster than `encode`; see `tokentui.encode.IdEncoder.encode`."""
        return self._id_encoder.encode(
            text, special_tokens=special_tokens, allow_special=allow_special, threads=threads, progress=progress, cancel=cancel,
        )

    def sample(self, text: str | bytes, *, temperature: float = 1.0, seed: int | None = None) -> Encoding:
        """Encode a text by segmentations drawn at random, of a unigram model.

        Args:
            text: The text.
            temperature: 1 draws by the model; less keeps nearer to the best segmentation, more goes further from it.
            seed: The same seed gives the same tokens.

        Raises:
            TokentuiError: The vocabulary has no probabilities, or the temperature is not above 0.
        """
        drawing = WordEncoder(self.vocabulary, self.merges, segmenter=Sampling(self.vocabulary, temperature, seed))
        return encode(self.vocabulary, self.merges, text, cache=drawing)

    def decode(self, ids: Iterable[int | None]) -> str:
        """The text of ids; bytes that are not UTF-8 become U+FFFD.

        Raises:
            TokentuiError: An id does not exist; it names the id and the valid range.
        """
        return self._decoder.to_text(ids)

    def decode_bytes(self, ids: Iterable[int | None]) -> bytes:
        """The exact bytes of ids. Raises as `decode` does."""
        return self._decoder.to_bytes(ids)

    def explain(self, text: str | bytes) -> tuple[WordExplanation, ...]:
        """Each merge or attempt in order, a pre-token at a time."""
        return explain(self.vocabulary, self.merges, text, cache=self._encoder)

    def lost(self, text: str | bytes) -> tuple[str, ...]:
        """Short sentences on what decoding the encoded text does not give back."""
        return lost(self.vocabulary, self.merges, text, cache=self._encoder, decoder=self._decoder)

    def entries(self) -> Iterator[Entry]:
        """The vocabulary in order of the ids."""
        vocabulary = self.vocabulary
        rows: dict[int, Entry] = {}
        for name in vocabulary.specials:
            number = vocabulary.special_id(name)
            kind = "unknown" if number == vocabulary.unknown_id else "special"
            rows[number] = Entry(number, name.encode("utf-8", "surrogatepass"), name, kind)
        for value in range(vocabulary.byte_tokens):
            name, number = byte_token(value), vocabulary.byte_id(value)
            rows[number] = Entry(number, name.encode(), name, "byte")
        for number, symbol in vocabulary.symbols_by_id(self.merges).items():
            if number not in rows:  # else it is a merge that borrowed a special's id
                piece = vocabulary.pieces[symbol]
                score = vocabulary.scores[symbol] if vocabulary.scores else None
                rows[number] = Entry(number, piece, piece.decode("utf-8", "replace"), vocabulary.kind_of(symbol), score)
        for number in sorted(rows):
            yield rows[number]

    def at(self, merges: int) -> Tokenizer:
        """The tokenizer after so many merges; the tables are shared."""
        return Tokenizer(self.vocabulary, merges, self.run)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write it to a file, whole or not at all.

        Args:
            path: The file; a symlink's target is written.
            format: One of `tokentui.formats.FORMATS`; by the name of the file where None.

        Raises:
            TokentuiError: There is no such format, or the file cannot be written.
        """
        from tokentui.formats import save  # formats read and write tokenizers: the one import against the layers

        save(self, path, format)

    @functools.cached_property
    def _encoder(self) -> WordEncoder:
        return WordEncoder(self.vocabulary, self.merges)

    @functools.cached_property
    def _id_encoder(self) -> IdEncoder:
        return IdEncoder(self._encoder)

    @functools.cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.vocabulary, self.merges)
