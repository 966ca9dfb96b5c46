"""Splits: rules that cut a text into words (pre-tokens). Merges never cross the borders of words.

`SPLITS` is the one table of them. A split is a pattern whose matches are the words. A few splits prepare the
text, work in steps or have a faster way; they are classes of their own. Each split has a second pattern,
`cut`: it finds the places where a long document can be cut in two without a change of words, so that chunks
are counted one by one. The pattern depends only on the characters before and after the place: no word holds
both, in any context, and no earlier word depends on text past them.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.core.limits import MOST_SPREAD, spread
from tokentui.recipe import Recipe
from tokentui.text import bert, patterns

if TYPE_CHECKING:
    import regex

Span = tuple[str, int, int]
"""A word and its place: (word, start, end), half-open, in characters of the prepared text."""

SHORT = 1 << 18
"""The number of characters that the patterns of `SPLITS` match in no noticeable time.

Each pattern takes time in proportion to the text.
"""

_READABLE = 200  # characters of the pattern of a branch

SPACE_MARK = "▁"
"""The mark of a space in `metaspace`: U+2581."""


def to_bytes(text: str) -> bytes:
    """The exact bytes of a text: UTF-8, and for what "surrogateescape" made of a byte the byte itself."""
    try:
        return text.encode("utf-8", "surrogateescape")
    # half of a surrogate pair that stands for no byte, as JSON can hold: three bytes
    except UnicodeEncodeError:
        return b"".join(
            one.encode("utf-8", "surrogateescape" if "\udc80" <= one <= "\udcff" else "surrogatepass")
            for one in text
        )


@dataclass(frozen=True, slots=True)
class Splitter:
    """A split, ready for use: of a pattern whose matches are the words.

    Attributes:
        name: The value of the axis.
        keeps_spaces: Whether the words together hold all of the text.
        pattern: The pattern of the words, compiled.
        cut: That of the places where a text may be cut in two; None where none is known.
        marks_spaces: Whether ▁ stands for a space in words, and one is set in front of a text.
    """

    name: str
    keeps_spaces: bool
    pattern: regex.Pattern[str]
    cut: regex.Pattern[str] | None
    marks_spaces: bool

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
        if len(text) > SHORT and not isinstance(self.pattern, re.Pattern):
            return patterns.find_all(self.pattern, text, f"split={self.name}:")
        words: list[str] = self.pattern.findall(text)
        return words

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        """The words with their places in the prepared text; the words and arguments are those of `words`."""
        prepared = self.prepare(text, first)
        long = len(text) > SHORT and not isinstance(self.pattern, re.Pattern)
        matches = (
            patterns.find(self.pattern, prepared, f"split={self.name}:")
            if long
            else self.pattern.finditer(prepared)
        )
        return [(match.group(), *match.span()) for match in matches]

    def safe_cut(self, text: str, at: int) -> int:
        """The first place from `at` on, 0 excluded, where the text may be cut; its length if there is none.

        At such a place `words(head) + words(tail, first=False)` are the words of the whole, for any text.
        """
        match = next(patterns.find_short(self.cut, text, max(at - 1, 0)), None) if self.cut else None
        return match.end() if match else len(text)


class _Whitespace(Splitter):
    __slots__ = ()

    def words(self, text: str, *, first: bool = True) -> list[str]:
        # str.split is three times as fast, but takes four control characters as white space, unlike Unicode.
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

    The pattern of digits runs on the letters that GPT-2 writes bytes with, where six bytes look like
    ² ³ ¹ ¼ ½ ¾. So words are cut inside characters; the parts are text with the bytes as "surrogateescape"
    has them.
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
        return [
            (word, *match.span())
            for match in patterns.find(self.pattern, text, "split=regex:")
            if (word := match.group())
        ]


@functools.lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """The compiled form of a split pattern.

    Raises:
        TokentuiError: The pattern cannot be compiled; it says where in the pattern.
    """
    import regex  # not before the first paint, which knows no pattern

    if spread(pattern) > MOST_SPREAD:
        raise TokentuiError("the pattern repeats too many times", "split=regex:", "write smaller counts")
    try:
        return regex.compile(pattern, regex.VERSION0)
    except regex.error as error:
        place = f" at position {error.pos}" if getattr(error, "pos", None) is not None else ""
        what = f"the pattern cannot be compiled: {error.msg}{place}"
        raise TokentuiError(what, "split=regex:", "mend the pattern") from None
    except (RecursionError, OverflowError, MemoryError):
        what = "the pattern is too large to compile"
        raise TokentuiError(what, "split=regex:", "write a shorter one") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Choice):
    """A way to cut a text into words.

    Attributes:
        pattern: Its matches are the words.
        cut: The pattern of the places where a text may be cut in two without a word changing; empty for none.
        keeps_spaces: Whether the words together hold all of the text.
        kind: What cuts; a class of its own where more than the pattern decides.
        plain: Whether the patterns are for the `re` of the standard library.
        marks_spaces: Whether ▁ stands for a space in words, and one is set in front of a text.
        branches: What each alternative of the pattern matches, in words, in order.
        told: A pattern whose alternatives are the branches, where those of `pattern` are not.
        alone: Whether the branch of a word is found by the word alone, not where it stands.
        rule: The rule of the kernels that finds the same words, see `kernels.rules`; empty where there is
            none.
    """

    pattern: str = ""
    cut: str = ""
    keeps_spaces: bool = True
    kind: type[Splitter] = Splitter
    plain: bool = False
    marks_spaces: bool = False
    branches: tuple[str, ...] = ()
    told: str = ""
    alone: bool = False
    rule: str = ""


def _compiles(recipe: Recipe) -> None:
    compile_pattern(recipe.split.partition(":")[2])


def _spaceless(recipe: Recipe) -> Refusal | None:
    what, takes = "a space in front would be dropped", ("split=gpt2", "split=metaspace")
    return Refusal("prefix_space", what, takes, fades=True) if recipe.prefix_space else None


_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
# After a letter, a digit or a sign comes another class. An apostrophe may begin a contraction.
_GPT2_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}'](?=[\s\p{L}\p{N}])|'(?=[\s\p{N}])"
# A sign may be followed by its line ends, or begin a word.
_GPT4_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}](?=\p{N}|[^\S\r\n])"
# A mark or a contraction belongs to the letters before it.
_GPT4O_CUT = r"\p{L}(?=[^\p{L}\p{M}'])|\p{N}(?=\P{N})|[^\s\p{N}](?=\p{N}|[^\S\r\n])"
_BERT = f"{bert.SPACES}{bert.PUNCTUATION}"
_CONTRACTION = "a contraction, of either case"
_LETTERS = "letters, with one sign or space in front"
_DIGITS = "up to three digits"
_SIGNS = "signs and the line ends after them"
_TO_END, _TO_ENDS = "white space up to a line end", "white space up to line ends"
_BUT_LAST = "white space, but for the last one before a word"
_AT_END, _ONE_SPACE, _SPACE = "white space at the end of the text", "one white space", "white space"
_GPT2_BRANCHES = (
    "a contraction", "letters, with a space in front", "digits, with a space in front",
    "signs, with a space in front", _AT_END, _BUT_LAST, _ONE_SPACE,
)

SPLITS = Axis(
    "split", "how the text is cut into pre-tokens, which merges never cross",
    Split("none", "not at all: a document is one pre-token", pattern=r"(?s).+", branches=("all of it",)),
    Split(
        "whitespace", "at white space, which is dropped", pattern=r"\S+", cut=r"(?s)\s(?=.)|.(?=\s)",
        keeps_spaces=False, kind=_Whitespace, refuses=_spaceless,
        branches=("what stands between white space",), rule="whitespace",
    ),
    Split(
        "space", "at U+0020 only, which is dropped", pattern=r"[^ ]+", cut=r"(?s) (?=.)|.(?= )",
        keeps_spaces=False, refuses=_spaceless, branches=("what stands between spaces",),
    ),
    Split(
        "words", "runs of word characters, runs of punctuation", pattern=r"\w+|[^\w\s]+",
        cut=r"\w(?=\W)|(?s:\s(?=.))|[^\w\s](?=[\w\s])", keeps_spaces=False, refuses=_spaceless,
        branches=("letters, digits and underscores", "signs"),
    ),
    Split(
        "bert", "at white space, punctuation alone", pattern=f"[^{_BERT}]+|[{bert.PUNCTUATION}]",
        cut=f"(?s)[{_BERT}](?=.)|.(?=[{_BERT}])", keeps_spaces=False, plain=True, refuses=_spaceless,
        branches=("letters, digits and signs", "one punctuation mark"), rule="bert",
    ),
    Split(
        "before", "before each white space or punctuation character",
        pattern=r"[\s\p{P}][^\s\p{P}]*|[^\s\p{P}]+",
        cut=r"(?s).(?=[\s\p{P}])",
        branches=(
            "a space or a punctuation mark, and what follows up to the next",
            "a beginning with neither space nor punctuation",
        ),
    ),
    Split(
        "metaspace", "before each space, which becomes ▁; one in front", pattern="▁[^▁]*|[^▁]+",
        cut="(?s).(?=[ ▁])", kind=_Metaspace, marks_spaces=True, alone=True,
        branches=("a space and the word after it", "a beginning without a space"),
    ),
    Split("gpt2", "GPT-2's pattern", pattern=_GPT2, cut=_GPT2_CUT, branches=_GPT2_BRANCHES, rule="gpt2"),
    Split(
        "cl100k", "GPT-4's pattern as tiktoken has it today",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        cut=_GPT4_CUT, rule="gpt4-trailing",
        branches=(_CONTRACTION, _LETTERS, _DIGITS, _SIGNS, _AT_END, _TO_END, _BUT_LAST, _ONE_SPACE),
    ),
    Split(
        "cl100k-classic", "GPT-4's pattern as it was published",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
        cut=_GPT4_CUT, rule="gpt4",
        branches=(_CONTRACTION, _LETTERS, _DIGITS, _SIGNS, _TO_END, _BUT_LAST, _SPACE),
    ),
    Split(
        "o200k", "GPT-4o's pattern",
        pattern=r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        cut=_GPT4O_CUT, rule="gpt4o",
        branches=(
            "letters that end in lower case, with one sign or space in front",
            "letters that begin in upper case, with one sign or space in front", _DIGITS,
            "signs and the line ends and slashes after them", _TO_ENDS, _BUT_LAST, _SPACE,
        ),
    ),
    Split(
        "llama3", "Llama-3's pattern",
        pattern=r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        cut=_GPT4_CUT, rule="gpt4",
        branches=(_CONTRACTION, _LETTERS, _DIGITS, _SIGNS, _TO_ENDS, _BUT_LAST, _SPACE),
    ),
    Split(
        "falcon", "Falcon's chain: punctuation, GPT-2, digits by three", pattern=_GPT2, cut=_GPT2_CUT,
        kind=_Falcon, told="[0-9]{3}|" + _GPT2, branches=("three digits", *_GPT2_BRANCHES), alone=True,
    ),
    Split(
        "regex", "the matches of a pattern of your own", "PATTERN", r"\w+|\s+", keeps_spaces=False, kind=_Own,
        refuses=_compiles,
    ),
)
"""The splits, by name. GPT-2's and OpenAI's later patterns are as tiktoken has them today."""


@functools.lru_cache(maxsize=64)
def splitter(split: str) -> Splitter:
    """The splitter of a value of the axis.

    Raises:
        TokentuiError: No such value, or a pattern that cannot be compiled.
    """
    record = SPLITS.of(split)
    if record.text:
        pattern = compile_pattern(split.partition(":")[2])
    else:
        pattern = re.compile(record.pattern) if record.plain else compile_pattern(record.pattern)
    cut = (re.compile if record.plain else compile_pattern)(record.cut) if record.cut else None
    return record.kind(split, record.keeps_spaces, pattern, cut, record.marks_spaces)


@functools.lru_cache(maxsize=64)
def branches(split: str) -> patterns.Branches:
    """The branches of a value of the axis.

    Raises:
        TokentuiError: A pattern that cannot be compiled.
    """
    record = SPLITS.of(split)
    pattern = record.told or record.pattern or split.partition(":")[2]
    compiled = re.compile if record.plain else compile_pattern
    whole, parts = compiled(pattern), patterns.alternatives(pattern)
    try:
        found = tuple(map(compiled, parts))
    except TokentuiError:  # a branch that refers to a group of another one
        return patterns.Branches((pattern,), record.alone, (whole,))
    meanings = itertools.chain(record.branches, itertools.repeat(""))
    return patterns.Branches(tuple(map(_named, parts, meanings)), record.alone, found)


def _named(part: str, meaning: str) -> str:
    """A branch in words, and its pattern where that can be read."""
    if not meaning:
        return part
    return meaning if len(part) > _READABLE else f"{meaning}  {part}"


def own_space(split: str, space: bool) -> bool | None:
    """The `prefix_space` of a recipe that sets a space in front or none; None if the split does so itself."""
    return None if space is SPLITS.of(split).marks_spaces else space


def spaced(recipe: Recipe) -> bool:
    """True if a text that does not begin with a space gets one in front."""
    return SPLITS.of(recipe.split).marks_spaces if recipe.prefix_space is None else recipe.prefix_space
