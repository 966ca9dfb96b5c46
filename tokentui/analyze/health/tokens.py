"""Checks of the tokens themselves, and of what a file says of its steps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tokentui.analyze.health.survey import FAIL, NONE, PASS, WARN, Found, Survey, is_text, share, some
from tokentui.analyze.results import Example
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.reach import ALIKE, GIVEN_UP, NORMALISED, OTHERWISE, SPLIT, bare

_RESERVED = re.compile(
    rb"[\[<]\|?(?:unused|extra_id|reserved|special|mask|pad|empty)[^\[\]<>]*[\]>]", re.IGNORECASE
)
_NEVER = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
"""The bytes that valid UTF-8 never holds."""
_CONTROLS = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]"
)
_LIKE_A_PATTERN = re.compile(
    r"\\[sSdDwWbpPnrt]|\[\^|\[[^\[\]]+-[^\[\]]+\]|\[[^\[\]]{2,}\][*+?]|\(\?|[^\\][.)\]][*+]|\{\d+,\d*\}"
    r"|^\^.|.\$$|\|.*[+*?]"
)
_LONG = 64
"""Bytes of a token that is long."""


def coverage(seen: Survey) -> Found:
    """Bytes and units without a token."""
    tokenizer = seen.tokenizer
    recipe, vocabulary = tokenizer.recipe, tokenizer.vocabulary
    if not any(entry.kind not in ("special", "unknown") for entry in seen.entries):
        return Found("no text can be written: the vocabulary has no token for any", status=FAIL)
    missing = [value for value in seen.facts.missing_bytes if value not in _NEVER]
    fallback = vocabulary.byte_tokens or len(getattr(vocabulary, "byte_symbols", ()))
    if recipe.unit == "byte" and not missing:
        return Found(f"all bytes{' of UTF-8' * bool(seen.facts.missing_bytes)} have a token", 0)
    if fallback:
        return Found(f"{fallback} of the 256 bytes have a token to fall back on", 256 - fallback)
    lacking = f"{len(missing)} of the 243 bytes of UTF-8 have no token"
    what = lacking if recipe.unit == "byte" else "only the units of its corpus have a token"
    if recipe.unknown == "drop":
        return Found(f"{what}, and others are dropped without a word", status=FAIL)
    if recipe.unknown in ("error", "never"):
        return Found(f"{what}, and text with others is refused", status=WARN)
    if vocabulary.unknown_id is None:
        return Found(f"{what}, and others have no id", status=WARN)
    return Found(f"{what}; others become the unknown token, id {vocabulary.unknown_id}", status=WARN)


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
    return _of_all(seen, what, [
        Example(number, piece, words) for number, piece, why, words in seen.dead
        if why in causes and not _RESERVED.fullmatch(piece) and len(seen.bare(piece)) > 1
    ])


def _of_all(seen: Survey, what: str, found: Sequence[Example]) -> Found:
    """Some tokens, as a share of all that are ordinary."""
    observed = some(len(found), "token", what, len(seen.pieces))
    return Found(observed, share(len(found), len(seen.pieces)), found)


def reserved(seen: Survey) -> Found:
    """Names without a meaning yet."""
    found = [Example(entry.id, entry.piece) for entry in seen.entries if _RESERVED.fullmatch(entry.piece)]
    return Found(
        some(len(found), "name", "without a meaning yet"), len(found), found, PASS if found else NONE
    )


def duplicates(seen: Survey) -> Found:
    """Several ids for one spelling, or several tokens with one id."""
    facts = seen.facts
    alike = any(why == ALIKE for _, _, why, _ in seen.dead)
    found = [
        Example(ids[0], piece, f"also {', '.join(map(str, ids[1:6]))}") for piece, ids in facts.duplicates
    ]
    found += [
        Example(number, seen.pieces.get(number, b""), "the id of several tokens") for number in facts.shared
    ]
    spellings = some(len(facts.duplicates), "spelling", "with several ids")
    what = f"{spellings}, {some(len(facts.shared), 'id', 'of several tokens')}"
    return Found(what, len(found), found, FAIL if facts.shared else WARN if found or alike else PASS)


def orphans(seen: Survey) -> Found:
    """Tokens that no merge makes."""
    if not seen.tokenizer.merges:
        return Found("there are no merges")
    orphaned = (entry for entry in seen.entries if entry.kind == "orphan")
    found = [Example(entry.id, entry.piece) for entry in orphaned if not _RESERVED.fullmatch(entry.piece)]
    return _of_all(seen, "that no merge makes", found)


def holes(seen: Survey) -> Found:
    """Ids without a token."""
    count = sum(last - first + 1 for first, last in seen.facts.holes)
    found = [Example(first, b"", f"to {last}") for first, last in seen.facts.holes]
    return Found(some(count, "id", "without a token between the first and the last"), count, found)


def partial(seen: Survey) -> Found:
    """Tokens of several bytes that are a part of one character."""
    return _broken(seen, False, "within a character")


def crossing(seen: Survey) -> Found:
    """Tokens that hold the end of one character and the beginning of another."""
    return _broken(seen, True, "with parts of several characters")


def _broken(seen: Survey, several: bool, what: str) -> Found:
    if seen.tokenizer.recipe.unit != "byte":
        return Found("the units are characters")
    return _of_all(seen, what, [
        Example(number, piece) for number, piece in seen.facts.broken
        if _crosses(piece) == several and not _NEVER.intersection(piece)
    ])


def _crosses(piece: bytes) -> bool:
    """Return whether bytes that are not UTF-8 belong to more than one character."""
    head = 0
    while head < len(piece) and piece[head] & 0xC0 == 0x80:
        head += 1
    return any(value & 0xC0 != 0x80 for value in piece[head + (not head) :])


def impossible(seen: Survey) -> Found:
    """Bytes that no UTF-8 holds, in tokens of several."""
    if seen.tokenizer.recipe.unit != "byte":
        return Found("the units are characters")
    found = [Example(number, piece) for number, piece in seen.facts.broken if _NEVER.intersection(piece)]
    return Found(some(len(found), "token", "with bytes that stand in no UTF-8"), len(found), found)


def controls(seen: Survey) -> Found:
    """Characters that cannot be seen, in tokens that were learned."""
    learned = {entry.id for entry in seen.entries if entry.kind in ("merge", "piece", "orphan")}
    found = [
        Example(number, piece) for number, piece in seen.pieces.items()
        if number in learned and len(piece) > 1 and is_text(piece) and _CONTROLS.search(piece.decode())
    ]
    observed = some(len(found), "learned token", "with characters that cannot be seen")
    return Found(observed, share(len(found), len(seen.pieces)), found)


def long_ones(seen: Survey) -> Found:
    """Tokens that are longer than words are."""
    sizes = {number: len(bare(seen.tokenizer.recipe, piece)) for number, piece in seen.pieces.items()}
    long = sorted(
        (number for number, size in sizes.items() if size > _LONG), key=lambda number: -sizes[number]
    )
    found = [Example(number, seen.pieces[number], f"{sizes[number]} bytes") for number in long]
    return _of_all(seen, f"of more than {_LONG} bytes", found)


def siblings(seen: Survey) -> Found:
    """Tokens that differ in case or a space before them alone."""
    texts = (piece.decode() for piece in seen.pieces.values() if is_text(piece))
    keys = Counter(key for text in texts if (key := text.strip(" ▁").casefold()))
    many = sum(times for times in keys.values() if times > 1)
    common = [
        Example(None, key.encode(), f"{times} tokens") for key, times in keys.most_common(5) if times > 1
    ]
    what = some(many, "token", "with another one that differs in case or space alone", len(seen.pieces))
    return Found(what, share(many, len(seen.pieces)), common)


def literals(seen: Survey) -> Found:
    """Text in a step that reads like a pattern: it matches itself alone, so nearly nothing."""
    vocabulary = seen.tokenizer.vocabulary
    stages = vocabulary.pipeline.stages if isinstance(vocabulary, ImportedVocabulary) else None
    if not stages:
        return Found("the file holds no steps of its own")
    found = [
        Example(None, text.encode("utf-8", "surrogatepass"), f"in {where}")
        for where, text in _literals(stages, "") if _LIKE_A_PATTERN.search(text)
    ]
    return Found(some(len(found), "text", "that reads like a pattern"), len(found), found)


def _literals(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Each text that is to be found literally, and the step that it is in."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        inside = f"{where}.{kind}" if isinstance(kind, str) else where
        pattern = value.get("pattern")
        text = pattern.get("String") if isinstance(pattern, Mapping) else pattern
        if isinstance(text, str):
            yield inside, text
        for name, one in value.items():
            yield from _literals(one, inside or str(name))
    elif isinstance(value, list):
        for one in value:
            yield from _literals(one, where)


def doubts(seen: Survey) -> Found:
    """Assumptions and remarks of the reader of the file."""
    notes = list(seen.tokenizer.notes)
    vocabulary = seen.tokenizer.vocabulary
    if isinstance(vocabulary, ImportedVocabulary) and vocabulary.pipeline.near:
        split = seen.tokenizer.recipe.split
        notes.append(f"text is cut by the steps of the file: split={split} is only the nearest value")
    found = [Example(None, note.encode("utf-8", "surrogatepass")) for note in notes]
    return Found(some(len(notes), "remark", "by what read the file"), len(notes), found)
