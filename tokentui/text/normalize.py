"""Normalisation: the changes of a text before it is split, and the alignment of the result with the text.

Each step of the axis is one or more stages, plain functions from text to text. `normalize` applies them.
`normalize_aligned` applies them too and follows every character. It cuts a text into *sequences*: a sequence
is a character with all characters that may combine with it. No stage depends on text outside a sequence, so
that each result belongs to one sequence.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.core.choices import Axis, Choice
from tokentui.text import bert

Stage = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A normalised text and its alignment with the text that it was made from.

    Character n of `text` comes from the characters `starts[n]` to `ends[n]` of the original. The ranges are
    half-open and never empty, and both sequences are non-decreasing.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def normalize(text: str, steps: tuple[str, ...]) -> str:
    """The text after these steps, in this order."""
    for stage in _stages(steps):
        text = stage(text)
    return text


def normalize_aligned(text: str, steps: tuple[str, ...]) -> Aligned:
    """The text after these steps, as `normalize` gives it, with its alignment."""
    result = Aligned(text, range(len(text)), range(1, len(text) + 1))
    for stage in _stages(steps):
        before, result = result, align(stage, result.text)
        if result.text == before.text:
            result = before
        elif before.text != text:
            starts = [before.starts[at] for at in result.starts]
            result = Aligned(result.text, starts, [before.ends[at - 1] for at in result.ends])
    return result


def _stages(steps: tuple[str, ...]) -> list[Stage]:
    return [stage for step in steps for stage in NORMALIZERS.of(step).stages]


# --- the stages ---


class _Table(dict[int, str]):
    """A table for `str.translate` that is filled as characters come."""

    def __init__(self, of: Callable[[str], str]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, code: int) -> str:
        self[code] = result = self._of(chr(code))
        return result


def lowercase(text: str) -> str:
    """Lower case, character by character as Hugging Face does it: a sigma at the end of a word is σ too."""
    return text.replace("Σ", "σ").lower()


def strip_accents(text: str) -> str:
    """Remove combining marks (all of category M).

    A letter composed with its accent keeps it unless `nfd` runs before.
    """
    return text if text.isascii() else str(_marks().sub("", text))


@functools.cache
def _marks() -> Any:
    import regex  # knows newer characters than the tables of Python; not before the first paint

    return regex.compile(r"\p{M}+")


def _bert_cleaned(character: str) -> str:
    if _BERT_DROPPED.match(character):
        return ""
    if _BERT_IDEOGRAPH.match(character):
        return f" {character} "
    return " " if character.isspace() else character


_BERT_DROPPED = re.compile(f"[{bert.DROPPED}]")
_BERT_IDEOGRAPH = re.compile(f"[{bert.IDEOGRAPHS}]")
_BERT_ACCENTS = re.compile(f"[{bert.ACCENTS}]+")
_BERT_CLEANED = _Table(_bert_cleaned)


def bert_clean(text: str) -> str:
    """BERT's cleaning: no control characters, every white space a space, spaces around each ideograph."""
    return text.translate(_BERT_CLEANED)


def bert_strip_accents(text: str) -> str:
    """Decomposed, without what BERT takes as an accent."""
    return text if text.isascii() else _BERT_ACCENTS.sub("", unicodedata.normalize("NFD", text))


_NMT_DROPPED = dict.fromkeys([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F], "")
_NMT_SPACES = dict.fromkeys(
    map(ord, "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "
)
# The full-width tilde is kept: sentencepiece's makers hold it ill-defined.
_NMT_RULES = {**_NMT_DROPPED, **_NMT_SPACES, 0xFF5E: "\uff5e"}
_NMT_CHARACTERS = _Table(
    lambda character: _NMT_RULES.get(ord(character), unicodedata.normalize("NFKC", character))
)


def nmt_characters(text: str) -> str:
    """sentencepiece's `nmt_nfkc` rules: the longest sequence that has a rule, else the character.

    The rules do less than NFKC: none reorders marks, and none composes a letter that already has an accent.
    """
    if (
        not text.isascii()
        and not _followers().isdisjoint(text)
        and not unicodedata.is_normalized("NFKC", text)
    ):
        text = _combined().sub(_nmt_compose, text)
    return text.translate(_NMT_CHARACTERS)


def _nmt_compose(match: re.Match[str]) -> str:
    """The compositions of one sequence, longest first; what takes part in none is left as it is."""
    sequence = match.group()
    parts = [unicodedata.normalize("NFKD", character) for character in sequence]
    rules = compositions()
    out: list[str] = []
    at = 0
    while at < len(parts):
        for end in range(min(len(parts), at + _LONGEST_RULE), at + 1, -1):
            # A character that is several when decomposed takes part in no rule.
            if all(len(part) == 1 for part in parts[at:end]) and (made := rules.get("".join(parts[at:end]))):
                out.append(made)
                at = end
                break
        else:
            out.append(sequence[at])
            at += 1
    return "".join(out)


def squeeze(text: str) -> str:
    """Runs of spaces become one, and both ends are trimmed of them."""
    return re.sub("  +", " ", text).strip(" ")


def _form(name: str) -> Stage:
    return lambda text: unicodedata.normalize(name, text)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalizer(Choice):
    """A step of the axis: the stages that it is made of, in order."""

    stages: tuple[Stage, ...]


NORMALIZERS = Axis(
    "normalize", "what is done to the text first, in order",
    Normalizer("lowercase", "lower case", stages=(lowercase,)),
    Normalizer("nfc", "Unicode form C", stages=(_form("NFC"),)),
    Normalizer("nfd", "Unicode form D", stages=(_form("NFD"),)),
    Normalizer("nfkc", "Unicode form KC", stages=(_form("NFKC"),)),
    Normalizer("nfkd", "Unicode form KD", stages=(_form("NFKD"),)),
    Normalizer("strip-accents", "combining marks go (decompose first: nfd)", stages=(strip_accents,)),
    Normalizer(
        "bert-uncased", "BERT's cleaning, lower case, no accents",
        stages=(bert_clean, bert_strip_accents, lowercase),
    ),
    Normalizer("bert-cased", "BERT's cleaning, case kept", stages=(bert_clean,)),
    Normalizer("nmt-nfkc", "sentencepiece's default", stages=(nmt_characters, squeeze)),
)
"""The steps of the axis, by name."""


# --- sequences: what combines with what ---

_LONGEST_RULE = 4
"""The most characters that compose to one: a Greek vowel with breathing, accent and iota below."""
_LAST = 0x30000
"""No character from here on combines with others."""


@functools.cache
def compositions() -> dict[str, str]:
    """The composed form of each sequence of characters that has one, by its full decomposition.

    sentencepiece builds its rules the same way. A character that decomposes into several gives a rule for the
    NFC of these, unless shorter rules give the same.
    """
    rules: dict[str, str] = {}
    for code in range(0x80, _LAST):
        parts = unicodedata.normalize("NFKD", chr(code))
        if 1 < len(parts) <= _LONGEST_RULE and (made := unicodedata.normalize("NFC", parts)) != parts:
            rules[parts] = made
    # Of a character such as ㌀ (アパート) shorter rules compose the parts: a rule goes on with what combines only.
    seconds = {last for parts, made in rules.items() if len(made) == 1 for last in parts[1:]}
    return {parts: made for parts, made in rules.items() if seconds.issuperset(parts[1:])}


@functools.cache
def _followers() -> frozenset[str]:
    """The characters that may combine with the one before them: marks, vowels of Hangul, …"""
    seconds = {part for parts in compositions() for part in parts[1:]}
    return frozenset(
        chr(code)
        for code in range(0x80, _LAST)
        if unicodedata.combining(first := unicodedata.normalize("NFKD", chr(code))[0]) or first in seconds
    )


@functools.cache
def _combined() -> re.Pattern[str]:
    return re.compile(f"(?s:.)[{''.join(sorted(_followers()))}]+")


@functools.cache
def _sequences() -> re.Pattern[str]:
    return re.compile(f"(?s:.)[{''.join(sorted(_followers()))}]*")


def begins_sequence(character: str) -> bool:
    """True if normalisation never looks back from this character."""
    return character.isascii() or _combined().match("a" + character) is None


# --- alignment ---


def align(stage: Stage, text: str) -> Aligned:
    """One stage's result with its alignment."""
    result = stage(text)
    if result == text:
        return Aligned(text, range(len(text)), range(1, len(text) + 1))
    pieces = _squeezed(text) if stage is squeeze else _by_sequence(stage, text)
    made, starts, ends = [], [], []
    for piece, start, end in pieces:
        made.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    if "".join(made) == result:
        return Aligned(result, starts, ends)
    return _coarse(result, "".join(made), starts, ends, len(text))


def _by_sequence(stage: Stage, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (result, start, end) of each sequence, or of each character where that gives the same."""
    known: dict[str, list[tuple[str, int, int]]] = {}
    at = 0
    for sequence in text if text.isascii() else _sequences().findall(text):
        pieces = known.get(sequence)
        if pieces is None:
            whole, singly = stage(sequence), [stage(character) for character in sequence]
            fine = whole == "".join(singly) and all(singly)
            pieces = (
                [(made, n, n + 1) for n, made in enumerate(singly)] if fine else [(whole, 0, len(sequence))]
            )
            known[sequence] = pieces
        for made, start, end in pieces:
            yield made, at + start, at + end
        at += len(sequence)


def _squeezed(text: str) -> Iterator[tuple[str, int, int]]:
    """The pieces of `squeeze`: a run of spaces gives one."""
    for match in re.finditer(" +|[^ ]+", text):
        start, end = match.span()
        if text[start] != " ":
            yield from ((text[at], at, at + 1) for at in range(start, end))
        elif start > 0 and end < len(text):
            yield " ", start, end


def _coarse(result: str, made: str, starts: list[int], ends: list[int], length: int) -> Aligned:
    """The alignment of a result that differs from the results of its sequences.

    It is fine where both ends agree, and coarse between.
    """
    shorter = min(len(result), len(made))
    head = next((n for n in range(shorter) if result[n] != made[n]), shorter)
    tail = next((n for n in range(shorter - head) if result[-1 - n] != made[-1 - n]), shorter - head)
    between, rest = len(result) - head - tail, len(made) - tail
    # The neighbours belong to the range, so that it is never empty and never overtakes them.
    start = starts[head - 1] if head else 0
    end = ends[rest] if tail else length
    starts = starts[:head] + [start] * between + starts[rest:]
    return Aligned(result, starts, ends[:head] + [end] * between + ends[rest:])
