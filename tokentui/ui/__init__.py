"""Open the explorer on a terminal, and load the engine behind its first paint."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core import sandbox
from tokentui.core.errors import Cancelled
from tokentui.core.runtime import interrupts_end
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Open, OpenTokenizer
from tokentui.ui.late_session import LateSession

if TYPE_CHECKING:
    from tokentui.session.engine.driver import Session
    from tokentui.session.persist.session_file import SavedSession
    from tokentui.session.snapshot import Snapshot
    from tokentui.session.views import ColumnWanted
    from tokentui.tours.parser import Tour


def run(
    opening: Open, recipe: Recipe, asked: Run, columns: Sequence[ColumnWanted] = (), held_out: str = "",
    resume: bool = False, tour: Tour | None = None,
) -> int:
    """Open the explorer, until the user leaves it.

    Args:
        opening: Opens the corpora, as one, and the tokenizer file that takes the place of a training.
        recipe: The recipe to train.
        asked: Its run.
        columns: The two to four columns to compare; none to open the main screen only.
        held_out: A second corpus to measure on, empty for none.
        resume: True to offer the last session again, and to show the first screen to one who has not left it
            yet.
        tour: A tour to play; nothing of the session is saved then.

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
        # A locale without UTF-8 would spell every border as an escape.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    with interrupts_end():
        from tokentui.ui.app import ExplorerApp

    first = columns[0] if columns else None
    file = opening.tokenizer
    if first is not None and first.path:
        file = OpenTokenizer(first.path, first.split, first.encode)

    unknown = list(reversed(opening.sources))

    def engine(publish: Callable[[Snapshot], None]) -> Session:
        # Imported here, in a thread and after the first paint: it takes longer than all of the screen.
        from tokentui.session.engine.driver import Session
        from tokentui.session.persist.session_file import remember

        while unknown:  # a tour makes another session
            remember(unknown.pop())
        wanted, run = (first.recipe or recipe, first.run) if first is not None else (recipe, asked)
        return Session(publish, wanted, run)

    async def begin(late: Session | LateSession) -> None:
        try:
            await late.send(replace(opening, tokenizer=file))
        except Exception as error:
            if file is None or isinstance(error, Cancelled):
                raise
            # A file that cannot be read is told of; the corpus is opened all the same.
            app.tell(error)
            await late.send(replace(opening, tokenizer=None))

    def compare(_: object) -> None:
        if columns:
            app.compare(columns, held_out)

    with interrupts_end():
        from tokentui.session.persist.session_file import offered
        from tokentui.session.persist.settings_file import read_settings
        from tokentui.ui.settings import SEEN

        begun = None if tour is not None or sandbox.sealed() else _kept(opening)
        offer = offered() if resume and not sandbox.sealed() else None
        kept, wrong = read_settings()
        welcome = tour is not None or (resume and offer is None and kept.get(SEEN) is not True)
    app = ExplorerApp(
        lambda publish: LateSession(lambda: engine(publish), app.call_after_refresh), typed=None,
        kept=kept, wrong=wrong, begin=begin, then=compare, run=asked, begun=begun, offer=offer,
        first_screen=welcome, tour=tour,
    )
    return app.run_on_terminal()


def _kept(opening: Open) -> SavedSession | None:
    """Return a new session as it is saved; None for input from a pipe, which cannot be read again."""
    from tokentui.session.persist.session_file import SavedSession, absolute

    if "-" in opening.sources:
        return None
    file, sources = opening.tokenizer, tuple(map(absolute, opening.sources))
    kept = SavedSession(sources, opening.as_, opening.field)
    return kept if file is None else replace(kept, tokenizer=absolute(file.path), split=file.split)
