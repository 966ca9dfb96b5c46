"""The differences of two columns: merges, ids, tokens that went and came, specials, steps, documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Never

from tokentui.analyze.diff import Change, ChangedToken, Diff, MergeSide, MovedIds, Rescored
from tokentui.analyze.documents import ChangedDocument, DocumentsDiff
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.session.commands import Command, DiffColumns
from tokentui.ui.dialogs import LEAVE, SCROLL
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.report import ReportScreen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

_SHOWN, _BEFORE = 60, 16


class DiffScreen(ReportScreen[Diff]):
    """Lists what differs from one column to another. Enter on a token tells all about it.

    Args:
        face: The program.
        pair: The keys of the columns, the old one first.
        names: Their names.
    """

    ASKING = "comparing …"
    ACTIONS: ClassVar[Sequence[Action[Never]]] = (
        Action(("enter",), "open"), SCROLL, LEAVE, Action(("equals_sign", "q"), "", lambda it: it.leave()),
        Action(("x",), "the other way", lambda it: it.turn()),
    )

    def __init__(self, face: Face, pair: tuple[int, int], names: tuple[str, str]) -> None:
        super().__init__(face)
        self.pair, self.names = pair, names
        self._title()

    def _title(self) -> None:
        steps = {column.key: column.at.step for column in self.now.columns} if self.now is not None else {}
        old, new = (
            safe(name, limit=40) + (f" at step {number(steps[key])}" if key in steps else "")
            for key, name in zip(self.pair, self.names, strict=True)
        )
        self.heading = f"From {old} to {new}"

    def question(self) -> Command[Diff]:
        """The question."""
        return DiffColumns(*self.pair)

    def turn(self) -> None:
        """Take the second one for the old one."""
        self.pair, self.names = self.pair[::-1], self.names[::-1]
        self._title()
        self.name_box(self.heading)
        self.again()

    def said(self, answer: Diff) -> Cell:
        """The change of the corpus in a line."""
        if answer.same:
            return (("nothing differs", "strong"),)
        texts = answer.documents
        if texts is None:
            return (("they differ", "strong"),)
        growth = "" if texts.growth is None else f"{texts.growth:+.3%}".replace("-", "−")
        told = f"{number(texts.a)} → {plural(texts.b, 'token')} {growth}"
        changed = f" · {number(texts.recut)} of {plural(texts.documents, 'document')} with other tokens"
        return ((told, "strong"), (changed, "muted"), (f", {number(texts.changed)} with other ids", "muted"))

    def columns(self) -> Sequence[Column]:
        """A label, figures, and a text."""
        label, figures = Column(width=12, priority=1), Column(width=22, priority=2)
        return label, figures, Column(flex=1, min_width=20, priority=3)

    def rows(self, answer: Diff) -> Iterator[TableRow]:
        """The parts that differ."""
        if (found := answer.merges) is not None:
            yield from self.part("merges", _title("merges", f"differ first at step {number(found.step)}"),
                                 list(enumerate((found.a, found.b))), _side)
            meant = answer.merges_by_meaning
            if meant is None or meant.step != found.step:
                told = "the same by what they mean" if meant is None else (
                    f"by what they mean, at step {number(meant.step)}")
                yield TableRow("meant", ((), (), ((told, "muted"),)))
        if answer.moved:
            told = f"{plural(answer.moved_count, 'token')} moved; "
            told += f"{number(answer.reused)} ids are another token's now"
            yield from self.part("ids", _title("ids", told), answer.moved, _moved)
        for n, (name, tokens) in enumerate((("went", answer.went), ("came", answer.came))):
            if tokens:
                title = _title(name, plural(len(tokens), "token"))
                yield from self.part(name, title, tokens, partial(_token, n))
        if answer.rescored:
            yield from self.part("scores", _title("scores", plural(len(answer.rescored), "token")),
                                 answer.rescored, _rescored)
        for name, changes in (("specials", answer.specials), ("steps", answer.steps),
                              ("template", (answer.template,) if answer.template else ())):
            if changes:
                title = _title(name, plural(len(changes), "difference"))
                yield from self.part(name, title, changes, partial(_change, name))
        if answer.documents is not None and answer.documents.worst:
            yield from self._documents(answer.documents)

    def _documents(self, texts: DocumentsDiff) -> Iterator[TableRow]:
        told = f"{number(texts.grown)} grow, {number(texts.shrunk)} shrink"
        if texts.refused_a or texts.refused_b:
            told += f"; the first refuses {number(texts.refused_a)}, the second {number(texts.refused_b)}"
        yield from self.part("documents", _title("documents", told), texts.worst, _document)

    def chosen(self, key: Hashable) -> None:
        """Tell all about a token."""
        match key:
            case ("token", int(side), int(token)):
                self.face.push(InspectScreen(self.face, token=token, column=self.pair[side]))


def _title(name: str, told: str) -> tuple[Cell, ...]:
    return ((name, "strong"),), (), ((told, "muted"),)


def _runs(piece: bytes) -> Cell:
    return ui_text.runs(piece, limit=_SHOWN)


def _side(row: tuple[int, MergeSide | None]) -> TableRow:
    place, side = row
    name: Cell = (("  first" if place == 0 else "  second", "muted"),)
    if side is None:
        return TableRow(("side", place), (name, (), (("has no more merges", ""),)))
    left, right = side.parts
    other = "not in the other" if side.elsewhere is None else f"step {number(side.elsewhere)} of the other"
    more = "" if side.built is None else f" · {plural(side.built, 'later merge')} made of it"
    uses = "" if side.uses is None else f" · {number(side.uses)} uses in documents that change"
    pair = *_runs(left), (" + ", "muted"), *_runs(right)
    told: tuple[Run, ...] = (*pair, (" → ", "muted"), *_runs(side.token))
    return TableRow(("token", place, side.id), (name, ((f"id {number(side.id)}", ""),),
                                                (*told, (f"   {other}{more}{uses}", "muted"))))


def _moved(one: MovedIds) -> TableRow:
    told = f"{number(one.first)} → {number(one.first + one.by)}"
    alike = one.last - one.first
    more = f"  and the {number(alike)} after it" if alike else ""
    return TableRow(("moved", one.first), ((), ((told, ""),), (*_runs(one.piece), (more, "muted"))))


def _token(side: int, one: ChangedToken) -> TableRow:
    uses = "" if one.uses is None else f"   {number(one.uses)} uses in documents that change"
    return TableRow(("token", side, one.id), ((), ((f"{number(one.id)} {safe(one.kind)}", "muted"),),
                                              (*_runs(one.piece), (uses, "muted"))))


def _rescored(one: Rescored) -> TableRow:
    told = f"{one.a:.4f} → {one.b:.4f}".replace("-", "−")
    return TableRow(("scored", one.piece), ((), ((told, ""),), _runs(one.piece)))


def _change(name: str, one: Change) -> TableRow:
    texts = ("none" if text is None else safe(text, limit=200) or "nothing" for text in (one.a, one.b))
    where: Cell = ((safe(one.where, limit=60), "muted"),)
    return TableRow((name, one.where), ((), where, ((" → ".join(texts), ""),)))


def _document(one: ChangedDocument) -> TableRow:
    if one.a is None or one.b is None:
        sizes: Cell = (("refused", "error"),)
    else:
        by = f"{one.growth:+,}".replace("-", "−")
        style = "warning" if one.growth > 0 else "success"
        sizes = ((f"{number(one.a)} → {number(one.b)} ", ""), (by, style))
    cell: list[Run] = []
    if one.place is not None:
        place = one.place
        cell += [(safe(place.before[-_BEFORE:]), "muted"), ("▸", "muted"),
                 (safe(place.text, limit=_SHOWN), "strong"), ("◂   ", "muted")]
        for n, tokens in enumerate((place.a, place.b)):
            cell += [("  →  " if n else "", "muted"), ("│".join(map(safe, tokens)) or "nothing", "")]
    else:
        cell += [(safe(why or one.name, limit=200), "muted") for why in one.refusals if why] or [
            (safe(one.name, limit=200), "muted")]
    times = "" if one.count == 1 else f" ×{number(one.count)}"
    name: Cell = ((f"  {number(one.number)}{times}", "muted"),)
    return TableRow(("document", one.number), (name, sizes, tuple(cell)))
