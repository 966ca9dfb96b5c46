"""The reasons for the next step and the account of the last one, as the pane Why shows them."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.axes import AXES
from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.table import plural
from tokentui.learn.rows import Candidate, Judged, PairCandidate, Round, TokenCandidate
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Busy, ColumnSnapshot, documents_of
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import bar, behind, number, signed
from tokentui.ui.draw.lines import flow
from tokentui.ui.draw.text import Cell, Run, tinted
from tokentui.ui.panes.column_tables import replacement_cell, tokens, worth_of
from tokentui.ui.waits import loading, time_left

_STEPS = {
    "em": ("EM", "expected counts from the current probabilities, then new probabilities from those counts"),
    "prune": ("pruning", "removes the pieces with the smallest loss, and those with a better segmentation"),
    "cut": ("the last cut", "keeps the most probable pieces, as many as requested"),
}
"""A step that may come: what it is called, and what it does."""
_DONE = {"seeds": "the seeds", "em": "EM", "prune": "pruning", "cut": "the last cut"}


def next_step(at: Round) -> list[Cell]:
    """Return the next step of a Unigram training: `next  pruning of round 2   1,204 of 29,914 pieces go`."""
    name, meaning = _STEPS.get(at.next, (at.next, ""))
    # A round begins after a pruning; the cut still belongs to the last one.
    coming = at.round + 1 if at.last == "prune" and at.next != "cut" else max(1, at.round)
    which = "" if at.next == "cut" else f" of round {number(coming)}"
    step: Cell = (("next  ", "accent"), (name, "strong"), (which, ""))
    if at.going is None:
        return [(*step, (f": {meaning}" if meaning else "", "muted"))]
    of = f" of {plural(at.pieces + at.taken, 'piece')} {'goes' if at.going == 1 else 'go'}"
    out: list[Cell] = [(*step, ("   ", ""), (number(at.going), "warning"), (of, "muted"))]
    if at.taken:
        rest = f", {number(at.going - at.taken)} to go"
        out.append(((f"{number(at.taken)} gone one by one", ""), (rest, "muted")))
    return [*out, ((meaning, "muted"),)] if meaning else out


def last_step(at: Round) -> list[Cell]:
    """Return the last step of a Unigram training: `after EM: objective 8.12345 → 8.01234 (−0.11111), 29,914
    pieces, 86 dropped`."""
    before = "" if at.before is None else f"{at.before:.5f} → "
    change = "" if at.before is None else f" ({at.objective - at.before:+.5f})".replace("-", "−")
    dropped = f", {number(at.dropped)} dropped" if at.dropped else ""
    sentence: Cell = ((f"after {_DONE.get(at.last, at.last)}: ", "muted"), ("objective ", "muted"))
    figures: Cell = ((before, "muted"), (f"{at.objective:.5f}", "strong"), (change, "muted"))
    return [(*sentence, *figures), ((plural(at.pieces, "piece"), ""), (dropped, "muted"))]


_BAR = 20
FACT_SHOWN = 300
_NAME = 20
_MANY_LINES = 6
_MADE: Run = ("made  ", "muted")
"""The beginning of the sentence about the last step."""
_LAST: Run = ("last ", "muted")
"""The beginning of the sentence about the last token of an opened file."""
_NEXT: Run = ("next  ", "accent")
"""The beginning of the sentence about the next step."""


def busy_cell(busy: Busy, room: int = 1000) -> Cell:
    """Return work in progress, as in `counting 45 % ▇▇▇▇····  12 s left   esc stops it`. The bar is left out
    if the text before `esc` is wider than `room` columns."""
    what: Cell = ((safe(busy.what, limit=60), "strong"),)
    if busy.total > 0:
        share = min(busy.done, busy.total) / busy.total
        filled = bar(share, 1, _BAR)
        rest = "·" * (_BAR - len(filled))
        what = (*what, (f" {int(100 * share):3d} % ", ""), (filled, "primary"), (rest, "future"))
        if busy.left is not None:
            what = (*what, (f"  {time_left(busy)}", ""))
        if ui_text.width(what) > room:
            what = tuple([run for run in what if run[1] not in ("primary", "future")])
    elif busy.done:
        what = (*what, (f" {number(busy.done)}", ""))
    return (*what, ("   esc", "key"), (" stops it", "muted"))


def sentences(snapshot: Snapshot | None, mode: GlyphMode) -> list[Cell]:
    """Return the sentences about the first column and the work in progress, the most important first; none
    before the first snapshot."""
    out: list[Cell] = []
    if snapshot is None:
        return out
    if snapshot.busy is not None:
        out.append(busy_cell(snapshot.busy))
    if snapshot.waiting:
        out.append((("queued: ", "accent"), (safe(snapshot.waiting, limit=FACT_SHOWN), "")))
    if snapshot.corpus.nothing_open:
        return out or [((loading(snapshot), "muted"),)]
    main = snapshot.main
    out += reasons(main, snapshot.corpus.name, mode, saves=False) + effects(main, mode, not snapshot.running)
    last, replays = main.at.last, main.traits.replays
    if last is None or replays or not last.parts or not main.traits.grows:
        return out
    token = replacement_cell(last.token) if main.traits.compresses else tokens((last.token,), mode)
    merge: Cell = (_MADE, *tokens(last.parts, mode), (" → ", "muted"), *token)
    places = plural(last.places, "place") if isinstance(last.worth, int) else worth_of(last)
    sentence: Cell = (*merge, ("   ", ""), (places, ""))
    if last.tied:
        known = AXES["tie"].get(main.recipe.tie)
        rule = safe(main.recipe.tie, limit=60) + (f" {known.why}" if known is not None else "")
        sentence = (*sentence, (" · tied with another: ", "muted"), (rule, "muted"))
    return [*out, sentence]


def why_lines(cells: Sequence[Cell], width: int, height: int) -> list[Cell]:
    """Return the sentences of the Why pane in at most `height` lines. With several lines, the last step has
    the last one to itself, so that longer sentences never push it out; with many, a long sentence takes
    several. A single line names the last step in short, then the next one."""
    if height == 1 and (line := _in_one_line(cells, width)):
        return [line]
    *others, last = cells or [()]

    def whole(cell: Cell) -> list[Cell]:
        long = height >= _MANY_LINES and ui_text.width(cell) > width - 2
        return ui_text.wrap(cell, width - 2, words=True) if long else [cell]

    kept = whole(last)[:2] if others and height > 1 and last[:1] == (_MADE,) else []
    rest = [(" · ", line) for cell in (others if kept else cells) for line in whole(cell)]
    lines = flow(rest, width, height - len(kept))
    return [*lines, *(line for cell in kept for line in flow([(" · ", cell)], width, 1))]


def _in_one_line(cells: Sequence[Cell], width: int) -> Cell:
    """Return the sentences in one line, as in `made h+a → ha (2) · next ha+t → hat   2 places`, with work in
    progress first; empty if no last step is named or nothing else is."""
    made = next((cell for cell in cells if cell[:1] in ((_MADE,), (_LAST,))), ())
    if not made or len(cells) == 1:
        return ()
    brief, rest = made, [cell for cell in cells if cell is not made]
    if made[0] == _MADE:
        end = made.index(("   ", ""))
        brief = (("made ", "muted"), *made[1:end], (f" ({made[end + 1][0].split()[0]})", ""))
    at = next((n for n, cell in enumerate(rest) if cell[:1] == (_NEXT,)), 0)
    brief = ui_text.clip(brief, max(1, (width - 5) // 2))
    joined = [*rest[:at], brief, *rest[at:]]
    (line,) = flow([(" · ", cell) for cell in joined], width, 1)
    if at < len(rest) and rest[at][0] == _NEXT and _NEXT not in line:
        whole = [run for cell in joined for run in ((" · ", "muted"), *cell)][1:]
        line = ((" ", ""), *ui_text.clip(tuple(whole), max(0, width - 2)))
    return line


_PLACES, _AROUND = 2, 8
"""The maximum number of places of a pair that the pane shows, and the characters at either side of each."""


def effects(column: ColumnSnapshot, mode: GlyphMode, places: bool = True) -> list[Cell]:
    """Return the effects of the next merge: the length of the corpus and of the typed text, and, if `places`,
    up to two places in the visible corpus."""
    why, traits, best = column.why, column.traits, column.why.best
    if best is None or why.end is not None or not traits.grows or traits.replays or traits.compresses:
        return []
    out = [shortening(column.at.tokens, column.at.tokens - why.replaced)]
    encoding = column.encoding
    if encoding.tokens and not encoding.error and AXES["encode"].of(column.recipe.encode).by_rank:
        found, merged, at, wide = encoding.tokens, 0, 0, len(best.parts)
        while at + 1 < len(found):  # from the left, none twice
            here = tuple(token.piece for token in found[at : at + wide]) == best.parts and (
                found[at].word == found[at + wide - 1].word >= 0
            )
            merged, at = merged + here * (wide - 1), at + 1 + here * (wide - 1)
        out.append(shortening(len(found), len(found) - merged, yours=True))
    mark = column.recipe.mark_text if AXES["mark"].of(column.recipe.mark).in_front else ""
    most = len(out) + _PLACES
    run = [part.decode("utf-8", "surrogateescape") for part in best.parts]
    # A mark in front is not in the text: a left part has none at the start of a word.
    inside = [part[len(mark) :] if part.startswith(mark) else None for part in run]
    expected = [None if mark and run[0].startswith(mark) else run[0], *inside[1:]], inside
    longest = {max(filter(None, texts), key=len, default="") for texts in expected}
    documents = documents_of(column.corpus.parts) if places else []
    for shown, n, part in ((document, n, part) for document in documents for n, part in enumerate(document)):
        if not any(text in part.text for text in longest):
            continue  # for a pair that is not there 0.5 ms in place of 2.8
        for at in range(len(part.tokens) - len(run) + 1):
            stretch = part.tokens[at : at + len(run)]
            left, right = stretch[0], stretch[-1]
            texts = [part.text[token.start : token.end] for token in stretch]
            if texts != expected[left.start > 0] or any(token.partial for token in stretch):
                continue
            before = "".join([near.text for near in shown[max(0, n - _AROUND) : n]]) + part.text[: left.start]
            after = part.text[right.end :] + "".join([near.text for near in shown[n + 1 : n + 1 + _AROUND]])
            out.append(in_context(before[-_AROUND:], texts, after[:_AROUND], mode))
            break
        if len(out) == most:
            break
    return out


def reasons(column: ColumnSnapshot, corpus: str, mode: GlyphMode, saves: bool = True) -> list[Cell]:
    """Return the reasons for a column's next step, the most important first.

    Args:
        column: The column.
        corpus: The name of the corpus; empty if the screen names it elsewhere.
        mode: The way tokens are shown.
        saves: True to say how many tokens the step saves.
    """
    out: list[Cell] = []
    if column.partial:
        out.append((("only part of the corpus is counted so far: these numbers still grow", "warning"),))
    why, traits = column.why, column.traits
    if error := column.errors.get("why"):
        return [*out, ((safe(error, limit=FACT_SHOWN), "error"),)]
    out += chosen(column, corpus, mode)
    if why.round is not None:
        out += last_step(why.round)
    out += [((safe(fact, limit=FACT_SHOWN), "warning" if traits.replays else "muted"),) for fact in why.facts]
    out += language_bars(why.judged)
    if column.opened is not None and traits.replays:
        last = column.at.last
        if isinstance(last, TokenCandidate):
            made = f" id {last.id}", f", {plural(last.places, 'place')}"
            sentence = tinted(tokens((last.token,), mode), "accent")
            out.append((_LAST, *sentence, *((text, "muted") for text in made)))
        out.append(((f"{number(column.at.vocab_size)} of {number(column.opened.size)} ids", ""),))
        out.append(((f"steps {safe(column.opened.order, limit=120)}", "muted"),))
    # What a compression saves is among its facts, and what its table costs.
    elif saves and why.best is not None and why.end is None and traits.grows and not traits.compresses:
        out.append((("saves ", "muted"), (plural(why.replaced, "token"), "")))
    return out


_JUDGED, _FEW, _NARROW = 12, 3, 8
"""The maximum number of languages that the pane shows, the worst off; the maximum number with wide bars and
all figures; the width of a narrow bar."""


def language_bars(languages: Sequence[Judged]) -> list[Cell]:
    """Return a bar for each language that a parity-aware training chooses from: `▸ hi ▇▇▇▇▇▇▇▇ 1,204 of 3,011
    tokens`. The chosen one comes first."""

    def length(language: Judged) -> float:
        return language.tokens if language.compressed is None else 1 / max(language.compressed, 1e-9)

    worst = sorted(languages, key=lambda language: (not language.chosen, -length(language)))[:_JUDGED]
    out: list[Cell] = []
    most = max(map(length, languages), default=0)
    wide = max([ui_text.width(((safe(language.name, limit=_NAME), ""),)) for language in worst], default=0)
    digits = max([len(number(language.tokens)) for language in worst], default=0)
    few = len(languages) <= _FEW
    room = _BAR if few else _NARROW
    for language in languages if len(worst) == len(languages) else worst:
        style = "accent" if language.chosen else "muted" if language.barred else ""
        name = safe(language.name, limit=_NAME)
        filled = bar(length(language), most, room)
        note = f" of {number(language.start)} tokens" if few else ""
        if language.compressed is not None:
            ratio = language.compressed
            note += f", {ratio:.3f} times shorter" if few else f" {ratio:.2f}×"
        if language.share is not None:
            share = f"{100 * language.share:.0f} %"
            note += f", {share} of the last steps" if few else f" {share}"
        note += ", no turn" if language.barred else ""
        gap = " " * (wide - ui_text.width(((name, ""),)))
        out.append((
            ("▸ " if language.chosen else "  ", "accent"),
            (f"{name}{gap} ", "strong" if language.chosen else style),
            (filled.ljust(room), "accent" if language.chosen else "muted" if language.barred else "primary"),
            (f" {number(language.tokens).rjust(digits)}", "strong" if language.chosen else ""),
            (note, "muted"),
        ))
    if len(worst) < len(languages):
        out.append(((f"  and {plural(len(languages) - len(worst), 'language')} better off", "muted"),))
    return out


def chosen(column: ColumnSnapshot, corpus: str, mode: GlyphMode) -> list[Cell]:
    """Return the next step and its reasons: the tie and the runner-up, by kind of training. If there is no
    next step, return why the training ends; nothing if that is not known."""
    why = column.why
    if why.end is not None:
        return [(("end  ", "accent"), (_end(column, why.end), ""))]
    if why.round is not None:
        return next_step(why.round)
    if isinstance(why.best, TokenCandidate):
        return _next_token(why.best, corpus, mode)
    return _next(column, why.best, mode) if why.best is not None else []


def shortening(before: int, after: int, yours: bool = False) -> Cell:
    """Return `text 621,004 → 611,694 tokens (−1.5 %)` for the corpus, or `your text 18 → 16` for the typed
    text."""
    share = f" ({100 * (after - before) / before:+.1f} %)".replace("-", "−") if before else ""
    if share in (" (−0.0 %)", " (+0.0 %)") and after != before:
        share = " (under 0.1 %)"
    numbers: Cell = ((number(before), ""), (" → ", "muted"), (number(after), "strong"))
    if yours:
        return (("your text ", "muted"), *numbers)
    return (("text ", "muted"), *numbers, (f" tokens{share}", "muted"))


def in_context(before: str, token: Sequence[bytes | str], after: str, mode: GlyphMode) -> Cell:
    """Return a place in the corpus with a token or its parts marked: `…fell·on│t│he│·crowd…`."""
    out: list[Run] = [("…", "muted"), *tinted(ui_text.runs(before, mode=mode), "muted")]
    for part in token:
        out += [("│", "frame"), *tinted(ui_text.runs(part, mode=mode), "strong")]
    return (*out, ("│", "frame"), *tinted(ui_text.runs(after, mode=mode), "muted"), ("…", "muted"))


def _end(column: ColumnSnapshot, end: str) -> str:
    """Return why the training ended: an empty corpus, fewer pieces than requested, or `end`, made safe."""
    if not column.at.start_tokens and column.opened is None:
        return "nothing to merge: the corpus is empty"
    if column.traits.shrinks and end == "no pair left":  # the word of the trace, for all objectives
        return "the corpus has fewer pieces than requested"
    return safe(end, limit=200)


def _next_token(row: TokenCandidate, corpus: str, mode: GlyphMode) -> list[Cell]:
    """Return the next token of an opened file: `next  ▁t+he → ▁the   merge 512 in the file · 1,204 places in
    96 words`."""
    made = tokens((row.token,), mode)
    step: Cell = (("next  ", "accent"), *tokens(row.parts, mode), (" → ", "accent"), *made)
    place: Cell = (("   ", ""), (safe(row.place, limit=80), "strong"), (" in the file", "muted"))
    changes, words = "changes nothing in this corpus", plural(row.words, "distinct word")
    if row.places:
        where = f"{plural(row.places, 'place')} in {words}"
        of = f" of {safe(corpus, limit=30)}" if corpus else ""
        return [(*step, *place), ((where, ""), (of, "muted"))]
    return [(*step, *place), ((f"changes {words}", "") if row.words else (changes, "muted"),)]


def _next(column: ColumnSnapshot, best: Candidate, mode: GlyphMode) -> list[Cell]:
    """Return the next merge, the tie and the runner-up: `next ·t+he → ·the 9,310 places, 9,310 replaced`.

    A training that removes tokens has the lines of `_leaves`. One by score has the formula for the reason,
    and one that compresses the byte that replaces the pair.
    """
    why, traits = column.why, column.traits
    if not traits.grows:
        return _leaves(column, best, mode)
    merge: Cell = (("next  ", "accent"), *tokens(best.parts or (best.token,), mode), (" → ", "accent"))
    if traits.compresses:
        spelled = tinted(tokens((best.spelled,), mode), "muted")
        merge = (*merge, *replacement_cell(best.token), (" for ", "muted"), *spelled)
    else:
        merge = (*merge, *tokens((best.token,), mode))
    worth = worth_of(best)
    score = next((figure.name for figure in traits.columns if figure.kind == "score"), "")
    if score:
        reason = _formula(column, best, worth, score)
    elif not isinstance(best, PairCandidate):
        places = f" in {plural(best.places, 'place')}"
        reason = ((f"{traits.columns[0].name} ", "muted"), (worth, "strong"), (places, "muted"))
    else:
        places = " place, " if best.places == 1 else " places, "
        reason = (
            (worth, "strong"), (places, "muted"), (number(why.replaced), "strong"), (" replaced", "muted"),
        )
    out: list[Cell] = [(*merge, ("   ", ""), *reason)]
    if why.tied > 1:
        known = AXES["tie"].get(why.tie_rule)
        rule = safe(why.tie_rule, limit=60) + (f" {known.why}" if known is not None else "")
        tied = f"{number(why.tied)} {traits.candidate}s are tied at {worth}"
        out.append(((tied, ""), (f": {rule}", "muted")))
    if (second := why.runner_up) is not None:
        if isinstance(second.worth, int):
            less = signed(int(second.worth - best.worth))
        else:
            less = behind(float(second.worth), float(best.worth))
            less = f"{less} behind" if less else ""
        figures: Cell = ((f" {worth_of(second)}", ""), (f" ({less or 'equal'})", "muted"))
        out.append((("runner-up ", "muted"), *tokens(second.parts or (second.token,), mode), *figures))
    return out


def _leaves(column: ColumnSnapshot, best: Candidate, mode: GlyphMode) -> list[Cell]:
    """Return the next token to remove, the tie and the runner-up: `next  lower leaves   4 tokens more:
    low+e+r in 2 places`."""
    why, out, worth = column.why, list[Cell](), worth_of(best)
    more = f" token{'s' * (worth != '1')} more"
    step: Cell = (("next  ", "accent"), *tokens((best.token,), mode), (" leaves   ", "accent"))
    places = f" in {plural(best.places, 'place')}"
    instead: Cell = ((": ", "muted"), *tokens(best.parts, mode), (places, "muted"))
    if not best.places:
        instead = ((": no word has it", "muted"),)
    out.append((*step, (worth, "strong"), (more, "muted"), *instead))
    if why.tied > 1:
        out.append(((f"{number(why.tied)} {column.traits.candidate}s are tied at {worth}", ""),))
    if (second := why.runner_up) is not None:
        figures: Cell = ((f" {worth_of(second)}", ""), (more, "muted"))
        out.append((("runner-up ", "muted"), *tokens((second.token,), mode), *figures))
    return out


_SYMBOLS = {"count": "f(xy)", "left uses": "f(x)", "right uses": "f(y)"}
"""The symbol of a figure in the formula of an objective, by the name of its column; others have its name."""


def _formula(column: ColumnSnapshot, best: Candidate, worth: str, score: str) -> Cell:
    """Return the score with its figures filled in: `1,201 / (1,204 · 261) = 0.0038219, the score
    f(xy)/(f(x)·f(y))`."""
    formula = AXES["objective"].of(column.recipe.objective).formula.replace("c(", "f(")
    filled = formula
    for figure, value in zip(column.traits.columns, best.values, strict=False):
        if figure.kind in ("count", "part"):
            filled = filled.replace(_SYMBOLS.get(figure.name, figure.name), f"{value:,}")
    equation = filled.replace("/", " / ").replace("·", " · ") + " = " if filled != formula else ""
    return (equation, ""), (worth, "strong"), (f", the {score} {formula}".rstrip(), "muted")
