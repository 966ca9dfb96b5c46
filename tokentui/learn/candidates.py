"""Pairs as candidates: for every trainer of pairs."""

from __future__ import annotations

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.objectives import Objective
from tokentui.learn.rows import PairCandidate, Worth
from tokentui.learn.values import Pair


def candidate_of(
    objective: Objective, vocabulary: Vocabulary, pair: Pair, worth: Worth, tied: bool, letter: bytes
) -> PairCandidate:
    """A pair as a candidate; `letter` stands for its token where a byte stands for a pair."""
    left, right, count, before, left_uses, right_uses, more = pair
    token = vocabulary.join(left, right)
    value = float(worth)  # rounded once; candidates are ordered by their exact worth
    figures = {
        "count": count, "change": None if before is None else count - before, "left uses": left_uses,
        "right uses": right_uses, "as": letter, "spelled": token,
        **dict(zip(objective.sees, more, strict=True)),
    }
    return PairCandidate(
        (left, right), (vocabulary.pieces[left], vocabulary.pieces[right]), letter or token, worth,
        tuple(figures.get(column.name, value) for column in objective.columns), tied,
        marks=vocabulary.mark_sizes(left, right) if vocabulary.mark else (0, 0), places=count,
        before=before, left_uses=left_uses, right_uses=right_uses,
        expansion=token if vocabulary.codes else b"",
    )
