"""What other rooms ask of a training at a step, for all trainings: pages of candidates and of the vocabulary,
the reasons of a step, the step that reaches a goal, and the histories of words and tokens.

Each function asks a `Trainer` for what only this kind of training knows. An entry of the vocabulary is known
by a number: its symbol, -1-n for the n-th of the special tokens and byte tokens, or `_FIRST_REMOVED`-n for
the n-th token that the last step removed.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.learn.rows import BY_COUNT, KEPT_ROWS, Candidate, Entry, Inventory, Page, Query, Why
from tokentui.learn.steps import Life, Used
from tokentui.learn.trainer import Goal, Made, Size, Trainer
from tokentui.recipe import Stops

if TYPE_CHECKING:
    from tokentui.learn.gage import GageTrainer
    from tokentui.learn.replay import ReplayTrainer
    from tokentui.learn.unigram import UnigramTrainer

Row = TypeVar("Row")
_PLUS = b"+"
_ID = re.compile(rb"#?[0-9]{1,12}")
"""A text that also matches the token with this id."""
_FIRST_REMOVED = -(1 << 40)
_NEWEST = "newest"
_FOLDABLE = _NEWEST, "most used"
"""The orders in which all unused entries may be folded into one row, which comes last."""
_ORDERS: WeakKeyDictionary[Vocabulary, tuple[object, Sequence[int]]] = WeakKeyDictionary()
"""The entries of each vocabulary in the order that was asked for last, with what it depends on."""
_ROWS: WeakKeyDictionary[Vocabulary, dict[tuple[int, ...], Entry]] = WeakKeyDictionary()
"""Entries of each vocabulary that were shown, by their numbers, or by their numbers, ids and uses."""


@functools.lru_cache(4 * KEPT_ROWS)
def _kept(row: Entry) -> Entry:
    """Return the entry that was shown before if it is equal: screens draw only rows that are new objects."""
    return row


def page(
    query: Query, total: int, row: Callable[[int], Row], matches: Callable[[int], bool] | None = None
) -> Page[Row]:
    """Return the page of a list that a query asks for.

    Args:
        query: The rows that are asked for. A `top` after the end means the last row.
        total: The number of rows of the list.
        row: Returns the row at an index. It is called only for the rows of the page.
        matches: Returns whether the row at an index contains a text of `query.match`. If there are such texts
            it is called for all rows.
    """
    places = tuple(filter(matches, range(total))) if query.match and matches else ()
    shown = places if query.only else range(total)
    top = max(0, min(query.top, len(shown) - 1))
    rows = tuple(map(row, shown[top : top + query.rows]))
    return Page(rows, top, len(shown), places, query.order, total if query.only else None)


# ---- candidates


def contains_any(texts: Sequence[bytes], token: bytes, parts: Sequence[bytes] = ()) -> bool:
    """Return whether a token, or its parts joined by plus signs, contains one of some texts.

    >>> contains_any([b"w+e"], b"lower", [b"low", b"er"]), contains_any([b"wer"], b"lower")
    (True, True)
    """
    joined = _PLUS.join(parts)
    for text in texts:  # noqa: SIM110  # a search looks at every candidate: no generator
        if text in token or text in joined:
            return True
    return False


def candidates(trainer: Trainer, query: Query) -> Page[Candidate]:
    """Return a page of the candidates of the next step, best first; empty at the end."""
    searched = bool(query.match or query.only)
    limit = None if searched or query.order == BY_COUNT else query.top + query.rows + 1
    ranking = trainer.candidates_at(limit, trainer.limits)
    order: Sequence[int] = range(ranking.total)
    if query.order == BY_COUNT and (places := ranking.places):
        order = sorted(order, key=lambda row: -places(row))
    parts = ranking.parts
    if ranking.parts_join:  # a text without a plus sign is in the parts only if it is in the token
        joined = any(_PLUS in text.strip(_PLUS) for text in query.match)
    else:
        joined = any(text.strip(_PLUS) for text in query.match)

    def matches(row: int) -> bool:
        number = order[row]
        return contains_any(query.match, ranking.token(number), parts(number) if joined and parts else ())

    return page(query, ranking.total, lambda row: ranking.row(order[row]), matches)


def why(trainer: Trainer, stops: Stops) -> Why:
    """Return what the next step does, and why; at the end, why there is none.

    Only the stops in `Traits.shaped_by` affect the candidates. A step that is walked candidate by candidate
    takes no best one.
    """
    end, best, second, tied, replaced = trainer.end(stops), None, None, 0, 0
    if not trainer.traits.has_substeps:
        ranking = trainer.candidates_at(2, stops.only(trainer.traits.shaped_by))
        tied, replaced = ranking.tied, ranking.replaced
        best, second = (*map(ranking.row, range(min(2, ranking.total))), None, None)[:2]
    return trainer.explained(Why(best, second, tied, replaced, "", end), stops)


# ---- the vocabulary


def entries(trainer: Trainer, query: Query) -> Page[Entry]:
    """Return a page of the vocabulary at this step.

    In the order `newest` the tokens that the last step removed come last. A folded page has one row for all
    entries out of use that may be folded.
    """
    inventory, uses = trainer.inventory(), trainer.uses
    vocabulary, finish = inventory.vocabulary, inventory.finish
    removed = inventory.removed if query.order == _NEWEST else ()
    listed = _listed_of(trainer, inventory, uses, query.order)
    if removed:
        listed = [*listed, *range(_FIRST_REMOVED, _FIRST_REMOVED - len(removed), -1)]
    ids, rows = vocabulary.ids(inventory.merges), _ROWS.setdefault(vocabulary, {})

    def entry(number: int) -> Entry:
        if number <= _FIRST_REMOVED:
            return _kept(removed[_FIRST_REMOVED - number])
        key = (number, ids[number], uses[number]) if number >= 0 else (number,)
        if (known := rows.get(key)) is not None and (number >= 0 or finish is None):
            return known
        row = entry_of(vocabulary, *key)
        rows[key] = row = _kept(row if finish is None else finish(row))
        if len(rows) > 4 * KEPT_ROWS:
            rows.clear()
        return row

    if query.among is not None:
        listed = [number for number in listed if entry(number).id in query.among]
    elif query.folded and not query.match and query.order in _FOLDABLE:
        foldable = inventory.foldable
        used = [
            number for number in listed
            if number >= foldable or (uses[number] if number >= 0 else number > _FIRST_REMOVED)
        ]
        if folded := len(listed) - len(used):
            last = _kept(Entry(None, -1, b"", "folded", uses=folded))
            shown = page(
                query._replace(only=False), len(used) + 1,
                lambda row: entry(used[row]) if row < len(used) else last,
            )
            return shown._replace(folded=folded)

    wanted = {int(text.removeprefix(b"#")) for text in query.match if _ID.fullmatch(text)}

    def matches(row: int) -> bool:
        number = listed[row]
        piece = vocabulary.spelled(number) if number >= 0 else entry(number).piece
        if wanted and (ids[number] if number >= 0 else entry(number).id) in wanted:
            return True
        return any(text in piece for text in query.match)

    return page(query, len(listed), lambda row: entry(listed[row]), matches)


def _listed_of(trainer: Trainer, inventory: Inventory, uses: Sequence[int], order: str) -> Sequence[int]:
    """Return the numbers of all entries in an order. The last order that was asked for is cached."""
    vocabulary, key = inventory.vocabulary, (ref(trainer), trainer.number, order)
    known = _ORDERS.get(vocabulary)
    if known is None or known[0] != key:
        newest = inventory.newest() if inventory.newest else None
        known = key, _listed(vocabulary, inventory.merges, uses, order, newest)
        _ORDERS[vocabulary] = known
    return known[1]


def _listed(
    vocabulary: Vocabulary, merges: int, uses: Sequence[int], order: str, newest: Sequence[int] | None
) -> list[int]:
    """Return the numbers of all entries of a vocabulary, in an order.

    In the order `newest` the tokens that steps made come first. The others follow, the most used first.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        uses: The uses of each symbol.
        order: `newest`, `most used`, `longest` or `id`.
        newest: The symbols in use, the newest first; None for those of the merges that made them.
    """
    if newest is None:
        newest, borrowed = vocabulary.symbols(merges)[:: 1 if vocabulary.scores else -1], vocabulary.borrowed
        newest = [symbol for symbol in newest if symbol not in borrowed] if borrowed else newest
    symbols = list(newest)
    fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
    if order == "id":
        numbered = vocabulary.ids(merges)
        ids = {symbol: numbered[symbol] for symbol in symbols}
        ids |= {number: entry_of(vocabulary, number).id or 0 for number in fixed}
        return sorted(ids, key=ids.__getitem__)
    if order == "most used":
        symbols.sort(key=uses.__getitem__, reverse=True)
    elif order == "longest":
        symbols.sort(key=lambda symbol: -len(vocabulary.spelled(symbol)))
    elif not vocabulary.scores:
        base = vocabulary.base_size
        symbols = [symbol for symbol in symbols if symbol >= base] + sorted(
            [symbol for symbol in symbols[::-1] if symbol < base], key=uses.__getitem__, reverse=True
        )
    return symbols + fixed


def entry_of(
    vocabulary: Vocabulary, number: int, id: int | None = None, uses: int | None = None
) -> Entry:
    """Return an entry of a vocabulary.

    Args:
        vocabulary: The vocabulary.
        number: The number of the entry: a symbol, or -1-n.
        id, uses: The id and the uses of a symbol. Other entries have an id of their own.
    """
    if number < 0:
        n = -1 - number
        if n < len(vocabulary.specials):
            name = vocabulary.specials[n]
            return Entry(vocabulary.special_id(name), -1, to_bytes(name), "special", uses=uses)
        byte = n - len(vocabulary.specials)
        return Entry(vocabulary.byte_id(byte), -1, byte_token(byte).encode(), "byte")
    pieces, kind = vocabulary.pieces, vocabulary.kind_of(number)
    entry = Entry(
        id, number, pieces[number], "base" if kind == "unit" else kind, uses=uses,
        score=vocabulary.scores[number] if vocabulary.scores else None,
        marks=vocabulary.mark_sizes(number) if vocabulary.mark else (0, 0),
    )
    if not (parts := vocabulary.parts(number)):
        return entry
    return entry._replace(
        made=vocabulary.made_at(number), places=vocabulary.count_of(number),
        parts=tuple(pieces[part] for part in parts),
    )


def steps_of_symbols(trainer: Trainer) -> Callable[[int], int]:
    """Return a function that returns the step that made a symbol; 0 for one that is there from the start, or
    that is unknown."""
    inventory = trainer.inventory()
    return inventory.made_at or inventory.vocabulary.made_at


# ---- what only some trainings do


def substeps_of(trainer: Trainer) -> UnigramTrainer | None:
    """Return the walk through a step, piece by piece; None if the training has none."""
    return cast("UnigramTrainer", trainer) if trainer.traits.has_substeps else None


def compression_of(trainer: Trainer) -> GageTrainer | None:
    """Return the compressed text; None if the training compresses none."""
    return cast("GageTrainer", trainer) if trainer.traits.compresses else None


def replay_of(trainer: Trainer) -> ReplayTrainer | None:
    """Return the replay of a file; None if the training is no replay."""
    return cast("ReplayTrainer", trainer) if trainer.traits.replays else None


# ---- steps and histories


def find(trainer: Trainer, goal: Goal, after: int = 0) -> int | None:
    """Return the first computed step after `after` (any step if that is 0) that reaches a goal; None if none
    does yet.

    For a token step 0, which has the units, counts after all others: a byte may be a unit, and stand for a
    pair later.
    """
    steps, traits = range(after + 1 if after else 0, trainer.computed + 1), trainer.traits
    if isinstance(goal, Made):
        found = (trainer.steps_changing(goal.tokens, of) for of in (steps[not after :], steps[: not after]))
        return next(itertools.chain.from_iterable(found), None)
    sign = -1 if traits.shrinks else 1

    def reached(step: int) -> bool:
        if isinstance(goal, Size):
            return sign * trainer.size_at(step) >= sign * goal.ids
        return sign * trainer.tokens_at(step) <= sign * goal.tokens

    if ("ids" if isinstance(goal, Size) else "tokens") not in traits.monotone:
        return next(filter(reached, steps), None)
    at = bisect.bisect_left(steps, True, key=reached)
    return steps[at] if at < len(steps) else None


def life(trainer: Trainer, word: str) -> list[Life]:
    """Return how the tokenizers of the steps up to this one encode a pre-token, which may be any text.

    There is an entry for step 0 and for each step that cuts the pre-token in another way.

    Raises:
        TokentuiError: The pre-token contains a byte that stands for a pair.
    """
    entries: list[Life] = []
    for number, pieces in trainer.cuts_of(word):
        if not entries or entries[-1].pieces != pieces:
            entries.append(Life(number, pieces))
    return entries


def uses_over(trainer: Trainer, symbol: int) -> Callable[[], Sequence[Used]]:
    """Return a function that returns the uses of a symbol from step 0 up to this one.

    The result has an entry for step 0 and for each step that changes the number of uses. Another thread may
    call the function while this training walks on.
    """
    history, entries = trainer.uses_of(symbol), list[Used]()

    def read() -> Sequence[Used]:
        for used in history:
            if not entries or entries[-1].uses != used.uses:
                entries.append(used)
        return entries

    return read
