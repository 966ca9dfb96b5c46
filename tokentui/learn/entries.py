"""A vocabulary in its orders, as rows: for every trainer that has a `Vocabulary`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.learn.rows import Entry, Page, Query, narrowed


def listed(
    vocabulary: Vocabulary, merges: int, uses: Sequence[int], order: str, newest: Sequence[int] | None = None
) -> list[int]:
    """The entries of a vocabulary in an order: a symbol, or -1-n for the n-th of specials and byte tokens.

    What no step made has no age: by `newest` it comes behind what steps made, the most used first.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        uses: The uses of each symbol.
        order: `newest`, `most used`, `longest` or `id`.
        newest: The symbols in use, the newest first, where merges do not tell them.
    """
    if newest is None:
        newest, borrowed = vocabulary.symbols(merges)[:: 1 if vocabulary.scores else -1], vocabulary.borrowed
        newest = [one for one in newest if one not in borrowed] if borrowed else newest
    found = list(newest)
    fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
    if order == "id":
        numbered = vocabulary.ids(merges)
        ids = {one: numbered[one] for one in found}
        ids |= {one: entry_of(vocabulary, one).id or 0 for one in fixed}
        return sorted(ids, key=ids.__getitem__)
    if order == "most used":
        found.sort(key=uses.__getitem__, reverse=True)
    elif order == "longest":
        found.sort(key=lambda symbol: -len(vocabulary.spelled(symbol)))
    elif not vocabulary.scores:
        base = vocabulary.base_size
        found = [one for one in found if one >= base] + sorted(
            [one for one in found[::-1] if one < base], key=uses.__getitem__, reverse=True
        )
    return found + fixed


def entry_of(
    vocabulary: Vocabulary, one: int, number: int | None = None, uses: int | None = None
) -> Entry:
    """The entry of a symbol with its id and its uses, or of a special or byte token; see `listed`."""
    if one < 0:
        n = -1 - one
        if n < len(vocabulary.specials):
            name = vocabulary.specials[n]
            return Entry(vocabulary.special_id(name), -1, to_bytes(name), "special", uses=uses)
        value = n - len(vocabulary.specials)
        return Entry(vocabulary.byte_id(value), -1, byte_token(value).encode(), "byte")
    pieces, kind = vocabulary.pieces, vocabulary.kind_of(one)
    entry = Entry(
        number, one, pieces[one], "base" if kind == "unit" else kind, uses=uses,
        score=vocabulary.scores[one] if vocabulary.scores else None,
        marks=vocabulary.mark_sizes(one) if vocabulary.mark else (0, 0),
    )
    if not (parts := vocabulary.parts(one)):
        return entry
    return entry._replace(
        made=vocabulary.made_at(one), places=vocabulary.count_of(one),
        parts=tuple(pieces[part] for part in parts),
    )


_FOLDING = "newest", "most used"
"""The orders in which the entries out of use may be one row: they are what one does not look for there."""


@functools.lru_cache(maxsize=256)
def _folded(count: int) -> Entry:
    """The row that stands for so many entries; the same object at each step."""
    return Entry(None, -1, b"", "folded", uses=count)


def page_of(
    listed: Sequence[int], query: Query, vocabulary: Vocabulary, entry: Callable[[int], Entry],
    unused: Callable[[int], bool],
) -> Page[Entry]:
    """A page of a vocabulary.

    Args:
        listed: The entries in order, see `listed`.
        query: The rows that are asked for.
        vocabulary: The vocabulary.
        entry: The entry of one of `listed`.
        unused: Says whether one of `listed` is out of use, and goes into the row that stands for all such.
    """
    if query.among is not None:
        listed = [one for one in listed if entry(one).id in query.among]
    elif query.folded and not query.match and query.order in _FOLDING:
        seen = [one for one in listed if not unused(one)]
        if folded := len(listed) - len(seen):
            top = max(0, min(query.top, len(seen)))
            rows = [entry(one) for one in seen[top : top + query.rows]]
            if top + query.rows > len(seen):
                rows.append(_folded(folded))
            return Page(tuple(rows), top, len(seen) + 1, order=query.order, folded=folded)
    top = max(0, min(query.top, len(listed) - 1))
    places: tuple[int, ...] = ()
    if query.match:
        spelled = vocabulary.spelled
        places = tuple(
            row for row, one in enumerate(listed)
            if any(needle in (spelled(one) if one >= 0 else entry(one).piece) for needle in query.match)
        )
    if query.only:
        return narrowed(query, places, len(listed), lambda row: entry(listed[row]))
    return Page(tuple(map(entry, listed[top : top + query.rows])), top, len(listed), places, query.order)
