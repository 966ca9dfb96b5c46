"""The encode pane: a line to type in, and what the tokenizer of this step makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import EncodedToken, EncodedView
from tokentui.ui.actions import bindings
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines, blank
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.panes.tables import TOKEN_SHOWN
from tokentui.ui.typed import ClusterInput, lines_of, typed_beyond

TYPED_LIMIT = 20_000
"""The most characters that the line takes: what is typed is encoded at every step."""


class TypedLine(ClusterInput):
    """The line to type in."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("encode")]

    def __init__(self) -> None:
        super().__init__(
            placeholder="type text to see it encoded", highlighter=ui_text.StandIns(), compact=True, select_on_focus=False,
            max_length=TYPED_LIMIT,
        )
        self.cursor_blink = False

    def on_key(self, event: events.Key) -> None:
        """Take what the base class would leave out."""
        if typed := typed_beyond(event):
            self.replace(typed, *sorted(self.selection))

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste with all its lines, or as much of it as there is room for, and say so."""
        event.stop()
        event.prevent_default()
        text = lines_of(event.text)
        start, end = sorted(self.selection)
        room = TYPED_LIMIT - len(self.value) + end - start
        self.replace(text[:room], start, end)
        if len(text) > room:
            what = f"{number(room)} of {number(len(text))} characters are taken: the line holds {number(TYPED_LIMIT)}"
            self.app.notify(what, severity="warning", markup=False)


class Prompt(Lines):
    """The sign in front of the line."""

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`>`."""
        return ((("> ", "accent"),),)


class Tally(Lines):
    """How many tokens it is."""

    view: EncodedView | None = None

    def show(self, view: EncodedView) -> None:
        """Take what has been encoded."""
        self.view = view
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`6 tokens · 23 B · 3.83 B/token · lossy`, or as much of it as there is room for."""
        view = self.view
        if view is None or not view.text or view.error:
            return ()
        count = len(view.tokens)
        facts = [plural(count, "token"), f"{number(view.bytes)} B"]
        if count:
            facts.append(f"{view.bytes / count:.2f} B/token")
        lossy = " · lossy" if view.lost else ""
        while len(facts) > 1 and len(" · ".join(facts)) + len(lossy) > width:
            facts.pop()
        said: Cell = (
            (facts[0], "strong"), ("".join(f" · {fact}" for fact in facts[1:]), "muted"), (lossy, "warning"),
        )
        return ((*blank(width - ui_text.width(said)), *said),)


class Tokens(Lines):
    """The tokens with bars between them, and below each its id."""

    DEFAULT_CSS = """
    Tokens { height: 1fr; }
    """

    view: EncodedView | None = None
    mode: GlyphMode = "text"
    last_id: int | None = None

    def show(self, view: EncodedView, mode: GlyphMode, last_id: int | None) -> None:
        """Take what has been encoded; `last_id` is the token that the last step made."""
        self.view, self.mode, self.last_id = view, mode, last_id
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Pairs of lines; where they run out, how many tokens are not shown."""
        view = self.view
        if view is None:
            return ()
        if view.error is not None:
            return ((("  ", ""), (safe(view.error, limit=300), "error")),)
        lines = lay_out_tokens(view.tokens, width - 2, height, self.mode, self.last_id)
        losses: list[Cell] = []
        if view.lost:
            back = runs(view.back, mode=self.mode, limit=max(1, width)) or (("nothing", "muted"),)
            losses = [(("  decoding gives back ", "muted"), *back)]
        losses += [(("  ", ""), (safe(loss, limit=200), "warning")) for loss in view.lost]
        return [*lines, *(ui_text.clip(loss, max(0, width - 2)) for loss in losses[: max(0, height - len(lines))])]


def lay_out_tokens(
    tokens: Sequence[EncodedToken], width: int, height: int, mode: GlyphMode, last_id: int | None = None
) -> list[Cell]:
    """Tokens over their ids, in pairs of lines of a width; the last pair ends with how many more there are."""
    lines: list[Cell] = []
    at = 0
    with_ids = height > 1
    while at < len(tokens) and len(lines) + (2 if with_ids else 1) <= max(1, height):
        last_pair = len(lines) + 2 * (2 if with_ids else 1) > max(1, height)
        upper: Cell = (("  ", ""),)
        lower: Cell = (("  ", ""),)
        used, begin = 0, at
        while at < len(tokens):
            text, number_below = _token_cells(tokens[at], mode, last_id)
            size = max(ui_text.width(text), ui_text.width(number_below))
            left = len(tokens) - at - 1
            # Room for what says how many are left, unless this is the last one.
            more = len(f" … +{number(left)} more") if last_pair and left else 0
            bar = 1 if at > begin else 0
            if used + bar + size + more > width:
                if at == begin and not (last_pair and left):
                    upper = (*upper, *ui_text.clip(text, width))
                    lower = (*lower, *ui_text.clip(number_below, width))
                    at += 1
                break
            separator: Cell = (("│" if bar else "", "frame"),)
            upper = (*upper, *separator, *text, *blank(size - ui_text.width(text)))
            lower = (*lower, *blank(bar), *number_below, *blank(size - ui_text.width(number_below)))
            used += bar + size
            at += 1
        if at < len(tokens) and last_pair:
            upper = (*upper, (f" … +{number(len(tokens) - at)} more", "muted"))
        lines.append(upper)
        if with_ids:
            lines.append(lower)
        if last_pair:
            break
    return lines


def _token_cells(token: EncodedToken, mode: GlyphMode, last_id: int | None) -> tuple[Cell, Cell]:
    if token.piece is None:
        # Not in the vocabulary: its text stands in its place.
        text: Cell = tuple((part, "warning") for part, _ in runs(token.text, mode=mode, limit=TOKEN_SHOWN))
    else:
        text = runs(token.piece, mode=mode, limit=TOKEN_SHOWN)
    if token.id is not None and token.id == last_id:
        text = tuple((part, "accent") for part, _ in text)
    return text, (("–" if token.id is None else str(token.id), "muted"),)


class EncodeBody(Vertical):
    """The line, its tally, and the tokens.

    Args:
        typed: What stands in the line at first.
    """

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.line = TypedLine()
        self.tally = Tally()
        self.tokens = Tokens()
        self._typed = typed

    def compose(self) -> ComposeResult:
        """The line at the top, the tokens below it."""
        with Horizontal(classes="typing"):
            yield Prompt()
            yield self.line
            yield self.tally
        yield self.tokens

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.line.value = self._typed[:TYPED_LIMIT]

    def show(self, view: EncodedView, mode: GlyphMode, last_id: int | None) -> None:
        """Take what has been encoded."""
        self.tally.show(view)
        self.tokens.show(view, mode, last_id)
