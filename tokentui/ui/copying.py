"""The texts that can be copied from a screen: those of the row at the cursor, the ids, and the command."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from tokentui.learn.rows import Candidate, Entry
from tokentui.session.shell_line import sample_name, train_line
from tokentui.session.snapshot import Snapshot, TokenInBoth
from tokentui.session.views import LETTERS, ColumnSnapshot, StepRow
from tokentui.ui.dialogs.copying import CopyScreen, token_of
from tokentui.ui.draw.lines import StyledLines
from tokentui.ui.draw.table import Column, Listing, TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Copied
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.column_tables import ColumnTable

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken


def ask(screen: EngineScreen[Any], now: Snapshot | None, first: str = "") -> None:
    """Ask what to copy from a screen with panes: the row and the table with the focus, or without one all
    tables, the visible ones first; then ids, the command and pictures.

    If there is nothing to copy, show a message instead.

    Args:
        screen: The screen.
        now: The snapshot that it shows; without one only tables can be copied.
        first: The beginning of the name of the entry to put the cursor on.
    """
    focused = screen.focused
    copies: list[Copied] = []
    if isinstance(focused, VirtualTable):
        copies += (*_of_row(focused, now), *_table(focused, screen.engine))
    if now is not None:
        copies += _ids(now)
        if not now.corpus.nothing_open:
            copies.append(_command(screen, _column(screen, now)))
            copies += _pictures(screen)
    if not isinstance(focused, VirtualTable):
        names, panes = getattr(screen, "names", {}), getattr(screen, "panes", {})
        for name, pane in sorted(panes.items(), key=lambda one: not one[1].display):
            if isinstance(pane, VirtualTable):
                title = names[name][0].partition(" ")[2].lower() if name in names else name
                copies += _table(pane, screen.engine, f"table of {title}")
    if copies:
        screen.app.push_screen(CopyScreen(screen.engine, copies, first))
    else:
        screen.app.say("there is nothing to copy yet")


def copy_command(screen: EngineScreen[Any], now: Snapshot | None) -> None:
    """Copy the command that reproduces a snapshot, and show it in a message. If nothing is open, say so
    instead."""
    if now is None or now.corpus.nothing_open:
        screen.app.say("there is nothing to copy yet")
        return
    line = _command(screen, _column(screen, now)).text
    screen.app.copy_to_clipboard(line)
    screen.app.say(f"copied: {line}")


def ask_of(dialog: EngineScreen[Any], texts: Iterable[Copied]) -> None:
    """Ask what to copy from a dialog: some texts, then the row under the cursor or the visible text, then
    pictures. If there is nothing, show a message instead."""
    copies = [*texts]
    match dialog.focused:
        case VirtualTable() as table:
            copies += (*_of_row(table, dialog.engine.snapshot), *_table(table, dialog.engine))
        case StyledLines() as lines:
            seen = "\n".join("".join(text for text, _ in cell).rstrip() for cell in lines.painted)
            copies += [Copied("text that is seen", seen)] if seen.strip() else []
    copies = list(dict.fromkeys(copies))
    if copies:
        copies += _pictures(dialog)
        dialog.app.push_screen(CopyScreen(dialog.engine, copies))
    else:
        dialog.app.say("there is nothing to copy yet")


def _column(screen: EngineScreen[Any], now: Snapshot) -> ColumnSnapshot:
    """Return the active column of a screen; the last one if it has fewer."""
    place = getattr(screen, "place", 0)
    return now.columns[min(place, len(now.columns) - 1)]


def _of_row(table: VirtualTable, now: Snapshot | None) -> Iterator[Copied]:
    """Yield what the row under the cursor offers: its token or tokens, its ids, and the row with tabs. Yield
    nothing for a folded row, and no id for a token without one."""
    held, row = table.held_at(table.cursor), table.row_at(table.cursor)
    match held:
        case Candidate():
            yield token_of("token", held.spelled)
        case StepRow(token=bytes(token)) if token:
            yield token_of("token", token)
        case TableRow(key=tuple(key)):
            yield from (token_of("token", part) for part in key if isinstance(part, bytes))
        case Entry(kind="folded"):
            return
        case Entry():
            yield token_of("token", held.piece)
            if held.id is not None:
                yield Copied("id", str(held.id))
        case TokenInBoth():
            yield token_of("token", held.piece)
            for letter, token_id in zip("AB", (held.id_a, held.id_b), strict=True):
                if token_id is not None:
                    yield Copied(f"id in the {'first' if letter == 'A' else 'second'}", str(token_id))
    if row is not None and row.key is not None:
        cells = ["".join(text for text, _ in cell).strip() for line in _whole(table, row) for cell in line]
        yield Copied("row", "\t".join(filter(None, cells)))


def _table(table: VirtualTable, engine: EngineLink, title: str = "table") -> Iterator[Copied]:
    """Yield all rows of a table in three formats; nothing for fewer than two rows.

    A table of a pane holds only some of its rows, so its texts ask the session.
    """
    if table.total < 2:
        return
    for name, (ending, written) in _FORMATS.items():
        if isinstance(table, ColumnTable):
            yield Copied(f"{title} as {name}", _rows_in_words(min(table.total, MOST_ROWS)), ending=ending,
                         asks=partial(_all_rows_text, table, engine, written))
        else:
            rows = [row for row in map(table.row_at, range(table.total)) if row is not None]
            yield Copied(f"{title} as {name}", _rows_in_words(len(rows)), ending=ending,
                         later=partial(_listed_rows, table.columns, rows, written))


def _rows_in_words(count: int) -> str:
    return f"all {count:,} rows"


async def _all_rows_text(table: ColumnTable, engine: EngineLink, written: Written) -> str:
    """Ask the session for all rows of a table, and return them in a format. Raises the errors of
    `EngineLink.ask`."""
    columns, rows = await table.all_rows(engine, MOST_ROWS)
    return _listed_rows(columns, rows, written)


def _listed_rows(columns: Sequence[Column], rows: Sequence[TableRow], written: Written) -> str:
    """Return rows in a format, below the titles of their columns, as `Written` makes it."""
    cells = [[_cell_text(cell) for cell in row.cells] for row in rows]
    wide = max(map(len, cells), default=0)
    titles = [column.title for column in columns][:wide]
    return written([line + [""] * (wide - len(line)) for line in (titles, *cells)])


def _as_tsv(lines: Sequence[Sequence[str]]) -> str:
    """Return lines with tabs between their cells; safe texts have none."""
    return "".join("\t".join(line) + "\n" for line in lines if any(line))


def _as_csv(lines: Sequence[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(line for line in lines if any(line))
    return written.getvalue()


def _as_markdown(lines: Sequence[Sequence[str]]) -> str:
    titles, *rows = lines
    marked = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in marked)


Written: TypeAlias = Callable[[Sequence[Sequence[str]]], str]
"""Writes lines of cells, the titles first."""
_FORMATS: Mapping[str, tuple[str, Written]] = {
    "TSV": (".tsv", _as_tsv), "CSV": (".csv", _as_csv), "Markdown": (".md", _as_markdown),
}
MOST_ROWS = 300_000
"""The maximum number of rows of a table that are copied."""


def _cell_text(cell: Cell) -> str:
    """Return a cell as text; empty for a bar."""
    text = "".join(text for text, _ in cell).strip()
    return "" if text and all("\u2580" <= char <= "\u259f" for char in text) else text


def _pictures(screen: EngineScreen[Any]) -> Iterator[Copied]:
    """Yield a picture of a screen as SVG and as text; both are drawn when they are copied."""
    from tokentui.ui.draw.picture import Frame, as_svg, as_text, picture_of

    shown = picture_of(screen.app, screen)
    yield Copied("picture as SVG", "what this screen shows, for documents and slides", ending=".svg",
                 later=lambda: as_svg([Frame(shown)]))
    yield Copied("picture as text", "what this screen shows, as lines of text",
                 later=lambda: as_text(shown))


def _whole(table: VirtualTable, row: TableRow) -> Iterator[tuple[Cell, ...]]:
    """Yield the cells of a row and of its continuation rows, see `ListDialog.tell`; also for a row that is
    one of those."""
    rows = table.rows if isinstance(table, Listing) else (row,)
    match row.key:
        case (first, int()) if any(row.key == first for row in rows):
            key: Hashable = first
        case key:
            pass
    for row in rows:
        if row.key == key or (isinstance(row.key, tuple) and row.key[:1] == (key,) and len(row.key) == 2):
            yield row.cells


def _ids(now: Snapshot) -> Iterator[Copied]:
    """Yield the ids of the typed text; in Compare, those of each column. Nothing without tokens."""
    if len(now.columns) == 1:
        if now.main.encoding.tokens:
            yield Copied("ids of the typed text", _ids_as_json(now.main.encoding.tokens))
        return
    aligned, keys = now.between.aligned, [column.key for column in now.columns]
    for key, tokens in zip(aligned.keys, aligned.tokens, strict=False):
        if tokens and key in keys:
            yield Copied(f"ids of the text in {LETTERS[keys.index(key)]}", _ids_as_json(tokens))


def _ids_as_json(tokens: tuple[EncodedToken, ...]) -> str:
    return json.dumps([token.id for token in tokens])


def _command(screen: EngineScreen[Any], column: ColumnSnapshot) -> Copied:
    """Return the command line that opens the tokenizer file of a column, or that trains it to its step. It
    names the corpus only if that has a name of the program or the app recorded its source."""
    walk = getattr(screen.app, "walk", None)
    source = "" if walk is None else walk.corpus[0]
    if not source and (now := screen.engine.snapshot) is not None:
        source = sample_name(now.corpus.name, now.corpus.bytes)
    if column.path:
        import shlex

        return Copied("command", shlex.join(["tokentui", "-t", column.path, *([source] if source else [])]))
    line = train_line(
        source, column.recipe, screen.engine.run, column.at.step, column.traits.shaped_by
    )
    return Copied("command", line)
