"""The main screen: what every pane shows at one step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.dom import DOMNode
from textual.widgets import Input

from tokentui.analyze.analyses import ANALYSES
from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GLYPH_MODES, GlyphMode
from tokentui.core.table import plural
from tokentui.learn.rows import BY_COUNT, Candidate, Entry, Traits
from tokentui.session import commands as do
from tokentui.session.persist.session_file import remember
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import VOCABULARY_ORDERS, ColumnWanted, CorpusPlace, Viewport
from tokentui.tours.shipped import TOURS
from tokentui.ui.bindings import BoundAction, Hint, family_key
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.link import EngineLink
from tokentui.ui.pane_screen import PaneScreen
from tokentui.ui.panes.column_tables import (
    ColumnTable,
    PairTable,
    counted_in,
    match_cell,
    size_state,
)
from tokentui.ui.panes.corpus import CorpusPane, CorpusText
from tokentui.ui.panes.encode import EncodePane, first_words
from tokentui.ui.panes.entry import Layout, groups, key_owners, number_keys, one_group
from tokentui.ui.panes.header import header, tabs
from tokentui.ui.panes.main_panes import MAIN_PANES
from tokentui.ui.panes.pane import LinkedPane, StatusBand, state_cell
from tokentui.ui.panes.run_chart import run_lines
from tokentui.ui.panes.scrubber import Scrubber
from tokentui.ui.panes.why import sentences, why_lines
from tokentui.ui.waits import NotYet, loads

if TYPE_CHECKING:
    from tokentui.ui.predict import Prediction

LEAST = 30, 8
"""Below this nothing but a line is shown."""
ROOMY = 120, 40
"""From this size on the chart of the run is shown."""

ORDERS = {"id": "id", "token": "longest", "uses": "most used", "step": "newest", "log p": "newest"}
"""The order of the vocabulary that a click on the head of a column chooses."""


class MainScreen(PaneScreen):
    """The panes about a session.

    Args:
        engine: The link to the session.
        typed: The initial text of the encode pane.
        boundaries: The initial marks of tokens of the corpus.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right", "step(1)", "next", id="next", group=Hint(rank=1),
            tooltip="Take the next step: a merge, an EM step or a pruning"),
        Binding("b,left", "step(-1)", "back", tooltip="Go back one step", id="back",
            group=Hint(rank=2)),
        Binding("l", "step_pieces(1)", "next piece", id="next_piece",
            group=Hint(rank=4, needs="has_substeps"), tooltip="Prune the next piece"),
        Binding("h", "step_pieces(-1)", "previous piece", id="previous_piece",
            group=Hint(rank=4, needs="has_substeps"), tooltip="Restore the last pruned piece"),
        Binding("L", "step_pieces(100)", "+100 pieces", id="next_100_pieces",
            group=Hint(needs="has_substeps"), tooltip="Prune the next 100 pieces"),
        Binding("H", "step_pieces(-100)", "−100 pieces", id="previous_100_pieces",
            group=Hint(needs="has_substeps"), tooltip="Restore the last 100 pruned pieces"),
        Binding("g", "go_to", "go", id="go_to", group=Hint(rank=4),
            tooltip="Go to a step, or to the step that creates a token"),
        Binding("U", "run_until", "until", id="until",
            tooltip="Run until a token is created, or a vocabulary size or a number of bytes per "
            "token is reached"),
        Binding("a", "choose_recipe", "algorithm", id="algorithm", group=Hint(rank=6),
            tooltip="Choose an algorithm, or change one of its axes"),
        Binding("c", "compare", "compare", id="compare", group=Hint(rank=7),
            tooltip="Compare with another recipe or tokenizer"),
        Binding("o", "open", "open", tooltip="Open a corpus or a tokenizer file", id="open",
            group=Hint(rank=6)),
        Binding("m", "steps", "steps", id="steps",
            tooltip="List all steps so far, to search, sort, or go to one"),
        Binding("Y,w n", "why", "why", id="why_all",
            tooltip="Explain the last step and the next one in detail"),
        Binding("x,w x", "ask_what_if", "what if", id="what_if",
            tooltip="Forbid a pair or a token, force a pair, or skip a merge, and compare the changed run "
            "with this one"),
        Binding("slash", "find", "find", tooltip="Find text in the focused pane", id="find",
            group=Hint(rank=9)),
        Binding("f", "follow_merge", "follow", id="follow", group=Hint(rank=11),
            tooltip="Show where the last merge applies in the corpus; press again for the next place"),
        family_key("e"),
        Binding("e e", "export", "export", id="export",
            tooltip="Write the tokenizer at this step to a file, in any format that supports it"),
        Binding("u,w u", "questions", "questions", id="questions",
            tooltip="Show which tokens are used, how much they save, what more steps would gain, and how "
            "words are segmented"),
        Binding("percent_sign,w d", "dropout", "dropout", id="dropout",
            tooltip="Encode the typed text with random merges dropped, and show each sample"),
        family_key("F"),
        Binding("F F", "facts", "facts", id="facts",
            tooltip="Show facts about the tokenizer and its steps, and a health report"),
        Binding("X,e x", "edit_vocabulary", "change", id="edit_vocabulary",
            tooltip="Edit the vocabulary: prune unused tokens, train further, or add tokens; preview the "
            "result, and write it"),
        *(
            Binding(analysis.key, f"analyze({analysis.name!r})", analysis.name, tooltip=analysis.about,
                id=f"analyze_{analysis.id}")
            for analysis in ANALYSES.values() if analysis.key
        ),
        Binding("P,w p", "predict", "predict", id="predict",
            tooltip="Hide the next pair and guess it for a score; press again to show it"),
        Binding("R,e r", "record", "record", id="record",
            tooltip="Save the steps you just took as a tour"),
        Binding("W,v w", "first_screen", "welcome", id="first_screen",
            tooltip="Show the welcome screen with keys and tours"),
        Binding("F c", "chat", "chat", id="chat_of_text",
            tooltip="Render the typed text with the chat template of the opened tokenizer"),
        Binding("e t", "copy('table')", "table", id="export_table",
            tooltip="Copy the table with the focus, or write it to a file"),
        Binding("e p", "copy('picture')", "picture", id="export_picture",
            tooltip="Copy a picture of the screen, or write it to a file"),
        Binding("e c", "copy_command", "command", id="copy_command",
            tooltip="Copy the command that reproduces this state"),
        family_key("w"),
        Binding("w w", "life", "life", id="life",
            tooltip="List the steps that segmented the word at the cursor differently, and go to them"),
        Binding("escape", "leave", "cancel", id="cancel",
            tooltip="Stop a long task, leave the input line, or clear the search"),
        *number_keys(MAIN_PANES),
        # About one pane, in all of them.
        Binding("s,v c", "turn_boundaries", "boundaries", id="boundaries", group=Hint(pane="corpus"),
            tooltip="Show tokens as chips, by shades, or with bars between them"),
        Binding("z", "compressed", "compressed", id="compressed",
            group=Hint(rank=4, pane="corpus", needs="compresses"),
            tooltip="Show the compressed text and its table"),
        Binding("B,v a", "turn_ages", "ages", id="ages", group=Hint(pane="corpus"),
            tooltip="Color tokens by the step that created them, or turn this off"),
        Binding("p,v p", "pieces", "split", id="pieces", group=Hint(pane="corpus"),
            tooltip="Show how the text is split into pre-tokens, and by which branch of the pattern"),
        Binding("t", "edit_corpus", "edit", id="edit", group=Hint(rank=8, pane="corpus"),
            tooltip="Edit the corpus; the tokenizer retrains after each change"),
        Binding("S", "sort_vocabulary", "sort", id="order", group=Hint(rank=5, pane="vocabulary"),
            tooltip="Sort by newest, most used, longest, or id"),
    ]
    PANES = MAIN_PANES
    beside_inspector = True
    KEY_OWNERS = key_owners(MAIN_PANES)
    KEYLESS_ACTIONS: ClassVar[Sequence[BoundAction]] = (
        *PaneScreen.KEYLESS_ACTIONS,
        *(
            BoundAction(f"analyze_{analysis.id}", (), analysis.name, analysis.about,
                f"analyze({analysis.name!r})")
            for analysis in ANALYSES.values() if not analysis.key
        ),
        *(
            BoundAction(f"tour_{tour.name}", (), "tour", f"Tour: {tour.title}",
                f"app.play_tour({tour.name!r})")
            for tour in TOURS
        ),
    )
    ELSEWHERE = "in Compare: c opens it"
    encode: EncodePane

    def __init__(
        self, engine: EngineLink, typed: str = "", boundaries: Boundaries = "bars"
    ) -> None:
        self.text = CorpusText(boundaries, self._want_text, self._seek_tokens, self.update_titles)
        super().__init__(engine, "corpus", Viewport(), LEAST, typed)
        self.corpus = self.pane("corpus", CorpusPane)
        self.pairs = self.pane("pairs", PairTable)
        self.vocabulary = self.pane("vocabulary", ColumnTable)
        self.encode = self.pane("encode", EncodePane)
        self.tables = {"pairs": self.pairs, "vocabulary": self.vocabulary}
        self.sought: tuple[str, str] = ("", "")
        """The last search, as (pane, text)."""
        self.prediction: Prediction | None = None
        """The guessing of the next pair; None while nothing is hidden."""
        self.why_sentences: Callable[[Snapshot | None, GlyphMode], Sequence[Cell]] = sentences
        """The sentences of Why."""
        self._told_of_arrows = False
        """True once it was said that the arrows move a cursor in the corpus."""
        self._unfolded: int | None = None
        """The row of the vocabulary to go to once it is unfolded."""
        self._traits: Traits | None = None
        self._followed: tuple[int, CorpusPlace] | None = None
        self._corpus: tuple[object, ...] = ()
        self.header_line = StatusBand(
            lambda width, _: [header(self.snapshot, self.mode, width)],
            lambda now: (
                now.corpus, now.busy, now.engine, now.plain, now.main.at, now.main.recipe, now.main.opened,
                now.main.preset,
            ),
            id="header",
        )
        self.tabs = Lines(self._tabs, id="tabs")
        self.why = StatusBand(
            lambda width, height: why_lines(self.why_sentences(self.snapshot, self.mode), width, height),
            lambda now: (
                now.main.why, now.main.at, now.main.partial, now.main.errors, now.main.recipe,
                now.main.opened, now.main.traits, now.main.encoding, now.main.corpus, now.corpus, now.busy,
                now.waiting, now.running,
            ),
            id="why",
        )
        self.why.add_class("pane")
        self.why.set_titles((("Why", ""),))
        self.run_chart = StatusBand(
            lambda width, height: run_lines(self.snapshot, width, height),
            lambda now: (now.main.curve, now.main.at.step, now.main.at.tokens, now.corpus.nothing_open),
            id="run",
        )
        self.run_chart.add_class("pane")
        self.run_chart.set_titles((("Run", ""),))
        self.scrubber = Scrubber(lambda step: engine.send(do.GoTo(step)), id="scrubber")
        self.status_panes = self.header_line, self.why, self.run_chart, self.scrubber
        self._upper = Horizontal(*(pane for name, pane in self.panes.items() if name != "encode"), id="panes")
        reasons = Horizontal(self.why, self.run_chart, id="reasons")
        self.parts = self.tabs, self._upper, reasons, self.encode, self.scrubber

    # How much room there is.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Return the layout for a size: panes side by side on wide terminals, pairs and vocabulary in one
        place on medium ones, all in one place on small ones and for a maximized pane; None below `LEAST`."""
        if width < LEAST[0] or height < LEAST[1]:
            return None
        if width < 60 or height < 16:
            return Layout(one_group(MAIN_PANES), frozenset({"small", "short"}))
        tall = "tall" if height >= 36 else "short" if height < 30 else "high"
        if self.zoomed:
            return Layout(one_group(MAIN_PANES), frozenset({"zoomed", tall}))
        if width < 100:
            return Layout(groups(MAIN_PANES, "medium"), frozenset({"medium", tall}))
        roomy = {"roomy"} if width >= ROOMY[0] and height >= ROOMY[1] else set()
        return Layout(groups(MAIN_PANES, "wide"), frozenset({"wide", tall, *roomy}))

    def show_containers(self, seen: frozenset[str]) -> None:
        """Hide the row of tables if none of them is visible."""
        self._upper.display = bool(seen - {"encode"})

    @property
    def context(self) -> str:
        """The section of keys that apply: that of the active pane, or of the editor or the cursor in the
        corpus."""
        if self.active != "corpus":
            return super().context
        return "editor" if self.corpus.editing else "cursor" if self.text.cursor is not None else "corpus"

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Make a pane active; `encode` always means its line to type in. Going elsewhere, or into the editor,
        removes the cursor of the corpus."""
        if pane != "corpus" or self.corpus.editing:
            self.text.end_cursor()
        super().go(pane, typing=pane == "encode")
        self.link_chosen()

    # What is seen.

    def follow(self, snapshot: Snapshot) -> None:
        """Show a snapshot of one column; ignore those of Compare."""
        if len(snapshot.columns) == 1:
            self.show(snapshot)

    def snapshot_changed(self, before: Snapshot | None, now: Snapshot) -> None:
        """Return to the top for another corpus, and adapt panes and titles to another kind of training."""
        corpus = now.corpus.name, now.corpus.bytes, now.main.recipe.normalize
        # A typed corpus that changes stays the same one.
        another = corpus[2:] if self.corpus.edited else corpus
        if before is None or another != self._corpus[-len(another) :]:
            self.text.reset()
            self.corpus.invalidate()
            # A session keeps the rows of another recipe on the same corpus: it has to be told.
            self.set_viewport(corpus=CorpusPlace(), candidates_top=0, vocabulary_top=0)
            if before is not None:
                for table in self.tables.values():
                    table.move_to(0)
        self._corpus = corpus
        self._fit_sample(now)
        if self._unfolded is not None and not now.main.vocabulary.folded:
            self.call_later(self.vocabulary.move_to, self._unfolded)  # once its rows are there
            self._unfolded = None
        if (traits := now.main.traits) is not self._traits:
            was, self._traits = self._traits, traits
            self._order_for(traits, was)
            self.set_viewport(candidates_order=self.viewport.candidates_order if traits.scores else "")
            # Candidates with more figures than a count get more room.
            kinds = {
                "for-file": traits.replays, "for-pieces": traits.shrinks, "for-scores": traits.scores,
            }
            for name, on in kinds.items():
                self.set_class(on, name)
            self.show_footer()
        before_names = self.names["pairs"]
        self.name_pane("pairs", f"{now.main.traits.candidate.capitalize()}s{counted_in(now.main)}")
        if self.names["pairs"] != before_names:
            self.update_titles()

    def _order_for(self, traits: Traits, was: Traits | None) -> None:
        """Sort the vocabulary of an opened file by use, as its last tokens seldom occur in the corpus, and
        that of a training by age. Keep an order that the user chose."""
        before, after = ("newest", "most used") if traits.replays else ("most used", "newest")
        if traits.replays != (was is not None and was.replays) and self.viewport.vocabulary_order == before:
            self.sort_by(after)
            if traits.replays and "pairs" not in self._recent_panes:
                self._recent_panes.append("vocabulary")  # where there is room for one of the two
                self.call_later(self.lay_out)

    def _fit_sample(self, now: Snapshot) -> None:
        """Replace the typed text by the beginning of the corpus if the program chose that text and it cannot
        be encoded, as by a vocabulary without its letters. Never replace a text of the user."""
        encoding, held = now.main.encoding, self.encode.line.value
        if not encoding.text == self.encode.offered == held or not held or not now.main.corpus.at_start:
            return
        failed = encoding.error or any(token.piece is None for token in encoding.tokens)
        if failed and not now.corpus.nothing_open and (words := first_words(now.main)) not in ("", held):
            self.encode.offered = self.encode.line.value = words

    def _tabs(self, width: int, height: int) -> Sequence[Cell]:
        names = [(name, short) for name, (_, short) in self.names.items()]
        note, states = self.panes[self.active].note, self.states(self.active)
        return [tabs(names, self.active, note, width, state_cell(states))]

    def states(self, pane: str) -> tuple[str, ...]:
        """Return the settings that change what a pane shows; for the vocabulary also the size that ends the
        run."""
        now = self.snapshot
        limited = pane == "vocabulary" and now is not None and not now.corpus.nothing_open
        limit = size_state(now.main) if now is not None and limited else ""
        return (*super().states(pane), *filter(None, [limit]))

    def follow_editor(self) -> None:
        """Update the corpus pane after its editor was opened or closed, or its text became the corpus."""
        self.name_pane("corpus", *self.corpus.names())
        self.corpus.invalidate()
        if self.corpus.editing:
            self.set_viewport(corpus_chars=0, corpus_before=0)  # hidden tokens would slow down each change
            self.go("corpus")
        else:
            self.go(self.active)

    def on_text_area_selection_changed(self) -> None:
        """Show the position of the cursor in the title."""
        self.update_titles()

    # What the panes ask for.

    def _want_text(self, place: CorpusPlace, chars: int, before: int) -> None:
        self.set_viewport(corpus=place, corpus_chars=chars, corpus_before=before)

    @work(exclusive=True, group="coming")
    async def _seek_tokens(self, parts: tuple[bytes, ...], start: CorpusPlace) -> None:
        """Show the next place of the tokens that the next step merges; leave the view if there is none."""
        place = await self.engine.ask(do.FindTokens(parts, start))
        if place is not None:
            self.text.show_coming(parts, place)

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if event.table is self.pairs:
            self.set_viewport(candidates_top=event.top, candidates_rows=event.height)
        elif event.table is self.vocabulary:
            self.set_viewport(vocabulary_top=event.top, vocabulary_rows=event.height)

    @on(VirtualTable.HeadClicked)
    def _head_clicked(self, event: VirtualTable.HeadClicked) -> None:
        """Sort the vocabulary by the clicked title, or change the order of pairs; for other titles, show a
        message with their order."""
        if event.table is self.vocabulary and event.title in ORDERS:
            self.sort_by(ORDERS[event.title])
        elif event.table is self.pairs and event.title == "f(xy)":
            self.action_sort_pairs()
        elif event.title:
            self.app.say(
                f"{event.title}: {self._name_of('pairs')} come in the order in which the training takes them")

    @on(VirtualTable.CursorMoved)
    @on(CorpusText.CursorMoved)
    @on(EncodePane.CursorMoved)
    def _choice_moved(self) -> None:
        self.link_chosen()
        self.show_footer()

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token under the cursor of the active pane; empty for none."""
        pane = self.text if self.active == "corpus" else self.panes[self.active]
        return pane.chosen if isinstance(pane, CorpusText | ColumnTable | EncodePane) else b""

    @property
    def token_views(self) -> Sequence[LinkedPane]:
        """The corpus, the typed text and the tables."""
        return self.text, self.encode, *self.tables.values()

    @on(EncodePane.Clicked)
    def _typed_token_clicked(self, event: EncodePane.Clicked) -> None:
        """Focus the typed text with the cursor at the clicked token; inspect the word there on the second
        click."""
        if event.again:
            self.action_inspect_typed()
        else:
            self.go("encode", typing=True)
            self.encode.line.cursor_position = event.at

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        """Inspect the row, unfold a folded one, or take it as the guess of a prediction.

        For an opened file, ask first why its token is unreachable.
        """
        row: Candidate | Entry | None = event.held
        if self.prediction is not None and isinstance(row, Candidate):
            self.prediction.pick(row)
            return
        if isinstance(row, Entry) and row.kind == "folded":
            self.set_viewport(vocabulary_folded=False)
            return
        of_file = self.snapshot is not None and self.snapshot.main.opened is not None
        if of_file and isinstance(row, Entry) and row.id is not None and not row.reason:
            self._inspect_with_reason(row, row.id)
        elif row is not None:
            self._inspect_row(row)

    @work
    async def _inspect_with_reason(self, row: Entry, token: int) -> None:
        """Inspect a token of a file, after asking why no text encodes to it."""
        self._inspect_row(row._replace(reason=await self.engine.ask(do.WhyUnreachable(token))))

    def _inspect_row(self, row: Candidate | Entry) -> None:
        """Open the inspector on a row. Its arrow keys move the cursor of the focused table, but not beyond
        its ends or to a folded row."""
        from tokentui.ui.dialogs.inspect import InspectScreen

        table = next((table for table in self.tables.values() if table is self.focused), None)

        def neighbor(by: int) -> Candidate | Entry | None:
            near = table.held_at(table.cursor + by) if table is not None else None
            if table is None or near is None or (isinstance(near, Entry) and near.kind == "folded"):
                return None
            table.move(by)
            return near  # type: ignore[no-any-return]

        self.push_answer(InspectScreen(self.engine, row, asks=True, neighbor=neighbor))

    def elsewhere(self) -> Iterator[tuple[str, type[DOMNode]]]:
        """Yield the panes, then Compare, as places with other keys."""
        yield from super().elsewhere()
        yield self.ELSEWHERE, Ref("tokentui.ui.compare_screen:CompareScreen").resolve()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for the keys of the corpus cursor without one, and for the order of pairs without
        scores, so that other actions get these keys.

        A key that cannot act stays enabled and shows why. Textual would pass a disabled key on, to the next
        binding of it: `l`, for a piece, ran the list.
        """
        if action in ("inspect_token", "end_cursor"):
            return self.text.cursor is not None
        return action != "sort_pairs" or (self._traits is not None and bool(self._traits.scores))

    def action_begin_cursor(self) -> None:
        """Put the cursor on the first visible token of the corpus; show a message if nothing is open."""
        self.say_if_nothing_open()
        self.text.begin_cursor()

    def action_step_cursor(self, by: int) -> None:
        """Move the cursor of the corpus by tokens, or put it there. Show a message if there is no token, and
        once which keys step."""
        had = self.text.cursor is not None
        self.text.step_cursor(by)
        if self.text.cursor is None:
            self.app.say("there is no token here to put a cursor on")
        elif not (had or self._told_of_arrows):
            self._told_of_arrows = True
            self.app.say("← → move the cursor in the corpus; n and b step")

    def action_end_cursor(self) -> None:
        """Remove the cursor from the corpus."""
        self.text.end_cursor()

    @work
    async def action_inspect_token(self) -> None:
        """Inspect the token under the cursor of the corpus, or its word if the token has no id; show a
        message if there is none. Do nothing without a cursor."""
        from tokentui.ui.dialogs.inspect import InspectScreen

        if (place := self.text.cursor_part) is None:
            return
        token = await self.engine.ask(do.TokenThere(*place))
        if token is None:
            self.app.say("there is no token here")
        elif (number := token[0]) is None:
            self.push_answer(InspectScreen(self.engine, typed=(token[1].text, 0)))
        else:
            self.push_answer(InspectScreen(self.engine, token=number, word=token[1].text))

    @work
    async def action_life(self) -> None:
        """Show the life of the word under the cursor of the corpus, or else of the typed text. Show a message
        if there is neither."""
        from tokentui.ui.dialogs.life import LifeScreen

        if self.context == "cursor" and (place := self.text.cursor_part) is not None:
            token = await self.engine.ask(do.TokenThere(*place))
            if token is not None:
                self.push_answer(LifeScreen(self.engine, token[1].text))
        elif text := self.encode.line.value:
            self.app.push_screen(LifeScreen(self.engine, text, self.encode.place))
        else:
            self.app.say("no word yet: i types a text, enter puts a cursor on the corpus")

    @on(CorpusText.Chosen)
    def _token_clicked_again(self) -> None:
        self.action_inspect_token()

    @on(Input.Submitted)
    def _typed_entered(self) -> None:
        self.action_inspect_typed()

    def action_inspect_typed(self) -> None:
        """Inspect the word at the cursor of the typed text, and leave the line for the pane before. Do
        nothing if the text is empty."""
        from tokentui.ui.dialogs.inspect import InspectScreen

        if text := self.encode.line.value:
            place = self.encode.place
            self._end_typing()
            self.push_answer(InspectScreen(self.engine, typed=(text, place)))

    def _end_typing(self) -> None:
        """Return from the line to the pane that was active before."""
        self.go(next(name for name in self._recent_panes if name != "encode"))

    @property
    def help_section(self) -> str:
        """The section that the help shows first; for the cursor, that of the corpus."""
        return "corpus" if self.context == "cursor" else self.context

    # What keys do.

    def action_step(self, steps: int) -> None:
        """Move by steps, back if negative. While the next pair is hidden, one step forward asks for a guess
        instead."""
        if steps == 1 and self.prediction is not None:
            self.prediction.ask()
        else:
            super().action_step(steps)

    def action_step_pieces(self, pieces: int) -> None:
        """Prune the next pieces, or restore some if negative."""
        self.engine.send(do.StepPieces(pieces))

    def action_run_until(self) -> None:
        """Ask for a condition, and run until it is met."""
        from tokentui.ui.dialogs.ask import UntilScreen

        self.app.push_screen(UntilScreen(self.engine))

    def action_choose_recipe(self) -> None:
        """Choose another recipe, and train by it."""
        from tokentui.ui.dialogs.recipe import choose_recipe

        choose_recipe(self)

    def action_compare(self) -> None:
        """Ask for a second column, and open Compare with the current training and that column, or as it was
        left.

        Raises:
            NotYet: Nothing is trained yet.
        """
        from tokentui.ui.dialogs.open import AddScreen

        now = self.engine.snapshot
        if now is None:
            raise NotYet(now)
        column = now.main
        if column.opened is not None:
            recipe, name = column.recipe, column.opened.name
            first = ColumnWanted(path=column.path, split=recipe.split, encode=recipe.encode)
        else:
            first, name = ColumnWanted(column.recipe, self.engine.run, name=column.preset), column.preset

        def compare(second: ColumnWanted) -> None:
            """Compare; next to a file, a recipe without a size of its own is trained to the file's."""
            from tokentui.ui.dialogs.open import AS_LEFT

            if second == AS_LEFT:
                self.app.compare(())
                self.app.say("the comparison as it was left: c adds a column, delete removes one")
            else:
                self.app.compare((first, second.like((column,))))

        dialog = AddScreen(self.engine, f"Compare {name or 'this'} with", column.recipe, column)
        self.app.push_for_result(dialog, compare)

    def action_steps(self) -> None:
        """List the steps made so far."""
        from tokentui.ui.dialogs.steps import StepsScreen

        self.app.push_screen(StepsScreen(self.engine))

    def action_why(self) -> None:
        """Explain the last step and the next one in detail."""
        from tokentui.ui.dialogs.steps import show_why

        show_why(self)

    def action_export(self) -> None:
        """Write the tokenizer of this step to a file."""
        from tokentui.ui.dialogs.export import ExportScreen

        self.app.push_screen(ExportScreen(self.engine))

    def action_copy_command(self) -> None:
        """Copy the command that reproduces this state."""
        from tokentui.ui.copying import copy_command

        copy_command(self, self.snapshot)

    def action_questions(self) -> None:
        """Open the questions about tokens, their use and their worth."""
        from tokentui.ui.dialogs.questions import QuestionsScreen

        self.app.push_screen(QuestionsScreen(self.engine))

    def action_dropout(self) -> None:
        """Open the screen that encodes the typed text with some merges left out at random."""
        from tokentui.ui.dialogs.drawn import DrawnScreen

        self.app.push_screen(DrawnScreen(self.engine))

    def action_chat(self) -> None:
        """Open the screen that renders a chat by the chat template of the opened tokenizer."""
        from tokentui.ui.dialogs.chat import ChatScreen

        self.app.push_screen(ChatScreen(self.engine))

    def action_facts(self) -> None:
        """Show the facts and the health of the tokenizer."""
        from tokentui.ui.dialogs.facts import FactsScreen

        self.app.push_screen(FactsScreen(self.engine))

    def action_edit_vocabulary(self) -> None:
        """Open the screen that changes the vocabulary."""
        from tokentui.ui.dialogs.edit import EditScreen

        self.app.push_screen(EditScreen(self.engine))

    def action_analyze(self, name: str) -> None:
        """Show the report of an analysis of `ANALYSES`."""
        if name == "budget":
            from tokentui.ui.dialogs.sizes import SizesScreen

            self.app.push_screen(SizesScreen(self.engine))
            return
        if name == "charts":
            from tokentui.ui.dialogs.charts import ChartsScreen

            self.app.push_screen(ChartsScreen(self.engine, ANALYSES[name], self.show_only))
            return
        from tokentui.ui.dialogs.analysis import AnalysisScreen

        self.app.push_screen(AnalysisScreen(self.engine, ANALYSES[name], self.show_only))

    def show_only(self, ids: frozenset[int], title: str) -> None:
        """Show only some tokens in the vocabulary, and go there.

        Args:
            ids: The ids of the tokens.
            title: The words for them, in the title of the pane.
        """
        self.narrow("vocabulary", "")
        self.tables["vocabulary"].among = title
        self.set_viewport(vocabulary_among=ids, vocabulary_top=0)
        self.go("vocabulary")

    def action_predict(self) -> None:
        """Hide the next pair, and go to the pairs to guess it. If it is hidden, show it again, and the score
        in a message.

        Show a message if there is no pair to guess.
        """
        from tokentui.ui.predict import LABELS, Prediction, can_predict

        now = self.snapshot
        if (guessing := self.prediction) is not None:
            now = guessing.seen
            self.app.say(f"{guessing.right} of {plural(guessing.asked, 'guess', 'guesses')} right")
            self.prediction = self.snapshot_filter = None
            self.why_sentences, self.labels = sentences, {}
        elif not can_predict(now):
            self.app.say("there is no next pair to guess here")
            return
        else:
            self.prediction = guessing = Prediction(self, partial(self.why.redraw, force=True))
            self.snapshot_filter, self.why_sentences = guessing.hide, guessing.sentences
            self.labels = LABELS
            self.set_viewport(candidates_top=0)
            self.pairs.move_to(0)
            self.go("pairs")
        if now is not None:
            self.show(now)
        self.why.redraw(force=True)
        self.focus_active()

    def action_first_screen(self) -> None:
        """Show the first screen over this one."""
        self.app.show_first_screen()

    def action_record(self) -> None:
        """Ask for a name, and save the steps just taken as a tour."""
        from tokentui.ui.tour_writer import ask_name

        ask_name(self)

    def action_turn_boundaries(self) -> None:
        """Change the marks of tokens: chips if the terminal has their colors, shades, or bars."""
        self.say_if_nothing_open()
        self.text.turn_boundaries(self.app.has_chips)
        self._mark_again()

    def mark_by(self, boundaries: Boundaries) -> None:
        """Mark tokens by chips, shades or bars, in all panes."""
        self.text.mark_by(boundaries)
        self._mark_again()

    def _mark_again(self) -> None:
        """Apply the marks of the corpus to the other panes."""
        self.app.chips = self.text.chips
        self.encode.mark_again()

    def action_compressed(self) -> None:
        """Open the compressed text and its table; show a message if the recipe does not compress."""
        from tokentui.ui.dialogs.pieces import show_compressed

        show_compressed(self)

    def action_pieces(self) -> None:
        """Show how the text is split into pre-tokens, from the top of the corpus pane on."""
        from tokentui.ui.dialogs.pieces import PiecesScreen

        self.app.push_screen(PiecesScreen(self.engine, self.text.top_place))

    async def action_edit_corpus(self) -> None:
        """Open the editor of the corpus."""
        await self.corpus.begin()

    def action_leave(self) -> None:
        """Close the editor; or leave the line; or cancel long work; or end the filter; or restore a maximized
        pane; or else clear search marks and bold tokens.

        While a text is typed long work goes on: the key that leaves the line must not cancel it as well.
        """
        if self.context == "editor":
            self.corpus.end()
        elif self.active == "encode":
            self._end_typing()
        elif self.snapshot is not None and (self.snapshot.busy is not None or self.snapshot.waiting):
            self.engine.send(do.CancelWork())
        elif (table := self.tables.get(self.active)) is not None and (table.only or table.among):
            self.narrow(self.active, "")
        elif self.zoomed:
            self.action_zoom()
        else:
            self.mark_found("", "")
            self.link(b"")

    def action_sort_vocabulary(self) -> None:
        """Sort the vocabulary by the next of `VOCABULARY_ORDERS`, from the top."""
        self.say_if_nothing_open()
        place = VOCABULARY_ORDERS.index(self.viewport.vocabulary_order)
        self.sort_by(VOCABULARY_ORDERS[(place + 1) % len(VOCABULARY_ORDERS)])

    def action_sort_pairs(self) -> None:
        """Switch pairs between the order of counts and of scores, from the top."""
        self.say_if_nothing_open()
        self.pairs.move_to(0)
        order = "" if self.viewport.candidates_order else BY_COUNT
        self.set_viewport(candidates_order=order, candidates_top=0)

    def sort_by(self, order: str) -> None:
        """Sort the vocabulary by one of `VOCABULARY_ORDERS`, from the top, with unused tokens folded."""
        self.vocabulary.move_to(0)
        self.set_viewport(vocabulary_order=order, vocabulary_top=0, vocabulary_folded=True)

    @work
    async def action_follow_merge(self) -> None:
        """Show a place of the last merge in the corpus; a second call shows the next place.

        Show a message if the last step is not a merge, has no place, or only this one.
        """
        now = self.snapshot
        if now is None or not now.main.at.step:
            self.app.say("no step has been made yet")
            return
        if not now.main.traits.grows:
            self.app.say("this step is not a merge: there is no place to show")
            return
        step = now.main.at.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else self.text.top_place
        place = await self.engine.ask(do.FindChanged(start))
        if place is None:
            self.app.say(f"the last {now.main.traits.step} does not occur in the corpus")
            return
        if again and self._followed == (step, place):
            self.app.say(f"the last {now.main.traits.step} applies at this place alone")
        self._followed = step, place
        self.text.show_place(place, token=True)

    def action_open(self) -> None:
        """Ask for a corpus or a tokenizer, and open it."""
        self.open_file()

    def open_file(self, path: str = "") -> None:
        """Ask for a corpus or a tokenizer, and open it; with a path, submit it in that dialog."""
        from tokentui.ui.dialogs.open import OpenScreen

        self.app.push_for_result(dialog := OpenScreen(self.engine), self.open_source)
        if path:
            dialog.call_after_refresh(dialog.submit, path)

    @work
    async def open_source(self, command: do.Open | do.OpenTokenizer) -> None:
        """Open a corpus or a tokenizer in place of what is open, and add it to the recent sources.

        Raises:
            TokentuiError: It cannot be opened. For a tokenizer the hint names how to read it as a text.
        """
        try:
            await self.corpus.replaced(self.engine.ask(command))
        except TokentuiError as error:
            if isinstance(command, do.Open):
                raise
            hint = "; ".join(filter(None, (error.hint, "o with ctrl+t reads it as a text")))
            raise TokentuiError(error.what, error.where, hint) from error
        source = command.path if isinstance(command, do.OpenTokenizer) else command.sources[0]
        await asyncio.to_thread(remember, source)

    def action_turn_ages(self) -> None:
        """Color tokens by the step that created them, or turn that off; show a message if nothing is open."""
        self.say_if_nothing_open()
        on = self.text.turn_ages()
        self.set_viewport(ages=on)
        self.update_titles()

    def action_ask_what_if(self) -> None:
        """Ask for a what-if of the row under the cursor in the vocabulary if that is active, otherwise in the
        pairs.

        Raises:
            NotYet: There is no snapshot, or the corpus is being read.
            TokentuiError: The row allows no what-if.
        """
        from tokentui.ui.dialogs.what_if import ask_beside

        now = self.snapshot
        if now is None or loads(now):
            raise NotYet(now)
        table = self.vocabulary if self.active == "vocabulary" else self.pairs
        ask_beside(self, now.main, table.held_at(table.cursor))

    # Finding.

    def action_find(self) -> None:
        """Ask for a text, mark it in the active pane, and go to its next place; from the typed text, search
        the corpus. An empty text only clears the marks."""
        pane = self.active if self.active != "encode" else "corpus"

        def find(text: str) -> None:
            self.mark_found(pane, text)
            if text:
                self.action_find_again(backward=False)

        # Before the first corpus is there, it would take what is marked away.
        self.ask_find(
            self._name_of(pane), self.sought[1], lambda text: self.app.when_ready(partial(find, text)))

    def _name_of(self, pane: str) -> str:
        """Return the name of a pane in lower case; for the pairs what they hold, such as `pieces`."""
        candidate = self._traits.candidate if self._traits is not None else "pair"
        return f"{candidate}s" if pane == "pairs" else self.entry(pane).title.lower()

    def action_filter(self) -> None:
        """Ask for a text, and show only the rows of the active table that contain it; all for an empty one.
        If the active pane is no table, show a message instead."""
        if (pane := self.active) not in self.tables:
            self.app.say("& narrows a table: go to the pairs (2) or the vocabulary (3)")
            return
        self.ask_find(
            self._name_of(pane), self.tables[pane].only, lambda text: self.narrow(pane, text), "only rows of"
        )

    def narrow(self, pane: str, text: str) -> None:
        """Show only the rows of a table that contain a text, from the top; all for an empty one.

        A restriction of the vocabulary to some ids ends.
        """
        table = self.tables[pane]
        table.only, table.among, table.match = text, "", ()
        table.find = text or (self.sought[1] if self.sought[0] == pane else "")
        table.move_to(0)
        if pane == "pairs":
            self.set_viewport(candidates_only=text, candidates_top=0, mode=self.mode)
        else:
            self.set_viewport(vocabulary_only=text, vocabulary_among=None, vocabulary_top=0, mode=self.mode)

    def action_find_again(self, backward: bool) -> None:
        """Go to the next match of the last search, or the previous one; show a message if there was no
        search."""
        if self.sought[1]:
            self._find(*self.sought, backward)
        else:
            self.app.say("nothing to find yet: press /")

    @work
    async def _find(self, pane: str, text: str, backward: bool) -> None:
        """Go to the next match of a text in a pane, or the previous one. Show a message if there is none.

        A match in the vocabulary unfolds it.
        """
        found_last = self.text.found[0] if self.text.found is not None else self.text.top_place
        start = found_last if pane == "corpus" else self.tables[pane].cursor
        match = await self.engine.ask(do.Find(pane, text, start, backward, self.mode))
        if match is None:
            self.app.say(f"not found: {text}")
        elif isinstance(match.at, CorpusPlace):
            self.text.match = match_cell(match)
            self.text.show_place(match.at, len(text))
        else:
            self.tables[pane].match = match_cell(match)
            if pane == "vocabulary" and self.viewport.vocabulary_folded:
                self._unfolded = match.at
                self.set_viewport(vocabulary_folded=False)  # a match may be out of use
            else:
                self.tables[pane].move_to(match.at)
        self.update_titles()

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in one pane, and in the typed text, and clear the marks of the others."""
        self.sought = (pane, text)
        for name, table in self.tables.items():
            table.find, table.match = (text if pane == name else "") or table.only, ()
        self.text.forget_found()
        self.text.sought = text if pane == "corpus" else ""
        self.encode.mark(text)
        self.update_titles()

    # What outlives the process.

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """The settings of the view, as a session saves them."""
        place = self.text.top_place
        return {
            "pane": self.active, "glyphs": self.mode, "order": self.viewport.vocabulary_order,
            "document": place.document, "offset": place.offset,
        }

    def restore(self, settings: Mapping[str, object]) -> None:
        """Restore the view from a saved session: mode, order of the vocabulary, pane, and place in the
        corpus. A setting that is missing or invalid changes nothing."""
        if settings.get("glyphs") in GLYPH_MODES:
            self.mode = settings["glyphs"]  # type: ignore[assignment]
        if settings.get("order") in VOCABULARY_ORDERS:
            self.set_viewport(vocabulary_order=settings["order"])
        pane, document, offset = (settings.get(name) for name in ("pane", "document", "offset"))
        if pane in self.panes:
            self.go(str(pane))
        if isinstance(document, int) and isinstance(offset, int) and offset >= 0 <= document:
            self.text.show_place(CorpusPlace(document, offset))
