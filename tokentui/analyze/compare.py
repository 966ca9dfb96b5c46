"""Two to four tokenizers side by side on one corpus: every table of it, as one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from tokentui.analyze.figures import Row, figures, side_by_side
from tokentui.analyze.overlap import Overlap, overlap
from tokentui.analyze.tally import Conventions, Tally, tally
from tokentui.analyze.together import Pair, compare_on
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus

FEWEST, MOST = 2, 4
"""How many columns there are."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tokenizers on a corpus.

    Attributes:
        tallies: What was counted in each column; None for one that cannot read the corpus.
        errors: Why it cannot; None for the others.
        rows: The measures, a figure a column.
        pairs: How far those that can read it agree, each with each, by the numbers of their columns.
        overlaps: What the vocabularies of each two columns share, by their numbers: tokens of the same exact bytes.
        bare: The same for tokens without their marks and without a space in front.
    """

    tallies: tuple[Tally | None, ...]
    errors: tuple[TokentuiError | None, ...]
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    overlaps: dict[tuple[int, int], Overlap]
    bare: dict[tuple[int, int], Overlap]


def compare(
    tokenizers: Sequence[Tokenizer | TokentuiError],
    corpus: Corpus,
    conventions: Conventions | None = None,
    *,
    most: int = 10,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Comparison:
    """Compare tokenizers on a corpus. One that cannot read it says so in its column and leaves the others working.

    Args:
        tokenizers: Two to four; an error stands for one that could not be trained.
        corpus: The corpus.
        conventions: What numbers about words and shares are computed under.
        most: How many partings of a pair at most.
        progress: Told (done, total) of each part of the work.
        cancel: Asked now and then; true raises `Cancelled`.

    Raises:
        TokentuiError: There are too few or too many.
        Cancelled: `cancel` said so.
    """
    check_columns(len(tokenizers))
    tallies, errors = tally_each(tokenizers, corpus, conventions, progress=progress, cancel=cancel)
    able = {n: one for n, one in enumerate(tokenizers) if isinstance(one, Tokenizer) and errors[n] is None}
    numbers = list(able)
    found = compare_on(list(able.values()), corpus, conventions, most=most, progress=progress, cancel=cancel)
    there = list(combinations([(n, one) for n, one in enumerate(tokenizers) if isinstance(one, Tokenizer)], 2))
    return Comparison(
        tallies=tallies,
        errors=errors,
        rows=rows_of(tallies),
        pairs=tuple(Pair(numbers[pair.a], numbers[pair.b], pair.agreement, pair.partings) for pair in found),
        overlaps={(n, m): overlap(a, b) for (n, a), (m, b) in there},
        bare={(n, m): overlap(a, b, bare=True) for (n, a), (m, b) in there},
    )


def tally_each(
    tokenizers: Sequence[Tokenizer | TokentuiError],
    corpus: Corpus,
    conventions: Conventions | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> tuple[tuple[Tally | None, ...], tuple[TokentuiError | None, ...]]:
    """Count a corpus under each tokenizer: what was counted, and why where one cannot read it. See `compare`."""
    tallies: list[Tally | None] = []
    errors: list[TokentuiError | None] = []
    for one in tokenizers:
        counted, error = None, one if isinstance(one, TokentuiError) else None
        if isinstance(one, Tokenizer):
            try:
                counted = tally(one, corpus, conventions, progress=progress, cancel=cancel)
            except Cancelled:
                raise
            except TokentuiError as refused:
                error = refused
        tallies.append(counted)
        errors.append(error)
    return tuple(tallies), tuple(errors)


def rows_of(tallies: Sequence[Tally | None]) -> tuple[Row, ...]:
    """The measures of what was counted, a figure a column."""
    return side_by_side([figures(one) if one else () for one in tallies])


def check_columns(count: int) -> None:
    """Refuse too few or too many columns.

    Raises:
        TokentuiError: It is so.
    """
    if not FEWEST <= count <= MOST:
        raise TokentuiError(f"two to four tokenizers belong here, not {count}", "compare", "name them by -t and -r")
