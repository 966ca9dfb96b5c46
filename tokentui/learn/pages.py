"""Pages of rows, for all trainings: candidates, and entries of the vocabulary.

`page` cuts a page out of any list. `vocabulary_page` does so for the entries of a vocabulary, which `listed`
puts in an order.
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
        query: The rows that are asked for. A `top` beyond the list means its last row.
        total: The number of rows of the list.
        row: Makes the row at an index. It is called for the rows of the page alone.
        matches: Returns whether the row at an index shows a text of `query.match`. It is called for all rows,
            if there are such texts.
    """
    places = tuple(filter(matches, range(total))) if query.match and matches else ()
    shown = places if query.only else range(total)
    top = max(0, min(query.top, len(shown) - 1))
    rows = tuple(map(row, shown[top : top + query.rows]))
    return Page(rows, top, len(shown), places, query.order, total if query.only else None)


def looks_at_parts(texts: Sequence[bytes]) -> bool:
    """Return whether texts may match the parts of a candidate: one of them is more than plus signs."""
    return any(text.strip(_PLUS) for text in texts)


def shows(texts: Sequence[bytes], token: bytes, parts: Sequence[bytes] = ()) -> bool:
    """Return whether a token, or its parts with a plus sign between them, contains one of some texts.

    >>> shows([b"w+e"], b"lower", [b"low", b"er"]), shows([b"wer"], b"lower")
    (True, True)
    """
    joined = _PLUS.join(parts)
    for text in texts:  # noqa: SIM110  # a search looks at every candidate: no generator
        if text in token or text in joined:
            return True
    return False


def listed(
    vocabulary: Vocabulary, merges: int, uses: Sequence[int], order: str, newest: Sequence[int] | None = None
) -> list[int]:
    """The entries of a vocabulary in an order: a symbol, or -1-n for the n-th of specials and byte tokens.

    What no step made has no age: by `newest` it comes after what steps made, the most used first.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        uses: The uses of each symbol.
        order: `newest`, `most used`, `longest` or `id`.
        newest: The symbols in use, the newest first, where merges do not tell them.
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
    """Return the entry of a number of `listed`: a symbol with its id and uses, a special or a byte token."""
    if number < 0:
        n = -1 - number
        if n < len(vocabulary.specials):
            name = vocabulary.specials[n]
            return Entry(vocabulary.special_id(name), -1, to_bytes(name), "special", uses=uses)
        value = n - len(vocabulary.specials)
        return Entry(vocabulary.byte_id(value), -1, byte_token(value).encode(), "byte")
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


_FOLDING = "newest", "most used"
"""The orders in which the entries out of use may be one row: nobody looks for them there."""


@functools.lru_cache(maxsize=256)
def _folded(count: int) -> Entry:
    """Return the row for a number of entries out of use; the same object at each step."""
    return Entry(None, -1, b"", "folded", uses=count)


def vocabulary_page(
    listed: Sequence[int], query: Query, vocabulary: Vocabulary, entry: Callable[[int], Entry],
    unused: Callable[[int], bool],
) -> Page[Entry]:
    """Return a page of a vocabulary.

    Args:
        listed: The entries in order, see `listed`.
        query: The rows that are asked for.
        vocabulary: The vocabulary.
        entry: Makes the entry of a number of `listed`.
        unused: Returns whether a number of `listed` is out of use. A folded page has one row for all such.
    """
    if query.among is not None:
        listed = [number for number in listed if entry(number).id in query.among]
    elif query.folded and not query.match and query.order in _FOLDING:
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
