"""The outlook of a training on a text that is no token: what it never makes, and what is to come.

A text that only lacks a merge waits for the pairs of its tokens. Whether they come is found by training a
copy on, so it is exact as far as the copy went.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

from tokentui import learn
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.merges import Merging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.why_not import Case, Outlook, Prospect
from tokentui.learn.bases import FILTERS, WEIGHTS
from tokentui.learn.rows import Query
from tokentui.learn.trainer import Made, Trainer
from tokentui.text.pretokenize import Pretokenizer

_MOST_PAIRS = 16
"""Of so many pairs of a text the place in line is looked for."""
_MOST_ROWS = 64
"""So many candidates are looked at that are spelled as one of these pairs."""


def outlook(tokenizer: Tokenizer, trainer: Trainer | None = None, ahead: int | None = None) -> Outlook:
    """The outlook of the training of a tokenizer: what it makes, and what is to come.

    Args:
        tokenizer: The tokenizer; of a file of another tool nothing is known.
        trainer: The training that it comes from, at its step.
        ahead: How many steps a copy is trained on at most; the limit `ahead-steps` where None, 0 for no copy.

    Raises:
        TokentuiError: The training stands at another step.
    """
    if trainer is not None and trainer.number != tokenizer.merges and trainer.traits.grows:
        what = f"the tokenizer is that of step {tokenizer.merges:,}"
        raise TokentuiError(what, f"trainer at step {trainer.number:,}", "take trainer.tokenizer()")
    recipe = tokenizer.recipe
    if tokenizer.vocabulary.imported:
        return Outlook()
    allows = FILTERS[recipe.pieces].allows if recipe.pieces in FILTERS else None
    longest = trainer.limits.max_length if trainer else tokenizer.run.get("max_length")
    told = trainer is not None and not trainer.traits.replays
    most = limits.now().ahead_steps if ahead is None else ahead
    return Outlook(
        longest if isinstance(longest, int) else None,
        (lambda piece: False) if allows is None else (lambda piece: not allows(piece)),
        partial(_prospect, trainer, most) if told and trainer else lambda case: Prospect(),
    )


def _dropped(trainer: Trainer, case: Case) -> Prospect:
    """The future of a text in a training that drops pieces: one that left stays away."""
    page = learn.with_plain_fallback(trainer, partial(trainer.entries, Query(0, 1, match=(case.piece,))))
    for place in page.places[-_MOST_ROWS:]:  # what was dropped comes last
        row = trainer.entries(Query(place, 1)).rows[0]
        if row.kind == "left" and row.piece == case.piece:
            return Prospect("dropped", {"why": row.reason})
    return Prospect()


def _prospect(trainer: Trainer, ahead: int, case: Case) -> Prospect:
    """The future of a text whose units are all there, and which is no token yet."""
    if not trainer.traits.grows:
        return _dropped(trainer, case)
    vocabulary, number = case.vocabulary, trainer.number
    way = case.encoder.segmenter if vocabulary.eventful else Merging(vocabulary, number)
    parts = way.segment(case.kept, len(case.word))
    symbols = [part.symbol for part in parts if part.symbol is not None]
    if len(symbols) < max(2, len(parts)):
        return Prospect()
    left, right, count, place = _first(trainer, case, symbols)
    pieces = vocabulary.spelled
    facts: dict[str, object] = {
        "left": pieces(left), "right": pieces(right), "count": count, "place": place, "at": number,
    }
    if not _held(trainer, case):
        return Prospect("absent", facts | {"inside": _inside(trainer, case)})
    if not ahead:
        return Prospect("waits", facts | {"ahead": 0})
    copy = trainer.fork(number, ())
    arrived, step = learn.jump(copy, number + ahead), number
    while (made := copy.find(Made(frozenset((case.piece,))), step)) is not None:
        step = made
        tokens = copy.tokenizer(step).encoder.word(case.word)
        if len(tokens) == 1 and not tokens[0].unknown:
            return Prospect("comes", facts | {"step": step})
    if arrived == number + ahead:
        return Prospect("waits", facts | {"ahead": ahead})
    return Prospect("overtaken", facts | _apart(copy, case, (left, right), number, arrived))


def _first(trainer: Trainer, case: Case, symbols: Sequence[int]) -> tuple[int, int, int, int]:
    """The pair of neighbours that stands first in line, with its count and its place in line from 1.

    Where none of them is a candidate, the first pair of the text, 0 and 0.
    """
    pairs = list(dict.fromkeys(itertools.pairwise(symbols)))
    pieces = case.vocabulary.pieces
    match = tuple(pieces[left] + b"+" + pieces[right] for left, right in pairs[:_MOST_PAIRS])
    page = learn.with_plain_fallback(trainer, lambda: trainer.candidates(Query(0, 1, match=match)))
    for place in page.places[:_MOST_ROWS]:
        row = learn.with_plain_fallback(trainer, partial(trainer.candidates, Query(place, 1))).rows[0]
        if row.key in pairs:
            left, right = row.key
            return left, right, row.places, place + 1
    if len(page.places) > _MOST_ROWS or len(pairs) > _MOST_PAIRS:  # the table of all candidates is sure
        rows = learn.with_plain_fallback(trainer, lambda: trainer.candidates(Query(0, page.total))).rows
        for place, row in enumerate(rows):
            if row.key in pairs:
                left, right = row.key
                return left, right, row.places, place + 1
    return *pairs[0], 0, 0


def _held(trainer: Trainer, case: Case) -> bool:
    """True if a word of the corpus has the units of the text side by side."""
    wanted, size, cut = case.kept, len(case.kept), Pretokenizer(trainer.recipe).units
    for word in trainer.words.words:
        if case.word in word:
            units = cut(word)
            if any(units[at : at + size] == wanted for at in range(len(units) - size + 1)):
                return True
    return False


def _inside(trainer: Trainer, case: Case) -> int:
    """The times that a word which the corpus does not hold stands in others, where it has other units.

    It may overlap itself. Words count as the weight of the recipe has it.
    """
    words, wanted = trainer.words, case.word
    weights = WEIGHTS.of(trainer.recipe.weight).of(words.counts)
    return sum(
        weight * sum(word.startswith(wanted, at) for at in range(len(word)))
        for word, weight in zip(words.words, weights, strict=True) if wanted in word
    )


def _apart(
    copy: Trainer, case: Case, pair: tuple[int, int], number: int, end: int
) -> dict[str, object]:
    """The merge after a step that takes the text's pair apart, or what is left once that is merged.

    The text is followed step by step to the end. A merge that joins a part of the pair with another neighbour
    takes it apart; where the pair itself is merged, the first two tokens that are left are the next pair.
    """
    vocabulary = copy.tokenizer(end).vocabulary
    if vocabulary.eventful:  # symbols that were taken apart may meet again
        return {"by": (), "by_step": None, "merged": 0, "end": end}
    merging = Merging(vocabulary, end)
    symbols, _, joins = merging.history(case.kept)
    cells = [*range(len(symbols))]  # the cells that are left, by the place of their first unit
    merged, by, by_step = 0, tuple[bytes, ...](), None
    watched: tuple[int, int] | None = None
    for left, right, made, at, middle in joins:
        step = made - vocabulary.base_size + 1
        if step > number:
            if watched is None:
                watched = _watch(cells, symbols, pair)
            touched = {at, middle} & set(watched)
            if (at, middle) == watched:
                merged = merged or step
                by, by_step, watched = (), None, None
            elif touched and not by:
                by, by_step = (vocabulary.spelled(left), vocabulary.spelled(right)), step
        symbols[at] = made
        cells.remove(middle)
        if step > number and watched is None and len(cells) > 1:
            watched = cells[0], cells[1]
    return {"by": by, "by_step": by_step, "merged": merged, "end": end}


def _watch(cells: Sequence[int], symbols: Sequence[int], pair: tuple[int, int]) -> tuple[int, int]:
    """The first place of a pair among the cells."""
    places = itertools.pairwise(cells)
    found = ((at, after) for at, after in places if (symbols[at], symbols[after]) == pair)
    return next(found, (cells[0], cells[1]))
