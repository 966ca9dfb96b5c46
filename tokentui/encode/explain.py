"""The steps from a text to its tokens, word by word."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.parts import Attempt, MergeStep, Step
from tokentui.encode.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class WordExplanation:
    r"""A pre-token, its units, the steps that were taken, and what came out.

    Places in the steps are indices of `units`.

    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
    >>> vocabulary = Vocabulary(recipe, [b"h", b"t", b"u"])
    >>> _ = vocabulary.add(0, 2, 5), vocabulary.add(3, 1, 2)
    >>> word, = explain(vocabulary, 2, "hut")
    >>> [(step.rank, step.left, step.right, step.result) for step in word.steps]
    [(0, b'h', b'u', b'hu'), (1, b'hu', b't', b'hut')]
    >>> word.after(1)
    (b'hu', b't')
    >>> word.pieces
    (b'hut',)
    """

    text: str
    start: int
    end: int
    units: tuple[bytes, ...]
    steps: tuple[Step, ...]
    ids: tuple[int | None, ...]
    pieces: tuple[bytes | None, ...]
    prefix: bytes = b""
    """The mark in front of a unit that continues a word."""

    def after(self, steps: int) -> tuple[bytes, ...]:
        """The pieces after so many steps: what stands between the units that are left as starts.

        For longest match these are the tokens found by then and the units that nothing was found for yet.
        """
        starts = set(range(len(self.units)))
        for step in self.steps[:steps]:
            if isinstance(step, MergeStep):
                starts.discard(step.middle)
            elif step.found:
                starts.difference_update(range(step.start + 1, step.end))
        cuts = [*sorted(starts), len(self.units)]
        return tuple(self._join(start, end) for start, end in itertools.pairwise(cuts))

    def _join(self, start: int, end: int) -> bytes:
        return self.units[start] + b"".join(
            unit.removeprefix(self.prefix) for unit in self.units[start + 1 : end]
        )


def explain(
    vocabulary: Vocabulary, merges: int, text: str | bytes, *, cache: WordEncoder | None = None
) -> tuple[WordExplanation, ...]:
    """Explain the encoding of a text, a pre-token at a time.

    Units that the vocabulary lacks do not raise here: their `ids` and `pieces` are what the recipe makes of
    them, None where it refuses them. With the policy `drop` they are not among the units.

    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(
    ...     split="whitespace", unit="char", base="sorted", encode="longest-match", unknown="error"
    ... )
    >>> vocabulary = Vocabulary(recipe, [b"h", b"t", b"u"])
    >>> _ = vocabulary.add(0, 2, 5)
    >>> word, = explain(vocabulary, 1, "hut")
    >>> [(step.candidate, step.found) for step in word.steps]
    [(b'hut', False), (b'hu', True), (b't', True)]
    """
    if cache is None or cache.vocabulary is not vocabulary or cache.merges != merges:
        cache = WordEncoder(vocabulary, merges)
    words = []
    typed = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    for pretoken in itertools.chain.from_iterable(
        pretokens for pretokens in cache.stretches(typed, False) if isinstance(pretokens, list)
    ):
        units = cache.pretokenizer.units(pretoken.text)
        units = [units[at] for at in cache.kept(units)]
        steps = tuple(cache.segmenter.steps(units, len(pretoken.text)))
        tokens = cache.word(pretoken.text)
        words.append(
            WordExplanation(
                pretoken.text,
                pretoken.start,
                pretoken.end,
                tuple(units),
                steps,
                tuple(token.id for token in tokens),
                tuple(token.piece for token in tokens),
                cache.marks.prefix,
            )
        )
    return tuple(words)


__all__ = ["Attempt", "MergeStep", "Step", "WordExplanation", "explain"]
