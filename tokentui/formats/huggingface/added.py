"""Added tokens: names that are cut out of a text before the rest of it is encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from tokentui.encode.imported import Special, Stretch
from tokentui.formats.checking import Place, entries
from tokentui.formats.huggingface.normalizers import flag
from tokentui.formats.huggingface.strings import Bare, Normalizer, Text
from tokentui.formats.limits import check_tokens
from tokentui.text.pretokenize import PreToken

_WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")


@dataclass(frozen=True, slots=True)
class Added:
    """An added token and its flags."""

    id: int
    content: str
    special: bool
    normalized: bool
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


def read_added(value: Any, place: Place, vocabulary: Mapping[str, int]) -> tuple[list[Added], list[str]]:
    """The added tokens with the ids that they have, and what is in doubt.

    A token that the model has keeps the model's id; others are numbered on behind it, whatever the file says, as
    Hugging Face's library does it.

    Raises:
        TokentuiError: A row is damaged.
    """
    found: dict[str, Added] = {}
    moved: list[str] = []
    rows = value if isinstance(value, list) else []
    check_tokens((len(row["content"]) for row in rows if type(row) is dict and type(row.get("content")) is str), place)
    following = len(vocabulary)
    for at, row in entries([] if value is None else value, place):
        spec = at.mapping(row)
        content = at.text(spec.get("content"))
        asked = at.number(spec.get("id"))
        flags = {name: flag(spec, name, at) for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        if not content:
            continue
        if content in found:
            number = found[content].id
        elif content in vocabulary:
            number = vocabulary[content]
        else:
            number = following
            following += 1
        if number != asked:
            moved.append(f"{content[:40]!r} has id {number}, not {asked} as its row says")
        found[content] = Added(number, content, **flags)
    if len(moved) > 1:
        moved = [f"{moved[0]}; {len(moved) - 1} more added tokens have other ids than their rows say"]
    return list(found.values()), moved


class Finder:
    """Finds added tokens in a text, leftmost and of those the longest."""

    def __init__(self, tokens: Sequence[Added], spelled: Callable[[Added], str]) -> None:
        self._by_text = {spelled(token): token for token in tokens}
        self._find = _finding(list(filter(None, self._by_text)))

    def cut(self, text: Text, allow_special: bool) -> Iterator[tuple[Added | None, Text]]:
        """The parts of a text that are tokens, with these, and those between them."""
        at = 0
        typed = text.text
        for start, end in self._find(typed) if typed else ():
            token = self._by_text[typed[start:end]]
            if token.special and not allow_special:
                continue
            if token.single_word and (_WORD.match(typed[start - 1 : start]) or _WORD.match(typed[end : end + 1])):
                continue
            if token.lstrip:
                start = max(at, len(typed[:start].rstrip(_SPACES)))
            if token.rstrip:
                end = len(typed) - len(typed[end:].lstrip(_SPACES))
            if at < start:
                yield None, text.part(at, start)
            yield token, text.part(start, end)
            at = end
        if at < len(typed):
            yield None, text.part(at, len(typed))


_FEW = 1_000
"""Names up to which one pattern of them all is compiled in no time."""


def _finding(names: list[str]) -> Callable[[str], Iterable[tuple[int, int]]]:
    """What finds names in a text, leftmost and of those the longest, without overlap."""
    if not names:
        return lambda text: ()
    if len(names) <= _FEW:
        names.sort(key=len, reverse=True)
        pattern = regex.compile("|".join(map(regex.escape, names)))
        return lambda text: (match.span() for match in pattern.finditer(text))
    known = frozenset(names)
    lengths: dict[str, set[int]] = {}
    for name in names:
        lengths.setdefault(name[0], set()).add(len(name))
    longest_first = {head: sorted(found, reverse=True) for head, found in lengths.items()}
    heads = regex.compile(f"[{''.join(map(regex.escape, longest_first))}]")

    def find(text: str) -> Iterator[tuple[int, int]]:
        end = 0
        for match in heads.finditer(text):
            start = match.start()
            if start >= end:
                length = next((length for length in longest_first[match.group()] if text[start : start + length] in known), 0)
                if length:
                    end = start + length
                    yield start, end

    return find


_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


@dataclass(frozen=True, slots=True)
class Stretches:
    """Cuts a text at its added tokens: at those of plain text, then, in what is left and normalised, at the others."""

    plain: Finder
    normalized: Finder
    normalizer: Normalizer | None
    words: Callable[[Text], list[PreToken]]
    spelled: Callable[[Text], list[str]]
    typed: Callable[[str], str] = str

    def __call__(self, text: str, allow_special: bool) -> Iterator[Stretch]:
        """The tokens and the pre-tokens between them."""
        for one in self._cut(Text.typed(self.typed(text)), allow_special):
            yield one if isinstance(one, Special) else self.words(one)

    def bare(self, text: str, allow_special: bool) -> Iterator[Special | list[str]]:
        """The same with words in place of pre-tokens; the places of the tokens are not told."""
        for one in self._cut(Bare.typed(self.typed(text)), allow_special):
            yield one if isinstance(one, Special) else self.spelled(one)

    def _cut(self, text: Text, allow_special: bool) -> Iterator[Special | Text]:
        for token, part in self.plain.cut(text, allow_special):
            if token is not None:
                yield _special(token, part)
                continue
            normal = self.normalizer(part) if self.normalizer else part
            for inner, rest in self.normalized.cut(normal, allow_special):
                yield _special(inner, rest) if inner is not None else rest


def _special(token: Added, part: Text) -> Special:
    return Special(token.content, part.starts[0], part.ends[-1])
