"""Texts that record the place of each character in the text as typed, and patterns that cut them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.formats.source import Node
from tokentui.text import patterns
from tokentui.text.normalize import Stage, align
from tokentui.text.split import compile_pattern
from tokentui.text.unicode import TABLES

if TYPE_CHECKING:
    import regex

CharRange = tuple[int, int]
"""A half-open range of characters: (start, end)."""
Places = tuple[Sequence[int], Sequence[int]]
_DEEPEST = 64


class AlignedText:
    """A string whose character n comes from the characters `starts[n]` to `ends[n]` (half-open) of the text
    as typed.

    The places are computed at first use. Ids alone do not need them.

    Args:
        text: The string.
        places: Returns (starts, ends).
        depth: The length of the chain of texts that the places are computed from.
    """

    def __init__(self, text: str, places: Callable[[], Places], depth: int = 0) -> None:
        self.text = text
        self._worked_out = places
        self._depth = depth
        if depth > _DEEPEST:
            _, self._depth = self.places, 0

    @functools.cached_property
    def places(self) -> Places:
        """The starts and the ends."""
        return self._worked_out()

    @property
    def starts(self) -> Sequence[int]:
        """The start of each character in the text as typed."""
        return self.places[0]

    @property
    def ends(self) -> Sequence[int]:
        """The end of each character in the text as typed."""
        return self.places[1]

    @classmethod
    def typed(cls, text: str) -> AlignedText:
        """Return a text that is unchanged since it was typed."""
        return cls(text, lambda: (range(len(text)), range(1, len(text) + 1)))

    def respelled(self, text: str, places: Callable[[], Places] | None = None) -> AlignedText:
        """Return another text that replaces this one. Without `places` it must have equal length, and each
        character keeps its place."""
        return AlignedText(text, places or (lambda: self.places), self._depth + 1)

    def part(self, start: int, end: int) -> AlignedText:
        """Return the characters from `start` to `end`."""
        if start == 0 and end == len(self.text):
            return self
        return AlignedText(self.text[start:end], lambda: (self.starts[start:end], self.ends[start:end]),
                    self._depth + 1)

    def prepended(self, text: str) -> AlignedText:
        """Return the text with characters in front that have no origin: empty ranges at its start."""
        return self.edited(text + self.text, lambda: [(text, 0, 0), *self._characters(0, len(self.text))])

    def _characters(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """Yield the characters of a range as unchanged pieces for `edited`."""
        return ((self.text[n], n, n + 1) for n in range(start, end))

    def edited(self, text: str, pieces: Callable[[], Iterable[tuple[str, int, int]]]) -> AlignedText:
        """Return the concatenated text of pieces (text, start, end). Each text replaces the range `start` to
        `end` of this text.

        Args:
            text: The result.
            pieces: Returns the pieces in order.
        """
        def places() -> Places:
            """Return where each character of the edited text starts and ends in the typed text."""
            starts: list[int] = []
            ends: list[int] = []
            for piece, start, end in pieces():
                if len(piece) == end - start == 1:
                    starts.append(self.starts[start])
                    ends.append(self.ends[start])
                elif piece:
                    behind = self.ends[-1] if self.text else 0
                    low = self.starts[start] if start < len(self.starts) else behind
                    starts += [low] * len(piece)
                    ends += [self.ends[end - 1] if end > start else low] * len(piece)
            return starts, ends
        return AlignedText(text, places, self._depth + 1)

    def replaced(
        self, ranges: Callable[[], Sequence[CharRange]], content: str, text: str | None = None
    ) -> AlignedText:
        """Return the text with `content` in place of each range.

        Args:
            ranges: Returns the ranges in order.
            content: The replacement.
            text: The result, if it is known; None to compute it.
        """
        def kept() -> list[CharRange]:
            cuts = [0, *itertools.chain.from_iterable(ranges()), len(self.text)]
            return list(zip(cuts[::2], cuts[1::2], strict=True))

        def pieces() -> Iterator[tuple[str, int, int]]:
            for (start, end), span in itertools.zip_longest(kept(), ranges()):
                yield from self._characters(start, end)
                if span:
                    yield content, *span

        if text is None:
            text = content.join(self.text[start:end] for start, end in kept())
        return self.edited(text, pieces)

    def passed(self, stage: Stage) -> AlignedText:
        """Return the text after a stage of `normalize`."""
        def places() -> Places:
            result = align(stage, self.text)
            return [self.starts[at] for at in result.starts], [self.ends[at - 1] for at in result.ends]
        text = stage(self.text)
        return self if text == self.text else self.respelled(text, places)


_SHORT = 1 << 10
MOST_GROWTH = 64
"""How many times as long as before a step may make a text."""


def check_growth(before: int, after: int, where: str) -> None:
    """Refuse a step that makes a text much longer. No step of a real tokenizer comes near the limit.

    Args:
        before: The number of characters before the step.
        after: The number of characters after the step.
        where: The place of the step in the file.

    Raises:
        TokentuiError: The text is longer than the limit.
    """
    if after > max(_SHORT, MOST_GROWTH * before):
        what = f"{before:,} characters become {after:,}: more than {MOST_GROWTH} times as many"
        raise TokentuiError(what, where, "fix the step")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a step searches for: a text, or a pattern in Oniguruma's syntax.

    Attributes:
        kind: `String` or `Regex`.
        text: The text or the pattern.
    """

    kind: str
    text: str

    @classmethod
    def read(cls, node: Node) -> Pattern:
        """Read a pattern from its JSON value: text, {"String": …} or {"Regex": …}.

        Raises:
            TokentuiError: It is invalid, too large, or contains syntax that is not translated. The message
                names it.
        """
        from tokentui.formats.oniguruma import Untranslated  # few files have patterns of their own

        value = {"String": node.value} if isinstance(node.value, str) else node.mapping()
        if len(value) != 1 or not value.keys() <= {"String", "Regex"}:
            raise node.error('a pattern is {"String": …} or {"Regex": …}')
        (kind, text), = value.items()
        pattern = cls(kind, Node(text, None, node).text())
        if len(pattern.text) > _LARGEST_PATTERN:
            raise node.error("the pattern is too large", "write a shorter one")
        try:
            _compiled(pattern)
        except Untranslated as error:
            raise node.error(f"the pattern contains {error}", "write the pattern without it") from None
        except TokentuiError as error:
            raise node.error(error.what, error.hint) from None
        except (OverflowError, RecursionError, MemoryError):
            raise node.error("the pattern is too large", "write a shorter one") from None
        return pattern

    def find(self, text: str, where: str) -> Iterator[CharRange]:
        """Yield the matches in a text, from left to right, without overlap.

        Raises:
            TokentuiError: A match takes too long. The message has `where`.
        """
        return spans(self.compiled, text, f"{where}.pattern", self.seen)

    @property
    def seen(self) -> Seen:
        """Returns what the pattern reads in place of a text: the text itself if the pattern spells it, or
        spells a character that has stand-ins."""
        return str if self.kind == "String" or OWNER.lists(self.text) else OWNER.seen

    @property
    def compiled(self) -> regex.Pattern[str]:
        """The pattern compiled by `regex`."""
        return _compiled(self)


_LARGEST_PATTERN = 1 << 16
"""The most characters of a pattern."""


@functools.cache
def own_pattern(source: str) -> regex.Pattern[str]:
    """Return a pattern of this package, compiled at its first use."""
    import regex  # not before a text needs it: kernels do without

    return regex.compile(source)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: Pattern) -> regex.Pattern[str]:
    if pattern.kind == "Regex":
        from tokentui.formats.oniguruma import translated

        return compile_pattern(translated(pattern.text))
    import regex  # not before a text needs it: kernels do without

    # An empty text matches at every place, as in Hugging Face's library.
    return compile_pattern(regex.escape(pattern.text))


OWNER = TABLES["tokenizers"]
"""The Unicode tables of Hugging Face's library."""
Seen: TypeAlias = "Callable[[str], str]"
"""Returns what a pattern reads in place of a text: see `Tables.seen`."""


def spans(
    compiled: AnyPattern, text: str, where: str | None, seen: Seen = OWNER.seen
) -> Iterator[CharRange]:
    """Yield the spans of the matches of a compiled pattern. If `where` names a place in a file, each match
    has the time limit for patterns of files."""
    text = seen(text)
    if where is None:
        return (match.span() for match in compiled.finditer(text))
    return (match.span() for match in patterns.find_apart(compiled, text, where))


BEHAVIOURS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
"""What a split does with the matches of its pattern."""


AnyPattern: TypeAlias = "re.Pattern[str] | regex.Pattern[str]"
S = TypeVar("S", AlignedText, str)
"""A text with places, or a str if only words are needed."""


def split(
    text: S, pattern: AnyPattern, behavior: str, invert: bool = False, where: str | None = None,
    seen: Seen = OWNER.seen,
) -> list[S]:
    """Cut a text at the matches of a pattern; with `invert`, at the text between matches.

    Args:
        text: The text.
        pattern: The pattern.
        behavior: One of `BEHAVIOURS`.
        invert: True to treat the text between matches as the matches.
        where: The place of the pattern, for errors, if a match may be slow; None for a pattern that is always
            fast.
        seen: Returns what the pattern reads.

    Raises:
        TokentuiError: A match takes too long.
    """
    quick: Any = None
    if isinstance(text, str) and seen(text) is text:
        quick = _quick(text, pattern, behavior, invert, where)
    if quick is not None:
        return list(quick)
    typed = text if isinstance(text, str) else text.text
    matches = spans(pattern, typed, where, seen)
    parts: list[tuple[int, int, bool]] = []
    at = 0
    for start, end in matches:
        if at < start:
            parts.append((at, start, invert))
        parts.append((start, end, not invert))
        at = end
    if at < len(typed) or not parts:
        parts.append((at, len(typed), invert))
    ranges = [(start, end) for start, end in _ranges(parts, behavior) if start < end]
    part: Callable[[int, int], Any] = (
        (lambda start, end: text[start:end]) if isinstance(text, str) else text.part
    )
    return [part(start, end) for start, end in ranges]


def _quick(
    text: str, pattern: AnyPattern, behavior: str, invert: bool, where: str | None
) -> list[str] | None:
    """Split a text by one call of `regex`. None if that might give other parts."""
    if pattern.groups:
        return None
    if where is None:
        if behavior == "Removed":
            return list(filter(None, pattern.findall(text) if invert else pattern.split(text)))
        if behavior in ("Isolated", "Contiguous"):
            return list(filter(None, _kept(pattern, behavior).split(text)))
        return None
    wanted = invert if behavior == "Removed" else behavior == "Isolated"
    if not wanted:
        return None
    matches = patterns.find_all(pattern, text, where, "file-pattern-seconds")
    # Empty matches need `spans`. And `regex.split` also returns the text between matches, which `Removed`
    # keeps.
    if all(matches) and (behavior == "Removed" or "".join(matches) == text):
        return matches
    return None


@functools.lru_cache(maxsize=256)
def _kept(pattern: AnyPattern, behavior: str) -> AnyPattern:
    """Return a pattern for `regex.split` that keeps its matches: one by one, or in runs."""
    import regex  # not before a text needs it: kernels do without

    library: Any = re if isinstance(pattern, re.Pattern) else regex
    source = f"({pattern.pattern})" if behavior == "Isolated" else f"((?:{pattern.pattern})+)"
    compiled: AnyPattern = library.compile(source, pattern.flags)
    return compiled


def _ranges(parts: list[tuple[int, int, bool]], behavior: str) -> list[tuple[int, int]]:
    """Return the parts of a text by the behavior of a step Split: matches and what is between them, joined
    or not."""
    if behavior == "Removed":
        return [(start, end) for start, end, is_match in parts if not is_match]
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in parts]
    backward = behavior == "MergedWithNext"
    out: list[tuple[int, int]] = []
    before = False
    for start, end, is_match in reversed(parts) if backward else parts:
        joins = is_match == before if behavior == "Contiguous" else is_match and not before
        if joins and out:
            out[-1] = (start, out[-1][1]) if backward else (out[-1][0], end)
        else:
            out.append((start, end))
        before = is_match
    return out[::-1] if backward else out


# --- scripts ---

# The script of a character by Hugging Face's `UnicodeScripts`: the table of Unicode 9. Hiragana, Katakana
# and ー count as Han. Later characters, unassigned ones and the space have no script and stay with the text
# before them.
_SCRIPTS = (
    "Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans "
    "Cari Cham Cher Copt Cprt Cyrl Deva Dsrt Dupl Egyp Elba Ethi Geor Glag Goth Gran Grek Gujr Guru Hang "
    "Hano Hatr Hebr Hluw Hmng Hung Ital Java Kali Khar Khmr Khoj Knda Kthi Lana Lao Latn Lepc Limb Lina "
    "Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Miao Mlym Modi Mong Mro Mtei Mult Mymr Narb "
    "Nbat Newa Nko Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli Phlp Phnx Prti Rjng Runr Samr "
    "Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Tagb Takr Tale Talu Taml Tang Tavt Telu "
    "Tfng Tglg Thaa Thai Tibt Tirh Ugar Vai Wara Xpeo Xsux Yi Zinh"
)
_LATER_SCRIPTS = (
    "558 560 588 58b-58c 5c8-5c9 5ef 61d 7fd-7ff 860-89f 8b5 8be-8d3 9fc-9fe a76 afa-aff b53-b55 c04 c3c "
    "c5c-c5d c77 c84 cdc-cdd cf3-d00 d04 d3b-d3c d81 e86 e89 e8c e8e-e93 e98 ea0 ea8-ea9 eac eba ece 170d "
    "1715-171f 180f 1878 1abf-1af0 1b4c-1b4f 1b7d-1b7f 1c89-1cbf 1cf7 1cfa 1df6-1dfa 208f 209d-209f "
    "20bf-20c4 23ff 2427-2429 2b96-2b97 2bba-2bbc 2bc9 2bd2-2beb 2bf0-2bff 2c2f 2c5f 2e45-2e63 2ffc-2fff "
    "312e-312f 31bb-31bf 31e4-31ef 32ff 4db6-4dbf 9fd6-9fff a7af a7b8-a7f6 a82c a8fe-a8ff ab66-ab6d "
    "fbc2-fbd2 fd40-fd4f fd90-fd91 fdc8-fdcf fdfe-fdff 1019c 1032d-1032f 10780-107bf 10a34-10a35 10a48 "
    "10ec2-10eff 11070-11075 110c2-110cd 11144-11147 111ce-111cf 1123f-11241 1133b 1145a 1145e-11461 "
    "116b8-116b9 116d0-116e3 1171a 11740-11746 11ab0-11abf 11b00-11b67 11df0-11fff 1246f 12475-1247f "
    "12550-12686 1342f-143fa 16f45-16f4f 16f7f-16f87 16fe2-16ff6 187ed-187ff 18af3-1affe 1b002-1b168 "
    "1cc00-1cfc3 1d127-1d128 1d1e9-1d1ff 1d250-1d2f3 1d372-1d378 1d6a6 1db00-1dfff 1e030-1e7fe 1e94b "
    "1ec71-1ed3d 1f10d-1f10f 1f12f 1f16c-1f16f 1f1ad-1f1ae 1f260-1f265 1f6d3-1f6df 1f6f7-1f6fc "
    "1f774-1f77f 1f7d5-1f7ff 1f8b0-1f90f 1f91f 1f928-1f92f 1f931-1f932 1f93f 1f94c-1f94f 1f95f-1f97f "
    "1f992-1f9bf 1f9c1-1fbfa 2a6d7-2a6df 2b735-2b73f 2b81e 2cea2-2ee5d 30000-33479"
)
"""Ranges of characters of these scripts that Unicode 9 lacks."""
_CHANGED = {0x589: "Zyyy", 0x61C: "Zyyy", 0x953: "Deva", 0x954: "Deva"}
"""Characters whose script changed after Unicode 9."""
_HAN = ("Hani", "Hira", "Kana")


def by_script(text: AlignedText) -> list[AlignedText]:
    """Cut a text where the script changes. Text before the first character with a script is dropped."""
    cuts: list[int] = []
    last = ""
    for at, character in enumerate(text.text):
        script = _script(character)
        if script and script != last:
            cuts.append(at)
            last = script
    return [text.part(start, end) for start, end in itertools.pairwise([*cuts, len(text.text)])]


@functools.lru_cache(1 << 16)
def _script(character: str) -> str:
    """Return the ISO 15924 code of the script of a character; empty for none."""
    code = ord(character)
    if character == " " or code in _none():
        return ""
    match = _one_of().match(character)
    name = _CHANGED.get(code) or (str(match.lastgroup) if match else "")
    return "Hani" if name in _HAN or code == 0x30FC else name


@functools.cache
def _one_of() -> regex.Pattern[str]:
    names = f"{_SCRIPTS} Zyyy {' '.join(_HAN)}".split()
    return own_pattern("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in names))


@functools.cache
def _none() -> frozenset[int]:
    ranges = (part.partition("-") for part in _LATER_SCRIPTS.split())
    return frozenset(code for first, _, last in ranges
                     for code in range(int(first, 16), int(last or first, 16) + 1))
