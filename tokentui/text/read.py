"""Read corpora: resolve a source to files, read each file, and join the documents to one corpus."""

from __future__ import annotations

import errno
import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, BinaryIO, TypeAlias

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, each_of, name_of, nearest, path_of, shown, shown_path
from tokentui.core.files import read_errors
from tokentui.core.jobs import check, silent
from tokentui.core.records import dataclass
from tokentui.text import counting, files, parquet, remote, sources
from tokentui.text.corpus import (
    Corpus,
    Invalid,
    LazyDocuments,
    LongText,
    decode,
    digest_of,
    mark_notes,
    whole_text,
)
from tokentui.text.counting import header_in, note_kind
from tokentui.text.joining import joined
from tokentui.text.named import named_in
from tokentui.text.sources import READ_AS, find_sample, samples

COUNTED = ".counts.tsv"
"""Suffix of a file of counted words."""
HEADER_CHARS = 1 << 16
"""Characters at the start of a file that are searched for the header of counted words."""
_STDIN = "standard input"
_PACKED_NAME = re.compile(r"\.(gz|bz2|xz|zst)$")
_MOST_NAMES = 2000  # names of a folder that are compared with a missing name


CorpusSource: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One or several sources of a corpus."""
_SourcesByName: TypeAlias = Mapping[str, CorpusSource | Corpus]


class MissingFile(TokentuiError):
    """The file does not exist."""


def read(
    source: CorpusSource | _SourcesByName, *, as_: str | None = None, field: str = "text",
    stdin: BinaryIO | None = None,
    shares: str = "count", development: _SourcesByName | None = None,
) -> Corpus:
    """Read a corpus.

    Args:
        source: A file, a folder (its text files), `-` (standard input), a glob, `sample:NAME`, or a URL of
            one of `remote.SCHEMES`; or several of them, whose documents are joined. Compressed files (gzip,
            bzip2, xz, zstd) are unpacked. A path object is always a path. A dict of sources gives named
            corpora.
        as_: How files are read, one of `READ_AS`; None goes by the name: `.jsonl` and `.ndjson`,
            `.counts.tsv`, `.parquet`, else text. A named pipe is read only if this is given.
        field: The field of JSON rows, or the column of a Parquet table, that holds the text.
        stdin: The stream that `-` reads; the program's standard input when None.
        shares: How named corpora share, one of `named.SHARES`.
        development: Texts for evaluation only, by the names of named corpora.

    The job reports its progress in bytes of the files on the disk.

    Raises:
        TokentuiError: A source does not exist, is not text, is damaged or too large. The message names it.
        Cancelled: The job is cancelled.
    """
    name_of(field, "field")
    if as_ is not None and name_of(as_, "as") not in READ_AS:
        raise TokentuiError(f"unknown input format {as_!r}", "as", nearest(as_, READ_AS))
    if (corpora := _named(source, shares, development)) is not None:
        return _joined(*corpora, as_, field, stdin)
    checked = (
        [source]
        if isinstance(source, str | bytes | os.PathLike)
        else each_of(source, "corpus", "pass a path, or a list")
    )
    # Keep a path object, since the texts `-` and globs are not paths.
    names = [
        name if path_of(name, "corpus") and isinstance(name, os.PathLike) else str(name) for name in checked
    ]
    if not names:
        raise TokentuiError("no corpus is named", "", "name a file, a folder, - or sample:english")
    sources = [find(name, as_ is not None) for name in names]
    inputs = [input_ for source_ in sources for input_ in source_.inputs]
    sizes = [input_.size for input_ in inputs]
    named = sum(input_.size or 0 for input_ in inputs if not input_.listed)
    meter = files.Meter(0 if None in sizes else sum(size or 0 for size in sizes))
    meter.check(named, "all files together")
    parts = _Parts(field, meter, stdin)
    try:
        for source_ in sources:
            before = len(parts.digests)
            for input_ in source_.inputs:
                parts.take(input_, as_ or input_.as_, source_.left_out, pipes=as_ is not None)
            if source_.folder and len(parts.digests) == before:
                why = _left_out(source_.left_out) or "it is empty"
                raise TokentuiError("there is no text file in this folder", source_.name, why)
        notes = [f"{source_.name}: {note}" for source_ in sources if (note := _left_out(source_.left_out))]
        return parts.corpus(_title(sources), notes)
    except MemoryError:
        what = "there is not enough memory to hold it"
        raise TokentuiError(what, _title(sources), "tokentui count counts a text of any size") from None


def _joined(
    sources: _SourcesByName, shares: str, development: _SourcesByName, as_: str | None, field: str,
    stdin: BinaryIO | None
) -> Corpus:
    """Read named corpora and join them to one. Sources that are already a `Corpus` are used directly."""
    with silent():
        read_, judged = (
            {
                name: rows_ if isinstance(rows_, Corpus) else read(rows_, as_=as_, field=field, stdin=stdin)
                for name, rows_ in rows.items()
            }
            for rows in (sources, development)
        )
    return joined(read_, shares, judged)


def _named(
    source: object, shares: str, development: _SourcesByName | None
) -> tuple[_SourcesByName, str, _SourcesByName] | None:
    """Return the sources, the shares and the development texts of named corpora; None for another source.

    Raises:
        TokentuiError: Another source has shares or development texts.
    """
    single = source[0] if isinstance(source, list | tuple) and len(source) == 1 else source
    if (corpora := named_in(single)) is not None:
        return dict(corpora.sources), corpora.shares, dict(corpora.development)
    if isinstance(source, Mapping):
        given: object = development
        if not isinstance(given, Mapping | None):
            what = f"expected a dict from corpus names to texts, not {shown(given)}"
            raise TokentuiError(what, "development", "pass a dict, or None")
        return source, shares, development or {}
    if development or shares != "count":
        what = "only named corpora have shares and development texts"
        raise TokentuiError(what, "corpus", 'pass a dict, such as {"en": "english.txt"}')
    return None


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read: a path, a URL, or standard input if `path` is None. A file that is `listed` in a folder
    is skipped if it is not text."""

    path: str | None
    size: int | None = None
    as_: str | None = None
    listed: bool = False

    @property
    def name(self) -> str:
        """The name to show."""
        if self.path is None:
            return _STDIN
        return remote.base_name(self.path) if self.remote else shown_path(os.path.basename(self.path))

    @property
    def where(self) -> str:
        """The name in errors."""
        if self.path is None:
            return _STDIN
        return remote.shown(self.path) if self.remote else shown_path(self.path)

    @property
    def remote(self) -> bool:
        """True for a URL."""
        return remote.is_url(self.path)


@dataclass(frozen=True, slots=True)
class FoundInputs:
    """The files of one source.

    Attributes:
        name: The name to show.
        inputs: The files.
        folder: True if the source is a folder.
        left_out: The number of skipped files of the folder, by kind.
    """

    name: str
    inputs: list[Input]
    folder: bool = False
    left_out: Counter[str] = field(default_factory=Counter)


def find(source: str | os.PathLike[str], pipes: bool) -> FoundInputs:
    """Return the files that a source names.

    Args:
        source: As `read` takes it.
        pipes: True to accept a named pipe.

    Raises:
        TokentuiError: No file matches, or a file cannot be accessed.
    """
    if isinstance(source, str):
        if named_in(source) is not None:
            hint = "name them alone, or by --corpus NAME=FILE"
            raise TokentuiError("named corpora cannot be part of another corpus", source[:80], hint)
        if remote.is_url(source):
            files_, folder = remote.list_files(source)
            inputs = [Input(file_.url, file_.size, listed=folder) for file_ in files_]
            return FoundInputs(remote.base_name(source) + "/" * folder, inputs, folder)
        if source == "-" and not sandbox.sealed():
            return FoundInputs(_STDIN, [Input(None)])
        if source.startswith("sample:"):
            sample = find_sample(source.removeprefix("sample:"))
            return FoundInputs(sample.name, [Input(str(sample.path), sample.bytes, sample.as_)])
    path = os.fspath(source)
    sandbox.check(path)
    with read_errors(path):
        if os.path.isdir(path):
            return _folder(path)
        try:
            size = files.measure(path, pipes=pipes)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise
            import glob  # few names are patterns

            if isinstance(source, str) and glob.has_magic(source) and isinstance(error, FileNotFoundError):
                return _glob(source)
            raise MissingFile("no such file", shown_path(path), _alike(path)) from error
        return FoundInputs(shown_path(os.path.basename(path)), [Input(path, size)])


def _glob(pattern: str) -> FoundInputs:
    """Return the files that a pattern names, sorted; `**` searches subfolders. Raises if there are none."""
    import glob

    matches = []
    for path in glob.iglob(pattern, recursive=True):
        check()
        if os.path.isfile(path):
            matches.append(path)
    if not matches:
        raise TokentuiError("no file matches", shown_path(pattern), "** searches subfolders too")
    return FoundInputs(
        shown_path(pattern), [Input(path, files.measure(path)) for path in sorted(matches, key=_in_order)]
    )


def _folder(folder: str) -> FoundInputs:
    """Return the regular files below a folder, sorted. Hidden files and links to folders are skipped."""
    name = shown_path(os.path.basename(os.path.abspath(folder)) or folder) + "/"
    inputs = FoundInputs(name, [], folder=True)
    paths = []
    for place, folders, names in os.walk(folder, onerror=_raise):
        check()
        hidden = [name for name in folders + names if name.startswith(".")]
        inputs.left_out["hidden"] += len(hidden)
        folders[:] = [name for name in folders if not name.startswith(".")]
        inputs.left_out["linked folder"] += sum(os.path.islink(os.path.join(place, name)) for name in folders)
        paths += [os.path.join(place, name) for name in names if not name.startswith(".")]
    for path in sorted(paths, key=_in_order):
        if not sandbox.holds(path):
            inputs.left_out["link out of the folder"] += 1
        elif os.path.isfile(path):
            inputs.inputs.append(Input(path, os.stat(path).st_size, listed=True))
        else:
            inputs.left_out["special"] += 1
    return inputs


def _raise(error: OSError) -> None:
    raise error


def _in_order(path: str) -> list[str]:
    """Sort key for the files of a folder: path components in order."""
    return path.split(os.sep)


def _alike(path: str) -> str:
    """Return the hint for a missing file: a file with a similar name in its folder, or a sample."""
    folder, name = os.path.split(path)
    if path in {sample.name for sample in samples()}:
        return f"did you mean sample:{path}?"
    try:
        with os.scandir(folder or ".") as entries:
            beside = [entry.name for entry in itertools.islice(entries, _MOST_NAMES)]
    except OSError:
        return "there is no such folder either"
    import difflib  # only where a user is wrong

    close = difflib.get_close_matches(name, beside, n=1)
    return f"did you mean {shown_path(os.path.join(folder, close[0]))}?" if close else "check the name"


def _left_out(left_out: Counter[str]) -> str:
    kinds = [f"{count:,} {kind}" for kind, count in left_out.items() if count]
    return f"left out: {', '.join(kinds)}" if kinds else ""


def _title(sources: list[FoundInputs]) -> str:
    return sources[0].name if len(sources) == 1 else f"{sources[0].name} and {len(sources) - 1} more"


class _Parts:
    """Collects the contents of the files of a corpus."""

    def __init__(self, field: str, meter: files.Meter, stdin: BinaryIO | None) -> None:
        self._field, self._meter, self._stdin = field, meter, stdin
        self._documents: list[str | LongText] = []
        self._counts: list[tuple[str, int]] = []
        self._ways: dict[str, str] = {}
        self._counting: str | None = None
        self._invalid: list[Invalid] = []
        self._notes: list[str] = []
        self._marked: dict[str, list[str]] = {}
        self.digests: list[bytes | LongText] = []

    def take(self, input_: Input, as_: str | None, left_out: Counter[str], *, pipes: bool) -> None:
        """Read one file and add its content, notes and digest. A binary file of a folder is only counted, in
        `left_out`."""
        try:
            contents = self._contents(input_, pipes)
        except files.Binary:
            left_out["binary"] += 1
            return
        where = input_.where
        if as_ in (None, "counts") and parquet.named(input_.path or ""):
            self._take_table(contents, as_, where)
            return
        if contents.looks:
            self._notes.append(f"{input_.name} looks like {contents.looks}; its bytes are taken as they are")
        text, invalid, mark = decode(contents.data, input_.name)
        self._invalid += [invalid] if invalid else []
        if mark:
            self._marked.setdefault(mark, []).append(input_.name)
        header = header_in(text[:HEADER_CHARS])
        way = as_ or ("counts" if header is not None else way_of(input_.path or "", lambda: text[:]))
        if way == "counts" and input_.as_ is None:  # a sample is counted words by itself
            self._count_by(header or counting.UNKNOWN, where)
        note_kind(self._ways, "words" if way == "counts" else "texts", where)
        if way == "text" and isinstance(text, LongText):
            self.digests.append(contents.digest or text)
            self._documents.append(text)
            return
        self.digests.append(contents.digest or digest_of(contents.data))
        text = whole_text(text)
        del contents  # its memory is needed
        match way:
            case "lines":
                self._documents += sources.lines(text)
            case "jsonl":
                self._documents += sources.jsonl(text, self._field, where)
            case "counts":
                self._counts += sources.counts(text, where)
            case _:
                self._documents.append(text)

    def _count_by(self, settings: str, where: str) -> None:
        """Record how a file of counted words was counted.

        Raises:
            TokentuiError: Another file was counted in another way.
        """
        if self._counting and settings:
            counting.check_same(settings, self._counting, where)
        self._counting = settings if self._counting is None else self._counting and settings

    def _take_table(self, contents: files.Contents, as_: str | None, where: str) -> None:
        """Add the documents or the counted words of a Parquet table.

        It has counted words if `as_` is "counts", or by its columns. Raises if earlier parts are of the other
        kind, or were counted by other settings.
        """
        self.digests.append(contents.digest or digest_of(contents.data))
        table = parquet.ParquetTable(contents.data, where, self._meter)
        note_kind(self._ways, "words" if as_ == "counts" or table.counted(self._field) else "texts", where)
        if "words" in self._ways:
            self._count_by(table.counting, where)
            self._counts += table.counts()
        else:
            self._documents += table.documents(self._field)

    def _contents(self, input_: Input, pipes: bool) -> files.Contents:
        """Read a file, a URL or standard input, and return the content, within the limits.

        Raises:
            TokentuiError: There is no standard input, or the file cannot be read.
        """
        if input_.path is not None:
            only_text = input_.listed and not parquet.named(input_.path)
            if input_.remote:
                with remote.readable_errors(input_.path), remote.open_stream(input_.path) as answer:
                    return files.read_stream(answer, input_.where, self._meter, only_text, size=input_.size)
            return files.read_path(input_.path, self._meter, text_only=only_text, pipes=pipes)
        stream = self._stdin or getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise TokentuiError("there is none", _STDIN, "name a file")
        return files.read_stream(stream, _STDIN, self._meter)

    def corpus(self, name: str, notes: Sequence[str]) -> Corpus:
        """Return everything that was read as one corpus. Counts of repeated words are added."""
        counts = Corpus.from_counts(self._counts).counts if "words" in self._ways else None
        notes_ = (*notes, *self._notes, *mark_notes(self._marked))
        bytes_ = sum(invalid_.count for invalid_ in self._invalid)
        invalid = replace(self._invalid[0], count=bytes_) if self._invalid else None
        long = LongText in set(map(type, self._documents))
        texts: Sequence[Any] = self._documents
        documents: Sequence[str] = LazyDocuments(texts) if long else tuple(texts)
        digests = tuple(self.digests)
        return Corpus(name, documents, counts, invalid, notes_, digests, counting=self._counting)


def way_of(path: str, text: Callable[[], str]) -> str:
    """Return how to read a file by its name: one of `READ_AS`. A suffix of compression is ignored.

    `text` is called only for a name that ends with `.counts`. The file is `text` if that is no counted words.
    """
    name = _PACKED_NAME.sub("", path.lower())
    if name.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    if name.endswith(COUNTED) or (name.endswith(".counts") and sources.are_counts(text())):
        return "counts"
    return "text"
