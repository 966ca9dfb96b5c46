"""Sections of a report as rows of a list, or as a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from tokentui.analyze import report as model
from tokentui.analyze.report import Row, Section
from tokentui.core.chart import Picture
from tokentui.core.safetext import safe
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import bar, number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run

FEW, MANY = 8, 1000
"""The rows of a section that are seen at first, and at most, while other sections are seen too."""
_PIECE_SHOWN, _WORDS_SHOWN = 200, 8192
_BAR = 24
_GAP = "  "


def screen_cell(cell: model.Cell, words: int = _WORDS_SHOWN) -> Cell:
    """Return a cell of a report as runs of safe text, with text of the program cut to `words` characters."""
    out: list[Run] = []
    for span in model.spans(cell):
        if isinstance(span, model.Bar):
            out.append((bar(span.share, 1.0, _BAR), "primary"))
        elif isinstance(span.text, bytes):
            shown = ui_text.runs(span.text, limit=_PIECE_SHOWN)
            out += (ui_text.chip if "tint-" in span.role else ui_text.tinted)(shown, span.role)
        else:
            out.append((safe(span.text, limit=words), span.role))
    return tuple(out)


def as_line(cell: Cell) -> model.Line:
    """Return safe runs as a line of a report."""
    return tuple(model.Span(text, role) for text, role in cell)


def columns_of(section: Section) -> tuple[Column, ...]:
    """Return the columns of a section, each as wide as its title or its widest cell."""
    columns = []
    for n, column in enumerate(section.columns):
        widest = [ui_text.width(screen_cell(row.cells[n])) for row in section.rows if 1 < len(row.cells) > n]
        width = max([len(column.title), *widest])
        columns.append(Column(
            column.title, width=0 if column.flex else width, flex=int(column.flex), align=column.align,
            min_width=min(width, 10), priority=column.priority,
        ))
    return tuple(columns)


def section_rows(
    section: Section, place: Hashable, few: int, targets: dict[Hashable, Row], unfolded: set[Hashable],
    width: int = 0,
) -> Iterator[TableRow]:
    """Yield a section as rows of two columns: its name, and lines with its cells aligned.

    Args:
        section: The section.
        place: A key of the section, which becomes part of the keys of its rows.
        few: The maximum number of rows; 0 for a folded section.
        targets: Filled with the report row of each key.
        unfolded: The keys of the rows whose details are shown.
        width: The columns of a drawing; 0 to draw none.
    """
    name, summary = screen_cell(section.name), screen_cell(section.summary)
    drawn = section.drawing.lines(width) if section.drawing is not None and width else ()
    if section.beside:
        yield from _beside_name(section, place, name, drawn, targets)
        return
    if section.picture is not None:
        targets[("picture", place)] = Row(())
        opens = (f"{_GAP}enter shows the picture ▸", "muted")
        line: Cell = (*summary, *_small(section.picture), opens)
        yield TableRow(("picture", place), (ui_text.tinted(name, "muted"), line))
    elif not section.rows and not drawn and section.apart:
        yield TableRow(None, (ui_text.tinted(name, "strong"), ui_text.tinted(summary, "muted")))
    elif not section.rows and not drawn:
        targets[("fact", place)] = Row(())
        yield TableRow(("fact", place), (ui_text.tinted(name, "muted"), summary))
    elif section.folded:
        hint = "enter collapses" if few else "enter expands ▸"
        summary_line: Cell = (*summary, (f"{_GAP}{hint}", "muted"))
        yield TableRow(("rows", place), (ui_text.tinted(name, "muted"), summary_line))
    else:
        yield TableRow(("head", place), (ui_text.tinted(name, "strong"), ui_text.tinted(summary, "muted")))
    for n, drawn_line in enumerate(drawn):
        yield TableRow(("drawn", place, n), ((), screen_cell(drawn_line)))
    if drawn and section.few is not None and few < MANY:
        few = min(few, section.few)
    rows = section.rows[:few]
    titles = tuple(model.muted(column.title) for column in section.columns)
    headed = section.titled and bool(rows)
    lines = _aligned([Row(titles)] * headed + [*rows], section)
    if headed:
        yield TableRow(None, ((), lines.pop(0)))
    for n, (row, line) in enumerate(zip(rows, lines, strict=True)):
        key = ("row", place, n)
        targets[key] = row
        more: Cell = ((" ▸", "muted"),) if row.details and key not in unfolded else ()
        yield TableRow(key, ((), (*line, *more)), mark="•" if row.marked else "")
        for at, detail in enumerate(row.details if key in unfolded else ()):
            targets[("detail", place, n, at)] = detail
            cells = [((_GAP * 2, ""), *screen_cell(cell)) for cell in detail.cells]
            yield TableRow(("detail", place, n, at), ((), tuple(run for cell in cells for run in cell)))
    total = len(section.rows) if section.total is None else section.total
    if few and len(rows) < total and rows:
        can_open = len(rows) < min(len(section.rows), MANY)
        rest = f"and {number(total - len(rows))} more{' ▸' if can_open else ''}"
        yield TableRow(("more", place), ((), ((rest, "muted"),)))
    for n, note in enumerate(section.notes):
        yield TableRow(("note", place, n), ((), ui_text.tinted(screen_cell(note), "muted")))


def _beside_name(
    section: Section, place: Hashable, name: Cell, drawn: Sequence[model.Line], targets: dict[Hashable, Row]
) -> Iterator[TableRow]:
    """Yield the lines of a drawing and the rows of a section, with the name beside the first one."""
    lines: list[tuple[Hashable, model.Cell]] = [(("drawn", place, n), line) for n, line in enumerate(drawn)]
    for n, row in enumerate(section.rows):
        targets[("row", place, n)] = row
        lines.append((("row", place, n), row.cells[0]))
    for n, (key, line) in enumerate(lines):
        yield TableRow(key, (() if n else ui_text.tinted(name, "muted"), screen_cell(line)))


def _small(picture: Picture) -> Cell:
    """Return a chart in one line if it has one series of few bars; otherwise nothing."""
    from tokentui.core.chart import Chart
    from tokentui.core.chart_drawing import spark

    series = picture.series[0] if isinstance(picture, Chart) and len(picture.series) == 1 else None
    if series is None or series.kind != "bar" or len(series.y) > _BAR:
        return ()
    return ((_GAP, ""), (spark([value or 0.0 for value in series.y]), series.role))


def behind(section: Section) -> Section:
    """Return a section with the values of its picture as its rows. It must have one."""
    assert section.picture is not None
    titles, *rows = section.picture.rows
    columns = tuple(
        model.Column(safe(title, limit=_BAR) or " ", "right" if n else "left")
        for n, title in enumerate(titles)
    )
    return replace(section, columns=columns, rows=tuple(Row(row) for row in rows))


def _aligned(rows: Sequence[Row], section: Section) -> list[Cell]:
    """Return rows as lines with aligned columns. A row of a single cell is not aligned."""
    cells = [tuple(map(screen_cell, row.cells)) for row in rows]
    spread = [row for row in cells if len(row) > 1]
    widths = [max(ui_text.width(row[n]) for row in spread if n < len(row))
              for n in range(max(map(len, spread), default=0))]
    right = {n for n, column in enumerate(section.columns) if column.align == "right"}
    lines: list[Cell] = []
    for row in cells:
        line: list[Run] = []
        for n, cell in enumerate(row):
            blanks = (" " * (widths[n] - ui_text.width(cell)) if len(row) > 1 else "", "")
            last = n == len(row) - 1
            line += [blanks, *cell] if n in right else [*cell] if last else [*cell, blanks]
            line += [] if last else [(_GAP, "")]
        lines.append(tuple(line))
    return lines
