"""Tokens and merges as in files: GPT-2's letters for bytes, names, and merges by name in order."""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import sys
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import compress, filterfalse, islice
from operator import lt
from typing import Any

from tokentui.core import engines
from tokentui.core.arrays import flat
from tokentui.core.jobs import BLOCK, check, in_blocks
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import PAIRS, EncodingWay
from tokentui.formats.pairs import Pairs, picked
from tokentui.formats.source import Node

_PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [value for value in range(256) if value not in _PRINTED]

LETTERS: tuple[str, ...] = tuple(
    chr(value) if value in _PRINTED else chr(0x100 + _OTHERS.index(value)) for value in range(256)
)
"""The letter of each byte: printable Latin-1 is unchanged, the other 68 bytes are U+0100 and up."""

ORDER: tuple[int, ...] = tuple(sorted(range(256), key=LETTERS.__getitem__))
"""The bytes in order of their letters, as GPT-2 numbers them."""

_LETTERS = "".join(LETTERS)
_TO_BYTES: Any = codecs.charmap_build(_LETTERS)
_MOVED = tuple((LETTERS[value], chr(value)) for value in _OTHERS)
"""The letters above Latin-1, each with the character of its byte."""


def _bytes_of(text: str) -> bytes:
    """Return the bytes that letters stand for. Other characters raise `UnicodeEncodeError`."""
    return codecs.charmap_encode(text, "strict", _TO_BYTES)[0]


def _bytes_of_long(text: str) -> bytes:
    """Return what `_bytes_of` does, for a long text in a third of the time."""
    moved = text
    for letter, character in _MOVED:
        moved = moved.replace(letter, character)
    data = moved.encode("latin-1")
    return data if letters(data) == text else _bytes_of(text)  # a byte may have been in the text as typed


def spelled(token: str) -> bytes:
    """Return the bytes that a token of byte letters represents. A token with other characters represents its
    UTF-8."""
    try:
        return _bytes_of(token)
    except UnicodeEncodeError:
        return to_bytes(token)


def is_letters(token: str) -> bool:
    """Return whether all characters of a token are letters for bytes."""
    try:
        _bytes_of(token)
    except UnicodeEncodeError:
        return False
    return True


def letters(data: bytes) -> str:
    """Return the GPT-2 letter of each byte."""
    return codecs.charmap_decode(data, "strict", _LETTERS)[0]


def name_of(piece: bytes, byte_level: bool) -> str:
    """Return the name of a token in a file: letters for its bytes, or its text."""
    return letters(piece) if byte_level else piece.decode("utf-8", "surrogateescape")


def piece_of(name: str, byte_level: bool, prefix: str = "", suffix: str = "") -> bytes:
    """Return the exact bytes of a token from its name. Marks are not decoded, also among byte letters."""
    if not byte_level:
        return to_bytes(name)
    if not prefix and not suffix:
        return spelled(name)
    head = prefix if prefix and name.startswith(prefix) and name != prefix else ""
    tail = suffix if suffix and name.endswith(suffix) and len(name) > len(head) + len(suffix) else ""
    return to_bytes(head) + spelled(name[len(head) : len(name) - len(tail)]) + to_bytes(tail)


def pieces_of(names: Sequence[str], byte_level: bool, prefix: str = "", suffix: str = "") -> list[bytes]:
    """Return the exact bytes of each of many tokens; see `piece_of`."""
    if not byte_level:
        with contextlib.suppress(UnicodeEncodeError):
            return list(map(str.encode, names))
    elif not prefix and not suffix:
        with contextlib.suppress(UnicodeEncodeError):
            data = io.BytesIO(_bytes_of_long("".join(names)))  # a letter is a byte
            return list(map(data.read, map(len, names)))
    return [piece_of(name, byte_level, prefix, suffix) for name in names]


def is_unit(name: str, prefix: str = "", suffix: str = "", lettered: bool = False) -> bool:
    """Return whether a name is a single character, apart from its marks.

    Args:
        name: The name.
        prefix: The mark in front of a token.
        suffix: The mark at the end of a token.
        lettered: True if the character must be a byte letter.
    """
    if len(name) > 1 and prefix and name.startswith(prefix):
        name = name[len(prefix) :]
    if len(name) > 1 and suffix and name.endswith(suffix):
        name = name[: -len(suffix)]
    return len(name) == 1 and (not lettered or is_letters(name))


def ends_in(specials: Collection[str], begin: str, end: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names before and after a text, without those that are no special tokens."""
    return (begin,) if begin in specials else (), (end,) if end in specials else ()


_ABSENT = array("q", (-1,)).tobytes()
"""A number of -1 in the bytes of an array; numbers from 0 to 2 ** 56 have no such bytes side by side."""
MANY_ROWS = 1 << 15
"""From this many rows on, kernels put them in order."""
_KEPT_PAIRS = 1 << 20
"""The most pairs whose rows are kept once they were looked up. Then they are forgotten: input may be endless.
"""


def _by_kernels(rows: int) -> bool:
    """Return whether kernels process a list of this many rows."""
    return rows >= MANY_ROWS and engines.available()


def _gathered(values: Sequence[int], places: Sequence[int]) -> array[int]:
    """Return the values at many places, in order."""
    if _by_kernels(len(places)):
        with engines.rescued():
            from tokentui.formats.kernels.rows import pick

            out = array("q", bytes(8 * len(places)))
            pick(_flat(values), _flat(places), out)
            return out
    return array("q", picked(values, places))


def _flat(values: Sequence[int]) -> array[int]:
    """Return numbers as an array of 64-bit numbers."""
    return values if isinstance(values, array) else array("q", values)


class Rows:
    """The rows of a list of merges as symbols, computed when a text is encoded: a file that is only opened
    needs none.

    Args:
        lefts, rights: The left and the right part of each row, as numbers of names.
        symbols: The symbol of each number.
        first_wins: True if the first of two rows with the same pair counts, False for the last.
    """

    def __init__(
        self, lefts: Sequence[int], rights: Sequence[int], symbols: Sequence[int], *, first_wins: bool
    ) -> None:
        self._lefts, self._rights, self._symbols = lefts, rights, symbols
        self._first_wins = first_wins

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle: the rows without the tables that are built from them."""
        return {name: value for name, value in vars(self).items() if name not in ("_by_pair", "row_of")}

    def sides(self) -> tuple[array[int], array[int]]:
        """Return the left symbol of each row, and the right one."""
        return _gathered(self._symbols, self._lefts), _gathered(self._symbols, self._rights)

    def distinct(self) -> int:
        """Return the number of different pairs."""
        if _by_kernels(len(self._lefts)):
            with engines.rescued():
                from tokentui.formats.kernels.rows import distinct_pairs

                bits = (2 * len(self._lefts)).bit_length()
                return int(distinct_pairs(self._lefts, self._rights, flat("int64", 1 << bits), 64 - bits))
        both = array("i", bytes(8 * len(self._lefts)))
        both[::2], both[1::2] = array("i", self._lefts), array("i", self._rights)
        return len(set(memoryview(both).cast("B").cast("q")))

    @functools.cached_property
    def _by_pair(self) -> dict[int, int]:
        keys, by_pair = self._keys(), dict[int, int]()
        for pairs in in_blocks(zip(keys, range(len(keys)), strict=True)):  # other threads come in between
            by_pair.update(pairs)
        if self._first_wins and len(by_pair) < len(keys):
            by_pair |= dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        return by_pair

    def _keys(self) -> array[int]:
        """Return the pair of each row, as `left * len(symbols) + right`."""
        check()
        lefts, rights = self.sides()
        keys, width = array("q"), len(self._symbols)
        for start in range(0, len(lefts), BLOCK):
            check()
            # Many numbers of 64 bits as one long number: no sum carries, and it takes a tenth of the time.
            left, right = (int.from_bytes(side[start : start + BLOCK].tobytes(), sys.byteorder)
                           for side in (lefts, rights))
            count = min(BLOCK, len(lefts) - start)
            keys.frombytes((left * width + right).to_bytes(8 * count, sys.byteorder))
        return keys

    def listed(self) -> tuple[array[int], array[int]]:
        """Return the pairs of the rows, and their ranks. Of equal pairs the first one counts."""
        keys, ranks = self._keys(), array("q", range(len(self._lefts)))
        return (keys, ranks) if self._first_wins else (keys[::-1], ranks[::-1])

    def __call__(self) -> dict[int, int]:
        """Return the row that merges two symbols, by `left * len(symbols) + right`."""
        return self._by_pair

    @functools.cached_property
    def row_of(self) -> Callable[[int], int | None]:
        """Returns the row that merges two symbols, by `left * len(symbols) + right`; None if none does.

        For many rows kernels fill a table, in a third of the time and of the memory of a dict.
        """
        if _by_kernels(len(self._lefts)) and not engines.NUMBA:
            with engines.rescued():
                from tokentui.encode.kernels.words import NONE

                if max(len(self._lefts), len(self._symbols)) < NONE:
                    return _FoundRows(*self.listed(), len(self._symbols)).__getitem__
        return self._by_pair.get


class _FoundRows(dict[int, int | None]):
    """The rows of the pairs that were asked for, from a table that kernels fill. `found[pair]` looks up the
    others.

    Args:
        keys: Each pair, as `left * width + right`.
        rows: The row of each pair. Of equal pairs the first one counts.
        width: The number of symbols.
    """

    def __init__(self, keys: array[int], rows: array[int], width: int) -> None:
        from tokentui.encode.kernels import words  # kernels are available

        super().__init__()
        self._width, self._words = width, words
        self._slots = flat("uint64", 1 << (2 * len(rows) + 1).bit_length())
        none = array("q", bytes(8 * max(len(rows), width)))  # no pair is left out, and no length is looked at
        words.put_pairs(keys, rows, none, width, width, none, self._slots)

    def __missing__(self, key: int) -> int | None:
        row = self._words.rank_of(*divmod(key, self._width), self._slots)
        if len(self) >= _KEPT_PAIRS:
            self.clear()
        self[key] = found = None if row == self._words.NONE else row
        return found


class Merges(Sequence[tuple[int, int]]):
    """The (left, right) of each merge, as symbols. Objects for all would take the time of reading them.

    Args:
        rows: The rows.
        makers: The row of each merge.
    """

    def __init__(self, rows: Rows, makers: Sequence[int]) -> None:
        self._rows, self._makers = rows, makers

    @functools.cached_property
    def _sides(self) -> tuple[array[int], array[int]]:
        lefts, rights = (_gathered(side, self._makers) for side in self._rows.sides())
        return lefts, rights

    def __len__(self) -> int:
        return len(self._makers)

    def __getitem__(self, at: Any) -> Any:
        lefts, rights = self._sides
        return list(zip(lefts[at], rights[at], strict=True)) if isinstance(at, slice) else (
            lefts[at], rights[at]
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(*self._sides, strict=True)


@dataclass(slots=True)
class Ordered:
    """The tokens of a file: first those that no merge makes, then one per merge that makes a new token.

    Attributes:
        tokens: The name of each symbol in the file.
        ids: The id of each symbol.
        merges: The (left, right) of each token that a merge makes, as symbols; these tokens are the last
            symbols.
        rows: The rows of the list of merges.
        makes: The symbol that each row makes.
        notes: Sentences on doubts.
    """

    tokens: list[str]
    ids: list[int]
    merges: Sequence[tuple[int, int]]
    rows: Rows
    makes: Sequence[int]
    notes: list[str] = field(default_factory=list)

    @property
    def roots(self) -> list[str]:
        """The names of the tokens that no merge makes."""
        return self.tokens[: len(self.tokens) - len(self.merges)]

    @property
    def way(self) -> EncodingWay:
        """The way of encoding by these merges."""
        return PAIRS.with_tables(rows=self.rows, makes=self.makes)


def in_merge_order(
    vocabulary: Mapping[str, int], rows: Sequence[Sequence[str]], place: Callable[[int], Node], cut: int = 0,
    *, first_wins: bool = False, is_unit: Callable[[str], bool] | None = None,
) -> Ordered:
    """Number the tokens in the order in which merges make them.

    The first row whose parts both exist makes a token. A row with a part that appears later waits for it.
    Tokens that no row makes come first, with the units.

    Args:
        vocabulary: The id of each token.
        rows: (left, right) of each merge, by name, in order of rank.
        place: Returns the place of a row, for errors.
        cut: How many characters the right part loses in a merge (Hugging Face's `continuing_subword_prefix`).
        is_unit: Returns True if a token is a unit, which exists from the start even if a row makes it (`w`
            and `</w>`). None for none.
        first_wins: True if the first of two rows with the same pair counts, False for the last.

    Raises:
        TokentuiError: A part or the result of a row is not in the vocabulary.
    """
    check()
    names, ids = list(vocabulary), list(vocabulary.values())
    for number, (left, right) in enumerate(rows) if cut or "" in vocabulary else ():
        if not (left and right):
            raise place(number).error("one side of the merge is empty",
                                      "a merge joins two tokens, both nonempty")
        if len(right) < cut:
            what = f"the right side is shorter than the prefix of {cut} characters that goes on a word"
            raise place(number).error(what, "a right side begins with the prefix")
    pairs = rows if isinstance(rows, Pairs) and rows.is_of(vocabulary, cut) else Pairs(vocabulary, cut)
    if pairs is not rows:
        pairs.add(rows)
    lefts, rights, makes = pairs.lefts, pairs.rights, pairs.makes
    check()
    if len(pairs.names) > len(names) or _ABSENT in makes.tobytes():
        number, absent = next(
            (n, name) for n, (left, right) in enumerate(rows)
            for name in (left, right, left + right[cut:]) if name not in vocabulary
        )
        raise place(number).error(f"{absent[:40]!r} is not in the vocabulary",
                                  "a merge joins two tokens into one, all in the vocabulary")
    units_ = [n for n, name in enumerate(names) if is_unit(name)] if is_unit else []
    check()
    others, made, makers, late = _parents(len(names), units_, lefts, rights, makes)
    check()
    others.sort(key=ids.__getitem__)
    check()
    order = array("q", others) + made
    symbols = _inverted(order)
    first = made[0] if made else 0
    run, numbered = range(first, first + len(made)), ids == list(range(len(ids)))
    if len(made) < 2 or (made[-1] == run[-1] and made == array("q", run)):
        # so it is nearly always: each merge makes the next token
        tokens, numbers = ([*map(values.__getitem__, others), *values[run.start : run.stop]]
                           for values in (names, ids))
    else:
        tokens, numbers = list(picked(names, order)), list(order if numbered else picked(ids, order))
    check()
    by_symbol = Rows(lefts, rights, symbols, first_wins=first_wins)
    ordered = Ordered(tokens, numbers, Merges(by_symbol, makers), by_symbol, _gathered(symbols, makes))
    check()
    # rows that make different tokens have different pairs
    if twice := 0 if len(made) == len(makes) else len(makes) - by_symbol.distinct():
        which = "first" if first_wins else "last"
        ordered.notes.append(f"{_counted(twice, 'pair')} listed twice: the {which} row of a pair counts")
    if late:
        ordered.notes.append(f"{_counted(late, 'merge')} with a part that appears later")
    if again := 0 if numbered else len(ids) - len(set(ids)):
        ordered.notes.append(f"{_counted(again, 'token')} with the id of another one")
    return ordered


def _inverted(order: array[int]) -> array[int]:
    """Return the place of each number in an order of all numbers from 0."""
    places = array("q", bytes(8 * len(order)))
    if _by_kernels(len(order)):
        with engines.rescued():
            from tokentui.formats.kernels.rows import invert

            invert(order, places)
            return places
    for place, n in enumerate(order):
        places[n] = place
    return places


def _parents(
    size: int, units_: list[int], lefts: array[int], rights: array[int], makes: array[int]
) -> tuple[list[int], array[int], Sequence[int], int]:
    """Find the row that makes each token. Of several rows, the first whose parts exist makes it.

    Returns:
        (the tokens without a row: units, and tokens that no row can make; the others in the order in which
        they are made; the row of each of these; how many rows had to wait for a part).
    """
    if _by_kernels(len(makes)):
        with engines.rescued():
            from tokentui.formats.kernels.rows import MADE, UNIT, first_makers

            states, makers = bytearray(size), flat("int64", size)
            for unit in units_:
                states[unit] = UNIT
            lists, links = flat("int64", size), flat("int64", 2 * len(makes))
            count, late = first_makers(lefts, rights, makes, states, makers, lists, links)
            others = list(compress(range(size), states.translate(bytes(n != MADE for n in range(256)))))
            rows = array("q", bytes(makers[:count]))
            return others, _gathered(makes, rows), rows, late
    parents, late = _parents_of(size, units_, lefts, rights, makes)
    others = list(filterfalse(parents.__contains__, range(size)))
    return others, array("q", parents), list(parents.values()), late


def _parents_of(
    size: int, units_: list[int], lefts: Sequence[int], rights: Sequence[int], makes: Sequence[int]
) -> tuple[dict[int, int], int]:
    """Return the row that makes each token, in order, and how many rows had to wait for a part."""
    in_order = not units_ and all(map(lt, makes, islice(makes, 1, None)))
    if in_order and all(map(lt, lefts, makes)) and all(map(lt, rights, makes)):
        # so it is nearly always: each row makes a token, of tokens that rows before it make
        return dict(zip(makes, range(len(makes)), strict=True)), 0
    present = bytearray(b"\1" * size)
    for result in makes:
        present[result] = 0
    for unit in units_:
        present[unit] = 1
    parents: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    late = 0
    for row, (left, right, result) in enumerate(zip(lefts, rights, makes, strict=True)):
        if present[result]:
            continue
        if present[left] and present[right] and result not in waiting:  # so it is nearly always
            present[result] = 1
            parents[result] = row
            continue
        ready = [row]
        while ready:
            now = ready.pop()
            left, right, result = lefts[now], rights[now], makes[now]
            if present[result]:
                continue
            if present[left] and present[right]:
                present[result] = 1
                parents[result] = now
                late += now != row
                ready += reversed(waiting.pop(result, ()))
            else:
                waiting.setdefault(right if present[left] else left, []).append(now)
    return parents, late


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
