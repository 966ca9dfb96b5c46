"""The facts of a tokenizer: its steps, what is in its vocabulary, and a report on its health."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from tokentui.analyze.results import CheckResult, HealthReport, VocabularyFacts
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.session.commands import ExamineHealth
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs import LEAVE, SCROLL, ListDialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

STATUS: dict[str, str] = {"PASS": "success", "INFO": "muted", "WARN": "warning", "FAIL": "error"}
"""The colour of what comes of a check."""

_FAIL, _WARN, _INFO = "FAIL", "WARN", "INFO"
_FOLDED = {"PASS": ("passed", "passed"), "n/a": ("does not apply", "do not apply")}
"""The statuses whose checks one row stands for, and the verb of one check and of several. The status is the
key of the row."""
_LABEL, _WIDE_LABEL, _WIDE = 22, 31, 70
_TEXT_SHOWN = 400
_PIECE_SHOWN = 40
_LISTED = 5
_BARS = 6


class FactsScreen(ListDialog[None]):
    """Shows what is known of the tokenizer of the present step.

    Args:
        face: The program.
    """

    HEADING = "Facts"
    ACTIONS = (
        Action(("enter",), "examples"), SCROLL,
        Action(("a",), "all examples", lambda it: it.open_all()), LEAVE,
        Action(("q", "F"), "", lambda it: it.leave()),
    )

    def __init__(self, face: Face) -> None:
        super().__init__(face)
        self._open: set[str] = set()
        """The checks whose examples are seen."""
        self.report: HealthReport | None = None
        self.parts = self.listing, self.notice

    def on_mount(self) -> None:
        """Show what is known at once, and ask for the rest."""
        self._say_what()
        self.find_out(ExamineHealth(), self._take, "looking at every token …")

    def _say_what(self) -> None:
        if (now := self.now) is None or now.corpus.nothing:
            return
        name = now.main.opened.name if now.main.opened is not None else now.main.preset or "the tokenizer"
        whole = now.main.opened is not None  # a file is judged at its last step
        about = "the whole file" if whole else f"step {number(now.main.at.step)}"
        self.name_box(f"{self.HEADING} · {safe(name, limit=60)}", about)

    def follow(self, snapshot: Snapshot) -> None:
        """Take the state until the report on it has come."""
        if self.report is not None:
            return
        super().follow(snapshot)
        if self.is_mounted:
            self._say_what()
            self.lay_out()

    def _take(self, report: HealthReport) -> None:
        self.report = report
        self.listing.cursor = 0  # what has come stands above what was seen
        self.lay_out()
        self._say()

    # What is seen.

    def lay_out(self) -> None:
        """Break long lines for the room there is."""
        label = _LABEL if self.listing.size.width < _WIDE else _WIDE_LABEL
        columns = (Column(width=4, priority=3), Column(width=label, priority=1),
            Column(flex=1, min_width=16, priority=2))
        self.tell(columns, self._rows(), words=True, keep=self.listing.cursor_key)

    def _rows(self) -> Iterator[TableRow]:
        if self.report is not None:
            counts = [(name, sum(check.status == name for check in self.report.checks))
                for name in (*STATUS, "n/a")]
            yield _heading("Health", " · ".join(f"{count} {name}" for name, count in counts if count))
            checks = self.report.checks
            for status in (_FAIL, _WARN, _INFO):  # what is wrong stands on top
                for check in checks:
                    if check.status == status:
                        yield from self._check(check)
            for status, (of_one, of_many) in _FOLDED.items():
                folded = [check for check in checks if check.status == status]
                if folded:
                    shown = status in self._open
                    said = "enter folds them" if shown else "enter shows them ▸"
                    label = f"{plural(len(folded), 'check')} {of_one if len(folded) == 1 else of_many}"
                    yield _row(status, label, (said, "muted"), mark=(status, STATUS.get(status, "muted")))
                    for check in folded if shown else ():
                        yield from self._check(check)
        opened = self.now.main.opened if self.now is not None else None
        if opened is not None:
            yield _heading("Steps", "in the order in which a text passes them")
            for at, stage in enumerate(opened.stages):
                axis = f"   {safe(stage.axis)}" if stage.axis else ""
                yield _row(("stage", at), stage.name, ("opaque  " if stage.opaque else "", "warning"),
                    (safe(stage.what), ""), (axis, "muted"))
            yield _row("replay", "replay steps", (f"{number(opened.steps)}, {safe(opened.order)}", ""))
            for at, note in enumerate(opened.notes):
                yield _row(
                    ("note", at), "" if at else "notes", (safe(note), "warning"), mark=("!", "warning"))
        lengths = self.now.main.at.lengths if self.now is not None else ()
        if lengths:
            yield _heading("Corpora", "tokens and bytes a token of each, and its cost beside the cheapest")
            most = max(one.bytes_per_token or 0 for one in lengths)
            for one in lengths:
                each = one.bytes_per_token
                cost = f"  {each:.2f} B/token  {most / each:.2f} × the cheapest" if each else ""
                yield _row(("corpus", one.name), one.name, (number(one.tokens), "strong"), (cost, "muted"))
        if self.report is not None:
            yield _heading("Vocabulary", "")
            for at, (label, cell) in enumerate(_facts(self.report.facts)):
                yield _row(("fact", at), label, *cell)

    def _check(self, check: CheckResult) -> Iterator[TableRow]:
        yield _row(("check", check.name), check.title, (safe(check.observed, limit=_TEXT_SHOWN), ""),
            mark=(check.status, STATUS.get(check.status, "muted")))
        if check.name not in self._open:
            return
        for at, one in enumerate(check.examples):
            which = ("" if one.id is None else f"{one.id} ", "muted")
            cell: Cell = (which, *ui_text.runs(one.piece, limit=_PIECE_SHOWN))
            note: Cell = ((f"  {safe(one.note, limit=_TEXT_SHOWN)}", "muted"),)
            yield TableRow(("example", check.name, at), ((), (), cell, note))
        if check.count > len(check.examples):
            rest = plural(check.count - len(check.examples), "more", "more")
            yield _row(("rest", check.name), "", (f"and {rest}", "muted"))

    def _say(self) -> None:
        """Say what the check under the cursor is good for, and what it is held against."""
        name = _check_of(self.listing.cursor_key)
        found = [check for check in (self.report.checks if self.report else ()) if check.name == name]
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
        key = event.key[0] if isinstance(event.key, tuple) else event.key
        if key in _FOLDED:
            self._open ^= {str(key)}
            self.lay_out()
        elif name := _check_of(event.key):
            self._open ^= {name}
            self.lay_out()

    def open_all(self) -> None:
        """Show the examples of all checks, or of none."""
        if self.report is not None:
            self._open = set() if self._open else {*_FOLDED, *(check.name for check in self.report.checks)}
            self.lay_out()


def _facts(health: VocabularyFacts) -> Iterator[tuple[str, Cell]]:
    """Yield the counts of a vocabulary as (label, cell)."""
    yield "ids", ((number(health.vocab_size), "strong"), (f", the first is {health.first_id}", "muted"))
    yield "kinds", _listed([(kind, count) for kind, count in health.kinds])
    if health.scripts:
        yield "scripts", _listed(health.scripts[:_BARS], len(health.scripts) - _BARS)
    if health.lengths:
        yield "characters", _listed([(f"{size}:", count) for size, count in health.lengths[:10]],
            len(health.lengths) - 10)
    yield "longest", _pieces([(one, piece) for one, piece in health.longest])
    alike = [(ids[0], piece) for piece, ids in health.duplicates]
    yield "spelled alike", _pieces(alike) if alike else (("none", "muted"),)
    holes: Sequence[tuple[int, int]] = health.holes
    many = sum(last - first + 1 for first, last in holes)
    ranges = ", ".join(f"{first}–{last}" if last > first else f"{first}" for first, last in holes[:_LISTED])
    yield "holes in the ids", ((number(many), "warning"),
        (f"  {ranges}", "")) if many else (("none", "muted"),)
    if health.shared_ids:
        yield "ids of several tokens", ((", ".join(map(str, health.shared_ids[:_LISTED])), "warning"),)
    yield "not whole characters", _pieces(health.not_utf8) if health.not_utf8 else (("none", "muted"),)
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


def _row(key: Hashable, label: str, *cell: Run, mark: Run = ("", "")) -> TableRow:
    return TableRow(key, ((mark,), ((safe(label), "muted"),), cell))


def _check_of(key: Hashable) -> str:
    """The check that a row is about; empty for other rows."""
    match key:
        case ("check", str(name)) | (("check", str(name)), int()):
            return name
    return ""
