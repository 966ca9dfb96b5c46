"""What differs between a text and what decoding gives back: found in the two texts, whatever made them differ."""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

CASE, FORMS, ACCENTS = "case", "forms", "accents"
MISSING, NEW, ORDER = "missing", "new", "order"
ADDED, DROPPED, CHANGED, MORE, FEWER = "added", "dropped", "changed", "more", "fewer"
_EXAMPLES = 5


class Difference(NamedTuple):
    """A way in which a text that came back differs from what was typed.

    `kind` is one of: `case`, `forms` (other code points for characters that Unicode holds for the same), `accents` (marks are
    dropped); `missing` and `new` (characters that do not come back, or come without being typed: `size` of them, the first
    distinct ones in `examples`); `order` (the same characters in another order); of white space `added`, `dropped` and `changed`
    (at `size` places between characters that are the same; of `changed` the `examples` are what comes back there), or where the
    characters are not the same, `more` and `fewer` (`size` characters of white space).
    """

    kind: str
    size: int = 0
    examples: tuple[str, ...] = ()


def _forms(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(char for char in apart if unicodedata.category(char) != "Mn"))


_ALIKE: dict[str, Callable[[str], str]] = {FORMS: _forms, ACCENTS: _accents, CASE: str.lower}
"""What makes texts equal that differ in one thing alone, in the order in which it is done."""


class _Text(NamedTuple):
    """The characters of a text that are no white space, and the white space before each and at the end."""

    characters: str
    gaps: tuple[str, ...]


def _read(text: str, alike: tuple[str, ...]) -> _Text:
    characters: list[str] = []
    gaps: list[str] = []
    gap = ""
    for space, run in _runs(text):
        if space:
            gap += run
            continue
        for one in alike:
            run = _ALIKE[one](run)
        run = "".join(run.split())
        if run:
            characters.append(run)
            gaps += [gap, *[""] * (len(run) - 1)]
            gap = ""
    return _Text("".join(characters), (*gaps, gap))


def _runs(text: str) -> Iterator[tuple[bool, str]]:
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or text[place].isspace() != text[start].isspace():
            yield text[start].isspace(), text[start:place]
            start = place


@functools.lru_cache(maxsize=64)
def differences(typed: str, back: str) -> tuple[Difference, ...]:
    """How a text that came back differs from what was typed; empty where it does not.

    The fewest of case, forms and accents are named with which the most characters are the same.
    """
    if typed == back:
        return ()
    names = (CASE,) if typed.isascii() and back.isascii() else (CASE, FORMS, ACCENTS)
    best: tuple[int, tuple[str, ...], _Text, _Text] | None = None
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            alike = tuple(name for name in _ALIKE if name in chosen)
            one, other = _read(typed, alike), _read(back, alike)
            ours, theirs = Counter(one.characters), Counter(other.characters)
            far = (ours - theirs).total() + (theirs - ours).total()
            if best is None or far < best[0]:
                best = far, chosen, one, other
    assert best is not None
    _, chosen, one, other = best
    return (*(Difference(name) for name in chosen), *_characters(one, other), *_spaces(one, other, typed, back))


def _characters(one: _Text, other: _Text) -> Iterator[Difference]:
    ours, theirs = Counter(one.characters), Counter(other.characters)
    for kind, left, text in ((MISSING, ours - theirs, one.characters), (NEW, theirs - ours, other.characters)):
        if left:
            seen = tuple(dict.fromkeys(char for char in text if char in left))
            yield Difference(kind, left.total(), seen[:_EXAMPLES])
    if ours == theirs and one.characters != other.characters:
        yield Difference(ORDER)


def _spaces(one: _Text, other: _Text, typed: str, back: str) -> Iterator[Difference]:
    if one.characters != other.characters:
        more = sum(map(str.isspace, back)) - sum(map(str.isspace, typed))
        if more:
            yield Difference(MORE if more > 0 else FEWER, abs(more))
        return
    differ = [(was, now) for was, now in zip(one.gaps, other.gaps, strict=True) if was != now]
    added, dropped = sum(not was for was, _ in differ), sum(not now for _, now in differ)
    changed = [now for was, now in differ if was and now]
    if added:
        yield Difference(ADDED, added)
    if dropped:
        yield Difference(DROPPED, dropped)
    if changed:
        yield Difference(CHANGED, len(changed), tuple(dict.fromkeys(changed))[:_EXAMPLES])
