"""A corpus: documents, or counted words, and what is worth knowing about the bytes that they came from.

A long document is kept as the UTF-8 that it was read as: kernels take its bytes, all others decode the part
that they look at. Python's own text takes up to four bytes a character for the sake of a single one, and to
decode a large file in one call holds up every other thread.
"""

from __future__ import annotations

import bisect
import codecs
import hashlib
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from tokentui.core.arguments import each_of, name_of, shown, text_of, whole
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.text.rows import format_counts
from tokentui.text.split import to_bytes

LONG_BYTES = 1 << 18
"""A shorter document is better kept as text."""
_BLOCK = 1 << 14
_STRIDE = 1 << 18
_HALF = re.compile("[\ud800-\udfff]")
_LARGEST_COUNT = 2**63 - 1


class LongText:
    """A document of valid UTF-8. It is measured and sliced in characters, as text is.

    Args:
        data: The bytes of a file, which are not changed from now on.
        start: Where the text begins in them: after a byte order mark.

    Raises:
        UnicodeDecodeError: It is not valid UTF-8.
        Cancelled: The job is cancelled.
    """

    __slots__ = ("_before", "_borders", "_start", "_stop", "_whole", "data")

    def __init__(self, data: bytes | memoryview, start: int = 0) -> None:
        self.data = memoryview(data)
        self._start, self._stop = start, len(data)
        self._whole: str | None = None
        # The borders of blocks, in bytes, and how many characters stand before each.
        self._borders, self._before = array("q", [0]), array("q", [0])
        at = characters = 0
        while at < self.size:
            end = self.border(at + _BLOCK)
            block = bytes(self.data[start + at : start + end])
            characters += len(block) if block.isascii() else len(block.decode())
            at = end
            self._borders.append(at)
            self._before.append(characters)
            if len(self._before) % 64 == 0:
                check()

    def __reduce__(self) -> tuple[type[LongText], tuple[bytes, int]]:
        return LongText, (bytes(self.data), self._start)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._stop - self._start

    def utf8(self, start: int, stop: int) -> memoryview:
        """The bytes from one place, in bytes, up to another."""
        return self.data[self._start + start : self._start + min(stop, self.size)]

    def border(self, at: int) -> int:
        """The place, in bytes, where the character begins to which the byte at a place belongs; the end for
        one past it."""
        if at >= self.size:
            return self.size
        for place in range(at, max(at - 4, 0), -1):
            if self.data[self._start + place] & 0xC0 != 0x80:
                return place
        return at if at > 3 else 0  # not UTF-8, as decoding will tell

    def whole(self) -> str:
        """The text in one piece, which is kept."""
        if self._whole is None:
            self._whole = str(self.utf8(0, self.size), "utf-8")
        return self._whole

    def __len__(self) -> int:
        return self._before[-1]

    def __getitem__(self, wanted: slice) -> str:
        start, stop, _ = wanted.indices(len(self))
        if start >= stop:
            return ""
        first, last = bisect.bisect_right(self._before, start) - 1, bisect.bisect_left(self._before, stop)
        text = str(self.utf8(self._borders[first], self._borders[last]), "utf-8")
        return text[start - self._before[first] : stop - self._before[first]]

    def find(self, text: str, start: int = 0) -> int:
        """As `str.find`."""
        for at in range(start, len(self) + 1, _STRIDE):
            found = self[at : at + _STRIDE + len(text) - 1].find(text)
            if found >= 0:
                return at + found
        return -1

    def rfind(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """As `str.rfind`, without places counted from the end."""
        end = len(self) if stop is None else min(stop, len(self))
        while start <= end:
            at = max(start, end - _STRIDE)
            found = self[at:end].rfind(text)
            if found >= 0:
                return at + found
            if at == start:
                break
            end = min(end, at + len(text) - 1)  # the part of one that begins before is looked at again
        return -1


class Documents(Sequence[str]):
    """The texts of documents, of which a long one is decoded as a whole when it is asked for."""

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

    def __iter__(self) -> Iterator[str]:
        return map(whole_text, self.texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def safe_cut(text: str | LongText, at: int, cut: Callable[[str, int], int]) -> int:
    """Return `cut(text, at)`: the first safe place from `at` on.

    The function `cut` decides on a place by the character before it and the character after it.
    """
    if isinstance(text, str):
        return cut(text, at)
    start, window = max(at - 1, 0), 256
    place = cut(text[start : start + window], at - start)
    while place == window and start + window < len(text):
        start += window - 1
        window *= 2
        place = cut(text[start : start + window], 1)
    return min(start + place, len(text))


def whole_text(text: str | LongText) -> str:
    """Return a document as one text."""
    return text if isinstance(text, str) else text.whole()


@dataclass(frozen=True, slots=True)
class Invalid:
    """The bytes of a corpus that its encoding does not allow.

    The first of them stands in `file` at byte `offset` (from 0, of the unpacked file, a byte order mark
    counted), in line `line` (from 1).
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


class Digest:
    """The SHA-256 of what was read; of a long file it is found when it is asked for.

    Args:
        files: The digest of each file, or the document that holds its bytes.
    """

    def __init__(self, files: Sequence[bytes | LongText]) -> None:
        self._files = tuple(files)
        self._known = ""

    def __str__(self) -> str:
        if not self._known:
            digests = [
                one if isinstance(one, bytes) else hashlib.sha256(one.data).digest() for one in self._files
            ]
            self._known = (
                digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()
            ).hex()
        return self._known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True)
class Corpus:
    """A training text, read once and never changed.

    Args:
        name: A short name to show.
        documents: The texts, in order; bytes that are not UTF-8 are lone surrogates (`surrogateescape`).
            `texts` are the same, of which long ones need not be decoded.
        counts: Of a corpus of counted words: each word with its count, in order; the words are pre-tokens as
            they are.
        size: Bytes of text, as UTF-8 (of counted words: each as often as it counts).
        invalid: The bytes that are no text, if there are any.
        notes: Short sentences that the user should see, such as what was left out of a folder.
        digest: Of the bytes read, as they stand in the file; of several files, of their digests in order.
    """

    name: str
    documents: Sequence[str] = field(repr=False)
    counts: tuple[tuple[str, int], ...] | None = field(repr=False)
    size: int
    invalid: Invalid | None
    notes: tuple[str, ...]
    digest: Digest = field(repr=False)

    @property
    def sha256(self) -> str:
        """The digest in hexadecimal digits."""
        return str(self.digest)

    @property
    def noticed(self) -> tuple[str, ...]:
        """The remarks for the user, a sentence each: the notes, and the bytes that are not text."""
        return (*self.notes, *([str(self.invalid)] if self.invalid else []))

    @property
    def texts(self) -> Sequence[str | LongText]:
        """The documents as they are kept."""
        return self.documents.texts if isinstance(self.documents, Documents) else self.documents

    @property
    def characters(self) -> int:
        """The number of characters of all documents."""
        return sum(map(len, self.texts))

    @classmethod
    def from_text(cls, text: str | bytes, name: str = "text") -> Corpus:
        """A corpus of one document."""
        text_of(text)
        raw = text if isinstance(text, bytes) else to_bytes(text)
        document, invalid = decode(raw, name) if isinstance(text, bytes) else (text, None)
        mark = mark_of(raw) if isinstance(text, bytes) else ""
        return build(
            name, (document,), None, invalid, mark_notes({mark: [name]}) if mark else (), _digest(raw)
        )

    @classmethod
    def from_lines(cls, lines: Iterable[str], name: str = "lines") -> Corpus:
        """A corpus of a document a line."""
        documents = tuple(each_of(lines, "lines", "hand in a list of texts"))
        for line in documents:
            name_of(line, "lines")
        raw = to_bytes("".join(line + "\n" for line in documents))
        return build(name, documents, None, None, (), _digest(raw))

    @classmethod
    def from_counts(cls, counts: Iterable[tuple[str, int]], name: str = "counts") -> Corpus:
        """A corpus of counted words. A word that comes twice counts for the sum."""
        summed: dict[str, int] = {}
        rows: list[object] = list(each_of(counts, "counts", "hand in rows of (word, count)"))
        for row in rows:
            if not isinstance(row, list | tuple) or len(row) != 2:
                what = f"a word and its count belong here, not {shown(row)}"
                raise TokentuiError(what, "counts", "hand in rows of (word, count)")
            word, count = name_of(row[0], "counts"), whole(row[1], "counts")
            if not word or not 1 <= count <= _LARGEST_COUNT:
                raise TokentuiError(
                    "a word is not empty and counts 1 or more",
                    f"{shown(word)}: {shown(count)}",
                    "leave it out",
                )
            summed[word] = summed.get(word, 0) + count
        digest = _digest(format_counts(summed.items()).encode())
        return build(name, (), tuple(summed.items()), None, (), digest)


def build(
    name: str,
    texts: Sequence[str | LongText],
    counts: tuple[tuple[str, int], ...] | None,
    invalid: Invalid | None,
    notes: tuple[str, ...],
    digest: Digest,
) -> Corpus:
    """A corpus of these parts, measured."""
    size = sum(map(_size, texts)) + sum(_size(word) * count for word, count in counts or ())
    plain = tuple(text for text in texts if isinstance(text, str))
    return Corpus(
        name, plain if len(plain) == len(texts) else Documents(texts), counts, size, invalid, notes, digest
    )


def _digest(raw: bytes) -> Digest:
    return Digest([hashlib.sha256(raw).digest()])


def long_text(data: memoryview) -> LongText | None:
    """A file's bytes as a document that is decoded where it is looked at; None where they are few, or not
    plain UTF-8."""
    if len(data) < LONG_BYTES or bytes(data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return None
    try:
        return LongText(data, _mark_length(data))
    except UnicodeDecodeError:
        return None


def mark_of(data: bytes | memoryview) -> str:
    """The encoding that the byte order mark of a file names, empty where there is no mark."""
    if bytes(data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "UTF-16"
    return "UTF-8" if _mark_length(data) else ""


def mark_notes(marked: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Sentences on the byte order marks that were left out: of files by what the mark says they are."""
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


def _mark_length(data: bytes | memoryview) -> int:
    return len(codecs.BOM_UTF8) if bytes(data[:3]) == codecs.BOM_UTF8 else 0


def decode(data: bytes | memoryview, file: str) -> tuple[str, Invalid | None]:
    """The text of a file's bytes: UTF-8, or UTF-16 where a byte order mark says so. The mark is not text.

    Bytes that are not UTF-8 come as lone surrogates, so that the very bytes can be had back; damage in UTF-16
    comes as U+FFFD, since its bytes mean nothing in the UTF-8 that tokenizers work on.
    """
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if bytes(data[:2]) == mark:
            return _decode_utf16(memoryview(data)[2:], codec, file)
    mark_length = _mark_length(data)
    body = memoryview(data)[mark_length:]
    try:
        return str(body, "utf-8"), None
    except UnicodeDecodeError as error:
        text = str(body, "utf-8", "surrogateescape")
        # Each byte that is not UTF-8 became one surrogate, and "ignore" leaves out just those.
        count = len(body) - len(text.encode("utf-8", "ignore"))
        start = mark_length + error.start
        return text, Invalid(count, file, start, bytes(data[:start]).count(b"\n") + 1)


def _decode_utf16(body: memoryview, codec: str, file: str) -> tuple[str, Invalid | None]:
    try:
        return str(body, codec), None
    except UnicodeDecodeError as error:
        odd = len(body) % 2
        text, halves = _HALF.subn("\ufffd", str(body[: len(body) - odd], codec, "surrogatepass"))
        line = str(body[: error.start], codec).count("\n") + 1
        return text + "\ufffd" * odd, Invalid(2 * halves + odd, file, 2 + error.start, line, "UTF-16")


def _size(text: str | LongText) -> int:
    if isinstance(text, LongText):
        return text.size
    return len(text) if text.isascii() else len(to_bytes(text))


def beginning(corpus: Corpus, chars: int) -> Corpus:
    """The first so many characters of a corpus, cut between words where there are any."""
    if corpus.counts is not None:
        kept, room = [], chars
        for word, times in corpus.counts:
            if room <= 0:
                break
            kept.append((word, times))
            room -= len(word) + 1
        return replace(corpus, counts=tuple(kept))
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
    return replace(corpus, documents=tuple(documents))
