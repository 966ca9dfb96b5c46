"""Units of the corpus that nothing merges with: symbols, and what the base does not cover."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from tokentui.core import jobs
from tokentui.learn.bases import parts_of
from tokentui.learn.filters import NEVER
from tokentui.recipe import Recipe
from tokentui.text.split import to_bytes

_NEVER = frozenset(map(to_bytes, NEVER))
_BARRIER = b"\x1f"
"""The character that sentencepiece puts in place of a symbol, and counts."""


def has_barriers(recipe: Recipe) -> bool:
    """True if a training by this recipe may meet units that no merge takes."""
    return bool(recipe.symbols) or recipe.coverage < 1 or recipe.pieces != "any"


def barriers(words: Sequence[Sequence[bytes]], weights: Sequence[int], recipe: Recipe) -> frozenset[bytes]:
    """The units of a corpus that are no part of the base: symbols, what is too rare, and what sentencepiece never takes.

    Characters are taken by count, of equals the smaller code point first, while the share of the corpus that those taken before
    cover is less than the coverage; what is left is rare. Shares are compared in single precision. sentencepiece counts its
    symbols as one character, and does not count NUL. Source: sentencepiece 0.2.3, `TrainerInterface::LoadSentences`.

    Args:
        words: The units of each distinct word, with their marks.
        weights: The weight of each word in the counts.
        recipe: The recipe that defines them.
    """
    if not has_barriers(recipe):
        return frozenset()
    symbols = frozenset(map(to_bytes, recipe.symbols))
    never = _NEVER if recipe.pieces != "any" else frozenset()
    if recipe.coverage == 1:
        return frozenset(unit for word, _ in parts_of(words, weights) for unit in word if unit in symbols or unit in never)
    bare = _bare(recipe)
    counts: dict[bytes, int] = {}
    for word, weight in parts_of(words, weights):
        for unit in word:
            character = bare(unit) if unit not in symbols else _BARRIER if never else b""
            if character and not (never and character == b"\0"):
                counts[character] = counts.get(character, 0) + weight
    total, covered = sum(counts.values()), 0
    kept: set[bytes] = set()
    for unit in sorted(counts, key=lambda unit: (-counts[unit], unit)):
        if _single(covered / total) >= _single(recipe.coverage):
            break
        covered += counts[unit]
        kept.add(unit)
    kept -= never
    return frozenset(unit for word, _ in parts_of(words, weights) for unit in word if unit in symbols or bare(unit) not in kept)


def without(words: list[list[bytes]], found: frozenset[bytes]) -> list[list[bytes]]:
    """Return words without their barriers. A long word checks for cancellation between its blocks."""
    if not found:
        return words
    return [[unit for part in jobs.in_blocks(word) for unit in part if unit not in found] for word in words]


def tokens_of(found: frozenset[bytes], words: Sequence[Sequence[bytes]], weights: Iterable[int], recipe: Recipe) -> int:
    """The number of tokens of a corpus's barriers when it is encoded.

    A symbol is one token. The axis `unknown` says how many tokens the others are.
    """
    symbols = frozenset(map(to_bytes, recipe.symbols))
    total = 0
    for word, weight in zip(words, weights, strict=True):
        before = False
        for unit in itertools.chain.from_iterable(jobs.in_blocks(word)):
            unknown = unit in found and unit not in symbols
            if unit in symbols:
                total += weight
            elif unknown and recipe.unknown == "byte-fallback":
                total += weight * len(unit)
            elif unknown and recipe.unknown != "drop" and not (before and recipe.unknown == "fused"):
                total += weight
            before = unknown
    return total


def _single(share: float) -> float:
    single: float = struct.unpack("f", struct.pack("f", share))[0]
    return single


def _bare(recipe: Recipe) -> Any:
    """From a unit to the character in it, its mark left out."""
    kind, mark = recipe.mark_kind, to_bytes(recipe.mark_text)
    if kind == "prefix":
        return lambda unit: unit.removeprefix(mark) or unit
    if kind == "end-suffix":
        return lambda unit: unit.removesuffix(mark) or unit
    return lambda unit: unit
