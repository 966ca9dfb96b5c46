"""Translate patterns of Oniguruma, which Hugging Face's files use, into equivalent patterns of the `regex`
library.

The syntax is Oniguruma's own, with the defaults of version 6.9. A recursive-descent parser writes the
translation as it reads. The grammar covers what tokenizer files use. Everything else (calls of groups,
conditions, characters by their bytes), and syntax without an exact equivalent, is refused by name. Source:
`doc/RE` and `regparse.c` of Oniguruma.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from tokentui.formats.oniguruma import classes
from tokentui.formats.oniguruma.classes import Brackets, Class, Untranslated, shown
from tokentui.text.split import SPLITS

__all__ = ["END", "Untranslated", "pattern_of", "translated"]

END = r"(?![\s\S])"
"""Matches the end of a text."""


@functools.lru_cache(maxsize=64)
def translated(pattern: str) -> str:
    """Translate an Oniguruma pattern to the `regex` library.

    Raises:
        Untranslated: It is invalid, or contains syntax that is not translated.
    """
    translator = _Translator(pattern)
    text = translator.whole()
    referred = frozenset(translator.referred)
    return _Translator(pattern, referred).whole() if referred else text


def pattern_of(split: str) -> str:
    """Return the pattern of a split in Oniguruma's syntax, where counted repeats cannot be possessive and `$`
    is the end of a line."""
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    pattern = SPLITS[split].pattern.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++" + END)
    return pattern.replace("(?s).+", r"[\s\S]+")


_CHOICE, _ROW, _REPEAT, _ATOM = range(4)
"""How tightly the text of a part binds, from the loosest: alternatives; a sequence, or a repeat that cannot
become possessive; a part followed by `*`, `+` or `?`; an atom that a repeat may follow."""


class _Translated(NamedTuple):
    """The translation of a part of a pattern.

    Attributes:
        text: The translation.
        level: How tightly the translation binds.
        place: True if it is an assertion, which consumes no character.
        empty: True if it may match the empty text.
        any_first: True if it begins with an unbounded repeat of `.`.
        passes: True if it has an assertion before such a `.`. Oniguruma tries a match with such a start only
            at the beginning of a line, whatever the assertion is.
        letters: The letters, for literal text under (?i); else empty.
        parts: The parts of a sequence; of more than three, the first, the middle ones as one, and the last.
    """

    text: str
    level: int = _ATOM
    place: bool = False
    empty: bool = False
    any_first: bool = False
    passes: bool = False
    letters: str = ""
    parts: tuple[_Translated, ...] = ()

    @property
    def atom(self) -> str:
        """The translation as an atom that a repeat may follow."""
        return self.text if self.level == _ATOM else f"(?:{self.text})"

    def closed(self, text: str) -> _Translated:
        """Return an atom with another text. An atom never merges with its neighbors."""
        return self._replace(text=text, level=_ATOM, place=False, letters="", parts=())


def _row(parts: list[_Translated]) -> _Translated:
    """Return a sequence of parts as one."""
    if len(parts) == 1:
        return parts[0]
    any_first = passes = False
    for n, part in enumerate(reversed(parts)):  # from the last part to the first
        condition = n > 0 and part.place
        passes = any_first if condition and part.text not in _LINE_STARTS else part.passes
        any_first = any_first if condition else part.any_first
    text = "".join(part.atom if part.level == _CHOICE else part.text for part in parts)
    return _Translated(text, _ROW, bool(parts) and all(part.place for part in parts),
                 all(part.empty for part in parts), any_first, passes)


def _either(branches: list[_Translated]) -> _Translated:
    """Return alternatives as one part."""
    if len(branches) == 1:
        return branches[0]
    return _Translated(
        "|".join(branch.text for branch in branches), _CHOICE, empty=any(branch.empty for branch in branches),
        any_first=any(branch.any_first for branch in branches),
        passes=any(branch.passes for branch in branches),
    )


class _Group(NamedTuple):
    """A group that may be referred to.

    Attributes:
        number: Its number among all such groups, from 1.
        name: Its name; empty if it has none.
        looks: The negative lookaheads and the lookbehinds that it is in.
        repeats: True if it, or a group around it, is repeated and has ended.
        empty: True if it may match the empty text; None if it is not closed yet.
    """

    number: int
    name: str
    looks: tuple[int, ...]
    repeats: bool = False
    empty: bool | None = None


_ANY = (r"[\s\S]", r"[^\n]")
"""Translations of `.`, with and without line ends."""
_LINE_STARTS = (r"\A", r"(?:\A|(?<=\n)(?!\Z))")
_KEEP = r"\K"
_COMMENT = r"\(\?#(?:\\[\s\S]|[^\\)])*\)"
_BLANK = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|#[^\n]*\n?"
"""The white space of Oniguruma, and a comment up to the end of its line."""
_MOST_TIMES = 100_000
_DEEPEST = 60
_SIMPLE = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_PLACES = {
    "^": _LINE_STARTS[1], "$": r"(?=\n|\Z)", r"\A": r"\A", r"\z": r"\Z", r"\Z": r"(?=\n?\Z)",
    r"\b": r"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
    r"\B": r"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
}


class _Translator(Brackets):
    """Reads a pattern and writes its translation. Methods raise `Untranslated`.

    Args:
        pattern: The pattern.
        captured: The numbers of the groups that are written as groups that capture.
    """

    def __init__(self, pattern: str, captured: Collection[int] = ()) -> None:
        super().__init__(pattern)
        self._options: frozenset[str] = frozenset()
        self._depth = self._behind = self._within = 0
        self._captured = captured
        self._groups: list[_Group] = []
        self._looks: tuple[int, ...] = ()
        self._by_number = ""
        self._from_start = False
        self.referred: set[int] = set()
        """The numbers of the groups that references name."""

    def whole(self) -> str:
        """Return the translation of the whole pattern.

        Raises `Untranslated` for what `regex` would read otherwise.
        """
        part = self._choice()
        if self._at < len(self._text):
            raise Untranslated(") without (")
        if self._by_number and any(group.name for group in self._groups):
            raise Untranslated(f"{self._by_number} beside a group with a name")
        if self._from_start and part.empty:
            raise Untranslated(r"\G in a pattern that may match nothing")
        if part.passes:
            raise Untranslated(
                "a . without an end after a condition, which Oniguruma looks for at the begin of a line alone"
            )
        return part.text

    # --- alternatives, rows, repeats ---

    def _choice(self) -> _Translated:
        """Read alternatives up to the end of the group. The options before the group are restored at its end.

        Raises `Untranslated` for groups too deep in one another.
        """
        before = self._options
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Untranslated("groups too deep in one another")
        branches = [self._branch()]
        while self._took("|"):
            branches.append(self._branch())
        self._options = before
        self._depth -= 1
        return _either(branches)

    def _branch(self) -> _Translated:
        """Translate the items up to the next `|` or `)`. Options in between hold for all that follows in the
        group, alternatives included."""
        parts: list[_Translated] = []
        self._skip()
        while self._next() not in ("", "|", ")"):
            if options := self._match(r"\(\?([a-zA-Z-]+)\)"):
                # for all that follows in the group, alternatives and all
                parts.append(self._under(options[1], self._choice))
                break
            before = len(self._groups)
            parts.append(self._repeated(self._one(), before))
            self._skip()
        return self._joined(parts)

    def _skip(self) -> None:
        """Skip comments; under (?x) also white space, and comments up to the end of a line."""
        while self._match(_COMMENT) or ("x" in self._options and self._match(_BLANK)):
            pass

    def _joined(self, parts: list[_Translated]) -> _Translated:
        """Return a sequence of parts as one. Adjacent letters are written together if they may be one
        character in another case, also inside a nested sequence."""
        kept = [n for n, part in enumerate(parts) if part.text == _KEEP]
        if kept and all(part.empty for part in parts[kept[-1] + 1 :]):
            raise Untranslated(r"\K before what may be empty")
        runs: list[list[_Translated]] = []
        for atom in (atom for part in parts for atom in part.parts or (part,)):
            last = runs[-1][-1].letters if runs else ""
            if last and atom.letters and classes.joins(last, atom.letters):
                runs[-1].append(atom)
            else:
                runs.append([atom])
        out = [
            run[0] if len(run) == 1 else self._any_case("".join(piece.letters for piece in run))
            for run in runs
        ]
        if len(out) < 2:
            return _row(out)
        within = out if len(out) < 4 else [out[0], _row(out[1:-1]), out[-1]]
        return _row(out)._replace(parts=tuple(within))

    def _under(self, letters: str, read: Callable[[], _Translated]) -> _Translated:
        """Read a part under options, such as `i-m`, and restore the options. The letters of the part do not
        join its neighbors.

        Args:
            letters: The options: those to set, then a hyphen and those to unset.
            read: Reads the part.

        Raises:
            Untranslated: An option is not supported.
        """
        before = self._options
        set_, _, off = letters.partition("-")
        if odd := {*set_} - {*"imx"} | {*off} - {*"imx-"}:
            raise Untranslated(f"the option {min(odd)}")
        self._options = before.union(set_).difference(off)
        part = read()
        self._options = before
        return part._replace(letters="", parts=())  # its letters join no others

    def _repeated(self, part: _Translated, groups: int) -> _Translated:
        """Read the repeats after a part, and return the repeated part, as it is without any.

        `groups` is the number of groups before it. Raises `Untranslated` for a repeat of what may be empty.
        """
        while True:
            self._skip()
            sign = self._next()
            if sign in _SIMPLE:
                self._at += 1
                low, high = _SIMPLE[sign]
                lazy = self._took("?")
                possessive = not lazy and self._took("+")
            elif interval := self._interval():
                low, high, lazy, possessive = interval
            else:
                return part
            if part.place:
                raise Untranslated("a repeat of what matches no character")
            if part.empty and (high is None or high > 1):
                # A repeat ends after an empty round, also before its least number: `(?:^a?a?){2}` matches
                # nothing of "a", although two rounds could match it.
                raise Untranslated("a repeat of what may be empty")
            if (low, high, possessive) == (1, 1, False):
                continue  # letters join across it
            if high is None or high > 1:
                self._groups[groups:] = [group._replace(repeats=True) for group in self._groups[groups:]]
            part = self._times(part, low, high, lazy)
            if possessive:
                part = self._atomic(part)

    def _interval(self) -> tuple[int, int | None, bool, bool] | None:
        """Read `{2}`, `{2,}`, `{,3}` or `{2,3}` as (least, most, lazy, possessive), `most` None for no limit,
        and advance.

        A `?` after it makes it lazy if it has a comma. If the larger number comes first, it is possessive, as
        in Oniguruma; a `+` after it is not read. Return None without a step forward if it is literal text.

        Raises:
            Untranslated: A number is over `_MOST_TIMES`.
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

    def _times(self, part: _Translated, low: int, high: int | None, lazy: bool) -> _Translated:
        """Return the part repeated, with the shortest sign. A lazy or counted one takes no further sign.

        `high` is None without an upper bound.
        """
        sign = next((sign for sign, times in _SIMPLE.items() if times == (low, high)), "")
        count = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        return _Translated(part.atom + (sign or count) + "?" * lazy, _REPEAT if sign and not lazy else _ROW,
                     empty=not low or part.empty, passes=part.passes,
                     any_first=(part.text in _ANY and high is None) or part.any_first)

    def _atomic(self, part: _Translated) -> _Translated:
        """Return an atomic group of a part. Raises `Untranslated` in a look-behind."""
        if self._behind:
            raise Untranslated("what gives nothing back, and is looked behind")
        if part.level == _REPEAT:
            return part._replace(text=part.text + "+", level=_ROW)
        return part.closed(f"(?>{part.text})")

    # --- one part ---

    def _one(self) -> _Translated:
        """Translate one item of a sequence: a group, a set, an escape, a place or a character.

        Raises `Untranslated` for a repeat without an item.
        """
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
            return _Translated(_PLACES[sign], place=True, empty=True)
        return _Translated(_ANY["m" not in self._options]) if sign == "." else self._letter(sign)

    def _letter(self, letter: str) -> _Translated:
        return self._any_case(letter) if "i" in self._options else _Translated(shown(letter))

    def _any_case(self, letters: str) -> _Translated:
        """Return the alternatives for letters under (?i).

        Raises `Untranslated` in a look-behind if another case of them is longer.
        """
        ways = classes.in_any_case(letters)
        if self._behind and any(len(texts) > 1 for texts in ways):
            raise Untranslated("a text under (?i) that is longer in another case, and (?<= or (?<! around it")
        text = "".join(texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})" for texts in ways)
        return _Translated(text, _ATOM if len(letters) == 1 else _ROW, letters=letters)

    def _folded(self, class_: Class) -> _Translated:
        """Return a class in brackets. Under (?i) it includes other cases of its characters.

        Those may be several characters; raises `Untranslated` if so in a look-behind.
        """
        if "i" not in self._options:
            return _Translated(class_.written())
        atom, *several = classes.class_in_any_case(class_.written(), class_.negated)
        if several and self._behind:
            raise Untranslated(
                "a class under (?i) whose characters are several in another case, and (?<= or (?<! around it"
            )
        return _either([_Translated(text) for text in (atom, *several)])

    def _escaped(self) -> _Translated:
        """Translate the escape sequence at this place: a class, a place, a reference or a character.

        Raises:
            Untranslated: It means something that `regex` cannot say.
        """
        letter = self._escape()
        if letter in "wWdDsShHpP":
            return _Translated(self._class(letter, bare=True).written())
        if letter in "bB" and self._behind:
            raise Untranslated(rf"\{letter} that is looked behind")
        if "\\" + letter in _PLACES:
            word = classes.of_type("w", bare=True).written() if letter in "bB" else ""
            return _Translated(_PLACES["\\" + letter].replace("{word}", word), place=True, empty=True)
        if letter in "ON":
            return _Translated(_ANY[letter == "N"])
        if letter == "R":
            return self._atomic(_Translated(r"\r\n|[\n-\r\x85\u2028\u2029]", _CHOICE))
        if letter in "123456789k":
            return self._reference(letter)
        if letter == "G" and not self._behind:
            self._from_start = True
            return _Translated(r"\G", place=True, empty=True)
        if letter == "K" and not self._within:
            return _Translated(_KEEP, place=True, empty=True)
        if letter == "X":
            raise Untranslated(r"\X, whose characters differ between versions of Unicode")
        if letter in "GK":
            raise Untranslated(rf"\{letter} in a group" if letter == "K" else r"\G that is looked behind")
        if letter in "yYg":
            raise Untranslated(rf"\{letter}")
        return self._letter(self._literal(letter))

    # --- groups ---

    def _group(self) -> _Translated:
        """Read a group after its `(`. Raises `Untranslated` for one of a kind that is not known."""
        if (name := self._match(r"\?(?:<([^\W\d]\w*)>|'([^\W\d]\w*)')")) or self._next() not in ("?", "*"):
            return self._captures("" if name is None else name[name.lastindex or 0])
        if not self._took("?"):
            raise Untranslated("(*")
        for sign in ("<=", "<!", "=", "!"):
            if self._took(sign):
                return self._look(sign)
        if self._took(">"):
            return self._atomic(self._closed())
        if self._took(":"):
            return self._closed()
        if options := self._match("([a-zA-Z-]+):"):
            return self._under(options[1], self._closed)
        raise Untranslated(f"(?{self._next()}")

    def _look(self, sign: str) -> _Translated:
        """Translate a look-around from the current place.

        Raises `Untranslated` for a look-behind in another.
        """
        behind = len(sign) == 2
        if behind and self._behind:
            raise Untranslated("a look behind that is looked behind")
        before = self._looks
        self._looks += (self._at,) * (sign != "=")
        self._behind += behind
        inside = self._closed()
        self._behind -= behind
        self._looks = before
        return _Translated(f"(?{sign}{inside.text})", place=True, empty=True)

    def _closed(self) -> _Translated:
        """Read the inside of a group and its closing parenthesis. Raises `Untranslated` without one."""
        self._within += 1
        part = self._choice()
        self._within -= 1
        if not self._took(")"):
            raise Untranslated("( without )")
        return part

    def _captures(self, name: str) -> _Translated:
        """Read the inside of a group that references may name, and its closing parenthesis."""
        number = len(self._groups) + 1
        self._groups.append(_Group(number, name, self._looks))
        inside = self._closed()
        self._groups[number - 1] = self._groups[number - 1]._replace(empty=inside.empty)
        opening = f"(?P<g{number}>" if number in self._captured else "(?:"
        return inside.closed(f"{opening}{inside.text})")

    def _reference(self, letter: str) -> _Translated:
        r"""Read a reference to a group after its first letter: `\1`, `\k<1>`, `\k<-1>` or `\k<name>`.

        Raises `Untranslated` unless one group ends before it, is not repeated, and no case or look is around.
        """
        match = self._match("<([^>]*)>|'([^']*)'" if letter == "k" else "[0-9]*")
        if match is None:
            raise Untranslated(r"\k without a name")
        written = "\\" + letter + match[0]
        wanted = match[match.lastindex or 0] if letter == "k" else letter + match[0]
        if re.fullmatch("-?[0-9]{1,5}", wanted):
            self._by_number = written
            number = int(wanted) if int(wanted) > 0 else len(self._groups) + 1 + int(wanted)
            found = self._groups[number - 1 : number] if wanted.strip("-0") else []
        else:
            found = [group for group in self._groups if group.name == wanted and wanted]
        if len(found) != 1 or found[0].empty is None:
            raise Untranslated(f"{written}, which refers to no group that ends before it")
        group = found[0]
        if "i" in self._options or self._behind or self._looks[: len(group.looks)] != group.looks:
            raise Untranslated(f"{written} under (?i), or a look around it or around its group")
        if group.repeats:  # `regex` does not try all ways to repeat it: `(\w{1,2})*\1` matches no "abb"
            raise Untranslated(f"{written}, which refers to a group that is repeated")
        self.referred.add(group.number)
        return _Translated(f"(?P=g{group.number})", empty=bool(group.empty))
