"""The main screen: what every pane shows at one step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Horizontal
from textual.widgets import Input

from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GLYPH_MODES, GlyphMode
from tokentui.learn.rows import BY_COUNT, Candidate, Entry, Traits
from tokentui.session import commands as do
from tokentui.session.saved import remember
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import VOCABULARY_ORDERS, CorpusPlace, Found, Viewport
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.keys import Action
from tokentui.ui.link import EngineLink
from tokentui.ui.panes.corpus import CorpusPane, CorpusText
from tokentui.ui.panes.encode import EncodePane, first_words
from tokentui.ui.panes.pane import Pane, StatusBand, state_cell
from tokentui.ui.panes.scrubber import Scrubber
from tokentui.ui.panes.tables import ColumnTable, candidates, counted_in, entries, match_cell, size_state
from tokentui.ui.panes.why import header, sentences, tabs, why_lines
from tokentui.ui.screen import Layout, PaneScreen
from tokentui.ui.waits import NotYet, loads

if TYPE_CHECKING:
    from tokentui.session.tokens import TokenAt
    from tokentui.ui.predict import Prediction

_NAMES = {
    "corpus": ("1 Corpus", "1 Corpus"), "pairs": ("2 Pairs", "2 Pairs"),
    "vocabulary": ("3 Vocabulary", "3 Vocab"),
    "encode": ("4 Encode", "4 Encode"),
}
LEAST = 30, 8
"""Below this nothing but a line is shown."""

ORDERS = {"id": "id", "token": "longest", "uses": "most used", "step": "newest", "log p": "newest"}
"""The order of the vocabulary that a click on the head of a column chooses."""
INSPECT = Ref("tokentui.ui.dialogs.inspect:InspectScreen")
LIFE = Ref("tokentui.ui.dialogs.life:LifeScreen")
OPEN = Ref("tokentui.ui.dialogs.open:OpenScreen")
WHAT_IF = Ref("tokentui.ui.dialogs.what_if:ask_beside")


class MainScreen(PaneScreen):
    """The panes round a session.

    Args:
        engine: The link to the session.
        actions: The actions of its keys.
        typed: The initial text of the encode pane.
        boundaries: The initial mark between tokens of the corpus.
    """

    encode: EncodePane

    def __init__(
        self, engine: EngineLink, actions: Sequence[Action[Any]], typed: str = "",
        boundaries: Boundaries = "shade",
    ) -> None:
        self.text = CorpusText(boundaries, self._want_text, self.update_titles)
        self.corpus = CorpusPane(engine, self.text, self._editor_turned)
        self.pairs = ColumnTable("candidates", candidates)
        self.vocabulary = ColumnTable("vocabulary", entries)
        self.encode = EncodePane(typed, self.update_titles)
        self.tables = {"pairs": self.pairs, "vocabulary": self.vocabulary}
        panes: dict[str, Pane] = {"corpus": self.corpus, **self.tables, "encode": self.encode}
        super().__init__(engine, _NAMES, actions, "corpus", "global", Viewport(), panes, LEAST)
        self.sought: tuple[str, str] = ("", "")
        """The last search, as (pane, text)."""
        self.prediction: Prediction | None = None
        """The guessing of the next pair; None while nothing is hidden."""
        self.says: Callable[[Snapshot | None, GlyphMode], Sequence[Cell]] = sentences
        """The sentences of Why."""
        self._sample = typed
        """The typed text as long as the program chose it."""
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
            lambda width, height: why_lines(self.says(self.snapshot, self.mode), width, height),
            lambda now: (
                now.main.why, now.main.at, now.main.partial, now.main.errors, now.main.recipe,
                now.main.opened, now.main.traits, now.main.encoding, now.main.corpus, now.corpus, now.busy,
                now.waiting, now.running,
            ),
            id="why",
        )
        self.why.add_class("pane")
        self.why.set_titles((("Why", ""),))
        self.scrubber = Scrubber(lambda step: engine.send(do.GoTo(step)), id="scrubber")
        self.status_panes = self.header_line, self.why, self.scrubber
        self._upper = Horizontal(*(self.panes[name] for name in list(_NAMES)[:3]), id="panes")
        self.parts = self.tabs, self._upper, self.why, self.encode, self.scrubber

    # How much room there is.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Side by side where it is wide; pairs and vocabulary in one place where it is not; all in one where
        it is small.
        """
        if width < LEAST[0] or height < LEAST[1]:
            return None
        if width < 60 or height < 16:
            return Layout((tuple(_NAMES),), frozenset({"small", "short"}))
        tall = "tall" if height >= 36 else "short" if height < 30 else "high"
        if width < 100:
            return Layout((("corpus",), ("pairs", "vocabulary"), ("encode",)), frozenset({"medium", tall}))
        return Layout(tuple((name,) for name in _NAMES), frozenset({"wide", tall}))

    def fit(self, seen: frozenset[str]) -> None:
        """Let the row of tables go where none of them is seen."""
        self._upper.display = bool(seen - {"encode"})

    @property
    def context(self) -> str:
        """Whose keys work: those of the pane that has the focus, or of the editor or the cursor in it."""
        if self.active != "corpus":
            return self.active
        return "editor" if self.corpus.editing else "cursor" if self.text.cursor is not None else "corpus"

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane."""
        if pane != "corpus" or self.corpus.editing:
            self.text.end_cursor()
        super().go(pane, typing=pane == "encode")
        if pane == "encode" and self._sample and self.encode.line.value == self._sample:
            self.encode.line.select_all()  # what is typed takes the place of the program's choice

    # What is seen.

    def follow(self, snapshot: Snapshot) -> None:
        """Show a snapshot of one column; those of several are Compare's."""
        if len(snapshot.columns) == 1:
            self.show(snapshot)

    def taken(self, before: Snapshot | None, now: Snapshot) -> None:
        """Begin at the top of another corpus; name the panes for what is trained."""
        corpus = now.corpus.name, now.corpus.bytes, now.main.recipe.normalize
        # A typed corpus that changes stays the same one.
        another = corpus[2:] if self.corpus.edited else corpus
        if before is None or another != self._corpus[-len(another) :]:
            self.text.reset()
            self.corpus.invalidate()
            # A session keeps the rows of another recipe on the same corpus: it has to be told.
            self.see(corpus=CorpusPlace(), candidates_top=0, vocabulary_top=0)
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
            self.see(candidates_order=self.look.candidates_order if traits.scores else "")
            # Candidates with more figures than a count get more room.
            kinds = {
                "for-file": traits.replays, "for-pieces": traits.shrinks, "for-scores": traits.scores,
            }
            for name, on in kinds.items():
                self.set_class(on, name)
            self.footer_line.say(self.hints())
        title = f"2 {now.main.traits.candidate.capitalize()}s{counted_in(now.main)}"
        if title != self.names["pairs"][0]:
            self.names = {**self.names, "pairs": (title, title)}
            self.update_titles()

    def _order_for(self, traits: Traits, was: Traits | None) -> None:
        """List what a file has by its uses: its last tokens seldom stand in the corpus. A sort that the user
        chose stays."""
        before, after = ("newest", "most used") if traits.replays else ("most used", "newest")
        if traits.replays != (was is not None and was.replays) and self.look.vocabulary_order == before:
            self.sort_by(after)
            if traits.replays and "pairs" not in self._fronts:
                self._fronts.append("vocabulary")  # where there is room for one of the two
                self.call_later(self.lay_out)

    def _fit_sample(self, now: Snapshot) -> None:
        """Take the beginning of the corpus for the typed text where the one that the program chose cannot be
        encoded, as by a vocabulary without its letters."""
        encoding, held = now.main.encoding, self.encode.line.value
        if not encoding.text == self._sample == held or not held or not now.main.corpus.at_start:
            return
        failed = encoding.error or any(token.piece is None for token in encoding.tokens)
        if failed and not now.corpus.nothing and (words := first_words(now.main)) not in ("", held):
            self._sample = self.encode.line.value = words

    def _tabs(self, width: int, height: int) -> Sequence[Cell]:
        names = [(name, short) for name, (_, short) in self.names.items()]
        note, states = self.panes[self.active].note, self.states(self.active)
        return [tabs(names, self.active, note, width, state_cell(states))]

    def states(self, pane: str) -> tuple[str, ...]:
        """Return the settings that change what a pane shows; of the vocabulary, also the size of the run."""
        now = self.snapshot
        limited = pane == "vocabulary" and now is not None and not now.corpus.nothing
        limit = size_state(now.main) if now is not None and limited else ""
        return (*super().states(pane), *filter(None, [limit]))

    def _editor_turned(self) -> None:
        """The editor has come or gone, or its text has become the corpus."""
        self.names = {**self.names, "corpus": self.corpus.names()}
        self.corpus.invalidate()
        if self.corpus.editing:
            self.see(corpus_chars=0, corpus_before=0)  # hidden tokens would slow down each change
            self.go("corpus")
        else:
            self.go(self.active)

    def on_text_area_selection_changed(self) -> None:
        """Say where the cursor is."""
        self.update_titles()

    # What the panes ask for.

    def _want_text(self, place: CorpusPlace, chars: int, before: int) -> None:
        self.see(corpus=place, corpus_chars=chars, corpus_before=before)

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if event.table is self.pairs:
            self.see(candidates_top=event.top, candidates_rows=event.height)
        elif event.table is self.vocabulary:
            self.see(vocabulary_top=event.top, vocabulary_rows=event.height)

    @on(VirtualTable.HeadClicked)
    def _head_clicked(self, event: VirtualTable.HeadClicked) -> None:
        if event.table is self.pairs and event.title == "f(xy)":
            self.turn_pairs()
        elif event.table is self.vocabulary and event.title in ORDERS:
            self.sort_by(ORDERS[event.title])

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        row: Candidate | Entry | None = event.held
        if self.prediction is not None and isinstance(row, Candidate):
            self.prediction.pick(row)
            return
        if isinstance(row, Entry) and row.kind == "folded":
            self.see(vocabulary_folded=False)
            return
        of_file = self.snapshot is not None and self.snapshot.main.opened is not None
        if of_file and isinstance(row, Entry) and row.id is not None and not row.reason:
            entry = row
            self.engine.send(do.WhyUnreachable(row.id), lambda why: self._show(entry._replace(reason=why)))
        elif row is not None:
            self._show(row)

    def _show(self, row: Candidate | Entry) -> None:
        table = next((one for one in self.tables.values() if one is self.focused), None)

        def neighbour(by: int) -> Candidate | Entry | None:
            near = table.held_at(table.cursor + by) if table is not None else None
            if table is None or near is None or (isinstance(near, Entry) and near.kind == "folded"):
                return None
            table.move(by)
            return near  # type: ignore[no-any-return]

        self.push_answer(INSPECT(self.engine, row, asks=True, neighbour=neighbour))

    def put_cursor(self, on: bool) -> None:
        """Put a cursor on the corpus, or take it away."""
        if on:
            self.text.begin_cursor()
        else:
            self.text.end_cursor()
        self.footer_line.say(self.hints())

    def inspect_here(self) -> None:
        """Inspect the token under the cursor of the corpus."""

        def found(answer: tuple[int | None, TokenAt] | None) -> None:
            if answer is None:
                self.app.say("no token stands there")
            elif (number := answer[0]) is None:
                self.push_answer(INSPECT(self.engine, typed=(answer[1].text, 0)))
            else:
                self.push_answer(INSPECT(self.engine, token=number, word=answer[1].text))

        if (place := self.text.cursor_part) is not None:
            self.engine.send(do.TokenThere(*place), found)

    def show_life(self) -> None:
        """Show the life of the word under the cursor of the corpus, or of the typed text."""

        def found(answer: tuple[int | None, TokenAt] | None) -> None:
            if answer is not None:
                self.push_answer(LIFE(self.engine, answer[1].text))

        if self.context == "cursor" and (place := self.text.cursor_part) is not None:
            self.engine.send(do.TokenThere(*place), found)
        elif text := self.encode.line.value:
            self.app.push_screen(LIFE(self.engine, text, self.encode.place))
        else:
            self.app.say("no word yet: i types a text, enter puts a cursor on the corpus")

    @on(Input.Submitted)
    def _typed_entered(self) -> None:
        """Explain the word at the cursor of the typed text."""
        if text := self.encode.line.value:
            place = self.encode.place
            self.app.push_screen(INSPECT(self.engine, typed=(text, place)))

    # What keys do.

    def leave(self) -> None:
        """End typing into the corpus; else leave the line; else stop long work; else end finding.

        Long work goes on while somebody types: the key that leaves the line must not stop it as well.
        """
        if self.context == "editor":
            self.corpus.end()
        elif self.active == "encode":
            self.go(next(name for name in self._fronts if name != "encode"))
        elif self.snapshot is not None and (self.snapshot.busy is not None or self.snapshot.waiting):
            self.engine.send(do.CancelWork())
        elif (table := self.tables.get(self.active)) is not None and (table.only or table.among):
            self.narrow(self.active, "")
        else:
            self.mark_found("", "")

    def turn_order(self) -> None:
        """Sort the vocabulary in another way."""
        place = VOCABULARY_ORDERS.index(self.look.vocabulary_order)
        self.sort_by(VOCABULARY_ORDERS[(place + 1) % len(VOCABULARY_ORDERS)])

    def turn_pairs(self) -> None:
        """Sort pairs by their counts, or by their scores again; those without one stand so already."""
        if self._traits is None or not self._traits.scores:
            self.turn_order()
        else:
            self.pairs.move_to(0)
            self.see(candidates_order="" if self.look.candidates_order else BY_COUNT, candidates_top=0)

    def sort_by(self, order: str) -> None:
        """Sort the vocabulary by one of `VOCABULARY_ORDERS`."""
        self.vocabulary.move_to(0)
        self.see(vocabulary_order=order, vocabulary_top=0, vocabulary_folded=True)

    def follow_merge(self) -> None:
        """Show where the last merge was made; again: the next place."""
        now = self.snapshot
        if now is None or not now.main.at.step:
            self.app.say("no step has been made yet")
            return
        if not now.main.traits.grows:
            self.app.say("a step of this training merges nothing: it has no one place in the corpus")
            return
        step = now.main.at.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else self.text.top_place

        def found(place: CorpusPlace | None) -> None:
            if place is None:
                self.app.say(f"the last {now.main.traits.step} stands nowhere in the corpus")
                return
            self._followed = step, place
            self.text.show_place(place)

        self.engine.send(do.FindChanged(start), found)

    def open(self) -> None:
        """Ask for a corpus or a tokenizer, and open it."""

        def chosen(command: do.Open | do.OpenTokenizer | None) -> None:
            if command is not None:
                self._open(command)

        self.app.push_screen(OPEN(self.engine), chosen)

    def _open(self, command: do.Open | do.OpenTokenizer) -> None:
        file = isinstance(command, do.OpenTokenizer)
        source = command.path if isinstance(command, do.OpenTokenizer) else command.sources[0]

        def opened(_: None) -> None:
            self.call_later(self.corpus.opened)
            asyncio.get_running_loop().run_in_executor(None, remember, source)

        def failed(error: BaseException) -> None:
            if file and isinstance(error, TokentuiError):
                hint = "; ".join(filter(None, (error.hint, "o with ctrl+t reads it as a text")))
                error = TokentuiError(error.what, error.where, hint)
            self.app.tell(error)
            self.corpus.come_back()

        self.corpus.give_way()
        self.engine.send(command, opened, failed)

    def turn_ages(self) -> None:
        """Colour the corpus and the typed text by the steps that made their tokens, or not."""
        on = self.text.turn_ages()
        self.see(ages=on)
        self.update_titles()

    def ask_what_if(self) -> None:
        """Ask what would be changed: of the token under the cursor in Vocabulary, else of the pair."""
        now = self.snapshot
        if now is None or loads(now):
            raise NotYet(now)
        table = self.vocabulary if self.active == "vocabulary" else self.pairs
        WHAT_IF(self, now.main, table.held_at(table.cursor))

    # Finding.

    def find(self) -> None:
        """Ask for text, and find it in the pane that has the focus."""
        pane = self.active if self.active != "encode" else "corpus"

        def asked(text: str) -> None:
            self.mark_found(pane, text)
            if text:
                self.find_again(backward=False)

        self.ask_find(self._name_of(pane), self.sought[1], asked)

    def _name_of(self, pane: str) -> str:
        candidate = self._traits.candidate if self._traits is not None else "pair"
        return f"{candidate}s" if pane == "pairs" else _NAMES[pane][0][2:].lower()

    def ask_filter(self) -> None:
        """Ask for a text, and show only the rows of the focused table that hold it; none: all of them."""
        if (pane := self.active) not in self.tables:
            self.app.say("& narrows a table: go to the pairs (2) or the vocabulary (3)")
            return
        self.ask_find(
            self._name_of(pane), self.tables[pane].only, lambda text: self.narrow(pane, text), "only rows of"
        )

    def narrow(self, pane: str, text: str) -> None:
        """Show only the rows of a table that hold a text; all where it is empty."""
        table = self.tables[pane]
        table.only, table.among, table.match = text, "", ()
        table.find = text or (self.sought[1] if self.sought[0] == pane else "")
        table.move_to(0)
        if pane == "pairs":
            self.see(candidates_only=text, candidates_top=0, mode=self.mode)
        else:
            self.see(vocabulary_only=text, vocabulary_among=None, vocabulary_top=0, mode=self.mode)

    def find_again(self, backward: bool) -> None:
        """The next match of what was looked for last, or the one before."""
        pane, text = self.sought
        if not text:
            self.app.say("nothing to find yet: press /")
            return

        def found(answer: Found | None) -> None:
            if answer is None:
                self.app.say(f"not found: {text}")
            elif isinstance(answer.at, CorpusPlace):
                self.text.match = match_cell(answer)
                self.text.show_place(answer.at, len(text))
            else:
                self.tables[pane].match = match_cell(answer)
                if pane == "vocabulary" and self.look.vocabulary_folded:
                    self._unfolded = answer.at
                    self.see(vocabulary_folded=False)  # a match may be out of use
                else:
                    self.tables[pane].move_to(answer.at)
            self.update_titles()

        found_last = self.text.found[0] if self.text.found is not None else self.text.top_place
        start = found_last if pane == "corpus" else self.tables[pane].cursor
        self.engine.send(do.Find(pane, text, start, backward, self.mode), found)

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in the rows of a pane, and nothing in the others."""
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
        """Return the settings of the view, as a session saves them."""
        place = self.text.top_place
        return {
            "pane": self.active, "glyphs": self.mode, "order": self.look.vocabulary_order,
            "document": place.document, "offset": place.offset,
        }

    def restore(self, settings: Mapping[str, object]) -> None:
        """Show the view as the settings of a saved session have it."""
        if settings.get("glyphs") in GLYPH_MODES:
            self.mode = settings["glyphs"]  # type: ignore[assignment]
        if settings.get("order") in VOCABULARY_ORDERS:
            self.see(vocabulary_order=settings["order"])
        pane, document, offset = (settings.get(name) for name in ("pane", "document", "offset"))
        if pane in self.panes:
            self.go(str(pane))
        if isinstance(document, int) and isinstance(offset, int) and offset >= 0 <= document:
            self.text.show_place(CorpusPlace(document, offset))
