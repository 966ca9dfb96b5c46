"""Join several named corpora to one, and weight them by their shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from tokentui.core.errors import TokentuiError, name_of
from tokentui.text.corpus import Corpus, LazyDocuments, Named
from tokentui.text.named import Corpora

_FINE, _NEAR = 100, 200
"""The largest number of times that words of the largest corpus count, and the precision of shares: one part
in 200. The smallest number with that precision is used."""


def times_of(sizes: Sequence[int], shares: str) -> tuple[int, ...]:
    """Return how many times the words of each corpus count.

    With `equal`, a corpus of s bytes counts the whole number of times nearest to K * (largest size) / s. K is
    the smallest number up to 100 for which no share is off by more than one part in 200, or 100 if there is
    none. So all counts stay whole numbers.

    Args:
        sizes: The size of each corpus in bytes.
        shares: One of `SHARES`.
    """
    most = max(sizes, default=0)
    if shares == "count" or not most:
        return (1,) * len(sizes)

    def by(fine: int) -> list[int]:
        return [(2 * fine * most + size) // (2 * size) if size else 1 for size in sizes]

    for fine in range(1, _FINE):
        times = by(fine)
        off = (abs(n * size - fine * most) for n, size in zip(times, sizes, strict=True) if size)
        if max(off) * _NEAR <= fine * most:
            return tuple(times)
    return tuple(by(_FINE))


def joined(
    corpora: Mapping[str, Corpus], shares: str = "count", development: Mapping[str, Corpus] | None = None
) -> Corpus:
    """Return named corpora as one: the documents of all, one corpus after the other.

    Args:
        corpora: The corpora by name.
        shares: One of `SHARES`.
        development: Texts for evaluation only, by the same names. They are not among the documents.

    Raises:
        TokentuiError: There is no corpus, some are counted words and others are not, a corpus has named
            corpora itself, or a name or `shares` is invalid.
    """
    judged = development or {}
    Corpora(tuple((name_of(name, "corpus"), "-") for name in corpora), name_of(shares, "shares"),
            tuple((name_of(name, "development"), "-") for name in judged)).checked()
    all_corpora = tuple(corpora.values())
    counted = [name for name, corpus in corpora.items() if corpus.counts is not None]
    if counted and len(counted) < len(all_corpora):
        plain = next(name for name in corpora if name not in counted)
        what = f"{counted[0]} holds counted words, {plain} does not: that is more than one corpus"
        raise TokentuiError(what, "corpus", "name counted words for all, or for none")
    for name, corpus in (*corpora.items(), *judged.items()):
        if corpus.named:
            raise TokentuiError("is itself a set of named corpora", f"corpus {name}",
                "name its corpora one by one")
    times = times_of([corpus.size for corpus in all_corpora], shares)
    parts = tuple(
        Named(name, corpus, n, judged.get(name))
        for (name, corpus), n in zip(corpora.items(), times, strict=True)
    )
    documents = LazyDocuments(tuple(chain.from_iterable(corpus.texts for corpus in all_corpora)))
    invalid = next((corpus.invalid for corpus in all_corpora if corpus.invalid), None)
    if invalid is not None:
        invalid = replace(
            invalid, count=sum(corpus.invalid.count for corpus in all_corpora if corpus.invalid)
        )
    counts = None
    if counted:
        summed: dict[str, int] = {}
        for part in parts:
            for word, count in part.corpus.counts or ():
                summed[word] = summed.get(word, 0) + part.times * count
        counts = tuple(summed.items())
    notes = [note for corpus in (*all_corpora, *judged.values()) for note in corpus.notes]
    if len(set(times)) > 1:
        weighed = ", ".join(f"{part.name} × {part.times:,}" for part in parts)
        notes.append(f"equal shares: each word counts so often: {weighed}")
    digests = tuple(chain.from_iterable(corpus.digests for corpus in (*all_corpora, *judged.values())))
    return Corpus(" + ".join(corpora), documents, counts, invalid, tuple(notes), digests, parts)
