"""Texts that know the part of the text as typed that each of their characters came from, and patterns that
cut them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.formats.oniguruma import Untranslated, translated
from tokentui.formats.source import Node
from tokentui.text import patterns
from tokentui.text.normalize import Stage, align


@dataclass(frozen=True, slots=True)
class Text:
    """A string; its character n came from the characters `starts[n]` to `ends[n]` (half-open) of the text as
    typed.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def typed(cls, text: str) -> Text:
        """A text as typed."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def part(self, start: int, end: int) -> Text:
        """The characters from `start` to `end`."""
        if start == 0 and end == len(self.text):
            return self
        return Text(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def prepended(self, text: str) -> Text:
        """With a text in front that came from nothing."""
        at = self.starts[0] if self.text else 0
        return Text(text + self.text, [at] * len(text) + list(self.starts),
                    [at] * len(text) + list(self.ends))

    def edited(self, pieces: Iterable[tuple[str, int, int]]) -> Text:
        """Of pieces (made, start, end) that became of the ranges from `start` to `end`, in order."""
        made: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for piece, start, end in pieces:
            made.append(piece)
            if len(piece) == end - start == 1:
                starts.append(self.starts[start])
                ends.append(self.ends[start])
            elif piece:
                low = self.starts[start] if start < len(self.starts) else (self.ends[-1] if self.text else 0)
                starts += [low] * len(piece)
                ends += [self.ends[end - 1] if end > start else low] * len(piece)
        return Text("".join(made), starts, ends)

    def respelled(self, text: str) -> Text:
        """With each character as another one."""
        return Text(text, self.starts, self.ends)

    def replaced(self, found: Sequence[tuple[int, int]], content: str) -> Text:
        """With a text in place of each of these ranges."""
        if not found:
            return self
        pieces: list[tuple[str, int, int]] = []
        at = 0
        for start, end in found:
            pieces += [(self.text[n], n, n + 1) for n in range(at, start)]
            pieces.append((content, start, end))
            at = end
        return self.edited([*pieces, *((self.text[n], n, n + 1) for n in range(at, len(self.text)))])

    def passed(self, stage: Stage) -> Text:
        """After a stage that looks at no more than what combines."""
        result = align(stage, self.text)
        if result.text == self.text:
            return self
        starts = [self.starts[at] for at in result.starts]
        return Text(result.text, starts, [self.ends[at - 1] for at in result.ends])


class Bare(Text):
    """A string that forgets where its characters came from, but for whether the first is the first as typed:
    for ids alone.
    """

    __slots__ = ()

    @classmethod
    def typed(cls, text: str) -> Text:
        """A text as typed."""
        return cls(text, _FIRST, _FIRST)

    def part(self, start: int, end: int) -> Text:
        """The characters from `start` to `end`."""
        if start == 0 and end == len(self.text):
            return self
        return Bare(self.text[start:end], self.starts if start == 0 else _LATER, _FIRST)

    def prepended(self, text: str) -> Text:
        """With a text in front that came from nothing."""
        return Bare(text + self.text, self.starts, _FIRST)

    def edited(self, pieces: Iterable[tuple[str, int, int]]) -> Text:
        """Of pieces that became of ranges, in order."""
        made = [(piece, start) for piece, start, _ in pieces if piece]
        return self._made("".join(piece for piece, _ in made), not made or made[0][1] == 0)

    def respelled(self, text: str) -> Text:
        """With each character as another one."""
        return Bare(text, self.starts, _FIRST)

    def replaced(self, found: Sequence[tuple[int, int]], content: str) -> Text:
        """With a text in place of each of these ranges."""
        if not found:
            return self
        ends = [0, *(end for _, end in found)]
        starts = [*(start for start, _ in found), len(self.text)]
        kept = [self.text[start:end] for start, end in zip(ends, starts, strict=True)]
        return self._made(content.join(kept), bool(content or kept[0]))

    def passed(self, stage: Stage) -> Text:
        """After a stage that looks at no more than what combines."""
        text = stage(self.text)
        if text == self.text:
            return self
        first = text[:1] == self.text[:1] or (bool(text) and align(stage, self.text).starts[0] == 0)
        return self._made(text, first)

    def _made(self, text: str, first: bool) -> Text:
        return Bare(text, self.starts if first else _LATER, _FIRST)


_FIRST, _LATER = (0,), (1,)

Span = tuple[int, int]
"""A place in a text: from a character to before another one."""
_SHORT = 1 << 10
_MOST_GROWTH = 64


def check_growth(before: int, after: int, where: str) -> None:
    """Look at how many characters a step makes of a text. No step of any tokenizer comes near to the limit.

    Args:
        before: The characters of the text.
        after: The characters that the step makes.
        where: The place of the step in the file.

    Raises:
        TokentuiError: It is beyond the limit.
    """
    if after > max(_SHORT, _MOST_GROWTH * before):
        what = f"{before:,} characters become {after:,}: more than {_MOST_GROWTH} times as many"
        raise TokentuiError(what, where, "mend the step")


@dataclass(frozen=True, slots=True)
class Pattern:
    """The thing that a step looks for: a text, or a pattern in Oniguruma's syntax.

    Attributes:
        kind: `String` or `Regex`.
        text: The text or the pattern.
    """

    kind: str
    text: str

    @classmethod
    def read(cls, node: Node) -> Pattern:
        """The pattern of its JSON value: text, or {"String": …}, or {"Regex": …}.

        Raises:
            TokentuiError: It is none, or cannot be compiled; it says why.
        """
        value = node.value
        kind, text = next(iter(value.items())) if isinstance(value,
                                                             dict) and len(value) == 1 else ("String", value)
        if kind not in ("String", "Regex") or (not isinstance(value, dict) and not isinstance(value, str)):
            raise node.error('a pattern is {"String": …} or {"Regex": …}')
        found = cls(kind, Node(text, None, node).text())
        found.compiled(node)
        return found

    def compiled(self, node: Node) -> Any:
        """The pattern for the `regex` library.

        Raises:
            TokentuiError: It holds what is not translated, is none, or is too large; it says which.
        """
        if len(self.text) > _LARGEST_PATTERN:
            raise node.error("the pattern is too large", "write a shorter one")
        try:
            if self.kind == "Regex" and limits.spread(translated(self.text)) > limits.MOST_SPREAD:
                raise node.error("the pattern repeats too many times", "write smaller counts")
            return _compiled(self)
        except Untranslated as error:
            raise node.error(f"the pattern holds {error}", "write the pattern without it") from None
        except regex.error as error:
            raise node.error(f"the pattern cannot be compiled: {error.msg}", "mend the pattern") from None
        except (RecursionError, OverflowError, MemoryError):
            raise node.error("the pattern is too large", "write a shorter one") from None

    def find(self, text: str, where: str) -> Iterator[Span]:
        """The places of the pattern in a text, from left to right, without overlap.

        Raises:
            TokentuiError: A match takes too long; it names `where`.
        """
        return spans(_compiled(self), text, f"{where}.pattern")

    def json(self) -> dict[str, str]:
        """The JSON value."""
        return {self.kind: self.text}


_LARGEST_PATTERN = 1 << 16
"""Characters of a pattern."""


@functools.lru_cache(maxsize=256)
def _compiled(pattern: Pattern) -> Any:
    # No text stands at every place, as it does in the library.
    return regex.compile(translated(pattern.text) if pattern.kind == "Regex" else regex.escape(pattern.text),
                         regex.VERSION0)


def spans(compiled: Any, text: str, where: str) -> Iterator[Span]:
    """The places that a compiled pattern finds, each in the time of a pattern of a file."""
    return (match.span() for match in patterns.find_apart(compiled, text, where))


def class_spans(characters: str, text: str, engine: Any = regex) -> Iterator[Span]:
    """The places of single characters of a class, by the inside of a `[...]`."""
    return (match.span() for match in _class(characters, engine).finditer(text))


@functools.cache
def _class(characters: str, engine: Any) -> Any:
    return engine.compile(f"[{characters}]")


BEHAVIOURS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
"""The ways to treat what a pattern finds."""


def split(text: Text, found: Iterable[Span], behaviour: str, invert: bool = False) -> list[Text]:
    """Cut a text at the places that were found; with `invert` at what lies between."""
    parts: list[tuple[int, int, bool]] = []
    at = 0
    for start, end in found:
        if at < start:
            parts.append((at, start, invert))
        parts.append((start, end, not invert))
        at = end
    if at < len(text.text) or not parts:
        parts.append((at, len(text.text), invert))
    return [text.part(start, end) for start, end in _ranges(parts, behaviour) if start < end]


def _ranges(parts: list[tuple[int, int, bool]], behaviour: str) -> list[tuple[int, int]]:
    if behaviour == "Removed":
        return [(start, end) for start, end, found in parts if not found]
    if behaviour == "Isolated":
        return [(start, end) for start, end, _ in parts]
    backward = behaviour == "MergedWithNext"
    out: list[tuple[int, int]] = []
    before = False
    for start, end, found in reversed(parts) if backward else parts:
        joins = found == before if behaviour == "Contiguous" else found and not before
        if joins and out:
            out[-1] = (start, out[-1][1]) if backward else (out[-1][0], end)
        else:
            out.append((start, end))
        before = found
    return out[::-1] if backward else out


# --- scripts ---

# The script of a character as Hugging Face's `UnicodeScripts` knows it: by the table of Unicode 9. Hiragana,
# Katakana and ー count as Han. What was assigned later, what is not assigned and the space have no script:
# they go with what stands before them.
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
"""Ranges of characters of these scripts that Unicode 9 does not have."""
_CHANGED = {0x589: "Zyyy", 0x61C: "Zyyy", 0x953: "Deva", 0x954: "Deva"}
"""Characters whose script is another one since."""
_HAN = ("Hani", "Hira", "Kana")


def by_script(text: Text) -> list[Text]:
    """Cut a text where the script changes. What stands before the first character that has one is dropped."""
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
    """The script of a character by its ISO 15924 code, empty for none."""
    code = ord(character)
    if character == " " or code in _none():
        return ""
    match = _one_of().match(character)
    name = _CHANGED.get(code) or (str(match.lastgroup) if match else "")
    return "Hani" if name in _HAN or code == 0x30FC else name


@functools.cache
def _one_of() -> Any:
    names = f"{_SCRIPTS} Zyyy {' '.join(_HAN)}".split()
    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in names))


@functools.cache
def _none() -> frozenset[int]:
    ranges = (part.partition("-") for part in _LATER_SCRIPTS.split())
    return frozenset(code for first, _, last in ranges
                     for code in range(int(first, 16), int(last or first, 16) + 1))
