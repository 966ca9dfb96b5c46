"""Ids to text, and tokens to the units that spell them.

The mark, the unit and the split decide how ids become text. There is no axis for it.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple, TypeVar

from tokentui.core import engines
from tokentui.core.errors import TokentuiError, each_of, shown
from tokentui.core.jobs import check, in_blocks
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.id_texts import IdTexts, Spelling
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment import ASKED_EVERY
from tokentui.encode.vocabulary import NO_ID, NOTHING, Apart, Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import MARKS
from tokentui.text.split import SPLITS, spaced

T = TypeVar("T")
_UNKNOWN = " ⁇ ".encode()
_METASPACE = "▁".encode()
_BYTE_NAME = re.compile("<0x[0-9A-Fa-f]{2}>")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
MANY_IDS = 4096
"""Until this many ids were decoded, plain Python decodes them, because building the table of the kernel takes
longer."""


class _Shown(NamedTuple):
    """The decoded form of one id.

    Attributes:
        text: The bytes.
        plain: True if the bytes are text of the input, False for an unknown or special token.
        before: True if a space belongs before the bytes.
        after: True if a space belongs after the bytes.
    """

    text: bytes
    plain: bool = True
    before: bool = False
    after: bool = False


class _Ids:
    """The tokens of ids, by one vocabulary at one number of merges."""

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self.vocabulary = vocabulary
        self.merges = merges
        self._metaspace = SPLITS.of(vocabulary.recipe.split).marks_spaces

    def named(self, token_id: int | None) -> str:
        """Return the name of an id in the file of the vocabulary. None gives `NOTHING`.

        Raises:
            TokentuiError: The id does not exist.
        """
        if token_id is None:
            return NOTHING
        if token_id not in self.symbols and token_id not in self.specials:
            raise self.lacks(token_id)
        assert isinstance(self.vocabulary, ImportedVocabulary)
        return self.vocabulary.name_of(token_id)

    def shown(self, token_id: int | None) -> _Shown:
        """Return the bytes of an id without marks, and whether a space goes before or after it."""
        vocabulary = self.vocabulary
        if token_id is None:
            return _Shown(NOTHING.encode())
        if self._metaspace and token_id == vocabulary.unknown_id:
            return _Shown(_UNKNOWN, plain=False)
        prefixed = bool(vocabulary.prefix)
        if (symbol := self.symbols.get(token_id)) is not None:
            piece, (front, end) = vocabulary.spelled(symbol), vocabulary.mark_sizes(symbol)
            text = piece[front : len(piece) - end]
            return _Shown(text, before=prefixed and not front, after=bool(end))
        if token_id in self.specials:
            return _Shown(to_bytes(self.specials[token_id]), plain=False, before=prefixed)
        if token_id in self.bytes_:
            return _Shown(bytes((self.bytes_[token_id],)))
        raise self.lacks(token_id)

    def lacks(self, token_id: object) -> TokentuiError:
        """Return the error for an id that does not exist."""
        return TokentuiError(f"no such id: {shown(token_id)}", "", self.span)

    @property
    def span(self) -> str:
        """The valid range of ids, as a phrase for errors."""
        if self.bounds is None:
            return "the vocabulary is empty"
        first, last = self.bounds
        holes = last - first + 1 > self.vocabulary.size(self.merges)
        return f"ids are {first} to {last}" + (", with holes" if holes else "")

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The smallest and the largest id; None for an empty vocabulary."""
        return (min(self.known), max(self.known)) if self.known else None

    @functools.cached_property
    def bytes_(self) -> dict[int, int]:
        """The byte of each byte-fallback token."""
        return {self.vocabulary.byte_id(value): value for value in range(self.vocabulary.byte_tokens)}

    @functools.cached_property
    def specials(self) -> dict[int, str]:
        return {self.vocabulary.special_id(name): name for name in reversed(self.vocabulary.specials)}

    @functools.cached_property
    def symbols(self) -> dict[int, int]:
        return self.vocabulary.symbols_by_id(self.merges)

    @functools.cached_property
    def known(self) -> tuple[int, ...]:
        """All ids."""
        return tuple(dict.fromkeys([*self.symbols, *self.specials, *self.bytes_]))

    def names_of(self, ids: Sequence[int]) -> list[str]:
        """Return the names of ids in the file of the vocabulary."""
        assert isinstance(self.vocabulary, ImportedVocabulary)
        names, name_of = self.vocabulary.names, self.vocabulary.name_of
        return [names.get(number) or name_of(number) for number in ids]

    def texts_apart(self, ids: Sequence[int]) -> list[bytes | None]:
        """Return the text of each id of a text, by the rules of the recipe. If ▁ marks spaces, it is not a
        space yet, and a token that is no text of the input is None."""
        listed = list(map(self.shown, ids))
        if self._metaspace:
            return [shown.text if shown.plain else None for shown in listed]
        last = len(listed) - 1
        return [
            b" " * (shown.before and n > 0) + shown.text + b" " * (shown.after and n < last)
            for n, shown in enumerate(listed)
        ]


class _BytesOfIds(dict[int | None, bytes]):
    """Cache of the bytes of each id, with the spaces around them.

    Attributes:
        shown: The decoded form of each cached id.
        placeholders: The cached ids of unknown and special tokens, whose bytes are not text of the input.
    """

    def __init__(self, ids: _Ids) -> None:
        super().__init__()
        self._ids = ids
        self.shown: dict[int | None, _Shown] = {}
        self.placeholders: set[int | None] = set()

    def __missing__(self, token_id: int | None) -> bytes:
        """Make and store the text of an id, with its spaces. Note it as a placeholder if it is no text."""
        shown = self.shown[token_id] = self._ids.shown(token_id)
        if not shown.plain:
            self.placeholders.add(token_id)
        text = self[token_id] = b" " * shown.before + shown.text + b" " * shown.after
        return text


class _Names(dict[int | None, str]):
    """Cache of the name of each id in the file of the vocabulary."""

    def __init__(self, ids: _Ids) -> None:
        super().__init__()
        self._ids = ids

    def __missing__(self, token_id: int | None) -> str:
        name = self[token_id] = self._ids.named(token_id)
        return name


class Decoder:
    """Decodes ids by one vocabulary at one number of merges.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "sentencepiece-unigram", vocab_size=24)
    >>> tokenizer.encode("hugs").tokens, tokenizer.encode("hugs").ids
    (('▁hug', 's'), (5, 3))
    >>> Decoder(tokenizer.vocabulary, 0).to_text([5, 3])
    'hugs'
    >>> Decoder(tokenizer.vocabulary, 0).to_text([99])
    Traceback (most recent call last):
        ...
    tokentui.core.errors.TokentuiError: no such id: 99 (ids are 0 to 17)
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self.vocabulary = vocabulary
        self.merges = merges
        self._metaspace = SPLITS.of(vocabulary.recipe.split).marks_spaces
        self._spaced = spaced(vocabulary.recipe)
        self._ids = _Ids(vocabulary, merges)
        self._texts = _BytesOfIds(self._ids)
        self._names = _Names(self._ids)
        self._whole_runs = "ByteFallback" in _kinds(vocabulary.file.stages.get("decoder"))
        """True if the decoder of a `tokenizer.json` decodes a run of byte tokens as a whole."""
        self._decoded = 0
        """How many ids were decoded, up to `MANY_IDS`."""

    def to_bytes(self, ids: Iterable[int | None]) -> bytes:
        """Return the exact bytes of ids; none for no ids. A token without an id (None, or `NO_ID`) gives
        U+FFFD.

        Marks are left out. A space is put before a token without the mark `##` and after one with the mark
        `</w>`, but not at the start and end of the text. If ▁ marks spaces, it becomes a space, and the first
        one is left out if encoding adds it. With the decoder of a file, the bytes are those that it returns.
        The bytes of each id are cached.

        Args:
            ids: Integers of any kind.

        Raises:
            TokentuiError: An id does not exist. The message has the id and the valid range.
        """
        with engines.rescued():
            joined = self._joined(ids, every=False)
            if isinstance(joined, str):
                return to_bytes(joined)
            if joined is not None:
                return bytes(joined)
        ids = self._numbers(ids)
        if (decoder := self.vocabulary.file.decoder) is not None:
            return decoder(_looked_up(self._names, ids))
        if not ids:
            return b""
        texts = _looked_up(self._texts, ids)
        first, last = self._texts.shown[ids[0]], self._texts.shown[ids[-1]]
        if first.before:
            texts[0] = texts[0][1:]
        if last.after:
            texts[-1] = texts[-1][:-1]
        return self._unmarked(ids, texts) if self._metaspace else b"".join(texts)

    def _unmarked(self, ids: list[int | None], texts: list[bytes]) -> bytes:
        """Join the bytes of ids, with spaces for ▁ in the text of the input.

        A ▁ may consist of several tokens, one per byte. The first ▁ of the text was added by encoding and is
        removed.
        """
        apart = self._texts.placeholders
        places = [at for at, token_id in enumerate(ids) if token_id in apart] if apart else []
        written, start, begun = bytearray(), 0, not self._spaced
        for place in (*places, len(ids)):
            run = b"".join(texts[start:place])
            shown = self._texts.shown[ids[place]] if place < len(ids) else _Shown(b"")
            if shown.before and place:
                run += b" "
            if run and not begun:
                run = run.removeprefix(_METASPACE)
                begun = True
            written += run.replace(_METASPACE, b" ")
            written += shown.text
            # The unknown token replaces text. Other specials do not begin the text.
            begun |= shown.text == _UNKNOWN
            start = place + 1
        return bytes(written)

    def to_text(self, ids: Iterable[int | None]) -> str:
        """Return the text of ids. Bytes that are not UTF-8 become U+FFFD.

        Raises:
            TokentuiError: An id does not exist.
        """
        with engines.rescued():
            joined = self._joined(ids, every=True)
            if joined is not None:
                return joined if isinstance(joined, str) else self._as_text(joined)
        return self._as_text(self._readable_bytes(ids))

    def _readable_bytes(self, ids: Iterable[int | None]) -> bytes:
        """Return the bytes of the text of ids. Where Hugging Face tokenizers decodes a run of byte tokens as
        a whole, each token of a run that is not UTF-8 gives U+FFFD.
        """
        decoder = self.vocabulary.file.decoder
        if decoder is None or not self._whole_runs:
            return self.to_bytes(ids)
        names = _looked_up(self._names, self._numbers(ids))
        spell_bytes = any(map(_BYTE_NAME.fullmatch, names))
        return decoder(_without_broken_runs(names) if spell_bytes else names)

    # ---- many ids, by a kernel

    def _joined(self, ids: Iterable[int | None], *, every: bool) -> memoryview | str | None:
        """Return the text of many ids, or its bytes, by a kernel; None to decode them in plain Python.

        Args:
            ids: The ids.
            every: True for U+FFFD for each byte token of a run that is not UTF-8 as a whole, as in a text.
        """
        if not isinstance(ids, Sized) or not engines.available():
            return None
        if self._decoded < MANY_IDS:
            self._decoded += len(ids)
        if self._decoded < MANY_IDS or self._table is None:
            return None
        joined = self._table.joined(ids, every=every)
        if joined is None:
            return None
        if self._apart is None:
            return memoryview(self._with_spaces(bytes(joined))) if self._metaspace else joined
        decoder = self.vocabulary.file.decoder
        changes = [change for change in (self._apart.finish, decoder and decoder.finish) if change]
        if not changes:
            return joined
        try:
            text = str(joined, "utf-8")
        except UnicodeDecodeError:
            return None
        for change in changes:
            text = change(text)
        return text

    @functools.cached_property
    def _apart(self) -> Apart | None:
        """How the decoder of the file turns each name alone into a text."""
        decoder = self.vocabulary.file.decoder
        return None if decoder is None else decoder.apart()

    @functools.cached_property
    def _table(self) -> IdTexts | None:
        """The text of each id; None if the decoder of the file does not turn each token alone into one."""
        ids = self._ids
        if self.vocabulary.file.decoder is None:
            return IdTexts.of(Spelling(ids.known, ids.texts_apart, {}))
        apart = self._apart
        if apart is None:
            return None
        named = zip(ids.known, ids.names_of(ids.known), strict=True) if apart.byte_fallback else ()
        values = {number: int(name[3:5], 16) for number, name in named if _BYTE_NAME.fullmatch(name)}
        return IdTexts.of(Spelling(ids.known, lambda given: apart.spell(ids.names_of(given)), values))

    def _with_spaces(self, data: bytes) -> bytes:
        """Return the bytes of a text of the input with spaces for ▁."""
        return (data.removeprefix(_METASPACE) if self._spaced else data).replace(_METASPACE, b" ")

    def text_of(self, token_id: int) -> str:
        """Return the text of a single id. Unlike `to_text` it caches nothing, and takes a third of the time.

        Raises:
            TokentuiError: The id does not exist.
        """
        if self.vocabulary.file.decoder is not None:
            return self.to_text([token_id])
        shown = self._ids.shown(token_id)
        data = shown.text
        return self._as_text(self._with_spaces(data) if self._metaspace and shown.plain else data)

    def _as_text(self, data: bytes | memoryview) -> str:
        """Decode UTF-8. Invalid bytes become U+FFFD: one for each byte if the vocabulary has byte tokens.

        Without them one replaces each invalid sequence, as Python counts them.
        """
        with contextlib.suppress(UnicodeDecodeError):
            return str(data, "utf-8")
        if self.vocabulary.byte_tokens or self.vocabulary.byte_symbols:
            # sentencepiece writes one U+FFFD for each byte of an invalid run.
            return _ESCAPED_BYTE.sub("\ufffd", str(data, "utf-8", "surrogateescape"))
        return str(data, "utf-8", "replace")

    def _numbers(self, ids: Iterable[int | None]) -> list[int | None]:
        """Return the ids as a list of int, with None for `NO_ID` and None.

        Raises:
            TokentuiError: `ids` is no iterable, or an id is no integer.
        """
        listed = getattr(ids, "tolist", None)  # of an array
        values = each_of(listed() if callable(listed) else ids, "ids", "pass a list or an array of ids")
        if not set(map(type, values)) <= {int, type(None)}:
            values = list(map(self._whole, values))
        return [None if token_id == NO_ID else token_id for token_id in values] if NO_ID in values else values

    def _whole(self, token_id: object) -> int | None:
        """Return an id as an int, None for None. Raises for a boolean and other types."""
        if token_id is None:
            return None
        if not isinstance(token_id, bool):
            with contextlib.suppress(TypeError):
                return operator.index(token_id)  # type: ignore[arg-type]
        raise self._ids.lacks(token_id)

    @property
    def span(self) -> str:
        """The valid range of ids, as a phrase for errors."""
        return self._ids.span

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The smallest and the largest id; None for an empty vocabulary."""
        return self._ids.bounds


# ---- ids that come one by one

_MOST_REPEATED = 64
"""Ids before a new one that are decoded again with it."""


class Streamed(NamedTuple):
    """The text that is complete after one more id.

    Attributes:
        id: The id; None for a token without an id, and at the end.
        text: The new text.
        held: The bytes of a character that is not complete yet.
        end: True for the rest of the text, after all ids.
    """

    id: int | None
    text: str
    held: bytes = b""
    end: bool = False


class TextStream:
    """Decodes ids one by one. The concatenated texts are the text of all ids.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> stream = TextStream(tokenizer.decoder)
    >>> [stream.push(number)[1:3] for number in tokenizer.encode("hugé").ids]
    [('hug', b''), ('', b'\xc3'), ('é', b'')]

    Args:
        decoder: The decoder of the tokenizer.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._ids: list[int | None] = []
        """The last ids. Earlier ones do not affect the text of later ones."""
        self._written = b""
        """The bytes of these ids that were already returned."""
        numbers = {symbol: number for number, symbol in decoder._ids.symbols.items()}
        symbols = decoder.vocabulary.byte_symbols
        self._bytes: dict[int | None, bytes] = {
            numbers[symbol]: bytes((value,)) for value, symbol in symbols.items() if symbol in numbers
        }
        """The byte of each byte-fallback token of a file."""

    def push(self, number: int | None) -> Streamed:
        """Return the text that is complete after one more id.

        Raises:
            TokentuiError: The id does not exist, or the decoder of the file changes text that is complete.
        """
        (number,) = self._decoder._numbers([number])
        data = self._decoder._readable_bytes([*self._ids, number])
        self._ids.append(number)
        run = self._byte_run()
        if run:
            data = self._decoder._readable_bytes(self._ids[:-run])
        pending = len(_incomplete(data))
        held = data[len(data) - pending :] + b"".join(map(self._byte_of, self._ids[len(self._ids) - run :]))
        text = self._write(data[: len(data) - pending])
        if not held and len(self._ids) > _MOST_REPEATED and self._is_independent(number):
            self._ids, self._written = [number], self._decoder._readable_bytes([number])
        return Streamed(number, text, held)

    def finish(self) -> Streamed:
        """Return the rest of the text: U+FFFD for the bytes of an incomplete character; empty if there
        are none."""
        return Streamed(None, self._write(self._decoder._readable_bytes(self._ids)), end=True)

    def _write(self, data: bytes) -> str:
        """Return what follows the text written so far, and note `data` as written.

        Raises:
            TokentuiError: `data` does not continue it.
        """
        if not data.startswith(self._written):
            what = "the decoder of the file changes text before a token"
            raise TokentuiError(what, "stream", "decode all ids at once")
        more, self._written = data[len(self._written) :], data
        return self._decoder._as_text(more)

    def _byte_run(self) -> int:
        """Return the number of byte tokens at the end, if the file decodes a run of them as a whole; else 0.
        """
        if self._decoder.vocabulary.file.decoder is None:
            return 0
        return sum(1 for _ in itertools.takewhile(self._byte_of, reversed(self._ids)))

    def _byte_of(self, number: int | None) -> bytes:
        """Return the byte of a byte-fallback token that the file lists as a piece; empty for another
        token."""
        return self._bytes.get(number, b"")

    def _is_independent(self, number: int | None) -> bool:
        """Return whether the text of later tokens is independent of the tokens before this one."""
        plain = number is not None and number not in self._decoder._ids.specials
        return plain and bool(self._decoder.to_bytes([number]).strip()) and not self._byte_of(number)


def stream_of(decoder: Decoder, ids: Iterable[int | None]) -> Iterator[Streamed]:
    """Yield the text that is complete after each id, and at the end the rest, if any."""
    stream = TextStream(decoder)
    pending = False
    for number in ids:
        streamed = stream.push(number)
        pending = bool(streamed.held)
        yield streamed
    if pending:
        yield stream.finish()


def _incomplete(data: bytes) -> bytes:
    """Return the bytes at the end that are the start of an incomplete character."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    decoder.decode(data)
    return decoder.getstate()[0]


def _kinds(step: object) -> set[object]:
    """Return the types of a step of `tokenizer.json` and of those inside it; none for another value."""
    if not isinstance(step, Mapping):
        return set()
    inner = step.get("decoders")
    return {step.get("type")}.union(*map(_kinds, inner if isinstance(inner, list) else ()))


def _looked_up(table: dict[int | None, T], ids: Iterable[int | None]) -> list[T]:
    """Return the value of each id, with a check of the job between blocks."""
    values: list[T] = []
    for block in in_blocks(ids):
        values += map(table.__getitem__, block)
    return values


def _without_broken_runs(names: Iterable[str]) -> list[str]:
    """Return names of tokens with U+FFFD for each byte token of a run that is not UTF-8."""
    out: list[str] = []
    for is_byte, run in itertools.groupby(names, lambda name: _BYTE_NAME.fullmatch(name) is not None):
        listed = list(run)
        if is_byte:
            try:
                bytes(int(name[3:5], 16) for name in listed).decode()
            except UnicodeDecodeError:
                listed = ["\ufffd"] * len(listed)
        out += listed
    return out


# ---- the units that spell a token
#
# Units carry their marks, so a token that continues a word is found only inside words, and a text that
# contains a literal mark is not confused with one.

UnitTuple = tuple[bytes, ...]
_END = b""  # no unit is empty


def spelled_units(encoder: WordEncoder, symbol: int) -> UnitTuple:
    """Return the units that a symbol covers, in order: the leaves of its merges, or its piece cut into units.
    """
    vocabulary, base = encoder.vocabulary, encoder.vocabulary.base_size
    if symbol < base:
        return _cut(encoder, vocabulary.pieces[symbol])
    units: list[bytes] = []
    waiting = [symbol]
    while waiting:
        if len(units) % ASKED_EVERY == 0:
            check()
        current = waiting.pop()
        if current < base:
            units += _cut(encoder, vocabulary.pieces[current])
        else:
            waiting += reversed(vocabulary.parts(current))
    return tuple(units)


def bare(recipe: Recipe, piece: bytes) -> bytes:
    """Return a token without its mark, unless it is only the mark."""
    mark = recipe.mark_text.encode()
    return (piece.removeprefix(mark) if MARKS.of(recipe.mark).in_front else piece.removesuffix(mark)) or piece


def _cut(encoder: WordEncoder, piece: bytes) -> UnitTuple:
    """Return the units of a piece: those of a word with this text, without marks that the piece does not
    have."""
    vocabulary, mark = encoder.vocabulary, encoder.vocabulary.mark
    kind, inside = MARKS.of(vocabulary.recipe.mark), vocabulary.unit_continues(piece)
    ends = piece.endswith(mark) if kind.is_unit else vocabulary.unit_ends(piece)
    bare = piece[inside * len(mark) : len(piece) - ends * len(mark)]
    units = encoder.pretokenizer.units(bare.decode("utf-8", "surrogateescape"))
    if units and inside:
        units[0] = mark + units[0]
    if units and not ends and kind.ends_word:
        units[-1:] = [] if kind.is_unit else [units[-1][: -len(mark)]]
    return tuple(units) or (piece,)


def symbols_of(vocabulary: Vocabulary, merges: int) -> Iterator[int]:
    """Yield the symbols that a text can become, in order. Bytes that Gage's compression uses as placeholders
    are excluded."""
    known = vocabulary.known_units(merges)
    yield from (symbol for symbol in range(vocabulary.base_size) if vocabulary.pieces[symbol] in known)
    if vocabulary.eventful:
        yield from vocabulary.symbols(merges)[vocabulary.base_size :]
    else:
        yield from range(vocabulary.base_size, vocabulary.base_size + merges)


class SymbolFinder:
    """Finds tokens in words by their units.

    Args:
        tokens: (units, symbol) of each token. Of tokens with equal units, the first is found.
    """

    def __init__(self, tokens: Iterable[tuple[UnitTuple, int]]) -> None:
        self._root: dict[bytes, Any] = {}
        for units, symbol in tokens:
            node = self._root
            for unit in units:
                node = node.setdefault(unit, {})
            node.setdefault(_END, symbol)

    def at(self, units: Sequence[bytes], start: int) -> Iterator[tuple[int, int]]:
        """Yield (end, symbol) of each token that starts at a unit, the shortest first."""
        node: dict[bytes, Any] | None = self._root
        for end in range(start, len(units)):
            node = node.get(units[end]) if node else None
            if node is None:
                return
            if _END in node:
                yield end + 1, node[_END]
