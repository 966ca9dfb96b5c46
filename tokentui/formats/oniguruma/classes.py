"""Classes of characters in Oniguruma's patterns, read, and written for the `regex` library without set
operations.

A class is a union of items that may stand in one pair of brackets and of others that may not: complements of
several items, and intersections. These are matched by looking ahead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import regex


class Untranslated(Exception):
    """A pattern holds what has no exact translation, or what Oniguruma refuses; the text names it."""


WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
BARE_WORD = WORD + "²³¹¼½¾"
"""A `\\w` that stands alone is looked up in another table below U+0100 than one in brackets."""
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}", "alpha": r"\p{Alphabetic}", "blank": r"\t\p{Zs}", "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "lower": r"\p{Lowercase}", "punct": r"\p{P}\p{S}", "space": r"\s", "upper": r"\p{Uppercase}",
    "xdigit": "0-9A-Fa-f",
    "word": WORD, "ascii": r"\x00-\x7f",
}
_SINGLE = regex.compile(r"\\[sS]|\\[pP]\{[^}]*\}")
_NOT_GRAPH = r"\s\p{Cc}\p{Cn}\p{Cs}"
_CATEGORIES = {
    "C": "Other", "Cc": "Control", "Cf": "Format", "Cn": "Unassigned", "Co": "Private_Use", "Cs": "Surrogate",
    "L": "Letter",
    "LC": "Cased_Letter", "Ll": "Lowercase_Letter", "Lm": "Modifier_Letter", "Lo": "Other_Letter",
    "Lt": "Titlecase_Letter",
    "Lu": "Uppercase_Letter", "M": "Mark Combining_Mark", "Mc": "Spacing_Mark", "Me": "Enclosing_Mark",
    "Mn": "Nonspacing_Mark",
    "N": "Number", "Nd": "Decimal_Number", "Nl": "Letter_Number", "No": "Other_Number", "P": "Punctuation",
    "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation", "Pe": "Close_Punctuation",
    "Pf": "Final_Punctuation",
    "Pi": "Initial_Punctuation", "Po": "Other_Punctuation", "Ps": "Open_Punctuation", "S": "Symbol",
    "Sc": "Currency_Symbol",
    "Sk": "Modifier_Symbol", "Sm": "Math_Symbol", "So": "Other_Symbol", "Z": "Separator",
    "Zl": "Line_Separator",
    "Zp": "Paragraph_Separator", "Zs": "Space_Separator",
}
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
    """A name as it is looked up: case, spaces, hyphens and underscores mean nothing."""
    return name.translate({ord(sign): None for sign in " -_"}).lower()


_PROPERTIES = {
    **{_plain(name): rf"\p{{{name}}}" for name in _FLAGS.split()},
    **{_plain(name): rf"\p{{{short}}}" for short, long in _CATEGORIES.items()
       for name in (short, *long.split())},
    **_POSIX, "punct": r"\p{P}", "any": r"\s\S",
}
"""The inside of brackets for a property, by its plain name. `punct` is less than `[[:punct:]]`."""


@dataclass(slots=True)
class Class:
    """A class: of these items and others, or of none of them. An item stands in brackets, an other is an
    atom.
    """

    items: str = ""
    others: list[str] = field(default_factory=list)
    negated: bool = False

    def add(self, one: Class) -> None:
        """Take in all characters of another class."""
        if one.negated or one.others:
            self.others.append(one.written())
        else:
            self.items += one.items

    def written(self) -> str:
        """The class as an atom."""
        if not self.others and self.negated and _holds_all(self.items):
            return "(?!)"
        if not self.others:
            if not self.items:
                return r"[\s\S]" if self.negated else "(?!)"
            single = not self.negated and _SINGLE.fullmatch(self.items)
            return self.items if single else f"[{'^' if self.negated else ''}{self.items}]"
        both = "|".join([Class(self.items).written(), *self.others] if self.items else self.others)
        if self.negated:
            return rf"(?:(?!{both})[\s\S])"
        return f"(?:{both})" if len(self.others) + bool(self.items) > 1 else both


def _holds_all(items: str) -> bool:
    """Return whether items hold a class and its complement: the `regex` library takes no character for any
    where such are negated.
    """
    names = {sign: set(regex.findall(rf"\\{sign}(\{{[^}}]*\}})", items)) for sign in "pP"}
    return (r"\s" in items and r"\S" in items) or not names["p"].isdisjoint(names["P"])


def both(classes: list[Class]) -> Class:
    """The characters that all of several classes have."""
    *heads, last = [one.written() for one in classes]
    return Class(others=["(?:" + "".join(f"(?={head})" for head in heads) + last + ")"])


def of_type(letter: str, bare: bool) -> Class:
    """The class of `\\w`, `\\d`, `\\s`, `\\h` or of its capital, which is the complement."""
    small = letter.lower()
    items = {"w": BARE_WORD if bare else WORD, "d": r"\p{Nd}", "s": r"\s", "h": "0-9A-Fa-f"}[small]
    if letter == "W" and not bare:
        return Class(r"\W\u200c\u200d")
    single = {"D": r"\P{Nd}", "S": r"\S"}.get(letter)
    return Class(single) if single else Class(items, negated=letter != small)


def of_posix(name: str, negated: bool) -> Class:
    """The class of a `[:...:]`.

    Raises:
        Untranslated: There is none of the name.
    """
    if name not in _POSIX and name not in ("graph", "print"):
        raise Untranslated(f"[:{name[:40]}:], a class that is not known")
    return Class(_POSIX["punct"], negated=negated) if name == "punct" else of_name(name, negated)


def of_name(name: str, negated: bool, bare: bool = False) -> Class:
    """The class of a property's name, as in `\\p{...}`.

    Raises:
        Untranslated: There is none of the name that is known to be the same.
    """
    plain = _plain(name)
    if plain in ("graph", "print"):
        # Of the space separators, which are no graphs, print has all.
        graph = Class(_NOT_GRAPH, negated=True)
        one = graph if plain == "graph" else Class(r"\p{Zs}", [graph.written()])
        return Class(one.items, list(one.others), not one.negated) if negated else one
    items = BARE_WORD if bare and plain == "word" else _PROPERTIES.get(plain) or _script(plain)
    if not items:
        raise Untranslated(rf"\p{{{name[:40]}}}, a property that is not known here")
    if negated and items.startswith(r"\p{") and items.count("\\") == 1:
        return Class(r"\P" + items[2:])
    return Class(items, negated=negated)


def _script(plain: str) -> str:
    """A script's name in brackets, empty where there is none."""
    if not plain.isalpha() or not plain.isascii():
        return ""
    try:
        regex.compile(rf"\p{{Script={plain}}}")
    except regex.error:
        return ""
    return rf"\p{{Script={plain}}}"


def in_brackets(character: str) -> str:
    """A character as it stands in brackets."""
    return shown(character, r"\]^[-&~|")


def shown(character: str, special: str) -> str:
    """A character with a backslash where it is special, by its number where it cannot be seen."""
    if character in special:
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    named = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f", "\v": r"\v"}.get(character)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000
                     else f"\\U{code:08x}")


# --- the letters of a pattern ---

_SIGNS = {"t": "\t", "v": "\v", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_PROPERTY = re.compile(r"\{(\^?)([^(){}|]*)\}")
_POSIX_CLASS = re.compile(r":(\^?)([a-z]+):\]")
_LIKE_POSIX_CLASS = re.compile(r":[^:\]\\]{0,20}:\]")
_BRACED = {"x": re.compile(r"\{([0-9A-Fa-f]{1,8})\}"), "o": re.compile(r"\{([0-7]{1,11})\}")}
_CRUDE = {"x": re.compile(r"[0-9A-Fa-f]{0,2}"), "0": re.compile("[0-7]{0,2}")}
_AGAIN = {"x": re.compile(r"\\x([0-9A-Fa-f]{1,2})"), "0": re.compile(r"\\([0-7]{1,3})")}


_BEYOND_ASCII = "".join(map(chr, range(0x80, 0x3000)))


class Brackets:
    """A pattern and the place that is read next."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0

    def took(self, sign: str) -> bool:
        """Return whether a sign stands at the place; then it is passed."""
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def escape(self) -> str:
        """The letter after a backslash."""
        if self.at == len(self.text):
            raise Untranslated("a backslash at the end")
        self.at += 1
        return self.text[self.at - 1]

    def property_(self, letter: str) -> tuple[str, bool]:
        """The name of the property after a `\\p` or `\\P`, and whether it is negated."""
        negated = letter == "P"
        if not self.text.startswith("{", self.at):
            raise Untranslated(rf"\{letter} without braces, which versions of Oniguruma read in two ways")
        match = _PROPERTY.match(self.text, self.at)
        if match is None:
            raise Untranslated(rf"\{letter} with a broken name")
        self.at = match.end()
        return match[2], negated != bool(match[1])

    def literal(self, letter: str) -> str:
        """The character that stands for a backslash and this letter."""
        if letter in _SIGNS:
            return _SIGNS[letter]
        if letter in "xo" and self.text.startswith("{", self.at):
            match = _BRACED[letter].match(self.text, self.at)
            if match is None:
                raise Untranslated(rf"\{letter}{{ with other than one code point")
            self.at = match.end()
            return _character(int(match[1], 16 if letter == "x" else 8))
        if letter == "u":
            digits = self.text[self.at : self.at + 4]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                raise Untranslated(r"\u without four digits")
            self.at += 4
            return _character(int(digits, 16))
        if letter == "x" or letter in "01234567":
            return self._crude(letter)
        if letter in "cCM":
            raise Untranslated(rf"\{letter}, a control or meta character")
        return letter

    def _crude(self, letter: str) -> str:
        """A character that is written by its bytes, each in two hexadecimal digits or three octal ones."""
        kind, base = ("x", 16) if letter == "x" else ("0", 8)
        if kind == "0" and letter != "0":
            self.at -= 1
            match = re.compile("[0-7]{1,3}").match(self.text, self.at)
        else:
            match = _CRUDE[kind].match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        value = int(match[0] or "0", base)
        data = bytearray()
        while value < 256:
            data.append(value)
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError as error:
                following = _AGAIN[kind].match(self.text, self.at)
                if error.reason != "unexpected end of data" or following is None:
                    break
                self.at = following.end()
                value = int(following[1], base)
        raise Untranslated("bytes that are no UTF-8")

    # --- brackets ---

    def brackets(self, depth: int = 0) -> Class:
        """The class of what follows a `[`."""
        if depth > 20:
            raise Untranslated("brackets too deep in one another")
        negated = self.took("^")
        classes = [Class()]
        first: str | None = None
        start = True
        if self.text.startswith("]", self.at) and not re.search(r"\]", self.text[self.at + 1 :]):
            raise Untranslated("empty brackets")
        while True:
            if self.at == len(self.text):
                raise Untranslated("[ without ]")
            if not start and self.took("]"):
                break
            if self.took("&&"):
                classes.append(Class())
                first = None
                start = False
                continue
            start = False
            now = classes[-1]
            if first is not None and self._is_range():
                self.at += 1
                last = self._member(depth)
                if isinstance(last, Class):
                    raise Untranslated("a range that ends in no character")
                if first > last:
                    raise Untranslated("a range whose end comes before its begin")
                now.items += f"-{in_brackets(last)}"
                first = None
                continue
            one = self._member(depth)
            if isinstance(one, Class):
                now.add(one)
                first = None
            else:
                now.items += in_brackets(one)
                first = one
        made = classes[0] if len(classes) == 1 else both(classes)
        if not negated:
            return made
        return Class(made.items, made.others, True) if not made.negated else Class(others=[made.written()],
                                                                                   negated=True)

    def _is_range(self) -> bool:
        """Return whether a hyphen at the place makes a range: it does not before the end and before `&&`."""
        return self.text.startswith("-", self.at) and not self.text.startswith(("-]", "-&&"), self.at)

    def _member(self, depth: int) -> Class | str:
        """The next character or class in brackets."""
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "[":
            match = _POSIX_CLASS.match(self.text, self.at)
            if match:
                self.at = match.end()
                return of_posix(match[2], bool(match[1]))
            if _LIKE_POSIX_CLASS.match(self.text, self.at):
                raise Untranslated("[: with a name that is not known")
            inner = self.brackets(depth + 1)
            if inner.negated and not regex.search(inner.written(), _BEYOND_ASCII):
                raise Untranslated("brackets in brackets that hold no character beyond ASCII")
            return inner
        if sign != "\\":
            if not sign:
                raise Untranslated("[ without ]")
            return sign
        letter = self.escape()
        if letter in "wWdDsShH":
            return of_type(letter, bare=False)
        if letter in "pP":
            return of_name(*self.property_(letter))
        if letter == "b":
            return "\b"
        return letter if letter in "89" else self.literal(letter)


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise Untranslated(f"U+{code:04X}, which is no character")
    return chr(code)
