"""Writing sentencepiece's rules of normalisation: a trie of bytes with shared branches, as a double array.

The format is the one that `charsmap` reads. A place of the array is a unit; the child of a unit at place p by a byte stands at
p ^ offset ^ byte, a rule that ends at a unit has its leaf at the child by 0. Branches that are alike stand once: of Hangul alone
ten thousand rules share their beginnings.
"""

from __future__ import annotations

import functools
import itertools
import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from tokentui.formats.body import Refused
from tokentui.text.normalize import compositions, lowercase, nmt_characters

_LARGEST = 0x30000
"""No character from here on becomes another."""
_LEAF = 0x80000000
_HAS_LEAF = 0x100
_FAR = 0x200
_UNUSED = _LEAF  # a place that no byte matches
_BLOCK = 256
_TRIED = 512
"""How many free places are tried for a branch before the array grows."""


@dataclass(eq=False, slots=True)
class Node:
    """A state of the trie: what a rule that ends here makes, None for none, and what may follow, by character or byte."""

    made: str | None = None
    follow: dict[str, Node] = field(default_factory=dict)


@functools.cache
def rules_of(steps: tuple[str, ...]) -> tuple[bytes, bool]:
    """The rules that do what these steps of the axis `normalize` do, empty for none, and whether spaces are squeezed as well.

    Raises:
        Refused: No rules do it.
    """
    if not steps:
        return b"", False
    if steps == ("lowercase",):
        root = Node()
        _lower(root)
        return compiled(root), False
    if steps not in (("nmt-nfkc",), ("nmt-nfkc", "lowercase")):
        raise Refused(f"it normalises by {','.join(steps)}", "", "sentencepiece's rules can do nmt-nfkc, lowercase or both")
    root = _nmt_trie()
    if len(steps) > 1:
        _lower(root)
    return compiled(root), True


def _lower(root: Node) -> None:
    """Lower what is made, and all else that is not lower."""
    for node in _nodes(root):
        if node.made is not None:
            node.made = lowercase(node.made)
    for code in range(_LARGEST):
        character = chr(code)
        if not 0xD800 <= code < 0xE000 and (made := lowercase(character)) != character:
            node = root.follow.setdefault(character, Node())
            node.made = made if node.made is None else node.made


def _nmt_trie() -> Node:
    """The characters that become others, and the sequences that compose, each with all spellings of its characters."""
    root = Node()
    spellings: dict[str, list[str]] = {}
    for code in range(1, _LARGEST):
        if 0xD800 <= code < 0xE000:
            continue
        character = chr(code)
        part = unicodedata.normalize("NFKD", character)
        if len(part) == 1:
            spellings.setdefault(part, []).append(character)
        made = nmt_characters(character)
        if made != character:
            root.follow[character] = Node(made)
    # Two spellings of a character are followed by the same: they share what follows, and so do their branches of bytes.
    follows: dict[str, dict[str, Node]] = {}
    for parts, made in compositions().items():
        for end in range(1, len(parts)):
            below = follows.setdefault(parts[:end], {})
            last = parts[end]
            whole = parts[: end + 1]
            for spelling in spellings[last]:
                if spelling not in below:
                    below[spelling] = Node(None, follows.setdefault(whole, {}))
                if end == len(parts) - 1:
                    below[spelling].made = made
    for first in [parts for parts in follows if len(parts) == 1]:
        for spelling in spellings[first]:
            root.follow.setdefault(spelling, Node()).follow = follows[first]
    return root


def compiled(root: Node) -> bytes:
    """The blob of a trie by characters.

    Raises:
        ValueError: A rule makes a NUL, which ends a result.
    """
    results = bytearray()
    places: dict[str, int] = {}
    for node in _nodes(root):
        if node.made is not None and node.made not in places:
            places[node.made] = len(results)
            data = node.made.encode()
            if b"\0" in data:
                raise ValueError("a rule makes a NUL")
            results += data + b"\0"
    units = _Layout(places).laid_out(root)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(results or b"\0")


def _nodes(root: Node) -> Iterator[Node]:
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        yield node
        if id(node.follow) not in seen:
            seen.add(id(node.follow))
            waiting += node.follow.values()


class _Branch:
    """What follows a unit, by byte; 0 is the leaf, which holds the place of a result."""

    __slots__ = ("leaf", "units")

    def __init__(self) -> None:
        self.units: dict[int, _Branch] = {}
        self.leaf: int | None = None


class _Layout:
    """Places the branches of a trie in an array."""

    def __init__(self, places: dict[str, int]) -> None:
        self._places = places
        self._units: list[int] = []
        self._free: dict[int, None] = {}
        self._bases = {0}  # from there a NUL would lead to the root
        self._of: dict[tuple[int, str | None], _Branch] = {}
        self._at: dict[_Branch, int] = {}

    def laid_out(self, root: Node) -> list[int]:
        """The array."""
        self._grow()
        self._take(0, 0)
        waiting = [(0, self._branch(root))]
        while waiting:
            place, branch = waiting.pop()
            known = branch in self._at
            base = self._at[branch] if known else self._place(branch)
            self._units[place] |= _offset(place ^ base) | (_HAS_LEAF if branch.leaf is not None else 0)
            waiting += [] if known else [(base ^ byte, below) for byte, below in branch.units.items()]
        return self._units

    def _branch(self, node: Node) -> _Branch:
        """What follows a character: made once for all that are followed by the same."""
        key = (id(node.follow) if node.follow else 0, node.made)
        if key not in self._of:
            branch = self._of[key] = _Branch()
            if node.made is not None:
                branch.leaf = self._places[node.made]
            for character, below in node.follow.items():
                at = branch
                *head, last = character.encode()
                for byte in head:
                    at = at.units.setdefault(byte, _Branch())
                at.units[last] = self._branch(below)
        return self._of[key]

    def _place(self, branch: _Branch) -> int:
        """Write a branch where all its places are free, and return its base."""
        leaf = [] if branch.leaf is None else [(0, _LEAF | branch.leaf)]
        labels = [*leaf, *((byte, byte) for byte in branch.units)]
        base = self._at[branch] = self._find([label for label, _ in labels])
        self._bases.add(base)
        for label, unit in labels:
            self._take(base ^ label, unit)
        return base

    def _find(self, labels: list[int]) -> int:
        while True:
            for place in itertools.islice(self._free, _TRIED):
                base = place ^ labels[0]
                if base not in self._bases and all(base ^ label in self._free for label in labels):
                    return base
            # What has long been free fits nothing: it stays so.
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


def _offset(distance: int) -> int:
    if distance < 1 << 21:
        return distance << 10
    if distance & 0xFF or distance >= 1 << 29:
        raise ValueError("the rules are too many for the format")
    return distance >> 8 << 10 | _FAR
