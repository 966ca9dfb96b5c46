"""Reads a pattern in Oniguruma's own syntax, as version 6.9 has it where nothing is asked for: from text to a
tree.

Source: `doc/RE` and `regparse.c` of Oniguruma. What has no exact counterpart is refused by its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tokentui.formats.oniguruma import cases
from tokentui.formats.oniguruma.classes import (
    BARE_WORD,
    Brackets,
    Class,
    Untranslated,
    in_brackets,
    of_name,
    of_type,
)
from tokentui.formats.oniguruma.tree import (
    ANY,
    LINE_STARTS,
    Again,
    Around,
    At,
    Captured,
    Choice,
    Letters,
    Node,
    OneOf,
    Row,
    Times,
    may_be_empty,
    passes_places_over,
    row,
)

_INTERVAL = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_MOST_TIMES = 100_000
_DEEPEST = 60
_NAME = re.compile(r"([^\W\d]\w*)([>'])")
_REFERENCE = re.compile(r"(?:<([^\W\d]\w*|[0-9]+)>|'([^\W\d]\w*|[0-9]+)')")
_OPTIONS = re.compile(r"([a-zA-Z-]*)([:)])")
_WORD = f"[{BARE_WORD}]"
_PLACES = {
    "A": r"\A", "z": r"\Z", "Z": r"(?=\n?\Z)",
    "b": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_LINE_START, _LINE_END = LINE_STARTS[1], r"(?=\n|\Z)"
_ONE_OF = {"O": ANY[0], "N": ANY[1]}
_NEWLINE = Around(">", Choice((Letters("\r\n"), OneOf(r"[\n-\r\x85\u2028\u2029]"))))
_REFUSED = {
    "K": r"\K, which keeps what stands before it", "X": r"\X, a grapheme",
    "y": r"\y, a boundary of graphemes",
    "Y": r"\Y, no boundary of graphemes", "G": r"\G, where the search began", "g": r"\g, the call of a group",
}
_GROUPS = {
    "~": "(?~, an absent operator", "{": "(?{, a callout", "(": "(?(, a condition",
    "@": "(?@, a capture history",
}


@dataclass(frozen=True, slots=True)
class _Options:
    fold: bool = False
    all_: bool = False
    spaced: bool = False


def read(pattern: str) -> Node:
    """The tree of a pattern.

    Raises:
        Untranslated: It holds what is not translated, or is none.
    """
    return _Reader(pattern).whole()


class _Reader(Brackets):
    """A pattern and the place that is read next."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._options = _Options()
        self._groups = 0
        self._open: set[int] = set()
        self._names: dict[str, int] = {}
        self._named = re.search(r"\(\?(?:<(?![=!])|')", pattern) is not None
        self._depth = 0
        self._behind = 0

    def whole(self) -> Node:
        """The tree of all of it."""
        node = self._choice()
        if self.at < len(self.text):
            raise Untranslated(") without (")
        if passes_places_over(node):
            raise Untranslated(
                "a . without an end after a condition, which Oniguruma looks for at the begin of a line alone"
            )
        return node

    def _choice(self) -> Node:
        """Alternatives up to the end of the group, with the options that stood before it put back."""
        before = self._options
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untranslated("groups too deep in one another")
        branches = [self._branch()]
        while self.took("|"):
            branches.append(self._branch())
        self._options = before
        self._depth -= 1
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _branch(self) -> Node:
        parts: list[Node] = []
        while True:
            self._skip()
            if self.at == len(self.text) or self.text[self.at] in "|)":
                return row(parts)
            node, isolated = self._one()
            if isolated:  # options for all that follows in the group, alternatives and all
                return row([*parts, node])
            parts.append(self._repeated(node))

    def _skip(self) -> None:
        """Pass over comments, and over what means nothing in the extended form."""
        while True:
            if self.text.startswith("(?#", self.at):
                match = re.compile(r"(?s)\(\?#(?:\\.|[^\\)])*\)").match(self.text, self.at)
                if match is None:
                    raise Untranslated("a comment without an end")
                self.at = match.end()
            elif self._options.spaced and self.text[self.at : self.at + 1] in (*" \t\n\r\f",):
                self.at += 1
            elif self._options.spaced and self.text.startswith("#", self.at):
                end = self.text.find("\n", self.at)
                self.at = end + 1 if end >= 0 else len(self.text)
            else:
                return

    def _repeated(self, node: Node) -> Node:
        """A node with the repeats that follow it."""
        while True:
            self._skip()
            sign = self.text[self.at : self.at + 1]
            if not sign or sign not in "?*+{":
                return node
            lazy = possessive = False
            if sign == "{":
                found = self._interval()
                if found is None:
                    return node
                low, high, possessive, fixed = found
                lazy = not (possessive or fixed) and self.took("?")
            else:
                self.at += 1
                low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
                lazy = self.took("?")
                possessive = not lazy and self.took("+")
            if isinstance(node, At) or (isinstance(node, Around) and node.sign != ">"):
                raise Untranslated("a repeat of what matches no character")
            if high is None and may_be_empty(node):
                raise Untranslated("a repeat without an end of what may be empty")
            node = Times(node, low, high, lazy)
            if possessive:
                self._atomic()
                node = Around(">", node)

    def _interval(self) -> tuple[int, int | None, bool, bool] | None:
        """(least, most, whether it is possessive, whether it is one number) of a `{…}`; None where it is mere
        text.

        With the greater number first it is possessive.
        """
        match = _INTERVAL.match(self.text, self.at)
        if match is None or not (match[1] or match[3]):
            return None
        self.at = match.end()
        if max(len(match[1]), len(match[3])) > 6 or max(int(match[1] or 0), int(match[3] or 0)) > _MOST_TIMES:
            raise Untranslated(f"a repeat of more than {_MOST_TIMES:,} times")
        low = int(match[1] or 0)
        high = low if not match[2] else int(match[3]) if match[3] else None
        if high is not None and low > high:
            return high, low, True, False
        return low, high, False, not match[2]

    def _one(self) -> tuple[Node, bool]:
        """The next node, and whether it is options that hold up to the end of the group."""
        sign = self.text[self.at]
        self.at += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._folded(self.brackets()), False
        if sign == "\\":
            return self._escaped(), False
        if sign == ".":
            return OneOf(ANY[0] if self._options.all_ else ANY[1]), False
        if sign in "^$":
            return At(_LINE_START if sign == "^" else _LINE_END), False
        if sign in "?*+":
            raise Untranslated(f"{sign} without what it repeats")
        if sign == "{":
            self.at -= 1
            if self._interval() is not None:
                raise Untranslated("{ without what it repeats")
            self.at += 1
        return Letters(sign, self._options.fold), False

    def _folded(self, found: Class) -> Node:
        """A class in brackets, which under (?i) has the other cases of its characters, and those that are
        several.
        """
        text, negated = found.written(), found.negated
        if not self._options.fold:
            return OneOf(text)
        matched = cases.plainly(text)
        inner = set(cases.cased()) - matched if negated else matched
        closed = cases.closed(inner)
        more = "".join(map(in_brackets, sorted(closed - inner)))
        if negated:
            return OneOf(rf"(?:(?![{more}]){text})" if more else text)
        simple = text.startswith("[") and not text.startswith("[^")
        joined = f"{text[:-1]}{more}]" if simple else f"(?:[{more}]|{text})"
        one = OneOf(joined if more else text)
        several = cases.folding_to_several(inner)
        if not several:
            return one
        if self._behind:
            raise Untranslated(
                "a class under (?i) whose characters are several in another case, and (?<= or (?<! around it"
            )
        rows = [Row(tuple(OneOf(f"[{''.join(map(in_brackets, letters))}]")
                          for letters in cases.several(folded)))
                for folded in several]
        return Choice((one, *rows))

    def _escaped(self) -> Node:
        letter = self.escape()
        if letter in "wWdDsShH":
            return OneOf(of_type(letter, bare=True).written())
        if letter in "pP":
            return OneOf(of_name(*self.property_(letter), bare=True).written())
        if letter in "bB" and self._behind:
            raise Untranslated(rf"\{letter} that is looked behind")
        if letter in _PLACES:
            return At(_PLACES[letter])
        if letter in _ONE_OF:
            return OneOf(_ONE_OF[letter])
        if letter == "R":
            self._atomic()
            return _NEWLINE
        if letter in _REFUSED:
            raise Untranslated(_REFUSED[letter])
        if letter == "k" and self.text[self.at : self.at + 1] in ("<", "'"):
            return self._named_again()
        if letter in "123456789":
            number = re.compile("[0-9]+").match(self.text, self.at - 1)
            assert number is not None
            if len(number[0]) == 1 or int(number[0]) <= self._groups:
                self.at = number.end()
                return self._again(int(number[0]))
        return Letters(self.literal(letter), self._options.fold)

    def _named_again(self) -> Node:
        match = _REFERENCE.match(self.text, self.at)
        if match is None:
            raise Untranslated(r"\k to another group than one by its name or number")
        self.at = match.end()
        name = match[1] or match[2]
        if not name.isdigit() and name not in self._names:
            raise Untranslated(rf"\k to the group {name[:40]!r}, which is not there before it")
        return self._again(int(name) if name.isdigit() else self._names[name], named=not name.isdigit())

    def _again(self, number: int, named: bool = False) -> Node:
        if self._named and not named:
            raise Untranslated("a reference by number beside groups with names")
        if not 0 < number <= self._groups or number in self._open:
            raise Untranslated("a reference to a group that does not end before it")
        if self._options.fold or self._behind:
            raise Untranslated("a reference to a group under (?i), or looked behind")
        return Again(number)

    # --- groups ---

    def _group(self) -> tuple[Node, bool]:
        """The group after a `(`."""
        if self.took("*"):
            raise Untranslated("(*, a callout")
        if not self.took("?"):
            return self._capturing(None), False
        for sign in ("<=", "<!", "=", "!", ">"):
            if self.took(sign):
                if len(sign) == 2 and self._behind:
                    raise Untranslated("a look behind that is looked behind")
                self._behind += len(sign) == 2
                if sign == ">":
                    self._atomic()
                body = self._closed()
                self._behind -= len(sign) == 2
                return Around(sign, body), False
        if self.took(":"):
            return self._closed(), False
        sign = self.text[self.at : self.at + 1]
        if sign in ("<", "'"):
            match = _NAME.match(self.text, self.at + 1)
            if match is None or match[2] != (">" if sign == "<" else "'"):
                raise Untranslated("a group with a broken name")
            if match[1] in self._names:
                raise Untranslated(f"two groups of the name {match[1][:40]!r}")
            self.at = match.end()
            return self._capturing(match[1]), False
        if sign in _GROUPS:
            raise Untranslated(_GROUPS[sign])
        return self._with_options()

    def _atomic(self) -> None:
        """Told of what gives nothing back."""
        if self._behind:
            raise Untranslated("what gives nothing back, and is looked behind")

    def _closed(self) -> Node:
        """The inside of a group, and its end."""
        node = self._choice()
        if not self.took(")"):
            raise Untranslated("( without )")
        return node

    def _capturing(self, name: str | None) -> Node:
        if self._named and name is None:
            return self._closed()
        self._groups += 1
        number = self._groups
        if name is not None:
            self._names[name] = number
        self._open.add(number)
        body = self._closed()
        self._open.discard(number)
        return Captured(number, body)

    def _with_options(self) -> tuple[Node, bool]:
        match = _OPTIONS.match(self.text, self.at)
        if match is None or not match[1]:
            raise Untranslated("a group that begins with (? and another sign than Oniguruma knows")
        options, set_ = self._options, True
        for letter in match[1]:
            if letter == "-":
                set_ = False
            elif letter in "imx":
                options = replace(options, **{{"i": "fold", "m": "all_", "x": "spaced"}[letter]: set_})
            else:
                raise Untranslated(f"the option {letter}")
        self.at = match.end()
        before, self._options = self._options, options
        node = self._choice() if match[2] == ")" else self._closed()
        self._options = before
        return node, match[2] == ")"
