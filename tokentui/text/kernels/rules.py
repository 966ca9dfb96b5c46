"""What two neighbouring characters say about the border between them, for each split that has a scanner.

Most borders of words follow from the classes of the two characters beside them. A scanner looks these up, and runs the whole
rule of a word (`scan_words`) only where the table says ASK. Words are found from left to right, so an entry has to hold where
the word of the left character starts at a true border and every pair since then said JOIN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tokentui.recipe import Recipe
from tokentui.text.kernels.classes import (
    APOSTROPHE,
    CLASSES,
    EITHER,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    SIGN,
    SLASH,
    SPACE,
    SPACING,
    START,
    UPPER,
)

JOIN = 0
CUT = 1
"""A word ends here."""
ASK = CUT | 2
"""Run the rule of the whole word."""
BORDER = CUT | 4
"""A word ends here whatever stands around, and the words before are the same if the text ends here: it may be cut in two."""
DROP = 8
"""Added to a border: what starts here is no word."""

_SPACES = (SPACE, SPACING, NEWLINE)
_SIGNS = (SIGN, APOSTROPHE, SLASH, MARK)
_LETTERS = (EITHER, UPPER, LOWER)


def _gpt2(left: int, right: int) -> int:
    if left in _SPACES:
        if right in _SPACES:
            return ASK  # the last of a run stands alone or with what follows
        return JOIN if left == SPACE else CUT
    if left == APOSTROPHE and right in _LETTERS:
        return ASK  # a contraction, perhaps
    same = any(left in kind and right in kind for kind in (_LETTERS, _SIGNS, (NUMBER,)))
    return JOIN if same else BORDER


def _gpt4(left: int, right: int) -> int:
    if left in _SPACES:
        if right in _SPACES:
            return JOIN if left == right == NEWLINE else ASK
        joins = right in _LETTERS if left == SPACING else right in _LETTERS + _SIGNS
        return JOIN if joins and left != NEWLINE else CUT
    if left in _SIGNS:
        if right in _LETTERS:
            return ASK  # a single sign begins their word; so does a contraction
        return JOIN if right in (*_SIGNS, NEWLINE) else BORDER
    if left == NUMBER:
        return ASK if right == NUMBER else BORDER  # by threes
    return JOIN if right in _LETTERS else BORDER


def _gpt4o(left: int, right: int) -> int:
    if left in _LETTERS:
        if right == APOSTROPHE:
            return ASK  # a contraction belongs to its word
        if right == UPPER:
            return JOIN if left == UPPER else ASK if left == EITHER else CUT
        return JOIN if right in (*_LETTERS, MARK) else BORDER
    if left == MARK:  # among letters, or the first of a word: it counts as one of them
        if right in (UPPER, APOSTROPHE):
            return ASK
        if right in (MARK, EITHER, LOWER):
            return JOIN
        return BORDER if right in (SPACE, SPACING, NUMBER) else CUT
    if right == MARK and left != NEWLINE:
        return JOIN if left in (SPACE, SPACING) else BORDER if left == NUMBER else ASK
    if left == NEWLINE and right == SLASH:
        return ASK  # it belongs to the line ends after signs
    return _gpt4(left, right)


def _whitespace(left: int, right: int) -> int:
    if (left in _SPACES) == (right in _SPACES):
        return JOIN
    return BORDER | DROP if right in _SPACES else BORDER


def _bert(left: int, right: int) -> int:
    if left == right and left != SIGN:
        return JOIN
    return BORDER | DROP if right == SPACE else BORDER


_PAIRS: dict[str, Callable[[int, int], int]] = {
    "gpt2": _gpt2, "cl100k": _gpt4, "cl100k-classic": _gpt4, "llama3": _gpt4, "o200k": _gpt4o,
    "whitespace": _whitespace, "bert": _bert, "bert-runs": _bert,
}
RUNS = "bert-runs"
"""Not a split, but scanned: what stands between the white space that BERT's normalisation keeps."""
SCANNED = tuple(name for name in _PAIRS if name != RUNS)
"""The splits that have a scanner."""
GPT2, GPT4, GPT4_TRAILING, GPT4O = range(4)
WORD_RULES = {"gpt2": GPT2, "cl100k": GPT4_TRAILING, "o200k": GPT4O}
"""The rule of the whole word, GPT4 where none stands. The splits that drop white space never ask."""


def is_shaped(recipe: Recipe) -> bool:
    """Whether words are cut by more than the split: at symbols, or after a space that is set in front or left out."""
    return bool(recipe.symbols) or recipe.prefix_space is not None


def is_bert(recipe: Recipe) -> bool:
    """Whether the words of a text are those of its runs, each normalised and split by itself."""
    return not is_shaped(recipe) and recipe.split == "bert" and recipe.normalize in (("bert-uncased",), ("bert-cased",))


def is_spaced(recipe: Recipe) -> bool:
    """Whether the words of a text are those of its runs, each normalised and split by itself.

    The white space that BERT's normalisation keeps are spaces after `nmt-nfkc` too, which makes one of several and none at the
    ends; no rule of it begins with a space; and `metaspace` sets a ▁ before a text as before all that follows a space.
    """
    return not is_shaped(recipe) and recipe.split == "metaspace" and recipe.normalize == ("nmt-nfkc",)


def scans(recipe: Recipe) -> bool:
    """Whether the words of a recipe are counted by kernels."""
    if is_shaped(recipe):
        return False
    return is_spaced(recipe) or (recipe.split in SCANNED and (not recipe.normalize or is_bert(recipe)))


@functools.cache
def pairs(split: str) -> bytes:
    """The table of a split: an entry for each two classes."""
    rule = _PAIRS[split]
    drops = {SPACE, SPACING, NEWLINE} if rule in (_whitespace, _bert) else set()
    return bytes(
        (CUT | DROP if right in drops else CUT) if left == START else rule(left, right)
        for left in range(CLASSES)
        for right in range(CLASSES)
    )
