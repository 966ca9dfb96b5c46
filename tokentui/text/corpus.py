"""A corpus: documents, or counted words, and what is worth knowing about the bytes that they came from."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokentui.core.errors import TokentuiError, each_of, name_of, shown, text_of, whole
from tokentui.text.documents import Documents, LongText
from tokentui.text.sources import format_counts
from tokentui.text.split import to_bytes

LONG_BYTES = 1 << 18
"""A shorter document is better kept as text."""
_HALF = re.compile("[\ud800-\udfff]")
_LARGEST_COUNT = 2**63 - 1


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
