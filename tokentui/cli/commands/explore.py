"""`tokentui` without a command: open the explorer."""

from __future__ import annotations

import difflib
import glob
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from tokentui.cli.main import COMMANDS
from tokentui.cli.options import (
    NAMED,
    PATH,
    READING,
    RECIPES,
    RUN_OPTIONS,
    Option,
    OrderedCommand,
    SharedOptions,
    corpus_argument,
    corpus_option,
    load_recipe,
    options,
)
from tokentui.cli.output import is_terminal
from tokentui.core.errors import TokentuiError, shown_path
from tokentui.formats import named_like
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run
from tokentui.text.named import sources_in
from tokentui.text.remote import is_remote, is_url, scheme_of
from tokentui.text.sources import find_sample

if TYPE_CHECKING:
    from tokentui.session.commands import Open
    from tokentui.session.playground import Played
    from tokentui.session.views import ColumnWanted
    from tokentui.tours.parser import Tour

_SAMPLE = "sample:english"
_PRESET = "gpt2"
_LEAST_MEMORY = 512 << 20
"""Bytes of address space that the explorer needs: most of them for its threads."""


class ExplorerStart(NamedTuple):
    """What the explorer opens: the first arguments of `tokentui.ui.run`."""

    opening: Open
    recipe: Recipe
    asked: Run
    columns: tuple[ColumnWanted, ...]
    held_out: str


class Look(NamedTuple):
    """What a picture shows: the arguments of `tokentui.ui.picture` after those of `ExplorerStart`."""

    step: int | None
    screens: tuple[str, ...]
    keys: tuple[str, ...]
    typed: str | None
    size: tuple[int, int]
    theme: str


EXPLORED: Sequence[Option] = (
    corpus_argument("[CORPUS]..."),
    *NAMED,
    *RECIPES,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file, replayed token by token. Two to four -t and -r are compared "
                      "side by side."),
    corpus_option("--held-out", about="A second corpus for the measures in Compare."),
    *READING,
    *RUN_OPTIONS,
)
"""The options that choose what to open."""


class _Explorer(OrderedCommand):
    """The hidden command of the explorer. Its help is the help of the program."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the help of the program."""
        return super().get_help(ctx) if ctx.parent is None else ctx.parent.get_help()


@click.command("explore", cls=_Explorer, hidden=True)
@options(*EXPLORED)
def command(shared: SharedOptions, tokenizers: tuple[str, ...], held_out: str | None) -> int:
    """Open the explorer."""
    wanted = start_of(shared, tokenizers, held_out)
    _check_terminal(shared.sources)
    _check_memory()
    from tokentui.ui import run  # the screen is loaded when one is opened

    # Resume is offered only without arguments: after a lost connection, people type a bare `tokentui`.
    resume = not (shared.sources or shared.recipes or shared.axes or tokenizers)
    return run(*wanted, resume)


def start_of(shared: SharedOptions, tokenizers: tuple[str, ...], held_out: str | None) -> ExplorerStart:
    """Return what the explorer opens for the options of the command line. Files are checked, not read, except
    one that sets the size of a recipe.

    Raises:
        TokentuiError: A source or a file does not exist, or two options do not go together.
    """
    sources, recipes = shared.sources, shared.recipes
    compared = len(tokenizers) + len(recipes) > 1
    opened = None
    if tokenizers and not compared:
        split = shared.split_for_file("the file sets the other axes")
        opened = _tokenizer(tokenizers[0]), split, shared.encode_by_file[0]
    if held_out is not None and not compared:
        raise TokentuiError("nothing is compared", "--held-out", "name two to four tokenizers with -r and -t")
    named = replace(shared, axes={}) if opened else shared
    recipe, asked = named.recipes_and_runs()[0] if recipes else named.recipe_and_run(_PRESET)
    for source in map(str, sources_in((*sources, *([held_out] if held_out else [])))):
        check_source(source)
        if shared.read_as is None and named_like(source):
            from tokentui.formats.refusing import refuse_tokenizers

            refuse_tokenizers(source, None)
    columns = _columns(tokenizers, shared) if compared else ()
    if recipes and columns:
        asked = columns[len(tokenizers)].run  # its column is the training that is opened
    from tokentui.session.commands import Open, OpenTokenizer

    file = OpenTokenizer(*opened) if opened else None
    opening = Open(sources or (_SAMPLE,), shared.read_as, shared.field, file)
    return ExplorerStart(opening, recipe, asked, columns, held_out or "")


def drawn(wanted: ExplorerStart, look: Look, form: str) -> bytes:
    """Return a picture of the explorer as the bytes of a file, in the format `svg`, `text` or `png`."""
    from tokentui.ui import picture

    return picture(*wanted, **look._asdict(), form=form)


def play(tour: Tour) -> int:
    """Open the explorer with a tour, and return the exit code. The session is neither saved nor restored.

    Raises:
        TokentuiError: There is no terminal or keyboard, or too little memory.
    """
    _check_terminal(())
    _check_memory()
    from tokentui.session.commands import Open
    from tokentui.ui import run

    return run(Open((_SAMPLE,)), load_recipe(_PRESET), Run(), tour=tour)


def check_screen(words: tuple[str, ...]) -> bool:
    """Check that the playground can be opened. Return whether its text comes from a pipe.

    Args:
        words: The texts or files on the command line.

    Raises:
        TokentuiError: There is no terminal or keyboard, or too little memory.
    """
    from_pipe = not words and not is_terminal(sys.stdin)
    _check_terminal(("-",) if from_pipe or words == ("-",) else ())
    _check_memory()
    return from_pipe


def played(tokenizers: tuple[str, ...], split: str, encode: str) -> tuple[Played, ...]:
    """Return the tokenizers of the playground.

    Args:
        tokenizers: Files, names of encodings, or presets.
        split: The split of files that store none.
        encode: Another way to encode by a file; empty for its own.

    Raises:
        TokentuiError: There are too many, or one does not exist.
    """
    from tokentui.core.files import short_names
    from tokentui.session.playground import MOST_PLAYED, Played, preset_played
    from tokentui.session.views import ColumnWanted

    if len(tokenizers) > MOST_PLAYED:
        raise TokentuiError(f"{len(tokenizers)} tokenizers", "-t", f"name at most {MOST_PLAYED}")
    found = []
    # Next to a file of the same name a folder names it: most files have the same one.
    names = short_names([*tokenizers, *("other/" + os.path.basename(path) for path in tokenizers)])
    for name, path in zip(names, tokenizers, strict=False):
        if path in PRESETS and not os.path.lexists(path):
            found.append(preset_played(path))
        else:
            column = ColumnWanted(path=_tokenizer(path), split=split, encode=encode, name=name)
            found.append(Played(column))
    return tuple(found)


def open_playground(text: str | None, tokenizers: tuple[Played, ...]) -> int:
    """Open the explorer with the playground, on the built-in sample and the default preset. Return the exit
    code.

    Args:
        text: Its text; None for that of the last time.
        tokenizers: Its tokenizers; none for those of the last time. The first that is a file is the tokenizer
            of the explorer too.
    """
    from tokentui.session.commands import Open, OpenTokenizer
    from tokentui.session.playground import PlayStart
    from tokentui.ui import run

    first = next((one.wanted for one in tokenizers if one.wanted.path), None)
    file = None if first is None else OpenTokenizer(first.path, first.split, first.encode)
    start = PlayStart(text, tokenizers)
    return run(Open((_SAMPLE,), tokenizer=file), load_recipe(_PRESET), Run(), playground=start)


def _tokenizer(path: str) -> str:
    """Return the path of a tokenizer file or folder, or the name of a remote tokenizer or encoding. A remote
    one is not checked.

    Raises:
        TokentuiError: The file does not exist, or the folder has no tokenizer.
    """
    if is_remote(path):
        return path
    from tokentui.formats.published import located  # only for a file

    if not os.path.lexists(located(path)):
        raise TokentuiError("no such file", shown_path(path), "name a tokenizer file, such as tokenizer.json")
    if os.path.isdir(path):
        from tokentui.formats.folder import model_folder  # only for a folder

        model_folder(path)
    return path


def _columns(tokenizers: tuple[str, ...], shared: SharedOptions) -> tuple[ColumnWanted, ...]:
    """Return the columns of Compare in the order of `tokentui compare`: files, then recipes. Next to a file,
    a recipe without a size is trained to the size of the first file."""
    from tokentui.analyze.compare import check_columns
    from tokentui.core.files import short_names
    from tokentui.session.views import ColumnWanted

    check_columns(len(tokenizers) + len(shared.recipes))
    split = str(shared.axes.get("split", ""))
    columns = [
        ColumnWanted(path=_tokenizer(path), split=split, encode=way,
                     name=f"{name} encode={way}" if way else "")
        for name, path, way in zip(short_names(tokenizers), tokenizers, shared.encode_by_file, strict=True)
    ]
    bases, wanted = list(map(os.path.basename, shared.recipes)), shared.recipes_and_runs()
    unsized = any(run.sized_like(1) != run for _, run in wanted)
    size = _size_of(tokenizers[0], split) if columns and unsized else None
    for name, base, (recipe, run) in zip(shared.recipes, bases, wanted, strict=True):
        known = (base if bases.count(base) == 1 else name) if recipe == load_recipe(name) else ""
        columns.append(ColumnWanted(recipe, run if size is None else run.sized_like(size), name=known))
    return tuple(columns)


def _size_of(path: str, split: str) -> int | None:
    """Load a tokenizer file, and return its number of ids; None if it cannot be read, which its column will
    report."""
    from tokentui.formats.files import load

    try:
        return load(path, otherwise=split).vocab_size
    except TokentuiError:
        return None


def check_source(source: str) -> None:
    """Raise before the screen opens if a source does not exist. The error names the nearest command.

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


def _check_memory() -> None:
    """Check that the limit on address space leaves room for threads. Python waits forever for a thread that
    gets no memory while it starts.

    Raises:
        TokentuiError: It is below `_LEAST_MEMORY` bytes.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most not in (resource.RLIM_INFINITY, -1) and most < _LEAST_MEMORY:
        raise TokentuiError(
            f"not enough memory: the explorer needs {_LEAST_MEMORY >> 20} MB of address space, and the limit "
            f"is {most >> 20} MB", "", "raise it with ulimit -v",
        )


def _check_terminal(sources: tuple[str, ...]) -> None:
    """Check that there are a terminal and a keyboard. If the corpus is standard input, descriptor 0 becomes
    /dev/tty, and `sys.stdin` keeps the corpus.

    Raises:
        TokentuiError: One of them is missing, or the terminal has no cursor control.
    """
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
