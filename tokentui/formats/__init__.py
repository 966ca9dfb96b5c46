"""Tokenizer files: one entry of `FORMATS` a format, read by content and written whole or not at all."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tokentui.core.arguments import name_of, path_of
from tokentui.core.atomic import write_whole
from tokentui.core.errors import TokentuiError
from tokentui.core.limits import now
from tokentui.encode.imported import ImportedVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.body import Fit, Refused, Table
from tokentui.formats.lazy import later
from tokentui.formats.native import dumps, loads
from tokentui.formats.report import ExportReport
from tokentui.formats.source import Source, read_source
from tokentui.formats.together import write_together
from tokentui.formats.writing import FOREIGN, Cancel, Format, Progress, refusal, survey, tried, written
from tokentui.recipe import Recipe, nearest

OWN = Format(
    "tokentui", "the project's own, one JSON document", (".json",), lambda body: Fit(Table(body.recipe, [])), lambda table: (),
    ("tokenizer.json",),
)
FORMATS: dict[str, Format] = {OWN.name: OWN, **FOREIGN}
"""The formats that are written, by name. The first one is what standard output and devices get where none is named."""

_MERGES = "GPT-2's merges.txt with its vocab.json"


@dataclass(frozen=True, slots=True)
class Reader:
    """A format of another tool.

    Attributes:
        name: What it is called.
        matches: Whether a file is one, by its content.
        read: The tokenizer of a file.
    """

    name: str
    matches: Callable[[Source], bool]
    read: Callable[[Source], Tokenizer]


READERS: tuple[Reader, ...] = (
    Reader("Hugging Face's tokenizer.json", later("huggingface.is_tokenizer"), later("huggingface.read")),
    Reader("GPT-2's vocab.json with its merges.txt", later("merge_files.is_vocabulary"), later("merge_files.read_vocabulary")),
    Reader("sentencepiece's .model", later("sentencepiece.is_model"), later("sentencepiece.read")),
    Reader("tiktoken ranks", later("tiktoken.is_ranks"), later("tiktoken.read")),
    Reader("BERT's vocab.txt", later("vocab_txt.is_vocabulary"), later("vocab_txt.read")),
    Reader("Mistral's tekken.json", later("tekken.is_tekken"), later("tekken.read")),
    Reader("minbpe's .model", later("minbpe.is_model"), later("minbpe.read")),
    Reader("CLIP's bpe_simple_vocab", later("clip.is_merges"), later("clip.read")),
    Reader(_MERGES, later("merge_files.is_merges"), later("merge_files.read_rows")),
    Reader("subword-nmt's codes", later("subword_nmt.is_codes"), later("subword_nmt.read")),
)
"""What is read of other tools, in the order in which a file is tried."""

_PACKED = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}


def load(path: str | os.PathLike[str], split: str = "") -> Tokenizer:
    """Read a tokenizer file. What it is is told by its content, never by its name.

    Args:
        path: The file.
        split: A value of that axis, for a file that holds none (tiktoken ranks).

    Raises:
        TokentuiError: It cannot be read, is none of `FORMATS` and `READERS`, or is damaged; it says what is wrong and
            where. Or it holds a split and another one was named.
    """
    with _quiet_collector():
        return _load(read_source(path_of(path, "tokenizer"), name_of(split, "split")))


def _load(source: Source) -> Tokenizer:
    _refuse_others(source.data, source.where)
    if source.document.get("format") == OWN.name:
        return _made_again(loads(source.text or "", source.where), source)
    for reader in READERS:
        if reader.matches(source):
            return _made_again(reader.read(source), source)
    known = ", ".join([OWN.name, *(reader.name for reader in READERS)])
    raise TokentuiError("not a tokenizer file that this version reads", source.where, f"it reads: {known}")


@dataclass(frozen=True, slots=True)
class _Files:
    """What a vocabulary was read from: called, it reads the bytes again, wherever that is."""

    files: tuple[tuple[str, bytes], ...]
    split: str

    def __call__(self) -> Vocabulary:
        sources = tuple(Source(where, data, self.split, alone=True) for where, data in self.files)
        with _quiet_collector():
            vocabulary = _read_back(sources).vocabulary
        assert isinstance(vocabulary, ImportedVocabulary)
        vocabulary.maker = self
        return vocabulary


def _made_again(tokenizer: Tokenizer, source: Source) -> Tokenizer:
    """The tokenizer, which knows from now on how it is made once more in another process."""
    vocabulary = tokenizer.vocabulary
    if isinstance(vocabulary, ImportedVocabulary):
        vocabulary.maker = _Files(vocabulary.files or ((source.where, source.data),), source.split)
    return tokenizer


def recognise(path: str | os.PathLike[str]) -> str:
    """The name of the format that a file is of, empty for one that is none, that cannot be read, or that may be a mere text."""
    try:
        if os.path.getsize(path) > now().file_bytes:
            return ""
        source = read_source(os.fspath(path))
        if source.document.get("format") == OWN.name:
            return "tokentui's own"
        reader = next((reader for reader in READERS if reader.matches(source)), None)
        # Two words a line may be anything: merges have a header, or their vocabulary beside them.
        if reader is not None and reader.name == _MERGES and not source.data.startswith(b"#version"):
            from tokentui.formats.merge_files import find_vocabulary

            if find_vocabulary(source) is None:
                return ""
    except (OSError, TokentuiError):
        return ""
    return reader.name if reader is not None else ""


@contextmanager
def _quiet_collector() -> Iterator[None]:
    """Keep the garbage collector from walking half a million rows again and again while they are read."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a tokenizer file, whole or not at all.

    Args:
        tokenizer: What is written.
        path: Where to; a symlink's target is written, an existing file keeps its permissions.
        format: One of `FORMATS`; by the end of the file's name where None.

    Raises:
        TokentuiError: There is no such format, it cannot hold the tokenizer, or the file cannot be written.
    """
    path = path_of(path, "path")
    if format is not None:
        name_of(format, "format")
    export(tokenizer, path, format)


def export(
    tokenizer: Tokenizer, path: str | os.PathLike[str], format: str | None = None, *, progress: Progress = None,
    cancel: Cancel = None,
) -> ExportReport:
    """Write a tokenizer's file, or both where its format has two, and say what was lost.

    What is written for another tool is read back first and tried on many texts: where one would be encoded otherwise, and it is
    not by a loss that the report tells, nothing is written.

    Args:
        tokenizer: What is written.
        path: Where to. Of a format of two files one of them, or a folder.
        format: One of `FORMATS`; by the end of the file's name where None.
        progress: Called with the texts tried and to try.
        cancel: Asked now and then; true stops the call.

    Raises:
        TokentuiError: There is no such format, or a file cannot be written.
        Refused: The format cannot hold the tokenizer.
        Cancelled: `cancel` said so.
    """
    chosen = format_of(path, tokenizer.recipe, format)
    places = targets(path, chosen)
    report, files = contents(tokenizer, chosen, progress, cancel)
    if report.refused:
        raise refusal(report, os.fspath(path))
    write_together(list(zip(places, files, strict=True)))
    return report


def contents(
    tokenizer: Tokenizer, format: Format, progress: Progress = None, cancel: Cancel = None
) -> tuple[ExportReport, tuple[bytes, ...]]:
    """The bytes of a tokenizer's files and the report on them; no bytes where the report says that it is refused."""
    if format is not OWN:
        return written(tokenizer, format, _read_back, progress, cancel)
    report = look(tokenizer, format)
    files = () if report.refused else (dumps(tokenizer).encode(),)
    if files and isinstance(tokenizer.vocabulary, ImportedVocabulary):
        return tried(tokenizer, report, loads(files[0].decode(), OWN.name), files, progress, cancel)
    return report, files


def look(tokenizer: Tokenizer, format: Format) -> ExportReport:
    """What a format would lose of a tokenizer, as far as that is seen without writing it."""
    if format is not OWN:
        return survey(tokenizer, format)
    error: TokentuiError | None = None
    if isinstance(tokenizer.vocabulary, ImportedVocabulary):
        from tokentui.formats.stages import error_of  # knows the files of all tools

        error = error_of(tokenizer)
    return ExportReport(OWN.name, OWN.about, OWN.files, refused=error.what if error else "")


def _read_back(sources: tuple[Source, ...]) -> Tokenizer:
    if len(sources) == 2:
        from tokentui.formats.merge_files import read_pair

        return read_pair(*sources)
    return _load(sources[0])


def format_of(
    path: str | os.PathLike[str], recipe: Recipe, format: str | None = None, *, option: str = "format="
) -> Format:
    """The format of this name; where none is named, the one that the end of the file's name asks for.

    Of sentencepiece and minbpe, whose files both end in `.model`, it is minbpe where units are bytes. What is no file
    (nothing, `-`, a device, a pipe) has no end: it gets the project's own format.

    Args:
        path: The file.
        recipe: The recipe of what is written.
        format: One of `FORMATS`, None to go by the name.
        option: What names a format, for the hint of an error.

    Raises:
        TokentuiError: There is no such format, or the name asks for none.
    """
    if format is not None:
        if format not in FORMATS:
            raise TokentuiError(f"no format {format!r}", "format", nearest(format, FORMATS))
        return FORMATS[format]
    where = os.fspath(path)
    name = os.path.basename(where).lower()
    asked = [one for one in FOREIGN.values() if name.endswith(one.suffixes)]
    if len(asked) > 1 and recipe.unit == "byte":
        asked.reverse()
    if asked:
        return asked[0]
    no_file = where in ("", "-") or (os.path.exists(where) and not os.path.isfile(where) and not os.path.isdir(where))
    if no_file or name.endswith(OWN.suffixes):
        return OWN
    ends = ", ".join(f"{' or '.join(one.suffixes)} for {one.name}" for one in FORMATS.values())
    raise TokentuiError("the end of this name says no format", where, f"{ends}; or name one by {option}")


def targets(path: str | os.PathLike[str], format: Format) -> list[str]:
    """The files that are written where this one is asked for.

    Raises:
        TokentuiError: The format has two files and the name says neither of them.
    """
    where = os.fspath(path)
    if len(format.files) == 1:
        return [where]
    if os.path.isdir(where):
        return [os.path.join(where, name) for name in format.files]
    for pair in (format.files, *_OTHER_NAMES):
        for name in pair:
            if where.endswith(name):
                return [where.removesuffix(name) + one for one in pair]
    hint = f"name a folder, or a file that ends in {' or '.join(format.files)}"
    raise TokentuiError(f"{format.name} has two files", where, hint)


_OTHER_NAMES = (("encoder.json", "vocab.bpe"),)


def _refuse_others(data: bytes, where: str) -> None:
    """Name what people often have in place of the file."""
    if not data.strip():
        raise TokentuiError("the file is empty", where, "fetch it or train it again")
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise TokentuiError("a Git LFS pointer, not the file that it stands for", where, "run git lfs pull")
    if data.lstrip()[:20].lower().startswith((b"<!doctype html", b"<html")):
        raise TokentuiError("a web page, not a tokenizer file", where, "fetch the raw file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TokentuiError("UTF-16, not UTF-8", where, "save it as UTF-8")
    for magic, name in _PACKED.items():
        if data.startswith(magic):
            raise TokentuiError(f"packed with {name}", where, "unpack it first")


__all__ = [
    "FORMATS", "OWN", "READERS", "Format", "Reader", "Refused", "contents", "dumps", "export", "format_of", "load",
    "loads", "look", "recognise", "save", "targets", "write_together", "write_whole",
]
