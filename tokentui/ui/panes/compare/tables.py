"""The panes of Compare between columns: where two part and what their vocabularies share, how far they agree
on the corpus, and the measures of all.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from tokentui.analyze.compare import PAIR_MEASURES, PairAgreement, agreement_shown
from tokentui.analyze.metrics import SYMBOLS
from tokentui.analyze.results import DivergenceSide
from tokentui.axes import AXES
from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.table import plural
from tokentui.learn.rows import Entry
from tokentui.recipe import Recipe
from tokentui.session.snapshot import Agreed, Measured, Snapshot, TokenInBoth
from tokentui.session.views import LETTERS, PARTS, AtStep, ColumnSnapshot, Found, TokenList, next_place
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.table import Column, Listing, TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run, runs
from tokentui.ui.guard import Guarded
from tokentui.ui.panes.column_tables import ColumnTable, candidates, match_cell, tokens
from tokentui.ui.panes.compare.columns import (
    COLUMN_SHOWN,
    at_words,
    choice_cell,
    divergence_cell,
    letter,
    of_pair,
    places_of,
    shared_cell,
)
from tokentui.ui.panes.pane import LinkedPane, Pane
from tokentui.ui.panes.why import busy_cell


class SideTable(ColumnTable):
    """The candidates that one column chose from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "go there", id="go_there", group=Hint(rank=5),
            tooltip="Go to just before the columns diverge"),
    ]

    def choose(self) -> None:
        """Post `Chosen` for any row, even without one: enter goes to the divergence."""
        self.post_message(self.Chosen(self, self.cursor, self.cursor_key))


def side_facts(place: int, column: ColumnSnapshot, side: DivergenceSide, mode: GlyphMode,
        width: int) -> Sequence[Cell]:
    """Return two lines on one side: `A gpt2 takes ·t+he 9,310` and `402,118 tokens · 384 ids · 4 tie:
    first-seen`."""
    takes = " takes " if side.why.best is not None or side.why.round is not None else " "
    first: Cell = (
        (" ", ""), letter(place), (f" {safe(column.name, limit=COLUMN_SHOWN)}", "strong"), (takes, "muted"),
        *choice_cell(side, mode),
    )
    second: Cell = ((f" {plural(side.tokens, 'token')} · {number(side.vocab_size)} ids", "muted"),)
    if side.why.tied > 1:
        rule = safe(side.why.tie_rule, limit=COLUMN_SHOWN)
        second = ((f" {number(side.why.tied)} tie: ", ""), (rule, "strong"), (" ·", "muted"), *second)
    elif side.why.tie_rule:
        second = (*second, (" · no tie", "muted"))
    return [ui_text.clip(line, width) for line in (first, second)]


class Side(Guarded, Vertical):
    """One column at the step of divergence: facts and candidates.

    Args:
        id: Its id.
    """

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.facts, self.table = Lines(classes="side"), SideTable("candidates", candidates)

    def compose(self) -> ComposeResult:
        """Yield the facts and the candidates."""
        yield self.facts
        yield self.table

    def show(self, place: int, column: ColumnSnapshot, side: DivergenceSide, mode: GlyphMode) -> None:
        """Show a side of a divergence.

        Args:
            place: The index of the column.
            column: The column.
            side: What it chooses from at the step.
            mode: The way tokens are shown.
        """
        self.facts.show(lambda width, _: side_facts(place, column, side, mode, width))
        at = AtStep(tokens=side.tokens, start_tokens=side.tokens)
        self.table.show(dataclasses.replace(column, at=at, candidates=side.candidates, why=side.why), mode)


class DivergencePane(Vertical, Pane):
    """What two columns choose from at the step where they diverge."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "screen.turn_pair(-1)", "pair", id="parting_left", group=Hint(rank=4),
            tooltip="Choose the previous pair of columns"),
        Binding("right,l", "screen.turn_pair(1)", "next pair", id="parting_right",
            tooltip="Choose the next pair of columns"),
    ]

    note: Cell = ()
    """The way merges are compared, and the step of divergence under the other way."""

    def __init__(self) -> None:
        super().__init__()
        self.said, self.left, self.right = Lines(classes="side"), Side("left"), Side("right")
        self.right.table.can_focus = False

    def compose(self) -> ComposeResult:
        """Yield the two sides, left and right."""
        yield self.said
        yield Horizontal(self.left, self.right)

    def sections(self, snapshot: Snapshot) -> object:
        """Return the divergences and the columns."""
        return snapshot.between.divergences, snapshot.columns

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show both sides of the divergence, or a line if there is none; do nothing without a pair."""
        pair, mode = self.pair, self.mode
        if pair is None:
            return
        places, divergence = places_of(now.columns, pair), of_pair(now.between.divergences, pair)
        sides = divergence.sides if divergence is not None and len(divergence.sides) == 2 else ()
        self.note = ()
        if divergence is not None and (divergence.other is not None or divergence.literal):
            how, otherwise = "by meaning", "as spelled"
            if divergence.literal:
                how, otherwise = otherwise, how
            other = "" if divergence.other is None else f", {otherwise} at step {number(divergence.other)}"
            self.note = ((f"{how}{other} (D)", "muted"),)
        self.said.display = not sides
        for n, side in enumerate((self.left, self.right)):
            side.facts.display = bool(sides)
            if sides:
                side.show(places[n], now.columns[places[n]], sides[n], mode)
            else:
                side.table.clear()
        busy = busy_cell(divergence.busy) if divergence is not None and divergence.busy is not None else ()
        lines = () if sides else (divergence_cell(divergence, now.columns, places, mode), busy)
        self.said.show(lambda *_: [((" ", ""), *line) for line in lines])


# The tokens that two vocabularies share and the tokens of only one: counts, and searchable lists.


FIND_SHOWN = 40
_ID_WIDTH = 7
_USES_WIDTH = 9


def shared(now: Snapshot, look: TokenList, width: int) -> Sequence[Cell]:
    """Return one line of counts, clipped to the width, with the listed part highlighted: `common 88 · only A
    296 · only B 113 · never B 12 · never A 7 · Jaccard 0.1770`. Counts of another position are muted. While
    there are none, say that the vocabularies are being compared."""
    counts = of_pair(now.between.overlaps, (look.a, look.b))
    if counts is None:
        return ((("  ", ""), ("comparing the vocabularies …", "muted")),)
    places = places_of(now.columns, (look.a, look.b))
    present = counts.at == now.position
    out: Cell = shared_cell(counts, places, present, look.part, look.bare)
    for part, place, count in (("never_b", places[1], counts.never_b),
            ("never_a", places[0], counts.never_a)):
        style = "focus" if part == look.part else "muted"
        figure: Run = ("" if count is None else f" {number(count)}", "strong" if part == look.part else "")
        out = (*out, (" · ", "muted"), (f"never {LETTERS[place]}", style), figure)
    jaccard = counts.overlaps[look.bare].jaccard
    if jaccard is not None:
        out = (*out, (" · Jaccard ", "muted"), (f"{jaccard:.4f}", "" if present else "muted"))
    return ((("  ", ""), *ui_text.clip(out, max(0, width - 3))),)


def entry_of(token: TokenInBoth, recipes: Sequence[Recipe]) -> Entry:
    """Return a token of two columns as an entry of the first vocabulary that has it.

    Args:
        token: The token.
        recipes: The recipes of the two columns, in order.
    """
    side = 0 if token.id_a is not None else 1
    number, uses = ((token.id_a, token.uses_a), (token.id_b, token.uses_b))[side]
    marks = _spelled_marks(token.piece, recipes[side])
    return Entry(number, -1, token.piece, "token", uses=uses, marks=marks)


def _shared_row(held: TokenInBoth, mode: GlyphMode, linked: bytes) -> TableRow:
    """Return the row of a token: its ids and its uses in both columns, empty where it is missing. The token
    with the bytes `linked` is bold."""
    ids: list[Cell] = [
        (("" if token_id is None else str(token_id), "muted"),) for token_id in (held.id_a, held.id_b)
    ]
    uses: list[Cell] = []
    for identity, count in ((held.id_a, held.uses_a), (held.id_b, held.uses_b)):
        shown = "" if identity is None else "–" if count is None else number(count) if count else "none"
        uses.append(((shown, "muted" if not count else ""),))
    return TableRow(held, (tokens((held.piece,), mode, linked), *ids, *uses))


class TokenTable(VirtualTable):
    """The tokens of two vocabularies."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "inspect", id="inspect_both", group=Hint(rank=10),
            tooltip="Inspect the selected row"),
    ]


class TokensPane(Vertical, Pane, LinkedPane):
    """The counts of shared tokens, and a list of one part of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "screen.turn_bare", "marks", id="bare", group=Hint(rank=5),
            tooltip="Compare tokens with or without leading marks and spaces"),
        Binding("left,h", "screen.next_list(-1)", "list", id="tokens_left", group=Hint(rank=4),
            tooltip="Show the previous list: common, only in one, never created"),
        Binding("right,l", "screen.next_list(1)", "next list", id="tokens_right",
            tooltip="Show the next list"),
    ]

    note: Cell = ()
    """The number of tokens in the list."""

    def __init__(self) -> None:
        super().__init__()
        self.line, self.table = Lines(), TokenTable()
        self.part, self.bare, self.find, self.seek = PARTS[0], False, "", ""
        self.places: tuple[int, ...] = ()
        """The rows that hold the text that is looked for."""
        self._goes = False

    def watch_linked(self) -> None:
        """Make the token bold."""
        self.redraw(force=True)

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token under the cursor; empty for none."""
        row = self.table.held_at(self.table.cursor)
        return row.piece if isinstance(row, TokenInBoth) else b""

    @property
    def states(self) -> Sequence[str]:
        """The filter of the list, and whether tokens are compared without their marks."""
        only = (f'only "{safe(self.find, limit=FIND_SHOWN)}"',) if self.find else ()
        return (*only, "without marks") if self.bare and not self.part.startswith("never") else only

    def compose(self) -> ComposeResult:
        """Yield the counts and the list."""
        yield self.line
        yield self.table

    def token_list(self, pair: tuple[int, int]) -> TokenList:
        """Return the query for the rows to show, for the two columns with these keys."""
        top, height = self.table.window
        rows = max(60, height, 3 * self.table.size.height)
        return TokenList(*pair, self.part, self.bare and not self.part.startswith("never"), self.find,
            self.seek, top, rows)

    def next_list(self, by: int) -> None:
        """Change to the list `by` places further, from the top."""
        self.part = PARTS[(PARTS.index(self.part) + by) % len(PARTS)]
        self.table.move_to(0)

    def toggle_marks(self) -> None:
        """Switch between comparing tokens with and without marks, from the top."""
        self.bare = not self.bare
        self.table.move_to(0)

    def narrow(self, text: str) -> None:
        """List only tokens that contain a text, from the top; all for an empty one."""
        self.find = text
        self.table.move_to(0)
        self.table.find = text or self.seek

    def find_text(self, text: str) -> None:
        """Mark a text, and go to the first row that contains it when the rows are known; "" ends the search.
        """
        self.seek, self._goes = text, bool(text)
        self.table.find = text or self.find

    def find_again(self, backward: bool) -> bool:
        """Go to the next row that contains the sought text, or the previous one, around the end. Return False
        if none does."""
        place = next_place(self.places, self.table.cursor, backward)
        if place is not None and isinstance(place.at, int):
            self.table.move_to(place.at)
        return place is not None

    def sections(self, snapshot: Snapshot) -> object:
        """Return the counts, the listed tokens, the columns and their position."""
        between = snapshot.between
        return between.overlaps, between.tokens, snapshot.columns, snapshot.position

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the counts and the list, or that it is loading; do nothing without a pair."""
        pair, mode = self.pair, self.mode
        if pair is None:
            return
        look, found, places = self.token_list(pair), now.between.tokens, places_of(now.columns, pair)
        self.line.show(lambda width, _: shared(now, look, width))
        a, b = (LETTERS[place] for place in places)
        columns = (
            Column("token", flex=1, min_width=8, priority=5),
            Column(f"id {a}", width=_ID_WIDTH, align="right", priority=3),
            Column(f"id {b}", width=_ID_WIDTH, align="right", priority=2),
            Column(f"uses {a}", width=_USES_WIDTH, align="right", priority=4),
            Column(f"uses {b}", width=_USES_WIDTH, align="right", priority=4),
        )
        if found is None or dataclasses.replace(found.query, top=look.top, rows=look.rows) != look:
            self.table.update_rows(0, (), 0, columns)
            self.note = (("listing the tokens …", "muted"),)
            return

        def row_of(held: TokenInBoth, _: int) -> TableRow:
            return _shared_row(held, mode, self.linked)

        self.table.update_rows(found.query.top, found.rows, found.total, columns, row_of)
        self.places = found.places
        if self._goes and self.places:
            self._goes = False
            self.table.move_to(self.places[0])
        match: Cell = ()
        if self.seek:
            here = bisect.bisect_right(self.places, self.table.cursor)
            match = match_cell(Found(self.table.cursor, here, len(self.places)))
        total: Cell = (("tokens: ", "muted"), (number(found.total), "muted"))
        if self.find:
            total = ((f"{number(found.total)} of {number(found.whole)}", "warning"),)
        self.note = (*match, *total)
        if found.busy is not None:
            self.note = busy_cell(found.busy)[:-2]


# How far two columns agree on the corpus, and the measures of all columns under their conventions.


TEXT_SHOWN = 64
"""The maximum number of characters of a stretch or a token in a row."""
ERROR_SHOWN = 200
_FIGURE_LEAST, _FIGURE_MOST = 10, 18
_TITLE_WIDTH = len("bits at a fixed length")


def stale_note(found: Measured | Agreed | None, now: Snapshot) -> Cell:
    """Return `of step 128` if the figures belong to another position than the current one; else empty."""
    return ((f"of {at_words(found.at)}", "warning"),) if found and found.at != now.position else ()


class AgreementList(Listing, Pane):
    """The agreement of two columns on the corpus, and the stretches of text that they most often segment
    differently."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "encode it", id="encode_it", group=Hint(rank=5),
            tooltip="Encode this stretch of text"),
        Binding("left,h", "screen.turn_pair(-1)", "pair", id="agreement_left", group=Hint(rank=4),
            tooltip="Choose the previous pair of columns"),
        Binding("right,l", "screen.turn_pair(1)", "next pair", id="agreement_right",
            tooltip="Choose the next pair of columns"),
    ]
    note: Cell = ()

    def __init__(self) -> None:
        super().__init__()
        self.texts: Mapping[Hashable, str] = {}
        """The stretches, by the keys of their rows."""

    def sections(self, snapshot: Snapshot) -> object:
        """Return the agreement, the columns and their position."""
        return snapshot.between.agreed, snapshot.columns, snapshot.position

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the agreement of the pair, or that it is loading."""
        agreed, pair = now.between.agreed, self.pair
        agreement = of_pair(agreed.pairs, pair) if agreed is not None else None
        self.texts = {}
        if agreement is not None:
            self.texts |= {("parting", n): parting.text for n, parting in enumerate(agreement.partings)}
            self.texts |= {("word", n): word.text for n, word in enumerate(agreement.words)}
        places = places_of(now.columns, pair) if pair is not None else (0, 1)
        a, b = (LETTERS[place] for place in places)
        columns = (
            Column(f"{a}·{b} on the corpus", flex=2, min_width=19, priority=4),
            Column("", width=9, align="right", priority=3),
            Column("", flex=3, min_width=9, priority=2),
            Column("", flex=3, min_width=9, priority=2),
        )
        self.note = stale_note(agreed, now)
        broken = any(now.columns[place].error for place in places if place < len(now.columns))
        reason = "a column cannot be compared" if broken else f"comparing {a} with {b} on the corpus …"
        rows = [TableRow("coming", (((reason, "muted"),), (), (), ()))]
        if agreement is not None:
            rows = list(_agreement_rows(agreement, a, b, bool(self.note)))
        self.show(rows, self.cursor_key, columns)


def _agreement_rows(found: PairAgreement, a: str, b: str, dim: bool) -> Iterator[TableRow]:
    """Yield rows with the measures of agreement, the counts, and the most frequent differences, with headings
    if there are any.

    Args:
        found: The agreement.
        a: The letter of the first column.
        b: The letter of the second column.
        dim: True to draw the rows dim.
    """
    agreement = found.agreement
    for measure in PAIR_MEASURES:
        name, shown = measure.title, agreement_shown(measure, agreement)
        formula = measure.formula.format(a=a, b=b)
        yield TableRow(name, (((name, ""),), ((shown, "strong"),), ((formula, "muted"),), ()), dim=dim)
    for name, count, other in (
        ("boundaries of both", agreement.shared, ""),
        (f"boundaries of {a}", agreement.boundaries_a,
            f"{number(agreement.boundaries_a - agreement.shared)} only in {a}"),
        (f"boundaries of {b}", agreement.boundaries_b,
            f"{number(agreement.boundaries_b - agreement.shared)} only in {b}"),
        ("words with the same tokens", agreement.same_words, f"of {number(agreement.words)}"),
    ):
        yield TableRow(name, (((name, ""),), ((number(count), ""),), ((other, "muted"),), ()), dim=dim)
    for kind, title, cuts in (
        ("parting", "most often different", found.partings),
        ("word", "words that differ most often", found.words),
    ):
        if cuts:
            yield TableRow(None, tuple(((head, "strong"),) for head in (title, "times", a, b)))
        for n, cut in enumerate(cuts):
            cells = (runs(cut.text, limit=TEXT_SHOWN), ((number(cut.count), ""),), _cut(cut.a), _cut(cut.b))
            yield TableRow((kind, n), cells, dim=dim)


def _cut(tokens: Sequence[str]) -> Cell:
    """Return tokens with bars between them; "nothing" for none."""
    shown = (runs(token, limit=TEXT_SHOWN) for token in tokens)
    return ui_text.joined(shown, ("│", "muted")) or (("nothing", "muted"),)


class MeasuresList(Listing, Pane):
    """The measures of all columns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "screen.ask_conventions", "conventions", id="under", group=Hint(rank=5),
            tooltip="Set what counts as a word, and the order of the Rényi entropy"),
    ]
    formulas = False
    """True if formulas are shown instead of conventions."""
    note: Cell = ()

    def sections(self, snapshot: Snapshot) -> object:
        """Return the measures on both corpora, the columns, their position and the size of the corpus."""
        between = snapshot.between
        measured = between.measured, between.held_measured
        return measured, snapshot.columns, snapshot.position, snapshot.corpus.bytes

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the measures that are known."""
        # Widths that hold any figure of this corpus, so that nothing jumps.
        wide = min(_FIGURE_MOST, max(_FIGURE_LEAST, len(number(now.corpus.bytes)) + 4))
        columns = (
            Column("measure", flex=4, min_width=_TITLE_WIDTH, priority=9),
            *(Column(LETTERS[n], width=wide, align="right", priority=8 - n) for n in range(len(now.columns))),
            Column("formula" if self.formulas else "convention", flex=6, min_width=14, priority=1),
        )
        measured, held_out = now.between.measured, now.between.held_measured
        empty: tuple[Cell, ...] = ((),) * (len(now.columns) + 1)
        rows, self.note = [TableRow("coming", ((("measuring the columns …", "muted"),), *empty))], ()
        if measured is not None:
            rows = list(_measure_rows(measured, now, self.formulas))
            turned = "M conventions" if self.formulas else "M formulas"
            self.note = stale_note(measured, now) or ((turned, "muted"),)
        if held_out is not None:
            rows += _measure_rows(held_out, now, self.formulas, "second corpus ")
        if self.formulas:
            rows.append(TableRow(None, ((("where", "strong"),), *empty)))
            rows += (
                TableRow(("symbol", name), (((name, ""),), *empty[1:], ((meaning, "muted"),)))
                for name, meaning in SYMBOLS.items()
            )
        self.show(rows, self.cursor_key, columns)


def _measure_rows(measured: Measured, now: Snapshot, formulas: bool, which: str = "") -> Iterator[TableRow]:
    """Yield a heading, a row for each column whose measures failed, and a row for each measure. Rows of
    another position than the current one are dim; a dot stands for a figure that is missing.

    Args:
        measured: The measures on one corpus.
        now: The snapshot.
        formulas: True to show formulas instead of conventions.
        which: The words before the name of a second corpus; empty for the first.
    """
    empty: tuple[Cell, ...] = ((),) * (len(now.columns) + 1)
    # The columns say how the training cut its corpus: the same name has another figure there.
    of: Cell = (("encoded" if which else "encoded, not as trained", "muted"),)
    yield TableRow(None, (((which, "muted"), (safe(measured.corpus, limit=40), "strong")), *empty[1:], of))
    errors = dict(measured.errors)
    for place, column in enumerate(now.columns):
        if column.key in errors:
            error: Cell = ((f"{LETTERS[place]} ", ""), (safe(errors[column.key], limit=ERROR_SHOWN), "error"))
            yield TableRow((which, "error", column.key), (error, *empty))
    for n, row in enumerate(measured.rows):
        figure_by_column = dict(zip(measured.keys, row.figures, strict=False))
        figures: list[Cell] = []
        for column in now.columns:  # a dot where it has no figure under these conventions
            figure = figure_by_column.get(column.key)
            style = "muted" if figure is None or figure.value is None else ""
            figures.append((("·" if figure is None else figure.shown, style),))
        about: Cell = ((row.measure.formula if formulas else row.under, "muted"),)
        cells = (((row.measure.title, ""),), *figures, about)
        yield TableRow((which, row.measure.name, n), cells, dim=measured.at != now.position)



def _spelled_marks(piece: bytes, recipe: Recipe) -> tuple[int, int]:
    """Return the number of bytes of a piece that are the recipe's mark, by its spelling.

    It is used where no vocabulary gives the exact number.
    """
    mark, kind = recipe.mark_text.encode(), AXES["mark"].of(recipe.mark)
    front = kind.in_front and piece.startswith(mark) and len(piece) > len(mark)
    end = kind.ends_word and piece.endswith(mark)
    return len(mark) if front else 0, len(mark) if end else 0
