"""A report on the health of a vocabulary: the facts, and the checks of the table `CHECKS`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tokentui.analyze.health import texts
from tokentui.analyze.health.survey import FAIL, INFO, NONE, PASS, WARN, Check, Finding, Survey, share, some
from tokentui.analyze.health.survey import survey as surveyed
from tokentui.analyze.inspect import text_of
from tokentui.analyze.results import CheckResult, Example, HealthReport
from tokentui.core.jobs import check
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.why_not import REASONS
from tokentui.text.pretokenize import UNITS

__all__ = ["CHECKS", "FAIL", "INFO", "NONE", "PASS", "WARN", "Check", "examine", "worst"]


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


def coverage(seen: Survey) -> Finding:
    """Check for bytes and units without a token. The finding says what becomes of them: they fall back to
    bytes (the value counts missing ones), become the unknown token or are refused (WARN), or are dropped
    (FAIL)."""
    tokenizer = seen.tokenizer
    recipe, vocabulary = tokenizer.recipe, tokenizer.vocabulary
    if not any(entry.kind not in ("special", "unknown") for entry in seen.entries):
        return Finding("no text can be encoded: the vocabulary is empty", status=FAIL)
    missing = [value for value in seen.facts.missing_bytes if value not in _NEVER]
    fallback = vocabulary.byte_tokens or len(getattr(vocabulary, "byte_symbols", ()))
    if UNITS.of(recipe.unit).is_byte and not missing:
        return Finding(f"all bytes{' of UTF-8' * bool(seen.facts.missing_bytes)} have a token", 0)
    if fallback:
        return Finding(f"{fallback} of the 256 bytes have a token to fall back on", 256 - fallback)
    lacking = f"{len(missing)} of the 243 bytes of UTF-8 have no token"
    what = lacking if UNITS.of(recipe.unit).is_byte else "only the units of its corpus have a token"
    way = UNKNOWN.of(recipe.unknown)
    if way.drops_units:
        return Finding(f"{what}, and others are silently dropped", status=FAIL)
    if way.is_error:
        return Finding(f"{what}, and text with others is refused", status=WARN)
    if vocabulary.unknown_id is None:
        return Finding(f"{what}, and others have no id", status=WARN)
    return Finding(f"{what}; others become the unknown token, id {vocabulary.unknown_id}", status=WARN)


def _dead(seen: Survey, where: str, what: str) -> Finding:
    """Check for tokens of several characters that no text produces, for a reason at the stage `where`.
    Reserved names are not counted."""
    return _of_all(seen, what, [
        Example(number, piece, words) for number, piece, why, words in seen.dead
        if REASONS[why].where == where and not _RESERVED.fullmatch(piece)
        and len(seen.bare[number].decode("utf-8", "replace")) > 1
    ])


def _of_all(seen: Survey, what: str, examples: Sequence[Example]) -> Finding:
    """Return a result: some tokens, and their share of all ordinary tokens."""
    observed = some(len(examples), "token", what, len(seen.pieces))
    return Finding(observed, share(len(examples), len(seen.pieces)), examples)


def reserved(seen: Survey) -> Finding:
    """Check for reserved names, such as `[unused1]`, which have no meaning yet. Never a fault."""
    examples = [Example(entry.id, entry.piece) for entry in seen.entries if _RESERVED.fullmatch(entry.piece)]
    observed = some(len(examples), "name", "without a meaning yet")
    return Finding(observed, len(examples), examples, PASS if examples else NONE)


def duplicates(seen: Survey) -> Finding:
    """Check for spellings with several ids (WARN), and for ids of several tokens (FAIL)."""
    facts = seen.facts
    alike = any(REASONS[why].where == "twin" for _, _, why, _ in seen.dead)
    examples = [
        Example(ids[0], piece, f"also {', '.join(map(str, ids[1:6]))}") for piece, ids in facts.duplicates
    ]
    examples += [
        Example(number, seen.pieces.get(number, b""), "the id of several tokens")
        for number in facts.shared_ids
    ]
    spellings = some(len(facts.duplicates), "spelling", "with several ids")
    what = f"{spellings}, {some(len(facts.shared_ids), 'id', 'of several tokens')}"
    status = FAIL if facts.shared_ids else WARN if examples or alike else PASS
    return Finding(what, len(examples), examples, status)


def orphans(seen: Survey) -> Finding:
    """Check for tokens that no merge makes. It does not apply without merges."""
    if not seen.tokenizer.merges:
        return Finding("there are no merges")
    orphaned = (entry for entry in seen.entries if entry.kind == "orphan")
    examples = [Example(entry.id, entry.piece) for entry in orphaned if not _RESERVED.fullmatch(entry.piece)]
    return _of_all(seen, "that no merge makes", examples)


def holes(seen: Survey) -> Finding:
    """Check for ids without a token."""
    count = sum(last - first + 1 for first, last in seen.facts.holes)
    examples = [Example(first, b"", f"to {last}") for first, last in seen.facts.holes]
    return Finding(some(count, "id", "without a token between the first and the last"), count, examples)


def _broken(seen: Survey, several: bool, what: str) -> Finding:
    """Check for tokens of several bytes that are not UTF-8: parts of one character or, with `several`, of
    more than one. Tokens with impossible bytes are not counted."""
    if not UNITS.of(seen.tokenizer.recipe.unit).is_byte:
        return Finding("the units are characters")
    return _of_all(seen, what, [
        Example(number, piece) for number, piece in seen.facts.not_utf8
        if _crosses(piece) == several and not _NEVER.intersection(piece)
    ])


def _crosses(piece: bytes) -> bool:
    """Return whether bytes that are not UTF-8 belong to more than one character."""
    head = 0
    while head < len(piece) and piece[head] & 0xC0 == 0x80:
        head += 1
    return any(value & 0xC0 != 0x80 for value in piece[head + (not head) :])


def impossible(seen: Survey) -> Finding:
    """Check for tokens of several bytes with a byte that never occurs in UTF-8."""
    if not UNITS.of(seen.tokenizer.recipe.unit).is_byte:
        return Finding("the units are characters")
    examples = [Example(number, piece) for number, piece in seen.facts.not_utf8 if _NEVER.intersection(piece)]
    observed = some(len(examples), "token", "with bytes that never occur in UTF-8")
    return Finding(observed, len(examples), examples)


def controls(seen: Survey) -> Finding:
    """Check for invisible characters in learned tokens of several bytes."""
    learned = {entry.id for entry in seen.entries if entry.kind in ("merge", "piece", "orphan")}
    examples = [
        Example(number, piece) for number, piece in seen.pieces.items()
        if number in learned and len(piece) > 1 and _CONTROLS.search(text_of(piece) or "")
    ]
    observed = some(len(examples), "learned token", "with invisible characters")
    return Finding(observed, share(len(examples), len(seen.pieces)), examples)


def long_ones(seen: Survey) -> Finding:
    """Check for tokens that are longer than words."""
    sizes = {number: len(piece) for number, piece in seen.bare.items()}
    long = sorted((number for number in sizes if sizes[number] > _LONG), key=lambda number: -sizes[number])
    examples = [Example(number, seen.pieces[number], f"{sizes[number]} bytes") for number in long]
    return _of_all(seen, f"of more than {_LONG} bytes", examples)


def siblings(seen: Survey) -> Finding:
    """Check for tokens that differ from another only in case or a leading space."""
    texts = (text_of(piece) or "" for piece in seen.pieces.values())
    keys = Counter(key for text in texts if (key := text.strip(" ▁").casefold()))
    many = sum(times for times in keys.values() if times > 1)
    common = [
        Example(None, key.encode(), f"{times} tokens") for key, times in keys.most_common(5) if times > 1
    ]
    what = some(many, "token", "that differ from another only in case or space", len(seen.pieces))
    return Finding(what, share(many, len(seen.pieces)), common)


def literals(seen: Survey) -> Finding:
    """Check the steps of a file for literal text that reads like a pattern: it matches only itself. It does
    not apply to a file without steps."""
    stages = seen.tokenizer.vocabulary.file.stages
    if not stages:
        return Finding("the file has no steps of its own")
    examples = [
        Example(None, text.encode("utf-8", "surrogatepass"), f"in {where}")
        for where, text in _literals(stages, "") if _LIKE_A_PATTERN.search(text)
    ]
    return Finding(some(len(examples), "text", "that reads like a pattern"), len(examples), examples)


def _literals(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield each text that a step of the file matches literally, with the step."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        inside = f"{where}.{kind}" if isinstance(kind, str) else where
        pattern = value.get("pattern")
        text = pattern.get("String") if isinstance(pattern, Mapping) else pattern
        if isinstance(text, str):
            yield inside, text
        for name, inner in value.items():
            if isinstance(inner, Mapping | list):
                yield from _literals(inner, inside or str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _literals(inner, where)


def doubts(seen: Survey) -> Finding:
    """Check for assumptions and remarks from reading the file."""
    notes = list(seen.tokenizer.notes)
    status = WARN if notes else INFO if seen.tokenizer.vocabulary.file.near else PASS
    if seen.tokenizer.vocabulary.file.near:
        split = seen.tokenizer.recipe.split
        notes.append(f"the steps of the file split text: split={split} is only the nearest value")
    examples = [Example(None, note.encode("utf-8", "surrogatepass")) for note in notes]
    return Finding(some(len(notes), "remark", "from reading the file"), len(notes), examples, status)


CHECKS: tuple[Check, ...] = (
    Check("bytes", "any text can be encoded", "Text without a token is dropped, rejected or unknown.",
          coverage, fail=0,
          limits="WARN: some text is unknown or rejected; FAIL: it is dropped, or all text is"),
    Check("unknown", "scripts", "A script with unknown letters cannot be read or written.",
          texts.unknown, warn=0),
    Check("texts", "round trip of texts", "Text that decodes differently was changed or lost.",
          texts.comes_back, warn=0,
          limits="INFO: only characters that tokenizers use as marks; WARN: any other text"),
    Check("spaces", "round trip of whitespace", "Code and tables depend on their whitespace.",
          lambda seen: texts.returns(seen, texts.SPACES, "kind"), warn=0),
    Check("controls", "round trip of control characters", "Normalizers often drop control characters.",
          lambda seen: texts.returns(seen, texts.CONTROLS, "control"), warn=0),
    Check("stable", "stable ids",
          "If ids change when they are decoded and encoded again, the model sees ids it was not trained on.",
          texts.stable,
          warn=0, fail=0.5, limits="WARN: any; FAIL: half of the texts"),
    Check("forms", "composed and decomposed forms",
          "Two forms of a text that look alike should have the same ids.",
          texts.forms, info=0),
    Check("digits", "numbers", "Numbers of one length that are split in several ways make arithmetic hard.",
          texts.digits, info=0, limits="INFO: any length in several ways"),
    Check("literals", "plain text instead of a pattern",
          "A pattern that is stored as plain text matches almost nothing.", literals, fail=0),
    Check("specials", "special tokens are whole", "A special token that is split has no effect.",
          texts.specials, fail=0),
    Check("injected", "special tokens in plain text",
          "If plain text becomes special tokens, users can inject them.", texts.injected, warn=0),
    Check("otherwise", "tokens whose text encodes differently",
          "The text of the token encodes to other tokens, so its embedding is never trained.",
          lambda seen: _dead(seen, "encoder", "whose text encodes to other tokens"),
          info=0, warn=0.001, fail=0.05, of="pieces"),
    Check("split", "tokens that the split separates",
          "No word contains the token, so its embedding is never trained. Single characters do not count.",
          lambda seen: _dead(seen, "split", "that the split separates"),
          info=0, warn=0.001, fail=0.05, of="pieces"),
    Check("normalised", "tokens that normalization changes",
          "The text of the token is changed before it is looked up.",
          lambda seen: _dead(seen, "normalisation", "that normalization changes"),
          info=0, warn=0.001, fail=0.05, of="pieces"),
    Check("orphans", "tokens that no merge makes", "Merging never reaches them.", orphans,
          info=0, warn=0.001, fail=0.05, of="pieces"),
    Check("duplicates", "ids and spellings",
          "Two ids for one spelling, or one id for two tokens, is never intended.", duplicates,
          of="entries", limits="WARN: a spelling with several ids; FAIL: an id of several tokens"),
    Check("holes", "unused ids", "The model still has an embedding row for each.",
          holes, info=0, of="entries"),
    Check("reserved", "reserved names", "Names reserved for later use.", reserved, of="entries"),
    Check("partial", "partial characters", "A token that is part of a character has no meaning alone.",
          lambda seen: _broken(seen, False, "within a character"), warn=0.05, fail=0.2, of="pieces"),
    Check("crossing", "across characters",
          "A token that ends in the middle of a character can produce invalid text.",
          lambda seen: _broken(seen, True, "with parts of several characters"),
          warn=0.01, fail=0.05, of="pieces"),
    Check("impossible", "impossible bytes", "Bytes that never occur in UTF-8, learned from broken text.",
          impossible, warn=0, of="pieces"),
    Check("invisible", "invisible characters", "They come from a corpus that was not cleaned.",
          controls, warn=0.001, of="pieces"),
    Check("long", "long tokens", "They come from repeated text.", long_ones,
          info=0.001, warn=0.01, fail=0.05, of="pieces"),
    Check("siblings", "differences in case or space", "Near-duplicates take room from other tokens.",
          siblings, warn=0.75, of="pieces"),
    Check("file", "assumptions", "Programs that use the file may assume otherwise.",
          doubts, warn=0,
          limits="INFO: the only remark: the split is the nearest known one; WARN: any other remark"),
)
"""The checks, in the order in which they are shown. A new one is a line here and the function that it names.
"""


def examine(tokenizer: Tokenizer, step: int | None = None) -> HealthReport:
    """Return the facts of a vocabulary, and the results of all checks in the order of `CHECKS`. Looks at
    every token.

    Args:
        tokenizer: The tokenizer.
        step: Its step; None for its number of merges.

    Raises:
        Cancelled: The job is cancelled.
    """
    seen = surveyed(tokenizer)
    results = []
    for health_check in CHECKS:
        check()
        results.append(health_check.result(seen))
    return HealthReport(tokenizer.merges if step is None else step, seen.facts, tuple(results))


def worst(checks: Iterable[CheckResult]) -> str:
    """Return `FAIL` or `WARN` if a check has it, else `PASS`: an `INFO` or `n/a` is no fault."""
    statuses = {check.status for check in checks}
    return next((status for status in (FAIL, WARN) if status in statuses), PASS)
