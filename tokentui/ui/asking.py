"""What the explorer asks in dialogs, and what it does with the answers. Dialogs are loaded when they are first wanted."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from typing import TYPE_CHECKING, Any

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Ending
from tokentui.session.commands import (
    Ask,
    Command,
    Compress,
    Export,
    Facts,
    Find,
    Follow,
    Formats,
    GoToToken,
    Never,
    Open,
    OpenTokenizer,
    Pieces,
    Preview,
    Recognise,
)
from tokentui.session.snapshot import (
    CompressedView,
    LossRow,
    PairRow,
    PiecesView,
    Place,
    PreviewView,
    TokenRow,
)
from tokentui.ui.actions import meant
from tokentui.ui.trying import Trying, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tokentui.analyze.results import Answers, Report
    from tokentui.recipe import Recipe
    from tokentui.session.catalog import ExportReport
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.dialogs.following import RecipeChoice
    from tokentui.ui.dialogs.open import OpenChoice

LIVE_BYTES = 1_000_000
"""Up to this size the main screen follows each change of a recipe while it is being chosen, unless the user says otherwise."""


class Asking:
    """The dialogs of an app.

    Args:
        app: The app.
        run: The words of the run in use.
    """

    def __init__(self, app: ExplorerApp, run: dict[str, Any]) -> None:
        self._app = app
        self._run = run
        self._followed: tuple[int, Place] | None = None

    @property
    def run(self) -> Mapping[str, Any]:
        """The words of the run in use."""
        return self._run

    # In the corpus and the tables.

    def follow(self) -> None:
        """Show where the last merge was made; again: the next place."""
        main = self._app.main
        if main.snapshot is None or not main.snapshot.step:
            self._app.say("no merge has been made yet" if main.objective != "opened" else "nothing is born yet")
            return
        if main.objective == "unigram":
            self._app.say("a unigram step merges nothing: it has no one place in the corpus")
            return
        step = main.snapshot.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else main.text.top_place

        def found(place: Place | None) -> None:
            if place is None:
                last = "merge" if main.objective != "opened" else "birth"
                self._app.say(f"the last {last} stands nowhere in the corpus")
                return
            self._followed = step, place
            main.text.show_place(place)

        self._app.send(Follow(start), found)

    def what_to_find(self) -> None:
        """Ask for text, and find it in the pane that has the focus."""
        from tokentui.ui.dialogs.find import FindScreen

        main = self._app.main
        pane = main.active if main.active != "encode" else "corpus"

        def asked(text: str | None) -> None:
            if text is not None:
                main.mark_found(pane, text)
                if text:
                    self.find_again(backward=False)

        self._app.push_screen(FindScreen(main.name_of(pane), main.sought[1]), asked)

    def find_again(self, backward: bool) -> None:
        """The next match of what was looked for last, or the one before."""
        main = self._app.main
        pane, text = main.sought
        if not text:
            self._app.say("nothing to find yet: press /")
            return

        def found(answer: int | Place | None) -> None:
            if answer is None:
                self._app.say(f"not found: {text}")
            else:
                main.show_found(pane, text, answer)

        self._app.send(Find(pane, text, main.place_to_start(pane), backward, main.mode), found)

    def inspect(self, row: PairRow | LossRow | TokenRow) -> None:
        """Show all about a row."""
        from tokentui.ui.dialogs.inspect import InspectScreen

        now = self._app.main.snapshot
        if isinstance(row, TokenRow) and row.id is not None and now is not None and now.opened is not None and not row.reason:
            self._app.send(Never(row.id), lambda why: self._app.push_screen(InspectScreen(dataclasses.replace(row, reason=why))))
        else:
            self._app.push_screen(InspectScreen(row, follows=self._app.loads()))

    def compressed(self) -> None:
        """Show the text as Gage's compression leaves it at this step."""
        if self._app.main.objective != "gage":
            self._app.say("only Gage's compression has a compressed text: choose it with a")
            return
        if self._app.loads():
            self._app.not_yet()
            return
        self._app.send(Compress(), self._show_compressed)

    def _show_compressed(self, view: CompressedView) -> None:
        from tokentui.ui.dialogs.compressed import CompressedScreen

        self._app.push_screen(CompressedScreen(view, self._app.send))

    # In the run.

    def where_to_go(self) -> None:
        """Ask for a step or a token, and go there."""
        from tokentui.ui.dialogs.goto import GoToScreen, destination

        now = self._app.main.snapshot
        place = (now.step, now.known, now.end) if now is not None else (0, 0, Ending())
        dialog = GoToScreen(*place, what="step" if now is None or now.opened is None else "birth")

        def asked(line: str | None) -> None:
            command = destination(line, *dialog.place) if line is not None else None
            if isinstance(command, GoToToken):
                self._app.send(command, lambda step: self._token_looked_for(command.text, step))
            elif command is not None:
                self._app.send(command)

        self._app.push_screen(dialog, asked)

    def _token_looked_for(self, text: str, step: int | None) -> None:
        if step is None:
            now = self._app.main.snapshot
            opened = now is not None and now.opened is not None
            self._app.say(f"the file has no token {text!r}" if opened else f"no step of this run makes {text!r}")

    def how_to_train(self) -> None:
        """Ask for a recipe, and train by it."""
        from tokentui.ui.dialogs.draft import full_run
        from tokentui.ui.dialogs.following import RecipeChoice
        from tokentui.ui.dialogs.recipe import RecipeScreen

        now = self._app.main.snapshot
        if now is None:
            self._app.not_yet()
            return

        async def trial(recipe: Recipe, run: Mapping[str, Any]) -> PreviewView:
            view: PreviewView = await self._answer(Preview(recipe, words(run)))
            return view

        trying = Trying(self._app, RecipeChoice(now.recipe, full_run(self._run), now.keep_place), self.take_run, now.opened)

        def asked(choice: RecipeChoice | None) -> None:
            if choice is None:
                trying.put_back()
            else:
                trying.train(choice)

        live = now.corpus_bytes <= LIVE_BYTES and now.opened is None and not now.nothing
        stages = now.opened.stages if now.opened is not None else ()
        dialog = RecipeScreen(now.recipe, now.preset, self._run, trial, now.keep_place, trying.train, live, stages)
        self._app.push_screen(dialog, asked)

    def take_run(self, run: dict[str, Any]) -> None:
        """Go on with these words of a run."""
        self._run = run

    # About the text and the vocabulary.

    def pieces(self) -> None:
        """Show how the typed text and the corpus are cut, from the place that is looked at."""
        from tokentui.ui.dialogs.pieces import PiecesScreen

        async def asked(place: Place) -> PiecesView:
            view: PiecesView = await self._answer(Pieces(place))
            return view

        self._app.push_screen(PiecesScreen(asked, self._app.main.text.top_place))

    def questions(self) -> None:
        """Show the answers to the questions that the vocabulary raises."""
        from tokentui.ui.dialogs.questions import QuestionsScreen

        async def asked(word: str, exhaust: bool) -> Answers:
            answers: Answers = await self._answer(Ask(word, exhaust))
            return answers

        self._app.push_screen(QuestionsScreen(asked))

    def facts(self) -> None:
        """Show the facts of the tokenizer, its steps, and a report on its health."""
        from tokentui.ui.dialogs.facts import FactsScreen

        async def asked() -> Report:
            report: Report = await self._answer(Facts())
            return report

        self._app.push_screen(FactsScreen(asked, self._app.main.snapshot))

    def export(self) -> None:
        """Ask for a format and a path, and write the tokenizer of this step there."""
        from tokentui.ui.dialogs.export import ExportScreen, stem_of

        now = self._app.main.snapshot

        async def looked() -> Sequence[ExportReport]:
            reports: Sequence[ExportReport] = await self._answer(Formats())
            return reports

        async def write(path: str, format: str, overwrite: bool) -> ExportReport:
            report: ExportReport = await self._answer(Export(path, format, overwrite))
            return report

        def written(result: tuple[str, ExportReport] | None) -> None:
            if result is not None:
                path, report = result
                tried = f", the same on {report.checked:,} texts" if report.checked else ""
                self._app.say(f"{path}: written as {report.format}{tried}")

        name = now.corpus_name if now is not None and not now.nothing else ""
        self._app.push_screen(ExportScreen(looked, write, now.step if now and name else None, stem_of(name), name), written)

    async def _answer(self, command: Command) -> Any:
        """The answer of the session, for a dialog that waits for it.

        Raises:
            TokentuiError: There is none.
        """
        session = self._app.session
        if session is None:
            raise Cancelled
        try:
            return await session.send(command)
        except TokentuiError:
            raise
        except Exception as error:
            raise TokentuiError(f"this should not happen: {type(error).__name__}: {error}") from error

    # The rest.

    async def what_to_open(self) -> None:
        """Ask for a corpus, and open it."""
        from tokentui.core.paths import recent, remember
        from tokentui.ui.dialogs.open import OpenScreen

        # A home on a slow disk must not hold up the keys.
        listed = await asyncio.to_thread(recent)

        def asked(choice: OpenChoice | None) -> None:
            if choice is not None and choice.tokenizer:
                self._open(OpenTokenizer(choice.source, choice.split), lambda: remember(choice.source))
            elif choice is not None:
                self._open(Open(choice.source, choice.as_), lambda: remember(choice.source))

        async def recognised(path: str) -> str:
            name: str = await self._answer(Recognise(path))
            return name

        self._app.push_screen(OpenScreen(listed, os.curdir, recognised), asked)

    def _open(self, command: Open | OpenTokenizer, remember: Callable[[], None]) -> None:
        editing, loop = self._app.editing, asyncio.get_running_loop()

        def opened(_: Any) -> None:
            self._app.call_later(editing.opened)
            loop.run_in_executor(None, remember)

        def failed(error: BaseException) -> None:
            if isinstance(command, OpenTokenizer) and isinstance(error, TokentuiError) and not isinstance(error, Cancelled):
                hint = "; ".join(filter(None, (error.hint, "o with ctrl+t reads it as a text")))
                error = TokentuiError(error.what, error.where, hint)
            self._app.tell(error)
            editing.come_back()

        editing.give_way()
        self._app.send(command, opened, failed)

    def help(self) -> None:
        """Show all keys."""
        from tokentui.ui.dialogs.help import HelpScreen

        main = self._app.main
        now = main.snapshot
        runs = (now.engine, now.memory) if now is not None else ("", 0)
        self._app.push_screen(HelpScreen(meant(main.objective), main.context, *runs))
