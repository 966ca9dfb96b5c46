"""Without a subcommand: the explorer, on what is named."""

from __future__ import annotations

import difflib
import glob
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tokentui.cli.main import COMMANDS
from tokentui.cli.options import (
    NAMED,
    PATH,
    READING,
    RECIPES,
    RUN_OPTIONS,
    Given,
    OrderedCommand,
    corpus_argument,
    corpus_option,
    options,
    recipe_named,
)
from tokentui.cli.output import is_terminal
from tokentui.core.errors import TokentuiError, shown_path
from tokentui.formats import named_like
from tokentui.recipe import Run
from tokentui.text.named import sources_in
from tokentui.text.remote import is_remote, is_url, scheme_of
from tokentui.text.sources import find_sample

if TYPE_CHECKING:
    from tokentui.session.tours import Tour
    from tokentui.session.views import ColumnWanted

_SAMPLE = "sample:english"
_PRESET = "gpt2"


class _Explorer(OrderedCommand):
    """The explorer has no help of its own: it is the program."""

    def get_help(self, ctx: click.Context) -> str:
        """The program's help."""
        return super().get_help(ctx) if ctx.parent is None else ctx.parent.get_help()


@click.command("explore", cls=_Explorer, hidden=True)
@options(
    corpus_argument("[CORPUS]..."),
    *NAMED,
    *RECIPES,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file, replayed token by token. Two to four -t and -r are compared "
                      "side by side."),
    corpus_option("--held-out", about="A second corpus to measure on in Compare."),
    *READING,
    *RUN_OPTIONS,
)
def command(given: Given, tokenizers: tuple[str, ...], held_out: str | None) -> int:
    """Open the explorer."""
    sources, recipes = given.sources, given.recipes
    compared = len(tokenizers) + len(recipes) > 1
    opened = None
    if tokenizers and not compared:
        opened = _tokenizer(tokenizers[0]), given.split("the file sets the other axes"), given.ways[0]
    if held_out is not None and not compared:
        raise TokentuiError("nothing is compared", "--held-out", "name two to four tokenizers with -r and -t")
    named = replace(given, axes={}) if opened else given
    recipe, asked = named.each_wanted()[0] if recipes else named.wanted(_PRESET)
    for source in map(str, sources_in((*sources, *([held_out] if held_out else [])))):
        check_source(source)
        if given.as_ is None and named_like(source):
            from tokentui.formats.files import refuse_tokenizers  # all formats, which no other name needs

            refuse_tokenizers(source, None)
    columns = _columns(tokenizers, given) if compared else ()
    if recipes and columns:
        asked = columns[len(tokenizers)].run  # its column is the training that is opened
    _check_terminal(sources)
    from tokentui.session.commands import Open, OpenTokenizer
    from tokentui.ui import run  # the screen is loaded when one is opened

    # What is named is what is wanted; a bare `tokentui` after a line has dropped asks whether to go on.
    resume = not (sources or recipes or given.axes or tokenizers)
    file = OpenTokenizer(*opened) if opened else None
    opening = Open(sources or (_SAMPLE,), given.as_, given.field, file)
    return run(opening, recipe, asked, columns, held_out or "", resume)


def play(tour: Tour) -> int:
    """Open the explorer with a tour. Nothing of a session is saved, and none is offered."""
    _check_terminal(())
    from tokentui.session.commands import Open
    from tokentui.ui import run

    return run(Open((_SAMPLE,)), recipe_named(_PRESET), Run(), tour=tour)


def _tokenizer(path: str) -> str:
    """The path of a tokenizer file or folder that exists; the name of a place or an encoding unchanged."""
    if is_remote(path):
        return path
    from tokentui.formats.published import located  # only for a file

    if not os.path.lexists(located(path)):
        raise TokentuiError("no such file", shown_path(path), "name a tokenizer file, such as tokenizer.json")
    if os.path.isdir(path):
        from tokentui.formats.folder import model_folder  # only for a folder

        model_folder(path)
    return path


def _columns(tokenizers: tuple[str, ...], given: Given) -> tuple[ColumnWanted, ...]:
    """The columns of Compare, in the order of `tokentui compare`: files first, then recipes under the same
    stops, or their own. Next to a file, a recipe without a size is trained to that of the first file."""
    from tokentui.analyze.compare import check_columns
    from tokentui.core.files import short_names
    from tokentui.session.views import ColumnWanted

    check_columns(len(tokenizers) + len(given.recipes))
    split = str(given.axes.get("split", ""))
    columns = [
        ColumnWanted(path=_tokenizer(path), split=split, encode=way,
                     name=f"{name} encode={way}" if way else "")
        for name, path, way in zip(short_names(tokenizers), tokenizers, given.ways, strict=True)
    ]
    bases, wanted = list(map(os.path.basename, given.recipes)), given.each_wanted()
    unsized = any(run.sized_like(1) != run for _, run in wanted)
    size = _size_of(tokenizers[0], split) if columns and unsized else None
    for name, base, (recipe, run) in zip(given.recipes, bases, wanted, strict=True):
        known = (base if bases.count(base) == 1 else name) if recipe == recipe_named(name) else ""
        columns.append(ColumnWanted(recipe, run if size is None else run.sized_like(size), name=known))
    return tuple(columns)


def _size_of(path: str, split: str) -> int | None:
    """The number of ids of a tokenizer file; None where it cannot be read: its column says why."""
    from tokentui.formats.files import load

    try:
        return load(path, otherwise=split).vocab_size
    except TokentuiError:
        return None


def check_source(source: str) -> None:
    """Refuse what is plainly not there before the screen opens; the nearest command is named.

    Raises:
        TokentuiError: It is neither a file, a glob, a URL, a sample nor standard input.
    """
    if is_url(source):
        scheme_of(source)
    elif source.startswith("sample:"):
        find_sample(source.removeprefix("sample:"))
    elif source != "-" and not glob.has_magic(source) and not os.path.lexists(source):
        close = difflib.get_close_matches(source, COMMANDS, n=1)
        if source in COMMANDS:
            hint = f"a command comes before its options: tokentui {source} ..."
        else:
            known = f"name a file, - or sample:english; the commands are {', '.join(COMMANDS)}"
            hint = f"did you mean the command {close[0]}?" if close else known
        raise TokentuiError("no such file", shown_path(source), hint)


def _check_terminal(sources: tuple[str, ...]) -> None:
    """Make sure that there is a screen and a keyboard. With `-` the corpus has standard input, and the
    keyboard is what the terminal is."""
    hint = "commands for scripts: " + ", ".join(COMMANDS)
    if (kind := os.environ.get("TERM", "")) in ("dumb", ""):
        raise TokentuiError("the explorer needs a terminal with cursor control", f"TERM={kind}", hint)
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
