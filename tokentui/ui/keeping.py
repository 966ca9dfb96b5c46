"""Save the session as the user works, and offer it again after a dropped connection."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from textual.app import ComposeResult

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.presets import PRESETS
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
from tokentui.ui.dialogs import Dialog, Told
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, SessionLike
from tokentui.ui.keys import Action
from tokentui.ui.main import MainScreen
from tokentui.ui.screen import PaneScreen


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
        self._resumed: SavedSession | None = None
        """The session that is being opened again, until the screen shows its step."""
        self._before: SavedSession | None = None
        """The session before that one, until it is open."""
        self._arrived: int | None = None
        """The version of the snapshot when its step was reached."""
        self._opened = 0
        self._thread = ThreadPoolExecutor(1, "tokentui-keeping")
        self._saving: asyncio.Task[None] | None = None
        self._looked: object = None
        self._last: SavedSession | None = None

    def begin(self) -> None:
        """Begin to save."""
        self._app.set_interval(SAVE_S, self._save)
        self.opened(self._about)
        self.fingerprint()

    def opened(self, about: SavedSession) -> None:
        """Another corpus is open, or being opened."""
        with contextlib.suppress(RuntimeError):  # after `end` there is nothing to let go
            self._thread.submit(self._release)  # after what is being written
        self._about, self._branches, self._refused = about, {}, False
        self._resumed = self._before = self._arrived = None
        self._opened += 1

    def answered(self, command: Command[object]) -> None:
        """A command has been carried out."""
        if self._before is not None and isinstance(command, Open | OpenTokenizer | TrainOnText | SetRecipe):
            ours = self._resumed and self._resumed.training
            if not (isinstance(command, SetRecipe) and ours and command.recipe is ours.recipe):
                self.opened(self._before)  # the user has gone elsewhere meanwhile
        match command:
            case Open(sources, as_, field):
                self.opened(SavedSession(tuple(map(absolute, sources)), as_, field))
            case OpenTokenizer(path, split):
                self._about = dataclasses.replace(self._about, tokenizer=absolute(path), split=split)
            case TrainOnText(text):
                if self._about.scratch is None:
                    self.opened(SavedSession())
                self._about = dataclasses.replace(self._about, scratch=text)
            case SetRecipe():
                self._about = dataclasses.replace(self._about, tokenizer="", split="")
            case _:
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
        if self._resumed is not None:
            if seen is None or self._arrived is None or seen.version <= self._arrived:
                return self._resumed
            self._resumed = None
        if seen is None or seen.nothing or seen.main.partial:
            return None
        if not self._about.sources and self._about.scratch is None:
            return None
        training = Branch(seen.main.recipe, self._app.run_in_use, seen.main.at.step)
        self._branches.pop((training.recipe, training.run), None)
        others = tuple(self._branches.values())[-MOST_BRANCHES:]
        self._branches = {(one.recipe, one.run): one for one in (*others, training)}
        settings = {**main.settings, "keep_place": seen.keep_place, "theme": self._app.theme}
        return dataclasses.replace(
            self._about, training=training, branches=others[::-1], typed=main.encode.line.value,
            settings=settings, columns=self._columns(), ended=False,
        )

    def _save(self) -> None:
        if self._refused or (self._saving is not None and not self._saving.done()):
            return
        # What the screen shows is a value: where it is the same one, nothing has happened.
        main = self._app.main
        seen = main.snapshot and main.snapshot.version, main.active, main.mode, main.look
        looked = (*seen, self._app.theme, self._about, self._columns())
        if looked != self._looked and (kept := self.now()) is not None:
            self._looked = looked
            self._saving = asyncio.create_task(self._keep(kept))

    async def _keep(self, kept: SavedSession) -> None:
        opened = self._opened
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, kept)
        except TokentuiError as error:
            # Said once; where another process has the session, or the disk is full, the work goes on all the
            # same.
            if opened == self._opened:  # the session that it was about may have been left
                self._refused = True
            if self._app.is_running:
                self._app.say(str(error), "warning")

    def _write(self, kept: SavedSession) -> None:
        if self._keeper is None:
            self._keeper = Keeper(kept, self._folder)
            tidy(self._folder)
        self._keeper.save(kept)

    def look(self) -> None:
        """Look for the last time, while all screens are there."""
        self._last = self._last or self.now()

    async def end(self, *, left: bool) -> None:
        """Save for the last time. `left` says that it was the user who ended it."""
        if self._saving is not None:
            await asyncio.wait([self._saving])
        kept = self._last or self.now()
        if kept is not None and not self._refused:
            await self._keep(dataclasses.replace(kept, ended=left))
        await asyncio.get_running_loop().run_in_executor(self._thread, self._release)
        self._thread.shutdown(wait=False)

    def _release(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    # ---- going on

    def go_on(self, kept: SavedSession) -> None:
        """Stand where a session stood: open what it had open, and go to its step."""
        app, before = self._app, self._about
        self.opened(dataclasses.replace(kept, ended=False))
        self._resumed, self._before = self._about, before
        self._branches = {(one.recipe, one.run): one for one in reversed(kept.branches)}
        app.run_in_use = kept.training.run
        app.send(KeepPlace(str(kept.settings.get("keep_place", "step"))), failed=lambda error: None)
        app.main.encode.line.value = kept.typed
        # One after the other: what is opened takes the place of what is still being laid out.
        command = SetRecipe(kept.training.recipe, kept.training.run)
        app.send(command, lambda _: self._open_again(kept), self._not_open)

    def _not_open(self, error: BaseException) -> None:
        """Save what was open before again."""
        if self._before is not None:
            self.opened(self._before)
        self._app.tell(error)

    def _open_again(self, kept: SavedSession) -> None:
        """Open what a session had open."""
        self._about = dataclasses.replace(kept, ended=False)
        file = OpenTokenizer(kept.tokenizer, kept.split) if kept.tokenizer else None
        opening: Command[None] = Open(kept.sources, kept.as_, kept.field_, file)
        if kept.scratch is not None:
            opening = TrainOnText(kept.scratch)
        if self._app.session is not None:
            self._app.await_answer(
                self._app.session.send(opening), lambda _: self._stand(kept), self._not_open
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
        self._before = None
        app.send(GoTo(kept.training.step), self._reached, self._reached)
        if settings.get("theme") in app.available_themes:
            app.theme = str(settings["theme"])
        main.restore(settings)
        self.fingerprint(kept.sha256)
        if kept.columns:
            self._compare(kept)

    def _reached(self, _: object) -> None:
        self._arrived = self._app.main.snapshot.version if self._app.main.snapshot else 0

    # ---- compare

    def _columns(self) -> tuple[Branch | str, ...]:
        """Return the columns of Compare; empty without Compare."""
        over = [one.snapshot for one in self._app.screen_stack[1:] if isinstance(one, PaneScreen)]
        now = next(iter(over), None)
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


# The offer.


class OfferScreen(Dialog[bool]):
    """Offers a session again that a dropped line has cut off. None when it is left without an answer.

    Args:
        face: The program.
        kept: The session.
        note: A note about the session; empty for none.
    """

    HEADING = "Go on?"
    ACTIONS = (
        Action(("enter",), "go on", lambda it: it.dismiss(True)),
        Action(("n",), "begin anew", lambda it: it.dismiss(False)),
        Action(("escape",), "later", lambda it: it.leave()),
    )

    def __init__(self, face: Face, kept: SavedSession, note: str) -> None:
        super().__init__(face)
        self._kept, self._note = kept, note
        self.told = Told()

    def compose_box(self) -> ComposeResult:
        """Yield a summary of the saved session."""
        kept, recipe = self._kept, self._kept.training.recipe
        what = next((one.name for one in PRESETS.values() if one.recipe == recipe), recipe.objective)
        if kept.tokenizer:
            what = safe(os.path.basename(kept.tokenizer), limit=60)
        # The corpus by the last part of its path: the first ones say less and are long.
        first = kept.sources[0] if kept.sources else kept.name
        corpus = safe(os.path.basename(first.rstrip("/")) or first, limit=60)
        more = f" and {len(kept.sources) - 1} more" if len(kept.sources) > 1 else ""
        lines: list[Cell] = [
            (("A session was cut off:", ""),), ((f"  {corpus}{more}", "strong"),),
            ((f"  {what} · step {kept.training.step:,}", "muted"),),
        ]
        if kept.columns:
            lines.append(((f"  comparing {len(kept.columns)} side by side", "muted"),))
        if self._note:
            lines.append(((safe(self._note, limit=300), "warning"),))
        self.told.show(*lines)
        yield self.told
