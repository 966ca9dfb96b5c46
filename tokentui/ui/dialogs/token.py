"""A token as rows: its uses over the run, its merge tree, what it makes, its places in the text."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from tokentui.analyze.drawings import tree_of_token
from tokentui.analyze.token_words import reached
from tokentui.core.table import plural
from tokentui.learn.rows import Entry
from tokentui.session.training.token_values import Context, Places, TokenView
from tokentui.ui.dialogs.explained import told_row
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, upright
from tokentui.ui.draw.sections import screen_cell
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell

_SHOWN = 40
_MOST_LOST, _MOST_MADE, _MOST_LINES = 4, 6, 9
_DEEPEST = 4
_HUGE = 10**12
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def entry_of(view: TokenView) -> Entry:
    """Return the row of a token in the vocabulary."""
    facts = view.facts
    return Entry(
        facts.id, -1 if view.symbol is None else view.symbol, facts.piece, facts.kind, view.made, facts.count,
        view.uses, facts.score, facts.parents, facts.marks, facts.unreachable,
    )


def ordinal(count: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ending = "th" if count % 100 in (11, 12, 13) else _ENDINGS.get(count % 10, "th")
    return f"{number(count)}{ending}"


def of_token(view: TokenView, places: Places | None, first: int, width: int) -> Iterator[TableRow]:
    """Yield the facts of a token that its row does not show.

    Args:
        view: The token.
        places: Its places that are shown; None while they are looked for.
        first: The number of the first of them, from 1.
        width: The columns that a row may take.
    """
    if view.uses:
        rank = f"{ordinal(view.rank)} of {plural(view.tokens, 'token')} that are used"
        yield told_row("rank", "rank", ((rank, ""),))
    yield from _over(view, width)
    yield from _tree(view, width)
    for n, part in enumerate(view.facts.parents):
        yield told_row(("token", part, n), "" if n else "parts", _entered(part))
    for n, made in enumerate(view.makes[:_MOST_MADE]):
        note = f"  used {plural(made.uses, 'time')}, made at step {number(made.step)}"
        key = ("token", made.token.id, "made")
        yield told_row(key, "" if n else "makes", _entered(made.token.piece, note))
    if (more := view.facts.child_count - min(len(view.makes), _MOST_MADE)) > 0:
        yield told_row("more makes", "", ((f"and {plural(more, 'more token')}", "muted"),))
    yield from _places(view, places, first, width)
    if view.spellings:
        spelled: list[Cell] = []
        for spelling in view.spellings:
            known = ("–", "muted") if spelling.id is None else (f"id {spelling.id}", "")
            spelled.append((*ui_text.runs(spelling.piece, limit=_SHOWN), (" ", ""), known))
        yield from _several("spelled", spelled, width)
    count = None if view.facts.unreachable else view.ways
    many = "" if count is None else plural(count, "way") if count < _HUGE else "very many ways"
    ways = (f", {many} to write it" if many else "", "muted")
    yield told_row("reached", "reached", (*screen_cell(reached(view.facts.unreachable), words=300), ways))


def _several(label: str, cells: Sequence[Cell], width: int) -> Iterator[TableRow]:
    """Yield cells with dots between them, as many in a row as fit."""
    lines: list[Cell] = []
    for cell in cells:
        joined: Cell = (*lines[-1], (" · ", "muted"), *cell) if lines else cell
        if lines and ui_text.width(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(cell)
    for n, line in enumerate(lines):
        yield told_row((label, n), "" if n else label, line)


def _entered(piece: bytes, note: str = "") -> Cell:
    """Return a token that enter goes into."""
    return (*ui_text.tinted(ui_text.runs(piece, limit=_SHOWN), "primary"), (note, "muted"))


def _over(view: TokenView, width: int) -> Iterator[TableRow]:
    """Yield rows on the uses of a token over the run: a curve of its uses at evenly spaced steps, the step of
    most uses, and each token that took uses of it, with how many, at which step.

    Only the first `_MOST_LOST` tokens get a row; one more row sums up the rest. No row if the uses are not
    known.
    """
    if not view.over:
        return
    last = f" 0 … {number(view.number)}"
    room = max(1, min(view.number + 1, 48, width - len(last)))
    numbers = [user.number for user in view.over]
    steps = [round(view.number * n / max(1, room - 1)) for n in range(room)] if view.number else [0]
    values = [view.over[bisect.bisect_right(numbers, step) - 1].uses for step in steps]
    most = max(view.over, key=lambda user: user.uses)
    spark = upright(values, max(most.uses, 1))
    yield told_row("over", "over steps", ((spark, "primary"), (last, "muted")))
    note = f"most: {plural(most.uses, 'time')}, from step {number(most.number)} on"
    yield told_row("most", "", ((note, "muted"),))
    lost = view.lost()
    for n, (piece, by, step) in enumerate(lost[:_MOST_LOST]):
        key = ("token", piece, "lost", n)
        yield told_row(key, "lost" if not n else "", ((number(by), ""), (" to ", "muted"), *_entered(piece),
                       (f" at step {number(step)}", "muted")))
    if (more := len(lost) - _MOST_LOST) > 0:
        taken = sum(by for _, by, _ in lost[_MOST_LOST:])
        note = f"and {number(taken)} to {plural(more, 'more token')}"
        yield told_row("more lost", "", ((note, "muted"),))


# ---- its places


def _places(view: TokenView, places: Places | None, first: int, width: int) -> Iterator[TableRow]:
    """Yield the places of a token in the corpus, numbered from `first`. "looking …" for None, a row that says
    so if there is no place further on; nothing if the token is not used."""
    if not view.uses:
        return
    if places is None:
        yield told_row("places", "in the text", (("looking …", "muted"),))
        return
    if not places.found:
        yield told_row("places", "in the text", (("no further place", "muted"),))
    of = f" of {number(view.uses)}" if places.counted else ""
    size = max([len(number(first + n) + of) for n in range(len(places.found))], default=0)
    for n, place in enumerate(places.found):
        count = f"{number(first + n)}{of}".rjust(size)
        label = "in the text" if not n else ""
        yield told_row(("place", n), label, (*context(place, width - size - 2), (f"  {count}", "muted")))


def context(passage: Context, width: int) -> Cell:
    """Return a token in its text, marked, in exactly so many columns: as much of either side as fits."""
    shown = ui_text.clip(ui_text.tinted(ui_text.runs(passage.shown), "match"), max(1, width - 2))
    room = max(0, width - ui_text.width(shown) - 2)
    before, after = ui_text.runs(passage.before), ui_text.runs(passage.after)
    left, have = room // 2, ui_text.width(before)
    before = ui_text.crop(before, max(0, have - left), have)
    out: Cell = (*ui_text.tinted(before, "muted"), ("│", "frame"), *shown, ("│", "frame"))
    out = ((" " * (left - ui_text.width(before)), ""), *out)
    out = (*out, *ui_text.tinted(ui_text.crop(after, 0, width - ui_text.width(out)), "muted"))
    return (*out, (" " * max(0, width - ui_text.width(out)), ""))


# ---- its merge tree


def _tree(view: TokenView, width: int) -> Iterator[TableRow]:
    """Yield the merge tree, as many levels as there is room for."""
    drawing = tree_of_token(view.facts.tree)
    for n, line in enumerate(drawing.lines(width) if drawing is not None else ()):
        yield told_row(("tree", n), "merge tree" if not n else "", screen_cell(line))
