"""Read and write sentencepiece's precompiled normalization: a trie of sequences, and the result of each.

The blob is the size of the trie in bytes, the trie as units of a double array (the format of Darts-clone),
then the results, each ended by a zero byte.
"""

from __future__ import annotations

import array
import copy
import functools
import itertools
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field

import regex

from tokentui.core.memo import Memo
from tokentui.core.records import dataclass
from tokentui.formats.source import Node
from tokentui.formats.spec import Unsupported
from tokentui.recipe import NEWEST_UNICODE
from tokentui.text.normalize import CharacterTable, compositions, nmt_changes, nmt_characters
from tokentui.text.unicode import TABLES

_NEWEST = TABLES[NEWEST_UNICODE]
LONGEST_RESULT = 1 << 10
"""The most bytes of the result of a rule."""
_LONGEST_RULE = 1 << 7
"""The most bytes that a rule matches: a damaged trie may be endless."""
_GRAPHEME = regex.compile(r"\X")
STRETCHES = re.compile(" ?[^ ]+| ")
"""Matches the parts of a text that is cut before each space."""
_BEFORE_A_SPACE = regex.compile(r"\p{GCB=Prepend} ")
"""Matches a character that forms one grapheme with the space after it."""
_MOST_RESULTS = 32
_SPACE = ord(" ")
_SHORT = 6
"""Hugging Face's library looks up graphemes with fewer bytes as a whole."""


class Charsmap:
    """The rules of a blob.

    Args:
        blob: The bytes of the file.
        place: The place in the file, for errors.

    Raises:
        TokentuiError: The sizes do not fit.
    """

    def __init__(self, blob: bytes, place: Node) -> None:
        if len(blob) < 4:
            raise place.error("the normalization rules are cut off")
        (size,) = struct.unpack_from("<I", blob)
        if size % 4 or size >= len(blob) - 3 or not size:
            raise place.error("the normalization rules are damaged: the size of their trie does not fit")
        self._units = _units_of(blob[4 : 4 + size])
        self._results = blob[4 + size :]
        for damaged, what in (
            (max(map(len, self._results.split(b"\0"))) > LONGEST_RESULT, "one makes too long a text"),
            (not self._results.endswith(b"\0"), "the last result has no end"),
            (not _fits(blob[4 : 4 + size], len(self._results)), "one points outside of them"),
        ):
            if damaged:
                raise place.error(f"the normalization rules are damaged: {what}")
        self._place = place
        self._known = Memo(copy.copy(self)._made)
        self._characters = CharacterTable(copy.copy(self)._character)
        self._stretches = Memo(copy.copy(self)._mapped)

    def matches(self, key: bytes, start: int = 0) -> list[tuple[int, bytes]]:
        """Return (length, result) of each rule that matches `key` at `start`, the shortest first.

        Raises:
            TokentuiError: A rule is too long.
        """
        units, size = self._units, len(self._units)
        matches_: list[tuple[int, bytes]] = []
        node = _offset(units[0])
        for at in range(start, min(len(key), start + _LONGEST_RULE)):
            node ^= key[at]
            if node >= size:
                break
            unit = units[node]
            if unit & 0x800000FF != key[at]:  # the label, and that it is no leaf
                break
            node ^= _offset(unit)
            if unit & _HAS_LEAF:  # a rule ends here
                place = units[node] & 0x7FFFFFFF
                matches_.append((at + 1 - start, self._results[place : self._results.find(b"\0", place)]))
                if len(matches_) == _MOST_RESULTS:
                    break
        else:
            end = start + _LONGEST_RULE
            next_node = node ^ key[end] if len(key) > end else size
            if next_node < size and units[next_node] & 0x800000FF == key[end]:
                raise self._place.error(f"a normalization rule is longer than {_LONGEST_RULE} bytes")
        return matches_

    @functools.cached_property
    def plain(self) -> re.Pattern[str]:
        """Matches text that no rule changes: ASCII characters that no rule matches alone or followed by
        ASCII."""
        units, size, root = self._units, len(self._units), _offset(self._units[0])

        def leads(node: int, value: int) -> bool:
            at = node ^ value
            return at < size and units[at] & 0x800000FF == value

        def changes(value: int) -> bool:
            if not leads(root, value):
                return False
            unit, node = units[root ^ value], root ^ value
            return bool(unit & _HAS_LEAF) or any(leads(node ^ _offset(unit), more) for more in range(128))

        unchanged = (re.escape(chr(value)) for value in range(128) if not changes(value))
        return re.compile(f"(?:{'|'.join(unchanged) or '(?!)'})*")

    @functools.cached_property
    def keeps_spaces(self) -> bool:
        """True if no rule matches across a space and no result has two spaces in a row, so that text between
        spaces can be normalized by itself."""
        units = self._units
        below = {at ^ _offset(unit) for at, unit in enumerate(units) if at and not unit >> 31}
        spaces = (at for at, unit in enumerate(units) if unit & 0x800000FF == _SPACE)
        return b"  " not in self._results and all(at ^ _SPACE not in below for at in spaces)

    def by_grapheme(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield (result, start, end) of each piece, as Hugging Face's library does: short graphemes as a
        whole, else by character.

        It takes the shortest matching rule and uses its result for the whole piece.
        """
        at = 0
        for grapheme in _graphemes(text):
            end = at + len(grapheme)
            short = len(grapheme) == 1 or len(grapheme.encode("utf-8", "surrogatepass")) < _SHORT
            result = self._known[grapheme] if short else None
            if result is not None:
                yield result, at, end
            elif len(grapheme) == 1:
                yield grapheme, at, end
            else:
                for n, character in enumerate(grapheme, at):
                    of_character = self._known[character]
                    yield character if of_character is None else of_character, n, n + 1
            at = end

    def mapped(self, text: str) -> str:
        """Return the text after `by_grapheme`. Each distinct part between spaces is computed once."""
        if _BEFORE_A_SPACE.search(text):
            return self._mapped(text)
        return "".join(map(self._stretches.__getitem__, STRETCHES.findall(text)))

    def _mapped(self, text: str) -> str:
        if len(_graphemes(text)) == len(text):
            return text.translate(self._characters)
        return "".join(result for result, _, _ in self.by_grapheme(text))

    def _character(self, character: str) -> str:
        result = self._known[character]
        return character if result is None else result

    def _made(self, text: str) -> str | None:
        matches_ = self.matches(text.encode("utf-8", "surrogatepass"))
        return matches_[0][1].decode("utf-8", "replace") if matches_ else None


def _graphemes(text: str) -> Sequence[str]:
    """Cut a text into grapheme clusters as tokenizers does. Plain ASCII returns as the text itself."""
    if text.isascii() and "\r\n" not in text:
        return text
    seen = TABLES["tokenizers"].seen(text)
    if seen is text:
        graphemes: list[str] = _GRAPHEME.findall(text)
        return graphemes
    return [text[match.start() : match.end()] for match in _GRAPHEME.finditer(seen)]


@functools.lru_cache(maxsize=8)  # the check of a file and its first text make the same rules
def _fits(trie: bytes, results: int) -> bool:
    """Return whether each leaf of a trie points into the results, and each other unit into the trie."""
    units = _units_of(trie)
    size = len(units)
    if max([unit & 0x7FFFFFFF for unit in units if unit >> 31], default=0) >= results:
        return False
    # as `_offset`, without a call for each unit
    places = [at ^ (unit >> 10) << ((unit & 0x200) >> 6) for at, unit in enumerate(units) if not unit >> 31]
    return max(places, default=-1) < size


def _units_of(trie: bytes) -> array.array[int]:
    units = array.array("I", trie)
    if sys.byteorder == "big":
        units.byteswap()
    return units


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


# --- writing: a trie with shared branches, as a double array ---

_LARGEST = 0x30000
"""Characters from this code point on never change."""
_LEAF = 0x80000000
_HAS_LEAF = 0x100
_UNUSED = _LEAF  # a place that no byte matches
_BLOCK = 256
_TRIED = 512
"""Free places that are tried for a branch before the array grows."""


@dataclass(eq=False, slots=True)
class TrieState:
    """A state of the trie: the result of the rule that ends here (None for none), and the next states by
    character.

    In a trie by bytes, the characters are Latin-1 characters of the bytes.
    """

    made: str | None = None
    follow: dict[str, TrieState] = field(default_factory=dict)


@functools.cache
def rules_of(steps: tuple[str, ...]) -> tuple[bytes, bool]:
    """Return the blob of rules that equal these steps of the axis `normalize`, empty for none, and whether
    spaces are also squeezed.

    Raises:
        Unsupported: No rules do the same.
    """
    if not steps:
        return b"", False
    if steps not in (("lowercase",), ("nmt-nfkc",), ("nmt-nfkc", "lowercase")):
        raise Unsupported(f"it normalizes with {','.join(steps)}", "",
                      "sentencepiece's rules can do nmt-nfkc, lowercase or both")
    nmt = steps[0] == "nmt-nfkc"
    root = _nmt_trie() if nmt else TrieState()
    if steps[-1] == "lowercase":
        _lower(root)
    return compiled(root), nmt


def _lower(root: TrieState) -> None:
    """Make all results lowercase, and add a rule for every other character with a lowercase form."""
    for node in _nodes(root):
        if node.made is not None:
            node.made = _NEWEST.lowercase(node.made)
    for codes in _blocks():
        block = "".join(map(chr, codes))
        if _NEWEST.lowercase(block) == block:
            continue
        for character in block:
            if (lower := _NEWEST.lowercase(character)) != character:
                node = root.follow.setdefault(character, TrieState())
                node.made = lower if node.made is None else node.made


def _nmt_trie() -> TrieState:
    """Return a trie of the characters that change and of the sequences that compose, in all spellings."""
    root = TrieState()
    spellings: dict[str, list[str]] = {}
    for code in _changing():
        character = chr(code)
        part = _NEWEST.nfkd_of(code)
        if len(part) == 1:
            spellings.setdefault(part, []).append(character)
        result = nmt_characters(character, _NEWEST)
        if result != character:
            root.follow[character] = TrieState(result)
    # Equivalent spellings of a character have the same successors, so they share states, and also the states
    # of their bytes.
    follows: dict[str, dict[str, TrieState]] = {}
    for parts, result in compositions(_NEWEST).items():
        for end in range(1, len(parts)):
            below = follows.setdefault(parts[:end], {})
            last = parts[end]
            whole = parts[: end + 1]
            for spelling in sorted({last, *spellings.get(last, ())}):
                if spelling not in below:
                    below[spelling] = TrieState(None, follows.setdefault(whole, {}))
                if end == len(parts) - 1:
                    below[spelling].made = result
    for first in [parts for parts in follows if len(parts) == 1]:
        for spelling in sorted({first, *spellings.get(first, ())}):
            root.follow.setdefault(spelling, TrieState()).follow = follows[first]
    return root


def _blocks() -> Iterator[range]:
    """Yield blocks of at most 256 code points of characters, without NUL and surrogates."""
    for first in range(0, _LARGEST, 0x100):
        if not 0xD800 <= first < 0xE000:
            yield range(max(1, first), first + 0x100)


def _changing() -> Iterator[int]:
    """Yield the code points of each block of 256 in which a character may change. Most blocks have none: if a
    text is in the form NFKD, each of its characters is."""
    for codes in _blocks():
        block = "".join(map(chr, codes))
        if _NEWEST.nfkd(block) != block or nmt_changes(codes):
            yield from codes


def compiled(root: TrieState) -> bytes:
    """Return the blob of a trie by characters."""
    results = bytearray()
    places: dict[str, int] = {}
    for node in _nodes(root):
        if node.made is not None and node.made not in places:
            places[node.made] = len(results)
            results += node.made.encode() + b"\0"
    units = _TrieArray(places).laid_out(root)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(results or b"\0")


def _nodes(root: TrieState) -> Iterator[TrieState]:
    """Yield each node of a trie that shares branches. A shared node comes once for each parent."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        yield node
        if id(node.follow) not in seen:
            seen.add(id(node.follow))
            waiting += node.follow.values()


class _TrieArray:
    """Places the states of a trie in a double array."""

    def __init__(self, places: dict[str, int]) -> None:
        self._places = places
        self._units: list[int] = []
        self._free: dict[int, None] = {}
        self._bases = {0}  # from there a NUL would lead to the root
        self._of: dict[tuple[int, str | None], TrieState] = {}
        self._at: dict[TrieState, int] = {}

    def laid_out(self, root: TrieState) -> list[int]:
        """Return the units of the array."""
        self._grow()
        self._take(0, 0)
        waiting = [(0, self._by_bytes(root))]
        while waiting:
            place, node = waiting.pop()
            known = node in self._at
            base = self._at[node] if known else self._place(node)
            assert place ^ base < 1 << 21, "a far offset, which no rules of the project's own need"
            self._units[place] |= (place ^ base) << 10 | (_HAS_LEAF if node.made is not None else 0)
            waiting += [] if known else [(base ^ ord(byte), below) for byte, below in node.follow.items()]
        return self._units

    def _by_bytes(self, node: TrieState) -> TrieState:
        """Return the state after a character, by bytes. States with the same successors share it."""
        key = (id(node.follow) if node.follow else 0, node.made)
        if key not in self._of:
            state = self._of[key] = TrieState(node.made)
            for character, below in node.follow.items():
                at = state
                *head, last = map(chr, character.encode())
                for byte in head:
                    at = at.follow.setdefault(byte, TrieState())
                at.follow[last] = self._by_bytes(below)
        return self._of[key]

    def _place(self, node: TrieState) -> int:
        """Write the successors of a state where all their places are free, and return its base. Offset 0 is
        the leaf with the index of a result."""
        leaf = [] if node.made is None else [(0, _LEAF | self._places[node.made])]
        labels = [*leaf, *((ord(byte), ord(byte)) for byte in node.follow)]
        base = self._at[node] = self._find([label for label, _ in labels])
        self._bases.add(base)
        for label, unit in labels:
            self._take(base ^ label, unit)
        return base

    def _find(self, labels: list[int]) -> int:
        """Return an unused base whose places are free for all labels. It grows the array until there is one.

        Places that stay free for long are given up, and no later branch uses them.
        """
        while True:
            for place in itertools.islice(self._free, _TRIED):
                base = place ^ labels[0]
                if base not in self._bases and all(base ^ label in self._free for label in labels):
                    return base
            # A place that has been free for long fits no branch and is given up.
            for place in list(itertools.islice(self._free, max(len(self._free) - _TRIED // 2, 0))):
                del self._free[place]
            self._grow()

    def _take(self, place: int, unit: int) -> None:
        del self._free[place]
        self._units[place] = unit

    def _grow(self) -> None:
        end = len(self._units)
        self._units += [_UNUSED] * _BLOCK
        self._free |= dict.fromkeys(range(end, end + _BLOCK))
