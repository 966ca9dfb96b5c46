"""Without a subcommand: the explorer, on what is named."""

from __future__ import annotations

import difflib
import glob
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from tokentui.cli.options import (
    axes_of,
    corpus_word,
    reading_options,
    recipes_options,
    run_options,
    split_of,
    wanted,
)
from tokentui.cli.output import is_terminal
from tokentui.cli.program import COMMANDS
from tokentui.core.errors import TokentuiError
from tokentui.formats.registry import named_like
from tokentui.presets import PRESETS
from tokentui.text.sources import find_sample

if TYPE_CHECKING:
    from tokentui.session.commands_compare import ColumnWanted

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
              help="A tokenizer file, walked through token by token. Two to four of -t and -r are compared "
                   "side by side.")
@click.option(
    "--held-out", metavar="CORPUS", type=corpus_word,
    help="A second corpus to measure on, where some are compared."
)
@reading_options
@run_options
def command(
    sources: tuple[str, ...],
    recipes: tuple[str, ...],
    axes: tuple[str, ...],
    tokenizers: tuple[str, ...],
    held_out: str | None,
    as_: str | None,
    field: str,
    **words: object,
) -> int:
    """Open the explorer."""
    compared = len(tokenizers) + len(recipes) > 1
    named = axes_of(axes)
    opened = None if compared or not tokenizers else (
        _tokenizer(tokenizers[0]), split_of(axes, "the file holds all the rest")
    )
    if held_out is not None and not compared:
        raise TokentuiError("there is nothing to compare", "--held-out", "name two to four by -r and -t")
    recipe, run_wanted = wanted(recipes[0] if recipes else _PRESET, {} if opened else named, words)
    for source in (*sources, *([held_out] if held_out else [])):
        check_source(source)
        if as_ is None and named_like(source):
            from tokentui.formats.files import refuse_tokenizers  # all formats, which no other name needs

            refuse_tokenizers(source, as_)
    columns = _columns(tokenizers, recipes, axes_of(axes), words) if compared else ()
    _check_terminal(sources)
    from tokentui.ui.launch import run  # the screen is loaded when one is opened

    # What is named is what is wanted; a bare `tokentui` after a line has dropped asks whether to go on.
    resume = not (sources or recipes or axes or tokenizers)
    return run(
        sources or (_SAMPLE,), recipe, run_wanted, as_, field, columns, held_out or "", opened, resume
    )


def _tokenizer(path: str) -> str:
    """The path of a tokenizer file that is there."""
    if not os.path.lexists(path):
        raise TokentuiError("no such file", path, "name a tokenizer file, such as tokenizer.json")
    if os.path.isdir(path):
        raise TokentuiError("a folder, not a tokenizer file", path, "name the file in it")
    return path


def _columns(
    tokenizers: tuple[str, ...], recipes: tuple[str, ...], axes: Mapping[str, object],
    words: Mapping[str, object]
) -> tuple[ColumnWanted, ...]:
    """The columns of Compare, in the order of `tokentui compare`: files first, then recipes under the same
    stops, or their own."""
    from tokentui.analyze.compare import check_columns
    from tokentui.session.commands_compare import ColumnWanted

    check_columns(len(tokenizers) + len(recipes))
    split = str(axes.get("split", ""))

    def column(name: str) -> ColumnWanted:
        recipe, run = wanted(name, axes, words)
        known = name in PRESETS and recipe == PRESETS[name].recipe
        return ColumnWanted(recipe, run, name=name if known else "")

    files = [ColumnWanted(path=_tokenizer(path), split=split) for path in tokenizers]
    return (*files, *map(column, recipes))


def check_source(source: str) -> None:
    """Refuse what is plainly not there before the screen opens; the nearest command is named.

    Raises:
        TokentuiError: It is neither a file, a glob, a sample nor standard input.
    """
    if source.startswith("sample:"):
        find_sample(source.removeprefix("sample:"))
    elif source != "-" and not glob.has_magic(source) and not os.path.lexists(source):
        close = difflib.get_close_matches(source, COMMANDS, n=1)
        if source in COMMANDS:
            hint = f"a command comes first: {source} ... and then its options"
        else:
            known = f"name a file, - or sample:english; the commands are {', '.join(COMMANDS)}"
            hint = f"did you mean the command {close[0]}?" if close else known
        raise TokentuiError("no such file", source, hint)


def _check_terminal(sources: tuple[str, ...]) -> None:
    """Make sure that there is a screen and a keyboard. With `-` the corpus has standard input, and the
    keyboard is what the terminal is."""
    hint = "for scripts there are " + ", ".join(COMMANDS)
    if os.environ.get("TERM", "dumb") in ("dumb", ""):
        raise TokentuiError(
            "the explorer needs a terminal that can draw", f"TERM={os.environ.get('TERM', '')}", hint
        )
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
