"""`tokentui decode`: ids to text."""

from __future__ import annotations

import re
import sys

import click

from tokentui.cli.options import TOKENIZER, Given, check_ways, options, standard_input
from tokentui.cli.output import Json, answer_lines, is_terminal, write, write_text
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load

_ID = re.compile("[0-9]{1,19}|null")
_BETWEEN = re.compile(r"[\s,]+")


@click.command(
    epilog="""\b
Examples:
  tokentui decode -t novel.json 464 4315
  tokentui encode -t novel.json 'The crowd' | tokentui decode -t novel.json
  tokentui decode -t novel.json --jsonl < ids.jsonl""",
)
@options(
    click.argument("ids", metavar="[ID]...", nargs=-1),
    TOKENIZER,
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"ids": [...]} of standard input by {"text": ...}.'),
)
def command(given: Given, ids: tuple[str, ...], tokenizer: str, jsonl: bool) -> int:
    """Decode IDs, or those on standard input, with spaces, commas or line ends between them.

    A token without an id stands as null, as encode prints it, and gives U+FFFD. The text is printed with a
    line end after it; where that is no terminal, bytes that are not UTF-8 are printed as they are.
    """
    check_ways(given.where, ids, jsonl=jsonl)
    tok = load(tokenizer)

    def row(value: object) -> Json:
        if not isinstance(value, list):
            raise TokentuiError('"ids" is not a list', "", 'a line is {"ids": [...]}')
        return {"text": tok.decode(value)}

    if jsonl:
        return answer_lines("ids", '{"ids": [...]}', row)
    text = " ".join(ids) if ids not in ((), ("-",)) else standard_input().decode("utf-8", "replace")
    numbers = [_number(word) for word in _BETWEEN.split(text) if word]
    if is_terminal(sys.stdout):
        write_text(tok.decode(numbers))
    else:
        write(tok.decode_bytes(numbers) + b"\n")
    return 0


def _number(word: str) -> int | None:
    if not _ID.fullmatch(word):
        short = word if len(word) <= 40 else word[:39] + "..."
        raise TokentuiError("not an id", short, "ids are whole numbers with spaces or commas between them")
    return None if word == "null" else int(word)
