"""A tokenizer: a vocabulary at one number of merges, ready to encode and decode."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Self, SupportsIndex, cast

from tokentui.core.errors import TokentuiError, each_of, nearest, path_of, shown, text_of, whole
from tokentui.core.jobs import Cancel, Progress, check, job
from tokentui.core.records import dataclass
from tokentui.core.safetext import safe_line
from tokentui.encode.batch import encode_batch, slices
from tokentui.encode.decode import Decoder, Streamed, stream_of
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import Encoding
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment import SAMPLED
from tokentui.encode.segment.dropout import P
from tokentui.encode.vocabulary import TokenizerFile, Vocabulary, byte_token
from tokentui.recipe import CORPUS_FACTS, RUN, SHAPE, Recipe

if TYPE_CHECKING:
    from tokentui.encode.explain import RoundTrip, WordExplanation
    from tokentui.encode.padding import PaddedBatch
    from tokentui.encode.sampling import Drawn

_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """An entry of a vocabulary.

    Attributes:
        id: Its id.
        piece: The exact bytes, marks included; the name's bytes for specials and byte-fallback tokens.
        text: The piece as readable text, or the name.
        kind: `special`, `unknown`, `byte` (byte fallback), `unit`, `merge`, `piece` of a model without
            merges, or `orphan` of a file: a token that no merge makes.
        score: The natural log probability of a unigram piece; None for other models.
        symbol: Its symbol; None for specials and byte-fallback tokens.
    """

    id: int
    piece: bytes
    text: str
    kind: str
    score: float | None = None
    symbol: int | None = None


class Tokenizer:
    """A vocabulary with its first `merges` merges. The vocabulary may grow; the tokenizer does not change.

    Args:
        vocabulary: The vocabulary, shared and not copied.
        merges: How many of its merges count; None for all at present.
        run: The options of the training, by the names in `RUN`, `SHAPE` and `CORPUS_FACTS`. None is dropped.

    Raises:
        TokentuiError: `merges` is more than the vocabulary has, or a name in `run` is unknown.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> tokenizer.encode_ids("hugs pugs").tolist()
    [258, 82, 261]
    >>> tokenizer.decode([258, 82, 261])
    'hugs pugs'
    >>> tokenizer.at(0).encode_ids("hugs").tolist()  # before any merge: the bytes
    [71, 84, 70, 82]
    >>> tokenizer.token_to_id("hug"), tokenizer.id_to_token(261)
    (258, ' pugs')
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int | None = None, run: Mapping[str, object] | None = None
    ) -> None:
        have = max(len(vocabulary.merges), len(vocabulary.sizes) - 1)  # files have no sizes, events no merges
        merges = have if merges is None else merges
        if not 0 <= merges <= have:
            raise TokentuiError(
                f"the vocabulary has {have} merges", f"merges={shown(merges)}", f"use 0 to {have}"
            )
        self._asked = {key: value for key, value in (run or {}).items() if value is not None}
        for key in self._asked:
            if key not in (known := (*RUN, *SHAPE, *CORPUS_FACTS)):
                raise TokentuiError(f"no such key {shown(key)}", "run", nearest(str(key), known))
        self.vocabulary = vocabulary
        self.merges = merges
        self._encoder: WordEncoder | None = None

    @functools.cached_property
    def run(self) -> Mapping[str, object]:
        """The options of the training, with its first id and specials."""
        vocabulary, symbols = self.vocabulary, self.recipe.symbols
        specials = [name for name in vocabulary.specials if name not in symbols]
        options = {**self._asked, "first_id": vocabulary.first_id, "specials": specials}
        return {key: options[key] for key in (*RUN, *CORPUS_FACTS) if key in options} | self.recipe.shape

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Vocabulary, int, dict[str, object]]]:
        """Pickle with a copy of the vocabulary that has only the merges that count."""
        vocabulary = self.vocabulary
        if len(vocabulary.merges) > self.merges:
            vocabulary = vocabulary.truncated(self.merges)
        return type(self), (vocabulary, self.merges, dict(self.run))

    def __deepcopy__(self, memo: object) -> Self:
        """Return a new tokenizer that shares the vocabulary: the part of it that is used never changes."""
        return type(self)(self.vocabulary, self.merges, dict(self.run))

    def __repr__(self) -> str:
        name = f"{self.recipe.objective} · {self.recipe.split}"
        return f"<Tokenizer {safe_line(name, limit=80)}, {self.vocab_size:,} ids>"

    def _repr_html_(self) -> str:
        """Return the size and the first tokens, by id, as HTML for a notebook."""
        from tokentui.encode.html import MOST_TOKENS, titled, tokens_html

        recipe, entries = self.recipe, self.entries()
        facts = [f"{self.vocab_size:,} ids", f"{self.merges:,} merges"]
        first = enumerate(itertools.islice(entries, MOST_TOKENS))
        listed = [(entry.id, entry.piece, number) for number, entry in first]
        return titled(f"{recipe.objective} · {recipe.split}", facts, tokens_html(listed, self.vocab_size))

    def __len__(self) -> int:
        """The number of ids, including specials."""
        return self.vocab_size

    def __contains__(self, token: object) -> bool:
        """Return whether the vocabulary has a token with this spelling; see `token_to_id`."""
        return isinstance(token, str | bytes) and self.token_to_id(token) is not None

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, or None if there is none.

        Args:
            token: Its exact bytes; or its text: as in `Encoding.tokens`, with `·` for a space, or as in the
                file of the vocabulary (`Ġthe`, `▁the`). The first of these readings that is a token counts.
        """
        asked = text_of(token, "token")
        if isinstance(asked, bytes):
            return self._by_piece.get(asked)
        for text in (asked, asked.replace("·", " ")):
            token_id = self._by_name.get(text)
            if token_id is None:
                token_id = self._by_piece.get(text.encode("utf-8", "surrogatepass"))
            if token_id is not None:
                return token_id
        return self._by_spelling.get(asked)

    def id_to_token(self, number: SupportsIndex) -> str | None:
        """Return the token of an id as text, as in `Encoding.tokens`. None if the id does not exist."""
        row = self._rows.get(whole(number, "id", hint="an id is a whole number"))
        return None if row is None else row.text

    @functools.cached_property
    def _rows(self) -> dict[int, TokenEntry]:
        return {entry.id: entry for entry in self.entries()}

    @functools.cached_property
    def _by_name(self) -> dict[str, int]:
        """The ids of specials and byte tokens by name."""
        named = ("special", "unknown", "byte")
        return {entry.text: entry.id for entry in reversed(self._rows.values()) if entry.kind in named}

    @functools.cached_property
    def _by_spelling(self) -> dict[str, int]:
        """The ids of tokens by their names in the file of the vocabulary, if they differ from the pieces."""
        return {name: number for number, name in self.vocabulary.names.items() if number in self._rows}

    @functools.cached_property
    def _by_piece(self) -> dict[bytes, int]:
        """The id of each token by its bytes. Of tokens with equal bytes, the first one; byte tokens last."""
        rows = sorted(self._rows.values(), key=lambda entry: entry.kind == "byte")
        return {entry.piece: entry.id for entry in reversed(rows)}

    @property
    def recipe(self) -> Recipe:
        """The recipe of the vocabulary."""
        return self.vocabulary.recipe

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on assumptions and doubts about the file that the tokenizer was read from."""
        return self.vocabulary.notes

    @property
    def vocab_size(self) -> int:
        """The number of ids, including specials."""
        return self.vocabulary.size(self.merges)

    def encode(
        self, text: str | bytes, *, special_tokens: bool = False, allow_special: bool = False,
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> Encoding:
        """Encode a text, see `WordEncoder.encode`. A token without an id is None in `ids`."""
        if progress is None and cancel is None:  # a job takes as long as a short text
            return self.encoder.encode(
                text_of(text), allow_special=allow_special, special_tokens=special_tokens
            )
        with job(progress, cancel):
            return self.encoder.encode(
                text_of(text), allow_special=allow_special, special_tokens=special_tokens
            )

    def encode_batch(
        self, texts: Iterable[str | bytes], *, special_tokens: bool = False, allow_special: bool = False
    ) -> list[Encoding]:
        """Encode texts, each as `encode` does, in threads if kernels are available.

        Raises:
            TokentuiError: As `encode` does, for the first text that fails.
            Cancelled: The job is cancelled.
        """
        given = each_of(texts, "texts", "pass a list of texts")
        listed = cast("list[str]", given)
        if not set(map(type, given)) <= {str}:
            listed = [_text_of(text, f"text {n}") for n, text in enumerate(given, 1)]
        encode = functools.partial(
            encode_batch, self.encoder, special_tokens=special_tokens, allow_special=allow_special
        )
        parts = slices(self.encoder, list(map(len, listed)))
        if len(parts) == 1:
            return encode(listed)
        import concurrent.futures  # it imports what only threads need

        stopped = threading.Event()

        def work(run: slice) -> list[Encoding]:
            with job(cancel=stopped.is_set):
                return encode(listed[run], threads=1)

        with concurrent.futures.ThreadPoolExecutor(len(parts) - 1) as pool:
            try:
                others = [pool.submit(work, run) for run in parts[1:]]
                encodings = work(parts[0])  # here, in the job of the caller
                for other in others:
                    while concurrent.futures.wait([other], timeout=_POLL_S).not_done:
                        check()
                    encodings += other.result()
            finally:
                stopped.set()
        return encodings

    def encode_padded(
        self, texts: Iterable[str | bytes], *, pad_id: int | None = None, length: int | None = None,
        multiple_of: int = 1, side: str = "right", max_length: int | None = None, stride: int | None = None,
        truncate: str = "right", special_tokens: bool = False, allow_special: bool = False,
    ) -> PaddedBatch:
        """Encode texts as rows of one length, cut off and padded as Hugging Face tokenizers does.

        Args:
            texts: The texts.
            pad_id: The id of the padding; None for rows of different lengths.
            length: The length of the rows; None for that of the longest.
            multiple_of: The length is rounded up to a multiple of this number.
            side: The side of the padding, `right` or `left`.
            max_length: The most ids of a row, special tokens included; None for any.
            stride: With a number, what is cut off gives further rows, each of which begins with so many
                tokens of the row before it. None to drop it.
            truncate: The side that is cut off, `right` or `left`.
            special_tokens, allow_special: As for `encode`. The special tokens around a text are not cut off.

        Raises:
            TokentuiError: A number or a side is invalid, or as `encode` does.
            Cancelled: The job is cancelled.

        >>> import tokentui
        >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
        >>> tokenizer.encode_padded(["hugs", "a bun"], pad_id=0, max_length=3)
        PaddedBatch(ids=[[258, 82, 0], [64, 220, 65]], mask=[[1, 1, 0], [1, 1, 1]], texts=[0, 1])
        """
        from tokentui.encode.padding import check_sides, cut, padded

        check_sides(side=side, truncate=truncate)
        multiple_of = whole(multiple_of, "multiple_of", 1, "for example 8")
        pad_id, length = (
            None if number is None else whole(number, name, 0, "for example 0")
            for name, number in (("pad_id", pad_id), ("length", length))
        )
        special_id = self.vocabulary.special_id
        before, after = ([special_id(name) for name in names] if special_tokens else []
                         for names in self.encoder.around)
        if max_length is not None:
            max_length = whole(max_length, "max_length", len(before) + len(after) + 1, "for example 512")
        if stride is not None:
            stride = whole(stride, "stride", 0, "for example 0")
            if max_length is None or stride >= max_length - len(before) - len(after):
                hint = "use fewer than the tokens of a row"
                raise TokentuiError("no row would have new tokens", f"stride={stride}", hint)
        plain = (encoding.ids for encoding in self.encode_batch(texts, allow_special=allow_special))
        ids, numbers = cut(plain, before, after, max_length, stride, truncate)
        return padded(ids, numbers, pad_id, length, multiple_of, side)

    def encode_ids(
        self, text: str | bytes, *, special_tokens: bool = False, allow_special: bool = False,
        threads: int | None = None, progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> array[int]:
        """Return only the ids of a text; see `WordEncoder.ids`. It is about as fast as `encode`.

        The result is an array, with -1 for a token without an id. `decode` accepts it.
        """
        threads = None if threads is None else whole(threads, "threads", 1, "for example 2")
        if progress is None and cancel is None:  # a job takes as long as a short text
            return self.encoder.ids(
                text_of(text), special_tokens=special_tokens, allow_special=allow_special, threads=threads
            )
        with job(progress, cancel):
            return self.encoder.ids(
                text_of(text), special_tokens=special_tokens, allow_special=allow_special, threads=threads
            )

    def write_ids(
        self, path: str | os.PathLike[str], texts: Iterable[str | bytes], *, dtype: str | None = None,
        special_tokens: bool = False, allow_special: bool = False, progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> int:
        """Write the ids of texts to a flat file, one text after the other, for `numpy.memmap`.

        The file has nothing but the numbers, little-endian. It is written completely or not at all.

        Args:
            path: The file.
            texts: The texts, such as the documents of a corpus. Only their ids are kept.
            dtype: `uint16` or `uint32`; None for `uint16` if all ids of the vocabulary fit into it.
            special_tokens: Add the tokens that begin and end a text, around each text.
            allow_special: As for `encode`.
            progress, cancel: As for `encode`.

        Returns:
            The number of ids.

        Raises:
            TokentuiError: An id does not fit, a token has no id, the file cannot be written, or as `encode`
                does.
            Cancelled: The job is cancelled.

        >>> import array, pathlib, tempfile, tokentui
        >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "ids.bin")
        ...     count = tokenizer.write_ids(path, ["hugs pugs", "hug"])
        ...     (count, array.array("H", path.read_bytes()))
        (4, array('H', [258, 82, 261, 258]))
        """
        from tokentui.core.files import write_whole
        from tokentui.encode.flat import TYPES, flat, ids_of_texts, type_for

        path = path_of(path, "path")
        if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
            each_of(texts, "texts", "pass a list of texts")  # it raises
        dtype = type_for((self.decoder.bounds or (0, 0))[1]) if dtype is None else dtype
        if dtype not in TYPES:
            raise TokentuiError(f"no such type {shown(dtype)}", "dtype", nearest(str(dtype), TYPES))
        with job(progress, cancel):
            ids = ids_of_texts(
                self.encoder, texts, special_tokens=special_tokens, allow_special=allow_special
            )
        write_whole(path, flat(ids, dtype))
        return len(ids)

    def sample(
        self, text: str | bytes, *, temperature: float = 1.0, seed: int | None = None,
        p: float | None = None, like: str | None = None,
    ) -> Encoding:
        """Encode a text at random: with `p` or `like` by merges some of which are skipped (BPE-dropout),
        otherwise by a segmentation of a unigram model.

        Args:
            text: The text.
            temperature: For a unigram model: 1 for its probabilities. Lower values favor the best
                segmentation, higher ones others.
            seed: The same seed gives the same tokens.
            p: For merges: the share that is dropped, from 0 to 1. None for a unigram model.
            like: For merges: the library whose draws to imitate, a name in
                `tokentui.encode.segment.dropout.LIKE`; None for the first.

        Raises:
            TokentuiError: The vocabulary has no probabilities, or no merges for `p`. The temperature, `p` or
                `like` is invalid.
        """
        text = text_of(text)
        if p is not None or like is not None:
            if temperature != 1.0:
                raise TokentuiError("temperature is for unigram models, p is for merges", "sample", "use one")
            return self.draws(text, p=P if p is None else p, like=like or "tokenizers", seed=seed).encoding
        if not isinstance(seed, int | None):
            raise TokentuiError(f"not a whole number: {shown(seed)}", "seed", "for example 1, or None")
        drawn = SAMPLED.with_tables(temperature=temperature, seed=seed)
        return WordEncoder(self.vocabulary, self.merges, way=drawn).encode(text)

    def draws(
        self, text: str | bytes, *, p: float = P, like: str = "tokenizers", seed: int | None = None
    ) -> Drawn:
        """Encode a text by merges some of which are skipped (BPE-dropout), and keep each draw.

        Args:
            text: The text.
            p: The share of merges that is dropped, from 0 to 1.
            like: The library whose draws to imitate, a name in `tokentui.encode.segment.dropout.LIKE`.
            seed: The same seed gives the same draws; None to choose one at random.

        Raises:
            TokentuiError: The vocabulary has no merges, or p, `like` or the seed is invalid.

        >>> import tokentui
        >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
        >>> drawn = tokenizer.draws("hugs", p=0.5, seed=0)
        >>> drawn.encoding.tokens
        ('hug', 's')
        >>> [(draw.left, draw.right, draw.merged) for draw in drawn.words[0].draws if draw.left]
        [(b'u', b'g', True), (b'h', b'ug', True)]
        """
        from tokentui.encode.sampling import encode_with_dropout

        return encode_with_dropout(self.vocabulary, self.merges, text_of(text), p, like, seed)

    def decode(self, ids: Iterable[int | None]) -> str:
        """Return the text of ids. Bytes that are not UTF-8 become U+FFFD, as does a token without an id (None
        or -1).

        Args:
            ids: Integers of any kind: a list, an array, a NumPy array.

        Raises:
            TokentuiError: An id does not exist. The message has the id and the valid range.
        """
        return self.decoder.to_text(ids)

    def decode_batch(self, batch: Iterable[Iterable[int | None]]) -> list[str]:
        """Decode several lists of ids, each as `decode` does."""
        return list(map(self.decode, each_of(batch, "batch", "pass a list of lists of ids")))

    def decode_bytes(self, ids: Iterable[int | None]) -> bytes:
        """Return the exact bytes of ids. Errors are those of `decode`."""
        return self.decoder.to_bytes(ids)

    def decode_stream(self, ids: Iterable[int | None]) -> Iterator[Streamed]:
        """Yield the text that is complete after each id, for ids that come one by one.

        The concatenated texts are what `decode` gives for all ids. Bytes of an incomplete character are held
        back until it is complete, or come last, with `end`.

        Raises:
            TokentuiError: As `decode` does, or the file's decoder changes text that was already returned.
        """
        return stream_of(self.decoder, each_of(ids, "ids", "pass a list or an array of ids"))

    def explain(self, text: str | bytes) -> tuple[WordExplanation, ...]:
        """Return the steps of encoding each pre-token of a text: merges or attempts, in order."""
        from tokentui.encode.explain import explain

        return explain(self.encoder, text_of(text))

    def lost(self, text: str | bytes) -> tuple[str, ...]:
        """Return short sentences on what encoding and decoding a text loses; empty if nothing is lost."""
        return self.round_trip(text).lost

    def round_trip(self, text: str | bytes) -> RoundTrip:
        """Encode a text, decode the ids, and compare; see `tokentui.encode.explain`.

        Returns:
            The decoded text, and sentences on what is lost.
        """
        from tokentui.encode.explain import round_trip

        return round_trip(self.encoder, text_of(text), self.decoder)

    def named(self) -> dict[int, TokenEntry]:
        """Return the entries without a symbol, by id: specials and byte-fallback tokens."""
        vocabulary = self.vocabulary
        rows: dict[int, TokenEntry] = {}
        for name in vocabulary.specials:
            token_id = vocabulary.special_id(name)
            kind = "unknown" if token_id == vocabulary.unknown_id else "special"
            rows[token_id] = TokenEntry(token_id, name.encode("utf-8", "surrogatepass"), name, kind)
        for value in range(vocabulary.byte_tokens):
            name, token_id = byte_token(value), vocabulary.byte_id(value)
            rows[token_id] = TokenEntry(token_id, name.encode(), name, "byte")
        return rows

    def entries(self) -> Iterator[TokenEntry]:
        """Yield the entries of the vocabulary by id."""
        vocabulary, rows = self.vocabulary, self.named()
        for token_id, symbol in vocabulary.symbols_by_id(self.merges).items():
            if token_id not in rows:  # else it is a merge that borrowed a special's id
                piece = vocabulary.pieces[symbol]
                score = vocabulary.scores[symbol] if vocabulary.scores else None
                kind, text = vocabulary.kind_of(symbol), piece.decode("utf-8", "replace")
                rows[token_id] = TokenEntry(
                    token_id, piece, text, kind, score, None if kind == "byte" else symbol
                )
        for token_id in sorted(rows):
            yield rows[token_id]

    def at(self, merges: int) -> Self:
        """Return a new tokenizer at another number of merges, which shares the vocabulary.

        Raises:
            TokentuiError: `merges` is negative, or more than the vocabulary has.
        """
        return type(self)(self.vocabulary, merges, self.run)

    def encoded_by(self, encode: str) -> Self:
        """Return a new tokenizer with another way of encoding. It shares all tables.

        Args:
            encode: A value of the axis `encode`.

        Raises:
            TokentuiError: The value is unknown, or needs merges or probabilities that the vocabulary lacks.

        >>> import tokentui
        >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
        >>> [tokenizer.encoded_by(way).encode("hugs").tokens for way in ("merges", "longest-suffix")]
        [('hug', 's'), ('h', 'ugs')]
        """
        return type(self)(self.vocabulary.encoded_by(encode), self.merges, self.run)

    @property
    def encoder(self) -> WordEncoder:
        """The encoder, with caches of encoded words."""
        if self._encoder is None:  # no cached property: until Python 3.12 all tokenizers would wait for one
            self._encoder = WordEncoder(self.vocabulary, self.merges)
        return self._encoder

    @functools.cached_property
    def decoder(self) -> Decoder:
        return Decoder(self.vocabulary, self.merges)


def _text_of(value: object, where: str) -> str:
    """Check that a value is str or bytes, and return it as str."""
    text = text_of(value, where)
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def tokenizer_of(file: TokenizerFile) -> Tokenizer:
    """Return the tokenizer that a file describes."""
    return Tokenizer(ImportedVocabulary(file))
