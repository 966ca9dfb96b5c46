"""Whether a text that is no token yet becomes one, and why not: for `encode/why_not.py`.

A text that lacks only a merge waits for the pairs of its tokens. Whether they are merged is found by
continuing a copy of the training, so the answer is exact up to the step that the copy reaches.
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
"""The most pairs of a text whose rank is looked for."""
_MOST_ROWS = 64
"""The most candidates with the bytes of these pairs that are compared."""


def outlook(tokenizer: Tokenizer, trainer: Trainer | None = None, ahead: int | None = None) -> Outlook:
    """Return what the training of a tokenizer can still make.

    Args:
        tokenizer: The tokenizer. For a file of another tool the result is empty.
        trainer: Its training, at the step of the tokenizer.
        ahead: The most further steps that a copy makes; None for the limit `ahead-steps`, 0 for no copy.

    Raises:
        TokentuiError: The training is at another step.
    """
    if trainer is not None and trainer.number != tokenizer.merges and trainer.traits.grows:
        what = f"the tokenizer is that of step {tokenizer.merges:,}"
        raise TokentuiError(what, f"trainer at step {trainer.number:,}", "use trainer.tokenizer()")
    recipe = tokenizer.recipe
    if tokenizer.vocabulary.imported:
        return Outlook()
    allows = FILTERS[recipe.pieces].allows if recipe.pieces in FILTERS else None
    longest = trainer.limits.max_length if trainer else tokenizer.run.get("max_length")
    trains = trainer is not None and not trainer.traits.replays
    most = limits.now().ahead_steps if ahead is None else ahead
    return Outlook(
        longest if isinstance(longest, int) else None,
        (lambda piece: False) if allows is None else (lambda piece: not allows(piece)),
        partial(_prospect, trainer, most) if trains and trainer else lambda case: Prospect(),
    )


def _dropped(trainer: Trainer, case: Case) -> Prospect:
    """Return the prospect of a text in a training that drops pieces, which never come back."""
    page = learn.with_plain_fallback(trainer, learn.entries, Query(0, 1, match=(case.piece,)))
    for place in page.places[-_MOST_ROWS:]:  # what was dropped comes last
        row = learn.entries(trainer, Query(place, 1)).rows[0]
        if row.kind == "left" and row.piece == case.piece:
            return Prospect("dropped", {"why": row.reason})
    return Prospect()


def _prospect(trainer: Trainer, ahead: int, case: Case) -> Prospect:
    """Return the prospect of a text of known units that is no token yet.

    A copy of the trainer walks at most `ahead` steps; the trainer itself stays.
    """
    if not trainer.traits.grows:
        return _dropped(trainer, case)
    vocabulary, number = case.vocabulary, trainer.number
    way = case.encoder.segmenter if vocabulary.eventful else Merging(vocabulary, number)
    parts = way.segment(case.kept, len(case.word))
    symbols = [part.symbol for part in parts if part.symbol is not None]
    if len(symbols) < max(2, len(parts)):
        return Prospect()
    left, right, count, place = _best_pair(trainer, case, symbols)
    pieces = vocabulary.spelled
    facts: dict[str, object] = {
        "left": pieces(left), "right": pieces(right), "count": count, "place": place, "at": number,
    }
    if not _occurs(trainer, case):
        return Prospect("absent", facts | {"inside": _count_inside_words(trainer, case)})
    if not ahead:
        return Prospect("waits", facts | {"ahead": 0})
    copy = trainer.fork(number, ())
    arrived, step = learn.jump(copy, number + ahead), number
    while (made := learn.find(copy, Made(frozenset((case.piece,))), step)) is not None:
        step = made
        tokens = copy.tokenizer(step).encoder.word(case.word)
        if len(tokens) == 1 and not tokens[0].unknown:
            return Prospect("comes", facts | {"step": step})
    if arrived == number + ahead:
        return Prospect("waits", facts | {"ahead": ahead})
    return Prospect("overtaken", facts | _followed(copy, case, (left, right), number, arrived))


def _best_pair(trainer: Trainer, case: Case, symbols: Sequence[int]) -> tuple[int, int, int, int]:
    """Return the pair of neighbors that ranks best: left symbol, right symbol, count, and rank from 1.

    If none of them is a candidate, returns the first pair of the text with count 0 and rank 0.
    """
    pairs = list(dict.fromkeys(itertools.pairwise(symbols)))
    pieces = case.vocabulary.pieces
    match = tuple(pieces[left] + b"+" + pieces[right] for left, right in pairs[:_MOST_PAIRS])
    page = learn.with_plain_fallback(trainer, learn.candidates, Query(0, 1, match=match))
    for place in page.places[:_MOST_ROWS]:
        row = learn.with_plain_fallback(trainer, learn.candidates, Query(place, 1)).rows[0]
        if row.key in pairs:
            left, right = row.key
            return left, right, row.places, place + 1
    if len(page.places) > _MOST_ROWS or len(pairs) > _MOST_PAIRS:  # compare all candidates
        rows = learn.with_plain_fallback(trainer, learn.candidates, Query(0, page.total)).rows
        for place, row in enumerate(rows):
            if row.key in pairs:
                left, right = row.key
                return left, right, row.places, place + 1
    return *pairs[0], 0, 0


def _occurs(trainer: Trainer, case: Case) -> bool:
    """Return whether a word of the corpus contains the units of the text next to each other."""
    wanted, size, cut = case.kept, len(case.kept), Pretokenizer(trainer.recipe).units
    for word in trainer.words.words:
        if case.word in word:
            units = cut(word)
            if any(units[at : at + size] == wanted for at in range(len(units) - size + 1)):
                return True
    return False


def _count_inside_words(trainer: Trainer, case: Case) -> int:
    """Count how often the text occurs inside words of the corpus by its characters, by weight.

    Overlapping places count. The units of the words differ from those of the text there.
    """
    words, text = trainer.words, case.word
    weights = WEIGHTS.of(trainer.recipe.weight).of(words.counts)
    return sum(
        weight * sum(word.startswith(text, at) for at in range(len(word)))
        for word, weight in zip(words.words, weights, strict=True) if text in word
    )


def _followed(
    copy: Trainer, case: Case, pair: tuple[int, int], number: int, end: int
) -> dict[str, object]:
    """Follow a pair of the text through the steps of a copy, and return what separates it.

    A merge of a part of the pair with another neighbor separates it. If the pair itself is merged, the first
    two tokens that are left are followed next.

    Args:
        copy: The copy of the training.
        case: The text.
        pair: The symbols of the pair.
        number: The step at which the copy was made.
        end: The last step of the copy.

    Returns:
        `by` and `by_step`: the parts and the step of the merge that separates the last pair. `merged`: the
        step that merged the first pair, 0 if none did. `end`: the last step.
    """
    vocabulary = copy.tokenizer(end).vocabulary
    if vocabulary.eventful:  # symbols that were separated may meet again
        return {"by": (), "by_step": None, "merged": 0, "end": end}
    merging = Merging(vocabulary, end)
    symbols, _, joins = merging.history(case.kept)
    cells = [*range(len(symbols))]  # the cells that are left, by the index of their first unit
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
    """Return the cells of the first place of a pair; the first two cells if it does not occur."""
    places = itertools.pairwise(cells)
    occurrences = ((at, after) for at, after in places if (symbols[at], symbols[after]) == pair)
    return next(occurrences, (cells[0], cells[1]))
