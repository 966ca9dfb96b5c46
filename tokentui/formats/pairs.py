"""Long tables of a model: its tokens, and its merges, stored as numbers of names."""

from __future__ import annotations

import functools
import io
import itertools
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tokentui.core.arrays import flat
from tokentui.core.jobs import check

if TYPE_CHECKING:
    from tokentui.text.kernels.scan_count import WordTable

_SHORTEST_ID, _SHORTEST_ROW = len('"":0,'), len('"a b",')
"""The fewest bytes of a token with its id, and of a row of merges."""
PIECE = 1 << 20
"""Approximate bytes of rows that are read between two checks of the job."""
_WORDS = 1 << 14
"""Names that are put into a table between two checks."""
_BETWEEN = {
    b"[": re.compile(rb'"\s*(\])\s*,\s*(?=\[\s*")'),
    b'"': re.compile(rb'(")\s*,\s*(?=")'),
}
"""A place between two rows, or a text that looks like one, by the first byte of a row."""
_TRIES = 9
"""How many places between two rows are tried, before all of the rest is read at once."""


def picked(table: Any, keys: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a table for many keys, in order, by one call. Each key must exist.

    One call per key takes three times as long.
    """
    return itemgetter(*keys)(table) if len(keys) > 1 else [table[key] for key in keys]


class NameTable(NamedTuple):
    """The tokens of a model as a kernel reads them.

    Attributes:
        ids: The id of each token.
        table: A table of words, in which a kernel finds the number of each name, from 0, and has no room for
            others.
        end: The offset after the object in the JSON text.
    """

    ids: dict[str, int]
    table: WordTable
    end: int


def read_names(data: bytes, at: int) -> NameTable | None:
    """Read an object of ids by a kernel. Kernels must be available.

    Args:
        data: A JSON text that has the object.
        at: The offset after its opening brace.

    Returns:
        The tokens; None if it is empty, has other values, a name twice, or half a surrogate pair.
    """
    from tokentui.formats.kernels.rows import OTHER, read_tokens
    from tokentui.text.kernels.scan_count import INLINE, WordTable, add_words

    most = (len(data) - at) // _SHORTEST_ID + 1
    text, ends = flat("uint8", len(data) - at + INLINE), flat("int64", most + 1)
    lengths, ids = flat("int64", most), flat("int64", most)
    end, count = read_tokens(data, at, text, ends, lengths, ids)
    if end == OTHER:
        return None
    check()
    try:
        names = io.StringIO(str(text[: ends[count]], "utf-8"))
    except UnicodeDecodeError:
        return None
    by_name: dict[str, int] = {}
    for first in range(0, count, _WORDS):
        check()
        last = min(first + _WORDS, count)
        by_name.update(zip(map(names.read, lengths[first:last]), ids[first:last], strict=True))
    if len(by_name) < count:
        return None
    bits = (2 * count).bit_length()
    table = WordTable(
        flat("uint64", 4 << bits), 64 - bits, flat("int64", count),
        flat("uint8", ends[count] + 2 * INLINE), flat("int64", count + 1), flat("int64", 1),
    )
    for first in range(0, count, _WORDS):
        check()
        last = min(first + _WORDS, count)
        add_words(text, text, ends[: last + 1], lengths[:last], first, table)
    return NameTable(by_name, table, end)


def _pieces(
    data: bytes, at: int, between: re.Pattern[bytes] | None
) -> Iterator[tuple[bytes, int, int]]:
    """Yield what may be the next rows of a list: pieces that end between two rows, then all of the rest.

    Args:
        data: The JSON text.
        at: The offset of the next row.
        between: Finds places between two rows.

    Yields:
        (a list without its opening bracket, the offset of its first row, the offset in `data` of the row
        after it; 0 for the rest).
    """
    cut = between and between.search(data, at + PIECE)
    for _ in range(_TRIES):
        if not (between and cut):
            break
        yield b"".join((memoryview(data)[at : cut.end(1)], b"]")), 0, cut.end()
        cut = between.search(data, cut.end())
    yield data, at, 0


class Pairs(Sequence[tuple[str, str]]):
    """Pairs of names, stored as numbers: a list of half a million merges has few different names.

    Args:
        vocabulary: The names with the first numbers, in its order.
        cut: How many characters the right part loses in a merge.

    Attributes:
        lefts, rights: The number of the left name, and of the right name, of each pair.
        makes: The number of the name that each pair makes; -1 if it has no number yet.
    """

    def __init__(self, vocabulary: Mapping[str, object], cut: int = 0) -> None:
        self._of = vocabulary, cut
        self.lefts, self.rights, self.makes = array("q"), array("q"), array("q")

    def is_of(self, vocabulary: Mapping[str, object], cut: int) -> bool:
        """Return whether the numbers are those of a vocabulary with this cut."""
        return self._of[0] is vocabulary and self._of[1] == cut

    def add(self, rows: Sequence[Sequence[str]]) -> bool:
        """Add rows of two names. Return False, and add none, if a row is not a pair of texts."""
        if not (set(map(type, rows)) <= {list, tuple} and set(map(len, rows)) <= {2}):
            return False
        names = list(itertools.chain.from_iterable(rows))
        if not set(map(type, names)) <= {str}:
            return False
        self.extend(names)
        return True

    def extend(self, names: Sequence[str]) -> None:
        """Add pairs given as one flat list: left name, right name, and so on.

        New names get the next numbers; a pair whose result is no token makes -1.
        """
        lefts, rights, cut = names[::2], names[1::2], self._of[1]
        # `array(values)` takes a tenth of the time of `extend(values)`
        self.lefts += array("q", picked(self._numbers, lefts))
        self.rights += array("q", picked(self._numbers, rights))
        joined = list(map(add, lefts, [name[cut:] for name in rights] if cut else rights))
        first = self._numbers.get(joined[0], -1) if joined else -1
        in_order = range(first, first + len(joined))
        if first >= 0 and list(itertools.islice(self._of[0], first, in_order.stop)) == joined:
            self.makes += array("q", in_order)  # the vocabulary has them in the order of the merges
        else:
            self.makes += array("q", list(map(self._numbers.get, joined, itertools.repeat(-1))))

    def read(self, data: bytes, at: int, table: WordTable) -> int | None:
        """Read the rows of a JSON list by a kernel. Kernels must be available, and no part lose characters.

        Args:
            data: A JSON text that has the list.
            at: The offset after its opening bracket.
            table: The names of the vocabulary.

        Returns:
            The offset after its closing bracket; None, with no row added, if a row is not a pair of names of
            the vocabulary.
        """
        from tokentui.formats.kernels.rows import OTHER, PADDING, ROOM, read_rows

        most = (len(data) - at) // _SHORTEST_ROW + 1
        columns = [flat("int64", most) for _ in range(3)]
        buffer = flat("uint8", ROOM + PADDING)

        def read_some(at: int, filled: int) -> tuple[int, int, bool] | None:
            """Return the offset after the next rows, how many there are, and whether they are the last."""
            for piece, start, after in _pieces(data, at, between):
                room = [column[filled:] for column in columns]
                end, count = read_rows(piece, start, table, buffer, buffer, *room)
                if end != OTHER:
                    last = not after or end < len(piece)
                    return (end + at - start if last else after), count, last
            return None

        filled, last, between = 0, False, _BETWEEN.get(data[at : at + 64].lstrip()[:1])
        while not last:
            check()
            if (found := read_some(at, filled)) is None:
                return None
            at, count, last = found
            filled += count
        for own, column in zip((self.lefts, self.rights, self.makes), columns, strict=True):
            own.frombytes(column[:filled].cast("B"))
        return at

    @functools.cached_property
    def _numbers(self) -> defaultdict[str, Any]:
        """The number of each name. A new name gets the next one."""
        vocabulary, count = self._of[0], len(self._of[0])
        ids = list(vocabulary.values())
        in_order = set(map(type, ids)) <= {int} and ids == list(range(count))  # so it is nearly always
        numbers = vocabulary if in_order else dict(zip(vocabulary, range(count), strict=True))
        return defaultdict(itertools.count(count).__next__, numbers)

    @functools.cached_property
    def names(self) -> list[str]:
        """The name of each number, as they were at the first access: to be used after all pairs were
        added."""
        return list(self._numbers if "_numbers" in vars(self) else self._of[0])

    def __len__(self) -> int:
        return len(self.lefts)

    def __getitem__(self, at: Any) -> Any:
        return self.names[self.lefts[at]], self.names[self.rights[at]]
