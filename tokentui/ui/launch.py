"""Open the explorer on a terminal."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tokentui.core.errors import Cancelled
from tokentui.core.restore import interrupts_end
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Open, OpenTokenizer
from tokentui.ui.late import LateSession

if TYPE_CHECKING:
    from tokentui.session.commands_compare import ColumnWanted
    from tokentui.session.driver import Session
    from tokentui.session.saved import Kept
    from tokentui.session.snapshot import Snapshot

TYPED = "The crowd in the street"
"""The initial text of the encode pane: a sample to watch while stepping."""


def run(
    sources: tuple[str, ...], recipe: Recipe, asked: Run, as_: str | None, field: str,
    columns: Sequence[ColumnWanted] = (), held_out: str = "", tokenizer: tuple[str, str] | None = None,
    resume: bool = False,
) -> int:
    """Open the explorer, until the user leaves it.

    Args:
        sources: The corpora to open, as one.
        recipe: The recipe to train.
        asked: Its run.
        as_: The format of the sources, None to tell by their names.
        field: The field of JSON rows.
        columns: The two to four columns to compare; none to open the main screen only.
        held_out: A second corpus to measure on, empty for none.
        tokenizer: A tokenizer file to open on it in the place of a training, and the split that was named for
            it.
        resume: True to offer a session that ended with a dropped line.

    Returns:
        The exit code.
    """
    gc.disable()  # as a session has it; what is made until the first paint is there to stay
    # Read by Textual when it is imported: terminals that report every key in the Kitty way lose dead keys and
    # input methods.
    os.environ.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")
    # How soon a second paint may follow a first: the driver holds back what a slow line cannot take, so this
    # is for processors.
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

        for source in sources:
            remember(source)
        first = columns[0] if columns else None
        wanted = recipe if first is None or first.recipe is None else first.recipe
        return Session(publish, wanted, asked if first is None else first.run, kernels=True)

    def session(publish: Callable[[Snapshot], None]) -> LateSession:
        return LateSession(lambda: engine(publish), app.call_after_refresh)

    def compare(app: ExplorerApp) -> None:
        if columns:
            app.compare(columns, held_out)

    def begin(late: LateSession) -> asyncio.Future[None]:
        first = columns[0] if columns else None
        path, split = (first.path, first.split) if first is not None else tokenizer or ("", "")
        opened = late.send(Open(sources, as_, field, OpenTokenizer(path, split) if path else None))
        if path:
            opened.add_done_callback(lambda one: refused(one, late))
        return opened

    def refused(opened: asyncio.Future[None], late: LateSession) -> None:
        # A file that cannot be read is told of; the corpus is opened all the same. What was stopped stays stopped.
        if not opened.cancelled() and (error := opened.exception()) and not isinstance(error, Cancelled):
            late.send(Open(sources, as_, field))

    with interrupts_end():
        begun = _kept(sources, as_, field, tokenizer)
        offer = _offered() if resume else None
    app = ExplorerApp(session, typed=TYPED, begin=begin, then=compare, run=asked, begun=begun, offer=offer)
    return app.run_on_terminal()


def _kept(sources: tuple[str, ...], as_: str | None, field: str,
        tokenizer: tuple[str, str] | None) -> Kept | None:
    """Return a new session as it is saved; None for input from a pipe, which cannot be read again."""
    from tokentui.session.saved.value import Kept, absolute

    if "-" in sources:
        return None
    path, split = tokenizer or ("", "")
    return Kept(tuple(map(absolute, sources)), as_, field, tokenizer=absolute(path) if path else "",
        split=split)


def _offered() -> tuple[Kept, str] | None:
    """A session that its user did not leave. Loaded only where one looks like it: at most starts there is
    none.
    """
    from tokentui.session.saved.glance import any_open

    if not any_open():
        return None
    from tokentui.session.saved import offered

    return offered()
