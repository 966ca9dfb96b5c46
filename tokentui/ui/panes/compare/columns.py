"""The one-line bands of Compare and its columns.

They show what is compared, where two columns part and what they share, and where each of them is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tokentui.analyze.compare import PairAgreement
from tokentui.analyze.results import DivergenceSide
from tokentui.core.engines import FAILED
from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.sequences import common_length
from tokentui.session.snapshot import DivergenceView, SharedTokens, Snapshot
from tokentui.session.views import END, LETTERS, SYNC_UNITS, AtStep, ColumnSnapshot, Position
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, size, step_of
from tokentui.ui.draw.lines import Lines, flow, spread
from tokentui.ui.draw.text import Cell, Run, wrap
from tokentui.ui.panes.column_tables import ColumnTable, candidates, counted_in, size_state, tokens, worth_of
from tokentui.ui.panes.pane import TITLE_CORNERS, VIEWS, Pane, title_cell
from tokentui.ui.panes.scrubber import pace
from tokentui.ui.panes.why import busy_cell, reasons
from tokentui.ui.waits import under_way

OfPair = TypeVar("OfPair", DivergenceView, SharedTokens, PairAgreement)
ALONE_WIDTH = 60
"""Below this width one pane is visible at a time."""
NAME_SHOWN = 60
_WAYS = {"merges": "merges", "size": "vocabulary size", "tokens": "tokens"}
_UNITS = {"merges": "step", "size": "ids", "tokens": "step of A"}


def header(now: Snapshot | None, width: int) -> Cell:
    """Return the first line: program and corpus at the left, the unit of sync at the right.

    Args:
        now: The last snapshot of the session. Before there are columns, the line has what they wait for.
        width: The columns of the terminal.
    """
    program: Cell = ((" tokentui compare", "strong"),)
    if now is None or len(now.columns) == 1:
        busy, keys = (now.busy, safe(now.waiting, limit=NAME_SHOWN)) if now is not None else (None, "")
        what = under_way(busy) if busy is not None else "opening the columns"
        return (*program, (f"   {what}", "muted"), (f" · queued: {keys}" if keys else "", "accent"))
    left: Cell = (
        *program, ("   ", ""), (safe(now.corpus.name, limit=NAME_SHOWN), ""),
        (f" · {size(now.corpus.bytes)}", "muted"),
    )
    if now.between.held_out:
        left = (*left, (" · second: ", "muted"), (safe(now.between.held_out, limit=NAME_SHOWN), ""))
    ways: list[Run] = [("sync by ", "muted")]
    for place, way in enumerate(SYNC_UNITS):
        ways += [(" · " if place else "", "muted"),
            (_WAYS[way], "strong" if way == now.position.by else "muted")]
    right: Cell = (*ways, (" ", ""))
    if ui_text.width(left) + ui_text.width(right) + 2 > width:
        right = (ways[0], (_WAYS[now.position.by], "strong"), (" ", ""))
    return spread(left, right, width)


def status_line(now: Snapshot | None, width: int) -> Sequence[Cell]:
    """Return the position and speed of the columns, the goal of a move, and work in progress, as in `step 128
    ▶ 60/s → 1,000`. Nothing before the first snapshot."""
    if now is None:
        return ()
    ends = [column.at.end.step or column.at.computed for column in now.columns if column.in_sync]
    digits = max(6, len(number(max([now.position.value, *ends]))))
    left: Cell = (
        (f" {_UNITS[now.position.by]} ", "muted"), (number(now.position.value).rjust(digits), "strong"),
        (" ", ""), *pace(now),
    )
    if now.goal is not None:
        left = (*left, (" → the end" if now.goal.value == END else f" → {number(now.goal.value)}", "accent"))
    elif now.between.ended:
        left = (*left, (" the end of all", "muted"))
    right: Cell = ((now.engine, "muted"), (" ", "")) if now.engine == FAILED else ()
    if now.between.busy is not None:
        right = (*busy_cell(now.between.busy)[:-2], (" ", ""))
    return (spread(left, right, width),)


def divergence_line(now: Snapshot | None, pair: tuple[int, int] | None, mode: GlyphMode,
        width: int) -> Sequence[Cell]:
    """Return the line between the panes: where two columns diverge, and how many tokens they share; an empty
    rule without a pair."""
    if now is None or pair is None:
        return ((("─" * width, "frame"),),)
    places, counts = places_of(now.columns, pair), of_pair(now.between.overlaps, pair)
    divergence = of_pair(now.between.divergences, pair)
    divergence_text = divergence_cell(divergence, now.columns, places, mode, short=width < ALONE_WIDTH)
    left: Cell = (("── ", "frame"), *divergence_text, (" ", ""))
    ways: list[Cell] = [()]
    if counts is not None:
        shared = shared_cell(counts, places, counts.at == now.position)
        ways = [((" ", ""), *some, (" ──", "frame")) for some in (shared, shared[:3])] + ways
    room = width - ui_text.width(left) - 2
    right = next((way for way in ways if ui_text.width(way) <= room), ())
    left = ui_text.clip(left, max(0, width - ui_text.width(right) - 1))
    line = "─" * max(0, width - ui_text.width(left) - ui_text.width(right))
    return ((*left, (line, "frame"), *right),)


def costs_line(now: Snapshot | None, width: int) -> Sequence[Cell]:
    """Return the costs of what-ifs, as in `B without ·the: 0.9 % more tokens, 41 tokens never made`. Nothing
    before the first snapshot."""
    if now is None:
        return ()
    keys = [column.key for column in now.columns]
    facts: list[tuple[str, Cell]] = []
    for cost in now.between.costs:
        if cost.run in keys and cost.changed in keys:
            place, against = keys.index(cost.changed), keys.index(cost.run)
            there = cost.cost.step == min(now.columns[at].at.step for at in (place, against))
            name, style = safe(now.columns[place].name, limit=COLUMN_SHOWN), "" if there else "muted"
            cost_line: Cell = (letter(place), (f" {name}: ", "muted"), (cost.cost.said, style))
            facts.append(("   ", (*cost_line, (", against ", "muted"), letter(against))))
    return flow(facts, width, 1)


def at_words(at: Position) -> str:
    """Return a position in words, as in `step 128` or `384 ids`."""
    return f"{number(at.value)} ids" if at.by == "size" else f"step {number(at.value)}"


def places_of(columns: Sequence[ColumnSnapshot], pair: tuple[int, int]) -> tuple[int, int]:
    """Return the indexes of two columns, given their keys; 0 for a column that is not there."""
    keys = [column.key for column in columns]
    a, b = (keys.index(key) if key in keys else 0 for key in pair)
    return a, b


def of_pair(results: Sequence[OfPair], pair: tuple[int, int] | None) -> OfPair | None:
    """Return the result for two columns, given their keys; None if there is none yet, or for None."""
    return next((result for result in results if (result.a, result.b) == pair), None)


def divergence_cell(
    found: DivergenceView | None, columns: Sequence[ColumnSnapshot], places: tuple[int, int], mode: GlyphMode,
    *, short: bool = False,
) -> Cell:
    """Return where two columns diverge, how far they have been compared, or that they are not compared by
    steps, as in `A and B diverge at step 1 A …`.

    Args:
        found: The divergence of the two columns; None if they are not compared step by step.
        columns: All columns.
        places: The indexes of the two columns.
        mode: The way tokens are shown.
        short: True for the form `A·B step 1`.
    """
    both: Cell = (letter(places[0]), ("·" if short else " and ", "muted"), letter(places[1]))
    if found is None:
        return (*both, ("  not compared step by step", "muted"))
    how = (
        "" if found.other is None and not found.literal else " as spelled" if found.literal else " by meaning"
    )
    if found.step is None:
        if found.done:
            spelled = f"; as spelled step {number(found.other)} does" if found.other is not None else ""
            return (*both, (f"  no step differs{how}", "strong"),
                (f", {number(found.looked)} compared{spelled}", "muted"))
        so_far = f"  the first {number(found.looked)} steps are the same"
        return (*both, (so_far, "muted"),
            (", still searching" if found.busy is not None else ", stopped: d continues", "muted"))
    out: Cell = (*both, (" step " if short else " diverge at step ", "muted"), (number(found.step), "strong"))
    out = (*out, (how, "muted")) if how else out
    for place, side in zip(places, found.sides, strict=False):
        out = (*out, ("  ", ""), letter(place), (" ", ""), *choice_cell(side, mode))
    return out


def choice_cell(side: DivergenceSide, mode: GlyphMode) -> Cell:
    """Return what a column chooses at the step: a candidate and its value, as in `·t+he 9,310`, a round, or
    why there is none."""
    why = side.why
    if why.best is not None:
        parts = why.best.parts or (why.best.token,)
        return (*tokens(parts, mode), (" ", ""), (worth_of(why.best), "strong"))
    if why.round is not None:
        return ((why.round.next or why.round.last, ""),)
    return ((f"ends: {safe(why.end or 'nothing is left', limit=NAME_SHOWN)}", "muted"),)


def shared_cell(counts: SharedTokens, places: tuple[int, int], present: bool, part: str = "",
        bare: bool = False) -> Cell:
    """Return `common 88 · only A 296 · only B 113`.

    Args:
        counts: The counts.
        places: The indexes of the two columns.
        present: True if the counts are those of the current position; otherwise they are muted.
        part: The count to highlight: `common`, `only_a` or `only_b`; empty for none.
        bare: True for the counts of tokens without marks.
    """
    a, b = (LETTERS[place] for place in places)
    values = [len(tokens) for tokens in counts.overlaps[bare]]
    wide = len(number(max(values)))
    out: list[Run] = []
    for name, title, value in zip(("common", "only_a", "only_b"), ("common", f"only {a}", f"only {b}"),
            values, strict=True):
        out += [(" · " if out else "", "muted"), (f"{title} ", "focus" if name == part else "muted")]
        out.append((number(value).rjust(wide), ("strong" if name == part else "") if present else "muted"))
    return tuple(out)


# A column of Compare: its step, what it may take next, what it takes and why; or why it cannot be shown.


ERROR_SHOWN = 600
COLUMN_SHOWN = 40
_NAME_LEAST = 12
"""The name of a column keeps this many columns of its title, because it tells the columns apart."""
_RATIO_WIDTH = len("2.00")
_LEAST_DIGITS = len("50,000")
FACTS_WIDTH = 62
"""The width that all facts fit into side by side."""


def letter(place: int) -> Run:
    """Return the letter of the column with an index, in its color."""
    return LETTERS[place], f"column-{place}"


def facts(column: ColumnSnapshot, width: int, height: int) -> Sequence[Cell]:
    """Return the position of a column, in at most `height` lines; nothing if it is not in sync. Figures keep
    their width while they grow."""
    if not column.in_sync:
        return ()
    lines: list[Cell] = [()]
    for fact in _facts(column.at):
        joined: Cell = (*lines[-1], ("  ", ""), *fact) if lines[-1] else fact
        if ui_text.width(joined) <= width - 1:
            lines[-1] = joined
        elif len(lines) < height:
            lines.append(fact)
    return [((" ", ""), *line) for line in lines]


def _facts(at: AtStep) -> list[Cell]:
    """Return the facts of a column: step, ids, bytes per token, tokens and, if it is known, the end. Figures
    are padded to the longest that the run may reach."""
    whole = max(at.end.step or 0, at.computed, at.step)
    step = max(_LEAST_DIGITS, len(number(whole)))
    ids = max(_LEAST_DIGITS, len(number(at.vocab_size + whole - at.step)))
    tokens = len(number(max(at.start_tokens, at.tokens)))
    ratio = "–" if at.bytes_per_token is None else f"{at.bytes_per_token:.2f}"
    if not at.end.exact or at.step < (at.end.step or 0):
        ending = f"ends at {step_of(at.end)}"
    elif at.step > (at.end.step or 0):
        ending = f"past its stop at {step_of(at.end)}"
    else:
        ending = "the last step" if at.end.kind == "last" else "at its stop"
    return [
        (("step ", "muted"), (number(at.step).rjust(step), "strong")),
        ((number(at.vocab_size).rjust(ids), "strong"), (" ids", "muted")),
        ((ratio.rjust(_RATIO_WIDTH), "strong"), (" B/token", "muted")),
        ((number(at.tokens).rjust(tokens), ""), (" tokens", "muted")),
        *([((ending, "muted"),)] if at.end.step is not None else []),
    ]


def column_why(shown: ColumnSnapshot, mode: GlyphMode, width: int, height: int) -> Sequence[Cell]:
    """Return the next choice of a column and its reason, in at most `height` lines; the last line is cut."""
    facts: list[tuple[str, Cell]] = []
    for sentence in reasons(shown, "", mode):
        # It may go on in the next line where it has a wide gap.
        runs = groupby(sentence, lambda run: run == ("   ", ""))
        parts = [tuple(part) for gap, part in runs if not gap]
        facts += [("   " if n else " · ", part) for n, part in enumerate(parts)]
    return flow(facts, width, height)


def column_message(column: ColumnSnapshot, width: int, height: int) -> Sequence[Cell]:
    """Return the text in place of candidates: why a column cannot be shown, or its work in progress."""
    if column.error:
        words = textwrap.wrap(safe(column.error, limit=ERROR_SHOWN), max(2, width - 2))
        lines: list[Cell] = [line for part in words for line in wrap(((part, "error"),), width - 2)]
    elif column.loading is not None:
        lines = [busy_cell(column.loading, width - 2)[:-2]]
    else:
        lines = [(("loading …", "muted"),)]
    about: Cell = ((safe(column.about, limit=ERROR_SHOWN), "muted"),)
    return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in (about, (), *lines)]


class ColumnMessage(Lines, can_focus=True):
    """The text shown where a column has no candidates."""


class CandidateTable(ColumnTable):
    """The candidates of a column of Compare."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "inspect", id="inspect_column", group=Hint(rank=10),
            tooltip="Inspect the selected row"),
    ]


def distinct_name(name: str, others: Sequence[str], columns: int) -> str:
    """Return the name of a column as safe text, distinct from the other names in a narrow title.

    If a name does not fit and has a beginning in common with another one, that is left out: `…2000.json`.
    Otherwise the title cuts its end.

    Args:
        name: The name.
        others: The names of the other columns.
        columns: The columns that the title has for the name.
    """
    kept = max(_NAME_LEAST, min(columns, COLUMN_SHOWN)) - 1
    shared = max((common_length(name, other) for other in others if other != name), default=0)
    if len(name) <= kept or shared < kept:
        return safe(name, limit=COLUMN_SHOWN)
    return safe(f"…{name[min(shared, len(name) - kept):]}", limit=COLUMN_SHOWN)


class ColumnPane(Vertical, Pane):
    """A column of Compare: its position, the candidates of its next step and the reasons, or an error.

    Args:
        place: Its index from the left.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "screen.next_column(-1)", "column", id="choices_left", group=Hint(rank=4),
            tooltip="Go to the column on the left"),
        Binding("right,l", "screen.next_column(1)", "next column", id="choices_right",
            tooltip="Go to the column on the right"),
    ]

    def __init__(self, place: int) -> None:
        self.facts, self.table = Lines(classes="facts"), CandidateTable("candidates", candidates)
        self.message, self.why = ColumnMessage(classes="message"), Lines(classes="why")
        super().__init__(self.facts, self.table, self.message, self.why, id=f"column-{place}", classes="pane")
        self.place = place
        self.column: ColumnSnapshot | None = None
        self._other_names: Sequence[str] = ()

    @property
    def note(self) -> Cell:
        """The number of candidates; empty if the column shows none."""
        return self.table.note if self.table.display and self.table.total else ()

    @property
    def states(self) -> Sequence[str]:
        """The way tokens are shown, and the vocabulary size that ends the training, if they are not the usual
        ones."""
        limited = self.column is not None and self.column.size_limit
        return (
            *filter(None, [VIEWS[self.mode]]),
            *([size_state(self.column)] if limited and self.column is not None else []),
        )

    def sections(self, snapshot: Snapshot) -> object:
        """Return the column with the index of the pane; empty if there are fewer columns."""
        return snapshot.columns[self.place : self.place + 1]

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the column with the index of the pane, or only its message if it is not in sync; do nothing if
        there are fewer columns.

        A pane whose column enters or leaves the sync loses the focus. Another column is shown from its top.
        """
        if self.place >= len(now.columns):
            return
        column, mode = now.columns[self.place], self.mode
        before = self.column or column
        if before.in_sync != column.in_sync and self.has_focus_within:
            # what is hidden must not hand the focus to whatever stands next to it
            self.screen.set_focus(None)
        if before.key != column.key:
            self.table.move_to(0)
        self.column, shown = column, column.in_sync
        self._other_names = [other.name for other in now.columns if other is not column]
        self.table.display = self.facts.display = self.why.display = shown
        self.message.display = not shown
        self.facts.show(lambda width, height: facts(column, width, height))
        self.message.show(lambda width, height: column_message(column, width, height))
        if shown:
            self.table.show(column, mode)
            self.why.show(lambda width, height: column_why(column, mode, width, height))
        self.update_title()

    def on_resize(self) -> None:
        """Fit the title to the new width."""
        self.update_title()

    def update_title(self) -> None:
        """Show the letter and the name of the column in the border; do nothing before there is one."""
        if self.column is None:
            return
        letter_width = 2
        width = self.outer_size.width - letter_width
        counted = counted_in(self.column) if self.column.in_sync else ""
        name = distinct_name(
            self.column.name, self._other_names,
            width - TITLE_CORNERS - len(counted) - len("".join(f" · {state}" for state in self.states)),
        )
        named = title_cell(((name + counted, True),), self.states, width, _NAME_LEAST)
        text, style = letter(self.place)
        self.set_titles(((f"{text} ", f"{style}+strong"), *named), self.note)
