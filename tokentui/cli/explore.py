"""Without a subcommand: the explorer, on what is named."""

from __future__ import annotations

import difflib
import glob
import os
import sys
from typing import Any

import click

from tokentui.cli.options import (
    axes_of,
    corpus_word,
    reading_options,
    recipe_of,
    recipes_options,
    run_of,
    run_options,
)
from tokentui.cli.output import is_terminal
from tokentui.cli.program import COMMANDS
from tokentui.errors import TokentuiError
from tokentui.samples import find_sample

_SAMPLE = "sample:english"
_PRESET = "gpt2"


class _Explorer(click.Command):
    """The explorer has no help of its own: it is the program."""

    def get_help(self, ctx: click.Context) -> str:
        """The program's help."""
        return super().get_help(ctx) if ctx.parent is None else ctx.parent.get_help()


@click.command("explore", cls=_Explorer, hidden=True)
@click.argument("sources", metavar="[CORPUS]...", type=corpus_word, nargs=-1)
@recipes_options
@click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=click.Path(), multiple=True,
              help="A tokenizer file to open (coming).")
@reading_options
@run_options
def command(
    sources: tuple[str, ...],
    recipes: tuple[str, ...],
    axes: tuple[str, ...],
    tokenizers: tuple[str, ...],
    as_: str | None,
    field: str,
    **words: Any,
) -> int:
    """Open the explorer."""
    if tokenizers:
        raise TokentuiError("a tokenizer in the explorer is coming", "-t", "tokentui encode -t reads one")
    if len(recipes) > 1:
        raise TokentuiError("two recipes side by side are coming", "-r", "name one")
    recipe = recipe_of(recipes[0] if recipes else _PRESET, axes_of(axes))
    stops = run_of(**words)
    for source in sources:
        _check(source)
    _check_terminal(sources)
    from tokentui.ui.launch import run  # the screen is loaded when one is opened

    return run(sources or (_SAMPLE,), recipe, stops, as_, field)


def _check(source: str) -> None:
    """Refuse what is plainly not there before the screen opens."""
    if source.startswith("sample:"):
        find_sample(source.removeprefix("sample:"))
    elif source != "-" and not glob.has_magic(source) and not os.path.lexists(source):
        close = difflib.get_close_matches(source, COMMANDS, n=1)
        if source in COMMANDS:
            hint = f"a command comes first: {source} ... and then its options"
        else:
            hint = f"did you mean the command {close[0]}?" if close else "name a file, a folder, - or sample:english"
        raise TokentuiError("no such file", source, hint)


def _check_terminal(sources: tuple[str, ...]) -> None:
    """Make sure that there is a screen and a keyboard. With `-` the corpus has standard input, and the keyboard is what
    the terminal is."""
    hint = "for scripts there are " + ", ".join(COMMANDS)
    if os.environ.get("TERM", "dumb") in ("dumb", ""):
        raise TokentuiError("the explorer needs a terminal that can draw", f"TERM={os.environ.get('TERM', '')}", hint)
    if not is_terminal(sys.stdout):
        raise TokentuiError("the explorer needs a terminal", "standard output", hint)
    if is_terminal(sys.stdin):
        return
    if "-" not in sources:
        raise TokentuiError("the explorer needs a keyboard", "standard input", hint)
    try:
        keyboard = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        raise TokentuiError("the explorer needs a keyboard, and there is no terminal", "-", hint) from None
    # The screen listens to descriptor 0; what reads `-` asks `sys.stdin`.
    sys.stdin = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape")
    os.dup2(keyboard, 0)
    os.close(keyboard)
