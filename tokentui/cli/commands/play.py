"""`tokentui play`: open the playground."""

from __future__ import annotations

import os
import stat

import click

from tokentui.cli.options import (
    ENCODE,
    PATH,
    SPLIT_OR_ENCODE,
    SharedOptions,
    options,
    text_argument,
    without_final_newline,
)
from tokentui.core.errors import TokentuiError, shown_path
from tokentui.core.files import read_regular, status_of


@click.command(
    epilog="""\b
Examples:
  tokentui play
  tokentui play -t novel.json 'The crowd in the street'
  tokentui play -t cl100k_base -t o200k_base prompt.txt
  cat prompt.txt | tokentui play -t hf:openai-community/gpt2""",
)
@options(
    click.argument("text", metavar="[FILE|TEXT]", nargs=-1),
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file, the name of an encoding, or a preset, which is trained on a sample. "
                 "Up to three are shown side by side."),
    SPLIT_OR_ENCODE,
)
def command(shared: SharedOptions, text: tuple[str, ...], tokenizers: tuple[str, ...]) -> int:
    """Open the playground: type or paste a text, and see its tokens and their ids.

    FILE is a text file; any other word is the text. Without it, the text of standard input, or that of the
    last time. The final newline of a file is left out, as tokentui encode does it.
    """
    from tokentui.cli.commands.explore import check_screen, open_playground, played

    from_pipe = check_screen(text)
    columns = played(tokenizers, shared.split_for_file(also=(ENCODE,)), str(shared.axes.get(ENCODE, "")))
    if len(text) == 1 and text[0] != "-" and _is_file(text[0]):
        whole: str | None = without_final_newline(read_regular(text[0]))
    elif text or from_pipe:
        whole = text_argument(text, shared.command)
    else:
        whole = None
    return open_playground(whole, columns)


def _is_file(word: str) -> bool:
    """Return whether a word is the name of a file.

    Raises:
        TokentuiError: It is the name of a folder, or has a separator, no blank, and does not exist.
    """
    try:
        mode = status_of(word).st_mode
    except (OSError, TokentuiError, ValueError):
        if os.sep in word and not any(char.isspace() for char in word):
            raise TokentuiError("no such file", shown_path(word), "a text with a / needs a blank") from None
        return False
    if stat.S_ISDIR(mode):
        raise TokentuiError("a folder is no text", shown_path(word), "name a file")
    return True
