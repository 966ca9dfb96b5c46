"""A corpus: documents or counted words, and facts about the files that they were read from."""

from __future__ import annotations

import bisect
import codecs
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import NamedTuple, overload

from tokentui.core.errors import TokentuiError, each_of, name_of, shown, text_of, whole
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.text.sources import format_counts

LONG_BYTES = 1 << 18
"""A shorter document is kept as str."""
_LARGEST_COUNT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Invalid:
    """A report of bytes that are invalid in the encoding of a file.

    The first of them is in `file` at byte `offset` (from 0, after unpacking, including a byte order mark), in
    line `line` (from 1).
    """

    count: int
    file: str
    offset: int
    line: int
    encoding: str = "UTF-8"

    def __str__(self) -> str:
        bytes_are = "1 byte is" if self.count == 1 else f"{self.count:,} bytes are"
        place = f"byte {self.offset:,} (line {self.line:,}) of {self.file}"
        return f"{bytes_are} not {self.encoding}, the first at {place}"


class Named(NamedTuple):
    """One of the named corpora of a corpus.

    Attributes:
        name: Its name, such as that of a language.
        corpus: The corpus.
        times: How often each of its words counts.
        development: A text for evaluation only; None if there is none.
    """

    name: str
    corpus: Corpus
    times: int = 1
    development: Corpus | None = None


@dataclass(frozen=True)
class Corpus:
    """A training text. It never changes.

    Args:
        name: A short name to show.
        documents: The texts, in order; bytes that are not UTF-8 are lone surrogates (`surrogateescape`).
            `texts` has the same documents without decoding long ones.
        counts: For a corpus of counted words: each pre-token with its count, in order. Else None.
        invalid: A report of bytes that are not text; None if there are none.
        notes: Sentences for the user, for example on skipped files of a folder.
        digests: For each file its SHA-256, or the document with its bytes, from which it can be computed.
        named: The named corpora that it consists of, in order; empty if it has none.
        counting: How a file of counted words was counted, see `tokentui.text.counting`; empty if the file
            does not say, None for other corpora.
    """

    name: str
    documents: Sequence[str] = field(default=(), repr=False)
    counts: tuple[tuple[str, int], ...] | None = field(default=None, repr=False)
    invalid: Invalid | None = None
    notes: tuple[str, ...] = ()
    digests: tuple[bytes | LongText, ...] = field(default=(), repr=False, compare=False)
    named: tuple[Named, ...] = ()
    counting: str | None = field(default=None, repr=False, compare=False)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file as read, in hexadecimal; of several files, the SHA-256 of their digests in
        order. Computing it for a long file takes a moment."""
        digests = [digest_of(item.data) if isinstance(item, LongText) else item for item in self.digests]
        return (digests[0] if len(digests) == 1 else digest_of(b"".join(digests))).hex()

    @cached_property
    def size(self) -> int:
        """Size of the text as UTF-8, in bytes. Counted words and named corpora are multiplied by their
        counts."""
        if self.named:
            return sum(part.times * part.corpus.size for part in self.named)
        return sum(map(_size, self.texts)) + sum(_size(word) * count for word, count in self.counts or ())

    @property
    def noticed(self) -> tuple[str, ...]:
        """Sentences for the user: the notes, and a report of invalid bytes."""
        return (*self.notes, *([str(self.invalid)] if self.invalid else []))

    @property
    def texts(self) -> Sequence[str | LongText]:
        """The documents. Long ones may be `LongText`."""
        return self.documents.texts if isinstance(self.documents, LazyDocuments) else self.documents

    @cached_property
    def parts(self) -> Sequence[str | LongText]:
        """The documents, or the words of a corpus of counted words."""
        return self.texts if self.counts is None else tuple([word for word, _ in self.counts])

    @cached_property
    def characters(self) -> int:
        """The number of characters of all documents."""
        return sum(map(len, self.texts))

    def occurrences(self, text: str) -> int:
        """Count the occurrences of a text in the documents, or in the words of a corpus of counted words."""
        if self.counts is not None:
            return sum(word.count(text) * count for word, count in self.counts)
        return sum(document.count(text) for document in self.texts)

    @classmethod
    def from_text(cls, text: str | bytes, name: str = "text") -> Corpus:
        """Return a corpus of one document."""
        checked = text_of(text)
        if isinstance(checked, str):
            return cls(name, (checked,), digests=(digest_of(to_bytes(checked)),))
        document, invalid, mark = decode(checked, name)
        notes = mark_notes({mark: [name]}) if mark else ()
        return cls(name, (whole_text(document),), None, invalid, notes, (digest_of(checked),))

    @classmethod
    def from_lines(cls, lines: Iterable[str], name: str = "lines") -> Corpus:
        """Return a corpus with one document per line. Lines are not changed: they may contain line ends."""
        documents = tuple(each_of(lines, "lines", "pass a list of texts"))
        for line in documents:
            name_of(line, "lines")
        raw = to_bytes("".join(line + "\n" for line in documents))
        return cls(name, documents, digests=(digest_of(raw),))

    @classmethod
    def from_counts(cls, counts: Iterable[tuple[str, int]], name: str = "counts") -> Corpus:
        """Return a corpus of counted words. Counts of repeated words are added.

        Raises:
            TokentuiError: A row is not a word and a count of 1 or more.
        """
        summed: dict[str, int] = {}
        rows: list[object] = list(each_of(counts, "counts", "pass rows of (word, count)"))
        for row in rows:
            if not isinstance(row, list | tuple) or len(row) != 2:
                what = f"expected a word and its count, not {shown(row)}"
                raise TokentuiError(what, "counts", "pass rows of (word, count)")
            word, count = name_of(row[0], "counts"), whole(row[1], "counts")
            if not word or not 1 <= count <= _LARGEST_COUNT:
                raise TokentuiError(
                    "a word must not be empty, and its count must be at least 1",
                    f"{shown(word)}: {shown(count)}",
                    "leave it out",
                )
            summed[word] = summed.get(word, 0) + count
        digest = digest_of(format_counts(summed.items()).encode())
        return cls(name, (), tuple(summed.items()), digests=(digest,))


def digest_of(data: bytes | memoryview) -> bytes:
    """Return the SHA-256 of bytes."""
    import hashlib  # an opened tokenizer needs none

    return hashlib.sha256(data).digest()


def mark_notes(marked: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return sentences on byte order marks that were removed.

    Args:
        marked: The names of files by the encoding that their mark names.
    """
    notes = []
    for encoding, names in marked.items():
        of = names[0] if len(names) == 1 else f"{len(names):,} files, the first {names[0]},"
        is_ = "is" if len(names) == 1 else "are"
        what = (
            "is left out: it is no text"
            if encoding == "UTF-8"
            else f"says that the text {is_} {encoding}, and is left out"
        )
        notes.append(f"the byte order mark at the front of {of} {what}")
    return tuple(notes)


_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}
"""The encodings of byte order marks."""


def decode(data: bytes | memoryview, file: str) -> tuple[str | LongText, Invalid | None, str]:
    """Decode the bytes of a file.

    They are UTF-8, or UTF-16 if a byte order mark says so. The mark is not part of the text. Long UTF-8
    becomes a `LongText`, which decodes on access. Bytes that are not UTF-8 become lone surrogates, so that
    the exact bytes can be restored. Damage in UTF-16 becomes U+FFFD.

    Returns:
        The text, a report of invalid bytes or None, and the encoding that a byte order mark names or an empty
        text.
    """
    mark = next((mark for mark in _MARKS if data[: len(mark)] == mark), b"")
    codec = _MARKS.get(mark, "utf-8")
    encoding, body = codec[:6].upper(), memoryview(data)[len(mark) :]
    named = encoding if mark else ""
    if len(data) >= LONG_BYTES and codec == "utf-8":
        with suppress(UnicodeDecodeError):
            return LongText(data, len(mark)), None, named
    try:
        return str(body, codec), None, named
    except UnicodeDecodeError as error:
        if codec == "utf-8":
            text = str(body, codec, "surrogateescape")
            # "ignore" drops exactly the surrogates, one per byte that is not UTF-8.
            count = len(body) - len(text.encode(codec, "ignore"))
        else:
            odd = len(body) % 2
            text, halves = SURROGATE.subn("\ufffd", str(body[: len(body) - odd], codec, "surrogatepass"))
            text, count = text + "\ufffd" * odd, 2 * halves + odd
        line = str(body[: error.start], codec).count("\n") + 1
        return text, Invalid(count, file, len(mark) + error.start, line, encoding), named


def _size(text: str | LongText) -> int:
    if isinstance(text, LongText):
        return text.size
    return len(text) if text.isascii() else len(to_bytes(text))


def beginning(corpus: Corpus, chars: int) -> Corpus:
    """Return a corpus of about the first `chars` characters of a corpus, without named corpora.

    A document that is too long is cut at the last space in the second half of the room, if there is one.
    Counted words keep their counts; each counts as its length and one.
    """
    if corpus.counts is not None:
        counts, room = [], chars
        for word, times in corpus.counts:
            if room <= 0:
                break
            counts.append((word, times))
            room -= len(word) + 1
        return replace(corpus, counts=tuple(counts), named=())
    documents, room = [], chars
    for text in corpus.texts:
        if room <= 0:
            break
        part = text[:room]
        if len(text) > room:
            space = part.rfind(" ", room // 2)
            part = part[: space if space > 0 else room]
        documents.append(part)
        room -= len(part) + 1
    return replace(corpus, documents=tuple(documents), named=())


# ---- texts that stay UTF-8 and are decoded on access, and documents cut into pieces

# A str takes up to four bytes per character because of a single one, and decoding a large file in one call
# blocks all other threads.
_BLOCK = 1 << 14
_STRIDE = 1 << 18
WINDOW = 1 << 8
"""Bytes of a long text that are searched first for a safe cut."""

Place = tuple[int, int]
"""The index of a document, and a place in it: a character, or a byte of a `LongText`."""


class LongText:
    """A document of valid UTF-8 that is decoded on access. Its length and slices are in characters, as for
    str.

    Args:
        data: The bytes of a file. They must not change.
        start: The offset of the text in them, after a byte order mark.

    Raises:
        UnicodeDecodeError: It is not valid UTF-8.
        Cancelled: The job is cancelled.
    """

    __slots__ = ("_before", "_body", "_borders", "_whole", "data")

    def __init__(self, data: bytes | memoryview, start: int = 0) -> None:
        self.data = memoryview(data)
        self._body = self.data[start:]
        self._whole: str | None = None
        # The byte offsets of blocks, and the number of characters before each.
        self._borders, self._before = array("q", [0]), array("q", [0])
        at = characters = 0
        while at < self.size:
            end = self.border(at + _BLOCK)
            block = bytes(self._body[at:end])
            characters += len(block) if block.isascii() else len(block.decode())
            at = end
            self._borders.append(at)
            self._before.append(characters)
            if len(self._before) % 64 == 0:
                check()

    def __reduce__(self) -> tuple[type[LongText], tuple[bytes, int]]:
        return LongText, (bytes(self.data), len(self.data) - self.size)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self._body)

    def utf8(self, start: int, stop: int) -> memoryview:
        """Return the bytes between two byte offsets."""
        return self._body[start:stop]

    def border(self, at: int) -> int:
        """Return the byte offset where the character begins that contains the byte at `at`.

        Returns the size for offsets past the end.
        """
        if at >= self.size:
            return self.size
        for place in range(at, max(at - 4, 0), -1):
            if self._body[place] & 0xC0 != 0x80:
                return place
        return at if at > 3 else 0  # not UTF-8, as decoding will tell

    def part(self, start: int, stop: int) -> str:
        """Return the text between two byte offsets."""
        return str(self.utf8(start, stop), "utf-8")

    def whole(self) -> str:
        """Return the decoded text. It is cached."""
        if self._whole is None:
            self._whole = self.part(0, self.size)
        return self._whole

    def __len__(self) -> int:
        return self._before[-1]

    def __getitem__(self, wanted: slice) -> str:
        start, stop, _ = wanted.indices(len(self))
        if start >= stop:
            return ""
        first, last = bisect.bisect_right(self._before, start) - 1, bisect.bisect_left(self._before, stop)
        text = self.part(self._borders[first], self._borders[last])
        return text[start - self._before[first] : stop - self._before[first]]

    def find(self, text: str, start: int = 0) -> int:
        """Find a text as `str.find` does."""
        for at in range(start, len(self) + 1, _STRIDE):
            place = self[at : at + _STRIDE + len(text) - 1].find(text)
            if place >= 0:
                return at + place
        return -1

    def count(self, text: str) -> int:
        """Count the occurrences of a text, which must not be empty, without overlaps as `str.count` does."""
        count, start = 0, 0
        for at in range(0, len(self), _STRIDE):
            part = self[at : at + _STRIDE + len(text) - 1]
            while (place := part.find(text, start)) >= 0:
                count, start = count + 1, place + len(text)
            start = max(0, start - _STRIDE)  # the next part begins inside the last place
        return count

    def rfind(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """Find a text as `str.rfind` does, without negative offsets."""
        end = len(self) if stop is None else min(stop, len(self))
        while start <= end:
            at = max(start, end - _STRIDE)
            place = self[at:end].rfind(text)
            if place >= 0:
                return at + place
            if at == start:
                break
            end = min(end, at + len(text) - 1)  # an occurrence may begin before this part
        return -1


class LazyDocuments(Sequence[str]):
    """The texts of documents. A long one is decoded as a whole when it is indexed."""

    def __init__(self, texts: Sequence[str | LongText]) -> None:
        self.texts = tuple(texts)

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        chosen = self.texts[index]
        return tuple(map(whole_text, chosen)) if isinstance(chosen, tuple) else whole_text(chosen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def whole_text(text: str | LongText) -> str:
    """Return a document as str. A `LongText` caches it."""
    return text if isinstance(text, str) else text.whole()


def size_of(document: str | LongText) -> int:
    """Return the length of a document: characters, or bytes for a `LongText`."""
    return document.size if isinstance(document, LongText) else len(document)


def sizes_of(documents: Sequence[str | LongText]) -> list[int]:
    """Return the length of each document, see `size_of`."""
    plain = set(map(type, documents)) <= {str}
    return list(map(len if plain else size_of, documents))


def safe_cut(document: str | LongText, at: int, cut: Callable[[str, int], int]) -> int:
    """Return the first place from `at` on, except 0, where a document may be cut; its length if there is
    none.

    Args:
        document: The document.
        at: A place in it.
        cut: The same function for a str. It decides by the characters before and after a place.
    """
    if isinstance(document, str):
        return cut(document, at)
    start, window = document.border(max(at - 1, 0)), WINDOW
    while start < document.size:
        stop = document.border(start + window)
        text = document.part(start, stop)
        place = cut(text, 1)
        if place < len(text) or stop == document.size:
            return start + len(text[:place].encode())
        start = document.border(max(start, stop - 1))
        window *= 2
    return document.size


def pieces(
    documents: Sequence[str | LongText], cut: Callable[[str, int], int], size: int, start: Place = (0, 0),
    end: Place | None = None,
) -> Iterator[tuple[str | LongText, int, int]]:
    """Yield the documents between two places in pieces: (document, start, end), as places in the document.

    Args:
        documents: The documents.
        cut: See `safe_cut`.
        size: The approximate size of the pieces of a long document.
        start: Where to begin.
        end: Where to end; None for the end of the last document.
    """
    number, at = start
    last = (len(documents), 0) if end is None else end
    while (number, at) < last:
        document = documents[number]
        length = size_of(document)
        stop = last[1] if number == last[0] else length
        if stop - at > 2 * size:
            stop = min(stop, safe_cut(document, at + size, cut))
        if stop > at:
            yield document, at, stop
        number, at = (number, stop) if stop < length else (number + 1, 0)
