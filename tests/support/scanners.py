"""What the tests of scanners share: characters of each class, and the count by patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import strategies as st

from tokentui.recipe import Recipe
from tokentui.text import split as splits
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count_steps
from tokentui.text.kernels.rules import ClassTable
from tokentui.text.split import splitter

SPLITS = tuple(name for name, one in splits.SPLITS.items() if one.rule)
SHORT = " \t\n.'/1aAs中\u0301lſ"
"""A character or two of each class."""
TRICKY = (
    "aAbBsStTmMdDlLvVrReEſK'’  \n\n\r\t\x0b\u00a0\u3000\u0085\u2028\x1c.,!?/-_|$+▁°€1234９²½\0"
    "中文。，のーが\u0301\u0903\u200dǅʰ😂𝐀𝐚\udc82\udcb2\ud83d"
)
texts = st.one_of(
    st.text(st.sampled_from(TRICKY), max_size=24), st.text(max_size=24), st.text(st.characters(), max_size=24)
)
"""Texts in which classes meet; the last kind has lone surrogates of any value."""


def class_of(table: ClassTable, code: int) -> int:
    """The class of a code point."""
    return table.low[memoryview(table.high).cast("H")[code >> 7] << 7 | code & 127]


def by_pattern(documents: Iterable[str], split: str) -> list[tuple[str, int]]:
    """The distinct words in order of first appearance with their counts, as the pattern of the split has
    them."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(splitter(split).words(document))
    return list(counts.items())


def plain_count(corpus: Corpus, recipe: Recipe) -> Words:
    """The words of a corpus as plain Python counts them, whatever kernels are loaded."""
    *_, (_, _, counts) = count_steps(corpus, recipe)
    return Words.of(counts)
