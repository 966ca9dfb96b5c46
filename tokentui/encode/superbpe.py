"""A vocabulary of merges in two stages: merges inside words, then merges across them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokentui.encode.segment import ENCODING_WAYS, WITHIN, EncodingWay
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe


class StagedVocabulary(Vocabulary):
    """A vocabulary whose first `at` merges were made inside words.

    Up to that number of merges, it also encodes inside these words. After that, all merges apply to the whole
    pre-token, by rank.

    Args:
        recipe: The recipe that it is made by.
        base: The starting units in order of their ids.
        specials: Special tokens in the order of their ids.
        first_id: The first id given.
        at: The number of merges of the first stage.
        within: The split of the words that the first merges do not cross.
    """

    plain_merges = False

    def __init__(
        self, recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0, *,
        at: int, within: str,
    ) -> None:
        super().__init__(recipe, base, specials, first_id)
        self.at, self.within = at, within

    def way(self, merges: int) -> EncodingWay | None:
        """Return merging inside words if only merges of the first stage count, else None."""
        by_rank = ENCODING_WAYS.of(self.recipe.encode).by_rank
        return WITHIN if merges < self.at and by_rank else super().way(merges)

    def truncated(self, merges: int) -> StagedVocabulary:
        """Return a vocabulary with only the first `merges` merges, which grows by itself."""
        shorter = StagedVocabulary(
            self.recipe, self.pieces[: self.base_size], self.specials, self.first_id, at=self.at,
            within=self.within,
        )
        for (left, right), count in zip(self.merges[:merges], self.counts, strict=False):
            shorter.add(left, right, count)
        return shorter
