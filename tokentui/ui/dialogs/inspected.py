"""The report of the inspector: sections on a row, on a token, and on a text.

`tokentui inspect` prints the report of `analyze.inspect` on the same token or text. Both take what they share
from `analyze.token_words` and `analyze.explained`.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from tokentui.analyze.drawings import Flow, tree_of_token
from tokentui.analyze.explained import leads_to
from tokentui.analyze.report import (
    Line,
    Part,
    Section,
    Span,
    Target,
    data,
    merged,
    muted,
    parts_of,
    strong,
    warning,
)
from tokentui.analyze.report import Row as ReportRow
from tokentui.analyze.results import StringFacts
from tokentui.analyze.token_words import (
    MOST_SHOWN,
    byte_sections,
    figure,
    made_section,
    mark_sections,
    reached,
    score_section,
)
from tokentui.axes import AXES
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, safe
from tokentui.core.table import plural
from tokentui.core.tints import tints
from tokentui.learn.rows import Candidate, Entry, PairCandidate, PieceCandidate, TokenCandidate
from tokentui.recipe import Recipe
from tokentui.session.training.token_values import Context, Places, TokenView
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import amount, kind_name, number, signed, upright
from tokentui.ui.draw.sections import as_line
from tokentui.ui.draw.text import Cell

Row: TypeAlias = Candidate | Entry
"""A row that can be inspected."""

_SENTENCE_SHOWN, _REASON_SHOWN = 1600, 300
_TOKEN_SHOWN = 40
"""The maximum number of characters of a token that is mentioned; enter inspects it."""
_MOST_TOKENS, _MOST_LOST, _MOST_MADE = 12, 4, 6
_WIDEST_CURVE = 48
"""The maximum number of columns of the curve of uses."""
_HUGE = 10**12
"""A number of ways from which on it is not written out."""
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_SPACE = "▁"
"""The sign of sentencepiece for a space."""


# ---- a row


def piece_of(row: Row) -> bytes:
    """Return the exact bytes of the token that a row is about."""
    return row.piece if isinstance(row, Entry) else row.token


def bare_of(row: Row) -> bytes:
    """Return the bytes of the token of a row without its mark, such as `##`."""
    front, end = row.marks
    piece = piece_of(row)
    return piece[front : len(piece) - end]


def text_of(row: Row, recipe: Recipe) -> str | None:
    """Return the text that a row's token stands for at the start of a text; None if its bytes are not UTF-8.

    Marks are left out. If the split marks spaces, `▁` becomes a space, and a leading one is left out.
    """
    try:
        text = bare_of(row).decode()
    except UnicodeDecodeError:
        return None
    marked = AXES["split"].of(recipe.split).marks_spaces
    return text.removeprefix(_SPACE).replace(_SPACE, " ") if marked else text


def identity_of(row: Row) -> tuple[object, ...]:
    """Return a value that is equal for the same row at other steps: its token with its id, or with its parts.
    """
    return (row.piece, row.id) if isinstance(row, Entry) else (row.parts, row.token)


def row_sections(row: Row, step: int = 0) -> Iterator[Section]:
    """Yield the figures of a row.

    Args:
        row: The row.
        step: The current step: a token of an opened file that a later step makes is "not made yet".
    """
    match row:
        case TokenCandidate():
            yield _fact("id", strong(str(row.id)), "" if row.number <= step else "not made yet")
            place = safe(row.place, limit=_REASON_SHOWN)
            yield Section("made", f"step {number(row.number)}, {place} in the file")
            note = f"{number(row.places)} in {number(row.words)} distinct words"
            yield _fact("places", note, "as soon as it is made")
        case Entry():
            yield from _entry_sections(row)
        case PieceCandidate():
            yield from _piece_sections(row)
        case PairCandidate():
            yield from _pair_sections(row)


def parents_section(row: Row) -> Iterator[Section]:
    """Yield the parts of a merge; nothing for a piece of a pruning or a row without parts."""
    if row.parts and not isinstance(row, PieceCandidate):
        yield Section("parents", merged(row.parts))


def spelling_sections(row: Row) -> Iterator[Section]:
    """Yield the mark of a row's token, its text in each spelling, and its bytes."""
    yield from mark_sections(piece_of(row), row.marks)
    piece = bare_of(row)
    for mode in GLYPH_MODES:
        if mode != "hex":
            yield Section(mode, _written(piece, limit=4 * MOST_SHOWN, mode=mode))
    yield from byte_sections(piece)


def _entry_sections(row: Entry) -> Iterator[Section]:
    """Yield the figures of a token of the vocabulary; of a piece that left it only its id, its step and why.
    """
    yield _fact("id", strong("–" if row.id is None else str(row.id)), kind_name(row.kind))
    if row.made is not None:
        yield made_section(row.made, row.places)
    reason = safe(row.reason, limit=_REASON_SHOWN)
    if row.kind == "left":
        yield _fact("left for", reason, "" if row.score is None else figure(row.score))
        return
    unused = muted("not counted" if row.uses is None else "not used")
    yield Section("uses now", plural(row.uses, "time") if row.uses else unused)
    if reason:
        yield _fact("never", warning(reason), "no text encodes to it")
    if row.score is not None:
        yield score_section(row.score)


def _piece_sections(row: PieceCandidate) -> Iterator[Section]:
    """Yield the figures of a piece from the next pruning."""
    yield Section("p", strong(figure(row.probability)))
    yield _fact("expected", f"{amount(row.expected)} times", "over all segmentations")
    yield _fact("uses now", plural(row.uses, "time"), "in the best segmentations")
    yield _fact("loss", figure(row.loss), "of the mean log probability of a token, without it")
    yield Section("instead", merged(row.parts) if row.parts else muted("nothing"))
    fate = "dropped" if row.taken else "goes" if row.reason else "stays"
    reason = safe(row.reason, limit=_REASON_SHOWN)
    yield _fact("pruning", warning(fate) if row.reason else fate, reason)


def _pair_sections(row: PairCandidate) -> Iterator[Section]:
    """Yield the count of a pair, its change, its ties and its expansion, as far as they are known. If the
    uses of both sides are known, also yield these and a score: that of the training, or count / (left ×
    right) if it goes by counts."""
    change = "new" if row.new else signed(row.change)
    yield _fact("count", strong(number(row.count)), f"{change} with the last step" if change else "")
    scored = not isinstance(row.worth, int)
    if row.left_uses and row.right_uses:
        yield Section("its sides", f"{number(row.left_uses)} and {number(row.right_uses)} times")
        ratio = Fraction(row.count, row.left_uses * row.right_uses)
        note = "count divided by their product" if not scored or row.score == float(ratio) else ""
        yield _fact("score", strong(figure(row.score if scored else float(ratio))), note)
    if row.tied:
        same = "another pair is exactly as good" if scored else "another pair has the same count"
        yield Section("tied", same)
    if row.expansion:
        yield Section("stands for", _written(row.expansion, limit=MOST_SHOWN))


def _fact(name: str, value: Part, rest: str) -> Section:
    """Return a line with a value, followed by muted words if `rest` is not empty."""
    return Section(name, (value, muted(f"  {rest}")) if rest else value)


def _written(piece: bytes, role: str = "", *, limit: int, mode: GlyphMode = "text") -> Line:
    """Return bytes as visible text of at most `limit` characters in a role; the limit may exceed that of
    reports."""
    return as_line(ui_text.tinted(ui_text.runs(piece, mode=mode, limit=limit), role))


# ---- a token


def entry_of(view: TokenView) -> Entry:
    """Return the row of the vocabulary for a token."""
    facts = view.facts
    return Entry(
        facts.id, -1 if view.symbol is None else view.symbol, facts.piece, facts.kind, view.made, facts.count,
        view.uses, facts.score, facts.parents, facts.marks, facts.unreachable,
    )


def token_sections(view: TokenView, places: Places | None, first: int) -> Iterator[Section]:
    """Yield the facts of a token that its row lacks. The merge tree, parts, tokens made of it, spellings, and
    how it is reached always come, even if empty. Rank and places come only for a token that is used, its uses
    over the run only if they are known.

    Args:
        view: The token.
        places: The places to show; None while they are looked up.
        first: The number of the first place, from 1.
    """
    if view.uses:
        rank = f"{ordinal(view.rank)} of {plural(view.tokens, 'token')} that are used"
        yield Section("rank", rank)
    yield from _uses_sections(view)
    yield Section("merge tree", drawing=tree_of_token(view.facts.tree), beside=True)
    yield parts_section(view.facts.parents, _TOKEN_SHOWN)
    made = [
        _token_row(one.token.id, one.token.piece,
            muted(f"  used {plural(one.uses, 'time')}, made at step {number(one.step)}"))
        for one in view.makes[:_MOST_MADE]
    ]
    left = view.facts.child_count - len(made)
    yield _rows_beside("makes", made, f"and {plural(left, 'more token')}" if left > 0 else "")
    if view.uses:
        yield _places_section(places, view.uses, first)
    spelled = [
        (*_written(one.piece, limit=_TOKEN_SHOWN), Span(" "),
            muted("–") if one.id is None else Span(f"id {one.id}"))
        for one in view.spellings
    ]
    yield Section("spelled", drawing=Flow(tuple(spelled)), beside=True)
    count = None if view.facts.unreachable else view.ways
    many = "" if count is None else plural(count, "way") if count < _HUGE else "very many ways"
    answer = parts_of(reached(safe(view.facts.unreachable, limit=_REASON_SHOWN)))
    yield Section("reached", (*answer, muted(f", {many} to write it" if many else "")))


def parts_section(parts: Sequence[bytes], limit: int = MOST_SHOWN) -> Section:
    """Return the parts of a merge, each cut to `limit` characters. Enter on a part inspects it."""
    return _rows_beside("parts", [_token_row(part, part, limit=limit) for part in parts])


def word_section(word: str) -> Section:
    """Return the word that contains a token. Enter on it inspects the word."""
    shown = as_line(ui_text.tinted(ui_text.runs(word, limit=MOST_SHOWN), "primary"))
    return _rows_beside("in the word", [ReportRow((shown,), Target("word", text=word))])


def ordinal(count: int) -> str:
    """Return a count as an ordinal number: `1st`, `2nd`, `11th`."""
    ending = "th" if count % 100 in (11, 12, 13) else _ENDINGS.get(count % 10, "th")
    return f"{number(count)}{ending}"


def _rows_beside(name: str, rows: Iterable[ReportRow], more: str = "") -> Section:
    """Return a section with its first row beside its name.

    Args:
        name: The name.
        rows: The rows.
        more: The text of a last row, on what is left out; empty for none.
    """
    last = (ReportRow((muted(more),)),) if more else ()
    return Section(name, rows=(*rows, *last), beside=True)


def _token_row(token: int | bytes, piece: bytes, *notes: Part, limit: int = _TOKEN_SHOWN) -> ReportRow:
    """Return the row of a token; enter on it inspects the token.

    Args:
        token: Its id, or its exact bytes.
        piece: Its bytes.
        notes: What follows them.
        limit: The maximum number of characters of the bytes.
    """
    named = Target("token", piece=token) if isinstance(token, bytes) else Target("token", token)
    return ReportRow(((*_written(piece, "primary", limit=limit), *notes),), named)


def _uses_sections(view: TokenView) -> Iterator[Section]:
    """Yield the uses of a token over the run as a curve, and the tokens that took uses of it, with the
    numbers and steps. Yield nothing if the uses are not known."""
    if not view.over:
        return
    most = max(view.over, key=lambda user: user.uses)
    note = f"most: {plural(most.uses, 'time')}, from step {number(most.number)} on"
    yield Section("over steps", rows=(ReportRow((muted(note),)),), drawing=UsesCurve(view), beside=True)
    lost = view.lost()
    rows = []
    for piece, by, step in lost[:_MOST_LOST]:
        row = _token_row(piece, piece, muted(f" at step {number(step)}"))
        rows.append(ReportRow(((number(by), muted(" to "), *parts_of(row.cells[0])),), row.target))
    left = lost[_MOST_LOST:]
    taken = number(sum(by for _, by, _ in left))
    yield _rows_beside("lost", rows, f"and {taken} to {plural(len(left), 'more token')}" if left else "")


class UsesCurve(NamedTuple):
    """The uses of a token over the run as a drawing: a bar at each of some evenly spaced steps, at most 48.

    Attributes:
        view: The token, with its uses over the run.
    """

    view: TokenView

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return one line: the bars, as many as fit in `width` columns, and the range of steps. `ascii_only`
        has no effect."""
        end, over = self.view.number, self.view.over
        last = f" 0 … {number(end)}"
        room = max(1, min(end + 1, _WIDEST_CURVE, width - len(last)))
        steps = [round(end * n / max(1, room - 1)) for n in range(room)] if end else [0]
        numbers = [user.number for user in over]
        values = [over[bisect.bisect_right(numbers, step) - 1].uses for step in steps]
        most = max(user.uses for user in over)
        return [(Span(upright(values, max(most, 1)), "primary"), muted(last))]


def _places_section(places: Places | None, uses: int, first: int) -> Section:
    """Return the places of a token in the corpus, numbered from `first`, of `uses` in all if that is counted.
    While they are looked up, and if there are none, return a line that says so."""
    if places is None or not places.found:
        return Section("in the text", muted("looking …" if places is None else "no further place"))
    of = f" of {number(uses)}" if places.counted else ""
    counts = tuple(f"{number(first + n)}{of}" for n in range(len(places.found)))
    return Section("in the text", drawing=PlacesInText(places.found, counts), beside=True)


class PlacesInText(NamedTuple):
    """Places of a token as a drawing, each with the text around it and its number.

    Attributes:
        places: The places.
        counts: The label of each, such as `3 of 120`.
    """

    places: Sequence[Context]
    counts: Sequence[str]

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return a line for each place, `width` columns wide. `ascii_only` has no effect."""
        size = max(map(len, self.counts))
        return [
            (*as_line(context(place, width - size - 2)), muted(f"  {count.rjust(size)}"))
            for place, count in zip(self.places, self.counts, strict=True)
        ]


def context(passage: Context, width: int) -> Cell:
    """Return a token in its text, highlighted and between bars, in exactly `width` columns. The token is in
    the middle, and text on both sides is cut to fit."""
    shown = ui_text.clip(ui_text.tinted(ui_text.runs(passage.shown), "match"), max(1, width - 2))
    room = max(0, width - ui_text.width(shown) - 2)
    before, after = ui_text.runs(passage.before), ui_text.runs(passage.after)
    left, have = room // 2, ui_text.width(before)
    before = ui_text.crop(before, max(0, have - left), have)
    out: Cell = (*ui_text.tinted(before, "muted"), ("│", "frame"), *shown, ("│", "frame"))
    out = ((" " * (left - ui_text.width(before)), ""), *out)
    out = (*out, *ui_text.tinted(ui_text.crop(after, 0, width - ui_text.width(out)), "muted"))
    return (*out, (" " * max(0, width - ui_text.width(out)), ""))


# ---- a text


def is_token(found: StringFacts, token: int | None) -> bool:
    """Return whether a text alone is encoded as exactly one token, with this id."""
    return found.encoding is not None and [row.id for row in found.encoding.rows] == [token]


def why_section(found: StringFacts, also: str = "", token: int | None = None) -> Section:
    """Return the reason why a text is or is not one token, in a sentence. Enter on it goes to the step that
    makes the token, if there is one.

    Args:
        found: The facts of the text.
        also: Muted words after the sentence, on what is still looked up; empty for none.
        token: The id of the token that the text was taken from. If the text alone is not this token, as `e`
            is not `##e`, the sentence is labeled as one about a text of its own. None for a typed text.
    """
    sentence = safe(found.refusal or found.why, limit=_SENTENCE_SHOWN)
    line: list[Part] = [warning(sentence) if found.refusal else sentence]
    step = leads_to(found.reason)
    if step is not None:
        line += [Span(" enter", "key"), muted(" goes there")]
    one = found.encoding is not None and len(found.encoding.rows) == 1
    label = "one token" if one else "why not"
    if token is not None and not is_token(found, token):
        label = "as a text"
        line = [data(found.text), muted(" as a text of its own: "), *line]
    if also:
        line.append(muted(f" {also}"))
    target = None if step is None else Target("step", step)
    return _rows_beside(label, [ReportRow((tuple(line),), target)])


def tokens_section(found: StringFacts) -> Section:
    """Return the first tokens of a text with their ids, and how many more there are. Enter on a token
    inspects it."""
    tokens = () if found.encoding is None else found.encoding.rows
    grounds = tints([token.start for token in tokens[:_MOST_TOKENS]])
    rows = []
    for token, tint in zip(tokens, grounds, strict=False):
        # without chips the tint is not drawn
        piece = data(token.text, "warning") if token.piece is None else \
            Span(token.piece, f"primary+tint-{tint}")
        if token.id is None:
            rows.append(ReportRow(((piece, muted("  not in the vocabulary")),)))
        else:
            rows.append(ReportRow(((piece, muted(f"  id {token.id}")),), Target("token", token.id)))
    left = len(tokens) - _MOST_TOKENS
    return _rows_beside("tokens", rows, f"and {plural(left, 'more token')}" if left > 0 else "")
