"""Rules for the border between two neighbouring characters, for each split that has a scanner.

Most borders of words follow from the classes of the two characters around them. A scanner looks these up, and
runs the whole rule of a word (`scan_words`) only where the table has ASK. Words are found from left to
right, so an entry has to hold where the word of the left character starts at a true border and every pair
since then has JOIN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

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
from tokentui.text.split import SPLITS

JOIN = 0
CUT = 1
"""A word ends here."""
ASK = CUT | 2
"""Run the rule of the whole word."""
BORDER = CUT | 4
"""A word ends here whatever stands around, and the words before are the same if the text ends here: it may be
cut in two."""
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


GPT2, GPT4, GPT4_TRAILING, GPT4O = range(4)
RUNS = "bert-runs"
"""Not a split, but scanned: what stands between the white space that BERT's normalisation keeps."""


class Rule(NamedTuple):
    """A rule of `text.split.Split`: what two characters say, and the rule of the whole word where they say
    ASK."""

    pairs: Callable[[int, int], int]
    word: int = GPT4  # never asked for where white space is dropped


RULES = {
    "gpt2": Rule(_gpt2, GPT2), "gpt4": Rule(_gpt4), "gpt4-trailing": Rule(_gpt4, GPT4_TRAILING),
    "gpt4o": Rule(_gpt4o, GPT4O), "whitespace": Rule(_whitespace), "bert": Rule(_bert), RUNS: Rule(_bert),
}
"""The rules by the names that records of splits give."""


def rule_of(split: str) -> str:
    """The name of the rule by which a split, or `RUNS`, is scanned; empty where it is not."""
    return split if split == RUNS else SPLITS.of(split).rule


def is_shaped(recipe: Recipe) -> bool:
    """True if more than the split determines the words of a text.

    Symbols do, and a space that is set in front or left out.
    """
    return bool(recipe.symbols) or recipe.prefix_space is not None


def is_bert(recipe: Recipe) -> bool:
    """True if BERT's rule applies: each run of a text is normalised and split by itself."""
    cleaned = recipe.normalize in (("bert-uncased",), ("bert-cased",))
    return not is_shaped(recipe) and cleaned and rule_of(recipe.split) == "bert"


def is_spaced(recipe: Recipe) -> bool:
    """True if each run of a text is normalised by `nmt-nfkc` and split by itself.

    `nmt-nfkc` turns the white space that BERT's normalisation keeps into spaces. It squeezes several spaces
    into one and drops those at the ends. None of its rules begins with a space. `metaspace` sets a ▁ before a
    text as it does in place of each space.
    """
    return (
        not is_shaped(recipe) and recipe.normalize == ("nmt-nfkc",) and SPLITS.of(recipe.split).marks_spaces
    )


def scans(recipe: Recipe) -> bool:
    """True if kernels count the words of a recipe."""
    if is_shaped(recipe):
        return False
    return is_spaced(recipe) or (bool(rule_of(recipe.split)) and (not recipe.normalize or is_bert(recipe)))


@functools.cache
def pairs(split: str) -> bytes:
    """The table of a split: an entry for each two classes."""
    rule = RULES[rule_of(split)].pairs
    drops = {SPACE, SPACING, NEWLINE} if rule in (_whitespace, _bert) else set()
    return bytes(
        (CUT | DROP if right in drops else CUT) if left == START else rule(left, right)
        for left in range(CLASSES)
        for right in range(CLASSES)
    )
