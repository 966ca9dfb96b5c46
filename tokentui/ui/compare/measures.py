"""The measures of all columns under their conventions, and how far two columns agree on the corpus."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.catalog import PAIR_MEASURES, SYMBOLS, MeasureRow
from tokentui.session.snapshot import Measured, PairAgreement, Snapshot
from tokentui.session.views import LETTERS, ColumnSnapshot
from tokentui.ui.compare.lines import at_words, places_of
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Listing, TableRow
from tokentui.ui.draw.text import Cell, Run, runs

TEXT_SHOWN = 64
"""The most characters of a stretch or a token in a row."""


class AgreementList(Listing):
    """The agreement of two columns on the corpus, and the stretches that they most often cut differently."""

    note: Cell = ()
    """Which position the figures belong to, where it is not the present one."""

    def __init__(self) -> None:
        super().__init__(())
        self.texts: Mapping[Hashable, str] = {}
        """The stretches, by the keys of their rows."""

    @property
    def focused_body(self) -> AgreementList:
        """The widget that gets the keys."""
        return self

    def present(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show the agreement; see `Body.present`."""
        found = agreement_of(snapshot, pair)
        self.texts = {
            ("parting", n): one.text for n, one in enumerate(found.partings if found is not None else ())
        }
        places = places_of(snapshot.columns, pair) if pair is not None else (0, 1)
        columns = (
            Column(f"{LETTERS[places[0]]}·{LETTERS[places[1]]} on the corpus", flex=2, min_width=19,
                priority=4),
            Column("", width=9, align="right", priority=3),
            Column("", flex=3, min_width=9, priority=2),
            Column("", flex=3, min_width=9, priority=2),
        )
        present = snapshot.between.measured is not None and snapshot.between.measured.at == snapshot.position
        self.take(columns, list(_agreement_rows(found, snapshot.columns, places, present)))
        measured = snapshot.between.measured
        self.note = ((f"of {at_words(measured.at)}", "warning"),
            ) if measured is not None and not present else ()


def agreement_of(snapshot: Snapshot, pair: tuple[int, int] | None) -> PairAgreement | None:
    """Return the agreement of two columns on the corpus, None before it is computed."""
    found = snapshot.between.measured.agreements if snapshot.between.measured is not None else None
    return next((one for one in found or () if (one.a, one.b) == pair), None)


def _agreement_rows(
    found: PairAgreement | None, columns: Sequence[ColumnSnapshot], places: tuple[int, int], present: bool
) -> Iterator[TableRow]:
    if found is None:
        broken = any(columns[place].error for place in places if place < len(columns))
        said = "a column cannot be compared" if broken else "loading …"
        yield TableRow("coming", (((said, "muted"),), (), (), ()))
        return
    one = found.agreement
    a, b = (LETTERS[place] for place in places)
    for measure in PAIR_MEASURES:
        figure, name = measure.of(one), measure.title
        shown, formula = "n/a" if figure is None else f"{figure:.4f}", measure.formula.format(a=a, b=b)
        yield TableRow(
            name, (((name, ""),), ((shown, "strong"),), ((formula, "muted"),), ()), dim=not present
        )
    for name, count, other in (
        ("boundaries of both", one.shared, ""),
        (f"boundaries of {a}", one.boundaries_a, f"{number(one.boundaries_a - one.shared)} only in {a}"),
        (f"boundaries of {b}", one.boundaries_b, f"{number(one.boundaries_b - one.shared)} only in {b}"),
        ("words cut alike", one.same_words, f"of {number(one.words)}"),
    ):
        yield TableRow(name, (((name, ""),), ((number(count), ""),), ((other, "muted"),), ()),
            dim=not present)
    if not found.partings:
        return
    titles: tuple[Cell, ...] = tuple(((title, "strong"),)
        for title in ("cut otherwise most often", "times", a, b))
    yield TableRow(None, titles)
    for n, parting in enumerate(found.partings):
        cells = (runs(parting.text, limit=TEXT_SHOWN), ((number(parting.count), ""),), _cut(parting.a),
            _cut(parting.b))
        yield TableRow(("parting", n), cells, dim=not present)


def _cut(tokens: Sequence[str]) -> Cell:
    """Tokens with bars between them."""
    out: list[Run] = []
    for token in tokens:
        out += [("│", "muted")] if out else []
        out += runs(token, limit=TEXT_SHOWN)
    return tuple(out) or (("nothing", "muted"),)


ERROR_SHOWN = 200
_FIGURE_LEAST, _FIGURE_MOST = 10, 18
_TITLE_WIDTH = len("bits at a fixed length")


class MeasuresList(Listing):
    """The measures."""

    formulas = False
    """True if formulas are shown instead of conventions."""
    snapshot: Snapshot | None = None

    def __init__(self) -> None:
        super().__init__(())

    @property
    def focused_body(self) -> MeasuresList:
        """The widget that gets the keys."""
        return self

    def present(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show the measures; see `Body.present`."""
        self.snapshot = snapshot
        self._lay_out()

    def turn_formulas(self) -> None:
        """Show formulas, or conventions again."""
        self.formulas = not self.formulas
        self._lay_out()

    def on_resize(self) -> None:
        """Fit the columns to the room there is."""
        super().on_resize()
        self._lay_out()

    @property
    def note(self) -> Cell:
        """Which position the figures belong to, where it is not the present one."""
        now = self.snapshot
        if now is None or now.between.measured is None:
            return ()
        if now.between.measured.at == now.position:
            return (("formulas: f" if not self.formulas else "conventions: f", "muted"),)
        return ((f"of {at_words(now.between.measured.at)}", "warning"),)

    def _lay_out(self) -> None:
        now = self.snapshot
        if now is None:
            return
        # Widths that hold any figure of this corpus, so that nothing jumps.
        wide = min(_FIGURE_MOST, max(_FIGURE_LEAST, len(number(now.corpus.bytes)) + 4))
        columns = (
            Column("measure", flex=4, min_width=_TITLE_WIDTH, priority=9),
            *(Column(LETTERS[n], width=wide, align="right", priority=8 - n) for n in range(len(now.columns))),
            Column("formula" if self.formulas else "under", flex=6, min_width=14, priority=1),
        )
        rows = list(_rows(now.between.measured, now, self.formulas))
        if now.between.held_measured is not None:
            rows += _rows(now.between.held_measured, now, self.formulas, "second corpus ")
        if self.formulas:
            rows.append(TableRow(None, ((("where", "strong"),), *((),) * (len(now.columns) + 1))))
            rows += (
                TableRow(("symbol", name), (((name, ""),), *((),) * len(now.columns), ((meaning, "muted"),)))
                for name, meaning in SYMBOLS.items()
            )
        self.take(columns, rows)


def _rows(measured: Measured | None, now: Snapshot, formulas: bool,
        which: str = "") -> Iterator[TableRow]:
    columns = now.columns
    empty: tuple[Cell, ...] = ((),) * (len(columns) + 1)
    if measured is None:
        yield TableRow("coming", ((("loading …", "muted"),), *empty))
        return
    yield TableRow(None, (((which, "muted"), (safe(measured.corpus, limit=40), "strong")), *empty))
    errors = dict(measured.errors)
    for place, column in enumerate(columns):
        if column.key in errors:
            error: Cell = ((f"{LETTERS[place]} ", ""), (safe(errors[column.key], limit=ERROR_SHOWN), "error"))
            yield TableRow((which, "error", column.key), (error, *empty))
    for n, row in enumerate(measured.rows):
        figures = tuple(_figure(row, measured.keys, column.key) for column in columns)
        about: Cell = ((row.measure.formula if formulas else row.under, "muted"),)
        cells: tuple[Cell, ...] = (((row.measure.title, ""),), *figures, about)
        yield TableRow((which, row.measure.name, n), cells, dim=measured.at != now.position)


def _figure(row: MeasureRow, keys: Sequence[int], key: int) -> Cell:
    """A figure of a column: a dot where it has none under these conventions."""
    figure = row.figures[keys.index(key)] if key in keys else None
    return (("·", "muted"),) if figure is None else ((figure.shown, "muted" if figure.value is None else ""),)
