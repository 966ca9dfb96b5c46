"""`tokentui serve`: serve the explorer to browsers, with one process per visitor."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tokentui.cli.options import (
    PATH,
    READING,
    RECIPES,
    Count,
    OrderedCommand,
    SharedOptions,
    corpus_option,
    options,
)
from tokentui.cli.output import complain, write_text
from tokentui.core.errors import TokentuiError, nearest, shown_path
from tokentui.preset_table import PRESETS
from tokentui.text.sources import find_sample

if TYPE_CHECKING:
    from tokentui.cli.web.server import ExplorerServer

PORT = 8000


@click.command(
    cls=OrderedCommand,
    epilog="""\b
Examples:
  tokentui serve
  tokentui serve --corpus novel.txt --corpus songs/ -r gpt2 --port 8080
  tokentui serve --exercise jurafsky

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
                 help="A tokenizer file that visitors can open. It opens at the start; several are "
                 "compared."),
    *READING,
    click.option("--exercise", metavar="EXERCISE",
                 help="Open each visitor at the questions of tokentui practice on this exercise."),
    click.option("--visitors", metavar="N", type=Count(1), default=20, show_default=True,
                 help="The maximum number of simultaneous visitors."),
    click.option("--idle", metavar="MINUTES", type=click.FloatRange(0), default=30.0, show_default=True,
                 help="End a session after this many minutes without a key press; 0 means never."),
    click.option("--memory", metavar="MB", type=click.IntRange(512), default=1024, show_default=True,
                 help="The memory limit of each visitor's process (address space), in MB."),
)
def command(
    shared: SharedOptions, host: str, port: int, names: tuple[str, ...], corpus: tuple[str, ...],
    tokenizers: tuple[str, ...], exercise: str | None, visitors: int, idle: float, memory: int,
) -> int:
    """Serve the explorer to browsers, with one process per visitor. The server listens on this machine only,
    unless --host is given.
    """
    from tokentui.cli.web.server import ExplorerServer, VisitorLimits, find_static_folder
    from tokentui.cli.web.visitor import VisitorConfig

    static = find_static_folder()
    with _served_folder(shared, corpus, tokenizers) as (folder, served, words):
        if exercise is not None:
            words = _practice_words(folder, exercise, words)
            served = sorted(os.listdir(folder))
        config = VisitorConfig(words, folder, served, memory << 20)
        server = ExplorerServer(config, VisitorLimits(visitors, 60 * idle, names), static)
        asyncio.run(_serve(server, host, port))
    return 0


async def _serve(server: ExplorerServer, host: str, port: int) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Once the server listens, print the address on standard output
    and a notice on standard error."""
    end, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end.set)

    def on_ready(url: str) -> None:
        write_text(url)
        complain("open this address in a browser; ctrl+c ends all sessions")

    await server.serve(host, port, on_ready, end)


@contextlib.contextmanager
def _served_folder(
    shared: SharedOptions, corpora: Sequence[str], tokenizers: Sequence[str]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Create a temporary folder with a link to each served file. Yield its path, the names of the links, and
    the arguments that open what visitors see first.

    Raises:
        TokentuiError: Something of it is not there, or cannot be served.
    """
    for name in shared.recipes:
        if name not in PRESETS:
            raise TokentuiError("no preset, and recipe files are not served", name, nearest(name, PRESETS))
    if shared.recipes or shared.axes:
        shared.recipes_and_runs() if shared.recipes else shared.recipe_and_run("gpt2")
    with tempfile.TemporaryDirectory(prefix="tokentui-") as outer:
        folder = os.path.join(outer, "served")
        os.mkdir(folder)
        opened: list[str] = []
        for source in corpora:
            if source.startswith("sample:"):
                find_sample(source.removeprefix("sample:"))
                opened.append(source)
            else:
                opened.append(_link_file(folder, source, "a file or a folder"))
        files = [_link_file(folder, path, "a tokenizer file") for path in tokenizers]
        _check_tokenizers(folder, files, str(shared.axes.get("split", "")))
        words = opened[:1]
        for name in files:
            words += ["-t", name]
        for axis, value in shared.axes.items():
            words += ["-s", f"{axis}={_axis_text(value)}"]
        axes = shared.axes_by_recipe or ({},) * len(shared.recipes)
        for name, own in zip(shared.recipes, axes, strict=False):
            words += ["-r", name]
            for axis, value in own.items():
                words += ["-s", f"{axis}={_axis_text(value)}"]
        if opened:
            words += ["--as", shared.read_as] if shared.read_as else []
            words += ["--field", shared.field] if shared.field != "text" else []
        yield folder, sorted(os.listdir(folder)), words


def _practice_words(folder: str, exercise: str, words: Sequence[str]) -> list[str]:
    """Return the arguments that open visitors at an exercise. A file of it is linked into the served folder.

    Raises:
        TokentuiError: There is no such exercise, its corpus is a file, or something else is opened.
    """
    from tokentui.analyze.grading.exercise import EXERCISES, read_exercise  # with it comes the training

    if words:
        raise TokentuiError("--exercise opens the corpus of the exercise", "serve", "leave out the other one")
    opened = read_exercise(exercise)
    if not opened.trains:
        raise TokentuiError("it trains nothing", shown_path(exercise), "use another exercise")
    if opened.source and not opened.source.startswith("sample:"):
        what = "its corpus is a file, which visitors cannot read"
        raise TokentuiError(what, shown_path(exercise), "use corpus_text or a sample")
    if exercise in {known.name for known in EXERCISES}:
        return ["practice", exercise]
    return ["practice", _link_file(folder, exercise, "an exercise")]


def _check_tokenizers(folder: str, tokenizers: Sequence[str], split: str) -> None:
    """Load tokenizer files as visitors will. This fails if a file needs another one that is not served.

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


def _axis_text(value: object) -> str:
    """Return the value of an axis as `-s` takes it."""
    return ",".join(map(str, value)) or "[]" if isinstance(value, tuple) else str(value)


def _link_file(folder: str, path: str, wanted: str) -> str:
    """Link a file under its own name, or with a number if the name is taken. Return the name.

    Raises:
        TokentuiError: The path is `-`, does not exist, or cannot be linked. The hint says to name `wanted`.
    """
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
