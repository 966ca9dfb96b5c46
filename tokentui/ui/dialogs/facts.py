"""The facts of a tokenizer: its steps, what is in its vocabulary, and a report on its health."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence

from textual.app import ComposeResult

from tokentui.analyze.results import CheckResult, HealthReport, VocabularyFacts
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.session.commands import ExamineHealth
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.dialog import LEAVE, Dialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.listing import Listing
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.draw.widths import clusters_of
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

STATUS: dict[str, str] = {"PASS": "success", "WARN": "warning", "FAIL": "error"}
"""The colour of what comes of a check."""

_LABEL, _WIDE_LABEL, _WIDE = 22, 34, 90
_TEXT_SHOWN = 400
_PIECE_SHOWN = 40
_LISTED = 5
_BARS = 6


class FactsScreen(Dialog[None]):
    """Shows what is known of the tokenizer of the present step.

    Args:
        face: The program.
    """

    HEADING = "Facts"
    ACTIONS = (
        Action(("enter",), "examples"), Action(("up", "down"), "scroll", keys_shown=2),
        Action(("a",), "all examples", lambda it: it.open_all()), LEAVE,
        Action(("q", "F"), "", lambda it: it.leave()),
    )
    DEFAULT_CSS = """
    FactsScreen Listing { height: 1fr; }
    FactsScreen Notice { height: 2; }
    """

    def __init__(self, face: Face) -> None:
        super().__init__(face)
        self._now = face.snapshot
        self._open: set[str] = set()
        """The checks whose examples are seen."""
        self.report: HealthReport | None = None
        self._failed = False
        self.listing = Listing(())

    def compose_box(self) -> ComposeResult:
        """The list, and what the row under the cursor is about."""
        yield self.listing
        yield self.notice

    def on_mount(self) -> None:
        """Show what is known at once, and ask for the rest."""
        self._say_what()
        self.set_focus(self.listing)
        self.tell_waiting()
        self.run_worker(self._find(), group="facts")

    def _say_what(self) -> None:
        now = self._now
        if now is None or now.nothing:
            return
        name = now.main.opened.name if now.main.opened is not None else now.main.preset or "the tokenizer"
        what = "birth" if now.main.opened is not None else "step"
        self.name_box(f"{self.HEADING} · {safe(name, limit=60)}", f"{what} {number(now.main.at.step)}")

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take the state until the report on it has come."""
        super().follow(snapshot)
        if self.report is None and not self._failed and snapshot is not None and self.is_mounted:
            self._now = snapshot
            self._say_what()
            self.lay_out()

    def tell_waiting(self) -> None:
        """Say it where the report will say what it is about."""
        if self.report is None and not self._failed:
            self.notice.say(self.waits or "looking at every token …")

    async def _find(self) -> None:
        try:
            self.report = await self.face.ask(ExamineHealth())
        except TokentuiError as error:
            self._failed = True
            self.notice.tell(error)
            return
        self.listing.cursor = 0  # what has come stands above what was seen
        self.lay_out(keep=False)
        self._say()

    # What is seen.

    def lay_out(self, keep: bool = True) -> None:
        """Break long lines for the room there is."""
        listing = self.listing
        label = _LABEL if listing.size.width < _WIDE else _WIDE_LABEL
        columns = Column(width=4, priority=3), Column(width=label, priority=1), Column(flex=1, min_width=16,
            priority=2)
        listing.set_columns(columns)
        width = max(10, listing.size.width - 4 - label - 5)
        listing.show(list(self._rows(width)), keep=listing.cursor_key if keep else None)

    def _rows(self, width: int) -> Iterator[TableRow]:
        if self.report is not None:
            counts = [(name, sum(check.status == name for check in self.report.checks))
                for name in (*STATUS, "n/a")]
            yield _heading("Health", " · ".join(f"{count} {name}" for name, count in counts if count))
            for check in self.report.checks:
                yield from self._check(check, width)
        opened = self._now.main.opened if self._now is not None else None
        if opened is not None:
            yield _heading("Steps", "in the order in which a text passes them")
            for at, stage in enumerate(opened.stages):
                what: Cell = (("opaque  ", "warning"),
                    (safe(stage.what), "")) if stage.opaque else ((safe(stage.what), ""),)
                said: Cell = (*what, (f"   {safe(stage.axis)}", "muted")) if stage.axis else what
                yield from _wrapped(("stage", at), ("", ""), stage.name, said, width)
            yield from _wrapped("births", ("", ""), "births",
                ((f"{number(opened.births)}, {safe(opened.order)}", ""),), width)
            for at, note in enumerate(opened.notes):
                yield from _wrapped(("note", at), ("!", "warning"), "" if at else "notes",
                    ((safe(note), "warning"),), width)
        if self.report is not None:
            yield _heading("Vocabulary", "")
            for at, (label, cell) in enumerate(_facts(self.report.facts)):
                yield from _wrapped(("fact", at), ("", ""), label, cell, width)

    def _check(self, check: CheckResult, width: int) -> Iterator[TableRow]:
        mark: Run = (check.status, STATUS.get(check.status, "muted"))
        yield from _wrapped(("check", check.name), mark, check.title,
            ((safe(check.observed, limit=_TEXT_SHOWN), ""),), width)
        if check.name not in self._open:
            return
        for at, one in enumerate(check.examples):
            which, note = "" if one.id is None else f"{one.id} ", safe(one.note, limit=_TEXT_SHOWN)
            cell: Cell = ((which, "muted"), *ui_text.runs(one.piece, limit=_PIECE_SHOWN))
            said: Cell = (*cell, (f"  {note}", "muted"))
            if ui_text.width(said) <= width:
                yield from _wrapped(("example", check.name, at), ("", ""), "", said, width)
            else:
                yield from _wrapped(("example", check.name, at), ("", ""), "", cell, width)
                yield from _wrapped(("note", check.name, at), ("", ""), "", ((f"  {note}", "muted"),), width)
        rest = check.count - len(check.examples)
        if rest > 0:
            yield TableRow(("rest", check.name),
                ((), (), ((f"and {plural(rest, 'more', 'more')}", "muted"),)))

    def _say(self) -> None:
        """Say what the check under the cursor is good for, and what it is held against."""
        key = self.listing.cursor_key
        name = key[0][1] if isinstance(key, tuple) and isinstance(key[0],
            tuple) and key[0][0] == "check" else None
        found = [check for check in (self.report.checks if self.report is not None else ())
            if check.name == name]
        if found:
            self.notice.say(f"{safe(found[0].about)} {safe(found[0].threshold)}")
        elif self.report is not None:
            self.notice.say("enter on a check shows examples")

    # What the user does.

    def on_virtual_table_cursor_moved(self) -> None:
        """Say what the row is about."""
        self._say()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Show the examples of a check, or hide them."""
        match event.key:
            case (("check", str(name)), _):
                self._open ^= {name}
                self.lay_out()

    def open_all(self) -> None:
        """Show the examples of all checks, or of none."""
        if self.report is not None:
            self._open = set() if self._open else {check.name for check in self.report.checks}
            self.lay_out()


def _facts(health: VocabularyFacts) -> Iterator[tuple[str, Cell]]:
    """Yield the counts of a vocabulary as (label, cell)."""
    yield "ids", ((number(health.vocab_size), "strong"), (f", the first is {health.first_id}", "muted"))
    yield "kinds", _listed([(kind, count) for kind, count in health.kinds])
    if health.scripts:
        yield "scripts", _listed(health.scripts[:_BARS], len(health.scripts) - _BARS)
    if health.lengths:
        yield "characters", _listed([(f"{size}", count) for size, count in health.lengths[:10]],
            len(health.lengths) - 10)
    yield "longest", _pieces([(one, piece) for one, piece in health.longest])
    alike = [(ids[0], piece) for piece, ids in health.duplicates]
    yield "spelled alike", _pieces(alike) if alike else (("none", "muted"),)
    holes: Sequence[tuple[int, int]] = health.holes
    many = sum(last - first + 1 for first, last in holes)
    ranges = ", ".join(f"{first}–{last}" if last > first else f"{first}" for first, last in holes[:_LISTED])
    yield "holes in the ids", ((number(many), "warning"),
        (f"  {ranges}", "")) if many else (("none", "muted"),)
    if health.shared:
        yield "ids of several tokens", ((", ".join(map(str, health.shared[:_LISTED])), "warning"),)
    yield "not whole characters", _pieces(health.broken) if health.broken else (("none", "muted"),)
    yield "white space alone", _pieces(health.spaces) if health.spaces else (("none", "muted"),)
    if health.missing_bytes:
        yield "bytes without a token", ((number(len(health.missing_bytes)), "warning"),)


def _listed(counts: Sequence[tuple[str, int]], more: int = 0) -> Cell:
    out: list[Run] = []
    for name, count in counts:
        out += [(" · " if out else "", "muted"), (f"{safe(name)} ", "muted"), (number(count), "")]
    return (*out, (f" · and {more} more", "muted")) if more > 0 else tuple(out)


def _pieces(tokens: Sequence[tuple[int, bytes]]) -> Cell:
    out: list[Run] = [(f"{number(len(tokens))}: ", "")]
    for one, piece in tokens[:_LISTED]:
        out += [*ui_text.runs(piece, limit=_PIECE_SHOWN), (f" {one}  ", "muted")]
    return (*out, ("…", "muted")) if len(tokens) > _LISTED else tuple(out)


def _heading(title: str, rest: str) -> TableRow:
    return TableRow(None, ((), ((title, "strong"),), ((rest, "muted"),)))


def _broken(cell: Cell, width: int) -> Iterator[Cell]:
    """A cell as lines of so many columns, broken between words; where there are none in the second half of a
    line, anywhere.
    """
    chars = [(cluster, name, width_of) for text, name in cell for cluster, width_of in clusters_of(text)]
    if not chars:
        yield ()
    start = 0
    while start < len(chars):
        end, used, after = start, 0, start
        while end < len(chars) and (end == start or used + chars[end][2] <= width):
            used += chars[end][2]
            end += 1
            after = end if chars[end - 1][0] == " " else after
        skipped = end < len(chars) and chars[end][0] == " "
        if end < len(chars) and not skipped and after - start > (end - start) // 2:
            end = after
        yield tuple(
            ("".join(char for char, *_ in run), name) for name,
            run in itertools.groupby(chars[start:end], operator.itemgetter(1))
        )
        start = end + skipped


def _wrapped(key: object, mark: Run, label: str, cell: Cell, width: int) -> Iterator[TableRow]:
    for line, part in enumerate(_broken(cell, width)):
        first = not line
        yield TableRow((key, line), ((mark,) if first else (), ((safe(label) if first else "", "muted"),),
            part))
