"""The encode pane: a line to type in, and what the tokenizer of this step makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.table import plural
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import EncodedView
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.panes.tables import TOKEN_SHOWN
from tokentui.ui.typed import TYPED_LIMIT, TypedLine

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken


class TypedPane(Vertical):
    """A line to type in, and the tokens of the text below it.

    Args:
        typed: The initial text of the line.
        facts: What stands at the side of the line.
        below: The tokens.
    """

    def __init__(self, typed: str, facts: Lines, below: Widget) -> None:
        super().__init__()
        self.line, self._typed = TypedLine(), typed
        self._facts, self._below = facts, below

    def compose(self) -> ComposeResult:
        """The line at the top, the tokens below it."""
        sign = Lines(lambda width, height: [(("> ", "key"),)], classes="sign")
        yield Horizontal(sign, self.line, self._facts, classes="typing")
        yield self._below

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.line.value = self._typed[:TYPED_LIMIT]


class EncodeBody(TypedPane):
    """The line, its tally, and the tokens.

    Args:
        typed: The initial text of the line.
    """

    of = attrgetter("main.encoding", "main.at.last_id", "corpus.nothing", "busy")
    note: Cell = ()

    def __init__(self, typed: str) -> None:
        self._shown = EncodedView()
        self._last: int | None = None
        self._mode: GlyphMode = "text"
        self.tally = Lines(lambda width, _: tally(self._shown, width), classes="tally")
        self.tokens = Lines(
            lambda width, height: tokens(self._shown, self._mode, self._last, width, height), classes="tokens"
        )
        super().__init__(typed, self.tally, self.tokens)

    def present(self, now: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show the encoding; see `Body.present`."""
        if not now.corpus.nothing or now.busy is None:
            self._shown, self._last, self._mode = now.main.encoding, now.main.at.last_id, mode
            self.tally.again()
            self.tokens.again()


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
    return (((" " * (width - ui_text.width(said)), ""), *said),)


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
    shown = losses[: max(0, height - len(lines))]
    return [*lines, *(ui_text.clip(loss, max(0, width - 2)) for loss in shown)]


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
            token = found[at]
            data = token.text if token.piece is None else token.piece
            text = runs(data, mode=mode, limit=TOKEN_SHOWN)
            made = token.id is not None and token.id == last_id
            if made or token.piece is None:
                # Of a token that is not in the vocabulary the text stands in its place.
                text = tuple([(part, "accent" if made else "warning") for part, _ in text])
            identity = "–" if token.id is None else str(token.id)
            size = max(ui_text.width(text), len(identity))
            left = len(found) - at - 1
            # Room for what says how many are left, unless this is the last one.
            more = len(f" … +{number(left)} more") if last_pair and left else 0
            bar = 1 if at > begin else 0
            if used + bar + size + more > width:
                if at == begin and not (last_pair and left):
                    upper = (*upper, *ui_text.clip(text, width))
                    lower = (*lower, *ui_text.clip(((identity, "muted"),), width))
                    at += 1
                break
            upper = (*upper, ("│" * bar, "frame"), *text, (" " * (size - ui_text.width(text)), ""))
            lower = (*lower, (" " * bar, ""), (identity.ljust(size), "muted"))
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
