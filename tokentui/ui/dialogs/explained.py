"""The encoding of a text as rows: the ladder of its merges, the tries of longest match, or the lattice; then
the ways to write it, and what decoding gives back.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence

from tokentui.analyze.results import AppliedMerge, SplitStep, StringFacts, Ways, WordFacts
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run

MOST_WORDS, MOST_STEPS, MOST_EDGES = 50, 200, 100
"""The most words of a text, steps of a word and pieces of its lattice that are listed."""
MOST_TOKENS = 12
"""The most tokens of a text that are listed one by one."""
_PIECE_SHOWN = 200
_SAID_SHOWN = 400
_HUGE = 10**12



def leads_to(key: object) -> int | None:
    """The step that a row tells of, by its key, or that of a row that goes on another; None for no step."""
    match key:
        case ("step", int(step), *_) | (("step", int(step), *_), int()):
            return step
    return None


def reason(found: StringFacts, also: str = "") -> TableRow:
    """Why the text is not one token, in a sentence; the row leads to the step that makes it one.

    Args:
        found: The facts of the text.
        also: What is being found out besides.
    """
    step = found.reason.facts.get("step") if found.reason.reason in ("comes", "later") else None
    sentence = safe(found.refusal or found.why, limit=4 * _SAID_SHOWN)
    said: Cell = ((sentence, "warning" if found.refusal else ""),)
    if isinstance(step, int):
        said = (*said, (" enter", "key"), (" goes there", "muted"))
    return told_row(("step", step, "why"), "one token", (*said, (f" {also}" if also else "", "muted")))


def explained(found: StringFacts, steps: bool) -> Iterator[TableRow]:
    """The encoding of a text, word by word.

    Args:
        found: The facts of the text.
        steps: True if the merges are steps of the training that is seen: their rows lead there.
    """
    words = found.words[:MOST_WORDS]
    for at, word in enumerate(words):
        if at:
            yield told_row(("gap", at), "", ())
        yield from _word(at, word, steps, named=len(found.words) > 1)
    if more := len(found.words) - len(words):
        yield told_row(("more words",), "", ((f"and {plural(more, 'more word')}", "muted"),))
    back, lost = found.round_trip
    if back is not None and lost:
        shown = ui_text.runs(back, limit=_PIECE_SHOWN) or (("nothing", "muted"),)
        yield told_row(("back",), "decoded", shown)
        for at, loss in enumerate(lost):
            yield told_row(("lost", at), "", ((safe(loss, limit=_SAID_SHOWN), "warning"),))


def tokens_of(found: StringFacts) -> Iterator[TableRow]:
    """The tokens of a text with their ids, as many as there is room for; enter goes into each."""
    rows = [] if found.encoding is None else found.encoding.rows
    for n, one in enumerate(rows[:MOST_TOKENS]):
        shown = ui_text.runs(one.text if one.piece is None else one.piece, limit=_PIECE_SHOWN)
        told = "  not in the vocabulary" if one.id is None else f"  id {one.id}"
        key = ("no token", n) if one.id is None else ("token", one.id, n)
        style = "warning" if one.piece is None else "primary"
        yield told_row(key, "" if n else "tokens", (*ui_text.tinted(shown, style), (told, "muted")))
    if (more := len(rows) - MOST_TOKENS) > 0:
        yield told_row("more tokens", "", ((f"and {plural(more, 'more token')}", "muted"),))


def told_row(key: Hashable, label: str, *cells: Cell, mark: str = "") -> TableRow:
    """A row of a label and what is told."""
    return TableRow(key, (((label, "muted"),), *cells), mark=mark)


def _joined(pieces: Iterable[bytes], taken: bool = False) -> Cell:
    out: list[Run] = []
    for at, piece in enumerate(pieces):
        out += [("│", "muted")] if at else []
        out += ui_text.tinted(ui_text.runs(piece, limit=_PIECE_SHOWN), "accent" if taken else "")
    return tuple(out) or (("nothing", "muted"),)


def _word(at: int, word: WordFacts, steps: bool, named: bool) -> Iterator[TableRow]:
    told = word.explanation
    if named:
        spelled = ui_text.runs(told.text, limit=_PIECE_SHOWN)
        yield told_row(("word", at), "word", ui_text.tinted(spelled, "strong"))
    yield told_row(("units", at), "units", _joined(told.units))
    if word.lattice:
        yield from _lattice(at, word)
    else:
        yield from _ladder(at, word, steps)
    if word.ways is None:
        yield told_row(("ways", at), "ways", (("not counted: the word is too long", "muted"),))
    else:
        yield from _ways(at, word.ways)


def _ladder(at: int, word: WordFacts, steps: bool) -> Iterator[TableRow]:
    """A row a merge, or a try, in order: the word as it stands then, and what was merged or tried."""
    told = word.explanation
    for n, (step, count, pieces) in enumerate(itertools.islice(told.ladder, MOST_STEPS)):
        if isinstance(step, AppliedMerge):
            stood = "" if count is None else f"  stood {plural(count, 'time')}"
            merged = (*_joined((step.left,)), (" + ", "muted"), *_joined((step.right,)), (stood, "muted"))
            key: Hashable = ("step", step.rank + 1, at, n) if steps else ("merge", at, n)
            label = f"{'step' if steps else 'merge'} {number(step.rank + 1)}"
            yield told_row(key, label, _joined(pieces), (("  ", ""), *merged))
        elif isinstance(step, SplitStep):
            apart = (*_joined((step.piece,)), (" is taken apart", "muted"))
            gone: Hashable = ("step", step.rank + 1, at, n) if steps else ("split", at, n)
            yield told_row(gone, f"step {number(step.rank + 1)}", _joined(pieces), (("  ", ""), *apart))
        elif step.found:
            tried: Cell = (*_joined((step.candidate,), taken=True), ("  is a token", "muted"))
            yield told_row(("try", at, n), "found", tried, (("  ", ""), *_joined(pieces)))
        else:
            label = "tried" if step.tokens is None else "reached"
            yield told_row(("try", at, n), label, (*_joined((step.candidate,)), (f"  {step.said}", "muted")))
    if (more := len(told.steps) - MOST_STEPS) > 0:
        yield told_row(("more steps", at), "", ((f"and {plural(more, 'more step')}", "muted"),))


def _lattice(at: int, word: WordFacts) -> Iterator[TableRow]:
    """The pieces that may stand in the word, those that most segmentations have first."""
    edges = sorted(word.lattice, key=lambda edge: (-edge.posterior, edge.start, edge.end))
    told = f"{plural(len(edges), 'piece')} may stand in it, with their shares of all ways; • taken"
    yield told_row(("lattice", at), "lattice", ((told, "muted"),))
    for n, edge in enumerate(edges[:MOST_EDGES]):
        unknown = "  unknown" if edge.symbol is None else ""
        one = edge.end == edge.start + 1
        place = f"  unit {edge.end}" if one else f"  units {edge.start + 1} to {edge.end}"
        figures = ((f"{place}, log {_log(edge.score)}{unknown}", "muted"),)
        piece, mark = _joined((edge.piece,), taken=edge.best), "•" if edge.best else ""
        yield told_row(("edge", at, n), _percent(edge.posterior), piece, figures, mark=mark)
    if len(edges) > MOST_EDGES:
        yield told_row(("more edges", at), "", ((f"and {number(len(edges) - MOST_EDGES)} more", "muted"),))


def _ways(at: int, ways: Ways) -> Iterator[TableRow]:
    """The ways to write the word: with probabilities the most probable first, else the shortest."""
    count = number(ways.count) if ways.count < _HUGE else f"about 10^{len(str(ways.count)) - 1}"
    many = f"{count} {'way' if ways.count == 1 else 'ways'} to write it"
    taken = f"; • taken: {safe(ways.how, limit=_SAID_SHOWN)}" if ways.chosen else "; it is refused"
    yield told_row(("ways", at), "ways", ((many, ""), (taken, "muted")))
    shown: Sequence[tuple[tuple[bytes, ...], float | None]] = ways.ways
    if ways.chosen and ways.chosen not in [way for way, _ in shown]:
        shown = (*shown, (ways.chosen, None))
    for n, (way, score) in enumerate(shown):
        chosen = way == ways.chosen
        label = _percent(ways.shares[n]) if n < len(ways.shares) else plural(len(way), "token")
        log: Cell = () if score is None else ((f"  log {_log(score)}", "muted"),)
        yield told_row(("way", at, n), label, _joined(way, taken=chosen), log, mark="•" if chosen else "")
    if (more := ways.count - len(shown)) > 0:
        rest = plural(more, "more way") if more < _HUGE else "very many more"
        yield told_row(("more ways", at), "", ((f"and {rest}", "muted"),))


def _percent(share: float) -> str:
    """A share in at most eight columns."""
    percent = 100 * share
    return f"{percent:.2f} %" if percent >= 0.005 or not share else "< 0.01 %"


def _log(score: float) -> str:
    return f"{score:.4f}".replace("-", "−")
