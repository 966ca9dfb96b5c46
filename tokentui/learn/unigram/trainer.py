"""The trainer of `objective=unigram`: a training, and what a screen or a tokenizer wants to know of the step where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import Any

from tokentui.encode.segment.viterbi import ScoredVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.unigram.model import Dropped, Model
from tokentui.learn.unigram.plain import drain
from tokentui.learn.unigram.rows import DroppedRow, PieceRow
from tokentui.learn.unigram.shown import Shown
from tokentui.learn.unigram.training import Training


class UnigramTrainer(Training):
    """A unigram training with the face that all trainers have; see `Training` for its arguments."""

    _last_shown: Shown | None = None

    @property
    def pairs(self) -> int:
        """How many pieces a pruning may choose among: all of them."""
        return self.pieces

    @property
    def merges(self) -> int:
        """Of the vocabulary: it has none."""
        return 0

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """The first known step after `first` that drops one of these pieces, the last known one for what stays to the end.

        None for what is no piece at all.
        """
        exact = self._maker.seeds.bytes
        for number in range(first + 1, self.known + 1):
            if any(exact[piece] in tokens for piece in self._models[number].dropped.pieces):
                return number
        if self._models[-1].final and any(exact[piece] in tokens for piece in self._models[-1].pieces):
            return self.known
        return None

    def candidates(self, limit: int = 100, start: int = 0) -> list[PieceRow]:
        """The pieces in the order in which pruning takes them; see `prune_order`."""
        return self.prune_order(limit, start)

    def prune_order(self, limit: int = 100, start: int = 0) -> list[PieceRow]:
        """The pieces of this step in the order in which pruning takes them, by this step's figures.

        The first call at a step takes the passes of a pruning over the corpus.

        Args:
            limit: How many at most.
            start: How many of the first to leave out.
        """
        model, exact = self._models[self.number], self._maker.seeds.bytes
        judged = self._maker.judge(model, self._target, self._others)
        gone = set(self._going(model)[: self._walk.taken]) if self._walk else set()
        rows = []
        for n in judged.order[start : start + limit]:
            piece = model.pieces[n]
            reason = judged.reasons.get(piece, "")
            rows.append(PieceRow(
                piece=exact[piece],
                probability=exp(model.scores[n]),
                expected=model.expected[n],
                uses=judged.uses[piece],
                loss=judged.worth.loss[n],
                alternative=tuple(exact[part] for part in judged.path(piece)),
                goes=bool(reason),
                reason=reason,
                taken=n in gone,
            ))
        return rows

    def left(self, limit: int | None = None, start: int = 0) -> list[DroppedRow]:
        """What the last step dropped, and why; in a walk through a pruning, what the walk dropped, the latest first."""
        exact = self._maker.seeds.bytes
        dropped = self.model.dropped
        if self._walk:
            model = self._models[self.number]
            judged = self._maker.judge(model, self._target, self._others)
            dropped = Dropped()
            for n in reversed(self._going(model)[: self._walk.taken]):
                dropped.add(model.pieces[n], judged.reasons[model.pieces[n]], judged.worth.loss[n])
        which = slice(start, None if limit is None else start + limit)
        return [
            DroppedRow(exact[piece], reason, figure)
            for piece, reason, figure in zip(
                dropped.pieces[which], dropped.reasons[which], dropped.figures[which], strict=True
            )
        ]

    @property
    def vocabulary(self) -> ScoredVocabulary:
        """The vocabulary of this step: the pieces by score, the most probable first."""
        return self._shown.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """How often each symbol of the vocabulary stands in the best segmentations of the corpus, by weight."""
        return self._shown.uses

    @property
    def _shown(self) -> Shown:
        """The vocabulary of this step and how it cuts words, kept while the step stays."""
        if self._last_shown is None or self._last_shown.model is not self.model:
            self._last_shown = self._show(self.model)
        return self._last_shown

    def _show(self, model: Model) -> Shown:
        uses = drain(self._maker.survey(model)).uses
        return Shown.of(model, self._maker.seeds, uses, self.recipe, self.specials, self.first_id)

    def word(self, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]] | None:
        """How a word is cut at this step: its tokens in order, as (unit that it starts with, symbol), -1 for what is no piece.

        Args:
            word: The word; any text at all.
            first: Start with the token that covers this unit.
            units: Stop after so many units.
        """
        return self._shown.word(word, first, units)

    def length(self, symbol: int) -> int:
        """How many units a symbol covers."""
        return self._shown.length(symbol)

    def newest(self) -> int:
        """No symbol is new: a step weighs pieces or drops them."""
        return -1

    def touched(self) -> Callable[[str], bool]:
        """A test of whether the last step changed how a word is cut."""
        if not self.number and not self._walk:
            return lambda word: False
        before = self._models[self.number if self._walk else self.number - 1]
        old, now = self._show(before), self._shown
        return lambda word: old.pieces(word) != now.pieces(word)

    def tokenizer(self, run: dict[str, Any] | None = None) -> Tokenizer:
        """The tokenizer of this very step."""
        return Tokenizer(self.vocabulary, 0, run)
