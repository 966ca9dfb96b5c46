"""Patterns of Oniguruma, which Hugging Face's files hold, as patterns of the `regex` library that match the
same.

They are read in Oniguruma's own syntax, as version 6.9 has it where nothing is asked for, by recursive
descent and written on the way. What has no exact counterpart is refused by its name. Source: `doc/RE` and
`regparse.c` of Oniguruma.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from tokentui.formats.oniguruma import classes
from tokentui.formats.oniguruma.classes import BARE_WORD, Brackets, Class, Untranslated, shown
from tokentui.text.split import SPLITS

__all__ = ["END", "Untranslated", "pattern_of", "translated"]

END = r"(?![\s\S])"
"""The end of a text."""


@functools.lru_cache(maxsize=64)
def translated(pattern: str) -> str:
    """A pattern of Oniguruma's as one of the `regex` library.

    Raises:
        Untranslated: It holds what is not translated, or is none.
    """
    return _Reader(pattern).whole()


def pattern_of(split: str) -> str:
    """A split's pattern in Oniguruma's syntax: a counted repeat cannot be possessive there, and `$` is the
    end of a line.
    """
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    pattern = SPLITS[split].pattern.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++" + END)
    return pattern.replace("(?s).+", r"[\s\S]+")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern.

    Attributes:
        text: Its translation; of letters the letters themselves.
        kind: `letters`, `atom`, `place` (it takes no character), `row`, `choice`, or `repeat` (`*`, `+` or
            `?` as it stands, which may become possessive) and `group` for what a repeat cannot follow.
        fold: True if the letters are looked for in any case.
        parts: The parts of a row.
        empty: True if it matches no character at some place.
        any_first: True if it begins with a `.` that is repeated without an end.
        passes: True if it has a condition before such a `.`. Where a match begins with it, Oniguruma looks
            for it at the begin of a line alone, whatever the condition is.
    """

    text: str
    kind: str = "atom"
    fold: bool = False
    parts: tuple[_Part, ...] = ()
    empty: bool = False
    any_first: bool = False
    passes: bool = False


def _row(parts: list[_Part]) -> _Part:
    """Parts one after the other as one; rows in it and letters side by side are joined."""
    out: list[_Part] = []
    for part in parts:
        for one in part.parts if part.kind == "row" else (part,):
            if out and one.kind == out[-1].kind == "letters" and one.fold == out[-1].fold:
                out[-1] = replace(one, text=out[-1].text + one.text)
            else:
                out.append(one)
    if len(out) == 1:
        return out[0]
    any_first = passes = False
    for n, one in enumerate(reversed(out)):  # from the last on: each with what stands behind it
        condition = n > 0 and one.kind == "place"
        passes = any_first if condition and one.text not in _LINE_STARTS else one.passes
        any_first = any_first if condition else one.any_first
    return _Part("", "row", parts=tuple(out), empty=all(one.empty for one in out), any_first=any_first,
                 passes=passes)


_ANY = (r"[\s\S]", r"[^\n]")
"""Translations of `.`, with and without line ends."""
_LINE_STARTS = (r"\A", r"(?:\A|(?<=\n)(?!\Z))")
_MOST_TIMES = 100_000
_DEEPEST = 60
_SIMPLE = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_WORD = f"[{BARE_WORD}]"
_PLACES = {
    "^": _LINE_STARTS[1], "$": r"(?=\n|\Z)", r"\A": r"\A", r"\z": r"\Z", r"\Z": r"(?=\n?\Z)",
    r"\b": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    r"\B": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_REFUSED = {
    "K": r"\K, which keeps what stands before it", "X": r"\X, a grapheme",
    "y": r"\y, a boundary of graphemes", "Y": r"\Y, no boundary of graphemes",
    "G": r"\G, where the search began", "g": r"\g, the call of a group",
}
_GROUPS = {
    "~": "(?~, an absent operator", "{": "(?{, a callout", "(": "(?(, a condition",
    "@": "(?@, a capture history",
}


class _Reader(Brackets):
    """A pattern and the place that is read next.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._options: frozenset[str] = frozenset()
        self._groups = self._depth = self._behind = 0
        self._open, self._referred = set[int](), set[int]()
        self._names: dict[str, int] = {}
        self._named = re.search(r"\(\?(?:<(?![=!])|')", pattern) is not None

    def whole(self) -> str:
        """The translation of all of it."""
        part = self._choice()
        if self._at < len(self._text):
            raise Untranslated(") without (")
        if part.passes:
            raise Untranslated(
                "a . without an end after a condition, which Oniguruma looks for at the begin of a line alone"
            )
        # A group is a group only where it is referred to, which is known at the end.
        return re.sub("\0([0-9]+)\0",
                      lambda group: f"?P<g{group[1]}>" if int(group[1]) in self._referred else "?:",
                      self._written(part))

    # --- writing ---

    def _written(self, part: _Part) -> str:
        """A part as it may stand by itself or as an alternative."""
        if part.kind == "row":
            written = ((self._written(one), one.kind) for one in part.parts)
            return "".join(f"(?:{text})" if kind == "choice" else text for text, kind in written)
        if part.kind != "letters":
            return part.text
        if not part.fold:
            return "".join(map(shown, part.text))
        rows = classes.ways(part.text)
        if rows is None:
            raise Untranslated("a text under (?i) that is written in many ways in other cases")
        if len(rows) > 1 and self._behind:
            raise Untranslated("a text under (?i) that is longer in another case, and (?<= or (?<! around it")
        spelled = ["".join(map(classes.one_of, letters)) for letters in rows]
        return spelled[0] if len(spelled) == 1 else f"(?:{'|'.join(spelled)})"

    def _atom(self, part: _Part) -> str:
        """A part as a repeat may follow it."""
        text = self._written(part)
        letter = part.kind == "letters" and len(part.text) == 1 and (not part.fold or text[0] == "["
                                                                     or len(text) == 1)
        return text if letter or part.kind == "atom" else f"(?:{text})"

    # --- alternatives, rows, repeats ---

    def _choice(self) -> _Part:
        """Alternatives up to the end of the group, with the options that stood before it put back."""
        before = self._options
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untranslated("groups too deep in one another")
        branches = [self._branch()]
        while self._took("|"):
            branches.append(self._branch())
        self._options = before
        self._depth -= 1
        return branches[0] if len(branches) == 1 else self._either(branches)

    def _either(self, branches: list[_Part]) -> _Part:
        return _Part(
            "|".join(map(self._written, branches)), "choice", empty=any(one.empty for one in branches),
            any_first=any(one.any_first for one in branches), passes=any(one.passes for one in branches),
        )

    def _branch(self) -> _Part:
        parts: list[_Part] = []
        while True:
            self._skip()
            if self._next() in ("", "|", ")"):
                return _row(parts)
            options = self._match(r"\(\?([a-zA-Z-]+)\)")
            if options:  # for all that follows in the group, alternatives and all
                return _row([*parts, self._under(options[1], self._choice)])
            parts.append(self._repeated(self._one()))

    def _under(self, letters: str, read: Callable[[], _Part]) -> _Part:
        """The part that is read under options, such as `i-m`."""
        before = self._options
        on, _, off = letters.partition("-")
        if odd := next((letter for letter in letters if letter not in "imx-"), ""):
            raise Untranslated(f"the option {odd}")
        self._options = before.union(on).difference(off)
        part = read()
        self._options = before
        return part

    def _skip(self) -> None:
        """Pass over comments, and over what means nothing in the extended form."""
        while self._match(r"(?s)\(\?#(?:\\.|[^\\)])*\)") or (
            "x" in self._options and self._match(r"[ \t\n\r\f]|#[^\n]*\n?")
        ):
            pass
        if self._text.startswith("(?#", self._at):
            raise Untranslated("a comment without an end")

    def _repeated(self, part: _Part) -> _Part:
        """A part with the repeats that follow it."""
        while True:
            self._skip()
            sign = self._next()
            if sign in _SIMPLE:
                self._at += 1
                low, high = _SIMPLE[sign]
                lazy = self._took("?")
                possessive = not lazy and self._took("+")
            elif found := self._interval():
                low, high, lazy, possessive = found
            else:
                return part
            if part.kind == "place":
                raise Untranslated("a repeat of what matches no character")
            if high is None and part.empty:
                raise Untranslated("a repeat without an end of what may be empty")
            part = self._times(part, low, high, lazy)
            if possessive:
                part = self._atomic(part)

    def _interval(self) -> tuple[int, int | None, bool, bool] | None:
        """(least, most, lazy, possessive) of a `{…}`; None where it is mere text.

        With the greater number first it is possessive.
        """
        match = self._match(r"\{(?=[0-9,]*[0-9])([0-9]*)(,?)([0-9]*)\}")
        if match is None:
            return None
        if max(len(match[1]), len(match[3])) > 6 or max(int(match[1] or 0), int(match[3] or 0)) > _MOST_TIMES:
            raise Untranslated(f"a repeat of more than {_MOST_TIMES:,} times")
        low = int(match[1] or 0)
        high = low if not match[2] else int(match[3]) if match[3] else None
        if high is not None and low > high:
            return high, low, False, True
        return low, high, bool(match[2]) and self._took("?"), False

    def _times(self, part: _Part, low: int, high: int | None, lazy: bool) -> _Part:
        sign = next((sign for sign, times in _SIMPLE.items() if times == (low, high)), "")
        count = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        endless = part.text in _ANY and part.kind == "atom" and high is None
        return _Part(self._atom(part) + (sign or count) + ("?" if lazy else ""),
                     "repeat" if sign and not lazy else "group", empty=not low or part.empty,
                     any_first=endless or part.any_first, passes=part.passes)

    def _atomic(self, part: _Part) -> _Part:
        """A part that gives nothing back."""
        if self._behind:
            raise Untranslated("what gives nothing back, and is looked behind")
        if part.kind == "repeat":
            return replace(part, text=part.text + "+", kind="group")
        return replace(part, text=f"(?>{self._written(part)})", kind="atom", parts=())

    # --- one part ---

    def _one(self) -> _Part:
        sign = self._next()
        if sign in _SIMPLE or self._interval():
            raise Untranslated(f"{sign} without what it repeats")
        self._at += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._folded(self._brackets())
        if sign == "\\":
            return self._escaped()
        if sign in _PLACES:
            return _Part(_PLACES[sign], "place", empty=True)
        return _Part(_ANY["m" not in self._options]) if sign == "." else self._letter(sign)

    def _letter(self, letter: str) -> _Part:
        return _Part(letter, "letters", "i" in self._options)

    def _folded(self, found: Class) -> _Part:
        """A class in brackets, which under (?i) has the other cases of its characters, and those that are
        several.
        """
        if "i" not in self._options:
            return _Part(found.written())
        one, *several = classes.in_any_case(found.written(), found.negated)
        if several and self._behind:
            raise Untranslated(
                "a class under (?i) whose characters are several in another case, and (?<= or (?<! around it"
            )
        return self._either([_Part(text) for text in (one, *several)]) if several else _Part(one)

    def _escaped(self) -> _Part:
        letter = self._escape()
        if letter in "wWdDsShHpP":
            return _Part(self._class(letter, bare=True).written())
        if letter in "bB" and self._behind:
            raise Untranslated(rf"\{letter} that is looked behind")
        if "\\" + letter in _PLACES:
            return _Part(_PLACES["\\" + letter], "place", empty=True)
        if letter in "ON":
            return _Part(_ANY[letter == "N"])
        if letter == "R":
            return self._atomic(_Part(r"\r\n|[\n-\r\x85\u2028\u2029]", "choice"))
        if letter in _REFUSED:
            raise Untranslated(_REFUSED[letter])
        if letter == "k" and self._next() in ("<", "'"):
            match = self._match(r"(?:<([^\W\d]\w*|[0-9]{1,9})>|'([^\W\d]\w*|[0-9]{1,9})')")
            if match is None:
                raise Untranslated(r"\k to another group than one by its name or number")
            name = match[1] or match[2]
            by_number = name.isdecimal()
            if not by_number and name not in self._names:
                raise Untranslated(rf"\k to the group {name[:40]!r}, which is not there before it")
            return self._again(int(name) if by_number else self._names[name], by_number)
        if letter in "123456789":
            self._at -= 1
            match = self._match("[0-9]{1,9}")
            if match and (len(match[0]) == 1 or int(match[0]) <= self._groups):
                return self._again(int(match[0]), by_number=True)
            self._at -= len(match[0]) - 1 if match else 0
        return self._letter(self._literal(letter))

    def _again(self, number: int, by_number: bool) -> _Part:
        """The text that a group matched."""
        if self._named and by_number:
            raise Untranslated("a reference by number beside groups with names")
        if not 0 < number <= self._groups or number in self._open:
            raise Untranslated("a reference to a group that does not end before it")
        if "i" in self._options or self._behind:
            raise Untranslated("a reference to a group under (?i), or looked behind")
        self._referred.add(number)
        return _Part(f"(?P=g{number})", empty=True)

    # --- groups ---

    def _group(self) -> _Part:
        """The group after a `(`."""
        if self._took("*"):
            raise Untranslated("(*, a callout")
        if not self._took("?"):
            return self._capturing("")
        for sign in ("<=", "<!", "=", "!"):
            if self._took(sign):
                return self._look(sign)
        if self._took(">"):
            return self._atomic(self._closed())
        if self._took(":"):
            return self._closed()
        if options := self._match("([a-zA-Z-]+):"):
            return self._under(options[1], self._closed)
        sign = self._next()
        if sign not in ("<", "'"):
            unknown = "a group that begins with (? and another sign than Oniguruma knows"
            raise Untranslated(_GROUPS.get(sign, unknown))
        match = self._match(r"<([^\W\d]\w*)>|'([^\W\d]\w*)'")
        if match is None:
            raise Untranslated("a group with a broken name")
        name = match[1] or match[2]
        if name in self._names:
            raise Untranslated(f"two groups of the name {name[:40]!r}")
        return self._capturing(name)

    def _look(self, sign: str) -> _Part:
        behind = len(sign) == 2
        if behind and self._behind:
            raise Untranslated("a look behind that is looked behind")
        self._behind += behind
        text = self._written(self._closed())
        self._behind -= behind
        return _Part(f"(?{sign}{text})", "place", empty=True)

    def _closed(self) -> _Part:
        """The inside of a group, and its end."""
        part = self._choice()
        if not self._took(")"):
            raise Untranslated("( without )")
        return part

    def _capturing(self, name: str) -> _Part:
        if self._named and not name:
            return self._closed()
        self._groups += 1
        number = self._groups
        if name:
            self._names[name] = number
        self._open.add(number)
        body = self._closed()
        self._open.discard(number)
        return replace(body, text=f"(\0{number}\0{self._written(body)})", kind="atom", parts=())
