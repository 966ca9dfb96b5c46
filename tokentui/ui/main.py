"""The main screen: what every pane shows at one step."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from textual import on
from textual.containers import Horizontal
from textual.widgets import Input

from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GLYPH_MODES, GlyphMode
from tokentui.learn.rows import Candidate, Entry, Traits
from tokentui.session import commands as do
from tokentui.session.saved import remember
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import VOCABULARY_ORDERS, CorpusPlace, Viewport
from tokentui.ui.draw.lines import SAYS_BYTES, Lines, Pane, flow
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, Guessing
from tokentui.ui.keys import Action
from tokentui.ui.panes.corpus import CorpusBody, CorpusText
from tokentui.ui.panes.encode import EncodeBody
from tokentui.ui.panes.tables import ColumnTable, candidates, entries
from tokentui.ui.panes.why import header, scrubber, sentences, tabs
from tokentui.ui.screen import Band, Body, Layout, PaneScreen

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
        self.text = CorpusText(boundaries, self._want_text, self.draw_titles)
        self.corpus = CorpusBody(face, self.text, self._editor_turned)
        self.pairs = ColumnTable("candidates", candidates)
        self.vocabulary = ColumnTable("vocabulary", entries)
        self.encode = EncodeBody(typed)
        self.tables = {"pairs": self.pairs, "vocabulary": self.vocabulary}
        bodies: dict[str, Body] = {"corpus": self.corpus, **self.tables, "encode": self.encode}
        super().__init__(face, _NAMES, actions, "corpus", "global", Viewport(), bodies, LEAST)
        self.sought: tuple[str, str] = ("", "")
        """The last search, as (pane, text)."""
        self.prediction: Guessing | None = None
        """The guessing of the next pair; None while nothing is hidden."""
        self.says: Callable[[Snapshot | None, GlyphMode], Sequence[Cell]] = sentences
        """The sentences of Why."""
        self._traits: Traits | None = None
        self._followed: tuple[int, CorpusPlace] | None = None
        self._corpus: tuple[object, ...] = ()
        self.header_line = Band(
            lambda width, _: [header(self.snapshot, self.mode, face.key_cost, width)],
            attrgetter(
                "corpus", "busy", "engine", "plain", "main.at", "main.recipe", "main.opened", "main.preset"
            ),
            id="header", classes=SAYS_BYTES,
        )
        self.tabs = Lines(self._tabs, id="tabs")
        self.why = Band(
            lambda width, height: flow(
                [(" · ", one) for one in self.says(self.snapshot, self.mode)], width, height
            ),
            attrgetter(
                "main.why", "main.at", "main.partial", "main.errors", "main.recipe", "main.opened",
                "main.traits", "corpus", "busy", "waiting",
            ),
            classes="body",
        )
        self.scrubber = Band(
            lambda width, _: scrubber(self.snapshot, width),
            attrgetter("main.at", "main.curve", "main.partial", "main.why", "corpus", "running", "speed"),
            id="scrubber",
        )
        self.bands = self.header_line, self.why, self.scrubber
        self._upper = Horizontal(*(self.panes[name] for name in list(_NAMES)[:3]), id="panes")
        why_box = Pane("Why", self.why, id="why")
        self.parts = self.tabs, self._upper, why_box, self.panes["encode"], self.scrubber

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
        """Whose keys work: those of the pane that has the focus, or of the editor in it."""
        return "editor" if self.active == "corpus" and self.corpus.editing else self.active

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane."""
        super().go(pane, typing=pane == "encode")

    # What is seen.

    def taken(self, before: Snapshot | None, now: Snapshot) -> None:
        """Begin at the top of another corpus; name the panes for what is trained."""
        corpus = now.corpus.name, now.corpus.bytes, now.main.recipe.normalize
        # A typed corpus that changes stays the same one.
        another = corpus[2:] if self.corpus.edited else corpus
        if before is None or another != self._corpus[-len(another) :]:
            self.text.reset()
            self._drawn.clear()
            self.look = dataclasses.replace(
                self.look, corpus=CorpusPlace(), candidates_top=0, vocabulary_top=0
            )
            if before is not None:
                for table in self.tables.values():
                    table.move_to(0)
        self._corpus = corpus
        if (traits := now.main.traits) is not self._traits:
            self._traits = traits
            # Candidates with more figures than a count get more room.
            kinds = {
                "for-file": traits.replays, "for-pieces": traits.shrinks,
                "for-scores": "score" in [one.kind for one in traits.columns],
            }
            for name, on in kinds.items():
                self.set_class(on, name)
            title = f"2 {traits.candidate.capitalize()}s"
            self.names = {**self.names, "pairs": (title, title)}
            self.footer_line.say(self.hints())
            self.draw_titles()

    def _tabs(self, width: int, height: int) -> Sequence[Cell]:
        names = [(name, short) for name, (_, short) in self.names.items()]
        return [tabs(names, self.active, self.bodies[self.active].note, width)]

    def _editor_turned(self) -> None:
        """The editor has come or gone, or its text has become the corpus."""
        self.names = {**self.names, "corpus": self.corpus.names()}
        self._drawn.pop(self.corpus, None)
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
        if self.prediction is not None and isinstance(row, Candidate):
            self.prediction.pick(row)
            return
        of_file = self.snapshot is not None and self.snapshot.main.opened is not None
        if of_file and isinstance(row, Entry) and row.id is not None and not row.reason:
            entry = row
            self.face.send(do.WhyUnreachable(row.id), lambda why: self._show(entry._replace(reason=why)))
        elif row is not None:
            self._show(row)

    def _show(self, row: Candidate | Entry) -> None:
        self.face.push(INSPECT(self.face, row, asks=True))

    @on(Input.Submitted)
    def _typed_entered(self) -> None:
        """Explain the word at the cursor of the typed text."""
        if text := self.encode.line.value:
            place = max(0, self.encode.line.cursor_position - 1)
            self.face.push(INSPECT(self.face, typed=(text, place)))

    # What keys do.

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
                self.tables[pane].move_to(answer)

        found_last = self.text.found[0] if self.text.found is not None else self.text.top_place
        start = found_last if pane == "corpus" else self.tables[pane].cursor
        self.face.send(do.Find(pane, text, start, backward, self.mode), found)

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in the rows of a pane, and nothing in the others."""
        self.sought = (pane, text)
        for name, table in self.tables.items():
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
            "document": place.document, "offset": place.offset,
        }

    def restore(self, settings: Mapping[str, object]) -> None:
        """Show the view as the settings of a saved session have it."""
        if settings.get("glyphs") in GLYPH_MODES:
            self.mode = settings["glyphs"]  # type: ignore[assignment]
        if settings.get("order") in VOCABULARY_ORDERS:
            self.see(vocabulary_order=settings["order"])
        if settings.get("pane") in self.panes:
            self.go(str(settings["pane"]))
        document, offset = settings.get("document"), settings.get("offset")
        if isinstance(document, int) and isinstance(offset, int) and offset >= 0 <= document:
            self.text.show_place(CorpusPlace(document, offset))
