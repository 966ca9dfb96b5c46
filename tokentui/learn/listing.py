"""The vocabulary of a training in its orders, for every trainer that has a `Vocabulary`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.learn.values import Entry, Page, Query
from tokentui.text.pretokenize import to_bytes


def listed(vocabulary: Vocabulary, merges: int, uses: Sequence[int], order: str) -> list[int]:
    """The entries of a vocabulary in an order: a symbol, or -1-n for the n-th of specials and byte tokens.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        uses: The uses of each symbol.
        order: `newest`, `most used`, `longest` or `id`.
    """
    first = vocabulary.first_id + len(vocabulary.specials) + vocabulary.byte_tokens
    learned = sorted(symbol for number, symbol in vocabulary.symbols_by_id(merges).items() if number >= first)
    fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
    if order == "id":
        return fixed + sorted(learned, key=lambda symbol: vocabulary.id_of(symbol, merges))
    if not vocabulary.scores:
        learned.reverse()
    if order == "most used":
        learned.sort(key=lambda symbol: -uses[symbol])
    elif order == "longest":
        learned.sort(key=lambda symbol: -len(vocabulary.spelled(symbol)))
    return learned + fixed


def fixed_entry(vocabulary: Vocabulary, n: int) -> Entry:
    """The n-th of specials and byte tokens."""
    if n < len(vocabulary.specials):
        return Entry(vocabulary.first_id + n, -1, to_bytes(vocabulary.specials[n]), "special")
    value = n - len(vocabulary.specials)
    return Entry(vocabulary.byte_id(value), -1, byte_token(value).encode(), "byte")


def page_of(listed: Sequence[int], query: Query, vocabulary: Vocabulary, entry: Callable[[int], Entry]) -> Page[Entry]:
    """A page of a vocabulary.

    Args:
        listed: The entries in order, see `listed`.
        query: The rows that are asked for.
        vocabulary: The vocabulary.
        entry: The entry of one of `listed`.
    """
    top = max(0, min(query.top, len(listed) - 1))
    places: tuple[int, ...] = ()
    if query.match:
        spelled = vocabulary.spelled
        places = tuple(
            row for row, one in enumerate(listed)
            if any(needle in (spelled(one) if one >= 0 else entry(one).piece) for needle in query.match)
        )
    return Page(tuple(map(entry, listed[top : top + query.rows])), top, len(listed), places)
