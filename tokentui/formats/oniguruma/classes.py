"""Classes of characters in Oniguruma's patterns, written for the `regex` library without set operations.

A class is a union of items that may stand in one pair of brackets and of others that may not: complements of several items,
and intersections. These are matched by looking ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import regex

from tokentui.formats.oniguruma.nodes import Untranslated

WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
BARE_WORD = WORD + "²³¹¼½¾"
"""A `\\w` that stands alone is looked up in another table below U+0100 than one in brackets."""
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}", "alpha": r"\p{Alphabetic}", "blank": r"\t\p{Zs}", "cntrl": r"\p{Cc}", "digit": r"\p{Nd}",
    "lower": r"\p{Lowercase}", "punct": r"\p{P}\p{S}", "space": r"\s", "upper": r"\p{Uppercase}", "xdigit": "0-9A-Fa-f",
    "word": WORD, "ascii": r"\x00-\x7f",
}
_SINGLE = regex.compile(r"\\[sS]|\\[pP]\{[^}]*\}")
_NOT_GRAPH = r"\s\p{Cc}\p{Cn}\p{Cs}"
_CATEGORIES = {
    "C": "Other", "Cc": "Control", "Cf": "Format", "Cn": "Unassigned", "Co": "Private_Use", "Cs": "Surrogate", "L": "Letter",
    "LC": "Cased_Letter", "Ll": "Lowercase_Letter", "Lm": "Modifier_Letter", "Lo": "Other_Letter", "Lt": "Titlecase_Letter",
    "Lu": "Uppercase_Letter", "M": "Mark Combining_Mark", "Mc": "Spacing_Mark", "Me": "Enclosing_Mark", "Mn": "Nonspacing_Mark",
    "N": "Number", "Nd": "Decimal_Number", "Nl": "Letter_Number", "No": "Other_Number", "P": "Punctuation",
    "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation", "Pe": "Close_Punctuation", "Pf": "Final_Punctuation",
    "Pi": "Initial_Punctuation", "Po": "Other_Punctuation", "Ps": "Open_Punctuation", "S": "Symbol", "Sc": "Currency_Symbol",
    "Sk": "Modifier_Symbol", "Sm": "Math_Symbol", "So": "Other_Symbol", "Z": "Separator", "Zl": "Line_Separator",
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
    **{_plain(name): rf"\p{{{short}}}" for short, long in _CATEGORIES.items() for name in (short, *long.split())},
    **_POSIX, "punct": r"\p{P}", "any": r"\s\S",
}
"""What stands in brackets for a property, by its plain name. `punct` is less than `[[:punct:]]`."""


@dataclass(slots=True)
class Class:
    """A class: of these items and others, or of none of them. An item stands in brackets, an other is an atom."""

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
    """Whether items hold a class and its complement: the `regex` library takes no character for any where such are negated."""
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
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
