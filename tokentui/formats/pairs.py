"""Long lists of merges, stored as numbers of names."""

from __future__ import annotations

import functools
import itertools
import json
import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any

from tokentui.core.arrays import flat

if TYPE_CHECKING:
    from tokentui.text.kernels.scan_count import WordTable


def picked(table: Any, keys: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a table for many keys, in order, by one call. Each key must exist.

    One call per key takes three times as long.
    """
    return itemgetter(*keys)(table) if len(keys) > 1 else [table[key] for key in keys]


_ROW = re.compile(rb'''
    \[[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*,[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*\]
    [ \t\r\n]*([],])
''', re.VERBOSE)
"""A row of two texts in JSON, and what is behind it."""


def table_of(names: Collection[str]) -> WordTable:
    """Return a table of words, in which a kernel finds the number of each name, from 0, and has no room for
    others. Kernels must be available."""
    from tokentui.text.kernels.scan_count import INLINE, WordTable, add_words

    try:
        data = list(map(str.encode, names))
    except UnicodeEncodeError:  # half a surrogate pair
        data = [name.encode("utf-8", "surrogatepass") for name in names]
    bounds = array("q", itertools.accumulate(map(len, data), initial=0))
    text = b"".join(data) + bytes(INLINE)
    bits = (4 * len(data) + 4).bit_length()
    table = WordTable(
        flat("int32", 1 << bits), 64 - bits, flat("uint64", 4 * len(data)),
        flat("uint8", len(text) + INLINE), flat("int64", len(data) + 1),
        flat("int64", 1),
    )
    add_words(text, text, bounds, bounds[1:], 0, table)
    return table


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
        names_, count = list(vocabulary.values()), range(len(vocabulary))
        in_order = set(map(type, names_)) <= {int} and names_ == list(count)  # so it is nearly always
        numbers = vocabulary if in_order else dict(zip(vocabulary, count, strict=True))
        self._numbers: defaultdict[str, Any] = defaultdict(itertools.count(len(names_)).__next__, numbers)
        self.lefts, self.rights, self.makes = array("l"), array("l"), array("l")

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
        self.lefts += array("l", picked(self._numbers, lefts))
        self.rights += array("l", picked(self._numbers, rights))
        joined = list(map(add, lefts, [name[cut:] for name in rights] if cut else rights))
        first = self._numbers.get(joined[0], -1) if joined else -1
        in_order = range(first, first + len(joined))
        if first >= 0 and list(itertools.islice(self._of[0], first, in_order.stop)) == joined:
            self.makes += array("l", in_order)  # the vocabulary has them in the order of the merges
        else:
            self.makes += array("l", list(map(self._numbers.get, joined, itertools.repeat(-1))))

    def read(self, data: bytes) -> bool:
        """Add the rows of a JSON list by a kernel. Kernels must be available, and no part lose characters.

        Args:
            data: The list after its opening bracket, up to and with its closing bracket.

        Returns:
            False, with some rows added, if a row is not a pair of names of the vocabulary.
        """
        from tokentui.formats.kernels.rows import ASKS, DONE, OTHER, PADDING, ROOM, read_rows

        most, at, filled, state = data.count(b"]"), 0, 0, ASKS
        columns = [flat("int64", most) for _ in range(3)]
        names, buffer = table_of(self._numbers), flat("uint8", ROOM + PADDING)
        ended = data + b"\0"  # a byte that ends every loop of the kernel
        while True:
            at, filled, state = read_rows(ended, at, names, buffer, buffer, *columns, filled)
            if state == OTHER:
                return False
            if state == DONE:
                break
            row = _ROW.match(data, at)
            if row is None:
                return False
            left, right = (json.loads(row[n]) for n in (1, 2))
            numbers = [self._numbers.get(name, -1) for name in (left, right, left + right)]
            if -1 in numbers[:2]:
                return False
            for column, number in zip(columns, numbers, strict=True):
                column[filled] = number
            at, filled = row.end(), filled + 1
            if row[3] == b"]":
                break
        for own, column in zip((self.lefts, self.rights, self.makes), columns, strict=True):
            own.frombytes(column[:filled].cast("B"))
        return at == len(data)

    @functools.cached_property
    def names(self) -> list[str]:
        """The name of each number, as they were at the first access: to be used after all pairs were
        added."""
        return list(self._numbers)

    def __len__(self) -> int:
        return len(self.lefts)

    def __getitem__(self, at: Any) -> Any:
        return self.names[self.lefts[at]], self.names[self.rights[at]]
