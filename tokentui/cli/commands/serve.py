"""`tokentui serve`: the explorer in a browser, a process for each visitor."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tokentui.cli.options import PATH, READING, RECIPES, Count, Given, OrderedCommand, corpus_option, options
from tokentui.cli.output import complain, write_text
from tokentui.core.errors import TokentuiError, nearest, shown_path
from tokentui.preset_table import PRESETS
from tokentui.text.sources import find_sample

if TYPE_CHECKING:
    from tokentui.cli.web.server import Visitors

PORT = 8000


@click.command(
    cls=OrderedCommand,
    epilog="""\b
Examples:
  tokentui serve
  tokentui serve --corpus novel.txt --corpus songs/ -r gpt2 --port 8080

Visitors can read the samples and the files of --corpus and -t, and nothing else on this machine. They cannot
write to it: their browser downloads what they export.""",
)
@options(
    click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True,
                 help="The address to listen on; 0.0.0.0 listens on all interfaces."),
    click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=PORT, show_default=True,
                 help="The port; 0 selects a free one."),
    click.option("--name", "names", metavar="HOST", multiple=True,
                 help="A host name that a proxy on this machine serves. Can be repeated."),
    corpus_option("--corpus", multiple=True, about="A file or folder that visitors can open. The first one "
                  "is opened at the start. Can be repeated."),
    *RECIPES,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file that visitors can open. It is opened at the start, or compared."),
    *READING,
    click.option("--visitors", metavar="N", type=Count(1), default=20, show_default=True,
                 help="The maximum number of visitors at a time."),
    click.option("--idle", metavar="MINUTES", type=click.FloatRange(0), default=30.0, show_default=True,
                 help="End a session after this many minutes without a key; 0 never does."),
    click.option("--memory", metavar="MB", type=click.IntRange(256), default=1024, show_default=True,
                 help="The address space of each visitor's process, in MB."),
)
def command(
    given: Given, host: str, port: int, names: tuple[str, ...], corpus: tuple[str, ...],
    tokenizers: tuple[str, ...], visitors: int, idle: float, memory: int,
) -> int:
    """Serve the explorer to browsers, with one process per visitor. The server listens on this machine only,
    unless --host is given.
    """
    from tokentui.cli.web.server import Terms, Visitors, static_folder
    from tokentui.cli.web.visitor import Visit

    static = static_folder()
    with _shelf(given, corpus, tokenizers) as (folder, served, words):
        visit = Visit(words, folder, served, memory << 20)
        asyncio.run(_serve(Visitors(visit, Terms(visitors, 60 * idle, names), static), host, port))
    return 0


async def _serve(server: Visitors, host: str, port: int) -> None:
    end, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end.set)

    def told(url: str) -> None:
        write_text(url)
        complain("open this address in a browser; ctrl+c ends all sessions")

    await server.serve(host, port, told, end)


@contextlib.contextmanager
def _shelf(
    given: Given, corpora: Sequence[str], tokenizers: Sequence[str]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder with a link to each file that is served; its path, the names in it, and the words that open
    what is opened first.

    Raises:
        TokentuiError: Something of it is not there, or cannot be served.
    """
    for name in given.recipes:
        if name not in PRESETS:
            raise TokentuiError("no preset, and recipe files are not served", name, nearest(name, PRESETS))
    if given.recipes or given.axes:
        given.each_wanted() if given.recipes else given.wanted("gpt2")
    with tempfile.TemporaryDirectory(prefix="tokentui-") as outer:
        folder = os.path.join(outer, "served")
        os.mkdir(folder)
        opened: list[str] = []
        for source in corpora:
            if source.startswith("sample:"):
                find_sample(source.removeprefix("sample:"))
                opened.append(source)
            else:
                opened.append(_link(folder, source, "a file or a folder"))
        files = [_link(folder, one, "a tokenizer file") for one in tokenizers]
        _check(folder, files, str(given.axes.get("split", "")))
        words = opened[:1]
        for name in files:
            words += ["-t", name]
        words += [part for one, value in given.axes.items() for part in ("-s", f"{one}={_written(value)}")]
        axes = given.bound or ({},) * len(given.recipes)
        for name, own in zip(given.recipes, axes, strict=False):
            words += ["-r", name]
            words += [part for one, value in own.items() for part in ("-s", f"{one}={_written(value)}")]
        if opened:
            words += ["--as", given.as_] if given.as_ else []
            words += ["--field", given.field] if given.field != "text" else []
        yield folder, sorted(os.listdir(folder)), words


def _check(folder: str, tokenizers: Sequence[str], split: str) -> None:
    """Read tokenizer files as visitors will: a file that belongs to one has to be named as well.

    Raises:
        TokentuiError: One cannot be read.
    """
    from tokentui.formats.files import load  # with it come all formats

    for name in tokenizers:
        try:
            load(os.path.join(folder, name), otherwise=split)
        except TokentuiError as error:
            where = error.where.replace(folder + os.sep, "")
            raise TokentuiError(error.what, where, error.hint) from None


def _written(value: object) -> str:
    """The value of an axis as `-s` takes it."""
    return ",".join(map(str, value)) or "[]" if isinstance(value, tuple) else str(value)


def _link(folder: str, path: str, wanted: str) -> str:
    """A link to a file under its own name, or under one like it where that is taken. Returns the name."""
    if path == "-" or not os.path.exists(path):
        raise TokentuiError("no such file", shown_path(path), f"name {wanted}")
    whole = os.path.realpath(path)
    stem, end = os.path.splitext(os.path.basename(os.path.abspath(path)))
    number, name = 1, stem + end
    while os.path.lexists(os.path.join(folder, name)):
        number += 1
        name = f"{stem}-{number}{end}"
    try:
        os.symlink(whole, os.path.join(folder, name))
    except OSError as error:
        raise TokentuiError(f"cannot be served: {error.strerror}", shown_path(path), "") from None
    return name
