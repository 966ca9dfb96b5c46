"""Characters in Oniguruma's patterns: their cases, and character classes, translated to `regex` without set
operations.

Case is that of Oniguruma: Unicode's full case folding, in which ß is ss and ı has no other case. A class is a
union of items that may be in one pair of brackets and of atoms that may not: complements of several items,
and intersections, which become lookaheads.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import field

import regex

from tokentui.core.records import dataclass
from tokentui.formats.oniguruma.blocks import BLOCKS
from tokentui.formats.oniguruma.newer import all_newer, newer_in, without


class Untranslated(Exception):
    """The pattern contains syntax without an exact translation, or that Oniguruma refuses. The message names
    it."""


# --- cases ---

_LAST = 0x20000
"""Characters from this code point on have no case."""
_MOST_JOINED = 64
"""The most adjacent letters of which each two may be one character in another case."""
_LATER = {
    "\u1c89": "\u1c8a", "\ua7cb": "\u0264", "\ua7cc": "\ua7cd", "\ua7da": "\ua7db", "\ua7dc": "\u019b",
    **{chr(0x10D50 + n): chr(0x10D70 + n) for n in range(0x16)},
}
"""Case foldings of Unicode 16 that older versions of Python lack."""


@functools.cache
def _folds() -> dict[str, str]:
    """Return the folding of each character that folds to something else."""
    characters = (chr(code) for code in range(_LAST) if not 0xD800 <= code < 0xE000)
    return _LATER | {character: folded for character in characters
                     if (folded := character.casefold()) != character}


@functools.cache
def _unfolds() -> dict[str, str]:
    """Return the other characters that fold to a text, by the text."""
    by_folding: dict[str, str] = {}
    for character, folded in _folds().items():
        by_folding[folded] = by_folding.get(folded, "") + character
    return by_folding


@functools.cache
def _cased() -> str:
    """Return all characters that have another case, by these tables or those of `regex`."""
    folds = _folds()
    several = {character for folded in folds.values() for character in folded}
    return "".join(sorted({*folds, *several, "ı"}))


def _variants(character: str) -> str:
    """Return a character and its other cases, if these are single characters."""
    folded = _folds().get(character, character)
    return "".join(sorted({*_unfolds().get(folded, ""), *(folded if len(folded) == 1 else ""), character}))


@functools.cache
def _pairs() -> set[str]:
    """Return the pairs of adjacent characters that are one character in another case."""
    return {folded[at : at + 2] for folded in _unfolds() for at in range(len(folded) - 1)}


def joins(left: str, right: str) -> bool:
    """Return whether the last character of a text and the first of the next may be one character in another
    case."""
    folds = _folds()
    return folds.get(left[-1:], left[-1:]) + folds.get(right[:1], right[:1]) in _pairs()


def in_any_case(text: str) -> list[list[str]]:
    """Return for each stretch of a text the translated ways to write it in any case.

    As in Oniguruma, a stretch is, from the left, the longest run of at most three characters that may be one
    character; else one character, which may become several.

    Raises:
        Untranslated: The text is too long.
    """
    if len(text) > _MOST_JOINED:
        raise Untranslated(f"{text[:3]!r}… under (?i): too many letters that may be joined")
    folds, unfolds = _folds(), _unfolds()
    single = [
        folded if len(folded := folds.get(character, character)) == 1 else character for character in text
    ]
    stretches: list[list[str]] = []
    at = 0
    while at < len(text):
        size, variants = next(
            ((size, variants) for size in (3, 2) if (variants := unfolds.get("".join(single[at : at + size])))
             and at + size <= len(text)), (1, ""),
        )
        ways = ["".join(map(_letter_in_any_case, text[at : at + size]))]
        if size > 1:
            ways.append(_one_of(variants))
        elif len(folded := folds.get(text[at], "")) > 1:
            ways.append("".join(map(_letter_in_any_case, folded)))
        stretches.append(ways)
        at += size
    return stretches


@functools.lru_cache(1 << 10)
def _letter_in_any_case(letter: str) -> str:
    return _one_of(_variants(letter))


def _one_of(letters: str) -> str:
    """Return an atom that matches one of these characters."""
    return shown(letters) if len(letters) == 1 else f"[{in_brackets(letters)}]"


def in_brackets(characters: Iterable[str]) -> str:
    """Return characters escaped for brackets."""
    return "".join(shown(character, r"\]^[-&~|") for character in characters)


def shown(character: str, special: str = r"\.^$*+?{}[]|()") -> str:
    """Return a character escaped for a pattern: with a backslash if special, as a number if invisible."""
    if character in special:
        return "\\" + character
    if character.isprintable():
        return character
    return {"\f": r"\f", "\v": r"\v"}.get(character) or character.encode("unicode_escape").decode()


# --- classes ---

_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_NO_WORD = r"\W\u200c\u200d"
_BARE = "²³¹¼½¾"
"""Characters that a `\\w` outside of brackets matches too: below U+0100 Oniguruma uses another table there.
"""
_POSIX = ("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
          "upper", "word", "xdigit")
_SINGLE = r"\\[sS]|\\[pP]\{[^}]*\}"
_CHARACTER = r"[^\\]|\\(?:\W|[tvrf]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
"""The items of one character, other than a line end."""
_CATEGORIES = (
    "C Other, Cc Control, Cf Format, Cn Unassigned, Co Private_Use, Cs Surrogate, L Letter, LC Cased_Letter, "
    "Ll Lowercase_Letter, Lm Modifier_Letter, Lo Other_Letter, Lt Titlecase_Letter, Lu Uppercase_Letter, "
    "M Mark Combining_Mark, Mc Spacing_Mark, Me Enclosing_Mark, Mn Nonspacing_Mark, N Number, "
    "Nd Decimal_Number, Nl Letter_Number, No Other_Number, P Punctuation, Pc Connector_Punctuation, "
    "Pd Dash_Punctuation, Pe Close_Punctuation, Pf Final_Punctuation, Pi Initial_Punctuation, "
    "Po Other_Punctuation, Ps Open_Punctuation, S Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, "
    "Sm Math_Symbol, So Other_Symbol, Z Separator, Zl Line_Separator, Zp Paragraph_Separator, "
    "Zs Space_Separator"
)
_FLAGS = (
    "Alphabetic Bidi_Control Case_Ignorable Cased Changes_When_Lowercased Changes_When_Titlecased "
    "Changes_When_Uppercased Dash Default_Ignorable_Code_Point Diacritic Extender Grapheme_Base "
    "Grapheme_Extend Hex_Digit ASCII_Hex_Digit ID_Continue ID_Start Ideographic Join_Control Lowercase "
    "Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark Radical "
    "Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph Uppercase "
    "Variation_Selector White_Space XID_Continue XID_Start Emoji Emoji_Modifier Emoji_Modifier_Base "
    "Emoji_Presentation Extended_Pictographic"
)


def _plain(name: str) -> str:
    """Return a normalized name for lookup: case, spaces, hyphens and underscores are ignored."""
    return name.translate({ord(sign): None for sign in " -_"}).lower()


_PROPERTIES = {
    **{_plain(name): rf"\p{{{name}}}" for name in (*_FLAGS.split(), *_POSIX)},
    **{_plain(name): rf"\p{{{names.split()[0]}}}" for names in _CATEGORIES.split(",")
       for name in names.split()},
    "any": r"\s\S", "ascii": r"\x00-\x7f", "digit": r"\p{Nd}", "punct": r"\p{P}", "space": r"\s",
    "word": _WORD, "xdigit": "0-9A-Fa-f",
}
"""The bracket items of properties with equal meaning, by normalized name, except scripts. `punct` is less
than `[[:punct:]]`."""


@dataclass(slots=True)
class Class:
    """A character class: the union of items and atoms, or its complement. Items are written in brackets.
    Known items match no character that is newer than Oniguruma's tables."""

    items: str = ""
    others: list[str] = field(default_factory=list)
    negated: bool = False
    known: tuple[str, ...] = ()

    def add(self, other: Class) -> None:
        """Add the characters of another class."""
        if other.negated or other.others:
            self.others.append(other.written())
        else:
            self.items += other.items
            self.known += other.known

    def written(self) -> str:
        """Return the class as an atom."""
        if self.others or self.known:
            if self.negated and not self.others and (alone := self._none_of()):
                return alone
            rows = [Class(self.items).written(), *self.others] if self.items else [*self.others]
            for known_item in self.known:
                rows += without(_complement(known_item), newer_in(known_item))
            if self.negated:
                return rf"(?:(?!{'|'.join(rows)})[\s\S])"
            return f"(?:{'|'.join(rows)})" if len(rows) > 1 else rows[0]
        if self.negated and _holds_all(self.items):
            return "(?!)"
        if not self.items:
            return r"[\s\S]" if self.negated else "(?!)"
        single = not self.negated and regex.fullmatch(_SINGLE, self.items)
        if self.negated and regex.fullmatch(_CHARACTER, self.items):
            # `regex` takes `[^a]|[^b]` for `[^ab]`; that of `.`, `[^\n]`, is then the only one.
            return f"[^{self.items * 2}]"
        return self.items if single else f"[{'^' if self.negated else ''}{self.items}]"

    def _none_of(self) -> str:
        """Return an atom for all characters outside the items and known items, without a lookahead; empty if
        that is impossible."""
        items = self.items + "".join(self.known)
        newer = newer_in(self.items) if self.items else ""
        if _holds_all(items) or newer not in ("", newer_in(r"\s\S")):
            return ""
        return f"(?:[^{items}]|{all_newer()})" if not newer else f"(?:{'|'.join(without(items, ''))})"


def _complement(items: str) -> str:
    """Return the complement of known items, as items."""
    return _NO_WORD if items == _WORD else r"\P" + items[2:]


def _of_items(items: str, more: str = "", negated: bool = False) -> Class:
    """Return a class of items that Oniguruma looks up in its tables, and of more items."""
    rows = regex.findall(r"\\p\{[^}]*\}", items) if items.startswith(r"\p") and items != _WORD else [items]
    known = tuple(row for row in rows if newer_in(row))
    return Class("".join(row for row in rows if row not in known) + more, negated=negated, known=known)


def _holds_all(items: str) -> bool:
    """Return whether items contain a class and its complement. `regex` matches nothing for the negation of
    such items."""
    names = {sign: set(regex.findall(rf"\\{sign}(\{{[^}}]*\}})", items)) for sign in "pP"}
    return (r"\s" in items and r"\S" in items) or not names["p"].isdisjoint(names["P"])


@functools.lru_cache(1 << 10)
def class_in_any_case(text: str, negated: bool) -> tuple[str, ...]:
    """Return the atom of a class with the other cases of its characters, followed by sequences of characters
    that are other cases of some of them.

    Args:
        text: The class in brackets.
        negated: True if the class is a complement.
    """
    matched = set(regex.findall(text, _cased(), regex.VERSION0))
    inner = set(_cased()) - matched if negated else matched
    more = in_brackets(sorted({other for character in inner for other in _variants(character)} - inner))
    if negated:
        return (rf"(?:(?![{more}]){text})" if more else text,)
    simple = text.startswith("[") and not text.startswith("[^")
    joined = f"{text[:-1]}{more}]" if simple else f"(?:[{more}]|{text})"
    several = {folding for character in inner if len(folding := _folds().get(character, "")) > 1}
    rows = ("".join(f"[{in_brackets(_variants(letter))}]" for letter in letters)
            for letters in sorted(several, key=lambda letters_: (len(letters_), letters_)))
    return (joined if more else text, *rows)


def both(classes: list[Class]) -> Class:
    """Return the intersection of classes."""
    *heads, last = [class_.written() for class_ in classes]
    return Class(others=["(?:" + "".join(f"(?={head})" for head in heads) + last + ")"])


def of_type(letter: str, bare: bool) -> Class:
    """Return the class of `\\w`, `\\d`, `\\s` or `\\h`, or for a capital letter its complement."""
    small = letter.lower()
    if letter == "D" or (letter == "W" and not bare):  # may stand in brackets that are negated
        items = r"\p{Nd}" if letter == "D" else _WORD
        return Class(_complement(items) + newer_in(items))
    if small in "wd":
        return _of_items(
            _WORD if small == "w" else r"\p{Nd}", _BARE * (bare and small == "w"), letter != small
        )
    if letter == "S":
        return Class(r"\S")
    return Class(r"\s" if small == "s" else "0-9A-Fa-f", negated=letter != small)


def of_posix(name: str, negated: bool) -> Class:
    """Return the class of `[:name:]`.

    Raises:
        Untranslated: The name is unknown.
    """
    if name not in _POSIX:
        raise Untranslated(f"[:{name[:40]}:], a class that is not known")
    return _of_items(r"\p{P}\p{S}" if name == "punct" else _PROPERTIES[name], negated=negated)


def of_name(name: str, negated: bool, bare: bool = False) -> Class:
    """Return the class of a property, as in `\\p{name}`.

    Raises:
        Untranslated: No property of the name is known to be equal.
    """
    plain = _plain(name)
    if plain == "word":
        return of_type("W" if negated else "w", bare)
    items = _PROPERTIES.get(plain) or _script(plain) or _block(plain)
    if not items:
        raise Untranslated(rf"\p{{{name[:40]}}}, a property that is not known here")
    if negated and items.startswith(r"\p{") and items.count("\\") == 1:
        return Class(r"\P" + items[2:])
    return Class(items, negated=negated)


@functools.lru_cache(1 << 10)
def _script(plain: str) -> str:
    """Return the bracket items of a script; empty if the name is unknown."""
    if not plain.isalpha() or not plain.isascii():
        return ""
    try:
        regex.compile(rf"\p{{Script={plain}}}")
    except (regex.error, ValueError, OverflowError):
        return ""
    return rf"\p{{Script={plain}}}"


def _block(plain: str) -> str:
    """Return the bracket items of a block, as in `InBasicLatin`; empty if the name is unknown."""
    block = plain.removeprefix("in")
    return rf"\p{{Block={block}}}" if block != plain and block in BLOCKS else ""


# --- reading ---

_SIGNS = {"t": "\t", "v": "\v", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_CODES = {"x": r"\{([0-9A-Fa-f]{1,8})\}|([0-7][0-9A-Fa-f])", "u": "([0-9A-Fa-f]{4})"}
"""The digits after `\\x` and `\\u`. Bytes beyond ASCII are refused."""
_BEYOND_ASCII = "".join(map(chr, range(0x80, 0x3000)))
_DEEPEST = 20


class Brackets:
    """Reads characters, and classes in brackets, at a place in a pattern. Methods raise `Untranslated`.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern, 0

    def _took(self, sign: str) -> bool:
        """Consume a sign if it comes next. Return whether it did."""
        there = self._text.startswith(sign, self._at)
        self._at += there * len(sign)
        return there

    def _match(self, pattern: str) -> re.Match[str] | None:
        """Consume what a pattern matches at the place."""
        match = re.compile(pattern).match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return match

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _escape(self) -> str:
        """Return the letter after a backslash, and move past it. Raises `Untranslated` at the end."""
        if self._at == len(self._text):
            raise Untranslated("a backslash at the end")
        self._at += 1
        return self._text[self._at - 1]

    def _class(self, letter: str, bare: bool) -> Class:
        r"""Return the class of a letter after a backslash: `\w` and the like, or a property.

        `bare` is True outside of brackets. Raises `Untranslated` for a property without a name in braces.
        """
        if letter not in "pP":
            return of_type(letter, bare)
        if self._next() != "{":
            raise Untranslated(rf"\{letter} without braces, which versions of Oniguruma read in two ways")
        match = self._match(r"\{(\^?)([^(){}|]*)\}")
        if match is None:
            raise Untranslated(rf"\{letter} with a broken name")
        return of_name(match[2], (letter == "P") != bool(match[1]), bare)

    def _literal(self, letter: str) -> str:
        """Return the character of an escape sequence with this letter; other letters stand for themselves.

        Raises `Untranslated` for control, meta and octal sequences, and without the digits of one character.
        """
        if letter in _SIGNS:
            return _SIGNS[letter]
        if letter in _CODES:
            match = self._match(_CODES[letter])
            if match is None:
                raise Untranslated(rf"\{letter} without the digits of one character")
            return _character(int(match[match.lastindex or 0], 16))
        if letter == "0" and (octal := self._match("[0-7]{0,2}")):
            return chr(int("0" + octal[0], 8))
        if letter in "cCMo":
            raise Untranslated(rf"\{letter}")
        return letter

    def _brackets(self, depth: int = 0) -> Class:
        """Read a class after its `[`, up to its end.

        Raises `Untranslated` for what versions of the library read otherwise.
        """
        if depth > _DEEPEST:
            raise Untranslated("brackets too deep in one another")
        negated = self._took("^")
        if self._next() == "]" and "]" not in self._text[self._at + 1 :]:
            raise Untranslated("empty brackets")
        classes = [Class()]
        first: str | None = None
        start = True
        while start or not self._took("]"):
            start = False
            if self._took("&&"):
                classes.append(Class())
                first = None
                continue
            # A hyphen before the end or before && is literal.
            ranged = first is not None and self._match(r"-(?!\]|&&)") is not None
            member = self._member(depth)
            if isinstance(member, Class):
                if ranged:
                    raise Untranslated("a range that ends in no character")
                classes[-1].add(member)
                first = None
                continue
            if ranged and first is not None and first > member:
                raise Untranslated("a range whose end comes before its begin")
            classes[-1].items += "-" * ranged + in_brackets(member)
            first = None if ranged else member
        both_sides = classes[0] if len(classes) == 1 else both(classes)
        if negated and both_sides.negated:
            return Class(others=[both_sides.written()], negated=True)
        both_sides.negated |= negated
        return both_sides

    def _member(self, depth: int) -> Class | str:
        """Read the next character or class in brackets, and those in brackets within.

        Raises `Untranslated` if the text ends, or for what another library reads otherwise.
        """
        if self._at == len(self._text):
            raise Untranslated("[ without ]")
        if self._took("["):
            if match := self._match(r":(\^?)([a-z]+):\]"):
                return of_posix(match[2], bool(match[1]))
            if self._match(r":[^:\]\\]{0,20}:\]"):
                raise Untranslated("[: with a name that is not known")
            inner = self._brackets(depth + 1)
            if inner.negated and not regex.search(inner.written(), _BEYOND_ASCII):
                raise Untranslated("brackets in brackets that hold no character beyond ASCII")
            return inner
        if not self._took("\\"):
            self._at += 1
            return self._text[self._at - 1]
        letter = self._escape()
        if letter in "wWdDsShHpP":
            return self._class(letter, bare=False)
        if letter == "b":
            return "\b"
        return self._literal(letter)


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise Untranslated(f"U+{code:04X}, which is no character")
    return chr(code)
