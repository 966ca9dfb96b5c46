"""Open the explorer on a terminal, and load the engine behind its first paint."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokentui.core import sandbox
from tokentui.core.errors import Cancelled, TokentuiError, nearest
from tokentui.core.runtime import interrupts_end
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Open, OpenTokenizer
from tokentui.ui.late_session import LateSession

if TYPE_CHECKING:
    from tokentui.session.engine.driver import Session
    from tokentui.session.persist.session_file import SavedSession
    from tokentui.session.playground import PlayStart
    from tokentui.session.snapshot import Snapshot
    from tokentui.session.views import ColumnWanted
    from tokentui.tours.parser import Tour
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.draw.picture import ScreenPicture
    from tokentui.ui.unattended import Act


def run(
    opening: Open, recipe: Recipe, asked: Run, columns: Sequence[ColumnWanted] = (), held_out: str = "",
    resume: bool = False, tour: Tour | None = None, playground: PlayStart | None = None,
) -> int:
    """Run the explorer until the user leaves it.

    Args:
        opening: Opens the corpora, as one, and the tokenizer file used in place of a training.
        recipe: The recipe to train.
        asked: Its run.
        columns: The two to four columns to compare; none to open the main screen only.
        held_out: A second corpus to measure on, empty for none.
        resume: True to offer the last session, and to show the first screen to a user who has not left it
            yet.
        tour: A tour to play; nothing of the session is saved then.
        playground: The initial state of the playground, which is opened first; None for none. The rest is
            opened when it closes.

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
        from tokentui.ui.app import ExplorerApp  # noqa: F401 (loaded while an interrupt ends the program)

    with interrupts_end():
        from tokentui.session.persist.session_file import offered
        from tokentui.session.persist.settings_file import read_settings
        from tokentui.ui.settings import SEEN

        apart = tour is not None or playground is not None
        begun = None if apart or sandbox.sealed() else _kept(opening)
        offer = offered() if resume and not sandbox.sealed() else None
        kept, wrong = read_settings()
        welcome = tour is not None or (resume and offer is None and kept.get(SEEN) is not True)
    app = _explorer(
        opening, recipe, asked, columns, held_out,
        lambda make: LateSession(make, app.call_after_refresh), remembered=True, typed=None, kept=kept,
        wrong=wrong, begun=begun, offer=offer, first_screen=welcome, tour=tour, playground=playground,
    )
    return app.run_on_terminal()


def pictures(
    opening: Open, recipe: Recipe, asked: Run, columns: Sequence[ColumnWanted], held_out: str,
    acts: Sequence[Act], size: tuple[int, int], theme: str = "", typed: str | None = None,
) -> list[ScreenPicture]:
    """Return what the explorer shows after each of some acts, without a terminal and without the user's
    settings.

    Args:
        opening: Opens the corpora, see `run`.
        recipe: The recipe to train.
        asked: Its run.
        columns: The columns to compare.
        held_out: A second corpus, empty for none.
        acts: What to do, one after the other.
        size: The columns and rows of the screen.
        theme: The theme; empty for that of the program.
        typed: The text of the encode pane; None for that of the program.

    Raises:
        TokentuiError: There is no such theme or action, or the corpus cannot be opened.
    """
    import asyncio

    from tokentui.ui import unattended

    with unattended.true_color():
        app = _explorer(opening, recipe, asked, columns, held_out, lambda make: make(), remembered=False,
                        typed=typed, kept={"theme": theme} if theme else {})
        if theme and theme not in app.available_themes:
            hint = nearest(theme, app.available_themes)
            raise TokentuiError(f"no such theme: {theme[:40]}", "--theme", hint)
        return asyncio.run(unattended.pictures(app, acts, size))


def picture(
    opening: Open, recipe: Recipe, asked: Run, columns: Sequence[ColumnWanted], held_out: str,
    *, step: int | None, screens: tuple[str, ...], keys: tuple[str, ...], typed: str | None,
    size: tuple[int, int], theme: str, form: str,
) -> bytes:
    """Return a picture of the explorer as a file, see `pictures`, `Act` and `draw.picture.made`."""
    from tokentui.ui.draw.picture import Frame, made
    from tokentui.ui.unattended import Act

    act = Act(step, screens, keys)
    (shown,) = pictures(opening, recipe, asked, columns, held_out, [act], size, theme, typed)
    return made([Frame(shown)], form)


def _explorer(
    opening: Open, recipe: Recipe, asked: Run, columns: Sequence[ColumnWanted], held_out: str,
    begun_by: Callable[[Callable[[], Session]], Session | LateSession], *, remembered: bool, **more: Any,
) -> ExplorerApp:
    """Return the app that opens what a command line names.

    Args:
        opening: See `run`, as the next four.
        recipe: The recipe.
        asked: Its run.
        columns: The columns to compare.
        held_out: A second corpus.
        begun_by: Takes the function that makes the session, and returns the session, now or as a
            `LateSession`.
        remembered: True to add what is opened to the recent sources.
        **more: Arguments of `ExplorerApp`.
    """
    from tokentui.ui.app import ExplorerApp

    first = columns[0] if columns else None
    file = opening.tokenizer
    if first is not None and first.path:
        file = OpenTokenizer(first.path, first.split, first.encode)

    unknown = list(reversed(opening.sources)) if remembered else []

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

    app = ExplorerApp(lambda publish: begun_by(lambda: engine(publish)), begin=begin, then=compare, run=asked,
                      **more)
    return app


def _kept(opening: Open) -> SavedSession | None:
    """Return the command line as a saved session; None for standard input, which cannot be read again."""
    from tokentui.session.persist.session_file import SavedSession, absolute

    if "-" in opening.sources:
        return None
    file, sources = opening.tokenizer, tuple(map(absolute, opening.sources))
    kept = SavedSession(sources, opening.as_, opening.field)
    return kept if file is None else replace(kept, tokenizer=absolute(file.path), split=file.split)
