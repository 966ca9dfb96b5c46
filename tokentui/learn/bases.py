"""The units that a training starts from, and the tokens that it may make.

One record a value: the starting vocabulary in the order of its ids (`BASES`), the weight of words
(`WEIGHTS`), the tokens that may be made (`FILTERS`). And the units that nothing merges with.
"""

from __future__ import annotations

import functools
import itertools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.core.jobs import in_blocks
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import UNKNOWN
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import MARKS, UNITS

if TYPE_CHECKING:
    import regex

BOUNDARY = -1
"""The symbol of a unit that nothing merges with, and of what lies between two words."""
Totals = Mapping[bytes, int]
"""The weighted count of each unit of a corpus, in order of first appearance."""


def totals_of(words: Iterable[Iterable[bytes]], weights: Iterable[int]) -> dict[bytes, int]:
    """Count units, by weight. The job can be cancelled between two blocks of a long word.

    Args:
        words: The units of each distinct word.
        weights: The weight of each word in the counts.
    """
    totals: dict[bytes, int] = {}
    weighted = (zip(word, itertools.repeat(weight)) for word, weight in zip(words, weights, strict=True))
    for part in in_blocks(itertools.chain.from_iterable(weighted)):
        for unit, weight in part:
            totals[unit] = totals.get(unit, 0) + weight
    return totals


def byte_order_of_gpt2() -> list[int]:
    """Return the 256 bytes in the order of the letters that GPT-2 shows them as (`bytes_to_unicode` of its
    encoder.py).

    Printable bytes keep their own letter and come first; the other 68 follow in order of value.
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    return printable + [byte for byte in range(256) if byte not in printable]


def _frequency(totals: Totals) -> list[bytes]:
    return sorted(totals, key=lambda unit: (-totals[unit], unit))


def _all_bytes(order: Iterable[int]) -> Callable[[Totals], list[bytes]]:
    first = [bytes((byte,)) for byte in order]
    # A marked unit ("##" and a byte) is none of the 256: those that the corpus has follow.
    return lambda totals: first + sorted(totals.keys() - first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base(Choice):
    """A starting vocabulary.

    Attributes:
        units: Its units in the order of their ids, from those of the corpus.
        all_bytes: True if all 256 bytes are among them, whatever the corpus is.
        bare_first: True if each unit is in it without its mark, too, before those with a mark.
        after_merges: True if their ids follow those of the merges.
    """

    units: Callable[[Totals], list[bytes]]
    all_bytes: bool = False
    bare_first: bool = False
    after_merges: bool = False


def _of_bytes(recipe: Recipe) -> Refusal | None:
    """Refuse units other than bytes."""
    if not UNITS.of(recipe.unit).is_byte:
        return Refusal("base", "a base of bytes needs unit=byte", ("base=sorted", "unit=byte"))
    return None


def _after_merges(recipe: Recipe) -> Refusal | None:
    """Refuse units that are bytes: this base orders characters by how often they occur."""
    if UNITS.of(recipe.unit).is_byte:
        what = "this base needs characters"
        return Refusal("base", what, ("base=sorted", "base=bytes", "unit=char"))
    return None


BASES = Axis(
    "base", "the starting vocabulary and the order of its ids",
    Base("sorted", "units of the corpus, in code point order", units=sorted),
    Base(
        "alphabet", "units of the corpus without a mark, then with it, each in code point order",
        units=sorted, bare_first=True,
    ),
    Base("first-seen", "units of the corpus, in order of first appearance", units=list),
    Base(
        "frequency", "units of the corpus, most frequent first; their ids follow the merges",
        units=_frequency,
        refuses=_after_merges, after_merges=True,
    ),
    Base(
        "bytes", "all 256 bytes, in numeric order", units=_all_bytes(range(256)), refuses=_of_bytes,
        all_bytes=True,
    ),
    Base(
        "gpt2-bytes", "all 256 bytes, in GPT-2's order", units=_all_bytes(byte_order_of_gpt2()),
        refuses=_of_bytes, all_bytes=True,
    ),
)
"""The starting vocabularies, by name."""


def base_units(recipe: Recipe, totals: Totals) -> list[bytes]:
    """Return the starting vocabulary of a training in the order of its ids.

    Args:
        recipe: The recipe.
        totals: The count of each unit, with its mark, without barriers.

    >>> recipe = Recipe(unit="char", mark="prefix:##", base="alphabet", unknown="error")
    >>> base_units(recipe, {b"b": 1, b"##a": 2})
    [b'a', b'b', b'##a']
    """
    base = BASES.of(recipe.base)
    if not base.bare_first:
        return base.units(totals)
    bare = dict.fromkeys(map(_bare(recipe), totals), 0)
    return base.units(bare) + base.units({unit: totals[unit] for unit in totals.keys() - bare})


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight(Choice):
    """The weight of a word in the counts.

    Attributes:
        of: Return the weights of words from their counts in the corpus.
        kernel: True if the kernels of merges know it.
        by_occurrences: True if the weight of a word is its count in the corpus, so that weighted counts are
            places of the corpus.
        fact: A sentence on its effect on the choice of a pair, for `Trainer.why`; empty for none.
    """

    of: Callable[[Sequence[int]], list[int]]
    kernel: bool = False
    by_occurrences: bool = False
    fact: str = ""


WEIGHTS = Axis(
    "weight", "how often a word counts",
    Weight(
        "occurrences", "as often as it occurs in the corpus", of=list, kernel=True, by_occurrences=True
    ),
    Weight(
        "distinct", "once", of=lambda counts: [1] * len(counts), kernel=True,
        fact="each distinct word counts once",
    ),
)
"""The weights, by name."""


# ---- the tokens that may be made

Filter = Callable[[bytes], bool]

MAX_PIECE_CHARS = 16
NEVER = "\0\x1f \u2585"
"""The characters that no piece of sentencepiece has.

They are the end of a string in its tables, its barrier, a space and its unknown character.
"""
DIGITS = frozenset("0123456789０１２３４５６７８９")
"""The digits that `split_digits` sets apart."""
_SPACE = "\u2581"
_HAN = "Han"
_SCRIPTS = """
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan Egyptian_Hieroglyphs Elbasan Ethiopic Georgian
Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic
Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi
Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam
Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi
Mongolian Mro Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic
Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya Pahawh_Hmong
Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian
Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham
Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi
""".split()  # noqa: SIM905 - a list of 150 quoted names would be no easier to read


@functools.cache
def _scripts() -> regex.Pattern[str]:
    """Return a pattern with a named group for each script that sentencepiece knows. A character that it does
    not match has the script Common there."""
    import regex  # not before the first paint

    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS))


@functools.lru_cache(maxsize=65536)
def script(char: str) -> str:
    """Return the script of a character as sentencepiece groups them: kana and the long-vowel mark count as
    Han."""
    if char == "ー":
        return _HAN
    match = _scripts().match(char)
    name = str(match.lastgroup) if match else "Common"
    return _HAN if name in ("Hiragana", "Katakana") else name


def sentencepiece_piece(piece: bytes) -> bool:
    """Return whether sentencepiece's trainers make this piece under their default settings.

    A piece has at most 16 characters of one script. U+2581 occurs only at the start. Digits and punctuation
    are of the script Common, so they join no letters. A tab is a character like others.
    Source: sentencepiece 0.2.3, `TrainerInterface::IsValidSentencePiece`.

    >>> [sentencepiece_piece(piece.encode()) for piece in ("▁don", "don't", "a1")]
    [True, False, False]
    """
    text = piece.decode("utf-8", "replace")
    if not 0 < len(text) <= MAX_PIECE_CHARS or any(char in NEVER for char in text):
        return False
    before = None
    for at, char in enumerate(text):
        if char == _SPACE:
            if at:
                return False
            continue
        now = script(char)
        if now == "Inherited":
            continue
        if before is not None and now != before:
            return False
        before = now
    return True


def sentencepiece_digits(piece: bytes) -> bool:
    """Return whether sentencepiece's trainers make this piece with `split_digits`: a digit is a piece alone.

    The digits are those of ASCII and the full-width ones. Other digits count as letters of their script.

    >>> sentencepiece_digits(b"2"), sentencepiece_digits(b"20"), sentencepiece_digits("▁2".encode())
    (True, False, False)
    """
    return sentencepiece_piece(piece) and (
        len(text := piece.decode("utf-8", "replace")) == 1 or DIGITS.isdisjoint(text)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces(Choice):
    """Which tokens may be made.

    Attributes:
        allows: Returns whether a token may be made, by its exact bytes; None if every token may.
        barred: The characters that no token may contain, not even as a token of their own.
        digits_alone: True if a digit is a token alone.
    """

    allows: Filter | None = None
    barred: str = ""
    digits_alone: bool = False


def _of_characters(recipe: Recipe) -> Refusal | None:
    if UNITS.of(recipe.unit).is_byte:
        return Refusal("pieces", "the filter works on characters", ("pieces=any", "unit=char"))
    return None


FILTERS = Axis(
    "pieces", "which tokens may be created",
    Pieces("any", "any"),
    Pieces(
        "sentencepiece",
        "at most 16 characters, one script, ▁ only at the start, no digits mixed with letters",
        allows=sentencepiece_piece, barred=NEVER, refuses=_of_characters,
    ),
    Pieces(
        "sentencepiece-digits", "the same, and each digit alone (split_digits)", allows=sentencepiece_digits,
        barred=NEVER, digits_alone=True, refuses=_of_characters,
    ),
)
"""The filters, by name."""


# ---- the units that nothing merges with: symbols, and what the base does not cover

_BARRIER = b"\x1f"
"""The character that sentencepiece puts in place of a symbol, and counts."""


def has_barriers(recipe: Recipe) -> bool:
    """Return whether a training by this recipe may meet units that no merge takes."""
    return bool(recipe.symbols) or recipe.coverage < 1 or bool(FILTERS.of(recipe.pieces).barred)


def barriers(totals: Totals, recipe: Recipe) -> frozenset[bytes]:
    """Return the units of a corpus that are not in the base: symbols, characters that are too rare, and
    characters that sentencepiece never takes.

    Characters are added by count, then by code point, until those added cover the share `coverage` of the
    corpus; the others are too rare. Shares are compared in single
    precision. sentencepiece counts its symbols as one character, and does not count NUL. Source:
    sentencepiece 0.2.3, `TrainerInterface::LoadSentences`.

    Args:
        totals: The count of each unit, with its mark, by weight.
        recipe: The recipe that defines them.
    """
    if not has_barriers(recipe):
        return frozenset()
    symbols = frozenset(map(to_bytes, recipe.symbols))
    never = frozenset(map(to_bytes, FILTERS.of(recipe.pieces).barred))
    if recipe.coverage == 1:
        return frozenset(totals.keys() & (symbols | never))
    bare = _bare(recipe)
    counts: dict[bytes, int] = {}
    for unit, weight in totals.items():
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
    return frozenset(unit for unit in totals if unit in symbols or bare(unit) not in kept)


def tokens_of(
    barred: frozenset[bytes], words: Sequence[Sequence[bytes]], weights: Iterable[int], recipe: Recipe
) -> int:
    """Count the tokens of the barriers of a corpus when it is encoded, by weight.

    A symbol is one token. The axis `unknown` says how many tokens the others are.

    Args:
        barred: The barriers, from `barriers`.
        words: The units of each word.
        weights: The weight of each word.
        recipe: The recipe.
    """
    if not barred:
        return 0
    symbols, way = frozenset(map(to_bytes, recipe.symbols)), UNKNOWN.of(recipe.unknown)
    total = 0
    for word, weight in zip(words, weights, strict=True):
        if barred.isdisjoint(word):
            continue
        before = False
        for unit in itertools.chain.from_iterable(in_blocks(word)):
            unknown = unit in barred and unit not in symbols
            if unit in symbols:
                total += weight
            elif unknown and way.byte_fallback:
                total += weight * len(unit)
            elif unknown and not way.drops_units and not (before and way.fuses_runs):
                total += weight
            before = unknown
    return total


def _single(share: float) -> float:
    single: float = struct.unpack("f", struct.pack("f", share))[0]
    return single


def _bare(recipe: Recipe) -> Callable[[bytes], bytes]:
    """Return a function that removes the mark from a unit; a unit that is only the mark stays."""
    kind, mark = MARKS.of(recipe.mark), to_bytes(recipe.mark_text)
    if kind.in_front:
        return lambda unit: unit.removeprefix(mark) or unit
    if kind.at_end:
        return lambda unit: unit.removesuffix(mark) or unit
    return lambda unit: unit
