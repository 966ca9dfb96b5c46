"""Pairs as candidates, and those among them that a search finds: for every trainer of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.objectives import Objective
from tokentui.learn.rows import PairCandidate, Worth
from tokentui.learn.values import Pair

_JOINED = b"+"


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


def matching(
    pairs: Sequence[Pair], wanted: Sequence[bytes], token_of: Callable[[Pair], bytes],
    parts_of: Callable[[Pair], tuple[bytes, ...]],
) -> tuple[int, ...]:
    """The places of the pairs that show one of some texts: in the token, or in the parts with a plus between
    them.

    Args:
        pairs: The pairs.
        wanted: The texts.
        token_of: Returns the token that a pair makes.
        parts_of: Returns the parts of a pair.
    """
    joined = any(needle.strip(_JOINED) for needle in wanted)
    rows = []
    for row, pair in enumerate(pairs):
        shown = [token_of(pair)]
        if joined:
            shown.append(_JOINED.join(parts_of(pair)))
        if any(needle in one for needle in wanted for one in shown):
            rows.append(row)
    return tuple(rows)
