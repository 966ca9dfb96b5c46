"""The first screen of one who names nothing: what this is, what to press, and the tours by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key

from tokentui.axes import AXES
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.core.tints import tints
from tokentui.session.commands import EncodeAtEnd
from tokentui.session.snapshot import EndView, Snapshot
from tokentui.tours.shipped import FIRST
from tokentui.ui.bindings import BoundAction, actions_of, bindings_of, is_text, key_name
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, size
from tokentui.ui.draw.lines import Lines, spread
from tokentui.ui.draw.text import Cell, Run, runs
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.main_screen import LEAST, MainScreen
from tokentui.ui.pane_screen import too_small
from tokentui.ui.panes.column_tables import tokens
from tokentui.ui.settings import SEEN

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken

_WIDEST = 100
_ABOUT = (
    "A tokenizer cuts text into tokens, the pieces that a language model reads. It learns them from a text, "
    "step by step: again and again, it merges the most frequent pair of neighbors."
)
_KEYS = (
    ("play", "run; press it again to stop"), ("end", "go to the end"),
    ("type", "type a sentence of your own"), ("edit", "type a text to learn from"),
    ("open", "open a text, or a tokenizer file"), ("algorithm", "choose another algorithm"),
    ("help", "help; twice: all keys"), ("quit", "quit"),
)
"""The keys that matter, below that of the next step, and what they do."""


class StartScreen(EngineScreen[BoundAction | bool | None]):
    """The first screen. A key of the main screen closes it with the action of that key; esc closes it with
    None.

    Args:
        engine: The link to the session of the user.
        offer: The saved session in words, if it is offered: enter then closes the screen with True, delete
            with False.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"app.play_tour({tour.name!r})") for n, tour in enumerate(FIRST, 1)),
        Binding("enter", "go_on", "resume", id="offer.resume", tooltip="Resume the saved session"),
        Binding("delete", "forget", "forget", id="offer.start_over",
            tooltip="Start over, and discard the saved session"),
        Binding("escape", "dismiss"),
    ]

    def __init__(self, engine: EngineLink, offer: Cell = ()) -> None:
        super().__init__(engine)
        self._offer = offer
        self.now = self.engine.snapshot
        self.end: EndView | None = None
        """The sentence at the end of the training; None until it is known."""
        self._asked = ""
        self.lines = Lines(self._draw, id="start")

    def compose(self) -> ComposeResult:
        """Yield all of it, or the message that there is no room."""
        yield self.lines
        yield too_small(*LEAST)

    def on_mount(self) -> None:
        """Show what is known."""
        self.on_resize()
        if self.now is not None:
            self.follow(self.now)

    def on_resize(self) -> None:
        """Show a message in place of the lines if the terminal is too small."""
        small = self.app.size.width < LEAST[0] or self.app.size.height < LEAST[1]
        self.set_class(small, "tiny")

    def on_key(self, event: Key) -> None:
        """Close with the action of a key of the main screen; leave the keys of this screen. For other
        characters, show a message."""
        if event.key in self._own_keys:
            return
        for action in self._actions.values():
            if event.key in action.keys and action.id != "first_screen":
                event.stop()
                event.prevent_default()
                self.dismiss(action)
                return
        if is_text(event.key):
            self.app.say(f"{key_name(event.key)} is no key here: ? shows all keys, esc goes to the panes")

    @property
    def _own_keys(self) -> set[str]:
        return {key for _, keys in bindings_of(type(self)) for key in keys}

    @property
    def _actions(self) -> dict[str, BoundAction]:
        """The actions of the main screen by id."""
        return {action.id: action for action in actions_of(MainScreen, self.app.user_keys)}

    def follow(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, and ask once for each typed text how it is encoded at the end of the training."""
        self.now = snapshot
        ready = not (snapshot.corpus.nothing_open or snapshot.main.partial) and snapshot.main.encoding.text
        if ready and snapshot.main.traits.grows and self._asked != snapshot.main.encoding.text:
            self._asked = snapshot.main.encoding.text
            start_worker(self, "asked", self._ask)
        self.lines.again()

    async def _ask(self) -> None:
        """Ask for the encoding at the end of the training, and show it; after an error the line is left out.
        """
        try:
            self.end = await self.engine.ask(EncodeAtEnd())
        except (TokentuiError, Cancelled):
            return  # the line is left out
        self.lines.again()

    def action_go_on(self) -> None:
        """Resume the offered session; without one, close."""
        self.dismiss(True if self._offer else None)

    def action_forget(self) -> None:
        """Close, and discard the offered session; if none is offered, show a message instead."""
        if self._offer:
            self.dismiss(False)
        else:
            self.app.say("no saved session is offered here")

    # What is seen.

    def _offer_lines(self) -> list[Cell]:
        """Return the lines of the offered session; none without one."""
        if not self._offer:
            return []
        return [
            ((" ", ""), ("enter".ljust(7), "key"), ("resume ", "strong"), *self._offer),
            ((" ", ""), ("delete".ljust(7), "key"), ("forget it; others begin anew and keep it", "muted")),
        ]

    def _draw(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines of the screen for a size, a third of the spare height below the title.

        If they do not fit, blank lines are left out first, then the introduction, the tours and the sentence.
        """
        room = min(width - 2, _WIDEST)
        about = ui_text.wrap(((_ABOUT, ""),), room - 2, words=True)
        head, keys, tours = self._head(width), self._keys(room), _tours(room)
        offer = [ui_text.clip(line, room) for line in self._offer_lines()]
        nothing = self.now is None or self.now.corpus.nothing_open
        box = [] if offer and nothing else self._sentence(room)
        # Blank lines give way first, then what the words say, then the tours.
        for parts, blank in (
            ((about, box, keys, tours), True), ((box, keys, tours), True), ((about, box, keys, tours), False),
            ((box, keys, tours), False), ((box, keys), False), ((keys,), False),
        ):
            lines: list[Cell] = [head]
            for part in filter(None, (offer, *parts)):
                lines += [(), *part] if blank else part
            if len(lines) <= height - (1 if blank else 0):
                break
        lines = [head, *(((" ", ""), *line) for line in lines[1:])]
        spare = height - len(lines)
        return [lines[0], *[()] * max(0, spare // 3), *lines[1:]]

    def _head(self, width: int) -> Cell:
        """Return the title, with corpus and recipe at the right, shortened or left out if they do not fit."""
        left: Cell = ((" tokentui", "strong"), ("   watch a tokenizer being made", ""))
        if (now := self.now) is None or now.corpus.nothing_open:
            return ui_text.clip(left, width)
        name = safe(now.corpus.name, limit=30)
        recipe = safe(now.main.preset or now.main.about, limit=30)
        whole = f"learns from: {name}, {size(now.corpus.bytes)} · recipe: {recipe} "
        ways = (whole, f"{name} · {recipe} ", "")
        about = next(way for way in ways if len(way) + ui_text.width(left) + 2 <= width or not way)
        return spread(left, ((about, "muted"),), width)

    def _sentence(self, width: int) -> list[Cell]:
        """Return the box with the sentence and its tokens, now and, if known, at the end of the training."""
        inner = width - 4
        text = self.now.main.encoding.text if self.now is not None else ""
        rows: list[Cell] = [(("> ", "key"), *runs(text, limit=200))]
        if self.now is not None and text:
            made = self.now.main.encoding.tokens
            steps = self.now.main.at.step
            when = f"after {plural(steps, 'merge')}" if steps else "now"
            rows += _token_lines(made, when, inner, self.app.chips)
        if self.end is not None and self.end.tokens:
            when = f"after all {number(self.end.steps)} merges"
            rows += _token_lines(self.end.tokens, when, inner, self.app.chips)
        head: Cell = (("┌ ", "frame"), ("Your sentence", "strong"), (f" {'─' * (width - 17)}┐", "frame"))
        foot: Cell = ((f"└{'─' * (width - 2)}┘", "frame"),)
        side: Run = ("│", "frame")
        body = [
            (side, (" ", ""), *ui_text.clip(row, inner),
                (" " * (inner + 1 - min(inner, ui_text.width(row))), ""), side)
            for row in rows
        ]
        return [head, *body, foot]

    def _keys(self, width: int) -> list[Cell]:
        """Return the line of the next step and the keys: in two columns, or in one below 76 cells."""
        lines: list[Cell] = [self._step()]
        cells = [(*self._key(name), (words, "")) for name, words in _KEYS]
        if width < 76:
            return [ui_text.clip(line, width) for line in (*lines, *cells)]
        half = max(ui_text.width(cell) for cell in cells[::2]) + 3
        for n in range(0, len(cells), 2):
            left, right = cells[n], cells[n + 1] if n + 1 < len(cells) else ()
            lines.append((*left, (" " * max(2, half - ui_text.width(left)), ""), *right))
        return lines

    def _step(self) -> Cell:
        """Return the key of the next step and what it does; at the end of a training, the key that goes back.
        """
        if self.now is None or (self._offer and self.now.corpus.nothing_open):
            return (*self._key("next"), ("make the first merge", "strong"))
        main = self.now.main
        step, best, made = main.traits.step, main.why.best, main.at.step
        if main.why.end is not None:
            words = f"take back the last of {plural(made, step)}" if made else f"no {step} is possible"
            return (*self._key("back" if made else "next"), (words, "strong"))
        if best is None or not best.parts:
            return (*self._key("next"), (f"make the {'next' if made else 'first'} {step}", "strong"))
        objective = AXES["objective"].find(main.recipe.objective)
        by_count = objective is not None and objective.kernel and not (objective.value or objective.scored)
        which = "most frequent" if by_count else "best"
        return (
            *self._key("next"), (f"merge the {which} pair: ", "strong"), *tokens(best.parts, "text"),
            (" → ", "accent"), *tokens((best.token,), "text"),
            (f", in {plural(best.places, 'place')}", "muted"),
        )

    def _key(self, id: str) -> Cell:
        return ((" ", ""), (self._actions[id].shown_key.ljust(7), "key"))


def _token_lines(tokens: Sequence[EncodedToken], when: str, width: int, chips: bool) -> list[Cell]:
    """Return the tokens of a sentence with their number in one line, or in two if they do not fit.

    Args:
        tokens: The tokens.
        when: The words after the number, such as `after 12 merges`.
        width: The cells of a line.
        chips: True to show chips, otherwise bars between tokens.
    """
    line: list[Run] = []
    for n, (token, tint) in enumerate(zip(tokens, tints([token.start for token in tokens]), strict=True)):
        line += [("│", "frame")] if n and not chips else []
        text = runs(token.text if token.piece is None else token.piece, limit=40)
        line += ui_text.chip(text, f"tint-{tint}") if chips else text
    many: Cell = ((plural(len(tokens), "token"), "strong"), (f" {when}", "muted"))
    if ui_text.width(line) + ui_text.width(many) + 5 <= width:
        return [spread((("  ", ""), *line), many, width)]
    return [(("  ", ""), *ui_text.clip(tuple(line), width - 2)), spread((), many, width)]


def _tours(width: int) -> list[Cell]:
    """Return a heading, and a line for each tour with its number."""
    about = "   a few minutes each; your own text stays as it is"
    rows: list[Cell] = [((" ", ""), ("Tours", "strong"), (about, "muted"))]
    rows += [((" ", ""), (str(n).ljust(7), "key"), (tour.title, "")) for n, tour in enumerate(FIRST, 1)]
    return [ui_text.clip(row, width) for row in rows]


def show(main: MainScreen, offer: Cell = (), answered: Callable[[bool | None], object] | None = None) -> None:
    """Open the first screen over the main one, and then run the action that it closes with.

    Args:
        main: The main screen.
        offer: The saved session in words, if it is offered.
        answered: Called before that action, unless it quits: with True to resume the saved session, False to
            discard it, None without an answer.
    """
    app = main.app

    def left(answer: BoundAction | bool | None) -> None:
        action = None if isinstance(answer, bool) else answer
        if action is None or action.id != "quit":
            app.user_settings.keep(SEEN, True)
            if answered is not None:
                answered(answer if isinstance(answer, bool) else None)
        if action is None:
            return
        if action.id == "edit":
            main.corpus.type_anew()
        app.call_later(app.run_action, action.action, main)

    app.push_screen(StartScreen(app.engine, offer), left)
