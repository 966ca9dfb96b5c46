"""The vocabulary of a file at a step of its replay, in any of its orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.vocabulary import Marks
from tokentui.learn.listing import fixed_entry, page_of
from tokentui.learn.replay.order import TokenOrder
from tokentui.learn.values import Candidate, Column, Entry, MergeStep, Page, Query

COLUMNS = (
    Column(
        "parts", "", "tokens"
    ), Column("places", "", "count"), Column("words", "", "count"), Column("id", "", "count"),
    Column("score", "", "score"), Column("place", "", "text"),
)
"""The columns of the tokens to come."""
ORPHAN = "no merge leads to it"


@dataclass(frozen=True, slots=True)
class TokenCandidate(Candidate):
    """A token of a file; `parts` are the tokens that its bytes are before: its two parents where merges make
    it.

    Attributes:
        number: The step at which it comes into use, 1 for the first.
        symbol: Its symbol in the vocabulary.
        id: Its id in the file.
        score: Its score in the file, None where there is none.
        places: Its count in the corpus from then on, by weight.
        words: The number of distinct words that change.
    """

    number: int = 0
    symbol: int = 0
    id: int = 0
    score: float | None = None
    places: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStep(MergeStep):
    """A token of a file that came into use."""

    candidate: TokenCandidate

    @property
    def chosen(self) -> Candidate | None:
        """The token."""
        return self.candidate


class Listing:
    """The entries of a file, kept in order while the step stays.

    Args:
        order: The order in which its tokens come into use.
        fixed: The count in the corpus of each token that is found by its name, by the name.
    """

    def __init__(self, order: TokenOrder, fixed: Mapping[str, int]) -> None:
        self._order, self._fixed = order, fixed
        self._kept: tuple[tuple[int, str], Sequence[int]] = ((-1, ""), ())

    def page(self, query: Query, number: int, uses: Sequence[int]) -> Page[Entry]:
        """Some entries after so many steps, with the uses of each symbol then."""
        key = number, query.order
        if self._kept[0] != key:
            self._kept = key, self._listed(number, query.order, uses)
        return page_of(self._kept[1], query, self._order.vocabulary, lambda entry: self._entry(entry, uses))

    def _listed(self, number: int, order: str, uses: Sequence[int]) -> Sequence[int]:
        vocabulary, made = self._order.vocabulary, self._order.made
        fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
        if order == "id":
            found = sorted([*self._order.listed, *fixed], key=self._id)
            return [entry for entry in found if entry < 0 or made[entry] <= number]
        newest = self._order.listed[: self._order.size(number) - len(fixed)][::-1]
        if order == "longest":
            newest = sorted(newest, key=lambda symbol: -len(vocabulary.pieces[symbol]))
        elif order == "most used":
            newest = sorted(newest, key=lambda symbol: -uses[symbol])
        return [*newest, *fixed]

    def _id(self, entry: int) -> int:
        vocabulary = self._order.vocabulary
        if entry >= 0:
            return vocabulary.id_of(entry, len(vocabulary.merges))
        n = -1 - entry
        specials = vocabulary.specials
        return vocabulary.special_id(specials[n]) if n < len(specials) else vocabulary.byte_id(
            n - len(specials)
        )

    def _entry(self, entry: int, uses: Sequence[int]) -> Entry:
        vocabulary = self._order.vocabulary
        if entry < 0:
            fixed = fixed_entry(vocabulary, -1 - entry)
            held = self._fixed.get(vocabulary.specials[-1 - entry]) if fixed.kind == "special" else None
            return fixed._replace(id=self._id(entry), uses=held)
        step, kind = self._order.made[entry], vocabulary.kind_of(entry)
        never = isinstance(vocabulary, ImportedVocabulary) and entry in vocabulary.never
        merged = step and vocabulary.merges
        return Entry(
            id=self._id(entry),
            symbol=entry,
            piece=vocabulary.pieces[entry],
            kind="base" if not step and kind in ("unit", "piece") else kind,
            made=step or None,
            uses=uses[entry],
            score=vocabulary.scores[entry] if vocabulary.scores else None,
            parts=tuple(vocabulary.pieces[part] for part in vocabulary.merges[step - 1]) if merged else (),
            marks=Marks(vocabulary).sizes(entry),
            reason=ORPHAN if kind == "orphan" else "text is never taken for it" if never else "",
        )
