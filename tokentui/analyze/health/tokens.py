"""Checks of the tokens themselves."""

from __future__ import annotations

import re
from collections import Counter

from tokentui.analyze.health.found import FAIL, NONE, PASS, WARN, Found, graded, share, some
from tokentui.analyze.health.survey import Survey, is_text
from tokentui.analyze.reach import ALIKE, GIVEN_UP, NORMALISED, OTHERWISE, SPLIT
from tokentui.analyze.results import Example
from tokentui.analyze.spelling import bare

_RESERVED = re.compile(rb"[\[<]\|?(?:unused|extra_id|reserved|special|mask|pad|empty)[^\[\]<>]*[\]>]", re.IGNORECASE)
_NEVER = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
_CONTROLS = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]")
_LONG = 64


def coverage(seen: Survey) -> Found:
    """Whether any text at all can be written."""
    tokenizer = seen.tokenizer
    recipe, vocabulary = tokenizer.recipe, tokenizer.vocabulary
    if not any(entry.kind not in ("special", "unknown") for entry in seen.entries):
        return Found(FAIL, "no text can be written: the vocabulary has no token for any")
    missing = [value for value in seen.health.missing_bytes if value not in _NEVER]
    fallback = vocabulary.byte_tokens or len(getattr(vocabulary, "byte_symbols", ()))
    if recipe.unit == "byte" and not missing:
        return Found(PASS, "all bytes have a token" if not seen.health.missing_bytes else "all bytes of UTF-8 have a token", 0)
    if fallback:
        lacks = 256 - fallback
        return Found(graded(lacks, 0, 0), f"{fallback} of the 256 bytes have a token to fall back on", lacks)
    lacking = f"{len(missing)} of the 243 bytes of UTF-8 have no token"
    what = lacking if recipe.unit == "byte" else "only the units of its corpus have a token"
    unknown = recipe.unknown
    if unknown == "drop":
        return Found(FAIL, f"{what}, and others are dropped without a word")
    if unknown in ("error", "never"):
        return Found(WARN, f"{what}, and text with others is refused")
    if vocabulary.unknown_id is None:
        return Found(WARN, f"{what}, and others have no id")
    return Found(WARN, f"{what}; others become the unknown token, id {vocabulary.unknown_id}")


def otherwise(seen: Survey) -> Found:
    """Tokens whose own text becomes other tokens."""
    return _dead(seen, (OTHERWISE, GIVEN_UP), "whose own text becomes other tokens")


def split_away(seen: Survey) -> Found:
    """Tokens that the split never leaves in one piece."""
    return _dead(seen, (SPLIT,), "that the split cuts")


def normalised_away(seen: Survey) -> Found:
    """Tokens whose text the normalisation changes."""
    return _dead(seen, (NORMALISED,), "that the normalisation changes")


def _dead(seen: Survey, causes: tuple[str, ...], what: str) -> Found:
    found = [Example(number, piece, words) for number, piece, why, words in seen.dead
             if why in causes and not _RESERVED.fullmatch(piece) and len(seen.bare(piece)) > 1]
    value = share(len(found), len(seen.pieces))
    return Found(graded(value, 0, 0.05), some(len(found), "token", what, len(seen.pieces)), value, found)


def reserved(seen: Survey) -> Found:
    """Names without a meaning yet."""
    found = [Example(entry.id, entry.piece) for entry in seen.entries if _RESERVED.fullmatch(entry.piece)]
    return Found(PASS if found else NONE, some(len(found), "name", "without a meaning yet"), len(found), found)


def duplicates(seen: Survey) -> Found:
    """Several ids for one spelling, or several tokens with one id."""
    alike = {number for number, _, why, _ in seen.dead if why == ALIKE}
    found = [Example(ids[0], piece, f"also {', '.join(map(str, ids[1:6]))}") for piece, ids in seen.health.duplicates]
    found += [Example(number, seen.pieces.get(number, b""), "the id of several tokens") for number in seen.health.shared]
    spellings, ids_ = len(seen.health.duplicates), len(seen.health.shared)
    what = f"{some(spellings, 'spelling', 'with several ids')}, {some(ids_, 'id', 'of several tokens')}"
    return Found(FAIL if seen.health.shared else WARN if found or alike else PASS, what, len(found), found)


def orphans(seen: Survey) -> Found:
    """Tokens that no merge makes."""
    if not seen.tokenizer.merges:
        return Found(NONE, "there are no merges")
    orphaned = (entry for entry in seen.entries if entry.kind == "orphan")
    found = [Example(entry.id, entry.piece) for entry in orphaned if not _RESERVED.fullmatch(entry.piece)]
    value = share(len(found), len(seen.pieces))
    return Found(graded(value, 0, 0.05), some(len(found), "token", "that no merge makes", len(seen.pieces)), value, found)


def holes(seen: Survey) -> Found:
    """Ids without a token."""
    ranges = seen.health.holes
    count = sum(last - first + 1 for first, last in ranges)
    found = [Example(first, b"", f"to {last}") for first, last in ranges]
    return Found(WARN if count else PASS, some(count, "id", "without a token between the first and the last"), count, found)


def partial(seen: Survey) -> Found:
    """Tokens of several bytes that are a part of one character."""
    return _broken(seen, False, "within a character", 0.05, 0.2)


def crossing(seen: Survey) -> Found:
    """Tokens that hold the end of one character and the beginning of another."""
    return _broken(seen, True, "with parts of several characters", 0.01, 0.05)


def _broken(seen: Survey, several: bool, what: str, warn: float, fail: float) -> Found:
    if seen.tokenizer.recipe.unit != "byte":
        return Found(NONE, "the units are characters")
    found = [Example(number, piece) for number, piece in seen.health.broken
             if _crosses(piece) == several and not _NEVER.intersection(piece)]
    value = share(len(found), len(seen.pieces))
    return Found(graded(value, warn, fail), some(len(found), "token", what, len(seen.pieces)), value, found)


def _crosses(piece: bytes) -> bool:
    """Whether bytes that are not UTF-8 belong to more than one character."""
    head = 0
    while head < len(piece) and piece[head] & 0xC0 == 0x80:
        head += 1
    return any(value & 0xC0 != 0x80 for value in piece[head + (not head) :])


def impossible(seen: Survey) -> Found:
    """Bytes that stand in no UTF-8, in tokens of several."""
    found = [Example(number, piece) for number, piece in seen.health.broken if _NEVER.intersection(piece)]
    if seen.tokenizer.recipe.unit != "byte":
        return Found(NONE, "the units are characters")
    return Found(WARN if found else PASS, some(len(found), "token", "with bytes that stand in no UTF-8"), len(found), found)


def controls(seen: Survey) -> Found:
    """Characters that cannot be seen, in tokens that were learned."""
    ordinary = {entry.id for entry in seen.entries if entry.kind in ("merge", "piece", "orphan")}
    found = [Example(number, piece) for number, piece in seen.pieces.items()
             if number in ordinary and len(piece) > 1 and is_text(piece) and _CONTROLS.search(piece.decode())]
    value = share(len(found), len(seen.pieces))
    observed = some(len(found), "learned token", "with characters that cannot be seen")
    return Found(graded(value, 0.001, 1), observed, value, found)


def long_ones(seen: Survey) -> Found:
    """Tokens that are longer than words are."""
    sizes = {number: len(bare(seen.tokenizer.recipe, piece)) for number, piece in seen.pieces.items()}
    long = sorted((number for number, size in sizes.items() if size > _LONG), key=lambda number: -sizes[number])
    found = [Example(number, seen.pieces[number], f"{sizes[number]} bytes") for number in long]
    value = share(len(found), len(seen.pieces))
    observed = some(len(found), "token", f"of more than {_LONG} bytes", len(seen.pieces))
    return Found(graded(value, 0.001, 0.05), observed, value, found)


def siblings(seen: Survey) -> Found:
    """Tokens that differ in case or a space before them alone."""
    keys = Counter(key for piece in seen.pieces.values() if (key := _key(piece)))
    many = sum(times for times in keys.values() if times > 1)
    common = [Example(None, key.encode(), f"{times} tokens") for key, times in keys.most_common(5) if times > 1]
    value = share(many, len(seen.pieces))
    what = some(many, "token", "with another one beside it that is other in case or space alone", len(seen.pieces))
    return Found(graded(value, 0.75, 1.0), what, value, common)


def _key(piece: bytes) -> str:
    return piece.decode("utf-8").strip(" ▁").casefold() if is_text(piece) else ""
