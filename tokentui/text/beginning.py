"""The beginning of a corpus, for a first look at it."""

from __future__ import annotations

from dataclasses import replace

from tokentui.text.corpus import Corpus


def beginning(corpus: Corpus, chars: int) -> Corpus:
    """The first so many characters of a corpus, cut between words where there are any."""
    if corpus.counts is not None:
        kept, room = [], chars
        for word, times in corpus.counts:
            if room <= 0:
                break
            kept.append((word, times))
            room -= len(word) + 1
        return replace(corpus, counts=tuple(kept))
    documents, room = [], chars
    for text in corpus.texts:
        if room <= 0:
            break
        part = text[:room]
        if len(text) > room:
            space = part.rfind(" ", room // 2)
            part = part[: space if space > 0 else room]
        documents.append(part)
        room -= len(part) + 1
    return replace(corpus, documents=tuple(documents))
