"""Read tokenizer files by content, write them atomically, and refuse them as corpora."""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core.choices import UNWRITABLE, unwritable
from tokentui.core.errors import TokentuiError, name_of, nearest, path_of
from tokentui.core.files import read_errors, read_regular, status_of, write_together
from tokentui.core.limits import now
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import FORMATS, OWN, WRITTEN, Format, named_like, recognized
from tokentui.formats.near_misses import lost_bytes, near_miss, refuse_before
from tokentui.formats.published import located
from tokentui.formats.source import NeedsSplit, Node, Source, check_tokens, is_gguf, read_source
from tokentui.recipe import Recipe
from tokentui.text.remote import is_remote, is_url

if TYPE_CHECKING:
    from tokentui.formats.folder import ModelFolder
    from tokentui.formats.proof import ExportReport
    from tokentui.formats.spec import Unsupported

_ELSEWHERE = {"hf": "huggingface", "tokenizers": "huggingface", "transformers": "huggingface",
              "spm": "sentencepiece", "model": "sentencepiece", "wordpiece": "bert", "json": "tokentui"}
"""Names of formats in other libraries."""
_HEAD = 1 << 14
UNSPLIT = ("gpt2", "tiktoken")
"""Formats without a split. In a folder, the tokenizer class determines it."""
_TOGETHER = ".spm"
"""The end of the names of files that belong to a folder even if no class is named."""
_UNSUPPORTED = "not a supported tokenizer file"


def load(
    path: str | os.PathLike[str], split: str = "", *, otherwise: str = "", encode: str = "",
    class_name: str = "",
) -> Tokenizer:
    """Read a tokenizer. The content of the file determines its format, never its name.

    Args:
        path: The file, or the name of an encoding in `OPENAI`; a folder, or `hf:OWNER/NAME`, is read as
            `ModelFolder` describes.
        split: A value of that axis, for a file without a split (tiktoken ranks).
        otherwise: A value of the axis `split` to use only if the file does not determine it.
        encode: A value of that axis to encode by; empty for the file's own way.
        class_name: The tokenizer class of transformers to read a folder or a file by; empty for that of its
            folder.

    Raises:
        TokentuiError: The file cannot be read, has an unknown format, or is damaged. Or it has another split
            than `split`, or cannot be encoded by `encode`.
    """
    where, split = path_of(path, "tokenizer"), name_of(split, "split")
    folder = _folder_of(where, class_name)
    source = read_source(where, split) if folder is None else folder.source(split)
    refuse_before(source)
    with quiet_collector():
        if (format := recognized(source)) is None:
            from tokentui.formats.vocab_txt import has_lines

            if has_lines(source):
                hint = "add --class Bert (words), --class Esm (proteins) or --class Smiles (molecules)"
                raise source.error("a vocab.txt without ## does not say how words are cut", hint)
            known = "; ".join(format.about for format in FORMATS.values())
            raise near_miss(source) or source.error(_UNSUPPORTED, f"supported: {known}")
        if folder is not None and folder.known_class is not None and format.name in UNSPLIT and not split:
            source = replace(source, split=folder.known_class.split)
        try:
            tokenizer = format.codec.read(source)
        except NeedsSplit:
            if not otherwise:
                raise
            tokenizer = format.codec.read(replace(source, split=otherwise))
        except TokentuiError as error:
            raise lost_bytes(source) or error from None
        if folder is not None:
            tokenizer = folder.applied(tokenizer)
    check_tokens(map(len, tokenizer.vocabulary.specials), Node(None, source.where))
    if unwritable(tokenizer.recipe.split + tokenizer.recipe.mark):
        raise source.error(f"{UNWRITABLE}: its split or its mark does")
    return tokenizer.encoded_by(encode) if encode else tokenizer


def _folder_of(where: str, class_name: str = "") -> ModelFolder | None:
    """Return what `model_folder` does; it is not asked about a file whose folder does not matter."""
    if not class_name and not is_remote(where) and not where.endswith(_TOGETHER):
        with read_errors(where):
            if stat.S_ISREG(status_of(located(where)).st_mode):
                return None
    from tokentui.formats.folder import model_folder  # with it come the tables of all classes

    return model_folder(where, class_name)


def recognize(path: str | os.PathLike[str]) -> Format | None:
    """Return the format of a tokenizer file, None if it has no known format or cannot be read. Never raises
    for
    the file.

    A folder or repository is judged by the file with its vocabulary. A URL is read only if its name looks
    like that of a tokenizer, and a file above the size limit only if it is GGUF.
    """
    try:
        where = str(path) if is_remote(path) else os.fspath(path)
        where = located(where)
        if (folder := _folder_of(where)) is not None:
            where = folder.file
            if not is_url(where) and not is_gguf(where):
                return recognized(folder.source())
        if is_url(where):
            return recognized(read_source(where)) if named_like(where) else None
        readable = status_of(where).st_size <= now().file_bytes or is_gguf(where)
        return recognized(read_source(where)) if readable else None
    except (OSError, TokentuiError):
        return None


# --- files that are written ---


def export(
    tokenizer: Tokenizer, path: str | os.PathLike[str], format: str | None = None,
    accept: Collection[str] = (),
) -> ExportReport:
    """Write a tokenizer's file, or all files of its format, and report what was lost.

    A file for another tool is first read back and tested on many texts. If a text is encoded differently and
    no reported loss explains it, nothing is written. The job reports its progress in texts.

    Args:
        tokenizer: The tokenizer.
        path: The target. A symlink's target is written, and an existing file keeps its permissions. For a
            format with several files, one of them or a folder.
        format: A name in `WRITTEN`; None to choose by the suffix.
        accept: The names of losses to write it in spite of; see `proof.contents`.

    Raises:
        TokentuiError: The format or a loss is unknown, or a file cannot be written.
        Unsupported: The format cannot represent the tokenizer.
        Cancelled: The job is cancelled.
    """
    from tokentui.formats.proof import contents  # only writing needs it

    path = path_of(path, "path")
    chosen = format_of(path, tokenizer.recipe, None if format is None else name_of(format, "format"))
    places = targets(path, chosen)
    report, files = contents(tokenizer, chosen, accept)
    if report.refused:
        raise unwritten(report, os.fspath(path))
    write_together(list(zip(places, files, strict=True)))
    return report


def unwritten(report: ExportReport, where: str = "") -> Unsupported:
    """Return, without raising it, the error for a report that refuses an export."""
    from tokentui.formats.spec import Unsupported  # only writing needs it

    hints = ["nothing is written"] if where else []
    hints += [f"--accept {report.accept} writes it"] if report.accept else []
    return Unsupported(f"{report.format} cannot store it: {report.refused}", where, "; ".join(hints))


def format_of(
    path: str | os.PathLike[str], recipe: Recipe, format: str | None = None, *, option: str = "format=",
    like: Format | None = None,
) -> Format:
    """Return the format with a name, or without a name the format of the file's suffix.

    The longest suffix counts. Of formats with equal suffixes, the first one that supports the unit of the
    recipe is chosen. A target that is not a file (empty, `-`, a device, a pipe) gets the project's own
    format.

    Args:
        path: The file.
        recipe: The recipe of the tokenizer.
        format: A name in `WRITTEN`; None to choose by the suffix.
        option: How a user names a format, for errors.
        like: The format to use instead of the project's own, if its usual file ends in `.json` too or the
            target has no name; None for the project's own.

    Raises:
        TokentuiError: The format is unknown, or no format has the suffix.
    """
    if format is not None:
        if format not in WRITTEN:
            meant = _ELSEWHERE.get(format.lower())
            hint = f"did you mean {meant}?" if meant else nearest(format, WRITTEN)
            raise TokentuiError(f"no format {format!r}", option.rstrip("="), hint)
        return WRITTEN[format]
    where = os.fspath(path)
    name = os.path.basename(where).lower()
    known = [end for format_ in WRITTEN.values() if format_ is not OWN for end in format_.suffixes]
    longest = max(filter(name.endswith, known), key=len, default="")
    if asked := [format_ for format_ in WRITTEN.values() if longest in format_.suffixes]:
        return next(
            (format_ for format_ in asked if recipe.unit in (format_.holds.units or [recipe.unit])), asked[0]
        )
    no_file = where in ("", "-") or (os.path.exists(where) and not os.path.isfile(where)
                                     and not os.path.isdir(where))
    if no_file or name.endswith(OWN.suffixes):
        keeps = like is not None and len(like.files) == 1 and (
            no_file or like.files[0].endswith(OWN.suffixes))
        return like if like is not None and keeps else OWN
    ends = ", ".join(f"{' or '.join(format_.suffixes)} for {format_.name}" for format_ in WRITTEN.values())
    raise TokentuiError("unknown file extension", where, f"{ends}; or name one by {option}")


def written_format(path: str) -> Format | None:
    """Return the format of a tokenizer file; None if it is unknown, can only be read, or the file is
    unreadable.
    """
    format = recognize(path)
    return None if format is None else WRITTEN.get(format.name)


def targets(path: str | os.PathLike[str], format: Format) -> list[str]:
    """Return the paths of the files that are written for a path. Nothing is created.

    Raises:
        TokentuiError: The format has several files, and the path is neither one of them nor an existing
            folder.
    """
    where = os.fspath(path)
    if len(format.files) == 1:
        return [where]
    if os.path.isdir(where):
        return [os.path.join(where, name) for name in format.files]
    for names in (format.files, *format.also):
        for name in names:
            if where.endswith(name):
                return [where.removesuffix(name) + file for file in names]
    if not os.path.basename(where):
        raise TokentuiError("cannot be written: no such folder", where, "make it first")
    hint = f"name a folder that exists, or a file that ends in {' or '.join(format.files)}"
    raise TokentuiError(f"{format.name} has two files", where, hint)


# --- tokenizer files given as a corpus ---


def mistaken(path: str) -> TokentuiError | None:
    """Return the error for a tokenizer file that was given as a corpus, or None. The name and the first bytes
    decide.

    Only a file with such a beginning is read further, to find any damage and its place.
    """
    if not named_like(path):
        return None
    try:
        head = _unpacked(read_regular(path, most=_HEAD))
    except TokentuiError:
        return None
    source = Source(path, head.removeprefix(b"\xef\xbb\xbf"))
    if not any(_begins(source, format, pattern) for format, pattern in named_like(path)):
        return None
    try:
        load(path)
    except NeedsSplit:
        pass  # it is whole
    except TokentuiError as error:
        what = error.what
        if what == _UNSUPPORTED:
            what = f"it is incomplete: it ends at byte {os.path.getsize(path):,}"
        return TokentuiError(f"a damaged tokenizer: {what}", error.where or path, error.hint)
    format = recognize(path)
    return TokentuiError(
        f"a tokenizer, not a corpus: {format.about if format else 'it has changed meanwhile'}", path
    )


def _begins(source: Source, format: Format, pattern: bytes) -> bool:
    return re.match(pattern, source.data, re.DOTALL) is not None if pattern else format.recognizes(source)


def _unpacked(head: bytes) -> bytes:
    """Return the first _HEAD bytes of a gzip file unpacked; other bytes as they are, b"" if damaged."""
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        return b""
