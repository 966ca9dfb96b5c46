"""Upper and lower case as Oniguruma sees them: by Unicode's full case folding, in which ß is ss and ı is
itself alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Set
from typing import Any

import regex

_LAST = 0x20000
"""No character from here on has a case."""
_MOST = 64
"""Ways to write one text that are written out."""


_LATER = {
    "\u1c89": "\u1c8a", "\ua7cb": "\u0264", "\ua7cc": "\ua7cd", "\ua7da": "\ua7db", "\ua7dc": "\u019b",
    **{chr(0x10D50 + n): chr(0x10D70 + n) for n in range(0x16)},
}
"""Foldings of Unicode 16 that older versions of Python do not know."""


@functools.cache
def _folds() -> dict[str, str]:
    """The folding of each character that folds to something else."""
    characters = (chr(code) for code in range(_LAST) if not 0xD800 <= code < 0xE000)
    return _LATER | {character: folded for character in characters
                     if (folded := character.casefold()) != character}


@functools.cache
def _unfolds() -> dict[str, str]:
    """The other characters that fold to a text, by the text."""
    found: dict[str, str] = {}
    for character, folded in _folds().items():
        found[folded] = found.get(folded, "") + character
    return found


@functools.cache
def cased() -> str:
    """All characters that have another case, here or in the `regex` library."""
    folds = _folds()
    several = {character for folded in folds.values() for character in folded}
    return "".join(sorted({*folds, *several, "ı"}))


def variants(character: str) -> str:
    """A character and all that are the same in another case, one for one."""
    folded = _folds().get(character, character)
    both = (folded if len(folded) == 1 else "") + _unfolds().get(folded, "") + character
    return "".join(sorted(set(both)))


def several(folded: str) -> list[str]:
    """The ways to write what some character folds to as several characters: the variants of each of them."""
    return [variants(character) for character in folded]


def ways(text: str) -> list[list[str]] | None:
    """The ways to write a text: rows of the characters that may stand at each place; None for too many.

    What several characters of the text are as one, and what one of them is as several, is counted in.
    """
    folds, unfolds = _folds(), _unfolds()
    single = [folded if len(folded := folds.get(character, character)) == 1 else character
              for character in text]
    rows: list[list[list[str]]] = [[] for _ in text] + [[[]]]
    for at in range(len(text) - 1, -1, -1):
        heads = [([variants(text[at])], 1)]
        if len(folded := folds.get(text[at], "")) > 1:
            heads.append((several(folded), 1))
        joined = ((unfolds.get("".join(single[at : at + size]), ""), size) for size in (2, 3)
                  if at + size <= len(text))
        heads += [([made], size) for made, size in joined if made]
        rows[at] = [head + tail for head, size in heads for tail in rows[at + size]]
        if len(rows[at]) > _MOST:
            return None
    return rows[0]


def folding_to_several(characters: Iterable[str]) -> list[str]:
    """The foldings of characters, where these are several characters, the shortest first."""
    folds = _folds()
    found = {folded for character in characters if len(folded := folds.get(character, "")) > 1}
    return sorted(found, key=lambda folded: (len(folded), folded))


def closed(matched: Set[str]) -> set[str]:
    """Those of `cased()` that are matched in some case, of those that are matched as they stand."""
    return {other for character in matched for other in variants(character)}


@functools.lru_cache(1 << 10)
def plainly(pattern: str) -> frozenset[str]:
    """Those of `cased()` that a pattern of one character matches as they stand."""
    compiled: Any = regex.compile(pattern, regex.VERSION0)
    return frozenset(compiled.findall(cased()))
