"""Which tokens may be made. One entry a value of the axis `pieces` in `FILTERS`.

A filter looks at the joined token alone (its exact bytes), never at how it would come to be.

The values stand for sentencepiece's trainer as it is by default, and with `split_digits`. No value stands for its other options:
`max_sentencepiece_length`, `split_by_unicode_script`, `split_by_whitespace`, `split_by_number`, `treat_whitespace_as_suffix`,
`allow_whitespace_only_pieces`, `pretokenization_delimiter`. A model that was trained with one of them says so among its steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import regex

Filter = Callable[[bytes], bool]

MAX_PIECE_CHARS = 16
NEVER = "\0\x1f \u2585"
"""What no piece of sentencepiece holds: the end of a string in its tables, its barrier, a space, its unknown character."""
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
    """Whether sentencepiece's trainers would make this piece under their default settings.

    At most 16 characters, U+2581 only in front, and one script; digits and punctuation are of the script Common, so they join no
    letters. A tab is a character like others. Source: sentencepiece 0.2.3, `TrainerInterface::IsValidSentencePiece`.

    >>> sentencepiece_piece("▁don".encode()), sentencepiece_piece("don't".encode()), sentencepiece_piece("a1".encode())
    (True, False, False)
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
    """Whether sentencepiece's trainers would make this piece with `split_digits`: a digit is a piece alone.

    The digits are those of ASCII and the full-width ones; other digits count as the letters of their script do.

    >>> sentencepiece_digits(b"2"), sentencepiece_digits(b"20"), sentencepiece_digits("▁2".encode())
    (True, False, False)
    """
    return sentencepiece_piece(piece) and (len(text := piece.decode("utf-8", "replace")) == 1 or DIGITS.isdisjoint(text))


FILTERS: dict[str, Filter | None] = {
    "any": None, "sentencepiece": sentencepiece_piece, "sentencepiece-digits": sentencepiece_digits,
}
"""The filter of each value; None lets everything pass."""
