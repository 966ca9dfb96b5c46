"""Save the session as the user works, and offer it again after a dropped connection."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from tokentui.core.errors import TokentuiError
from tokentui.recipe import Run
from tokentui.session.commands import (
    Command,
    Fingerprint,
    GoTo,
    KeepPlace,
    Open,
    OpenTokenizer,
    SetRecipe,
    TrainOnText,
)
from tokentui.session.saved import Branch, Keeper, SavedSession, absolute, tidy
from tokentui.ui.face import Face, SessionLike
from tokentui.ui.main import MainScreen


class Host(Face, Protocol):
    """The program, as far as it is kept."""

    main: MainScreen
    theme: str
    run_in_use: Run
    session: SessionLike | None

    @property
    def is_running(self) -> bool:
        """True until it has ended."""

    @property
    def available_themes(self) -> Mapping[str, object]:
        """The themes there are."""

    @property
    def screen_stack(self) -> Sequence[object]:
        """The screens, from below."""

    def set_interval(self, interval: float, callback: Callable[[], object]) -> object:
        """Call again and again."""


SAVE_S = 1.0
"""The longest delay in seconds before a change is saved."""
MOST_BRANCHES = 6


class Keeping:
    """Keeps the session of an app.

    Args:
        app: The app.
        begun: The session that the command line names, None for none.
        folder: Where sessions are; the user's folder if None.
    """

    def __init__(self, app: Host, begun: SavedSession | None, folder: Path | None = None) -> None:
        self._app = app
        self._about = begun or SavedSession()
        self._folder = folder
        self._keeper: Keeper | None = None
        self._refused = False
        self._branches: dict[tuple[object, ...], Branch] = {}
        self._changed = False
        self._thread = ThreadPoolExecutor(1, "tokentui-keeping")
        self._saving: asyncio.Future[None] | None = None
        self._looked: object = None
        self._last: SavedSession | None = None

    def begin(self) -> None:
        """Begin to save."""
        self._app.set_interval(SAVE_S, self._save)
        self.opened(self._about)
        self.fingerprint()

    def opened(self, about: SavedSession) -> None:
        """Another corpus is open, or being opened."""
        self._release()
        self._about, self._branches, self._refused = about, {}, False

    def answered(self, command: Command[object]) -> None:
        """A command has been carried out."""
        if isinstance(command, Open):
            self.opened(
                SavedSession(
                    sources=tuple(map(absolute, command.sources)), as_=command.as_, field_=command.field
                )
            )
        elif isinstance(command, OpenTokenizer):
            self._about = dataclasses.replace(self._about, tokenizer=absolute(command.path),
                split=command.split)
        elif isinstance(command, TrainOnText):
            if self._about.scratch is None:
                self.opened(SavedSession(scratch=command.text))
            self._about = dataclasses.replace(self._about, scratch=command.text)
        elif isinstance(command, SetRecipe):
            self._about = dataclasses.replace(self._about, tokenizer="", split="")
        else:
            return
        self.fingerprint()

    def fingerprint(self, saved: str = "") -> None:
        """Find out what the corpus is, to notice when another is there under its name than the one that was
        `saved`.
        """

        def found(sha256: str) -> None:
            if saved and saved != sha256:
                self._app.say(
                    "the corpus has changed since the session was saved: counts are those of the new text",
                    "warning",
                )
            self._about = dataclasses.replace(self._about, sha256=sha256)

        self._app.send(Fingerprint(), found, lambda error: None)

    def now(self) -> SavedSession | None:
        """The session as it stands; None before there is anything to keep."""
        main = self._app.main
        seen = main.snapshot
        if seen is None or seen.main.partial or not (self._about.sources or self._about.scratch is not None):
            return None
        run = self._app.run_in_use
        training = Branch(seen.main.recipe, run, seen.main.at.step)
        key = (seen.main.recipe, run)
        self._branches.pop(key, None)
        others = tuple(self._branches.values())
        self._branches[key] = training
        while len(self._branches) > MOST_BRANCHES + 1:
            self._branches.pop(next(iter(self._branches)))
        settings = {**main.settings, "keep_place": seen.keep_place, "theme": self._app.theme}
        return dataclasses.replace(
            self._about, training=training, branches=others[::-1], typed=main.encode.line.value,
            settings=settings,
            columns=self._columns(), ended=False,
        )

    def _save(self) -> None:
        if self._saving is not None and not self._saving.done():
            return
        # What the screen shows is a value: where it is the same one, nothing has happened.
        main = self._app.main
        seen = main.snapshot and main.snapshot.version, main.active, main.mode, main.look
        looked = (*seen, self._app.theme, self._about, self._columns())
        if looked == self._looked:
            return
        kept = self.now()
        if kept is not None and not self._refused:
            self._looked = looked
            self._saving = asyncio.get_running_loop().run_in_executor(self._thread, self._write, kept)
            self._saving.add_done_callback(self._told)

    def _write(self, kept: SavedSession) -> None:
        if self._keeper is None:
            self._keeper = Keeper(kept, self._folder)
            tidy(self._folder)
        self._keeper.save(kept)

    def _told(self, saving: asyncio.Future[None]) -> None:
        if saving.cancelled():
            return
        error = saving.exception()
        if isinstance(error, TokentuiError) and self._app.is_running:
            # Said once; where another process has the session, or the disk is full, the work goes on all the
            # same.
            self._refused = True
            self._app.say(str(error), "warning")
        elif error is not None and not isinstance(error, TokentuiError):
            raise error

    def look(self) -> None:
        """Look for the last time, while all screens are there."""
        self._last = self._last or self.now()

    async def end(self, *, left: bool) -> None:
        """Save for the last time. `left` says that it was the user who ended it."""
        if self._saving is not None:
            await asyncio.wait([self._saving])
        kept = self._last or self.now()
        if kept is not None and not self._refused:
            kept = dataclasses.replace(kept, ended=left)
            with contextlib.suppress(TokentuiError):
                await asyncio.get_running_loop().run_in_executor(self._thread, self._write, kept)
        self._release()
        self._thread.shutdown(wait=False)

    def _release(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    # ---- going on

    def go_on(self, kept: SavedSession) -> None:
        """Stand where a session stood: open what it had open, and go to its step."""
        app = self._app
        self.opened(dataclasses.replace(kept, ended=False))
        self._branches = {(one.recipe, one.run): one for one in reversed(kept.branches)}
        app.run_in_use = kept.training.run
        app.send(KeepPlace(str(kept.settings.get("keep_place", "step"))), failed=lambda error: None)
        app.main.encode.line.value = kept.typed
        # One after the other: what is opened takes the place of what is still being laid out.
        app.send(SetRecipe(kept.training.recipe, kept.training.run), lambda _: self._open_again(kept))

    def _open_again(self, kept: SavedSession) -> None:
        """Open what a session had open."""
        self._about = dataclasses.replace(kept, ended=False)
        file = OpenTokenizer(kept.tokenizer, kept.split) if kept.tokenizer else None
        opening: Command[None] = Open(kept.sources, kept.as_, kept.field_, file)
        if kept.scratch is not None:
            opening = TrainOnText(kept.scratch)
        if self._app.session is not None:
            self._app.await_answer(
                self._app.session.send(opening), lambda _: self._stand(kept), self._app.tell
            )

    def give_up(self, kept: SavedSession) -> None:
        """Offer a session no more."""

        def mark() -> None:
            with contextlib.suppress(TokentuiError):
                keeper = Keeper(kept, self._folder)
                keeper.save(dataclasses.replace(kept, ended=True))
                keeper.close()

        self._thread.submit(mark)

    def _stand(self, kept: SavedSession) -> None:
        app, main, settings = self._app, self._app.main, kept.settings
        app.send(GoTo(kept.training.step))
        if settings.get("theme") in app.available_themes:
            app.theme = str(settings["theme"])
        main.restore(settings)
        self.fingerprint(kept.sha256)
        if kept.columns:
            self._compare(kept)

    # ---- compare

    def _columns(self) -> tuple[Branch | str, ...]:
        """Return the columns of Compare; empty without Compare."""
        # where it was never opened there is nothing to look for
        module = sys.modules.get("tokentui.ui.compare.screen")
        screen = next((one for one in self._app.screen_stack if module
            and isinstance(one, module.CompareScreen)), None)
        now = getattr(screen, "snapshot", None)
        if now is None:
            return ()
        return tuple(
            absolute(column.path) if column.path else Branch(column.recipe, self._app.run_in_use)
            for column in now.columns
        )

    def _compare(self, kept: SavedSession) -> None:
        from tokentui.session.views import ColumnWanted

        wanted = [ColumnWanted(path=one) if isinstance(one, str) else ColumnWanted(one.recipe, one.run)
            for one in kept.columns]
        self._app.compare(wanted)
