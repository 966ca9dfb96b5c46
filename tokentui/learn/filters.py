"""Which tokens may be made. One record a value of the axis `pieces` in `FILTERS`.

A filter looks at the joined token alone (its exact bytes), never at how it would come to be.

The values stand for sentencepiece's trainer as it is by default, and with `split_digits`. No value stands for its other options:
`max_sentencepiece_length`, `split_by_unicode_script`, `split_by_whitespace`, `split_by_number`, `treat_whitespace_as_suffix`,
`allow_whitespace_only_pieces`, `pretokenization_delimiter`. A model that was trained with one of them says so among its steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.recipe import Recipe

if TYPE_CHECKING:
    import regex

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
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi
Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Coptic Cuneiform Cypriot Cyrillic
Deseret Devanagari Duployan Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi
Han Hangul Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese
Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian
Lydian Mahajani Malayalam Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao
Modi Mongolian Mro Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian
Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa
Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sora_Sompeng
Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan
Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi
""".split()  # noqa: SIM905 - a list of 150 quoted names would be no easier to read


@functools.cache
def _scripts() -> regex.Pattern[str]:
    """One group a script that sentencepiece knows; what none of them matches is Common there."""
    import regex  # not before the first paint

    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS))


@functools.lru_cache(maxsize=65536)
def script(char: str) -> str:
    """The script of a character as sentencepiece groups them: kana and the long-vowel mark count as Han."""
    if char == "ー":
        return _HAN
    match = _scripts().match(char)
    name = str(match.lastgroup) if match else "Common"
    return _HAN if name in ("Hiragana", "Katakana") else name


def sentencepiece_piece(piece: bytes) -> bool:
    """True if sentencepiece's trainers make this piece under their default settings.

    A piece has at most 16 characters of one script. U+2581 stands only in front. Digits and punctuation are
    of the script Common, so they join no letters. A tab is a character like others.
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
    """True if sentencepiece's trainers make this piece with `split_digits`: a digit is a piece alone.

    The digits are those of ASCII and the full-width ones. Other digits count as letters of their script.

    >>> sentencepiece_digits(b"2"), sentencepiece_digits(b"20"), sentencepiece_digits("▁2".encode())
    (True, False, False)
    """
    return sentencepiece_piece(piece) and (len(text := piece.decode("utf-8", "replace")) == 1 or DIGITS.isdisjoint(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces(Choice):
    """Which tokens may be made.

    Attributes:
        allows: True if a token may be made, by its exact bytes; None where every one may.
    """

    allows: Filter | None = None


def _of_characters(recipe: Recipe) -> Refusal | None:
    if recipe.unit == "byte":
        return Refusal("pieces", "the filter looks at characters", ("pieces=any", "unit=char"))
    return None


FILTERS = Axis(
    "pieces", "which tokens may be made",
    Pieces("any", "any"),
    Pieces(
        "sentencepiece", "at most 16 characters, one script, ▁ only in front, numbers apart from letters",
        allows=sentencepiece_piece, refuses=_of_characters,
    ),
    Pieces(
        "sentencepiece-digits", "the same, and each digit alone (split_digits)", allows=sentencepiece_digits,
        refuses=_of_characters,
    ),
)
"""The filters, by name."""
