"""Texts from the command line or standard input, and JSON lines answered one by one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from tokentui.cli.output import write_json
from tokentui.core import limits
from tokentui.core.errors import TokentuiError


def lines_only(words: tuple[str, ...], where: str) -> None:
    """Refuse what stands on the command line beside `--jsonl`.

    Raises:
        TokentuiError: There is something.
    """
    if words and words != ("-",):
        raise TokentuiError(f"--jsonl reads standard input, not {words[0][:40]!r}", where, "leave one of them out")


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


def answer_lines(field: str, example: str, answer: Callable[[Any], dict[str, Any]]) -> int:
    """Answer each line of standard input, a JSON object, by a line in its place. Blank lines are passed over.

    A line that cannot be answered is answered by `{"text": ..., "error": ...}`, the text null where there is none.

    Args:
        field: The field of the line that is answered.
        example: What a line looks like.
        answer: Gives the row that answers the field's value; raises TokentuiError.

    Returns:
        The exit code: 1 if a line could not be answered.
    """
    code, most = 0, limits.now().line_bytes
    for number, line in enumerate(iter(lambda: sys.stdin.buffer.readline(most + 1), b""), 1):
        if len(line) > most:  # where the next begins nobody knows
            raise TokentuiError(f"more than {most:,} bytes", f"line {number}", limits.reading("line-bytes"))
        if not line.strip():
            continue
        value: Any = None
        try:
            value = _value(line, field, f"line {number}", example)
            reply = answer(value)
        except TokentuiError as error:
            text = value if field == "text" and isinstance(value, str) else None
            reply = {"text": text, "error": str(error)}
            code = 1
        write_json(reply)
    return code


def _value(line: bytes, field: str, where: str, example: str) -> Any:
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


def text_of(value: Any) -> str:
    """The value, which must be a text.

    Raises:
        TokentuiError: It is not.
    """
    if not isinstance(value, str):
        raise TokentuiError('"text" is not a text', "", 'a line is {"text": "..."}')
    return value
