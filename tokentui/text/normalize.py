"""Normalization: how a text changes before it is split, and how the result aligns with the original.

Each step of the axis is one or more stages: functions from text to text. `normalize` applies them.
`normalize_aligned` applies them too and tracks every character. It cuts a text into *sequences*: a character
with all characters that may combine with it. No stage depends on text outside a sequence, so each result
belongs to one sequence. The Unicode tables are those that a recipe names (`text/unicode.py`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence

from tokentui.core.choices import Axis, Choice
from tokentui.core.records import dataclass
from tokentui.recipe import NEWEST_UNICODE
from tokentui.text.unicode import TABLES, Tables, combining, tables_of

Stage = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A normalized text and its alignment with the text that it was made from.

    Character n of `text` comes from the characters `starts[n]` to `ends[n]` of the original. The ranges are
    half-open and never empty, and both sequences are non-decreasing.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def normalize(text: str, steps: tuple[str, ...], unicode: str = NEWEST_UNICODE) -> str:
    """Return the text after these steps, in order, by the Unicode tables of a name."""
    for stage in _stages(steps, unicode) if steps else ():
        text = stage(text)
    return text


def normalize_aligned(text: str, steps: tuple[str, ...], unicode: str = NEWEST_UNICODE) -> Aligned:
    """Return the text after these steps, as `normalize` gives it, with its alignment."""
    result = Aligned(text, range(len(text)), range(1, len(text) + 1))
    for stage in _stages(steps, unicode) if steps else ():
        before, result = result, align(stage, result.text)
        if result.text == before.text:
            result = before
        elif before.text != text:
            starts = [before.starts[at] for at in result.starts]
            result = Aligned(result.text, starts, [before.ends[at - 1] for at in result.ends])
    return result


@functools.lru_cache(maxsize=64)
def _stages(steps: tuple[str, ...], unicode: str) -> list[Stage]:
    return [stage for step in steps for stage in NORMALIZERS.of(step).stages(tables_of(unicode))]


# --- the character classes of BERT's tokenizer as Hugging Face's library has them ---

# That library uses tables of Unicode 8: later characters are neither accents nor punctuation there. The
# ranges are spelled out here, because with the tables of the running Python the tokens of a text would depend
# on its version. A class is the inside of a `[...]` for `re`, which looks characters up in a bitmap; `regex`
# walks through the ranges, five times as slowly.


def _class(ranges: str) -> str:
    """Return the inside of a `[...]` for ranges of code points in hex, such as `300-36F 483`."""
    return "".join(
        "-".join(f"\\U{int(end, 16):08x}" for end in range_.split("-")) for range_ in ranges.split()
    )


BERT_ACCENTS = _class("""
    300-36F 483-487 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 64B-65F 670 6D6-6DC 6DF-6E4 6E7-6E8 6EA-6ED 711
    730-74A 7A6-7B0 7EB-7F3 816-819 81B-823 825-827 829-82D 859-85B 8E3-902 93A 93C 941-948 94D 951-957
    962-963 981 9BC 9C1-9C4 9CD 9E2-9E3 A01-A02 A3C A41-A42 A47-A48 A4B-A4D A51 A70-A71 A75 A81-A82 ABC
    AC1-AC5 AC7-AC8 ACD AE2-AE3 B01 B3C B3F B41-B44 B4D B56 B62-B63 B82 BC0 BCD C00 C3E-C40 C46-C48 C4A-C4D
    C55-C56 C62-C63 C81 CBC CBF CC6 CCC-CCD CE2-CE3 D01 D41-D44 D4D D62-D63 DCA DD2-DD4 DD6 E31 E34-E3A
    E47-E4E EB1 EB4-EB9 EBB-EBC EC8-ECD F18-F19 F35 F37 F39 F71-F7E F80-F84 F86-F87 F8D-F97 F99-FBC FC6
    102D-1030 1032-1037 1039-103A 103D-103E 1058-1059 105E-1060 1071-1074 1082 1085-1086 108D 109D 135D-135F
    1712-1714 1732-1734 1752-1753 1772-1773 17B4-17B5 17B7-17BD 17C6 17C9-17D3 17DD 180B-180D 18A9 1920-1922
    1927-1928 1932 1939-193B 1A17-1A18 1A1B 1A56 1A58-1A5E 1A60 1A62 1A65-1A6C 1A73-1A7C 1A7F 1AB0-1ABD
    1B00-1B03 1B34 1B36-1B3A 1B3C 1B42 1B6B-1B73 1B80-1B81 1BA2-1BA5 1BA8-1BA9 1BAB-1BAD 1BE6 1BE8-1BE9 1BED
    1BEF-1BF1 1C2C-1C33 1C36-1C37 1CD0-1CD2 1CD4-1CE0 1CE2-1CE8 1CED 1CF4 1CF8-1CF9 1DC0-1DF5 1DFC-1DFF
    20D0-20DC 20E1 20E5-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302D 3099-309A A66F A674-A67D A69E-A69F A6F0-A6F1
    A802 A806 A80B A825-A826 A8C4 A8E0-A8F1 A926-A92D A947-A951 A980-A982 A9B3 A9B6-A9B9 A9BC A9E5 AA29-AA2E
    AA31-AA32 AA35-AA36 AA43 AA4C AA7C AAB0 AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1 AAEC-AAED AAF6 ABE5 ABE8 ABED
    FB1E FE00-FE0F FE20-FE2F 101FD 102E0 10376-1037A 10A01-10A03 10A05-10A06 10A0C-10A0F 10A38-10A3A 10A3F
    10AE5-10AE6 11001 11038-11046 1107F-11081 110B3-110B6 110B9-110BA 11100-11102 11127-1112B 1112D-11134
    11173 11180-11181 111B6-111BE 111CA-111CC 1122F-11231 11234 11236-11237 112DF 112E3-112EA 11300-11301
    1133C 11340 11366-1136C 11370-11374 114B3-114B8 114BA 114BF-114C0 114C2-114C3 115B2-115B5 115BC-115BD
    115BF-115C0 115DC-115DD 11633-1163A 1163D 1163F-11640 116AB 116AD 116B0-116B5 116B7 1171D-1171F
    11722-11725 11727-1172B 16AF0-16AF4 16B30-16B36 16F8F-16F92 1BC9D-1BC9E 1D167-1D169 1D17B-1D182
    1D185-1D18B 1D1AA-1D1AD 1D242-1D244 1DA00-1DA36 1DA3B-1DA6C 1DA75 1DA84 1DA9B-1DA9F 1DAA1-1DAAF
    1E8D0-1E8D6 E0100-E01EF
""")
"""The accents that BERT strips: category Mn."""

BERT_PUNCTUATION = _class("""
    21-2F 3A-40 5B-60 7B-7E A1 A7 AB B6-B7 BB BF 37E 387 55A-55F 589-58A 5BE 5C0 5C3 5C6 5F3-5F4 609-60A
    60C-60D 61B 61E-61F 66A-66D 6D4 700-70D 7F7-7F9 830-83E 85E 964-965 970 AF0 DF4 E4F E5A-E5B F04-F12 F14
    F3A-F3D F85 FD0-FD4 FD9-FDA 104A-104F 10FB 1360-1368 1400 166D-166E 169B-169C 16EB-16ED 1735-1736
    17D4-17D6 17D8-17DA 1800-180A 1944-1945 1A1E-1A1F 1AA0-1AA6 1AA8-1AAD 1B5A-1B60 1BFC-1BFF 1C3B-1C3F
    1C7E-1C7F 1CC0-1CC7 1CD3 2010-2027 2030-2043 2045-2051 2053-205E 207D-207E 208D-208E 2308-230B 2329-232A
    2768-2775 27C5-27C6 27E6-27EF 2983-2998 29D8-29DB 29FC-29FD 2CF9-2CFC 2CFE-2CFF 2D70 2E00-2E2E 2E30-2E42
    3001-3003 3008-3011 3014-301F 3030 303D 30A0 30FB A4FE-A4FF A60D-A60F A673 A67E A6F2-A6F7 A874-A877
    A8CE-A8CF A8F8-A8FA A8FC A92E-A92F A95F A9C1-A9CD A9DE-A9DF AA5C-AA5F AADE-AADF AAF0-AAF1 ABEB FD3E-FD3F
    FE10-FE19 FE30-FE52 FE54-FE61 FE63 FE68 FE6A-FE6B FF01-FF03 FF05-FF0A FF0C-FF0F FF1A-FF1B FF1F-FF20
    FF3B-FF3D FF3F FF5B FF5D FF5F-FF65 10100-10102 1039F 103D0 1056F 10857 1091F 1093F 10A50-10A58 10A7F
    10AF0-10AF6 10B39-10B3F 10B99-10B9C 11047-1104D 110BB-110BC 110BE-110C1 11140-11143 11174-11175
    111C5-111C9 111CD 111DB 111DD-111DF 11238-1123D 112A9 114C6 115C1-115D7 11641-11643 1173C-1173E
    12470-12474 16A6E-16A6F 16AF5 16B37-16B3B 16B44 1BC9F 1DA87-1DA8B
""")
"""The punctuation that BERT splits off: category P, and the ASCII symbols."""

BERT_DROPPED = _class("""
    0-8 B-C E-1F 7F-9F AD 600-605 61C 6DD 70F 180E 200B-200F 202A-202E 2060-2064 2066-206F E000-F8FF FEFF
    FFF9-FFFB FFFD 110BD 1BCA0-1BCA3 1D173-1D17A E0001 E0020-E007F F0000-FFFFD 100000-10FFFD
""")
"""The characters that BERT removes: U+FFFD and the categories Cc (except TAB, LF and CR), Cf and Co."""

BERT_IDEOGRAPHS = _class("3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B81F 2B920-2CEAF 2F800-2FA1F")
"""The characters that BERT treats as Chinese and surrounds with spaces.

BERT leaves out U+2B820 to U+2B91F by mistake.
"""

BERT_SPACES = _class("9-D 20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000")
r"""Characters with Unicode's property White_Space. That is `\s` of `regex`, not `\s` of `re`."""


# --- the stages ---


class CharacterTable(dict[int, str]):
    """A table for `str.translate` that computes entries at first use."""

    def __init__(self, of: Callable[[str], str]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, code: int) -> str:
        self[code] = result = self._of(chr(code))
        return result


def _bert_cleaned(character: str) -> str:
    """Return a character as BERT cleans it: nothing, an ideograph between spaces, or a plain space."""
    if _bert_class(BERT_DROPPED).match(character):
        return ""
    if _bert_class(BERT_IDEOGRAPHS).match(character):
        return f" {character} "
    return " " if character.isspace() else character


@functools.cache
def _bert_class(characters: str) -> re.Pattern[str]:
    """Return a pattern for runs of characters, compiled on first use, because that takes a tenth of the
    start-up time."""
    return re.compile(f"[{characters}]+")


_BERT_CLEANED = CharacterTable(_bert_cleaned)


def bert_clean(text: str) -> str:
    """Return the text after BERT's cleaning: no control characters, whitespace as spaces, and spaces
    around each ideograph."""
    return text.translate(_BERT_CLEANED)


def bert_strip_accents(text: str, tables: Tables) -> str:
    """Return the decomposed text without the characters that BERT treats as accents."""
    return text if text.isascii() else _bert_class(BERT_ACCENTS).sub("", tables.nfd(text))


_NMT_DROPPED = dict.fromkeys([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F], "")
_NMT_SPACES = dict.fromkeys(
    map(ord, "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "
)
# The full-width tilde is kept, as in sentencepiece's rules.
_NMT_RULES = {**_NMT_DROPPED, **_NMT_SPACES, 0xFF5E: "\uff5e"}


@functools.cache
def _nmt_characters(tables: Tables) -> CharacterTable:
    return CharacterTable(lambda character: _NMT_RULES.get(ord(character), tables.nfkc(character)))


def nmt_changes(codes: range) -> bool:
    """Return whether one of sentencepiece's own rules, which NFKC does not have, is about one of these code
    points."""
    return any(code in codes for code in _NMT_RULES)


def nmt_characters(text: str, tables: Tables) -> str:
    """Return the text after sentencepiece's `nmt_nfkc` rules: the longest sequence with a rule is replaced.

    The rules do less than NFKC: none reorders marks, and none composes a letter that already has an accent.
    """
    if (
        not text.isascii()
        and not _followers().isdisjoint(text)
        and tables.nfkc(text) != text
    ):
        text = _combined().sub(lambda match: _nmt_compose(match.group(), tables), text)
    return text.translate(_nmt_characters(tables))


def _nmt_compose(sequence: str, tables: Tables) -> str:
    """Compose one sequence, longest matches first. Other characters stay unchanged."""
    parts = list(map(tables.nfkd, sequence))
    rules = compositions(tables)
    out: list[str] = []
    at = 0
    while at < len(parts):
        for end in range(min(len(parts), at + _LONGEST_RULE), at + 1, -1):
            # A character that decomposes into several is in no rule.
            if all(len(part) == 1 for part in parts[at:end]) and (
                composed := rules.get("".join(parts[at:end]))
            ):
                out.append(composed)
                at = end
                break
        else:
            out.append(sequence[at])
            at += 1
    return "".join(out)


def squeeze(text: str) -> str:
    """Return the text with runs of spaces reduced to one, and without spaces at both ends."""
    return re.sub("  +", " ", text).strip(" ")


def _bert_accents(tables: Tables) -> Stage:
    return functools.partial(bert_strip_accents, tables=tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalizer(Choice):
    """A step of the axis.

    Attributes:
        stages: Returns the stages of the step by some Unicode tables, in order.
        keeps_words: True if it never adds or removes a space, and no non-empty text becomes empty.
        drops_marks: True if it removes combining marks, so that a text of only marks becomes empty.
        trims: True if it removes spaces at both ends of a text and reduces runs of spaces to one.
    """

    stages: Callable[[Tables], tuple[Stage, ...]]
    keeps_words: bool = False
    drops_marks: bool = False
    trims: bool = False


NORMALIZERS = Axis(
    "normalize", "changes to the text before the split, in order",
    Normalizer("lowercase", "lower case", stages=lambda by: (by.lowercase,), keeps_words=True),
    Normalizer(
        "nfc", "Unicode normalization form C", stages=lambda by: (by.nfc,), keeps_words=True,
    ),
    Normalizer(
        "nfd", "Unicode normalization form D", stages=lambda by: (by.nfd,), keeps_words=True,
    ),
    Normalizer("nfkc", "Unicode normalization form KC", stages=lambda by: (by.nfkc,)),
    Normalizer("nfkd", "Unicode normalization form KD", stages=lambda by: (by.nfkd,)),
    Normalizer(
        "strip-accents", "combining marks are removed (decompose first: nfd)",
        stages=lambda by: (by.strip_accents,), drops_marks=True,
    ),
    Normalizer(
        "bert-uncased", "BERT's cleaning, lower case, no accents",
        stages=lambda by: (bert_clean, _bert_accents(by), by.lowercase), drops_marks=True,
    ),
    Normalizer("bert-cased", "BERT's cleaning, case kept", stages=lambda by: (bert_clean,)),
    Normalizer(
        "nmt-nfkc", "sentencepiece's default",
        stages=lambda by: (functools.partial(nmt_characters, tables=by), squeeze), trims=True,
    ),
)
"""The steps of the axis, by name."""


# --- sequences: what combines with what ---

_LONGEST_RULE = 4
"""The most characters that compose to one: a Greek vowel with breathing, accent and iota subscript."""
_LAST = 0x30000
"""Characters from this code point on never combine with others."""


@functools.cache
def compositions(tables: Tables) -> dict[str, str]:
    """Return the composed form of each sequence of characters that has one, by its full decomposition.

    sentencepiece builds its rules in this way. A character that decomposes into several gives a rule for
    their NFC, unless shorter rules give the same result.
    """
    rules: dict[str, str] = {}
    for code in range(0x80, _LAST):
        parts = tables.nfkd_of(code)
        if 1 < len(parts) <= _LONGEST_RULE and (composed := tables.nfc(parts)) != parts:
            rules[parts] = composed
    # For a character such as ㌀ (アパート) shorter rules compose the parts: only combining characters
    # extend a rule.
    seconds = {last for parts, composed in rules.items() if len(composed) == 1 for last in parts[1:]}
    return {parts: composed for parts, composed in rules.items() if seconds.issuperset(parts[1:])}


@functools.cache
def _followers() -> frozenset[str]:
    """Return the characters that may combine with the one before: combining marks, and second parts of
    compositions such as Hangul vowels."""
    # The newest tables have all of them: a character that does not combine in older ones does no harm.
    tables = TABLES[NEWEST_UNICODE]
    seconds = {part for parts in compositions(tables) for part in parts[1:]}
    return frozenset(
        chr(code)
        for code in range(0x80, _LAST)
        if combining(first := tables.nfkd_of(code)[0]) or first in seconds
    )


@functools.cache
def _combined() -> re.Pattern[str]:
    return re.compile(f"(?s:.)[{''.join(sorted(_followers()))}]+")


@functools.cache
def _sequences() -> re.Pattern[str]:
    return re.compile(f"(?s:.)[{''.join(sorted(_followers()))}]*")


def begins_sequence(character: str) -> bool:
    """Return whether a character never combines with the one before it, so that a sequence begins here."""
    return character.isascii() or character not in _followers()


# --- alignment ---


def align(stage: Stage, text: str) -> Aligned:
    """Return the result of one stage with its alignment."""
    result = stage(text)
    if result == text:
        return Aligned(text, range(len(text)), range(1, len(text) + 1))
    pieces = _squeezed(text) if stage is squeeze else _by_sequence(stage, text)
    results, starts, ends = [], [], []
    for piece, start, end in pieces:
        results.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    if "".join(results) == result:
        return Aligned(result, starts, ends)
    return _coarse(result, "".join(results), starts, ends, len(text))


def _by_sequence(stage: Stage, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (result, start, end) for each sequence, or for each character if that gives the same."""
    known: dict[str, list[tuple[str, int, int]]] = {}
    at = 0
    for sequence in text if text.isascii() else _sequences().findall(text):
        pieces = known.get(sequence)
        if pieces is None:
            whole, singly = stage(sequence), [stage(character) for character in sequence]
            fine = whole == "".join(singly) and all(singly)
            pieces = (
                [(result, n, n + 1) for n, result in enumerate(singly)] if fine
                else [(whole, 0, len(sequence))]
            )
            known[sequence] = pieces
        for result, start, end in pieces:
            yield result, at + start, at + end
        at += len(sequence)


def _squeezed(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (result, start, end) for `squeeze`: a run of spaces gives one space."""
    for match in re.finditer(" +|[^ ]+", text):
        start, end = match.span()
        if text[start] != " ":
            yield from ((text[at], at, at + 1) for at in range(start, end))
        elif start > 0 and end < len(text):
            yield " ", start, end


def _coarse(result: str, joined: str, starts: list[int], ends: list[int], length: int) -> Aligned:
    """Align a result that is not the concatenation of the results of its sequences.

    Equal characters at both ends are aligned one by one; all between them is one range.
    """
    shorter = min(len(result), len(joined))
    head = next((n for n in range(shorter) if result[n] != joined[n]), shorter)
    tail = next((n for n in range(shorter - head) if result[-1 - n] != joined[-1 - n]), shorter - head)
    between, rest = len(result) - head - tail, len(joined) - tail
    # The range includes the neighbors, so that it is never empty and never decreases.
    start = starts[head - 1] if head else 0
    end = ends[rest] if tail else length
    starts = starts[:head] + [start] * between + starts[rest:]
    return Aligned(result, starts, ends[:head] + [end] * between + ends[rest:])
