"""Splits: how a text is cut into words (pre-tokens), which merges never cross.

`SPLITS` is the one table of them. A split is a pattern whose matches are the words; a few prepare the text, work in
steps or know a faster way, and are a class of their own. Beside its pattern each has a second one, `cut`: where a long
document may be cut in two without a word changing, so that it can be counted in chunks. Such a rule looks at the two
characters beside the place alone: no word holds both, whatever stands around them, and no word before looks past them.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import regex

from tokentui.core.errors import TokentuiError
from tokentui.recipe import AXES, compile_pattern, nearest
from tokentui.text import bert, patience

Span = tuple[str, int, int]
"""A word and its place: (word, start, end), half-open, in characters of the prepared text."""

SHORT = 1 << 18
"""Characters that the patterns of `SPLITS` are through in no time: each takes time in proportion to the text."""

SPACE_MARK = "▁"
"""What stands for a space in `metaspace`: U+2581."""


def to_bytes(text: str) -> bytes:
    """The exact bytes of a text: UTF-8, and for what "surrogateescape" made of a byte the byte itself."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair that stands for no byte, as JSON can hold: three bytes
        return b"".join(
            one.encode("utf-8", "surrogateescape" if "\udc80" <= one <= "\udcff" else "surrogatepass") for one in text
        )


@dataclass(frozen=True, slots=True)
class Splitter:
    """A split, ready for use: of a pattern whose matches are the words.

    `keeps_spaces` is whether the words together hold all of the text.
    """

    name: str
    keeps_spaces: bool
    pattern: Any
    cut: Any

    def prepare(self, text: str, first: bool = True) -> str:
        """The text in which the words stand.

        Args:
            text: The text, normalised.
            first: Whether a document starts with it; false where it goes on after a safe cut.
        """
        return text

    def words(self, text: str, *, first: bool = True) -> list[str]:
        """The words of a text in order.

        Args:
            text: The text, normalised.
            first: As for `prepare`.

        Raises:
            TakesTooLong: One match takes longer than a pattern may.
        """
        if len(text) > SHORT and isinstance(self.pattern, regex.Pattern):
            return patience.find_all(self.pattern, text, f"split={self.name}:")
        words: list[str] = self.pattern.findall(text)
        return words

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        """The words with their places in the prepared text; the words and arguments are those of `words`."""
        prepared = self.prepare(text, first)
        long = len(text) > SHORT and isinstance(self.pattern, regex.Pattern)
        matches = patience.find(self.pattern, prepared, f"split={self.name}:") if long else self.pattern.finditer(prepared)
        return [(match.group(), *match.span()) for match in matches]

    def safe_cut(self, text: str, at: int) -> int:
        """The first place from `at` on, 0 excluded, before which the text may be cut; its length where there is none.

        At such a place `words(head) + words(tail, first=False)` are the words of the whole, whatever the text is.
        """
        match = next(patience.find_short(self.cut, text, max(at - 1, 0)), None) if self.cut else None
        return match.end() if match else len(text)


class _Whitespace(Splitter):
    __slots__ = ()

    def words(self, text: str, *, first: bool = True) -> list[str]:
        # str.split is three times as fast, but takes four control characters as white space, which Unicode does not.
        return super().words(text) if _SEPARATORS.search(text) else text.split()


_SEPARATORS = re.compile("[\x1c-\x1f]")


class _Metaspace(Splitter):
    """Spaces become ▁, and one stands in front of a document that has none there."""

    __slots__ = ()

    def prepare(self, text: str, first: bool = True) -> str:
        text = text.replace(" ", SPACE_MARK)
        return SPACE_MARK + text if first and text and text[0] != SPACE_MARK else text

    def words(self, text: str, *, first: bool = True) -> list[str]:
        head, *rest = self.prepare(text, first).split(SPACE_MARK)
        words = [SPACE_MARK + word for word in rest]
        return [head, *words] if head else words


class _Falcon(Splitter):
    """Runs of punctuation, between them GPT-2's words, of these runs of digits, of these groups of three.

    The digits are sought among the letters that GPT-2 writes bytes with, where six bytes look like ² ³ ¹ ¼ ½ ¾. So
    words are cut inside characters; the parts are text with the bytes as "surrogateescape" has them.
    """

    __slots__ = ()

    def words(self, text: str, *, first: bool = True) -> list[str]:
        out: list[str] = []
        for run in _PUNCTUATION_RUNS.findall(text):
            for word in self.pattern.findall(run):
                if _FALCON_DIGIT.search(word):
                    out += _cut_digits(word)
                else:
                    out.append(word)
        return out

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        out: list[Span] = []
        at = 0
        for run in _PUNCTUATION_RUNS.findall(text):
            for word in self.pattern.findall(run):
                owners = [at + n for n, character in enumerate(word) for _ in to_bytes(character)]
                done = 0
                for part in _cut_digits(word):
                    end = done + len(to_bytes(part))
                    out.append((part, owners[done], owners[end - 1] + 1))
                    done = end
                at += len(word)
        return out


_PUNCTUATION_RUNS = re.compile(f"[{bert.PUNCTUATION}]+|[^{bert.PUNCTUATION}]+")
_FALCON_DIGIT = re.compile("[0-9\x80-\U0010ffff]")
_FALCON_RUNS = re.compile(
    rb"[0-9]{3}|(?:(?![0-9]{3})[0-9\xb2\xb3\xb9\xbc-\xbe])+|[^0-9\xb2\xb3\xb9\xbc-\xbe]+"
)


def _cut_digits(word: str) -> list[str]:
    """The last two steps of Falcon's chain."""
    parts = _FALCON_RUNS.findall(to_bytes(word))
    return [word] if len(parts) == 1 else [part.decode("utf-8", "surrogateescape") for part in parts]


class _Own(Splitter):
    """A pattern of the user's own: its matches, but for empty ones. What lies between them is dropped."""

    __slots__ = ()

    def words(self, text: str, *, first: bool = True) -> list[str]:
        return [word for word, _, _ in self.spans(text)]

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        return [(word, *match.span()) for match in patience.find(self.pattern, text, "split=regex:") if (word := match.group())]


class Split(NamedTuple):
    """An entry of the table: the pattern of the words, that of the places to cut (empty for none), and the rest."""

    pattern: str
    cut: str
    keeps_spaces: bool
    kind: type[Splitter] = Splitter
    compiler: Any = regex


_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
# After a letter, a digit or a sign comes another class. An apostrophe may begin a contraction.
_GPT2_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}'](?=[\s\p{L}\p{N}])|'(?=[\s\p{N}])"
# A sign may be followed by its line ends, or begin a word.
_GPT4_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}](?=\p{N}|[^\S\r\n])"
# A mark or a contraction belongs to the letters before it.
_GPT4O_CUT = r"\p{L}(?=[^\p{L}\p{M}'])|\p{N}(?=\P{N})|[^\s\p{N}](?=\p{N}|[^\S\r\n])"
_BERT = f"{bert.SPACES}{bert.PUNCTUATION}"

SPLITS: dict[str, Split] = {
    "none": Split(r"(?s).+", "", True),
    "whitespace": Split(r"\S+", r"(?s)\s(?=.)|.(?=\s)", False, _Whitespace),
    "space": Split(r"[^ ]+", r"(?s) (?=.)|.(?= )", False),
    "words": Split(r"\w+|[^\w\s]+", r"\w(?=\W)|(?s:\s(?=.))|[^\w\s](?=[\w\s])", False),
    "bert": Split(f"[^{_BERT}]+|[{bert.PUNCTUATION}]", f"(?s)[{_BERT}](?=.)|.(?=[{_BERT}])", False, compiler=re),
    "before": Split(r"[\s\p{P}][^\s\p{P}]*|[^\s\p{P}]+", r"(?s).(?=[\s\p{P}])", True),
    "metaspace": Split("▁[^▁]*|[^▁]+", "(?s).(?=[ ▁])", True, _Metaspace),
    "gpt2": Split(_GPT2, _GPT2_CUT, True),
    "cl100k": Split(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        _GPT4_CUT, True,
    ),
    "cl100k-classic": Split(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
        _GPT4_CUT, True,
    ),
    "o200k": Split(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        _GPT4O_CUT, True,
    ),
    "llama3": Split(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        _GPT4_CUT, True,
    ),
    "falcon": Split(_GPT2, _GPT2_CUT, True, _Falcon),
    "regex:": Split("", "", False, _Own),
}
"""The values of the axis: the one table of them. GPT-2's and OpenAI's later patterns are as tiktoken has them today."""


@functools.lru_cache(maxsize=64)
def splitter(split: str) -> Splitter:
    """The splitter of a value of the axis.

    Raises:
        TokentuiError: No such value, or a pattern that cannot be compiled.
    """
    name, colon, own = split.partition(":")
    entry = SPLITS.get(name + colon)
    if entry is None:
        raise TokentuiError(f"no value {split!r}", "split", nearest(split, AXES["split"].names()))
    pattern = compile_pattern(own) if colon else entry.compiler.compile(entry.pattern)
    return entry.kind(split, entry.keeps_spaces, pattern, entry.compiler.compile(entry.cut) if entry.cut else None)
