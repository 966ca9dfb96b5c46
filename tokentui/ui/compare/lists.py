"""What the lists of Compare have in common, and how far two columns agree on the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType

from tokentui.session.compared import LETTERS, ColumnView, CompareSnapshot, PairAgreement
from tokentui.ui.actions import bindings
from tokentui.ui.compare.aligned import FACTS
from tokentui.ui.compare.column_panes import Aside
from tokentui.ui.compare.lines import at_words, places_of
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run, runs

TEXT_SHOWN = 64
"""The most characters of a stretch or a token in a row."""


class CompareList(Listing):
    """A list that is held whole. Its keys to the sides go to another pair, or another list."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows")]

    def __init__(self) -> None:
        super().__init__(())

    def action_sideways(self, by: int) -> None:
        """Go to what stands beside."""
        self.post_message(Aside(self, by))

    def take(self, columns: Sequence[Column], rows: Sequence[TableRow]) -> None:
        """Show rows, in these columns."""
        if tuple(columns) != self.columns:
            self.set_columns(columns)
        self.show(rows, keep=self.cursor_key)


class AgreementList(CompareList):
    """How far two columns agree on the corpus, and the stretches that they cut otherwise most often."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("agreement")]

    texts: tuple[str, ...] = ()
    """The stretches, by their place among the partings."""
    note: Cell = ()
    """Which position the figures belong to, where it is not the present one."""

    def show_pair(self, snapshot: CompareSnapshot, pair: tuple[int, int] | None) -> None:
        """Take a snapshot, and the two columns, by their keys, that are looked at."""
        found = agreement_of(snapshot, pair)
        self.texts = tuple(one.text for one in found.partings) if found is not None else ()
        places = places_of(snapshot.columns, pair) if pair is not None else (0, 1)
        columns = (
            Column(f"{LETTERS[places[0]]}·{LETTERS[places[1]]} on the corpus", flex=2, min_width=19, priority=4),
            Column("", width=9, align="right", priority=3),
            Column("", flex=3, min_width=9, priority=2),
            Column("", flex=3, min_width=9, priority=2),
        )
        present = snapshot.measured is not None and snapshot.measured.at == snapshot.position
        self.take(columns, list(_agreement_rows(found, snapshot.columns, places, present)))
        measured = snapshot.measured
        self.note = ((f"of {at_words(measured.at)}", "warning"),) if measured is not None and not present else ()


def agreement_of(snapshot: CompareSnapshot, pair: tuple[int, int] | None) -> PairAgreement | None:
    """How far two columns agree on the corpus, None while that is not known."""
    found = snapshot.measured.agreements if snapshot.measured is not None else None
    return next((one for one in found or () if (one.a, one.b) == pair), None)


def _agreement_rows(
    found: PairAgreement | None, columns: Sequence[ColumnView], places: tuple[int, int], present: bool
) -> Iterator[TableRow]:
    if found is None:
        broken = any(columns[place].error for place in places if place < len(columns))
        said = "a column cannot be compared" if broken else "coming …"
        yield TableRow("coming", (((said, "muted"),), (), (), ()))
        return
    one = found.agreement
    a, b = (LETTERS[place] for place in places)
    for name, formula, value in FACTS:
        figure = value(one)
        shown = "n/a" if figure is None else f"{figure:.4f}"
        yield TableRow(name, (((name, ""),), ((shown, "strong"),), ((formula.format(a=a, b=b), "muted"),), ()), dim=not present)
    for name, count, other in (
        ("boundaries of both", one.shared, ""),
        (f"boundaries of {a}", one.boundaries_a, f"{number(one.boundaries_a - one.shared)} only in {a}"),
        (f"boundaries of {b}", one.boundaries_b, f"{number(one.boundaries_b - one.shared)} only in {b}"),
        ("words cut alike", one.same_words, f"of {number(one.words)}"),
    ):
        yield TableRow(name, (((name, ""),), ((number(count), ""),), ((other, "muted"),), ()), dim=not present)
    if not found.partings:
        return
    titles: tuple[Cell, ...] = tuple(((title, "strong"),) for title in ("cut otherwise most often", "times", a, b))
    yield TableRow(None, titles)
    for n, parting in enumerate(found.partings):
        cells = (runs(parting.text, limit=TEXT_SHOWN), ((number(parting.count), ""),), _cut(parting.a), _cut(parting.b))
        yield TableRow(("parting", n), cells, dim=not present)


def _cut(tokens: Sequence[str]) -> Cell:
    """Tokens with bars between them."""
    out: list[Run] = []
    for token in tokens:
        out += [("│", "muted")] if out else []
        out += runs(token, limit=TEXT_SHOWN)
    return tuple(out) or (("nothing", "muted"),)
