"""Splits: rules that cut a text into words (pre-tokens). Merges never cross the borders of words.

`SPLITS` lists them. A split is a pattern whose matches are the words. A few splits prepare the text, work in
steps or have a faster function. Each split has a second pattern, `cut`, for safe cuts: places where a long
document can be cut in two without changing its words, so that chunks can be counted one by one. It depends
only on the characters before and after the place: no word contains both, in any context, and no earlier word
depends on text after them.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.core.limits import MOST_SPREAD, spread
from tokentui.core.records import dataclass
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text import cuts, patterns, sets
from tokentui.text.falcon import falcon
from tokentui.text.normalize import BERT_PUNCTUATION, BERT_SPACES
from tokentui.text.unicode import Tables, tables_of

if TYPE_CHECKING:
    import regex

WordSpan = tuple[str, int, int]
"""A word and its place: (word, start, end), half-open, in characters of the prepared text."""

SHORT = 1 << 18
"""Characters that the patterns of `SPLITS` match without a noticeable delay. Each pattern takes time
proportional to the text."""

_TOGETHER = 4096  # characters that are matched in one call
_READABLE = 200  # characters of the pattern of a branch

SPACE_MARK = "▁"
"""The character for a space in `metaspace`: U+2581."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Choice):
    """A way to cut a text into words.

    Attributes:
        pattern: Its matches are the words.
        find_words: Returns the words of a text with their places, given the compiled pattern, the text, and
            `Tables.seen`; None if the words are the matches.
        cut: The pattern of safe cuts; empty for none.
        keeps_spaces: True if the words together are the whole text.
        dropped: A pattern of the characters that are in no word; empty if every character is in a word, or if
            no pattern describes them all.
        plain: True if the patterns are for `re` of the standard library, not `regex`.
        marks_spaces: True if ▁ replaces a space in words, and a text gets one in front.
        branches: What each alternative of the pattern matches, in words, in order.
        branch_pattern: A pattern whose alternatives are the branches, if those of `pattern` are not.
        branch_by_word: True to find the branch of a word without its context.
        single_word: Pattern of texts that are one word by themselves, if `find_words` is given; empty if
            unknown.
        rule: The rule of the kernels that finds the same words, see `kernels.rules`; empty for none.
    """

    pattern: str = ""
    find_words: (
        Callable[[regex.Pattern[str], str, Callable[[str], str]], Iterable[WordSpan]] | None
    ) = None
    cut: str = ""
    keeps_spaces: bool = True
    dropped: str = ""
    plain: bool = False
    marks_spaces: bool = False
    branches: tuple[str, ...] = ()
    branch_pattern: str = ""
    branch_by_word: bool = False
    single_word: str = ""
    rule: str = ""

    @property
    def may_leave_text(self) -> bool:
        """True if the words may leave out text that the description of the split does not mention."""
        return not self.keeps_spaces and not self.dropped

    @property
    def is_pattern(self) -> bool:
        """True if the words are exactly the matches of the pattern in the unchanged text."""
        return self.find_words is None and not self.marks_spaces


@dataclass(frozen=True, slots=True)
class Splitter:
    """The split of a recipe, ready for use.

    Attributes:
        name: The value of the axis.
        record: The split.
        prepends_space: True if a document without a space at its start gets a space, or a ▁, in front.
        always_prepends: True if a document with a space at its start gets another one.
        symbols: Finds the symbols, each of which is a word. The text between two symbols is split separately.
            None for no symbols.
        unicode: The name of the Unicode tables, as in a recipe.
    """

    name: str
    record: Split
    prepends_space: bool
    always_prepends: bool = False
    symbols: re.Pattern[str] | None = None
    unicode: str = NEWEST_UNICODE

    @property
    def tables(self) -> Tables:
        """The Unicode tables: the installed ones for a pattern for `re`, which spells its classes out, and
        for one of a user that spells a character with stand-ins."""
        named = tables_of(self.unicode)
        return tables_of("") if self.record.plain or named.lists(self.name) else named

    @property
    def pattern(self) -> regex.Pattern[str]:
        """The pattern of the words, compiled at first use: kernels count without it."""
        return _pattern(self.name)

    def _finds_in(self, text: str) -> regex.Pattern[str] | re.Pattern[str]:
        """Return the pattern of the words in a short text: for ASCII one of `re`, if there is one, because
        `regex` takes longer to import than to encode a line."""
        return (text.isascii() and _ascii_pattern(self.name)) or self.pattern

    @property
    def cut(self) -> regex.Pattern[str] | None:
        """The pattern of safe cuts; None if none is known."""
        return None if self.symbols else _cut(self.name)

    def prepare(self, text: str, first: bool = True) -> str:
        """Return the text that words are cut from, with ▁ for spaces and a space in front if the split needs
        them.

        Args:
            text: The text, normalized.
            first: True if a document starts with it; False after a safe cut.
        """
        mark = " "
        if self.record.marks_spaces:
            mark = SPACE_MARK
            text = text.replace(" ", mark)
        front = first and self.prepends_space and text and (self.always_prepends or text[0] != mark)
        return mark + text if front else text

    @property
    def opened(self) -> Callable[[bytes], bytes] | None:
        """A function that adds to the first bytes of a document the space that `prepare` adds (kernels write
        ▁ as a space); None if it adds none."""
        if not self.prepends_space:
            return None
        spaces = (b" ", SPACE_MARK.encode()) if self.record.marks_spaces else b" "
        return lambda text: text if not self.always_prepends and text.startswith(spaces) else b" " + text

    def words(self, text: str, *, first: bool = True) -> list[str]:
        """Return the words of a text in order: those of `spans`, without their places.

        Raises:
            TakesTooLong: One match takes longer than the limit.
        """
        prepared, record = self.prepare(text, first), self.record
        symbols = self.symbols is not None and self.symbols.search(prepared)
        listed = not prepared.isascii() and self.tables.lists(prepared)
        if symbols or record.find_words or listed or (record.text and self.pattern.groups):
            return [word for word, _, _ in self.spans(text, first=first)]
        if record.text or (len(prepared) > SHORT and not record.plain):
            # a user's pattern may match the empty text
            return list(filter(None, patterns.find_all(self.pattern, prepared, self._where)))
        words: list[str] = self._finds_in(prepared).findall(prepared)
        return words

    def parts(self, texts: list[str]) -> Iterator[list[str]]:
        """Yield the words of each of many texts, parts of documents between safe cuts. None of them is the
        start of a document.

        Raises:
            TakesTooLong: One match takes longer than the limit.
        """
        record, plainly = self.record, self.symbols is None and not self.record.find_words
        if record.single_word:
            whole = re.compile(record.single_word).fullmatch
            return ([text] if whole(text) else self.words(text, first=False) for text in texts)
        plainly = plainly and not self.tables.lists("".join(texts))
        if plainly and record.text and self.cut:
            return self._own_parts(texts, self.cut)
        if not plainly or not (record.plain or max(map(len, texts), default=0) <= SHORT):
            return (self.words(text, first=False) for text in texts)
        if record.marks_spaces:
            return map(self.pattern.findall, (text.replace(" ", SPACE_MARK) for text in texts))
        return map(self.pattern.findall, texts)

    def _own_parts(self, texts: list[str], cut: regex.Pattern[str]) -> Iterator[list[str]]:
        """Yield `parts` for a user's pattern. Texts are joined where a safe cut separates them again, because
        starting a match with a time limit is slow."""
        safe = functools.cache(lambda pair: cut.match(pair) is not None)
        start = 0
        while start < len(texts):
            end, size = start + 1, len(texts[start])
            while end < len(texts) and size < _TOGETHER and safe(texts[end - 1][-1] + texts[end][0]):
                size += len(texts[end])
                end += 1
            words, border, number = list[str](), len(texts[start]), start
            for match in patterns.find(self.pattern, "".join(texts[start:end]), self._where):
                while match.end() > border:
                    yield words
                    words, number = [], number + 1
                    border += len(texts[number])
                words.append(match.group())
            yield words
            yield from ([] for _ in range(number + 1, end))
            start = end

    def spans(self, text: str, *, first: bool = True) -> list[WordSpan]:
        """Return the words, none of them empty, with their places in the prepared text.

        Arguments and errors are those of `prepare` and `words`.
        """
        prepared, record, words = self.prepare(text, first), self.record, list[WordSpan]()
        seen = self.tables.seen
        named = [] if self.symbols is None else [match.span() for match in self.symbols.finditer(prepared)]
        at = 0
        for start, end in [*named, (len(prepared), len(prepared))]:  # a stretch, and the symbol after it
            stretch = prepared[at:start]
            if record.find_words is not None:
                spans = record.find_words(self.pattern, stretch, seen)
            else:
                slow = record.text or (len(stretch) > SHORT and not record.plain)
                matches = (
                    patterns.find(self.pattern, seen(stretch), self._where) if slow
                    else self._finds_in(stretch).finditer(seen(stretch))
                )
                places = (match.span() for match in matches)
                spans = ((stretch[begin:stop], begin, stop) for begin, stop in places)
            # a user's pattern may match the empty text
            words += [(word, at + begin, at + stop) for word, begin, stop in spans if word]
            if start < end:
                words.append((prepared[start:end], start, end))
            at = end
        return words

    @property
    def _where(self) -> str:
        """The name of the split in errors."""
        return f"split={self.name.partition(':')[0]}:"

    def safe_cut(self, text: str, at: int) -> int:
        """Return the first safe cut from `at` on, except 0; the length of the text if there is none.

        There, `words(head) + words(tail, first=False)` are the words of the whole, for any text.
        """
        return next(self.cuts(text, at), len(text))

    def cuts(self, text: str, at: int) -> Iterator[int]:
        """Yield the safe cuts of a text from `at` on, except 0. None is next to a character whose class may
        not be that of the installed tables."""
        if self.cut is None:
            return
        for match in patterns.find_short(self.cut, text, max(at - 1, 0)):
            end: int = match.end()
            if not self.tables.lists(text[max(end - 2, 0) : end + 2]):
                yield end


@functools.lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Return the compiled form of a split pattern.

    Raises:
        TokentuiError: The pattern cannot be compiled. The message has the offset.
    """
    import regex  # not before the first paint, which knows no pattern

    if spread(pattern) > MOST_SPREAD:
        raise TokentuiError("the pattern repeats too many times", "split=regex:", "write smaller counts")
    try:
        return regex.compile(pattern, regex.VERSION0)
    except regex.error as error:
        place = f" at position {error.pos}" if getattr(error, "pos", None) is not None else ""
        what = f"the pattern cannot be compiled: {error.msg}{place}"
        raise TokentuiError(what, "split=regex:", "fix the pattern") from None
    except (RecursionError, OverflowError, MemoryError):
        what = "the pattern is too large to compile"
        raise TokentuiError(what, "split=regex:", "write a shorter one") from None


def compile_own(pattern: str) -> regex.Pattern[str]:
    """Compile a user's pattern, in which classes may have set operations.

    Raises:
        TokentuiError: As `compile_pattern`.
    """
    return compile_pattern(sets.expanded(pattern))


def _compiles(recipe: Recipe) -> None:
    compile_own(recipe.split.partition(":")[2])


def _spaceless(recipe: Recipe) -> Refusal | None:
    what, takes = "an added space would be dropped", ("split=gpt2", "split=metaspace")
    return Refusal("prefix_space", what, takes, fades=True) if recipe.prefix_space else None


_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
# A letter, digit or symbol is followed by another class. An apostrophe may begin a contraction.
_GPT2_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}'](?=[\s\p{L}\p{N}])|'(?=[\s\p{N}])"
# A symbol may be followed by its line ends, or begin a word.
_GPT4_CUT = r"\p{L}(?=\P{L})|\p{N}(?=\P{N})|[^\s\p{L}\p{N}](?=\p{N}|[^\S\r\n])"
# A mark or a contraction belongs to the letters before it.
_GPT4O_CUT = r"\p{L}(?=[^\p{L}\p{M}'])|\p{N}(?=\P{N})|[^\s\p{N}](?=\p{N}|[^\S\r\n])"
# A Han letter is in a run of Han characters. Others are digits (U+3007) or symbols, also in words of these.
_KIMI_CUT = (
    r"(?=\p{L})\p{Han}(?=\P{Han})|(?!\p{Han})\p{L}(?=[^\p{L}\p{M}'])|(?!\p{Han})\p{N}(?=\P{N})"
    r"|[^\s\p{N}](?=(?!\p{Han})\p{N}|[^\S\r\n])"
)
_BERT = f"{BERT_SPACES}{BERT_PUNCTUATION}"
_CONTRACTION = "contraction, in either case"
_LETTERS = "letters, with one leading punctuation mark or space"
_DIGITS = "up to three digits"
_SIGNS = "punctuation and the newlines after it"
_TO_END, _TO_ENDS = "whitespace up to a newline", "whitespace up to newlines"
_BUT_LAST = "whitespace, except the last one before a word"
_AT_END, _ONE_SPACE, _SPACE = "whitespace at the end of the text", "one whitespace character", "whitespace"
_GPT2_BRANCHES = (
    "contraction", "letters, with optional leading space", "digits, with optional leading space",
    "punctuation, with optional leading space", _AT_END, _BUT_LAST, _ONE_SPACE,
)

SPLITS = Axis(
    "split", "how the text is cut into pre-tokens, which merges never cross",
    Split("none", "no split: each document is one pre-token", pattern=r"(?s).+", branches=("all of it",)),
    Split(
        "whitespace", "at whitespace, which is dropped", pattern=r"\S+", cut=r"(?s)\s(?=.)|.(?=\s)",
        keeps_spaces=False, dropped=r"\s", refuses=_spaceless,
        branches=("text between whitespace",), rule="whitespace",
    ),
    Split(
        "space", "at U+0020 only, which is dropped", pattern=r"[^ ]+", cut=r"(?s) (?=.)|.(?= )",
        keeps_spaces=False, dropped=" ", refuses=_spaceless, branches=("text between spaces",),
        rule="space",
    ),
    Split(
        "words", "runs of word characters, runs of punctuation", pattern=r"\w+|[^\w\s]+",
        cut=r"(?s)\w(?=\W)|\s(?=.)|[^\w\s](?=[\w\s])", keeps_spaces=False, dropped=r"\s", refuses=_spaceless,
        branches=("letters, digits and underscores", "punctuation"),
    ),
    Split(
        "bert", "at whitespace, with punctuation separate", pattern=f"[^{_BERT}]+|[{BERT_PUNCTUATION}]",
        cut=f"(?s)[{_BERT}](?=.)|.(?=[{_BERT}])", keeps_spaces=False, dropped=f"[{BERT_SPACES}]", plain=True,
        refuses=_spaceless,
        branches=("letters, digits and symbols", "one punctuation mark"), rule="bert",
    ),
    Split(
        "before", "before each whitespace or punctuation character",
        pattern=r"[\s\p{P}][^\s\p{P}]*|[^\s\p{P}]+",
        cut=r"(?s).(?=[\s\p{P}])",
        branches=(
            "a space or a punctuation mark, and what follows up to the next",
            "a beginning with neither space nor punctuation",
        ),
    ),
    Split(
        "metaspace", "before each space, which becomes ▁; a space is added before the text",
        pattern="▁[^▁]*|[^▁]+",
        plain=True,
        cut="(?s).(?=[ ▁])", marks_spaces=True, branch_by_word=True,
        branches=("a space and the word after it", "a beginning without a space"),
    ),
    Split("gpt2", "GPT-2's pattern", pattern=_GPT2, cut=_GPT2_CUT, branches=_GPT2_BRANCHES, rule="gpt2"),
    Split(
        "cl100k", "GPT-4's pattern, as in current tiktoken",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        cut=_GPT4_CUT, rule="gpt4-trailing",
        branches=(_CONTRACTION, _LETTERS, _DIGITS, _SIGNS, _AT_END, _TO_END, _BUT_LAST, _ONE_SPACE),
    ),
    Split(
        "cl100k-classic", "GPT-4's pattern, as first published",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
        cut=_GPT4_CUT, rule="gpt4",
        branches=(_CONTRACTION, _LETTERS, _DIGITS, _SIGNS, _TO_END, _BUT_LAST, _SPACE),
    ),
    Split(
        "nanochat", "nanochat's pattern: GPT-4's as first published, with digits by two",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
        cut=_GPT4_CUT,
        branches=(_CONTRACTION, _LETTERS, "one or two digits", _SIGNS, _TO_END, _BUT_LAST, _SPACE),
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
            "letters that end in lower case, with one leading punctuation mark or space",
            "letters that begin in upper case, with one leading punctuation mark or space", _DIGITS,
            "punctuation and the newlines and slashes after it", _TO_ENDS, _BUT_LAST, _SPACE,
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
        "qwen", "Qwen's pattern: Llama-3's with single digits",
        pattern=r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        cut=_GPT4_CUT, rule="qwen",
        branches=(_CONTRACTION, _LETTERS, "one digit", _SIGNS, _TO_ENDS, _BUT_LAST, _SPACE),
    ),
    Split(
        "kimi", "Kimi's pattern: GPT-4o's, with runs of Han characters separate",
        pattern=sets.expanded(
            r"[\p{Han}]+"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        cut=_KIMI_CUT,
        branches=(
            "Han characters", "letters that end in lower case, with one leading punctuation mark or space",
            "letters that begin in upper case, with one leading punctuation mark or space", _DIGITS, _SIGNS,
            _TO_ENDS,
            _BUT_LAST, _SPACE,
        ),
    ),
    Split(
        "superwords",
        "SuperBPE's second stage: long stretches of a line, with digits and punctuation separate",
        pattern=r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
        r"|(?:(?!\p{N}| ?[^\s\p{L}\p{N}]{2}| +(?!\S))[^\n])+\n?|\n",
        cut=r"[^\s\p{N}](?=\p{N})|\p{N}(?=\P{N})|\p{L}\n",
        branches=(
            _DIGITS, "two or more punctuation marks and the newlines and slashes after them",
            "spaces, except the last one before a word",
            "everything between these, up to the end of the line",
            "a newline",
        ),
    ),
    Split(
        "superbpe-words", "SuperBPE's first stage: GPT-4o's pattern without contractions",
        pattern=r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        cut=_GPT4O_CUT,
        branches=(
            "letters that end in lower case, with one leading punctuation mark or space",
            "letters that begin in upper case, with one leading punctuation mark or space", _DIGITS,
            "punctuation and the newlines and slashes after it", _TO_ENDS, _BUT_LAST, _SPACE,
        ),
    ),
    Split(
        "falcon", "Falcon's chain: punctuation, GPT-2, then digits in groups of three",
        pattern=_GPT2, cut=_GPT2_CUT,
        find_words=falcon, branch_pattern="[0-9]{3}|" + _GPT2, branches=("three digits", *_GPT2_BRANCHES),
        branch_by_word=True, single_word=" ?[A-Za-z]+",
    ),
    Split(
        "regex", "the matches of your own pattern", "PATTERN", r"\w+|\s+",
        keeps_spaces=False, refuses=_compiles,
    ),
)
"""The splits, by name. The patterns of GPT-2 and later OpenAI models are those of tiktoken."""


@functools.lru_cache(maxsize=64)
def splitter(split: str, unicode: str = NEWEST_UNICODE) -> Splitter:
    """Return the splitter of a value of the axis, without symbols, by the Unicode tables of a name. Cached.

    A leading space is the default of the split; see `splitter_of` for that of a recipe.

    Raises:
        TokentuiError: The value is unknown, or its pattern cannot be compiled.
    """
    record = SPLITS.of(split)
    if record.text:
        _pattern(split)
    return Splitter(split, record, record.marks_spaces, unicode=unicode)


@functools.lru_cache(maxsize=64)
def _pattern(split: str) -> Any:
    record = SPLITS.of(split)
    if record.text:
        return compile_own(split.partition(":")[2])
    return (re.compile if record.plain else compile_pattern)(record.pattern)


@functools.lru_cache(maxsize=64)
def _ascii_pattern(split: str) -> re.Pattern[str] | None:
    record = SPLITS.of(split)
    return None if record.text or record.plain else sets.in_ascii(record.pattern)


@functools.lru_cache(maxsize=64)
def _cut(split: str) -> Any:
    source = cut_pattern(split)
    return (re.compile if SPLITS.of(split).plain else compile_pattern)(source) if source else None


def cut_pattern(split: str) -> str:
    """Return the pattern of safe cuts, as in `Split.cut`. For `regex:` splits it is derived from the pattern,
    if possible."""
    record = SPLITS.of(split)
    return cuts.cut_of(sets.expanded(split.partition(":")[2])) if record.text else record.cut


@functools.lru_cache(maxsize=64)
def splitter_of(recipe: Recipe) -> Splitter:
    """Return the splitter of a recipe, with its split, symbols and leading space.

    sentencepiece puts ▁ in front of every text; Hugging Face does not if the text begins with a space.
    Symbols are sentencepiece's. With symbols, no safe cut is known.

    Raises:
        TokentuiError: The pattern cannot be compiled.
    """
    plain, names = splitter(recipe.split, recipe.unicode), sorted(recipe.symbols, key=len, reverse=True)
    always = plain.record.marks_spaces and (recipe.pieces != "any" or bool(names))
    shaped = replace(plain, prepends_space=spaced(recipe), always_prepends=always)
    if not names:
        return shaped
    return replace(shaped, symbols=re.compile(f"({'|'.join(map(re.escape, names))})"))


@functools.lru_cache(maxsize=64)
def branches(split: str, unicode: str = NEWEST_UNICODE) -> patterns.Branches:
    """Return the top-level alternatives of the pattern of a split, each with a label and compiled. Cached.

    A split without a pattern, such as `none`, has one branch with the empty pattern. A pattern of which an
    alternative does not compile by itself, as it refers to a group of another one, is one branch.

    Args:
        split: The value of the axis, such as `gpt2` or `regex:\\w+`.
        unicode: The name of the Unicode tables, as in a recipe.

    Raises:
        TokentuiError: The pattern cannot be compiled.
    """
    record = SPLITS.of(split)
    pattern = record.branch_pattern or record.pattern or split.partition(":")[2]
    compiled = re.compile if record.plain else compile_own if record.text else compile_pattern
    whole, parts = compiled(pattern), patterns.alternatives(pattern)
    seen = splitter(split, unicode).tables.seen
    try:
        compiled_parts = tuple(map(compiled, parts))
    except TokentuiError:  # a branch that refers to a group of another one
        return patterns.Branches((pattern,), record.branch_by_word, (whole,), seen)
    meanings = itertools.chain(record.branches, itertools.repeat(""))
    names = tuple(map(_named, parts, meanings))
    return patterns.Branches(names, record.branch_by_word, compiled_parts, seen)


def _named(part: str, meaning: str) -> str:
    """Return the label of a branch: its meaning and its pattern. Without a meaning, or with a long pattern,
    only one of them."""
    if not meaning:
        return part
    return meaning if len(part) > _READABLE else f"{meaning}  {part}"


def own_space(split: str, space: bool) -> bool | None:
    """Return the `prefix_space` for a recipe with or without a leading space; None if it is the default of
    the split.

    Args:
        split: The value of the axis.
        space: True for a leading space.
    """
    return None if space is SPLITS.of(split).marks_spaces else space


def spaced(recipe: Recipe) -> bool:
    """Return whether a text without a space at its start gets one in front."""
    return SPLITS.of(recipe.split).marks_spaces if recipe.prefix_space is None else recipe.prefix_space
