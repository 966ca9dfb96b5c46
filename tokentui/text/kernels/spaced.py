"""Count the words of sentencepiece's normalisation and split (`rules.is_spaced`) with kernels: by the runs between white space.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tokentui.core.errors import Cancelled
from tokentui.text.kernels.rules import RUNS
from tokentui.text.kernels.tables import Counted
from tokentui.text.longtext import LongText

_LOOK_EVERY = 4096


def count_spaced(
    documents: Sequence[str | LongText],
    words: Callable[[str], list[str]],
    count: Callable[..., Counted],
    *,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> tuple[list[str], list[int]]:
    """Count the pre-tokens of documents by `count`. The other arguments are those of `counting.count_words`."""
    texts = [document for document in documents if isinstance(document, str)]
    if len(texts) == len(documents):
        documents = ["\n".join(texts)]  # a line by itself costs more than its words
    runs = count(documents, RUNS, threads=threads, progress=progress, cancel=cancel)
    counts: Counter[str] = Counter()
    single: list[str] = []
    # A word first appears in the first of the runs that have it, so the order of the runs gives that of the words.
    for number, (run, times) in enumerate(zip(runs.words(), runs.counts.tolist(), strict=True)):
        if number % _LOOK_EVERY == 0 and cancel is not None and cancel():
            raise Cancelled
        plain = run.isascii() and run.isprintable()  # nothing is done to these
        if not plain and times == 1:
            single.append(run)  # where words are not set apart most runs are like this: one call does for many
            continue
        if single:
            counts.update(words(" ".join(single)))
            single.clear()
        for word in ["▁" + run] if plain else words(run):
            counts[word] += times
    counts.update(words(" ".join(single)))
    return list(counts), list(counts.values())
