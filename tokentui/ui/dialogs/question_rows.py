"""The answers to the questions that a vocabulary raises, as rows of a table: one function a question, no
screen in here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.analyze.results import UnusedToken, VocabularyReport, Ways
from tokentui.core.safetext import safe
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run

USED_COLUMNS = (
    Column("id", width=7, align="right", priority=1), Column("token", flex=1, min_width=8, priority=2),
    Column("kind", width=8), Column("why it is not used", flex=3, min_width=16, priority=2),
)
SAVED_COLUMNS = (
    Column("", width=7, align="right"), Column("document", flex=1, min_width=8, priority=3),
    Column("units", width=11, align="right", priority=1),
    Column("tokens", width=11, align="right", priority=1),
    Column("saved", width=11, align="right", priority=2), Column("", width=6, align="right"),
)
ON_COLUMNS = (Column(width=12, priority=1), Column(flex=1, min_width=12, priority=2))
WAYS_COLUMNS = (
    Column("", width=4, align="right"), Column("tokens", width=6, align="right"),
    Column("written as", flex=1, min_width=10, priority=2),
    Column("log probability", width=15, align="right"),
)

_MOST_SHOWN = 200  # characters of a token or a word
_WHY = {
    "special": "special: it is never made from text",
    "byte": "a byte that does not occur here",
    "not in the corpus": "the corpus never spells it",
    "not chosen": "spelled, but other tokens are taken there",
    "unreachable": "no text encodes to it",
}


def needed(columns: Sequence[Column], rows: Sequence[TableRow]) -> tuple[Column, ...]:
    """The columns but for the last ones of which no row has anything."""
    used = max((place + 1 for row in rows for place, cell in enumerate(row.cells) if ui_text.width(cell)),
        default=len(columns))
    return tuple(columns[:used])


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def used_summary(answers: VocabularyReport) -> Cell:
    """Return the number of tokens in the corpus."""
    unused = len(answers.unused)
    told = f"{number(answers.used)} of {plural(answers.vocab_size, 'token')} stand in the corpus at step {number(answers.step)}"
    return ((told, "strong"), (f" · {number(unused)} do not" if unused else " · every one is used", "muted"))


def why(token: UnusedToken) -> Cell:
    """Why a token is not used."""
    if token.why != "swallowed":
        return ((_WHY.get(token.why, safe(token.why)), "muted"),)
    out: list[Run] = [("it always became part of ", "muted")]
    for place, into in enumerate(token.into):
        out += [(", ", "muted")] if place else []
        out += ui_text.runs(into, limit=_MOST_SHOWN)
    return tuple(out) if token.into else (("it always became part of other tokens", "muted"),)


def used(answers: VocabularyReport) -> list[TableRow]:
    """The tokens that are not used, in order of id."""
    return [
        TableRow(token.id, (
            ((number(token.id), "muted"),), ui_text.runs(token.piece, limit=_MOST_SHOWN),
            ((safe(token.kind), "muted"),),
            why(token),
        ))
        for token in answers.unused
    ]


def saved_summary(answers: VocabularyReport) -> Cell:
    """Return the total number of tokens saved."""
    saved = answers.units - answers.tokens
    told = f"{number(saved)} tokens saved, {_share(saved, answers.units)}"
    counts = f"{plural(answers.units, 'unit')} → {plural(answers.tokens, 'token')}"
    return ((told, "strong"), (f" · {counts} in {plural(answers.document_count, 'document')}", "muted"))


def saved(answers: VocabularyReport) -> list[TableRow]:
    """The documents that save most, the best first."""
    rows = []
    for one in answers.documents:
        less = one.units - one.tokens
        rows.append(TableRow(one.number, (
            ((number(one.number), "muted"),), ui_text.runs(one.name, limit=_MOST_SHOWN),
            ((number(one.units), ""),),
            ((number(one.tokens), ""),), ((number(less), "strong"),), ((_share(less, one.units), "muted"),),
        )))
    if answers.document_count > len(answers.documents):
        rest = f"and {plural(answers.document_count - len(answers.documents), 'more document')}"
        rows.append(TableRow("rest", ((), ((rest, "muted"),))))
    return rows


def on_summary(answers: VocabularyReport | None, working: bool) -> Cell:
    """Return the reason why further training ends, or the key that starts it."""
    if working:
        return (("going on until no pair is left …", "strong"), (" esc stops it", "muted"))
    if answers is None or answers.exhausted is None:
        return (("x", "key"), (" goes on with a copy until nothing is left; it may take a while", "muted"))
    return (("Going on until nothing is left", "strong"),
        (f" · {safe(answers.exhausted.end, limit=200)}", "muted"))


def on(answers: VocabularyReport) -> list[TableRow]:
    """Now and at the very end."""
    end = answers.exhausted
    if end is None:
        return []
    whole = f"{number(end.whole)} of {number(end.distinct)} distinct pre-tokens are one token then"
    told = (
        ("merges", f"{number(answers.step)} → {number(end.merges)}"),
        ("vocabulary", f"{number(answers.vocab_size)} → {number(end.vocab_size)} ids"),
        ("corpus", f"{number(answers.tokens)} → {plural(end.tokens, 'token')}"),
        ("whole", whole),
        ("end", safe(end.end, limit=400)),
    )
    return [TableRow(name, (((name, "muted"),), ((text, ""),))) for name, text in told]


def ways_summary(answers: VocabularyReport) -> Cell:
    """Return a title for the list of ways to write a word, and the encoder's rule."""
    if not answers.ways:
        return (("no word to write", "strong"), (" · w types one", "muted"))
    how = {one.how for one in answers.ways}
    taken = f" · • the encoder takes: {safe(how.pop(), limit=200)}" if len(
        how) == 1 else " · • the encoder takes"
    return (("The ways to write a word", "strong"), (taken, "muted"))


def ways(answers: VocabularyReport) -> list[TableRow]:
    """For each word its ways, the fewest tokens first. The one chosen is marked; it stands last if it is not
    among the first.
    """
    rows: list[TableRow] = []
    alike = len({one.how for one in answers.ways}) == 1
    for word, one in enumerate(answers.ways):
        heading: list[Run] = [("‘", "muted"), *ui_text.runs(one.word, limit=_MOST_SHOWN), ("’", "muted")]
        heading += [(f"  {plural(one.count, 'way')}", "strong"),
            ("" if alike else f" · {safe(one.how, limit=200)}", "muted")]
        rows.append(TableRow((word, "word"), ((), (), tuple(heading))))
        shown: Sequence[tuple[tuple[bytes, ...], float | None]] = one.ways
        if one.chosen and one.chosen not in [pieces for pieces, _ in shown]:
            shown = (*shown, (one.chosen, None))
        rows += [_way(word, place, one, pieces, chance) for place, (pieces, chance) in enumerate(shown)]
        if one.count > len(shown):
            rows.append(TableRow((word, "rest"),
                ((), (), ((f"and {plural(one.count - len(shown), 'more way')}", "muted"),))))
    return rows


def _way(word: int, place: int, of: Ways, pieces: tuple[bytes, ...], chance: float | None) -> TableRow:
    taken = pieces == of.chosen
    written: list[Run] = []
    for at, piece in enumerate(pieces):
        written += [("│", "muted")] if at else []
        written += ui_text.tinted(ui_text.runs(piece, limit=_MOST_SHOWN), "accent" if taken else "")
    cells: tuple[Cell, ...] = (
        ((number(place + 1), "muted"),), ((number(len(pieces)), "muted"),), tuple(written),
        (("" if chance is None else f"{chance:.4f}".replace("-", "−"), ""),),
    )
    return TableRow((word, place), cells, mark="•" if taken else " ")
