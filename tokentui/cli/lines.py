"""The input of commands: a corpus, texts of the command line or standard input, and JSON lines answered one
by one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tokentui.cli.output import Bar, Json, complain, write_json
from tokentui.core import limits
from tokentui.core.errors import TokentuiError

if TYPE_CHECKING:
    from tokentui.text.corpus import Corpus


def read_corpus(
    sources: Sequence[str], as_: str | None, field: str, bar: Bar, quiet: bool
) -> Corpus:
    """Read a corpus, with the remarks on it on standard error.

    Args:
        sources: The words that name it.
        as_: The way to read it, None if its name tells it.
        field: The field of JSON rows that holds the text.
        bar: Shows how far it is.
        quiet: True to leave out the remarks.

    Raises:
        TokentuiError: It cannot be read, or a source is a tokenizer file.
    """
    from tokentui.formats.files import refuse_tokenizers  # with them come all formats
    from tokentui.text.read import read

    refuse_tokenizers(sources, as_)
    with bar.of("reading"):
        corpus = read(sources, as_=as_, field=field)
    if not quiet:
        bar.close()
        for note in corpus.noticed:
            complain(note)
    return corpus


def needed(sources: Sequence[str], where: str) -> None:
    """Refuse a command without a corpus.

    Raises:
        TokentuiError: None is named.
    """
    if not sources:
        raise TokentuiError("CORPUS is missing", where, "name a file, a folder, - or sample:english")


def lines_only(words: tuple[str, ...], where: str) -> None:
    """Refuse words on the command line together with `--jsonl`.

    Raises:
        TokentuiError: There is something.
    """
    if words and words != ("-",):
        raise TokentuiError(
            f"--jsonl reads standard input, not {words[0][:40]!r}", where, "leave one of them out"
        )


def one_of(where: str, **flags: bool) -> None:
    """Refuse ways of output that exclude each other.

    Raises:
        TokentuiError: More than one is asked for.
    """
    asked = [f"--{name}" for name, on in flags.items() if on]
    if len(asked) > 1:
        raise TokentuiError(f"{' and '.join(asked)} exclude each other", where, "take one of them")


def typed(words: tuple[str, ...], where: str) -> str:
    """The text of the command line, or all of standard input without its last line end.

    Bytes that are not UTF-8 come as lone surrogates.

    Raises:
        TokentuiError: More than one text is there.
    """
    if len(words) > 1:
        raise TokentuiError(f"one text belongs here, not {len(words)}", where, "put it in quotes")
    if words and words != ("-",):
        return words[0]
    whole = standard_input().decode("utf-8", "surrogateescape")
    return whole.removesuffix("\n").removesuffix("\r") if whole.endswith("\n") else whole


def standard_input() -> bytes:
    """All of standard input, as it is.

    Raises:
        TokentuiError: There is too much, or nothing comes.
    """
    from tokentui.text.files import read_plain

    return read_plain(sys.stdin.buffer, "standard input")


def answer_lines(field: str, example: str, answer: Callable[[object], Json]) -> int:
    """Answer each line of standard input, a JSON object, by a line in its place. Blank lines are passed over.

    A line that cannot be answered is answered by `{"text": ..., "error": ...}`, the text null where there is
    none.

    Args:
        field: The field of the line that is answered.
        example: An example of a line.
        answer: Gives the row that answers the field's value; raises TokentuiError.

    Returns:
        The exit code: 1 if a line could not be answered.
    """
    code, most = 0, limits.now().line_bytes
    for number, line in enumerate(iter(lambda: sys.stdin.buffer.readline(most + 1), b""), 1):
        if len(line) > most:  # the place where the next one begins is not known
            raise TokentuiError(f"more than {most:,} bytes", f"line {number}", limits.reading("line-bytes"))
        if not line.strip():
            continue
        value: object = None
        reply: Json
        try:
            value = _value(line, field, f"line {number}", example)
            reply = answer(value)
        except TokentuiError as error:
            text = value if field == "text" and isinstance(value, str) else None
            reply = {"text": text, "error": str(error)}
            code = 1
        write_json(reply)
    return code


def _value(line: bytes, field: str, where: str, example: str) -> object:
    hint = f"a line is {example}"
    try:
        row = json.loads(line.decode())
    except json.JSONDecodeError as error:
        raise TokentuiError(f"not JSON: {error.msg}, column {error.colno}", where, hint) from None
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, hint) from None
    except RecursionError:
        raise TokentuiError("nested too deeply", where, hint) from None
    except ValueError:  # a whole number of more digits than Python reads
        raise TokentuiError("a number is too large", where, hint) from None
    if not isinstance(row, dict) or field not in row:
        raise TokentuiError(f'no object with "{field}"', where, hint)
    return row[field]


def text_of(value: object) -> str:
    """The value, which must be a text.

    Raises:
        TokentuiError: It is not.
    """
    if not isinstance(value, str):
        raise TokentuiError('"text" is not a text', "", 'a line is {"text": "..."}')
    return value
