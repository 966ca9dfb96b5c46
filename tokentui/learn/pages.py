"""Pages of rows, for all trainings: candidates, and entries of the vocabulary.

`page` makes a page of any list. `vocabulary_page` does so for the entries of a vocabulary, which
`listed_entries` puts in order. An entry is known by a number: its symbol, or -1-n for the n-th of the special
tokens and byte tokens.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.learn.rows import Entry, Page, Query

Row = TypeVar("Row")
_PLUS = b"+"


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


def searches_parts(texts: Sequence[bytes]) -> bool:
    """Return whether a search has to compare the parts of candidates: some text is not only plus signs."""
    return any(text.strip(_PLUS) for text in texts)


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


def listed_entries(
    vocabulary: Vocabulary, merges: int, uses: Sequence[int], order: str, newest: Sequence[int] | None = None
) -> list[int]:
    """Return the numbers of all entries of a vocabulary, in an order.

    In the order `newest` the tokens that steps made come first. The others follow, the most used first.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        uses: The uses of each symbol.
        order: `newest`, `most used`, `longest` or `id`.
        newest: The symbols in use, the newest first, if it is not the merges that made them.
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
        number: The number of the entry, see `listed_entries`.
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


_FOLDABLE = "newest", "most used"
"""The orders in which all unused entries may be folded into one row, which comes last."""


@functools.lru_cache(maxsize=256)
def _folded(count: int) -> Entry:
    """Return the row for a number of unused entries. Equal counts return the same object."""
    return Entry(None, -1, b"", "folded", uses=count)


def vocabulary_page(
    listed: Sequence[int], query: Query, vocabulary: Vocabulary, entry: Callable[[int], Entry],
    unused: Callable[[int], bool],
) -> Page[Entry]:
    """Return a page of a vocabulary.

    Args:
        listed: The numbers of the entries in order, see `listed_entries`.
        query: The rows that are asked for.
        vocabulary: The vocabulary.
        entry: Returns the entry of a number.
        unused: Returns whether the entry of a number is unused. A folded page has one row for all of these.
    """
    if query.among is not None:
        listed = [number for number in listed if entry(number).id in query.among]
    elif query.folded and not query.match and query.order in _FOLDABLE:
        used = [number for number in listed if not unused(number)]
        if folded := len(listed) - len(used):
            shown = page(
                query._replace(only=False), len(used) + 1,
                lambda row: entry(used[row]) if row < len(used) else _folded(folded),
            )
            return shown._replace(folded=folded)

    def matches(row: int) -> bool:
        number = listed[row]
        piece = vocabulary.spelled(number) if number >= 0 else entry(number).piece
        return any(text in piece for text in query.match)

    return page(query, len(listed), lambda row: entry(listed[row]), matches)
