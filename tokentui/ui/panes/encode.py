"""The encode pane: a line to type in, and what the tokenizer of this step makes of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from tokentui.axes import AXES
from tokentui.core.safetext import GlyphMode, is_safe, safe
from tokentui.core.table import plural
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot, EncodedView, documents_of
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.chips import ChipLook, fill_row, no_room
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines, flow
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.field import TYPED_LIMIT, TypedLine
from tokentui.ui.panes.pane import LinkedPane, Pane

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken


_SAMPLE_CHARS, _SAMPLE_WORDS = 24, 5
"""The maximum number of characters and words of a text that the program chooses to be typed."""
_COUNTED_TOKENS = 1_000
"""The maximum number of tokens whose pages are counted while the first page is visible: 2,000 tokens take 10
ms a step."""
_ALL_LINES = 100_000
"""More lines than what is typed takes."""


class TypedPane(Vertical, Pane):
    """A line to type in, with the tokens of its text below.

    Args:
        typed: The initial text of the line.
        facts: The facts at the right of the line.
        below: The tokens.
    """

    def __init__(self, typed: str, facts: Lines, below: Widget) -> None:
        super().__init__()
        self.line, self._typed = TypedLine(), typed
        self.offered = typed
        """The text as the program chose it, which typing replaces; the user's own text is added to."""
        self._facts, self._below = facts, below

    class CursorMoved(Message):
        """The cursor of the line moved."""

    def compose(self) -> ComposeResult:
        """Yield the input line, and the tokens below it."""
        sign = Lines(lambda width, height: [(("> ", "key"),)], classes="sign")
        yield Horizontal(sign, self.line, self._facts, classes="typing")
        yield self._below

    def on_mount(self) -> None:
        """Put the initial text into the line, and watch its cursor."""
        self.line.value = self._typed[:TYPED_LIMIT]
        self.watch(self.line, "selection", self.cursor_moved, init=False)

    def cursor_moved(self) -> None:
        """Post `CursorMoved`."""
        self.post_message(self.CursorMoved())

    @property
    def text(self) -> str:
        """The text of the line; before the pane is mounted, its initial text."""
        return self.line.value if self.is_mounted else self._typed[:TYPED_LIMIT]

    def begin_typing(self) -> None:
        """Select the text, so that typing replaces it."""
        self.line.select_all()

    @property
    def place(self) -> int:
        """The index of a character in the word at the cursor: of the word that ends there, or else starts
        there. After trailing white space it is the last character before that; 0 for an empty line."""
        text, at = self.line.value, self.line.cursor_position
        before = text[:at]
        if at >= len(text):
            before = before.rstrip() or before
        elif before[-1:].isspace() and not text[at].isspace():
            return at
        return max(0, len(before) - 1)


class EncodePane(TypedPane, LinkedPane):
    """The line, its tally, and the tokens.

    Args:
        typed: The initial text of the line.
        turned: Called when the page, or the number of pages, changes.
    """

    @dataclass
    class Clicked(Message):
        """A token was clicked.

        Attributes:
            at: The index of a character in its word.
            again: True if the cursor of the line was there already.
        """

        at: int
        again: bool

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "screen.chat", "chat", id="chat", group=Hint(rank=4, typing=True),
            tooltip="Render the typed text, or a file of messages, with the chat template of the opened "
            "tokenizer"),
        Binding("pagedown", "turn_page(1)", "more", id="tokens_on", group=Hint(rank=26, typing=True),
            tooltip="Show the next page of tokens, and the decoded text after the last one"),
        Binding("pageup", "turn_page(-1)", "previous", id="tokens_back",
            tooltip="Show the previous page of tokens"),
    ]

    @property
    def states(self) -> Sequence[str]:
        """The page of tokens, the number of pages, and the key for another one; empty for a single page. The
        first page may show the tokens about the cursor, the last ones what is lost."""
        if not self._last_page:
            return ()
        pages, key = number(self._last_page + 1), "pgdn" if self._page < self._last_page else "pgup"
        if key == "pgdn" and self._shown.lost:
            key += ": what is lost comes last"
        if self._inside:
            return (f"at the cursor, {pages} pages ({key})",)
        return (f"page {number(self._page + 1)} of {pages} ({key})",)

    def __init__(self, typed: str, turned: Callable[[], object] = lambda: None) -> None:
        self._turned = turned
        self._shown = EncodedView()
        self._last: int | None = None
        self._mode: GlyphMode = "text"
        self._find = ""
        self._trained: object = None
        """The recipe and the file that the tokens are of."""
        self._page = 0
        """The page of tokens that is seen; at 0 they are those about the cursor."""
        self._last_page = 0
        """The last page; 0 if the first one shows everything, or if the rest is not counted yet."""
        self._inside = False
        """True if the first page is seen, and leaves out tokens before those at the cursor."""
        self._further_of: object = None
        """The values that the lines of the further pages were laid out for."""
        self._further_lines: list[Cell] = []
        self.tally = Lines(lambda width, _: tally(self._shown, width), classes="tally")
        self.tokens = Lines(self._tokens, classes="tokens")
        super().__init__(typed, self.tally, self.tokens)

    def on_resize(self) -> None:
        """Lay out for the new size. Keep the page if it still exists."""
        self.mark_again()

    def cursor_moved(self) -> None:
        """Show the tokens at the cursor of the line, on the first page."""
        self._show_page(0)
        if self.line.has_focus:
            self.tokens.again()
        super().cursor_moved()

    def action_turn_page(self, by: int) -> None:
        """Show the page `by` pages further, of tokens or of what is lost; show a message if there is none."""
        before = self._page
        self._show_page(self._page + by)
        if self._page == before:
            which = "this is the last page" if by > 0 else "this is the first page"
            self.app.say(f"{which} of the tokens" if self._last_page else "all tokens are on this page")
        self.tokens.again()

    def _show_page(self, page: int) -> None:
        """Set the page, limited to the last one, and call `turned` if the pages change. Does not draw."""
        before = self._page, self._last_page, self._inside
        counted = page > 0 or len(self._shown.tokens) <= _COUNTED_TOKENS
        lines = len(self._further()) if counted else 0
        self._last_page = -(-lines // page_lines(self.tokens.size.height))
        self._page = max(0, min(page, self._last_page))
        self._inside = not self._page and self._last_page > 0 and self._begins_inside
        if (self._page, self._last_page, self._inside) != before:
            self._turned()

    def _further(self) -> list[Cell]:
        """Return the lines of the pages after the first, cached until something changes."""
        size = self.tokens.size
        chips = self.app.chips
        state = self._shown, self._mode, self._last, size, self._find, chips, self.linked
        if state != self._further_of:
            lines = []
            if size.height:
                lines = further(self._shown, self._mode, self._last, *size, self._find, chips, self.linked)
            self._further_of, self._further_lines = state, lines
        return self._further_lines

    def _tokens(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines of the present page for a size."""
        if self._page:
            first = (self._page - 1) * page_lines(height)
            return self._further()[first : first + page_lines(height)]
        return tokens(self._shown, self._mode, self._last, width, height, self._find, self._at,
            self.app.chips, self.linked)

    @property
    def _begins_inside(self) -> bool:
        """True if the first page leaves out tokens before those at the cursor."""
        width, height = self.tokens.size
        if not self._at or not width:
            return False
        places = lay_out(
            self._shown, self._mode, self._last, width, height, self._at, self.app.chips).places
        return bool(places and places[0][3])

    @property
    def _at(self) -> int:
        """The index of the character that has to be visible: that at the cursor while the line has the focus,
        otherwise 0."""
        return self.line.cursor_position if self.line.has_focus else 0

    def watch_linked(self) -> None:
        """Mark the token wherever it is seen."""
        self.tokens.again()

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token at the cursor of the line; empty at the end of the text, and until the
        text is encoded."""
        at = self.line.cursor_position
        found = next((token for token in self._shown.tokens if token.start <= at < token.end), None)
        return found.piece or b"" if found is not None and self._shown.text == self.line.value else b""

    def token_there(self, x: int, y: int) -> EncodedToken | None:
        """Return the token at a column and a line of the present page; None if there is none."""
        width, height = self.tokens.size
        laid = lay_out(self._shown, self._mode, self._last, width, height, self._at, self.app.chips)
        first = 0
        if self._page:
            first = (self._page - 1) * page_lines(height)
            laid = rest_of(self._shown, self._mode, self._last, width, height, self.app.chips)
        for line, left, right, index in laid.places:
            if left <= x < right and y + first - line in (0, int(height > 1)):
                return self._shown.tokens[index]
        return None

    def on_click(self, event: Click) -> None:
        """Post `Clicked` for a click on a token; do nothing beside tokens, and until the text of the line is
        encoded."""
        place = event.get_content_offset(self.tokens)
        token = self.token_there(*place) if place is not None else None
        if token is None or self._shown.text != self.line.value:
            return
        event.stop()
        blank = token.end - token.start > 1 and self.line.value[token.start].isspace()
        at = token.start + blank  # behind a blank: the word at the cursor is the one that is clicked
        there = self.line.has_focus and self.line.cursor_position == at and self.line.selection.is_empty
        self.post_message(self.Clicked(at, there))

    def mark_again(self) -> None:
        """Draw the tokens with other marks, which may change the pages."""
        self._show_page(self._page)
        self.tokens.again()

    def mark(self, text: str) -> None:
        """Highlight a text in the typed text; nothing for an empty one."""
        self._find = text
        self.tokens.again()

    def sections(self, snapshot: Snapshot) -> object:
        """Return the encoding, the newest token, and whether a corpus is being opened."""
        main = snapshot.main
        return main.encoding, main.at.last_id, snapshot.corpus.nothing_open, snapshot.busy

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Show the encoding, from its first page for another recipe or file; keep the last one while a corpus
        is being opened."""
        if not snapshot.corpus.nothing_open or snapshot.busy is None:
            # Another recipe or file cuts the text anew: its first page is shown.
            main = snapshot.main
            trained = main.recipe, main.path
            page, self._trained = self._page if trained == self._trained else 0, trained
            self._shown, self._last, self._mode = main.encoding, main.at.last_id, self.mode
            self._show_page(page)
            self.tally.again()
            self.tokens.again()


def first_words(column: ColumnSnapshot) -> str:
    """Return the first words of the corpus that fit into a short line; empty if none do."""
    recipe = column.recipe
    mark = recipe.mark_text if AXES["mark"].of(recipe.mark).ends_word else ""  # a sign, and no text
    documents = documents_of(column.corpus.parts[:99])
    texts = ["".join([part.text.removesuffix(mark) for part in document]) for document in documents]
    blank = "▁" if AXES["split"].of(recipe.split).marks_spaces else " "
    words = " ".join(texts).replace(blank, " ").split()
    starts = [" ".join(words[:count]) for count in range(1, _SAMPLE_WORDS + 1)]
    return next((start for start in starts[::-1] if is_safe(start) and len(start) <= _SAMPLE_CHARS), "")


def tally(view: EncodedView, width: int) -> Sequence[Cell]:
    """Return the right-aligned line `6 tokens · 23 B · 3.83 B/token · lossy`; the last facts are left out if
    they do not fit. Nothing without a text, and after an error."""
    if not view.text or view.error:
        return ()
    count = len(view.tokens)
    facts = [plural(count, "token"), f"{number(view.bytes)} B"]
    if count:
        facts.append(f"{view.bytes / count:.2f} B/token")
    lossy = " · lossy" if view.lost else ""
    while len(facts) > 1 and len(" · ".join(facts)) + len(lossy) > width:
        facts.pop()
    tally_line: Cell = (
        (facts[0], "strong"), ("".join(f" · {fact}" for fact in facts[1:]), "muted"), (lossy, "warning"),
    )
    return (((" " * (width - ui_text.width(tally_line)), ""), *tally_line),)


def tokens(view: EncodedView, mode: GlyphMode, last_id: int | None, width: int,
        height: int, find: str = "", at: int = 0, chips: bool = False, linked: bytes = b"") -> Sequence[Cell]:
    """Return the lines of the first page: the tokens over their ids, and what is lost; after an error, its
    message.

    Args:
        view: The encoding.
        mode: The way tokens are shown.
        last_id: The id of the token that the last step made.
        width: The columns of a line.
        height: The maximum number of lines.
        find: A text to mark; empty for none.
        at: The index of the character that has to be visible if not all tokens fit.
        chips: True to show tokens as chips.
        linked: The exact bytes of the token that is bold; empty for none.
    """
    if view.error is not None:
        return ((("  ", ""), (safe(view.error, limit=300), "error")),)
    lines = lay_out(view, mode, last_id, width, height, at, chips, find, linked).lines
    return [*lines, *_loss_lines(view, mode, width, height - len(lines))]


def lay_out(
    view: EncodedView, mode: GlyphMode, last_id: int | None, width: int, height: int, at: int, chips: bool,
    find: str = "", linked: bytes = b"",
) -> Laid:
    """Return the tokens of the first page; see `tokens`."""
    room = height - reserved_lines(view, height)
    return laid_tokens(view.tokens, width - 2, room, mode, last_id, matches(view.text, find), view.ages, at,
        chips and not view.ages, linked)


def reserved_lines(view: EncodedView, height: int) -> int:
    """Return the number of lines reserved for the decoded text of a lossy encoding.

    It is 0 if nothing is lost, and for a height of two lines, which the tokens and their ids take: the
    decoded text is then on the next page.
    """
    return min(2, height - 2) if view.lost and height > 2 else 0


def page_lines(height: int) -> int:
    """Return the number of lines of a further page: even, so that tokens stay above their ids, and at least
    2."""
    return max(2, height - height % 2)


def rest_of(
    view: EncodedView, mode: GlyphMode, last_id: int | None, width: int, height: int, chips: bool,
    find: str = "", linked: bytes = b"",
) -> Laid:
    """Return the tokens of the pages after the first. If the first page has no room for ids, they start with
    the first token."""
    room, marked = height - reserved_lines(view, height), matches(view.text, find)
    chips = chips and not view.ages

    def laid(at: int, lines: int) -> Laid:
        return _lay_out(
            view.tokens, at, width - 2, lines, mode, last_id, marked, view.ages, chips, linked)

    end = laid(0, room).end if room > 1 else 0
    return laid(end, _ALL_LINES) if end < len(view.tokens) else Laid([], end, [])


def further(
    view: EncodedView, mode: GlyphMode, last_id: int | None, width: int, height: int, find: str,
    chips: bool = False, linked: bytes = b"",
) -> list[Cell]:
    """Return the lines of the pages after the first: the remaining tokens over their ids, then the decoded
    text unless the first page shows all of it."""
    rest = rest_of(view, mode, last_id, width, height, chips, find, linked).lines
    lost = _loss_lines(view, mode, width, _ALL_LINES)
    if not rest and height - reserved_lines(view, height) > 1:
        shown = tokens(view, mode, last_id, width, height, find, chips=chips)
        lost = [] if shown[len(shown) - len(lost) :] == lost else lost
    return [*rest, *lost]


def _loss_lines(view: EncodedView, mode: GlyphMode, width: int, height: int) -> list[Cell]:
    """Return the lines of the decoded text and why it differs from the typed one; none if nothing is lost."""
    if not view.lost or height < 1:
        return []
    back = runs(view.back, mode=mode, limit=max(1, width)) or (("nothing", "muted"),)
    losses = [(("decoding gives back ", "muted"), *back)]
    losses += [((safe(loss, limit=200), "warning"),) for loss in view.lost]
    loss_lines = flow([(" · ", loss) for loss in losses], width - 2, height)
    return [((" ", ""), *line) for line in loss_lines]


def matches(text: str, find: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each match of a text in another, overlapping ones included."""
    starts = [at for at in range(len(text)) if text.startswith(find, at)] if find else []
    return [(at, at + len(find)) for at in starts]


class Laid(NamedTuple):
    """Tokens, laid out in lines.

    Attributes:
        lines: The lines.
        end: The index of the first token that did not fit.
        places: For each token its upper line, its first column, the column after it, and its index.
    """

    lines: list[Cell]
    end: int
    places: list[tuple[int, int, int, int]]


def laid_tokens(
    tokens: Sequence[EncodedToken], width: int, height: int, mode: GlyphMode, last_id: int | None = None,
    matched: Sequence[tuple[int, int]] = (), ages: Sequence[int] = (), seen: int = 0,
    chips: bool = False, linked: bytes = b"",
) -> Laid:
    """Return tokens over their ids, in pairs of lines; the last pair ends with the number of tokens that are
    left.

    If not all fit, they start with the first one, or before the token at the character `seen`; then the first
    line has the number of tokens left out.
    """
    laid = _lay_out(tokens, 0, width, height, mode, last_id, matched, ages, chips, linked)
    end = laid.end
    if seen and end < len(tokens):
        begin = max(0, bisect_left(tokens, seen, key=attrgetter("start")) - 1)
        if begin >= end:
            half = max(1, end // 2)  # the first moves by halves of a page: typing shifts it seldom
            first = max(1, (begin // half - 1) * half)
            laid = _lay_out(tokens, first, width, height, mode, last_id, matched, ages, chips, linked)
            if begin >= laid.end:
                laid = _lay_out(tokens, begin, width, height, mode, last_id, matched, ages, chips, linked)
    return laid


def _lay_out(
    tokens: Sequence[EncodedToken], at: int, width: int, height: int, mode: GlyphMode, last_id: int | None,
    matched: Sequence[tuple[int, int]], ages: Sequence[int], chips: bool, linked: bytes,
) -> Laid:
    """Return tokens laid out from the index `at` on; see `laid_tokens`.

    Args:
        tokens: The tokens.
        at: The index of the first token.
        width: The columns of a line.
        height: The maximum number of lines.
        mode: The way tokens are shown.
        last_id: The id of the token that the last step made.
        matched: Ranges of characters of the text to mark.
        ages: The step that made each token; empty to draw tokens without the color of their age.
        chips: True to show tokens as chips, over their ids on the same ground; otherwise with bars between
            them.
        linked: The exact bytes of the token that is bold; empty for none.
    """
    lines: list[Cell] = []
    places: list[tuple[int, int, int, int]] = []
    before = f"+{number(at)} … " if at else ""
    with_ids = height > 1
    look = ChipLook(mode, chips, last_id, matched, ages, linked=linked, with_ids=with_ids)
    tint: int | None = None
    while at < len(tokens) and len(lines) + (2 if with_ids else 1) <= max(1, height):
        last_pair = len(lines) + 2 * (2 if with_ids else 1) > max(1, height)
        # Room for what says how many are left, unless this is the last one.
        row = fill_row(tokens, at, width, look, tint, len(before), _room_for_more if last_pair else no_room)
        at, tint = row.end, row.tint
        upper: Cell = (("  ", ""), (before, "muted"), *row.upper)
        lower: Cell = (("  ", ""), (" " * len(before), ""), *row.lower)
        before = ""
        places += [
            (len(lines), 2 + start, 2 + end, row.first + n)
            for n, (start, end) in enumerate(zip(row.columns, row.ends, strict=True))
        ]
        if at < len(tokens) and last_pair:
            upper = (*upper, (_more(len(tokens) - at), "muted"))
        lines.append(upper)
        if with_ids:
            lines.append(lower)
        if last_pair:
            break
    return Laid(lines, at, places)


def _more(left: int) -> str:
    return f" … +{number(left)} more"


def _room_for_more(left: int) -> int:
    """Return the columns of the note on how many tokens are left; 0 for none."""
    return len(_more(left)) if left else 0
