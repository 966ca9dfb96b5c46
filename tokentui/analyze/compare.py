"""Two to four tokenizers side by side: measures, agreement pair by pair, and shared tokens.

A boundary is a place between two characters where a token ends and no token goes on. So tokens that share a
character have none between them, and text that a tokenizer drops (spaces, mostly) belongs to the token after
it, wherever others put the space.

For the agreement a corpus is cut in stretches at places where no tokenizer looks across, and each distinct
stretch is encoded once. The totals are those of encoding the documents whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from tokentui.analyze.metrics import Conventions, Measure, in_parts, ratio, shown
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each, silent
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK, SPLITS, splitter

_BEFORE_SPACE = re.compile(r"\S(?=\s)")
FEWEST, MOST = 2, 4
"""The least and the greatest number of columns."""



# ---- one text, cut in several ways


@dataclass(frozen=True, slots=True)
class Cuts:
    """The boundaries between the tokens of an encoding.

    Attributes:
        length: The characters of the text.
        offsets: The boundaries inside the text, ascending.
        before: The number of tokens before each of them, before the start and before the end of the text.
        whole: True if a token ends where the text ends.
        starts: Where the tokens start, made ascending for searching: a start after a later one is that one.
        ends: Where they end, made ascending: an end before an earlier one is that one.
    """

    length: int
    offsets: tuple[int, ...]
    before: dict[int, int]
    whole: bool
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def touching(self, start: int, end: int) -> tuple[int, tuple[int, ...]]:
        """Return how many tokens touch a range of characters, and the boundaries strictly inside it."""
        touching = max(0, bisect_left(self.starts, end) - bisect_right(self.ends, start))
        return touching, self.offsets[bisect_right(self.offsets, start) : bisect_left(self.offsets, end)]


def cuts(encoding: Encoding) -> Cuts:
    """Compute the boundaries of an encoding. Tokens that share a character have none between them."""
    length, spans = len(encoding.text), encoding.offsets
    ends = tuple(accumulate((end for _, end in spans), max))
    starts = tuple(accumulate((start for start, _ in reversed(spans)), min))[::-1]
    numbers: dict[int, int] = {}
    for number, (end, following) in enumerate(zip(ends, (*starts[1:], length), strict=False), 1):
        if 0 < end < length and following >= end:
            numbers[end] = number  # of a token without width after it the last counts
    before = {length: len(spans), 0: 0, **numbers}
    return Cuts(length, tuple(numbers), before, ends[-1:] == (length,), starts, ends)


class Agreement(NamedTuple):
    """Counts of how far two encodings agree. Counts of several texts can be added.

    Attributes:
        tokens_a: The tokens of the first.
        tokens_b: The tokens of the second.
        boundaries_a: The boundaries of the first.
        boundaries_b: The boundaries of the second.
        shared: The boundaries of both.
        words: The words, by a named splitter.
        same_words: The words that both cut alike: in the same places, into as many tokens.
    """

    tokens_a: int = 0
    tokens_b: int = 0
    boundaries_a: int = 0
    boundaries_b: int = 0
    shared: int = 0
    words: int = 0
    same_words: int = 0

    def plus(self, other: Agreement, times: int = 1) -> Agreement:
        """Add the counts of another text that occurs `times` times."""
        return Agreement(*(count + times * added for count, added in zip(self, other, strict=True)))


PAIR_MEASURES: tuple[Measure[Agreement], ...] = (
    Measure("exact", "word agreement", "words split the same way / words", "share", "higher",
            lambda counts: ratio(counts.same_words, counts.words)),
    Measure("precision", "precision", "boundaries of both / boundaries of {b}", "share", "higher",
            lambda counts: ratio(counts.shared, counts.boundaries_b)),
    Measure("recall", "recall", "boundaries of both / boundaries of {a}", "share", "higher",
            lambda counts: ratio(counts.shared, counts.boundaries_a)),
    Measure("f1", "F1", "2 · boundaries of both / (those of {a} + those of {b})", "share", "higher",
            lambda counts: ratio(2 * counts.shared, counts.boundaries_a + counts.boundaries_b)),
    Measure("token_ratio", "token ratio", "tokens of {b} / tokens of {a}", "tokens", "",
            lambda counts: ratio(counts.tokens_b, counts.tokens_a)),
)
"""The measures of an agreement in the order in which they are shown. A new one is an entry here."""


def agreement_shown(measure: Measure[Agreement], counts: Agreement) -> str:
    """Return the value of a measure of an agreement for people: shares in percent, `n/a` for none."""
    value = measure.of(counts)
    if value is None or measure.unit != "share":
        return shown(value, measure.digits)
    return f"{100 * value:.1f} %"


def word_spans(text: str, words: str = "whitespace") -> list[tuple[int, int]]:
    """Return the (start, end) of each word of a text, by a split that does not change the text."""
    return [(start, end) for _, start, end in splitter(words).spans(text)]


def agreement(a: Cuts, b: Cuts, words: Sequence[tuple[int, int]], *, more: bool = False) -> Agreement:
    """Count how far two encodings of a text agree.

    Args:
        a: The boundaries of the first.
        b: Those of the second, on the same text.
        words: The (start, end) of each word of the text, see `word_spans`.
        more: True if text follows, so that a token that ends with this text makes a boundary.
    """
    return Agreement(
        tokens_a=len(a.ends),
        tokens_b=len(b.ends),
        boundaries_a=len(a.offsets) + (more and a.whole),
        boundaries_b=len(b.offsets) + (more and b.whole),
        shared=len(set(a.offsets) & set(b.offsets)) + (more and a.whole and b.whole),
        words=len(words),
        same_words=sum(a.touching(start, end) == b.touching(start, end) for start, end in words),
    )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text between two neighboring boundaries of all encodings, which they cut differently.

    Attributes:
        start, end: Its first character, and the character after it.
        tokens: For each encoding the half-open range of the indices of its tokens there.
    """

    start: int
    end: int
    tokens: tuple[tuple[int, int], ...]


def disagreements(ways: Sequence[Cuts]) -> Iterator[Disagreement]:
    """Yield the stretches that encodings of one text split differently, from left to right. A stretch lies
    between two neighboring boundaries that all encodings share."""
    common = set(ways[0].offsets).intersection(*(way.offsets for way in ways[1:]))
    for start, end in pairwise([0, *sorted(common), ways[0].length]):
        tokens = tuple((way.before[start], way.before[end]) for way in ways)
        # Tokens without width, such as a ▁ of its own, count as tokens and hold no character.
        divisions = (
            (last - first, way.touching(start, end)) for way, (first, last) in zip(ways, tokens, strict=True)
        )
        if len(set(divisions)) > 1:
            yield Disagreement(start, end, tokens)


class Overlap(NamedTuple):
    """The tokens of two vocabularies as bytes, each once.

    Attributes:
        common: The tokens of both, in order of the first one's ids.
        only_a: Those of the first alone, in the same order.
        only_b: Those of the second alone, in order of its own ids.
    """

    common: tuple[bytes, ...]
    only_a: tuple[bytes, ...]
    only_b: tuple[bytes, ...]

    @property
    def jaccard(self) -> float | None:
        """The common tokens as a share of all, from 0 to 1; None without tokens."""
        return ratio(len(self.common), len(self.common) + len(self.only_a) + len(self.only_b))

    def find(self, text: str) -> Overlap:
        """Return an overlap with only the tokens whose bytes contain a text; all tokens for an empty one."""
        searched = to_bytes(text)
        return Overlap(*(tuple(piece for piece in part if searched in piece) for part in self))


def overlap(a: Iterable[bytes], b: Iterable[bytes]) -> Overlap:
    """Compare two vocabularies: shared tokens, and tokens of only one of them.

    Args:
        a: The bytes of the tokens of the first, see `pieces`. Repeated ones count once.
        b: Those of the second.
    """
    first, second = dict.fromkeys(a), dict.fromkeys(b)
    return Overlap(
        common=tuple(piece for piece in first if piece in second),
        only_a=tuple(piece for piece in first if piece not in second),
        only_b=tuple(piece for piece in second if piece not in first),
    )


def overlaps(
    tokens: Mapping[int, Sequence[Iterable[bytes]]]
) -> dict[tuple[int, int], tuple[Overlap, Overlap]]:
    """Compare each two of several vocabularies, by exact bytes and by text without marks. Each key of the
    result has its two keys in the order of `tokens`.

    Args:
        tokens: The tokens of each, exact and bare, see `pieces`.

    Raises:
        Cancelled: The job is cancelled.
    """
    found = {}
    for a, b in combinations(tokens, 2):
        check()
        exact, bare = map(overlap, tokens[a], tokens[b])
        found[a, b] = exact, bare
    return found


def pieces(tokenizer: Tokenizer, bare: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the id and the bytes of each token; of special tokens, the bytes of their names.

    Args:
        tokenizer: The tokenizer.
        bare: Give them without their marks and without a space (or ▁) in front, and none that is empty then.
    """
    vocabulary = tokenizer.vocabulary
    for entry in tokenizer.entries():
        piece = entry.piece
        if bare and entry.symbol is not None:
            front, end = vocabulary.mark_sizes(entry.symbol)
            piece = piece[front : len(piece) - end]
            if SPLITS.of(tokenizer.recipe.split).marks_spaces:
                piece = piece.replace(to_bytes(SPACE_MARK), b" ")
            piece = piece.removeprefix(b" ")
        if piece or not bare:
            yield entry.id, piece


# ---- a corpus


@dataclass(frozen=True, slots=True)
class DifferentCut:
    """A stretch or word of the corpus that two tokenizers split differently.

    Attributes:
        text: The stretch.
        count: The number of times it occurs.
        a: The tokens of the first, for people; of a word, its parts.
        b: The same of the second.
    """

    text: str
    count: int
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two columns, by their keys, on a corpus or a text.

    Attributes:
        a: The key of the first.
        b: The key of the second.
        agreement: Their agreement.
        partings: The stretches of the corpus that they cut differently most often, the most frequent first;
            none for a text.
        words: The words that they cut differently most often, each whole and in its parts; none for a text.
    """

    a: int
    b: int
    agreement: Agreement
    partings: tuple[DifferentCut, ...] = ()
    words: tuple[DifferentCut, ...] = ()


def check_columns(count: int) -> None:
    """Check that there are two to four columns.

    Raises:
        TokentuiError: There are too few or too many.
    """
    if not FEWEST <= count <= MOST:
        what = f"two to four tokenizers are needed, not {count}"
        raise TokentuiError(what, "compare", "name them with -t and -r")


def stretches(corpus: Corpus, pretokenizers: Sequence[Pretokenizer]) -> Iterator[tuple[str, bool]]:
    """Cut the documents of a corpus before whitespace, wherever this changes the words of no pre-tokenizer.

    Yields:
        (text, more): a stretch and whether its document goes on after it.
    """
    # Whether a place may be cut follows from the two characters around it, see `tokentui.text.split`.
    safe: dict[str, bool] = {}
    for document in corpus.documents:
        start = 0
        for match in _BEFORE_SPACE.finditer(document):
            place = match.end()
            around = document[place - 1 : place + 1]
            if around not in safe:
                safe[around] = all(pretokenizer.safe_cut(around, 1) == 1 for pretokenizer in pretokenizers)
            if safe[around]:
                yield document[start:place], True
                start = place
        if start < len(document):
            yield document[start:], False


def compare_on(
    columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, conventions: Conventions | None = None, *,
    most: int = 10,
) -> tuple[PairAgreement, ...]:
    """Measure the agreement of each pair of tokenizers on a corpus. A tokenizer that cannot encode a stretch
    is dropped: its pairs are not in the result. With fewer than two tokenizers the result is empty. Reports
    progress in distinct stretches.

    Args:
        columns: The tokenizers, each with its key.
        corpus: The corpus; each word of a counted one is a text of its own.
        conventions: Its splitter says what a word is; None for the defaults.
        most: The maximum number of stretches, and of words, listed for a pair.

    Raises:
        Cancelled: The job is cancelled.
    """
    if len(columns) < 2:
        return ()
    under = conventions or Conventions()
    able = {key: tokenizer.encoder for key, tokenizer in columns}
    distinct = _distinct(list(able.values()), corpus, under)
    totals = dict.fromkeys(combinations(able, 2), Agreement())
    partings: dict[tuple[int, int], Counter[tuple[str, tuple[str, ...], tuple[str, ...]]]]
    whole: dict[tuple[int, int], Counter[tuple[str, tuple[str, ...], tuple[str, ...]]]]
    partings = {pair: Counter() for pair in totals}
    whole = {pair: Counter() for pair in totals}
    for (text, more), count in each(distinct.items(), len(distinct)):
        encodings: dict[int, Encoding] = {}
        for key, encoder in list(able.items()):
            try:
                with silent():
                    encodings[key] = encoder.encode(text)
            except TokentuiError:
                del able[key]
        ways = {key: cuts(encoding) for key, encoding in encodings.items()}
        words = word_spans(text, under.splitter)
        for pair in combinations(able, 2):
            a, b = (ways[key] for key in pair)
            totals[pair] = totals[pair].plus(agreement(a, b, words, more=more), count)
            for place in disagreements((a, b)) if a != b else ():
                first, second = (
                    encodings[key].tokens[slice(*tokens)]
                    for key, tokens in zip(pair, place.tokens, strict=True)
                )
                partings[pair][text[place.start : place.end], first, second] += count
            for start, end in words if a != b else ():
                cut_a, cut_b = a.touching(start, end), b.touching(start, end)
                if cut_a != cut_b:
                    parts = _parts(text, start, end, cut_a[1]), _parts(text, start, end, cut_b[1])
                    whole[pair][text[start:end], *parts] += count
    commonest, words_of = (
        {
            pair: tuple(DifferentCut(text, count, a, b) for (text, a, b), count in often.most_common(most))
            for pair, often in counted.items()
        } for counted in (partings, whole)
    )
    return tuple(
        PairAgreement(*pair, totals[pair], commonest[pair], words_of[pair]) for pair in combinations(able, 2)
    )


def _parts(text: str, start: int, end: int, inside: Sequence[int]) -> tuple[str, ...]:
    """Return a word split at the boundaries inside it."""
    return tuple(text[first:last] for first, last in pairwise([start, *inside, end]))


def _distinct(
    encoders: Sequence[WordEncoder], corpus: Corpus, under: Conventions
) -> Counter[tuple[str, bool]]:
    """Count the distinct (text, whether its document goes on) of a corpus. The texts are short stretches, or
    whole documents if an encoder looks across stretches."""
    parts: Iterable[tuple[str, bool]] = ((document, False) for document in corpus.documents if document)
    if all(in_parts(encoder.vocabulary) and encoder.pretokenizer.in_parts for encoder in encoders):
        words = Pretokenizer(under.word_recipe())
        parts = stretches(corpus, [words, *(encoder.pretokenizer for encoder in encoders)])
    counts: Counter[tuple[str, bool]] = Counter()
    counts.update(each(parts))
    for word, count in corpus.counts or ():
        counts[word, False] += count
    return counts
