"""The encode pane: a line to type in, and what the tokenizer of this step makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.views import EncodedToken, EncodedView
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines, blank
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.keys import Acting, Action
from tokentui.ui.panes.tables import TOKEN_SHOWN
from tokentui.ui.typed import Field, lines_of

TYPED_LIMIT = 20_000
"""The most characters that the line takes: what is typed is encoded at every step."""


class TypedLine(Acting, Field):
    """The line to type in."""

    ACTIONS = (Action(("ctrl+u",), "", lambda it: it.clear()),)

    def __init__(self) -> None:
        super().__init__(placeholder="type text to see it encoded", select=False, most=TYPED_LIMIT)

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste with all its lines, or as much of it as there is room for, and say so."""
        event.stop()
        event.prevent_default()
        text = lines_of(event.text)
        start, end = sorted(self.selection)
        room = TYPED_LIMIT - len(self.value) + end - start
        self.replace(text[:room], start, end)
        if len(text) > room:
            taken = f"{number(room)} of {number(len(text))} characters are taken"
            what = f"{taken}: the line holds {number(TYPED_LIMIT)}"
            self.app.notify(what, severity="warning", markup=False)


def tally(view: EncodedView, width: int) -> Sequence[Cell]:
    """`6 tokens · 23 B · 3.83 B/token · lossy`, or as much of it as there is room for."""
    if not view.text or view.error:
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


def tokens(view: EncodedView, mode: GlyphMode, last_id: int | None, width: int,
        height: int) -> Sequence[Cell]:
    """The tokens over their ids, and what is lost; `last_id` is the token that the last step made."""
    if view.error is not None:
        return ((("  ", ""), (safe(view.error, limit=300), "error")),)
    lines = lay_out_tokens(view.tokens, width - 2, height, mode, last_id)
    losses: list[Cell] = []
    if view.lost:
        back = runs(view.back, mode=mode, limit=max(1, width)) or (("nothing", "muted"),)
        losses = [(("  decoding gives back ", "muted"), *back)]
    losses += [(("  ", ""), (safe(loss, limit=200), "warning")) for loss in view.lost]
    return [*lines, *(ui_text.clip(loss, max(0, width - 2))
        for loss in losses[: max(0, height - len(lines))])]


def lay_out_tokens(
    found: Sequence[EncodedToken], width: int, height: int, mode: GlyphMode, last_id: int | None = None
) -> list[Cell]:
    """Tokens over their ids, in pairs of lines of a width; the last pair ends with the number of the rest."""
    lines: list[Cell] = []
    at = 0
    with_ids = height > 1
    while at < len(found) and len(lines) + (2 if with_ids else 1) <= max(1, height):
        last_pair = len(lines) + 2 * (2 if with_ids else 1) > max(1, height)
        upper: Cell = (("  ", ""),)
        lower: Cell = (("  ", ""),)
        used, begin = 0, at
        while at < len(found):
            text, number_below = _token_cells(found[at], mode, last_id)
            size = max(ui_text.width(text), ui_text.width(number_below))
            left = len(found) - at - 1
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
        if at < len(found) and last_pair:
            upper = (*upper, (f" … +{number(len(found) - at)} more", "muted"))
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


def sign() -> Lines:
    """The sign in front of the line."""
    return Lines(lambda width, height: [(("> ", "accent"),)], classes="sign")


class EncodeBody(Vertical):
    """The line, its tally, and the tokens.

    Args:
        typed: The initial text of the line.
    """

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.line = TypedLine()
        self.tally, self.tokens = Lines(classes="tally"), Lines(classes="tokens")
        self._typed = typed

    def compose(self) -> ComposeResult:
        """The line at the top, the tokens below it."""
        yield Horizontal(sign(), self.line, self.tally, classes="typing")
        yield self.tokens

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.line.value = self._typed[:TYPED_LIMIT]

    def show(self, view: EncodedView, mode: GlyphMode, last_id: int | None) -> None:
        """Take what has been encoded."""
        self.tally.show(lambda width, _: tally(view, width), view)
        self.tokens.show(
            lambda width, height: tokens(view, mode, last_id, width, height), view, mode, last_id
        )
