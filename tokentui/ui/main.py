"""The main screen: what every pane shows at one step."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GLYPH_MODES
from tokentui.learn.rows import Candidate, Entry, Traits
from tokentui.session import commands as do
from tokentui.session.saved import remember
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import VOCABULARY_ORDERS, CorpusPlace, Viewport
from tokentui.ui.draw.lines import Lines, Pane, key_bytes
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, nothing_there
from tokentui.ui.keys import Action
from tokentui.ui.panes.corpus import CorpusPane, CorpusText
from tokentui.ui.panes.encode import EncodeBody
from tokentui.ui.panes.tables import PairTable, VocabularyTable, ranked_by, rows_word
from tokentui.ui.panes.why import header, scrubber, tabs, why
from tokentui.ui.screen import Layout, PaneScreen, too_small

_NAMES = {
    "corpus": ("1 Corpus", "1 Corpus"), "pairs": ("2 Pairs", "2 Pairs"),
    "vocabulary": ("3 Vocabulary", "3 Vocab"),
    "encode": ("4 Encode", "4 Encode"),
}
LEAST = 30, 8
"""Below this nothing but a line is shown."""

INSPECT = Ref("tokentui.ui.dialogs.inspect:InspectScreen")
OPEN = Ref("tokentui.ui.dialogs.open:OpenScreen")


class MainScreen(PaneScreen):
    """The panes round a session.

    Args:
        face: The program.
        actions: The actions of its keys.
        typed: The initial text of the encode pane.
        boundaries: The initial mark between tokens of the corpus.
    """

    def __init__(
        self, face: Face, actions: Sequence[Action[Any]], typed: str = "", boundaries: Boundaries = "shade"
    ) -> None:
        super().__init__(face, _NAMES, actions, "corpus", "global", Viewport())
        self.sought: tuple[str, str] = ("", "")
        """The last search, as (pane, text)."""
        self._traits: Traits | None = None
        self._followed: tuple[int, CorpusPlace] | None = None
        self._corpus: tuple[object, ...] = ()
        self.tabs = Lines(self._tabs, id="tabs")
        self.text = CorpusText(boundaries, self._want_text, self.draw_titles)
        self.pairs, self.vocabulary = PairTable(), VocabularyTable()
        self.why, self.encode, self.scrubber = Lines(classes="body"), EncodeBody(typed), Lines(id="scrubber")
        self.corpus = CorpusPane(face, self.text, self._editor_turned)
        self.bodies = {
            "corpus": self.corpus, "pairs": self.pairs, "vocabulary": self.vocabulary, "encode": self.encode,
        }
        self.panes = {
            "corpus": self.corpus, "pairs": Pane("2 Pairs", self.pairs, id="pairs"),
            "vocabulary": Pane("3 Vocabulary", self.vocabulary, id="vocabulary"),
            "encode": Pane("4 Encode", self.encode, id="encode"),
        }
        self._upper = Horizontal(*(self.panes[name] for name in list(_NAMES)[:3]), id="panes")
        self.rows = (self._upper,)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        self.lay_out()  # before there is anything that would have to be styled again
        yield self.header_line
        yield self.tabs
        yield self._upper
        yield Pane("Why", self.why, id="why")
        yield self.panes["encode"]
        yield self.scrubber
        yield self.footer_line
        yield too_small(*LEAST)

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

    def fit(self, where: Layout, seen: frozenset[str]) -> None:
        """Let the row of tables go where none of them is seen."""
        self._upper.display = bool(seen - {"encode"})

    @property
    def context(self) -> str:
        """Whose keys work: those of the pane that has the focus, or of the editor in it."""
        return "editor" if self.active == "corpus" and self.corpus.editing else self.active

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane."""
        super().go(pane, typing=pane == "encode")

    # What is seen.

    def header(self, width: int, height: int) -> Sequence[Cell]:
        """The corpus and the recipe."""
        return [header(self.snapshot, self.mode, key_bytes(self.app), width)]

    def taken(self, before: Snapshot | None, now: Snapshot) -> None:
        """Begin at the top of another corpus; name the panes for what is trained."""
        corpus = now.corpus.name, now.corpus.bytes, now.main.recipe.normalize
        # A typed corpus that changes stays the same one.
        another = corpus[2:] if self.corpus.edited else corpus
        if before is None or another != self._corpus[-len(another) :]:
            self.text.reset()
            self.look = dataclasses.replace(
                self.look, corpus=CorpusPlace(), candidates_top=0, vocabulary_top=0
            )
            if before is not None:
                self.pairs.move_to(0)
                self.vocabulary.move_to(0)
        self._corpus = corpus
        if (traits := now.main.traits) is not self._traits:
            self._traits = traits
            # Candidates with more figures than a count get more room.
            kinds = {
                "for-file": traits.replays, "for-pieces": traits.shrinks,
                "for-scores": ranked_by(traits) == "score",
            }
            for name, on in kinds.items():
                self.set_class(on, name)
            candidates = f"2 {rows_word(traits).capitalize()}s"
            self.names = {**_NAMES, "pairs": (candidates, candidates)}
            self.footer_line.say(self.hints())

    def draw_lines(self, now: Snapshot) -> None:
        """Draw the reasons of the next step, and the slider."""
        column, mode = now.main, self.mode
        self.header_line.show(
            self.header, mode, now.corpus, column.at, column.recipe, column.opened, column.preset, now.engine,
            now.busy,
        )
        self.why.show(
            lambda width, height: why(now, mode, width, height), mode, column.why, column.at, now.busy,
            now.waiting, column.partial, now.corpus,
        )
        self.scrubber.show(
            lambda width, _: scrubber(now, width), column.at, column.curve, now.running, now.speed,
            now.corpus, column.partial, column.why,
        )

    def draw_titles(self) -> None:
        """Name the panes, and say where one is in each."""
        self.names = {**self.names, "corpus": self.corpus.names()}
        super().draw_titles()
        if self.tabs.display:
            self.tabs.again()

    def _tabs(self, width: int, height: int) -> Sequence[Cell]:
        names = [(name, short) for name, (_, short) in self.names.items()]
        return [tabs(names, self.active, self.bodies[self.active].note, width)]

    def _table(self, pane: str) -> PairTable | VocabularyTable:
        return self.pairs if pane == "pairs" else self.vocabulary

    def _editor_turned(self) -> None:
        """The editor has come or gone."""
        if self.corpus.editing:
            self.see(corpus_chars=0, corpus_before=0)  # hidden tokens would slow down each change
            self.go("corpus")
        else:
            self.go(self.active)

    def on_text_area_selection_changed(self) -> None:
        """Say where the cursor is."""
        self.draw_titles()

    # What the panes ask for.

    def _want_text(self, place: CorpusPlace, chars: int, before: int) -> None:
        self.see(corpus=place, corpus_chars=chars, corpus_before=before)

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if event.table is self.pairs:
            self.see(candidates_top=event.top, candidates_rows=event.height)
        elif event.table is self.vocabulary:
            self.see(vocabulary_top=event.top, vocabulary_rows=event.height)

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        row: Candidate | Entry | None = event.table.held_at(event.index)
        of_file = self.snapshot is not None and self.snapshot.main.opened is not None
        if of_file and isinstance(row, Entry) and row.id is not None and not row.reason:
            entry = row
            self.face.send(do.WhyUnreachable(row.id), lambda why: self._show(entry._replace(reason=why)))
        elif row is not None:
            self._show(row)

    def _show(self, row: Candidate | Entry) -> None:
        self.face.push(INSPECT(self.face, row))

    # What keys do.

    def send(self, command: do.Command[Any]) -> None:
        """Hand a command to the session; a step where nothing is open says so."""
        now = self.snapshot
        if isinstance(command, do.Move | do.GoTo | do.Play
                | do.StepPieces) and now is not None and now.nothing and now.busy is None:
            self.face.say(nothing_there(now), "warning")
        else:
            self.face.send(command)

    def leap(self, tens: int) -> None:
        """Move ten steps forward or back; in an opened file, a hundredth of its replay steps."""
        opened = self.snapshot.main.opened if self.snapshot is not None else None
        self.send(do.Move(tens * (10 if opened is None else max(1, round(opened.steps / 100)))))

    def leave(self) -> None:
        """End typing into the corpus; else stop long work; else leave the line; else end finding."""
        if self.context == "editor":
            self.corpus.end()
        elif self.snapshot is not None and (self.snapshot.busy is not None or self.snapshot.waiting):
            self.face.send(do.CancelWork())
        elif self.active == "encode":
            self.go(next(name for name in self._fronts if name != "encode"))
        else:
            self.mark_found("", "")

    def turn_order(self) -> None:
        """Sort the vocabulary in another way."""
        place = VOCABULARY_ORDERS.index(self.look.vocabulary_order)
        self.vocabulary.move_to(0)
        self.see(vocabulary_order=VOCABULARY_ORDERS[(place + 1) % len(VOCABULARY_ORDERS)], vocabulary_top=0)

    def follow_merge(self) -> None:
        """Show where the last merge was made; again: the next place."""
        now = self.snapshot
        if now is None or not now.main.at.step:
            self.face.say("no step has been made yet")
            return
        if not now.main.traits.grows:
            self.face.say("a step of this training merges nothing: it has no one place in the corpus")
            return
        step = now.main.at.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else self.text.top_place

        def found(place: CorpusPlace | None) -> None:
            if place is None:
                self.face.say(f"the last {now.main.traits.step} stands nowhere in the corpus")
                return
            self._followed = step, place
            self.text.show_place(place)

        self.face.send(do.FindChanged(start), found)

    def open(self) -> None:
        """Ask for a corpus or a tokenizer, and open it."""
        self.face.push(OPEN(self.face), lambda choice: self._open(choice) if choice is not None else None)

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
            self.face.tell(error)
            self.corpus.come_back()

        self.corpus.give_way()
        self.face.send(command, opened, failed)

    # Finding.

    def find(self) -> None:
        """Ask for text, and find it in the pane that has the focus."""
        pane = self.active if self.active != "encode" else "corpus"

        def asked(text: str) -> None:
            self.mark_found(pane, text)
            if text:
                self.find_again(backward=False)

        name = {**_NAMES, **self.names, "corpus": _NAMES["corpus"]}[pane][0][2:].lower()
        self.ask_find(name, self.sought[1], asked)

    def find_again(self, backward: bool) -> None:
        """The next match of what was looked for last, or the one before."""
        pane, text = self.sought
        if not text:
            self.face.say("nothing to find yet: press /")
            return

        def found(answer: int | CorpusPlace | None) -> None:
            if answer is None:
                self.face.say(f"not found: {text}")
            elif isinstance(answer, CorpusPlace):
                self.text.show_place(answer, len(text))
            else:
                self._table(pane).move_to(answer)

        start: int | CorpusPlace = self._table(pane).cursor
        if pane == "corpus":
            start = self.text.found[0] if self.text.found is not None else self.text.top_place
        self.face.send(do.Find(pane, text, start, backward, self.mode), found)

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in the rows of a pane, and nothing in the others."""
        self.sought = (pane, text)
        for name, table in (("pairs", self.pairs), ("vocabulary", self.vocabulary)):
            table.find = text if pane == name else ""
        if pane != "corpus":
            self.text.forget_found()

    # What outlives the process.

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the settings of the view, as a session saves them."""
        place = self.text.top_place
        return {
            "pane": self.active, "glyphs": self.mode, "order": self.look.vocabulary_order,
            "document": place.document,
            "offset": place.offset,
        }

    def restore(self, settings: Mapping[str, object]) -> None:
        """Viewport at it as a session did."""
        if settings.get("glyphs") in GLYPH_MODES:
            self.mode = settings["glyphs"]  # type: ignore[assignment]
        if settings.get("order") in VOCABULARY_ORDERS:
            self.see(vocabulary_order=settings["order"])
        if settings.get("pane") in self.panes:
            self.go(str(settings["pane"]))
        document, offset = settings.get("document"), settings.get("offset")
        if isinstance(document, int) and isinstance(offset, int) and offset >= 0 <= document:
            self.text.show_place(CorpusPlace(document, offset))
