"""The encode pane of Compare: encodings of one text, a row for each column.

Each row has its own tokens and nothing else: a blank would be read as text, and a column left free for a
boundary of another row as a boundary of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from tokentui.analyze.align import DROPPED, Alignment
from tokentui.analyze.align import Cell as AlignedCell
from tokentui.analyze.compare import PAIR_MEASURES, Disagreement, PairAgreement, agreement_shown
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.core.tints import tints
from tokentui.session.snapshot import Aligned, Snapshot
from tokentui.session.views import LETTERS, ColumnSnapshot, Passage
from tokentui.ui.bindings import FAR, Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, cell_len, cut, emboldened
from tokentui.ui.panes.compare.columns import letter
from tokentui.ui.panes.encode import TypedPane
from tokentui.ui.panes.pane import LinkedPane

REFUSAL_SHOWN = 300
_MARGIN = 3
_BELOW = 2
"""The lines below the rows."""
_LEGEND = "underlined: the columns segment it differently"
_STRIDE = 8
"""The number of characters that one key scrolls."""
_NOTHING = Alignment("", 0, (), (), (), ())


class Flow(NamedTuple):
    """A part of a row, in lines.

    Attributes:
        lines: The lines.
        end: The index after the last character that is shown.
    """

    lines: list[Cell]
    end: int


def row_lines(alignment: Alignment, row: int, at: int, width: int, height: int, chips: bool,
        fresh: frozenset[int] = frozenset(), here: Disagreement | None = None,
        linked: frozenset[int] = frozenset()) -> Flow:
    """Return the tokens of a row in lines, from the one at a character on, with differences underlined.

    Args:
        alignment: The rows.
        row: The index of the row.
        at: The index of the character.
        width: The columns of a line.
        height: The maximum number of lines.
        chips: True to show tokens as chips; otherwise with bars between them.
        fresh: The indexes of the tokens of the row that the last step made.
        here: The disagreement under the cursor; None for none.
        linked: The indexes of the tokens of the row that are bold.
    """
    cells = alignment.rows[row]
    first = bisect_right(cells, at, key=lambda cell: cell.end)
    grounds = tints([cell.start for cell in cells]) if chips else [0] * len(cells)
    lines: list[Cell] = [()]
    used, end, height = 0, at, max(1, height)
    for cell, tint in zip(cells[first:], grounds[first:], strict=True):
        text = cut(cell.text.replace(" ", ""), width)  # its blanks keep columns for other rows
        bar = "" if chips or not lines[-1] else "┊" if cell.place else "│"
        if used + len(bar) + cell_len(text) > width:
            if len(lines) == height:
                break
            lines.append(())
            used, bar = 0, ""
        style = _style(alignment, cell, cell.token in fresh, f"tint-{tint}" if chips else "", here)
        shown: Cell = ((text, style),)
        lines[-1] = (*lines[-1], (bar, "frame"), *(emboldened(shown) if cell.token in linked else shown))
        used += len(bar) + cell_len(text)
        end = cell.end
    return Flow(lines, end)


def _style(alignment: Alignment, cell: AlignedCell, fresh: bool, tint: str, here: Disagreement | None) -> str:
    """Return the style of a token: its tint, or a state that replaces it, and its marks."""
    names = [tint] if tint else []
    if cell.token == DROPPED or cell.unknown:
        names = ["dropped" if cell.token == DROPPED else "warning"]
    elif fresh:
        names = ["fresh" if tint else "accent"]
    parting = alignment.before(cell.end)
    if parting is not None and parting.end > cell.start:
        names.append("partial-here")
    if here is not None and cell.start < here.end and cell.end > here.start:
        names.append("cursor")
    return "+".join(names)


class AlignedRows(Lines, LinkedPane, can_focus=True):
    """The rows, and how far two of them agree."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.inspect_typed", "why", id="inspect_aligned", group=Hint(rank=5),
            tooltip="Show how this column encodes the word at the cursor, and why it is not a single token"),
        Binding("left,h", "sideways(-1)", "scroll", id="aligned_left", group=Hint(rank=4),
            tooltip="Scroll left"),
        Binding("right,l", "sideways(1)", "next scroll", id="aligned_right",
            tooltip="Scroll right"),
        Binding("home", f"sideways({-FAR})", "first", id="aligned_first",
            tooltip="Go to the beginning of the text"),
        Binding("end", f"sideways({FAR})", "last", id="aligned_last",
            tooltip="Go to the end of the text"),
    ]

    DEFAULT_CSS = """
    AlignedRows { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.aligned, self.alignment = Aligned(), _NOTHING
        self.columns: tuple[ColumnSnapshot, ...] = ()
        self.pair: tuple[int, int] | None = None
        self.left = 0
        """The index of the first visible character."""
        self.here: int | None = None
        """The character that the disagreement begins with that is looked at."""
        self._awaited: tuple[Passage, bool] | None = None

    def watch_linked(self) -> None:
        """Make the token bold in all rows."""
        self.again()

    def token_at(self, column: int, at: int) -> bytes:
        """Return the exact bytes of the token at a character, in the column with a key; empty for none."""
        aligned = self.aligned
        tokens = aligned.tokens[aligned.keys.index(column)] if column in aligned.keys else ()
        return next((token.piece or b"" for token in tokens if token.start <= at < token.end), b"")

    def set_encodings(self, aligned: Aligned, columns: tuple[ColumnSnapshot, ...],
            pair: tuple[int, int] | None) -> None:
        """Show other encodings. For another text, scroll to its start; go to a disagreement that
        `await_passage` waits for.

        Args:
            aligned: The encodings of the text by each column.
            columns: The columns of Compare.
            pair: The keys of the two columns whose agreement is shown.
        """
        if (self.aligned.text, self.aligned.passage) != (aligned.text, aligned.passage):
            self.left, self.here = 0, None
        self.aligned, self.alignment = aligned, aligned.alignment or _NOTHING
        self.columns, self.pair = columns, pair
        self.scroll(self.left)
        if self._awaited is not None and self._awaited[0] == aligned.passage:
            backward, self._awaited = self._awaited[1], None
            self.go_round(backward)

    # What is looked at.

    def go_on(self, backward: bool) -> bool:
        """Go to the next disagreement, or the previous one, and scroll to it. Return False if there is none.
        """
        alignment = self.alignment
        if backward:
            parting = alignment.before(len(alignment.text) if self.here is None else self.here)
        else:
            parting = alignment.after(-1 if self.here is None else self.here)
        if parting is None:
            return False
        self.here = parting.start
        seen = min([self._flow(row, self.left).end for row in range(len(alignment.rows))], default=0)
        if parting.start < self.left or parting.end > seen:
            self.scroll(parting.start - self._room // 4)
        else:
            self.again()
        return True

    def go_round(self, backward: bool) -> None:
        """Go to the first disagreement of the text, or to the last if `backward`."""
        self.here = None
        self.go_on(backward)

    def await_passage(self, passage: Passage, backward: bool) -> None:
        """Go to the first disagreement of a passage, or to the last if `backward`, now or when it is shown.
        """
        if self.aligned.passage == passage:
            self.go_round(backward)
        else:
            self._awaited = passage, backward

    def scroll(self, left: int) -> None:
        """Make a character the first visible one, within the limits."""
        self.left = max(0, min(left, self._last()))
        self.again()

    def _last(self) -> int:
        """Return the index of the last character to scroll to, from which each row shows its end."""
        last, room = 0, self._room * self._lines
        for row in self.alignment.rows:
            used, first = 0, 0
            for cell in reversed(row):
                used += cell_len(cell.text.replace(" ", "")) + 1
                if used > room:
                    first = cell.end
                    break
            last = max(last, first)
        return last

    def action_sideways(self, by: int) -> None:
        """Scroll by `_STRIDE` characters, times `by`."""
        self.scroll(self.left + by * _STRIDE)

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.scroll(self.left)

    # What is seen.

    @property
    def _tail(self) -> int:
        """The columns of the token counts at the right."""
        return len(plural(max([2, *map(len, self.aligned.tokens)]), "token")) + 2

    @property
    def _room(self) -> int:
        return max(2, self.size.width - _MARGIN - self._tail - 1)

    @property
    def _lines(self) -> int:
        """The number of lines of each row."""
        return max(1, (self.size.height - _BELOW) // max(1, len(self.columns)))

    def _flow(self, row: int, at: int, fresh: frozenset[int] = frozenset(),
            here: Disagreement | None = None, linked: frozenset[int] = frozenset()) -> Flow:
        chips = self.app.chips
        return row_lines(self.alignment, row, at, self._room, self._lines, chips, fresh, here, linked)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the rows of all columns, what underlines mean, and the agreement of the pair. A column that
        refuses the text shows why."""
        aligned, alignment, room = self.aligned, self.alignment, self._room
        refused = dict(aligned.refused)
        here = next((parting for parting in alignment.partings if parting.start == self.here), None)
        flows: dict[int, Flow] = {}
        for row, (key, tokens) in enumerate(zip(aligned.keys, aligned.tokens, strict=True)):
            last = next((column.at.last_id for column in self.columns if column.key == key), None)
            fresh = frozenset(n for n, token in enumerate(tokens) if last is not None and token.id == last)
            linked = frozenset(n for n, token in enumerate(tokens) if token.piece == self.linked != b"")
            flows[key] = self._flow(row, self.left, fresh, here, linked)
        most = max([len(flow.lines) for flow in flows.values()], default=1)
        lines: list[Cell] = []
        for place, column in enumerate(self.columns):
            head: Cell = ((" ", ""), letter(place), ("‹" if self.left else " ", "muted"))
            if column.key in flows:
                flow, count = flows[column.key], len(aligned.tokens[aligned.keys.index(column.key)])
                more = "›" if flow.end < len(alignment.text) else " "
                for n in range(most):
                    line = flow.lines[n] if n < len(flow.lines) else ()
                    begin = (("   ", ""),) if n else head
                    tail: Cell = ((plural(count, "token").rjust(self._tail - 1), "strong"),) if not n else ()
                    edge = (more if n == most - 1 else " ", "muted")
                    lines.append((*begin, *line, (" " * (room - ui_text.width(line)), ""), edge, *tail))
            elif column.key in refused:
                error: Cell = ((safe(refused[column.key], limit=REFUSAL_SHOWN), "error"),)
                lines.append((*head, *ui_text.clip(error, width - _MARGIN - 1)))
            else:
                lines.append((*head, ("–", "muted")))
        if len(aligned.keys) > 1:
            legend: Cell = ((_LEGEND, "muted"),) if alignment.partings else ()
            lines.append(((" " * _MARGIN, ""), *ui_text.clip(legend, width - _MARGIN - 1)))
            places = {column.key: place for place, column in enumerate(self.columns)}
            for pair in aligned.pairs:
                if (pair.a, pair.b) == self.pair:
                    sizes = dict(zip(aligned.keys, map(len, aligned.tokens), strict=True))
                    counts = agreement_cell(pair, places.get(pair.a, 0), places.get(pair.b, 0), width - 2,
                        sizes.get(pair.a, 0) - sizes.get(pair.b, 0))
                    lines.append(ui_text.clip(((" ", ""), *counts), width - 1))
        return lines


def agreement_cell(pair: PairAgreement, a: int, b: int, room: int, more: int = 0) -> Cell:
    """Return `A·B  boundaries: 3 shared, 1 in A only, 3 in B only · word agreement 0.5000 · …`, with as many
    facts as fit.

    Args:
        pair: Two columns and how far they agree.
        a: The index of the first.
        b: The index of the second.
        room: The columns of the terminal.
        more: The number of tokens that the first has more than the second. If all boundaries are shared,
            these are tokens without text, such as a mark alone, and the line says so.
    """
    agreement = pair.agreement
    only = agreement.boundaries_a - agreement.shared, agreement.boundaries_b - agreement.shared
    out: Cell = (
        letter(a), ("·", "muted"), letter(b), ("  boundaries: ", "muted"),
        (number(agreement.shared), "strong"), (" shared, ", "muted"),
        (number(only[0]), ""), (f" in {LETTERS[a]} only, ", "muted"), (number(only[1]), ""),
        (f" in {LETTERS[b]} only", "muted"),
    )
    if more and only == (0, 0):
        owner = LETTERS[a if more > 0 else b]
        out = (*out, (f" · {plural(abs(more), 'token')} of {owner} without text, such as a mark ▁", ""))
    measures = (
        ((f" · {measure.title} ", "muted"), (agreement_shown(measure, agreement), ""))
        for measure in PAIR_MEASURES if measure.of(agreement) is not None
    )
    return ui_text.extended(out, measures, room)


def passage_line(passage: Passage | None, size: int) -> Sequence[Cell]:
    """Return the line of a passage, as in `corpus  document 1, character 12,345 · 64 bytes   E typed text`;
    nothing for the typed text."""
    if passage is None:
        return ()
    where = f"document {number(passage.document + 1)}, character {number(passage.start)}"
    return ((
        ("corpus  ", "strong"), (where, ""), (f" · {plural(size, 'byte')}   ", "muted"), ("E", "key"),
        (" typed text", "muted"),
    ),)


class CompareEncode(TypedPane):
    """The line to type in, or the line of a passage of the corpus, and the rows below.

    Args:
        typed: The initial text of the line.
    """

    def __init__(self, typed: str) -> None:
        self.passage, self.rows = Lines(), AlignedRows()
        self._typing = False
        super().__init__(typed, self.passage, self.rows)

    def on_mount(self) -> None:
        """Hide the line of the passage."""
        self.passage.display = False

    @property
    def note(self) -> Cell:
        """The number of disagreements, as in `7 differ`, or `2 of 7` at one of them; before it, how much of a
        long text is compared."""
        aligned, partings = self.rows.aligned, self.rows.alignment.partings
        notes: list[str] = []
        if aligned.left:
            shown = len(aligned.text)
            notes.append(f"first {number(shown)} of {number(shown + aligned.left)} characters")
        if len(aligned.keys) > 1:
            at = next(
                (number(n) for n, parting in enumerate(partings, 1) if parting.start == self.rows.here), ""
            )
            total = number(len(partings))
            count = f"{at.rjust(len(total))} of {total}" if at else plural(len(partings), "differs", "differ")
            notes.append(count)
        return ((" · ".join(notes), "muted"),) if notes else ()

    def sections(self, snapshot: Snapshot) -> object:
        """Return the encodings and the columns."""
        return snapshot.between.aligned, snapshot.columns

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the encodings."""
        aligned = now.between.aligned
        self.passage.show(lambda *_: passage_line(aligned.passage, aligned.bytes))
        self.rows.set_encodings(aligned, now.columns, self.pair)
        self.show_line(self._typing)

    def show_line(self, typing: bool) -> None:
        """Show the line to type in, or the line of the passage if there is one. While a text is typed it is
        the former: keys typed before the session has left the passage are text."""
        self._typing = typing
        self.line.display = typing or self.rows.aligned.passage is None
        self.passage.display = not self.line.display
