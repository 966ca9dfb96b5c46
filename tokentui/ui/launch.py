"""Open the explorer on a terminal."""

from __future__ import annotations

import codecs
import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tokentui.explorer import Run
from tokentui.paths import remember
from tokentui.recipe import Recipe
from tokentui.session import Session
from tokentui.snapshot import Snapshot

TYPED = "The crowd in the street"
"""What stands in the encode pane at first: something to watch while one steps."""


def run(sources: tuple[str, ...], recipe: Recipe, stops: Mapping[str, Any], as_: str | None, field: str) -> int:
    """Open the explorer, until the user leaves it.

    Args:
        sources: The corpora to open, as one.
        recipe: What to train.
        stops: The words of a run: merges, vocab_size, min_count, max_length, first_id, specials.
        as_: How the sources are read, None to tell by their names.
        field: The field of JSON rows.

    Returns:
        The exit code.
    """
    # Read by Textual when it is imported: terminals that report every key in the Kitty way lose dead keys and input methods.
    os.environ.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")
    for stream in (sys.__stderr__, sys.__stdout__):
        # Textual draws on standard error; a locale without UTF-8 would spell every border as an escape.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    from tokentui.ui.app import ExplorerApp

    _read_any_bytes()

    def session(publish: Callable[[Snapshot], None]) -> Session:
        return Session(publish, recipe, Run.of(stops), kernels=True)

    def begin(started: Session) -> Any:
        for source in sources:
            remember(source)
        return started.open(sources, as_, field)

    app = ExplorerApp(session, typed=TYPED, begin=begin, run=stops)
    app.run()
    return app.return_code or 0


def _read_any_bytes() -> None:
    """Let Textual's reader of keys take bytes that are not UTF-8: a paste in another encoding, noise on the line.

    Textual 8.2 decodes them strictly and ends with an exception (its issue #6456).
    """
    from textual.drivers import linux_driver

    if hasattr(linux_driver, "getincrementaldecoder"):

        def tolerant(encoding: str) -> Callable[..., codecs.IncrementalDecoder]:
            return functools.partial(codecs.getincrementaldecoder(encoding), errors="replace")

        linux_driver.getincrementaldecoder = tolerant
