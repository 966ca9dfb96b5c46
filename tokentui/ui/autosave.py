"""Save the session as the user works, and offer it again at the next start."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import mark_retrieved
from tokentui.core.safetext import safe
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.persist.session_file import Branch, Keeper, SavedSession, absolute, tidy
from tokentui.session.views import ColumnSnapshot, ColumnWanted
from tokentui.text.named import short_name
from tokentui.ui.dialogs.open import file_column
from tokentui.ui.draw.text import Cell
from tokentui.ui.guard import start_worker
from tokentui.ui.link import Explorer
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.pane_screen import PaneScreen

SAVE_S = 1.0
"""The longest delay in seconds before a change is saved."""
MOST_BRANCHES = 6


class Autosave:
    """Saves the session of the app in the background.

    Args:
        app: The app.
        main: Its main screen.
        begun: The session that the command line names, if any.
    """

    def __init__(self, app: Explorer, main: MainScreen, begun: SavedSession | None) -> None:
        self._app, self._engine, self._main = app, app.engine, main
        self._about = begun or SavedSession()
        self._keeper: Keeper | None = None
        self._refused = False
        self._branches: dict[tuple[object, ...], Branch] = {}
        self._first: SavedSession | None = None
        """The session as the program started it; None before it is known, or if an offered one goes on."""
        self._goes_on = False
        """True if an offered session goes on."""
        self._resumed: SavedSession | None = None
        """The session that is being opened again, until the screen shows its step."""
        self._before: SavedSession | None = None
        """The session before that one, until it is open."""
        self._arrived: int | None = None
        """The version of the snapshot when its step was reached."""
        self._resuming: asyncio.Task[None] | None = None
        self._own: list[do.Command[None]] = []
        """The commands that open the resumed session."""
        self._thread = ThreadPoolExecutor(1, "tokentui-autosave")
        self._saving: asyncio.Task[None] | None = None
        self._kept: SavedSession | None = None
        self._last: SavedSession | None = None
        self._due: asyncio.TimerHandle | None = None
        """When it is looked at next whether there is something to save; None where nothing has happened."""
        self.fingerprint()

    def switch_to(self, about: SavedSession, left: SavedSession | None = None) -> None:
        """Save another session from now on, without its branches yet.

        Args:
            about: The session, whose corpus is open or being opened.
            left: The session that the user has left for it, if it was saved; it is marked as ended.
        """
        with contextlib.suppress(RuntimeError):  # after `end` there is nothing to let go
            self._thread.submit(self._release, left)  # after what is being written
        self._about, self._branches, self._refused = about, {}, False
        self._resumed = self._before = self._arrived = self._kept = None
        self.schedule()

    def opened(self, command: do.Command[object]) -> None:
        """Note what a command of the user has opened; a corpus or a first typed text starts another session.

        Ignore commands of the autosave. If a session is still being resumed, give that up.
        """
        if any(command is own for own in self._own):
            return
        if self._resuming is not None and self._before is not None:  # the user has gone elsewhere meanwhile
            self._resuming.cancel()
            self.switch_to(self._before)
        left = self._kept if self._kept is not None and self._kept.name == self._about.name else None
        match command:
            case do.Open(sources, as_, field):
                self.switch_to(SavedSession(tuple(map(absolute, sources)), as_, field), left)
            case do.OpenTokenizer(path, split):
                self._about = dataclasses.replace(self._about, tokenizer=absolute(path), split=split)
            case do.TrainOnText(text):
                if self._about.scratch is None:
                    self.switch_to(SavedSession(), left)
                self._about = dataclasses.replace(self._about, scratch=text)
            case _:
                self._about = dataclasses.replace(self._about, tokenizer="", split="")
        self.fingerprint()

    def fingerprint(self, saved: str = "") -> None:
        """Compute the SHA-256 of the corpus in a worker, and save it; warn if it differs from `saved`, unless
        that is empty.

        Do nothing without a corpus, or if it cannot be read.
        """

        async def compare() -> None:
            try:
                sha256 = await self._engine.ask(do.Fingerprint())
            except (TokentuiError, Cancelled):
                return
            if saved and saved != sha256:
                self._app.say(
                    "the corpus has changed since the session was saved: counts are those of the new text",
                    "warning",
                )
            self._about = dataclasses.replace(self._about, sha256=sha256)
            self.schedule()

        start_worker(self._app, "fingerprint", compare, exclusive=False)

    def current(self) -> SavedSession | None:
        """Return the session as it would be saved now; None if there is nothing to save yet.

        While a session is being resumed, return that one until its step is shown. Adds the present training
        to the branches.
        """
        main, seen = self._main, self._main.snapshot
        if self._resumed is not None:
            if seen is None or self._arrived is None or seen.version <= self._arrived:
                return self._resumed
            self._resumed = None
        if seen is None or seen.corpus.nothing_open:
            seen = self._engine.snapshot  # columns may be compared before the main screen has seen the corpus
        if seen is None or seen.corpus.nothing_open or seen.main.partial:
            return None
        if not self._about.sources and self._about.scratch is None:
            return None
        training = Branch(seen.main.recipe, self._engine.run, seen.main.at.step)
        self._branches.pop((training.recipe, training.run), None)
        others = tuple(self._branches.values())[-MOST_BRANCHES:]
        self._branches = {(branch.recipe, branch.run): branch for branch in (*others, training)}
        settings = {**main.settings, "keep_place": seen.keep_place, "theme": self._app.theme}
        beside = [
            screen.snapshot for screen in self._app.screen_stack[1:]
            # The session of a tour is another one.
            if isinstance(screen, PaneScreen) and screen.engine is self._engine
        ]
        shown = [column for now in beside[:1] if now is not None for column in now.columns]
        paths = [column.path for column in shown]
        columns = [
            Branch(column.recipe, self._engine.run) if not column.path
            else _file_of(column, paths.count(column.path) > 1) for column in shown
        ]
        return dataclasses.replace(
            self._about, training=training, branches=others[::-1], typed=main.encode.text,
            settings=settings, columns=tuple(columns), ended=False,
        )

    def schedule(self) -> None:
        """Save after `SAVE_S` seconds if the session has changed by then. The first call notes the session as
        it started.

        Do nothing after the last save has begun.
        """
        if self._first is None and not self._goes_on:
            self._first = self.current()
        if self._due is None and self._last is None:
            self._due = asyncio.get_running_loop().call_later(SAVE_S, self._save)

    def _save(self) -> None:
        """Start to write the session in a thread, unless it is unchanged or saving was refused. While a save
        runs, schedule another one."""
        self._due = None
        if self._refused:
            return
        if self._saving is not None and not self._saving.done():
            self.schedule()
        elif (kept := self.current()) is not None and kept != self._kept:
            self._kept = kept
            self._saving = asyncio.create_task(self._keep(kept))

    async def _keep(self, kept: SavedSession) -> None:
        """Write the session in the thread of the autosave. After an error, show it and save this session no
        more."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, kept)
        except TokentuiError as error:
            # Said once; where another process has the session, or the disk is full, the work goes on all the
            # same.
            self._refused = kept.name == self._about.name  # else that session has been left meanwhile
            if self._app.is_running:
                self._app.say(str(error), "warning")

    def _write(self, kept: SavedSession) -> None:
        """Write the session in the thread of the autosave; the first call opens its file and removes old
        ones."""
        if self._keeper is None:
            self._keeper = Keeper(kept)
            tidy()
        self._keeper.save(kept)

    def capture(self) -> None:
        """Note the session to save at the end, while all screens exist; only the first call counts."""
        self._last = self._last or self.current()

    def worth_offering(self, kept: SavedSession) -> bool:
        """Return whether a session holds work: a step, a text, a recipe or a file that the user chose. The
        settings of the view do not count.

        True also for a resumed session, and if the first state is not known.
        """
        first, seen = self._first, self._engine.snapshot
        if self._goes_on or first is None:
            return True
        opened = seen.main.opened if seen is not None else None
        rest = opened.steps if kept.tokenizer and opened is not None else 0
        same = dataclasses.replace(
            kept, settings=first.settings, sha256=first.sha256, ended=first.ended,
            training=dataclasses.replace(kept.training, step=first.training.step),
        )
        return same != first or kept.training.step != rest

    async def end(self, *, left: bool) -> None:
        """Save for the last time, and close the file. Nothing is saved afterwards.

        Args:
            left: True if the user ended the program. The session is then offered again only if it holds work;
                after a dropped line or a failure it always is.
        """
        if self._due is not None:
            self._due.cancel()
        if self._resuming is not None:
            self._resuming.cancel()
        if self._saving is not None:
            await asyncio.wait([self._saving])
        kept = self._last or self.current()
        if kept is not None and not self._refused:
            await self._keep(dataclasses.replace(kept, ended=left and not self.worth_offering(kept)))
        self._refused = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._release)
        self._thread.shutdown(wait=False)

    def _release(self, left: SavedSession | None = None) -> None:
        """Close the file of the session, after saving `left` as ended in it. Errors of that save are ignored.
        """
        if self._keeper is not None:
            with contextlib.suppress(TokentuiError):
                if left is not None:
                    self._keeper.save(dataclasses.replace(left, ended=True))
            self._keeper.close()
            self._keeper = None

    def dismiss(self, kept: SavedSession) -> None:
        """Mark a saved session as ended in the thread of the autosave, so that it is not offered again.
        Errors are ignored."""

        def mark() -> None:
            with contextlib.suppress(TokentuiError):
                keeper = Keeper(kept)
                keeper.save(dataclasses.replace(kept, ended=True))
                keeper.close()

        self._thread.submit(mark)

    # Going on.

    def resume(self, kept: SavedSession) -> None:
        """Save to a saved session from now on, take over its run and typed text, and start a task that opens
        its corpus, step, recipes and columns. If that fails, the session before is saved again."""
        before, self._goes_on = self._about, True
        self.switch_to(dataclasses.replace(kept, ended=False))
        self._resumed, self._before = self._about, before
        self._branches = {(branch.recipe, branch.run): branch for branch in reversed(kept.branches)}
        self._engine.run = kept.training.run
        self._main.encode.line.value = kept.typed
        self._resuming = asyncio.create_task(self._open_again(kept, before))

    async def _open_again(self, kept: SavedSession, before: SavedSession) -> None:
        """Open the recipe, corpus, tokenizer file, step, theme, panes and columns of a saved session.

        If the recipe or the corpus fails, show the error, open nothing more, and save `before` again.
        """
        engine, settings, app = self._engine, kept.settings, self._app
        encode, file = kept.training.recipe.encode, None
        if kept.tokenizer:
            file = do.OpenTokenizer(kept.tokenizer, kept.split, encode)
        opening: do.Command[None] = do.Open(kept.sources, kept.as_, kept.field_, file)
        if kept.scratch is not None:
            opening = do.TrainOnText(kept.scratch)
        with contextlib.suppress(TokentuiError):
            keep = do.KeepPlace(str(settings.get("keep_place", "step")))
            engine.post(keep).add_done_callback(mark_retrieved)
        self._own = [do.SetRecipe(kept.training.recipe, kept.training.run), opening]
        try:
            for command in self._own:  # one after the other: the second would cancel the first
                await engine.ask(command)
        except (TokentuiError, Cancelled) as error:
            self._goes_on = False
            self.switch_to(before)  # it is saved again
            app.tell(error)
            return
        self._before = None
        engine.post(do.GoTo(kept.training.step)).add_done_callback(self._reached)
        if settings.get("theme") in app.available_themes:
            app.theme = str(settings["theme"])
        self._main.restore(settings)
        self.fingerprint(kept.sha256)
        if kept.columns:
            app.compare([
                file_column(column) if isinstance(column, str) else ColumnWanted(column.recipe, column.run)
                for column in kept.columns
            ])

    def _reached(self, answer: asyncio.Future[None]) -> None:
        mark_retrieved(answer)
        self._arrived = self._main.snapshot.version if self._main.snapshot else 0
        self.schedule()


def _file_of(column: ColumnSnapshot, several: bool) -> str:
    """A column of a file as one would type it: with the split, which its file may not hold, and with the way
    to encode where one was named, or where `several` are of this file.
    """
    split, way = f"split={column.recipe.split}", f"encode={column.recipe.encode}"
    words = [absolute(column.path)]
    names_split = column.opened is not None or column.recipe.split != Recipe().split
    if names_split and " " not in split:  # a pattern may hold one, which would end it
        words.append(split)
    if several or column.name.endswith(f" {way}"):
        words.append(way)
    return " ".join(words)


# The offer.


def described(kept: SavedSession, note: str) -> Cell:
    """Return a saved session in words: the corpus, the step, the recipe, and a note about it.

    Args:
        kept: The session.
        note: A note about the session; empty for none.
    """
    recipe = kept.training.recipe
    what = next((preset.name for preset in PRESETS.values() if preset.recipe == recipe), recipe.objective)
    if kept.tokenizer:
        what = safe(os.path.basename(kept.tokenizer), limit=60)
    # The corpus by the last part of its path: the first ones say less and are long.
    corpus = safe(short_name(kept.sources[0] if kept.sources else kept.name), limit=60)
    more = f" and {len(kept.sources) - 1} more" if len(kept.sources) > 1 else ""
    beside = f", comparing {len(kept.columns)} side by side" if kept.columns else ""
    said: Cell = ((f"{corpus}{more}", "strong"), (f", step {kept.training.step:,}", ""),
        (f" · {what}{beside}", "muted"))
    return (*said, (f" · {safe(note, limit=300)}", "warning")) if note else said
