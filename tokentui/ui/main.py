"""The main screen: what every pane shows at one step.

It knows the session only by commands and snapshots. A snapshot is handed to every pane at once, so all of
them are always about the same step.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.lazy import Ref
from tokentui.core.paths import remember
from tokentui.core.safetext import GLYPH_MODES
from tokentui.session.commands import (
    CancelWork,
    Command,
    Find,
    FindChanged,
    GoTo,
    Move,
    Open,
    OpenTokenizer,
    Play,
    SetInput,
    SetViewport,
    StepPieces,
    WhyUnreachable,
)
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import (
    VOCABULARY_ORDERS,
    Candidates,
    CorpusPlace,
    LossRow,
    PairRow,
    TokenRow,
    Viewport,
    VocabularyPage,
)
from tokentui.ui.draw.lines import SAYS_BYTES, Lines, key_bytes
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, nothing_there
from tokentui.ui.keys import Action
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.corpus import CorpusText, TextWanted
from tokentui.ui.panes.corpus_pane import CorpusPane
from tokentui.ui.panes.encode import EncodeBody
from tokentui.ui.panes.header import header, tabs
from tokentui.ui.panes.scrubber import scrubber
from tokentui.ui.panes.tables import VocabularyTable
from tokentui.ui.panes.why import why
from tokentui.ui.screen import Layout, PaneScreen, too_small

if TYPE_CHECKING:
    from tokentui.ui.dialogs.open import OpenChoice

_NAMES = {
    "corpus": ("1 Corpus", "1 Corpus"), "pairs": ("2 Pairs", "2 Pairs"),
    "vocabulary": ("3 Vocabulary", "3 Vocab"),
    "encode": ("4 Encode", "4 Encode"),
}
_CANDIDATES = {"unigram": "2 Pieces", "opened": "2 Births"}

LEAST_WIDTH, LEAST_HEIGHT = 30, 8
"""Below this nothing but a line is shown."""

INSPECT = Ref("tokentui.ui.dialogs.inspect:InspectScreen")
FIND = Ref("tokentui.ui.dialogs.ask:FindScreen")
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
        super().__init__(face, _NAMES, actions, "corpus", "global")
        self.snapshot: Snapshot | None = None
        self.look = Viewport()
        self.sought: tuple[str, str] = ("", "")
        """The last search, as (pane, text)."""
        self.objective = ""
        """The objective of the training, as in `ColumnSnapshot.objective`."""
        self._before_typing = "corpus"
        self._followed: tuple[int, CorpusPlace] | None = None
        self.header_line = Lines(lambda width,
            _: [header(self.snapshot, self.mode, key_bytes(self.app), width)], id="header",
                                 classes=SAYS_BYTES)
        self.tabs = Lines(self._tabs, id="tabs")
        self.text, self.pairs, self.vocabulary = CorpusText(boundaries), PairTable(), VocabularyTable()
        self.text.moved = self.pairs.moved = self.vocabulary.moved = self.draw_titles
        self.why, self.encode, self.scrubber = Lines(classes="body"), EncodeBody(typed), Lines(id="scrubber")
        self.corpus = CorpusPane(face, self.text, self._editor_turned)
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
        yield too_small(f"{LEAST_WIDTH}×{LEAST_HEIGHT}")

    # How much room there is.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Side by side where it is wide; pairs and vocabulary in one place where it is not; all in one where
        it is small.
        """
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
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

    def body_of(self, pane: str) -> Widget:
        """Return the widget of a pane that gets the keys."""
        bodies: dict[str, Widget] = {"pairs": self.pairs, "vocabulary": self.vocabulary,
            "encode": self.encode.line}
        return self.corpus.focused_body if pane == "corpus" else bodies[pane]

    @property
    def context(self) -> str:
        """Whose keys work: those of the pane that has the focus, or of the editor in it."""
        return "editor" if self.active == "corpus" and self.corpus.editing else self.active

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane."""
        if pane == "encode" and self.active != "encode":
            self._before_typing = self.active
        super().go(pane, typing=pane == "encode")

    # What is seen.

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot. One that is older than what is shown is left out."""
        before = self.snapshot
        if before is not None and snapshot.version < before.version:
            return
        self.snapshot = snapshot
        if before is None or self._is_another(before, snapshot):
            self.text.reset()
            self.look = dataclasses.replace(self.look, corpus=CorpusPlace(), candidates_top=0,
                vocabulary_top=0)
            if before is not None:
                self.pairs.move_to(0)
                self.vocabulary.move_to(0)
        if self.objective != snapshot.main.objective:
            self.remove_class(f"for-{self.objective}")
            self.add_class(f"for-{snapshot.main.objective}")
            self.objective = snapshot.main.objective
            candidates = _CANDIDATES.get(self.objective, "2 Pairs")
            self.names = {**_NAMES, "pairs": (candidates, candidates)}
            self.footer_line.say(self.hints())
        self.draw()

    def _is_another(self, before: Snapshot, now: Snapshot) -> bool:
        """True if the corpus is another one. A typed corpus that changes stays the same one."""
        named = not self.corpus.edited and (before.corpus.name, before.corpus.bytes) != (now.corpus.name,
            now.corpus.bytes)
        return named or before.main.recipe.normalize != now.main.recipe.normalize

    def draw(self) -> None:
        """Draw what has changed."""
        now, mode = self.snapshot, self.mode
        if now is None:
            return
        with self.app.batch_update():
            self.header_line.again()
            if now.nothing and not self.corpus.editing:
                self.text.say(nothing_there(now))
            elif not self.corpus.editing:
                self.text.show(now.main.corpus, mode)
            for table in (self.pairs, self.vocabulary):
                if now.nothing:
                    table.say(nothing_there(now))
                else:
                    table.show(now.main, mode)
            self.why.show(lambda width, height: why(now, mode, width, height))
            if not now.nothing or now.busy is None:
                self.encode.show(now.main.encoding, mode, now.main.at.last_id)
            self.scrubber.show(lambda width, _: scrubber(now, width))
            self.draw_titles()

    def draw_titles(self) -> None:
        """Name the panes, and say where one is in each."""
        names = self.corpus.names()
        if self.names["corpus"] != names:
            self.names = {**self.names, "corpus": names}
        super().draw_titles()
        self.tabs.again()

    def _tabs(self, width: int, height: int) -> Sequence[Cell]:
        names = [(name, short) for name, (_, short) in self.names.items()]
        return [tabs(names, self.active, self.note_of(self.active), width)]

    def note_of(self, pane: str) -> Cell:
        """Where one is in a pane."""
        now = self.snapshot
        if now is None or pane == "encode":
            return ()
        return self.corpus.note(now) if pane == "corpus" else self._table(pane).note

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

    def see(self, **changes: Any) -> None:
        """Viewport at other rows."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.face.send(SetViewport(look))

    @on(TextWanted)
    def _text_wanted(self, event: TextWanted) -> None:
        self.see(corpus=event.place, corpus_chars=event.chars, corpus_before=event.before)

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if event.table is self.pairs:
            self.see(candidates_top=event.top, candidates_rows=event.height)
        elif event.table is self.vocabulary:
            self.see(vocabulary_top=event.top, vocabulary_rows=event.height)

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        now = self.snapshot
        if now is None:
            return
        page: Candidates | VocabularyPage = now.main.candidates if event.table is self.pairs else now.main.vocabulary
        for row in page.rows[event.index - page.top :][:1]:
            self._inspect(row, now)

    def _inspect(self, row: PairRow | LossRow | TokenRow, now: Snapshot) -> None:
        of_file = now.main.opened is not None
        if isinstance(row, TokenRow) and row.id is not None and of_file and not row.reason:
            self.face.send(WhyUnreachable(row.id), lambda why: self._show(dataclasses.replace(row, reason=why)))
        else:
            self._show(row)

    def _show(self, row: PairRow | LossRow | TokenRow) -> None:
        self.face.push(INSPECT(self.face, row))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.face.send(SetInput(event.value))

    # What keys do.

    def send(self, command: Command[Any]) -> None:
        """Hand a command to the session; a step where nothing is open says so."""
        now = self.snapshot
        if isinstance(command, Move | GoTo | Play
                | StepPieces) and now is not None and now.nothing and now.busy is None:
            self.face.say(nothing_there(now), "warning")
        else:
            self.face.send(command)

    def leap(self, tens: int) -> None:
        """Move ten steps forward or back; in an opened file, a hundredth of its replay steps."""
        opened = self.snapshot.main.opened if self.snapshot is not None else None
        self.send(Move(tens * (10 if opened is None else max(1, round(opened.births / 100)))))

    def leave(self) -> None:
        """End typing into the corpus; else stop long work; else leave the line; else end finding."""
        if self.context == "editor":
            self.corpus.end()
        elif self.snapshot is not None and (self.snapshot.busy is not None or self.snapshot.waiting):
            self.face.send(CancelWork())
        elif self.active == "encode":
            self.go(self._before_typing)
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
            self.face.say("no merge has been made yet" if self.objective != "opened"
                else "nothing is born yet")
            return
        if self.objective == "unigram":
            self.face.say("a unigram step merges nothing: it has no one place in the corpus")
            return
        step = now.main.at.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else self.text.top_place

        def found(place: CorpusPlace | None) -> None:
            if place is None:
                last = "merge" if self.objective != "opened" else "birth"
                self.face.say(f"the last {last} stands nowhere in the corpus")
                return
            self._followed = step, place
            self.text.show_place(place)

        self.face.send(FindChanged(start), found)

    def open(self) -> None:
        """Ask for a corpus or a tokenizer, and open it."""
        self.face.push(OPEN(self.face), lambda choice: self._open(choice) if choice is not None else None)

    def _open(self, choice: OpenChoice) -> None:
        def opened(_: None) -> None:
            self.call_later(self.corpus.opened)
            asyncio.get_running_loop().run_in_executor(None, remember, choice.source)

        def failed(error: BaseException) -> None:
            if choice.tokenizer and isinstance(error, TokentuiError) and not isinstance(error, Cancelled):
                hint = "; ".join(filter(None, (error.hint, "o with ctrl+t reads it as a text")))
                error = TokentuiError(error.what, error.where, hint)
            self.face.tell(error)
            self.corpus.come_back()

        self.corpus.give_way()
        command = OpenTokenizer(choice.source, choice.split) if choice.tokenizer else Open((choice.source,),
            choice.as_)
        self.face.send(command, opened, failed)

    # Finding.

    def find(self) -> None:
        """Ask for text, and find it in the pane that has the focus."""
        pane = self.active if self.active != "encode" else "corpus"

        def asked(text: str | None) -> None:
            if text is not None:
                self.mark_found(pane, text)
                if text:
                    self.find_again(backward=False)

        name = {**_NAMES, **self.names, "corpus": _NAMES["corpus"]}[pane][0][2:].lower()
        self.face.push(FIND(self.face, name, self.sought[1]), asked)

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
        self.face.send(Find(pane, text, start, backward, self.mode), found)

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in the rows of a pane, and nothing in the others."""
        self.sought = (pane, text)
        self.pairs.set_find(text if pane == "pairs" else "")
        self.vocabulary.set_find(text if pane == "vocabulary" else "")
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
