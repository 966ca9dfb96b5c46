"""The mistakes of students in training, each as the ways to train that make it.

A mistake sets one or two fields of a `Method`. Two mistakes can be combined if they set different fields. A
value that an exercise asks for is no mistake there: `faults_for` leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from tokentui.analyze.grading.model import Method
from tokentui.recipe import Recipe
from tokentui.text.split import SPLITS

Knobs = tuple[tuple[str, "str | bool"], ...]


@dataclass(frozen=True)
class Fault:
    """A mistake.

    Attributes:
        name: Its name in JSON.
        what: The mistake, as a sentence without a period.
        why: The rule that it breaks, one sentence.
        try_: What to look at in the program, one sentence.
        tiny: A text on which it shows.
        ways: The fields of `Method` that it sets, in each of the ways that programs make it.
        needs: The condition of exercises that it applies to: `specials`, `mark`, `bytes`, `split`, `score`,
            `count`; empty for all.
    """

    name: str
    what: str
    why: str
    try_: str
    tiny: str
    ways: tuple[Knobs, ...]
    needs: str = ""


def _fault(
    name: str, what: str, why: str, try_: str, tiny: str, *ways: dict[str, str | bool], needs: str = ""
) -> Fault:
    return Fault(name, what, why, try_, tiny, tuple(tuple(way.items()) for way in ways), needs)


_TIE = "The exercise says which of the pairs with the same count is merged."
_LOOK_TIE = "Look at the call of max or sorted that picks the pair, and at its key."
_LOOK_READ = "Look at the lines that read the file, before anything is counted."
_LOOK_SPLIT = "Look at the pattern, and at what happens to the text that it does not match."

FAULTS: tuple[Fault, ...] = (
    # ---- ties
    _fault("tie-largest-pair", "of equal counts you take the largest pair", _TIE, _LOOK_TIE, "ababa",
           {"tie": "largest-pair"}),
    _fault("tie-smallest-pair", "of equal counts you take the smallest pair", _TIE,
           "A heap of (-count, pair), and sorted by (-count, pair), give the smallest pair first.", "babab",
           {"tie": "smallest-pair"}),
    _fault("tie-first-seen", "of equal counts you take the pair that was seen first", _TIE,
           "max over a dict or Counter, and most_common, keep the first of equal counts.", "babab",
           {"tie": "first-seen"}, {"tie": "first-found"}),
    _fault("tie-last-seen", "of equal counts you take the pair that was seen last", _TIE,
           "A loop with >= in place of > keeps the last of equal counts.", "ababa",
           {"tie": "last-seen"}, {"tie": "last-found"}),
    _fault("tie-lowest-ids", "of equal counts you take the pair with the lowest ids", _TIE,
           "Compare what the exercise asks for: bytes of the two tokens or their ids.", "ababa",
           {"tie": "lowest-ids"}),
    _fault("tie-highest-ids", "of equal counts you take the pair with the highest ids", _TIE,
           "max over (count, pair) compares ids if the pair holds ids: compare the bytes of both tokens.",
           "ababa", {"tie": "highest-ids"}),
    _fault("tie-joined-token", "of equal counts you compare the joined tokens, not the pairs", _TIE,
           "Compare (left, right) before they are joined.", "abab",
           {"tie": "largest-token"}, {"tie": "smallest-token"}),
    _fault("tie-letters", "of equal counts you compare tokens in GPT-2's letters, not their bytes", _TIE,
           "In GPT-2's letters a space is Ġ, which is larger than every ASCII letter. Compare bytes.",
           "a a ab ab", {"tie": "largest-letters"}, {"tie": "smallest-letters"}, needs="bytes"),
    _fault("tie-length", "of equal counts you compare the lengths of the tokens", _TIE, _LOOK_TIE, "abcabc",
           {"tie": "longest"}, {"tie": "shortest"}, {"tie": "longest-largest"}, {"tie": "shortest-largest"}),
    _fault("tie-one-part", "of equal counts you compare one part first, not the pair from left to right",
        _TIE,
           "Compare (left, right), both parts.", "ab cb", {"tie": "right-part"}, {"tie": "left-part"}),
    _fault("tie-text", "of equal counts you compare tokens as texts, not their bytes", _TIE,
           "Compare bytes: str(b'a') starts with a quote, and bytes that are no text all look alike.", "a é",
           {"tie": "as-text"}, {"tie": "decoded"}, needs="bytes"),
    # ---- the mark of a word
    _fault("mark-separate",
        "</w> is a symbol of its own: it counts as one more unit and is merged like a letter",
           "The recipe of the exercise attaches no separate symbol to a word.",
           "Attach </w> to the last character, or leave it out, as the exercise says.", "a a a",
           {"mark": "end-symbol:</w>"}),
    _fault("mark-split", "</w> is cut into its own characters: it counts as two or more symbols",
           "The mark is one symbol, not the characters <, /, w and >.",
           'Append "</w>" to a list of symbols, not to a text that is cut later.', "a a a",
           {"mark": "end-letters"}),
    _fault("mark-attached", "</w> is part of the last character",
        "The recipe of the exercise has another mark.",
           "Compare with the first words of the exercise.", "a a a", {"mark": "end-suffix:</w>"}),
    _fault("no-mark", "words have no mark", "The recipe of the exercise marks words.",
           "Add the mark before the first count.", "a a a", {"mark": "none"}, needs="mark"),
    _fault("prefix-mark", "all letters but the first of a word carry ##",
           "The recipe of the exercise has another mark.", "Leave ## out.", "a a a", {"mark": "prefix:##"},
           needs="characters"),
    # ---- counting
    _fault("count-apart", "in a run such as aaa you count the pair without overlap",
           "Every pair of neighbors counts: aaa has the pair aa twice.",
           "Look for a loop that skips two symbols after it has counted a pair.", "abbb", {"count": "apart"}),
    _fault("count-two-by-two", "you count only every second pair: symbols 1 and 2, then 3 and 4",
           "Every pair of neighbors counts.", "Look for range(0, n, 2), or for word[::2].", "abab",
           {"count": "two-by-two"}),
    _fault("count-once", "you count a pair once in each word, even if the word has it twice",
           "Every place of a pair counts: banana has an twice.",
           "Look for a set of pairs, or for `if pair in`.", "banana", {"count": "once"}),
    _fault("count-but-last", "you do not count the last pair of each word",
           "A word of n symbols has n - 1 pairs.",
           "Look for range(len(word) - 2), or for a slice that ends early.",
           "abc", {"count": "but-last"}, {"count": "but-last", "replace": "but-last"}),
    _fault("count-but-first", "you do not count the first pair of each word",
           "A word of n symbols has n - 1 pairs.", "Look for a loop that starts at 1.", "abc",
           {"count": "but-first"}),
    _fault("distinct-words", "each distinct word counts once, however often it occurs",
           "A pair counts as often as its word occurs.",
           "Multiply each pair by the count of its word.", "aaa a a", {"weight": "distinct"}),
    _fault("least-frequent", "you merge the least frequent pair", "The most frequent pair is merged.",
           "Look for min, or for a sort in the wrong direction.", "aab", {"value": "least"}),
    _fault("score", "you rank pairs by the score of WordPiece, not by their count",
           "Byte-pair encoding takes the largest count.", "Do not divide by the counts of the parts.",
           "ababcd",
           {"value": "score"}, {"value": "sum-score"}, needs="count"),
    _fault("count-for-score", "you rank pairs by their count, not by their score",
           "WordPiece takes the largest count(ab) / (count(a) · count(b)).",
           "Divide by the product of the counts of both parts.", "ababcd", {"value": "count"}, needs="score"),
    _fault("summed-score", "the score divides by the sum of the counts, not by their product",
           "WordPiece takes the largest count(ab) / (count(a) · count(b)).", "Multiply the two counts.",
           "ababcd",
           {"value": "sum-score"}, needs="score"),
    _fault("longest", "you rank pairs by count times length", "The pair with the largest count is merged.",
           "Do not multiply by the length of the token.", "ababcd", {"value": "length"}, needs="count"),
    # ---- counts after a merge
    _fault("stale-counts",
        "counts are stale after a merge: the pairs next to a merged pair keep their old count",
           "A merge of b+c in a b c d removes a+b and c+d, and adds a+bc and bc+d.",
           "After each merge lower the count of the pair before and of the pair after.", "aabaab",
           {"update": "stale"}, {"update": "stale-left"}, {"update": "stale-right"},
           {"update": "exact-once"}),
    _fault("no-new-pairs", "pairs with a new token are never counted",
           "A merge of b+c in a b c d adds the pairs a+bc and bc+d.",
           "Add the pairs on both sides of a new token.", "aabaab", {"update": "no-new-pairs"}),
    _fault("counted-once", "pairs are counted once, before the first merge",
           "Counts change with each merge.", "Count again after each merge, or update the counts.", "aabaab",
           {"update": "never"}),
    # ---- replacing
    _fault("overlapping-merges", "places that share a symbol are both merged: aaa becomes aa aa",
           "After a merge the loop goes on behind both symbols.", "Advance by two after a merge.", "aaabaaa",
           {"replace": "overlapping"}, {"replace": "keeps-right"}),
    _fault("first-place", "only the first place in each word is merged",
           "A merge replaces the pair everywhere.", "Look for a return or break in the loop, or for index().",
           "aaaaaa", {"replace": "first"}, {"replace": "first", "update": "deleted"}),
    _fault("right-to-left", "a word is merged from right to left",
           "Runs are merged from the left: aaa becomes aa a.", "Go through the word from its start.",
           "aaabaaa",
           {"replace": "right-to-left"}),
    _fault("text-replace", "the pair is replaced as text, also inside longer tokens",
           "A merge joins two whole tokens. The text `b c` is also in `ab c`.",
           "Look for str.replace on tokens joined by spaces: compare whole tokens.", "abcbc",
           {"replace": "text"}),
    _fault("last-symbol-lost", "the last symbol of a word is lost when a pair in it is merged",
           "A merge keeps every symbol outside the pair.",
           "After the loop, append the symbol that is left.", "abc", {"replace": "loses-last"}),
    _fault("last-pair-unmerged", "the last pair of a word is never merged",
           "A merge replaces the pair everywhere.",
           "Look at the end of the loop: the last pair is at len - 2.",
           "abab", {"replace": "but-last"}),
    # ---- pre-tokens
    _fault("no-pretokens", "pairs are counted and merged across words: the text is not pre-tokenized, or the "
           "borders are lost", "No merge crosses the border of a pre-token.",
           "Count pairs inside each pre-token, never from one to the next.", "aaa a b",
           {"split": "none"}, {"cross": True}, needs="split"),
    _fault("spaces-lost", "the text is split at whitespace, and the spaces are lost",
           "The pattern of the exercise keeps a space in front of its word.",
           "Use the pattern of the exercise in place of split().", "a a a", {"split": "whitespace"},
           {"split": "space"}, needs="split"),
    _fault("across-words", "the text is split at whitespace, and pairs are counted from one word to the next",
           "No merge crosses the border of a pre-token.",
           "Keep the words apart: do not join their symbols to one list.", "ab ab",
           {"split": "whitespace", "cross": True}, needs="split"),
    _fault("other-pattern", "the text is pre-tokenized with another pattern",
           "The exercise says how the text is cut.", _LOOK_SPLIT, "don't  stop, 1234!",
           {"split": r"regex:\w+"}, {"split": r"regex: ?\w+"}, {"split": r"regex: ?\S+"}, {"split": "words"},
           {"split": r"regex: ?[^ ]+"}, {"split": r"regex:\w+|\W+"},
           {"split": r"regex:\w+|[^\w\s]"},
           {"split": r"regex:\s*\S+"}, {"split": r"regex:\S+\s*"}, {"split": r"regex:\S+|\s+"},
           {"split": r"regex: ?\w+| ?[^\w\s]+|\s+"},
           {"split": r"regex: ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"},
           {"split": r"regex:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+"},
           {"split": r"regex:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"},
           {"split": r"regex:'(?:[sdmt]|ll|ve|re)|\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"},
           {"split": "gpt2"}, {"split": "cl100k-classic"}, {"split": "cl100k"}, {"split": "o200k"},
           {"split": "bert"}, {"split": "before"}, {"split": "metaspace"}, needs="split"),
    # ---- special tokens
    _fault("special-as-text", "the special token is counted as text, so that pieces of it are learned",
           "The text is cut at special tokens, and they are not counted.",
           "Split the text at the special tokens before you count.", "ab|><|endoftext|>ab",
           {"specials": "text"}, {"specials": "counted"}, needs="specials"),
    _fault("special-removed", "the special token is removed, so that the text before and after it is joined",
           "The text is cut at special tokens: nothing is counted across one.",
           "Split at the special token; do not replace it by nothing or by a space.", "a<|endoftext|>b",
           {"specials": "removed"}, {"specials": "spaced"}, {"specials": "newlined"}, needs="specials"),
    _fault("special-unescaped", "the special token is split as a pattern: its | means `or`",
           "The text is cut at special tokens as they are written.", "Use re.escape on each special token.",
           "ab<|endoftext|>ab", {"specials": "unescaped"}, needs="specials"),
    _fault("special-stripped", "the text between special tokens is stripped of spaces and line ends",
           "All text between special tokens counts.", "Look for strip().", "ab\n<|endoftext|>\nab",
           {"specials": "stripped"}, needs="specials"),
    _fault("documents-lost", "only some of the documents are counted", "All documents count.",
           "Look at the loop over the documents, and at what follows the last special token.",
           "ab<|endoftext|>cd", {"specials": "first"}, {"specials": "last-lost"}, {"specials": "first-lost"},
           needs="specials"),
    _fault("documents-lost", "only some of the documents are counted", "All documents count.",
           "Look at the loop over the documents.", "", {"text": "first-document"},
           {"text": "last-document-lost"},
           needs="documents"),
    # ---- the text
    _fault("lower-case", "the text is made lower case", "Capitals are other characters.",
           "Look for lower().", "AAA", {"text": "lower"}, {"text": "casefold"},
           {"words": "lower"}, {"words": "casefold"}),
    _fault("universal-newlines", "the text is read with universal newlines: CR LF has become LF",
           "The bytes of the file count as they are.",
           'Open the file with newline="", or read bytes and decode them.', "\r\r\r", {"text": "newlines"}),
    _fault("stripped", "the text is stripped at its ends", "The bytes of the file count as they are.",
           _LOOK_READ, "ab ab ", {"text": "strip"}, {"text": "leading-space"}),
    _fault("line-by-line", "the text is read line by line, and line ends are lost",
           "The bytes of the file count as they are.",
           "Look for splitlines(), rstrip() and loops over the open file.", "ab\n\nab",
           {"text": "lines"}, {"text": "stripped-lines"}, {"text": "no-newlines"}, {"text": "one-space"},
           {"text": "no-line-ends"}, {"text": "no-lf"}),
    _fault("first-line", "only the first line is read", "All of the file counts.",
           "readline() returns one line: use read().", "ab\nab", {"text": "first-line"}),
    _fault("normalized", "the text is normalized (NFC, NFD or NFKC)",
        "The bytes of the file count as they are.",
           "Look for unicodedata.normalize.", "ﬁ", {"text": "nfc"}, {"text": "nfd"}, {"text": "nfkc"}),
    _fault("other-encoding", "the file is read in another encoding than UTF-8", "The file is UTF-8.",
           'Open the file with encoding="utf-8", without errors="replace".', "é",
           {"text": "latin-1"}, {"text": "ascii-replaced"}),
    _fault("words-stripped", "the spaces of pre-tokens are stripped", "A space in front belongs to its word.",
           "Look for strip() where words are counted.", "a a a", {"words": "strip"}, needs="split"),
    _fault("punctuation-lost", "punctuation is removed", "The bytes of the file count as they are.",
           _LOOK_READ, "ab. ab.", {"text": "no-punctuation"}),
    _fault("ascii-only", "characters outside ASCII are lost", "The bytes of the file count as they are.",
           'Look for encode("ascii", "ignore") and errors="ignore".', "ééé", {"text": "ascii"}),
    _fault("characters", "you merge characters, not bytes", "The units are the bytes of UTF-8.",
           'Encode the text: text.encode("utf-8").', "éé", {"unit": "char", "base": "sorted"}, needs="bytes"),
    _fault("bytes-for-characters", "you merge bytes, not characters", "The units are characters.",
           "Go through the characters of the text.", "éé", {"unit": "byte", "base": "sorted"},
           needs="characters"),
    _fault("byte-order", "ids of bytes are in the order of GPT-2's letters",
           "The id of a byte is the value of the byte.",
           "bytes_to_unicode starts with `!`: use bytes([n]) for n in range(256).", "aaa a a",
           {"base": "gpt2-bytes"}, needs="bytes"),
    _fault("byte-order-plain", "ids of bytes are the values of the bytes",
           "The ids of bytes are in the order of GPT-2's letters.", "Use the order of bytes_to_unicode.",
           "aaa a a", {"base": "bytes"}, needs="bytes"),
    # ---- submissions
    _fault("pair-reversed", "each merge is written the wrong way round: the right part first",
           "A merge is written (left, right).", "Look at the line that appends to the merges.", "ab",
           {"output": "reversed"}),
)
"""The mistakes in training. Of two that give the same merges both are named."""
ORDER_LOST = _fault("order-lost", "the merges are right, but not in the order in which they were made",
                    "A merge is applied in the order of training.", "Do not sort the merges.", "")
"""A mistake that is seen without a training."""


def faults_for(recipe: Recipe, specials: Sequence[str], documents: int) -> Iterator[tuple[Fault, Method]]:
    """Yield the mistakes that can be made in an exercise, each with a way to train that makes it.

    Args:
        recipe: The recipe of the exercise.
        specials: The special tokens that are borders.
        documents: The number of documents of the corpus.
    """
    holds = {
        "specials": bool(specials), "mark": recipe.mark_kind not in ("none",), "bytes": recipe.unit == "byte",
        "characters": recipe.unit != "byte", "split": recipe.split != "none",
        "score": recipe.objective == "score", "count": recipe.objective == "count",
        "documents": documents > 1,
        "": True,
    }
    for fault in FAULTS:
        if holds[fault.needs]:
            for way in fault.ways:
                method = with_knobs(recipe, Method(), way)
                if method is not None:
                    yield fault, method
            if fault.name == "other-pattern":
                for pattern in _other_patterns(recipe.split):
                    yield fault, Method(split=pattern)


_EDITS = (
    (r"\p{N}{1,3}", r"\p{N}+"), (r"\p{N}{1,3}", r"\p{N}"), (r"\p{N}{1,3}", r"\p{N}{1,2}"), (r"(?i:", "(?:"),
    (r"'(?i:[sdmt]|ll|ve|re)|", ""), (r"|\s+(?!\S)|\s+", r"|\s+"), (r"[\r\n]*", ""), (r"[^\r\n\p{L}\p{N}]?+",
        " ?"),
    (r"[^\r\n\p{L}\p{N}]?+", ""), (r"\s*[\r\n]|", ""), (r"?\p{N}+", r"?\p{N}"), (r" ?\p{L}+", r" ?[a-zA-Z]+"),
    (r"\p{L}", r"\w"),
)
"""Changes of a pattern that students make: a part, and what it becomes."""


def _other_patterns(split: str) -> Iterator[str]:
    """Yield patterns that differ from that of a split in one part."""
    record = SPLITS.get(split)
    pattern = record.pattern if record is not None else ""
    for old, new in _EDITS:
        if pattern and old in pattern:
            yield f"regex:{pattern.replace(old, new)}"
    if pattern and split != "none":
        yield f"regex:(?i:{pattern})"


def with_knobs(recipe: Recipe, method: Method, knobs: Iterable[tuple[str, str | bool]]) -> Method | None:
    """Return a method with other values of some fields; None if all of them are right under the recipe."""
    changed = replace(method, **dict(knobs))  # type: ignore[arg-type]
    rights = {"tie": recipe.tie, "value": recipe.objective, "split": recipe.split, "unit": recipe.unit,
              "mark": recipe.mark, "base": recipe.base, "weight": recipe.weight}
    return None if all(value == rights.get(name, "") for name, value in knobs) else changed


def combined(one: Method, other: Method) -> Method | None:
    """Return the method with the mistakes of both; None if both set the same field."""
    plain = Method()
    changes = {}
    for field in fields(Method):
        values = {getattr(method, field.name) for method in (one, other)} - {getattr(plain, field.name)}
        both = all(getattr(method, field.name) != getattr(plain, field.name) for method in (one, other))
        if both:
            return None
        if values:
            changes[field.name] = values.pop()
    return replace(plain, **changes)
