"""The main screen: what every pane shows at one step, and what its keys do.

It knows the session only by commands and snapshots. A snapshot is handed to every pane at once, so all of them are
always about the same step.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tokentui.core.safetext import GLYPH_MODES, GlyphMode
from tokentui.session.commands import CancelWork, Command, Fine, GoTo, Move, Play, See, Speed, Type
from tokentui.session.snapshot import VOCABULARY_ORDERS, Look, Place, Snapshot
from tokentui.ui.actions import bindings
from tokentui.ui.draw.bands import FooterLine, HeaderLine, TabLine, TooSmall
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.messages import TextWanted
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.corpus import CorpusText
from tokentui.ui.panes.corpus_pane import CorpusPane
from tokentui.ui.panes.encode import EncodeBody
from tokentui.ui.panes.scrubber import Scrubber
from tokentui.ui.panes.tables import VocabularyTable
from tokentui.ui.panes.waits import nothing_there
from tokentui.ui.panes.why import WhyLines

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.panes.editor import CorpusEditor

PANES = ("corpus", "pairs", "vocabulary", "encode")
_TITLES = {"corpus": "1 Corpus", "pairs": "2 Pairs", "vocabulary": "3 Vocabulary", "encode": "4 Encode"}
_SHORT = {"vocabulary": "3 Vocab"}
_TITLES_OF = {"unigram": {"pairs": "2 Pieces"}, "opened": {"pairs": "2 Births"}}

LEAST_WIDTH, LEAST_HEIGHT = 30, 8
"""Below this nothing but a line is shown."""


class MainScreen(Screen[None]):
    """The panes round a session.

    Args:
        typed: What stands in the encode pane at first.
        boundaries: How tokens of the corpus are told apart at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("global")]
    AUTO_FOCUS = None

    def __init__(self, typed: str = "", boundaries: Boundaries = "shade") -> None:
        super().__init__()
        self.snapshot: Snapshot | None = None
        self.look = Look()
        self.mode: GlyphMode = "text"
        self.active = "corpus"
        """The pane that has the focus, or will have it again."""
        self.sought: tuple[str, str] = ("", "")
        """What was last looked for, as (pane, text)."""
        self.objective = ""
        """What is trained for, as `Snapshot.objective` has it."""
        self._front = "pairs"
        self._before_typing = "corpus"
        self._size_classes: frozenset[str] = frozenset()
        self.header_line, self.tabs, self.footer_line = HeaderLine(), TabLine(), FooterLine()
        self.text, self.pairs, self.vocabulary = CorpusText(boundaries), PairTable(), VocabularyTable()
        self.text.moved = self.pairs.moved = self.vocabulary.moved = self._draw_titles
        self.why, self.encode, self.scrubber = WhyLines(classes="body"), EncodeBody(typed), Scrubber()
        self.corpus = CorpusPane(_TITLES["corpus"], self.text, id="corpus")
        others = zip(PANES[1:], (self.pairs, self.vocabulary, self.encode), strict=True)
        self.panes = {"corpus": self.corpus, **{name: Pane(_TITLES[name], body, id=name) for name, body in others}}

    @property
    def explorer(self) -> ExplorerApp:
        """The app."""
        return cast("ExplorerApp", self.app)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        self._take_size(*self.app.size)  # before there is anything that would have to be styled again
        yield self.header_line
        yield self.tabs
        with Horizontal(id="panes"):
            yield from (self.panes[name] for name in PANES[:3])
        yield Pane("Why", self.why, id="why")
        yield self.panes["encode"]
        yield self.scrubber
        yield self.footer_line
        yield TooSmall(LEAST_WIDTH, LEAST_HEIGHT)

    def on_mount(self) -> None:
        """Begin in the corpus."""
        self.focus_pane(self.active)

    @property
    def context(self) -> str:
        """Whose keys work: those of the pane that has the focus, or of the editor in it."""
        return "editor" if self.active == "corpus" and self.corpus.editing else self.active

    # What is seen.

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot. One that is older than what is shown is left out."""
        before = self.snapshot
        if before is not None and snapshot.version < before.version:
            return
        self.snapshot = snapshot
        if before is None or self._is_another(before, snapshot):
            self.text.reset()
            self.look = dataclasses.replace(self.look, corpus=Place(), pairs_top=0, vocabulary_top=0)
            if before is not None:
                self.pairs.move_to(0)
                self.vocabulary.move_to(0)
        if self.objective != snapshot.objective:
            self._take_objective(snapshot.objective)
        self._draw()

    def _is_another(self, before: Snapshot, now: Snapshot) -> bool:
        """Whether it is another corpus. One that is typed changes, and what is looked at stays."""
        named = not self.corpus.edited and (before.corpus_name, before.corpus_bytes) != (now.corpus_name, now.corpus_bytes)
        return named or before.recipe.normalize != now.recipe.normalize

    def _take_objective(self, objective: str) -> None:
        self.remove_class(f"for-{self.objective}")
        self.add_class(f"for-{objective}")
        self.objective = objective
        self.footer_line.say(self.context, objective)

    def _draw(self) -> None:
        now = self.snapshot
        if now is None:
            return
        with self.app.batch_update():
            self.header_line.show(now, self.mode)
            if now.nothing and not self.corpus.editing:
                self.text.say(nothing_there(now))
            elif not self.corpus.editing:
                self.text.show(now.corpus, self.mode)
            self.pairs.show(now, self.mode)
            self.vocabulary.show(now, self.mode)
            self.why.show(now, self.mode)
            if not now.nothing or now.busy is None:
                self.encode.show(now.encoded, self.mode, now.last_id)
            self.scrubber.show(now)
            self._draw_titles()

    def _draw_titles(self) -> None:
        corpus, short_corpus = self.corpus.names()
        notes, titles = self._notes(), {**_TITLES, **_TITLES_OF.get(self.objective, {}), "corpus": corpus}
        for name, pane in self.panes.items():
            pane.title.say(notes.get(name, ()))
        shared = self.has_class("medium")
        for name in ("pairs", "vocabulary"):
            both = [(titles[one], one == name) for one in ("pairs", "vocabulary")]
            self.panes[name].title.name_panes(both if shared else [(titles[name], True)])
        self.corpus.title.name_panes([(corpus, True)])
        short = {**titles, **_SHORT, "corpus": short_corpus}
        self.tabs.say([(name, short[name]) for name in PANES], self.active, notes.get(self.active, ()))

    def name_of(self, pane: str) -> str:
        """A pane as its title has it."""
        return _TITLES_OF.get(self.objective, {}).get(pane, _TITLES[pane])[2:].lower()

    def _notes(self) -> dict[str, Cell]:
        now = self.snapshot
        if now is None:
            return {}
        return {"corpus": self.corpus.note(now), "pairs": self.pairs.note, "vocabulary": self.vocabulary.note}

    # How much room there is.

    def on_resize(self, event: events.Resize) -> None:
        """Let panes give way to others."""
        if self._take_size(*event.size):
            # The focus leaves what is hidden; the active pane takes it again as soon as it is seen.
            self.call_after_refresh(self.focus_pane, self.active)

    def _take_size(self, width: int, height: int) -> bool:
        """Say by classes how much room there is. Returns whether that has changed."""
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
            wanted = {"tiny"}
        elif width < 60 or height < 16:
            wanted = {"small", "short"}
        else:
            wanted = {"medium" if width < 100 else "wide", "tall" if height >= 36 else "short" if height < 30 else "high"}
        changed = frozenset(wanted) != self._size_classes
        if changed:
            self._size_classes = frozenset(wanted)
            self.set_classes([*wanted, f"front-{self._front}", f"at-{self.active}", f"for-{self.objective}"])
        return changed

    def focus_pane(self, name: str) -> None:
        """Give a pane the focus, and bring it to the front where panes share a place."""
        self.active = name
        if name in ("pairs", "vocabulary"):
            self._front = name
        for one in PANES:
            self.set_class(one == name, f"at-{one}")
            self.set_class(one == self._front, f"front-{one}")
        if not self.has_class("tiny"):
            bodies: dict[str, Widget] = {"corpus": self.corpus.focused_body, "pairs": self.pairs, "vocabulary": self.vocabulary}
            bodies.get(name, self.encode.line).focus(scroll_visible=False)
        self.footer_line.say(self.context, self.objective)
        self._draw_titles()

    # The corpus while it is typed into.

    async def open_editor(self, editor: CorpusEditor, offset: int = 0) -> None:
        """Put an editor in the place of the corpus; a new one with its cursor behind so many characters."""
        await self.corpus.open(editor, offset)
        self.see(corpus_chars=0, corpus_before=0)  # tokens that nobody sees would hold up each change
        self.focus_pane("corpus")

    def close_editor(self, place: Place | None = None) -> None:
        """Show the corpus in tokens again, round a place or where it was."""
        if self.corpus.editing:
            self.corpus.close()
            self.text.begin_again(place)
            self.focus_pane(self.active)

    def on_text_area_selection_changed(self) -> None:
        """Say where the cursor is."""
        self._draw_titles()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """A click may move the focus as well."""
        if event.widget is not self.focused:
            return  # it has moved on since: to follow would take it back, and it would go to and fro for ever
        pane = next((name for name, pane in self.panes.items() if pane in event.widget.ancestors), None)
        if pane is not None and pane != self.active and not self.has_class("tiny"):
            self.focus_pane(pane)

    # What the panes ask for.

    def see(self, **changes: Any) -> None:
        """Look at other rows."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.explorer.send(See(look))

    @on(TextWanted)
    def _text_wanted(self, event: TextWanted) -> None:
        self.see(corpus=event.place, corpus_chars=event.chars, corpus_before=event.before)

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if event.table is self.pairs:
            self.see(pairs_top=event.top, pairs_rows=event.height)
        elif event.table is self.vocabulary:
            self.see(vocabulary_top=event.top, vocabulary_rows=event.height)

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        now = self.snapshot
        if now is None:
            return
        if event.table is self.pairs:
            rows: tuple[Any, ...] = now.pairs[event.index - now.pairs_top :][:1]
        else:
            rows = now.vocabulary[event.index - now.vocabulary_top :][:1]
        for row in rows:
            self.explorer.asking.inspect(row)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.explorer.send(Type(event.value))

    # What keys do.

    def action_move(self, steps: int) -> None:
        """Steps forward, or back. In an opened file ten steps are a hundredth of its births."""
        now = self.snapshot
        if now is not None and now.opened is not None and abs(steps) == 10:
            steps = steps // 10 * max(1, round(now.opened.births / 100))
        self._step(Move(steps))

    def _step(self, command: Command) -> None:
        now = self.snapshot
        if now is not None and now.nothing and now.busy is None:
            self.explorer.say(nothing_there(now), "warning")
        else:
            self.explorer.send(command)

    def action_fine(self, pieces: int) -> None:
        """Pieces of a pruning forward, or back."""
        self._step(Fine(pieces))

    def action_compressed(self) -> None:
        """Show the text as Gage's compression leaves it."""
        self.explorer.asking.compressed()

    def action_play(self) -> None:
        """Run, or stop."""
        self._step(Play())

    def action_speed(self, by: int) -> None:
        """Play faster, or slower."""
        self.explorer.send(Speed(by))

    def action_start(self) -> None:
        """Go to the start."""
        self._step(GoTo(0))

    def action_end(self) -> None:
        """Go to the end of the run."""
        self._step(GoTo(None))

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        if name == "encode" and self.active != "encode":
            self._before_typing = self.active
        self.focus_pane(name)

    def action_turn(self, by: int) -> None:
        """Go to the next pane, or the one before."""
        self.action_pane(PANES[(PANES.index(self.active) + by) % len(PANES)])

    def action_type(self) -> None:
        """Type."""
        self.action_pane("encode")

    def action_clear(self) -> None:
        """Empty the line."""
        self.encode.line.value = ""

    def action_cancel(self) -> None:
        """End typing into the corpus; else stop long work; else leave the line; else end finding."""
        if self.context == "editor":
            self.explorer.editing.end()
        elif self.snapshot is not None and (self.snapshot.busy is not None or self.snapshot.waiting):
            self.explorer.send(CancelWork())
        elif self.active == "encode":
            self.focus_pane(self._before_typing)
        else:
            self.mark_found("", "")

    def action_glyphs(self) -> None:
        """Show tokens in another way."""
        self.mode = GLYPH_MODES[(GLYPH_MODES.index(self.mode) + 1) % len(GLYPH_MODES)]
        self._draw()

    def action_boundaries(self) -> None:
        """Tell the tokens of the corpus apart in the other way."""
        self.text.turn_boundaries()

    def action_order(self) -> None:
        """Sort the vocabulary in another way."""
        place = VOCABULARY_ORDERS.index(self.look.vocabulary_order)
        self.vocabulary.move_to(0)
        self.see(vocabulary_order=VOCABULARY_ORDERS[(place + 1) % len(VOCABULARY_ORDERS)], vocabulary_top=0)

    def action_follow(self) -> None:
        """Show where the last merge was made."""
        self.explorer.asking.follow()

    def action_find(self) -> None:
        """Ask what to find."""
        self.explorer.asking.what_to_find()

    def action_find_again(self, backward: bool) -> None:
        """The next match, or the one before."""
        self.explorer.asking.find_again(backward)

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.explorer.asking.where_to_go()

    async def action_open(self) -> None:
        """Ask for a corpus."""
        await self.explorer.asking.what_to_open()

    def action_algorithm(self) -> None:
        """Ask for a recipe."""
        self.explorer.asking.how_to_train()

    def action_compare(self) -> None:
        """Ask what to compare with."""
        from tokentui.ui.compare.open import compare_with

        compare_with(self.explorer)

    async def action_edit(self) -> None:
        """Type into the corpus."""
        await self.explorer.editing.begin()

    def action_pieces(self) -> None:
        """Show how the text is cut."""
        self.explorer.asking.pieces()

    def action_export(self) -> None:
        """Write the tokenizer of this step to a file."""
        self.explorer.asking.export()

    def action_questions(self) -> None:
        """Show what the vocabulary is worth."""
        self.explorer.asking.questions()

    def action_facts(self) -> None:
        """Show the facts and the health of the tokenizer."""
        self.explorer.asking.facts()

    def action_help(self) -> None:
        """Show all keys."""
        self.explorer.asking.help()

    # What was found.

    def place_to_start(self, pane: str) -> int | Place:
        """Where looking for something begins: at what was found last, else at what is seen."""
        if pane == "corpus":
            return self.text.found[0] if self.text.found is not None else self.text.top_place
        return (self.pairs if pane == "pairs" else self.vocabulary).cursor

    def mark_found(self, pane: str, text: str) -> None:
        """Mark a text in the rows of a pane, and nothing in the others."""
        self.sought = (pane, text)
        self.pairs.set_find(text if pane == "pairs" else "")
        self.vocabulary.set_find(text if pane == "vocabulary" else "")
        if pane != "corpus":
            self.text.forget_found()

    def show_found(self, pane: str, text: str, answer: int | Place) -> None:
        """Bring what was found into view."""
        if isinstance(answer, Place):
            self.text.show_place(answer, len(text))
        else:
            (self.pairs if pane == "pairs" else self.vocabulary).move_to(answer)
