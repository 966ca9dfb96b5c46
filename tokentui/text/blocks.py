"""Read the documents of a part of a corpus, block by block.

Both ends of a file range move to the first following place where the text may be cut: a line end if a line is
a document, else a safe cut of the split (`Pretokenizer.cuts`). Such a place depends only on the bytes around
it. So the readers of neighboring ranges find the same place without communication, and every byte belongs to
one part.

UTF-8 may be cut before any byte that does not continue a character, valid or not: a decoder can start there.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import BinaryIO, Protocol

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_errors
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.recipe import Recipe
from tokentui.text import files, remote, sources
from tokentui.text.corpus import LongText, decode
from tokentui.text.count import COVERED, Coverage
from tokentui.text.counting import check_same, counting_of, header_in, note_kind
from tokentui.text.plan import HEAD, UTF16, CountTask, FileRange, may_cut, opened, table_of
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.read import HEADER_CHARS, Input

BLOCK = 16 << 20
"""Bytes of text that are counted at a time."""
_WINDOW = 1 << 12
"""Bytes after a place that are searched first for a cut."""
_NEAR_END = 1 << 16
_CONTINUES = range(0x80, 0xC0)

TextPieces = Sequence[str | LongText]
"""Documents, or pieces of a document between safe cuts."""


@dataclass
class Remarks:
    """Remarks for the user on files that were read in parts.

    Attributes:
        invalid: The number of bytes that are not UTF-8.
        first: A phrase that says where the first of them is.
        looks: Sentences on files that look like another kind of file.
        left_out: The number of binary files of folders that are not read.
        taken: The number of files of folders that are read.
        kinds: The first file with `texts` and the first file with `words`, by these kinds.
        read: The bytes read from the files, before unpacking.
        coverage: How much of the texts the pre-tokens cover.
    """

    invalid: int = 0
    first: str = ""
    looks: list[str] = field(default_factory=list)
    left_out: int = 0
    taken: int = 0
    kinds: dict[str, str] = field(default_factory=dict)
    read: int = 0
    coverage: Coverage = COVERED

    def add(self, other: Remarks) -> None:
        """Add the remarks on a later part to these, in place.

        Raises:
            TokentuiError: One part has texts and the other counted words.
        """
        self.invalid += other.invalid
        self.first = self.first or other.first
        self.looks += other.looks
        self.left_out += other.left_out
        self.taken += other.taken
        self.read += other.read
        self.coverage += other.coverage
        for kind, where in other.kinds.items():
            note_kind(self.kinds, kind, where)

    @property
    def sentences(self) -> list[str]:
        """The remarks as sentences."""
        sentences = [f"left out: {self.left_out:,} binary"] if self.left_out else []
        if self.invalid:
            are = "1 byte is" if self.invalid == 1 else f"{self.invalid:,} bytes are"
            sentences.append(f"{are} not UTF-8, the first at {self.first}")
        return [*self.looks, *sentences, *self.coverage.notes]


class Receiver(Protocol):
    """Receives the content of a part: documents, or rows of counted words."""

    def texts(self, documents: TextPieces) -> None:
        """Receive documents, or pieces of one."""

    def rows(self, rows: Iterable[tuple[str, int]]) -> None:
        """Receive counted words."""


class PartReader:
    """Reads parts.

    Args:
        recipe: The recipe. Its split decides where a document may be cut.
        field: The field of JSON rows, or the column of a table, with the text.
    """

    def __init__(self, recipe: Recipe, field: str) -> None:
        self._recipe, self._pretokenizer = recipe, Pretokenizer(recipe)
        self._cuts = may_cut(recipe)
        self._field = field

    def read(self, part: CountTask, take: Receiver) -> Remarks:
        """Pass the contents of a part to `take`, block by block. Return remarks on them.

        Binary files of folders are skipped and counted in the remarks. Coverage is left to the caller.

        Raises:
            TokentuiError: A file cannot be read, or a piece that must be in memory at once is larger than the
                limit.
            Cancelled: The job is cancelled.
        """
        noticed, meter = Remarks(), files.Meter(limit="count-bytes")
        for stretch in part:
            try:
                self._read(stretch, take, noticed, meter)
                noticed.taken += stretch.file.listed
            except files.Binary:
                noticed.left_out += 1
            noticed.read += stretch.size
        return noticed

    def _read(self, stretch: FileRange, take: Receiver, noticed: Remarks, meter: files.Meter) -> None:
        """Read a stretch and pass it on as counted words or as texts.

        Raises `Binary` for a binary file, whose kind is not noted, and if counts or kinds do not go together.
        """
        way, file = stretch.way, stretch.file
        if "table" in way:
            note_kind(noticed.kinds, "words" if way == "counted-table" else "texts", file.where)
            with table_of(file, meter) as table:
                groups = None if stretch.stop is None else list(range(stretch.start, stretch.stop))
                if way == "counted-table":
                    if table.counting:
                        check_same(table.counting, counting_of(self._recipe), file.where)
                    take.rows(table.counts(groups))
                else:
                    _batched(table.documents(self._field, groups), take)
            return
        noticed_before = dict(noticed.kinds)
        note_kind(noticed.kinds, "words" if way == "counts" else "texts", file.where)
        try:
            whole = not (stretch.start or stretch.stop)
            for place, block in self._whole(stretch, meter, noticed) if whole else self._ranged(stretch):
                if not (place or whole):
                    self._note_looks(noticed, file, files.look(block[:HEAD], file.where)[0])
                self._pass_on(block, stretch, place, take, noticed)
        except files.Binary:
            noticed.kinds = noticed_before
            raise

    # The content of a file range, as bytes.

    def _ranged(self, stretch: FileRange) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks of a range of an unpacked file: (offset in the file, bytes).

        Both ends of the range move to the next place where the text may be cut. If the start moves past the
        end of the range, there are no blocks: an earlier range has these bytes.

        Raises:
            TokentuiError: More bytes than the limit have no place to cut.
        """
        most, stop = int(limits.now().document_bytes), stretch.stop
        begin = max(stretch.start - 4, 0)
        with opened(stretch.file, begin) as stream:
            buffer, place = bytearray(), begin
            ended = False

            def more(count: int) -> None:
                nonlocal ended
                check()
                block = stream.read(count)
                ended = not block
                buffer.extend(block)
                if len(buffer) > most:
                    raise _too_long(stretch, most)

            if stretch.start:
                more(_WINDOW)
                at = stretch.start - place
                while (cut := self._cut(buffer, at, stretch.way, ended)) is None and not ended:
                    more(len(buffer))
                if cut is None or (stop is not None and place + cut >= stop):
                    return  # the part before it holds all of it
                del buffer[:cut]
                place += cut
            while not ended:
                left = BLOCK if stop is None else stop + _WINDOW - place - len(buffer)
                more(min(BLOCK, left if left > 0 else max(_WINDOW, len(buffer) // 2)))
                if stop is not None and place + len(buffer) > stop:
                    end = self._cut(buffer, stop - place, stretch.way, ended)
                    if end is not None:
                        yield place, bytes(buffer[:end])
                        return
                elif len(buffer) >= BLOCK and (end := self._last(buffer, stretch.way)):
                    yield place, bytes(buffer[:end])
                    del buffer[:end]
                    place += end
            if buffer:
                yield place, bytes(buffer)

    def _whole(self, stretch: FileRange, meter: files.Meter, noticed: Remarks) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks of a whole file, unpacked: (offset in the unpacked file, bytes).

        A file that cannot be cut, or is UTF-16, is a single block. An empty file has no blocks.

        Raises:
            TokentuiError: A file that cannot be cut is larger than the limit.
        """
        most = int(limits.now().document_bytes)
        buffer, place, whole = bytearray(), 0, not self._cuts and stretch.way == "text"
        with self._stream(stretch.file) as stream:
            only = stretch.file.listed
            size = stretch.file.size if stretch.file.remote else None
            for block, looks in files.blocks(stream, stretch.file.where, meter, only, size=size):
                if not place and not buffer:
                    whole = whole or block.startswith(UTF16)
                    self._note_looks(noticed, stretch.file, looks)
                buffer += block
                if len(buffer) >= BLOCK and not whole and (end := self._last(buffer, stretch.way)):
                    yield place, bytes(buffer[:end])
                    del buffer[:end]
                    place += end
                if len(buffer) > most:
                    raise _too_long(stretch, most)
        if buffer:
            yield place, bytes(buffer)

    @contextlib.contextmanager
    def _stream(self, file: Input) -> Iterator[BinaryIO]:
        """Open a file for reading its bytes without unpacking.

        Raises:
            TokentuiError: It is standard input, and there is none.
        """
        if file.path is None:
            stream = getattr(sys.stdin, "buffer", None)
            if stream is None:
                raise TokentuiError("there is none", file.where, "name a file")
            yield stream
        elif file.remote:
            with remote.readable_errors(file.path), remote.open_stream(file.path) as stream:
                yield stream
        else:
            with read_errors(file.path), files.opened_file(file.path, pipes=True) as stream:
                yield stream

    def _last(self, data: bytearray, way: str) -> int:
        """Return a place near the end of the bytes where they may be cut, or 0 if none was found."""
        for back in (_NEAR_END, len(data) // 2, len(data) - 1):
            cut = self._cut(data, max(len(data) - back, 1), way, ended=False)
            if cut is not None:
                return cut
        return 0

    def _cut(self, data: bytearray, at: int, way: str, ended: bool) -> int | None:
        """Return the first offset above 0, from `at` on, where the bytes may be cut. None if the bytes read
        so far do not decide it.

        Args:
            data: Bytes of a file. They begin 4 bytes before `at`, or at the start of the file.
            at: The offset where the search begins.
            way: `text` for safe cuts of the split; any other value for line ends.
            ended: True if the bytes reach the end of the file.
        """
        if way != "text":
            end = data.find(b"\n", at - 1) + 1
            return end or None
        begin = at - 1
        while begin > max(at - 4, 0) and data[begin] in _CONTINUES:
            begin -= 1
        if data[begin] in _CONTINUES:
            begin = at - 1  # no character is so long: these bytes are no text
        window = _WINDOW
        while True:
            end = min(begin + window, len(data))
            if end < len(data) or not ended:  # the last character may be cut off
                end -= 1
                while end > begin and data[end] in _CONTINUES:
                    end -= 1
            text = data[begin:end].decode("utf-8", "surrogateescape")
            first, passed = 0, 0
            while passed < at - begin and first < len(text):
                passed += len(text[first].encode("utf-8", "surrogateescape"))
                first += 1
            cut = self._pretokenizer.safe_cut(text, first) if first < len(text) else len(text)
            if cut < len(text):
                return begin + len(text[:cut].encode("utf-8", "surrogateescape"))
            if begin + window >= len(data):
                return None
            window *= 4

    # The content of a block, as texts.

    def _pass_on(
        self, block: bytes, stretch: FileRange, place: int, take: Receiver, noticed: Remarks
    ) -> None:
        """Pass a block to `take` as documents or counted words.

        Args:
            block: The bytes, cut where the text may be cut.
            stretch: The range that is being read.
            place: The offset of the block in the file.
            take: Receives the content.
            noticed: Receives remarks, such as on bytes that are not UTF-8.

        Raises:
            TokentuiError: A row is damaged, or the header of counted words disagrees with the recipe.
        """
        text = self._text(block, stretch.file, place, noticed)
        way = stretch.way
        if way == "text":
            take.texts((text,))
            return
        whole, where = text if isinstance(text, str) else text.whole(), stretch.file.where
        if place:
            where += f" from byte {place:,}"
        match way:
            case "lines":
                take.texts(sources.lines(whole))
            case "jsonl":
                take.texts(sources.jsonl(whole, self._field, where))
            case _:
                if not place and (header := header_in(whole[:HEADER_CHARS])):
                    check_same(header, counting_of(self._recipe), where)
                take.rows(sources.counts(whole, where))

    def _text(self, block: bytes, file: Input, place: int, noticed: Remarks) -> str | LongText:
        """Decode a block. A long one that is UTF-8 stays encoded; invalid bytes are noted."""
        if not place:
            text, invalid, _ = decode(block, file.name)
            if invalid:
                self._note(noticed, invalid.count, file, invalid.offset)
            return text
        with contextlib.suppress(UnicodeDecodeError):
            return LongText(block)
        text = block.decode("utf-8", "surrogateescape")
        count = len(block) - len(text.encode("utf-8", "ignore"))
        try:
            block.decode()
        except UnicodeDecodeError as error:
            self._note(noticed, count, file, place + error.start)
        return text

    def _note_looks(self, noticed: Remarks, file: Input, looks: str) -> None:
        if looks:
            noticed.looks.append(f"{file.name} looks like {looks}; its bytes are taken as they are")

    def _note(self, noticed: Remarks, count: int, file: Input, place: int) -> None:
        """Count invalid bytes in the remarks, with the place of the first one."""
        noticed.invalid += count
        noticed.first = noticed.first or f"byte {place:,} of {file.name}"


def _too_long(stretch: FileRange, most: int) -> TokentuiError:
    """Return the error of a document that is over `most` bytes, with the hint for text or rows."""
    if stretch.way == "text":
        what = f"more than {most:,} bytes that this recipe can cut nowhere: they would be counted as one"
        hint = limits.reading("document-bytes", "--as lines makes a document of each line")
    else:
        what = f"a row has more than {most:,} bytes"
        hint = limits.reading("document-bytes", "look at its lines")
    return TokentuiError(what, stretch.where, hint)


def _batched(documents: Iterator[str], take: Receiver) -> None:
    """Pass documents to `take` in lists of about a block. The last list may be empty."""
    batch, size = list[str](), 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= BLOCK:
            take.texts(batch)
            batch, size = [], 0
    take.texts(batch)
