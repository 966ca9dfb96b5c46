"""`tokentui decode`: decode ids to text."""

from __future__ import annotations

import re
import sys

import click

from tokentui.analyze.drift import DriftCheck, rate, rate_report, report
from tokentui.analyze.report import Json, ids_line
from tokentui.cli import output
from tokentui.cli.options import (
    TOKENIZER,
    SharedOptions,
    check_exclusive,
    json_option,
    options,
    read_standard_input,
)
from tokentui.core.errors import TokentuiError
from tokentui.encode.decode import Streamed
from tokentui.formats.files import load

_ID = re.compile("[0-9]{1,19}|null")
_BETWEEN = re.compile(r"[\s,]+")


@click.command(
    epilog="""\b
Examples:
  tokentui decode -t novel.json 84 258
  tokentui encode -t novel.json 'The crowd' | tokentui decode -t novel.json
  tokentui decode -t novel.json --stream 84 258
  tokentui decode -t novel.json --check 104 101 108 108 111
  tokentui decode -t novel.json --check --jsonl < ids.jsonl
  tokentui decode -t novel.json --jsonl < ids.jsonl""",
)
@options(
    click.argument("ids", metavar="[ID]...", nargs=-1),
    TOKENIZER,
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"ids": [...]} of standard input with {"text": ...}.'),
    json_option("Print one JSON object: text and bytes (hex), or the report of --check."),
    click.option("--check", is_flag=True,
                 help="Check that encoding the decoded text gives the same ids. With --jsonl, check each "
                 "line: a list, or an object with ids."),
    click.option("--stream", is_flag=True,
                 help="Print one line per id: the text that it completes, and the bytes (hex) of a character "
                 "that is not complete yet. With --json, print rows: id, text, held."),
    click.option("--special-tokens", is_flag=True,
                 help="With --check: add the tokens that begin and end a text."),
    click.option("--allow-special", is_flag=True,
                 help="With --check: encode text that spells a special token as that token."),
)
def command(
    shared: SharedOptions, ids: tuple[str, ...], tokenizer: str, jsonl: bool, check: bool, stream: bool,
    special_tokens: bool, allow_special: bool,
) -> int:
    """Decode ids to text. Without an ID, read ids from standard input, separated by spaces, commas or
    newlines.

    null, which encode prints for a token without an id, becomes U+FFFD. The output ends with a newline. If it
    does not go to a terminal, bytes that are not UTF-8 are printed unchanged.

    --check prints the first position at which encode gives different ids, both sets of tokens there, and
    the reason. The exit code is then 1. With --jsonl, it prints the share of lines that differ, and the
    first of them.

    The texts that --stream prints add up to the full text. Bytes of an unfinished character come last.
    """
    ways = {"jsonl": jsonl, "stream": stream} | ({} if check or stream else {"json": shared.as_json})
    check_exclusive(shared.command, ids, **ways)
    if check and stream:
        raise TokentuiError("--check and --stream cannot be combined", shared.command, "use one of them")
    if (special_tokens or allow_special) and not check:
        raise TokentuiError("--special-tokens and --allow-special require --check", shared.command, "name it")
    tok = load(tokenizer, class_name=shared.class_name)

    if check and jsonl:
        rows = (output.read_ids(where, line) for where, line in output.input_lines())
        with output.working():
            check_ids = DriftCheck(tok, special_tokens=special_tokens, allow_special=allow_special)
            drift_rate = rate(check_ids, rows)
        output.write_report(shared.as_json, rate_report(drift_rate))
        return int(drift_rate.differ > 0)
    if jsonl:
        example = '{"ids": [...]}'
        return output.answer_lines("ids", list, example, lambda ids: {"text": tok.decode(ids)})
    text = " ".join(ids) if ids not in ((), ("-",)) else read_standard_input().decode("utf-8", "replace")
    numbers = [_number(word) for word in _BETWEEN.split(text) if word]
    if check:
        drift = DriftCheck(tok, special_tokens=special_tokens, allow_special=allow_special)(numbers)
        output.write_report(shared.as_json, report(drift))
        return int(not drift.same)
    if stream:
        for streamed in tok.decode_stream(numbers):
            _write_streamed(streamed, shared.as_json)
    elif shared.as_json:
        output.write_json({"text": tok.decode(numbers), "hex": tok.decode_bytes(numbers).hex()})
    elif output.is_terminal(sys.stdout):
        output.write_text(tok.decode(numbers))
    else:
        output.write(tok.decode_bytes(numbers) + b"\n")
    return 0


def _write_streamed(streamed: Streamed, as_json: bool) -> None:
    """Write one step of a stream: a JSON row, or the id, its text and the held bytes in hexadecimal.

    The last step has the text that was held to the end, and `end` in place of an id.
    """
    if as_json:
        row: Json = {"id": streamed.id, "text": streamed.text, "held": streamed.held.hex()}
        output.write_json(row | ({"end": True} if streamed.end else {}))
        return
    name = "end" if streamed.end else ids_line([streamed.id])
    pending = f"  ({streamed.held.hex(' ')})" if streamed.held else ""
    output.write(f"{name:>8}  {output.shown(streamed.text)}{pending}".rstrip().encode() + b"\n")


def _number(word: str) -> int | None:
    """Return an id that was typed; None for `null`.

    Raises:
        TokentuiError: It is not a whole number.
    """
    if not _ID.fullmatch(word):
        short = word if len(word) <= 40 else word[:39] + "..."
        raise TokentuiError("not an id", short, "ids are whole numbers with spaces or commas between them")
    return None if word == "null" else int(word)
