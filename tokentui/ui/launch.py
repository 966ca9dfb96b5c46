"""Open the explorer on a terminal."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokentui.core.errors import Cancelled
from tokentui.core.rescue import interrupts_end
from tokentui.recipe import Recipe
from tokentui.ui.late import LateSession

if TYPE_CHECKING:
    from tokentui.session.compared import ColumnWanted
    from tokentui.session.driver import Session
    from tokentui.session.saved import Kept
    from tokentui.session.snapshot import Snapshot

TYPED = "The crowd in the street"
"""What stands in the encode pane at first: something to watch while one steps."""


def run(
    sources: tuple[str, ...], recipe: Recipe, stops: Mapping[str, Any], as_: str | None, field: str,
    columns: Sequence[ColumnWanted] = (), held_out: str = "", tokenizer: tuple[str, str] | None = None, resume: bool = False,
) -> int:
    """Open the explorer, until the user leaves it.

    Args:
        sources: The corpora to open, as one.
        recipe: What to train.
        stops: The words of a run: merges, vocab_size, min_count, max_length, first_id, specials.
        as_: How the sources are read, None to tell by their names.
        field: The field of JSON rows.
        columns: What to compare, two to four; none to open the main screen only.
        held_out: A second corpus to measure on, empty for none.
        tokenizer: A tokenizer file to open on it in the place of a training, and the split that was named for it.
        resume: Whether to offer a session that a line cut off.

    Returns:
        The exit code.
    """
    gc.disable()  # as a session has it; what is made until the first paint is there to stay
    # Read by Textual when it is imported: terminals that report every key in the Kitty way lose dead keys and input methods.
    os.environ.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")
    # How soon a second paint may follow a first: the driver holds back what a slow line cannot take, so this is for processors.
    os.environ.setdefault("TEXTUAL_FPS", "250")
    for stream in (sys.__stderr__, sys.__stdout__):
        # Textual draws on standard error; a locale without UTF-8 would spell every border as an escape.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    with interrupts_end():
        from tokentui.ui.app import ExplorerApp

    def engine(publish: Callable[[Snapshot], None]) -> Session:
        # Imported here, in a thread and after the first paint: it takes longer than all of the screen.
        from tokentui.core.paths import remember
        from tokentui.session.driver import Session
        from tokentui.session.explorer import Run

        for source in sources:
            remember(source)
        return Session(publish, recipe, Run.of(stops), kernels=True)

    def session(publish: Callable[[Snapshot], None]) -> LateSession:
        return LateSession(lambda: engine(publish), app.call_after_refresh)

    def compare(app: ExplorerApp) -> None:
        if columns:
            from tokentui.ui.compare.open import open_compare

            open_compare(app, columns, held_out)

    def begin(late: LateSession) -> asyncio.Future[Any]:
        if tokenizer is None:
            return late.open(sources, as_, field)
        opened = late.open_tokenizer(*tokenizer, sources, as_, field)
        opened.add_done_callback(lambda one: refused(one, late))
        return opened

    def refused(opened: asyncio.Future[Any], late: LateSession) -> None:
        # A file that cannot be read is told of; the corpus is opened all the same. What was stopped stays stopped.
        if not opened.cancelled() and (error := opened.exception()) and not isinstance(error, Cancelled):
            late.open(sources, as_, field)

    with interrupts_end():
        begun = _kept(sources, as_, field, tokenizer)
        offer = _offered() if resume else None
    app = ExplorerApp(session, typed=TYPED, begin=begin, then=compare, run=stops, begun=begun, offer=offer)
    return app.run_on_terminal()


def _kept(sources: tuple[str, ...], as_: str | None, field: str, tokenizer: tuple[str, str] | None) -> Kept | None:
    """What is begun, as a session that is kept. What came by a pipe does not come again."""
    from tokentui.session.saved.value import Kept, absolute

    if "-" in sources:
        return None
    path, split = tokenizer or ("", "")
    return Kept(tuple(map(absolute, sources)), as_, field, tokenizer=absolute(path) if path else "", split=split)


def _offered() -> tuple[Kept, str] | None:
    """A session that its user did not leave. Loaded only where one looks like it: at most starts there is none."""
    from tokentui.session.saved.glance import any_open

    if not any_open():
        return None
    from tokentui.session.saved import offered

    return offered()
