"""`tokentui picture`: write what the explorer shows to a file, without opening it."""

from __future__ import annotations

import os
import re
import sys

import click

from tokentui.cli.commands.explore import EXPLORED, Look, drawn, start_of
from tokentui.cli.options import PATH, Count, OrderedCommand, SharedOptions, options
from tokentui.cli.output import check_target, is_terminal, write, write_file
from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_whole
from tokentui.core.runtime import interrupts_end

_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_LEAST, _MOST = (20, 8), (400, 200)
"""The smallest and the largest size, as columns and rows."""
_ENDINGS = {".svg": "svg", ".txt": "text", ".png": "png"}
"""The format by the ending of a file."""

SCREENS = (
    "algorithm", "open", "steps", "why_all", "what_if", "life", "dropout", "questions", "facts",
    "analyze_glitch", "analyze_budget", "analyze_worst_words", "analyze_charts",
    "analyze_chkhsh", "languages", "export", "export_table", "export_picture", "edit_vocabulary", "pieces",
    "chat_of_text", "playground", "finder", "help", "theme", "settings", "first_screen",
)
"""The ids of the actions that open a screen from the main one."""
OF_COMPARE = ("differences", "agreement_map", "add", "compare_what_if")
"""Those that only Compare has."""


@click.command(
    "picture",
    cls=OrderedCommand,
    epilog="""\b
Examples:
  tokentui picture sample:english -r gpt2 --step 129 -o main.svg
  tokentui picture sample:english --step 300 --screen facts --theme tokentui-light -o facts.svg
  tokentui picture sample:english -r gpt2 -r wordpiece --merges 300 --keys G --size 120x40 -o compare.svg
  tokentui picture sample:english --step 400 --text unbelievable --keys '4 enter' --format text""",
)
@options(
    *EXPLORED,
    click.option("--step", metavar="N", type=Count(min=0), help="Go to this step [default: 0]."),
    click.option("--text", metavar="TEXT", help="The text in Encode."),
    click.option("--screen", "screens", metavar="ID", multiple=True,
                 help="Open a screen, by the id of its key: " + ", ".join(SCREENS) + "; in Compare also "
                 + ", ".join(OF_COMPARE) + ". Can be repeated."),
    click.option("--keys", metavar="KEYS", default="",
                 help="Press keys after that, with blanks between them: '4 enter'."),
    click.option("--theme", metavar="NAME", default="",
                 help="The theme: tokentui, tokentui-light or another."),
    click.option("--size", metavar="COLUMNSxROWS", default="100x30",
                 help="The size of the screen [default: 100x30]."),
    click.option("--format", "form", metavar="FORMAT", type=click.Choice([*_ENDINGS.values()]),
                 help="svg, text or png, which needs the extra png [default: by the ending of FILE, "
                 "else svg]."),
    click.option("-o", "--output", metavar="FILE", type=PATH, help="The file [default: standard output]."),
)
def command(
    shared: SharedOptions, tokenizers: tuple[str, ...], held_out: str | None, step: int | None,
    text: str | None, screens: tuple[str, ...], keys: str, theme: str, size: str, form: str | None,
    output: str | None,
) -> int:
    """Write a picture of the explorer, as it shows CORPUS after these options. No setting of yours counts.

    --step, --screen and --keys follow each other in this order. The picture is taken once nothing moves.
    """
    columns, rows = _size(size)
    form = form or _ENDINGS.get(os.path.splitext(output or "")[1].lower(), "svg")
    if output is not None:
        check_target(output)
    elif form == "png" and is_terminal(sys.stdout):
        raise TokentuiError("a PNG is no text", "standard output", "name a file with -o")
    wanted = start_of(shared, tokenizers, held_out)
    with interrupts_end():  # ctrl+c: nothing is written yet
        data = drawn(wanted, Look(step, screens, tuple(keys.split()), text, (columns, rows), theme), form)
    if output is not None:
        write_whole(output, data)
    else:
        (write_file if form == "text" else write)(data)
    return 0


def _size(text: str) -> tuple[int, int]:
    """Return the columns and rows of a size such as `100x30`.

    Raises:
        TokentuiError: It is not a size, or out of the bounds.
    """
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(low <= one <= high for low, one, high in zip(_LEAST, size, _MOST, strict=True)):
        known = f"from {_LEAST[0]}x{_LEAST[1]} to {_MOST[0]}x{_MOST[1]}"
        hint = f"columns and rows, such as 100x30, {known}"
        raise TokentuiError(f"no such size: {text[:40]}", "--size", hint)
    return size
