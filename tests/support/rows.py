"""Rows made by hand, as a trainer gives them: candidates and entries of the vocabulary."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from tokentui.learn import Entry, PairCandidate, PieceCandidate, TokenCandidate, Traits, start
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus


@cache
def traits_of(recipe: Recipe) -> Traits:
    """The traits of a training by a recipe."""
    return start(Corpus.from_text("hugs"), recipe).traits


def pair_row(
    left: bytes, right: bytes, token: bytes, count: int, change: int = 0, new: bool = False,
    tied: bool = False, left_uses: int = 0, right_uses: int = 0, spelled: bytes = b"",
) -> PairCandidate:
    """A pair whose count changed by so much."""
    before = None if new else count - change
    worth = Fraction(count, left_uses * right_uses) if left_uses else count
    values: tuple[object, ...] = (count, None if new else change)
    if left_uses:
        values = count, left_uses, right_uses, float(worth)
    elif spelled:
        values = token, spelled, *values
    return PairCandidate(
        (), (left, right), token, worth, values, tied, places=count, before=before, left_uses=left_uses,
        right_uses=right_uses,
        expansion=spelled,
    )


def loss_row(
    piece: bytes, probability: float, expected: float, uses: int, loss: float, instead: tuple[bytes, ...],
    reason: str = "",
    taken: bool = False,
) -> PieceCandidate:
    """A piece that a pruning judges."""
    values = probability, expected, uses, loss, instead, reason
    return PieceCandidate(
        (), instead, piece, -loss, values, probability=probability, expected=expected, uses=uses, loss=loss,
        reason=reason,
        taken=taken,
    )


def replay_row(
    token: bytes, parts: tuple[bytes, ...], number: int, places: int, words: int, place: str = ""
) -> TokenCandidate:
    """A token of a file, whose id is one less than its step."""
    values = parts, places, place
    return TokenCandidate(
        (), parts, token, -number, values, number=number, id=number - 1, places=places, words=words,
        place=place,
    )


def token_row(
    id: int | None, piece: bytes, kind: str, made: int | None = None, places: int | None = None,
    uses: int | None = None, score: float | None = None, reason: str = "", parts: tuple[bytes, ...] = (),
) -> Entry:
    """An entry of the vocabulary."""
    return Entry(id, -1, piece, kind, made, places, uses, score, parts, reason=reason)
