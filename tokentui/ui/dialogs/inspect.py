"""One token or pair, exactly: its bytes, its code points with their names, its text in every way it can be
written.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from tokentui.analyze.results import CheckResult, HealthReport, VocabularyFacts
from tokentui.core.safetext import GLYPH_MODES, safe
from tokentui.core.table import plural
from tokentui.learn.rows import Candidate, Entry, PairCandidate, PieceCandidate, TokenCandidate
from tokentui.recipe import Recipe
from tokentui.session.commands import ExamineHealth
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs import LEAVE, SCROLL, ListDialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import amount, number, signed
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import Face, loads
from tokentui.ui.keys import Action

MOST_SHOWN = 2048
"""The most bytes of a piece that are written out; a longer one ends in an ellipsis."""

Row: TypeAlias = Candidate | Entry
"""A row that can be inspected."""

_REASON_SHOWN = 300
_COLUMNS = (Column(width=10, priority=1), Column(flex=1, min_width=12, priority=2))
_UNNAMED = {
    "Cc": "a control character",
    "Cf": "a formatting character",
    "Cn": "not assigned",
    "Co": "for private use",
    "Cs": "half of a surrogate pair",
}


def _said(text: str, rest: str = "", style: str = "") -> Cell:
    return ((text, style), (f"  {rest}" if rest else "", "muted"))


def facts(row: Row, step: int = 0) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a row at a step as (label, cell), without its code points."""
    piece, parents = piece_of(row), tuple[bytes, ...]()
    match row:
        case TokenCandidate():
            yield "id", _said(number(row.id), "" if row.number <= step else "not made yet", "strong")
            yield (
                "made",
                _said(f"step {number(row.number)}, {safe(row.place, limit=_REASON_SHOWN)} in the file"),
            )
            told = f"{number(row.places)} in {number(row.words)} distinct words"
            yield "places", _said(told, "as soon as it is made")
            parents = row.parts
        case Entry():
            yield "id", _said("–" if row.id is None else number(row.id), row.kind, "strong")
            if row.made is not None:
                counted = "" if row.places is None else f", from {plural(row.places, 'pair')}"
                yield "made", _said(f"step {number(row.made)}{counted}")
            reason = safe(row.reason, limit=_REASON_SHOWN)
            if row.kind == "left":
                yield "left for", _said(reason, "" if row.score is None else _figure(row.score))
            else:
                used = "not used" if not row.uses else plural(row.uses, "time")
                yield (
                    "uses now",
                    ((used if row.uses is not None else "not counted", "" if row.uses else "muted"),),
                )
                if reason:
                    yield "never", _said(reason, "no text becomes it", "warning")
                if row.score is not None:
                    log = f"the natural log of {_figure(math.exp(row.score))}"
                    yield "score", _said(_figure(row.score), log)
            parents = row.parts
        case PieceCandidate():
            yield from _judged(row)
        case PairCandidate():
            yield from _counted(row)
            parents = row.parts
    if parents:
        yield "parents", _joined(parents)
    front, end = row.marks
    if front:
        yield "mark", (*ui_text.runs(piece[:front]), ("  in front: it goes on with a word", "muted"))
    if end:
        yield "mark", (*ui_text.runs(piece[-end:]), ("  at the end: a word ends with it", "muted"))
    piece = bare_of(row)
    for mode in GLYPH_MODES:
        if mode != "hex":
            yield mode, ui_text.runs(piece, mode=mode, limit=4 * MOST_SHOWN)
    rest = " …" if len(piece) > MOST_SHOWN else ""
    yield "hex", _said(piece[:MOST_SHOWN].hex(" ") + rest, plural(len(piece), "byte"))
    if rest:
        yield "sha256", _said(hashlib.sha256(piece).hexdigest(), "of all bytes")


def piece_of(row: Row) -> bytes:
    """The exact bytes that a row is about."""
    return row.piece if isinstance(row, Entry) else row.token


def spelled_marks(piece: bytes, recipe: Recipe) -> tuple[int, int]:
    """Return the number of bytes of a piece that are the recipe's mark, by its spelling.

    It is used where no vocabulary gives the exact number.
    """
    mark, kind = recipe.mark_text.encode(), recipe.mark_kind
    front = kind == "prefix" and piece.startswith(mark) and len(piece) > len(mark)
    end = kind.startswith("end-") and piece.endswith(mark)
    return len(mark) if front else 0, len(mark) if end else 0


def bare_of(row: Row) -> bytes:
    """The bytes of a row's piece without its mark."""
    front, end = row.marks
    piece = piece_of(row)
    return piece[front : len(piece) - end]


def _named(row: Row) -> tuple[object, ...]:
    """Return the identity of a row: equal for the same row at another time."""
    return (row.piece, row.id) if isinstance(row, Entry) else (row.parts, row.token)


def _judged(row: PieceCandidate) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a piece from the next pruning."""
    yield "p", _said(_figure(row.probability), style="strong")
    yield "expected", _said(f"{amount(row.expected)} times", "over all segmentations")
    yield "uses now", _said(plural(row.uses, "time"), "in the best segmentations")
    yield "loss", _said(_figure(row.loss), "of the mean log probability of a token, without it")
    yield "instead", _joined(row.parts) if row.parts else (("nothing", "muted"),)
    fate = "dropped" if row.taken else "goes" if row.reason else "stays"
    yield "pruning", _said(fate, safe(row.reason, limit=_REASON_SHOWN), "warning" if row.reason else "")


def _counted(row: PairCandidate) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a pair from its count and its score."""
    change = "new" if row.new else signed(row.change)
    yield "count", _said(number(row.count), f"{change} with the last step" if change else "", "strong")
    scored = not isinstance(row.worth, int)
    if row.left_uses and row.right_uses:
        yield "its sides", _said(f"{number(row.left_uses)} and {number(row.right_uses)} times")
        ratio = Fraction(row.count, row.left_uses * row.right_uses)
        told = "count over the product of these" if not scored or row.worth == ratio else ""
        yield "score", _said(_figure(row.score if scored else float(ratio)), told, "strong")
    if row.tied:
        yield (
            "tied", _said("another pair is exactly as good" if scored else "another pair has the same count"),
        )
    if row.expansion:
        yield "stands for", ui_text.runs(row.expansion, limit=MOST_SHOWN)


def _joined(pieces: Sequence[bytes]) -> Cell:
    joined: list[ui_text.Run] = []
    for piece in pieces:
        joined += [(" + ", "muted")] if joined else []
        joined += ui_text.runs(piece, limit=MOST_SHOWN)
    return tuple(joined)


def _figure(value: float) -> str:
    """A figure with as many digits as a reader wants."""
    return ("∞" if math.isinf(value) else f"{value:.6g}") if value >= 0 else "−" + _figure(-value)


def code_points(piece: bytes) -> Iterator[tuple[str, Cell]]:
    """The characters of a piece with their names; bytes that are no whole character stand for themselves."""
    for char in piece[:MOST_SHOWN].decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            yield f"<{ord(char) - 0xDC00:02X}>", (("a byte that is no whole character", "muted"),)
            continue
        name = unicodedata.name(char, "") or _UNNAMED.get(unicodedata.category(char), "without a name")
        yield f"U+{ord(char):04X}", (*ui_text.runs(char), (f"  {name}", "muted"))


class InspectScreen(ListDialog[None]):
    """Shows a row of the vocabulary, of the pairs or of the pieces by loss.

    While the corpus is loaded it follows the row, whose figures still grow.

    Args:
        face: The program.
        row: The row.
    """

    HEADING = "Inspect"

    def __init__(self, face: Face, row: Row) -> None:
        shown = "".join(text for text, _ in ui_text.runs(piece_of(row), limit=30))
        super().__init__(face, f"{self.HEADING} ‘{shown}’")
        self._row, self._follows = row, loads(face.snapshot)

    def follow(self, snapshot: Snapshot) -> None:
        """Take the figures of the row as they are now, where it is seen."""
        super().follow(snapshot)
        if not self._follows or not self.is_mounted:
            return
        rows: tuple[Row, ...] = (*snapshot.main.candidates.rows, *snapshot.main.vocabulary.rows)
        same = [row for row in rows if type(row) is type(self._row) and _named(row) == _named(self._row)]
        if same and same[0] != self._row:
            self._row = same[0]
            self.lay_out()

    def lay_out(self) -> None:
        """Break long values for the room there is."""
        step = self.now.main.at.step if self.now is not None else 0
        told = (*facts(self._row, step), ("", ()), *code_points(bare_of(self._row)))
        self.tell(_COLUMNS, [
            TableRow(place, (((label, "muted"),), cell)) for place, (label, cell) in enumerate(told)
        ])


# The facts of a tokenizer: its steps, what is in its vocabulary, and a report on its health.


STATUS: dict[str, str] = {"PASS": "success", "WARN": "warning", "FAIL": "error"}
"""The colour of what comes of a check."""

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
        self.name_box(f"{self.HEADING} · {safe(name, limit=60)}", f"step {number(now.main.at.step)}")

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
            for check in self.report.checks:
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
        if name := _check_of(event.key):
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
