"""Two to four tokenizers on one corpus: how far they agree, pair by pair, and which stretches they cut otherwise most often.

The corpus is cut in stretches at places where no tokenizer looks across, and each distinct stretch is encoded once. The totals
are those of encoding the documents whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tokentui.analyze.agreement import Agreement, agreement, cuts, disagreements, word_spans
from tokentui.analyze.tally import Conventions, in_parts
from tokentui.core.errors import Cancelled
from tokentui.encode import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer

_BEFORE_SPACE = re.compile(r"\S(?=\s)")
_LOOK_EVERY = 256


@dataclass(frozen=True, slots=True)
class Parting:
    """A stretch of the corpus that two tokenizers cut otherwise. It ends at the latest where both may be cut in two.

    `text` is the stretch and `count` how often it stands; `a` and `b` are the tokens of either for people.
    """

    text: str
    count: int
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tokenizers, by their numbers, on a corpus.

    `partings` are the stretches where they part most often, the most frequent first.
    """

    a: int
    b: int
    agreement: Agreement
    partings: tuple[Parting, ...]


def stretches(corpus: Corpus, pretokenizers: Sequence[Pretokenizer]) -> Iterator[tuple[str, bool]]:
    """The documents of a corpus, cut before white space where every pre-tokenizer may be cut.

    Yields:
        (text, more): a stretch and whether its document goes on after it.
    """
    # Whether a place may be cut follows from the two characters beside it, see `tokentui.text.split`.
    safe: dict[str, bool] = {}
    for document in corpus.documents:
        start = 0
        for match in _BEFORE_SPACE.finditer(document):
            at = match.end()
            beside = document[at - 1 : at + 1]
            if beside not in safe:
                safe[beside] = all(one.safe_cut(beside, 1) == 1 for one in pretokenizers)
            if safe[beside]:
                yield document[start:at], True
                start = at
        if start < len(document):
            yield document[start:], False


def whole(corpus: Corpus) -> Iterator[tuple[str, bool]]:
    """The documents of a corpus, as `stretches` gives them, without a cut."""
    return ((document, False) for document in corpus.documents if document)


def compare_on(
    tokenizers: Sequence[Tokenizer],
    corpus: Corpus,
    conventions: Conventions | None = None,
    *,
    most: int = 10,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> tuple[Pair, ...]:
    """How far tokenizers agree on a corpus, each with each.

    Args:
        tokenizers: Of less than two there is no pair.
        corpus: The corpus; each word of a counted one is a text of its own.
        conventions: The splitter is used, for what a word is.
        most: How many partings of a pair at most.
        progress: Told (done, total) in distinct stretches.
        cancel: Asked now and then; true raises `Cancelled`.

    Raises:
        TokentuiError: A tokenizer refuses a stretch; it names the unit.
        Cancelled: `cancel` said so.
    """
    pairs = list(combinations(range(len(tokenizers)), 2))
    if not pairs:
        return ()
    under = conventions or Conventions()
    cutters = [Pretokenizer(under.word_recipe()), *(Pretokenizer(one.recipe) for one in tokenizers)]
    parts = stretches(corpus, cutters) if all(map(_stands_alone, tokenizers)) else whole(corpus)
    found: Counter[tuple[str, bool]] = Counter()
    for n, stretch in enumerate(parts):
        if n % _LOOK_EVERY == 0 and cancel is not None and cancel():
            raise Cancelled
        found[stretch] += 1
    for word, count in corpus.counts or ():
        found[word, False] += count
    totals = dict.fromkeys(pairs, Agreement())
    partings: dict[tuple[int, int], Counter[Parting]] = {pair: Counter() for pair in pairs}
    for n, ((text, more), count) in enumerate(found.items()):
        if n % _LOOK_EVERY == 0:
            if cancel is not None and cancel():
                raise Cancelled
            if progress is not None:
                progress(n, len(found))
        encodings = [one.encode(text, cancel=cancel) for one in tokenizers]
        ways = [cuts(encoding) for encoding in encodings]
        words = word_spans(text, under.splitter)
        for a, b in pairs:
            one = agreement(ways[a], ways[b], words, more=more)
            totals[a, b] += one * count
            if ways[a] == ways[b]:
                continue
            for place in disagreements((ways[a], ways[b])):
                shown = text[place.start : place.end]
                first, second = (_tokens(encodings[at], place.tokens[n]) for n, at in enumerate((a, b)))
                partings[a, b][Parting(shown, 0, first, second)] += count
    return tuple(
        Pair(a, b, totals[a, b], tuple(
            Parting(one.text, count, one.a, one.b) for one, count in partings[a, b].most_common(most)
        ))
        for a, b in pairs
    )


def _stands_alone(tokenizer: Tokenizer) -> bool:
    """Whether a stretch from the middle of a text is encoded by itself as it is there."""
    return in_parts(tokenizer.vocabulary) and Pretokenizer(tokenizer.recipe).in_parts


def _tokens(encoding: Encoding, span: tuple[int, int]) -> tuple[str, ...]:
    return encoding.tokens[slice(*span)]
