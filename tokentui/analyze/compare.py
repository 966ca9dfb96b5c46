"""Two to four tokenizers side by side on one corpus: measures, agreement pair by pair, and shared tokens.

For the agreement the corpus is cut in stretches at places where no tokenizer looks across, and each distinct
stretch is encoded once. The totals are those of encoding the documents whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tokentui.analyze.agreement import Agreement, Overlap, agreement, cuts, disagreements, overlap, word_spans
from tokentui.analyze.metrics import MeasureRow, rows_of
from tokentui.analyze.tally import Conventions, Tally, in_parts, tally
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import each, silent
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts
from tokentui.text.pretokenize import Pretokenizer

_BEFORE_SPACE = re.compile(r"\S(?=\s)")
FEWEST, MOST = 2, 4
"""The least and the greatest number of columns."""


@dataclass(frozen=True, slots=True)
class DifferentCut:
    """A stretch of the corpus that two tokenizers cut differently. It ends at the latest where both may be
    cut in two.

    Attributes:
        text: The stretch.
        count: The number of times it occurs.
        a: The tokens of the first, for people.
        b: The tokens of the second.
    """

    text: str
    count: int
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tokenizers on a corpus.

    Attributes:
        a: The number of the first.
        b: The number of the second.
        agreement: Their agreement.
        partings: The stretches that they cut differently most often, the most frequent first.
    """

    a: int
    b: int
    agreement: Agreement
    partings: tuple[DifferentCut, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tokenizers on a corpus.

    Attributes:
        tallies: The counts of each column; None for one that cannot read the corpus.
        errors: Why it cannot; None for the others.
        rows: The measures, a figure a column.
        pairs: The agreement of those that can read it, each with each, by the numbers of their columns.
        overlaps: The shared tokens of each two columns, by their numbers: tokens of the same exact bytes.
        bare: The same for tokens without their marks and without a space in front.
    """

    tallies: tuple[Tally | None, ...]
    errors: tuple[TokentuiError | None, ...]
    rows: tuple[MeasureRow, ...]
    pairs: tuple[Pair, ...]
    overlaps: dict[tuple[int, int], Overlap]
    bare: dict[tuple[int, int], Overlap]


def compare(
    tokenizers: Sequence[Tokenizer | TokentuiError],
    corpus: Corpus,
    conventions: Conventions | None = None,
    counted: WordCounts | None = None,
    *,
    most: int = 10,
) -> Comparison:
    """Compare tokenizers on a corpus. One that cannot read it says so in its column and leaves the others
    working.

    Args:
        tokenizers: Two to four; an error stands for one that could not be trained.
        corpus: The corpus.
        conventions: The conventions of numbers about words and shares.
        counted: The pre-tokens of the corpus, where they are shared.
        most: The most stretches listed for a pair.

    Raises:
        TokentuiError: There are too few or too many.
        Cancelled: The job is cancelled.
    """
    check_columns(len(tokenizers))
    tallies, errors = tally_each(tokenizers, corpus, conventions, counted)
    every = [(n, one) for n, one in enumerate(tokenizers) if isinstance(one, Tokenizer)]
    able = [(n, one) for n, one in every if errors[n] is None]
    found = compare_on([one for _, one in able], corpus, conventions, most=most)
    pairs = list(combinations(every, 2))
    return Comparison(
        tallies=tallies,
        errors=errors,
        rows=rows_of(tallies),
        pairs=tuple(Pair(able[one.a][0], able[one.b][0], one.agreement, one.partings) for one in found),
        overlaps={(n, m): overlap(a, b) for (n, a), (m, b) in pairs},
        bare={(n, m): overlap(a, b, bare=True) for (n, a), (m, b) in pairs},
    )


def tally_each(
    tokenizers: Sequence[Tokenizer | TokentuiError],
    corpus: Corpus,
    conventions: Conventions | None = None,
    counted: WordCounts | None = None,
) -> tuple[tuple[Tally | None, ...], tuple[TokentuiError | None, ...]]:
    """Count a corpus under each tokenizer: the counts, and why there are none where one cannot read it."""
    counted = counted or WordCounts(corpus)
    tallies: list[Tally | None] = []
    errors: list[TokentuiError | None] = []
    for one in tokenizers:
        made, error = None, one if isinstance(one, TokentuiError) else None
        if isinstance(one, Tokenizer):
            try:
                made = tally(one, corpus, conventions, counted)
            except Cancelled:
                raise
            except TokentuiError as refused:
                error = refused
        tallies.append(made)
        errors.append(error)
    return tuple(tallies), tuple(errors)


def check_columns(count: int) -> None:
    """Refuse too few or too many columns.

    Raises:
        TokentuiError: There are too few or too many.
    """
    if not FEWEST <= count <= MOST:
        what = f"two to four tokenizers belong here, not {count}"
        raise TokentuiError(what, "compare", "name them by -t and -r")


def stretches(corpus: Corpus, pretokenizers: Sequence[Pretokenizer]) -> Iterator[tuple[str, bool]]:
    """The documents of a corpus, cut before white space where every pre-tokenizer may be cut.

    Yields:
        (text, more): a stretch and whether its document goes on after it.
    """
    # Whether a place may be cut follows from the two characters around it, see `tokentui.text.split`.
    safe: dict[str, bool] = {}
    for document in corpus.documents:
        start = 0
        for match in _BEFORE_SPACE.finditer(document):
            at = match.end()
            around = document[at - 1 : at + 1]
            if around not in safe:
                safe[around] = all(one.safe_cut(around, 1) == 1 for one in pretokenizers)
            if safe[around]:
                yield document[start:at], True
                start = at
        if start < len(document):
            yield document[start:], False


def compare_on(
    tokenizers: Sequence[Tokenizer], corpus: Corpus, conventions: Conventions | None = None, *, most: int = 10
) -> tuple[Pair, ...]:
    """The agreement of tokenizers on a corpus, each with each.

    Args:
        tokenizers: Of less than two there is no pair.
        corpus: The corpus; each word of a counted one is a text of its own.
        conventions: The splitter tells the words.
        most: The most stretches listed for a pair.

    Raises:
        TokentuiError: A tokenizer refuses a stretch; it names the unit.
        Cancelled: The job is cancelled.
    """
    pairs = list(combinations(range(len(tokenizers)), 2))
    if not pairs:
        return ()
    under = conventions or Conventions()
    found = _distinct(tokenizers, corpus, under)
    totals = dict.fromkeys(pairs, Agreement())
    partings: dict[tuple[int, int], Counter[DifferentCut]] = {pair: Counter() for pair in pairs}
    for (text, more), count in each(found.items(), len(found)):
        with silent():
            encodings = [one.encode(text) for one in tokenizers]
        ways = [cuts(encoding) for encoding in encodings]
        words = word_spans(text, under.splitter)
        for a, b in pairs:
            totals[a, b] = totals[a, b].plus(agreement(ways[a], ways[b], words, more=more), count)
            if ways[a] == ways[b]:
                continue
            for place in disagreements((ways[a], ways[b])):
                first, second = (encodings[at].tokens[slice(*place.tokens[n])] for n, at in enumerate((a, b)))
                partings[a, b][DifferentCut(text[place.start : place.end], 0, first, second)] += count
    return tuple(
        Pair(a, b, total, tuple(replace(one, count=count) for one, count in partings[a, b].most_common(most)))
        for (a, b), total in totals.items()
    )


def _distinct(
    tokenizers: Sequence[Tokenizer], corpus: Corpus, under: Conventions
) -> Counter[tuple[str, bool]]:
    """The distinct stretches of a corpus with their counts; whole documents where a tokenizer looks across
    places."""
    cutters = [Pretokenizer(under.word_recipe()), *(Pretokenizer(one.recipe) for one in tokenizers)]
    parts: Iterable[tuple[str, bool]] = ((document, False) for document in corpus.documents if document)
    if all(in_parts(one.vocabulary) and Pretokenizer(one.recipe).in_parts for one in tokenizers):
        parts = stretches(corpus, cutters)
    found: Counter[tuple[str, bool]] = Counter()
    found.update(each(parts))
    for word, count in corpus.counts or ():
        found[word, False] += count
    return found
