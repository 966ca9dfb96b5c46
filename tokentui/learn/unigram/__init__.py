"""The unigram language model: many pieces at the start, fewer after each round (Kudo, "Subword
Regularization", 2018).

    seeds                                       # step 0: every substring that repeats
    while more than 1.1 times the size asked for:
        em, em                                  # p(piece) from the expected counts of all segmentations
        prune                                   # a quarter of the pieces goes: those whose loss is least
    em, em, cut                                 # to the size asked for

`model.Models` makes one model out of another. The trainer keeps the models of all computed steps, and surveys
the corpus by each.

>>> from tokentui import learn
>>> from tokentui.learn.objectives import Material
>>> from tokentui.learn.steps import Word
>>> from tokentui.recipe import Recipe, Run, Stops
>>> from tokentui.text.count import Words
>>> words = Words(("hug", "pug", "pun", "bun", "hugs"), (10, 5, 12, 4, 5))
>>> recipe = Recipe(split="whitespace", unit="char", objective="unigram", encode="viterbi", unknown="fused")
>>> trainer = UnigramTrainer(Material.of(words, recipe, Run(Stops(vocab_size=9))))
>>> [piece.decode() for piece in trainer.vocabulary.pieces][:6], trainer.tokens_at(0)
(['hug', 'ug', 'pun', 'u', 'pu', 'un'], 36)
>>> learn.run(trainer, Stops()).value, trainer.number
('vocab_size', 4)
>>> [piece.decode() for piece in trainer.vocabulary.pieces]
['pun', 'hug', 'b', 's', 'h', 'n', 'p', 'g', 'u']
>>> trainer.segment(Word("hugs")), trainer.tokenizer().encode("hugs pun").ids
([Span(start=0, end=3, symbol=1), Span(start=3, end=4, symbol=3)], (1, 3, 0))
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import NamedTuple

from tokentui.core import engines
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import tick
from tokentui.core.runtime import quiet_collector
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.kernels.unigram_text import LONGEST
from tokentui.learn.objectives import UNIGRAM_SIZE, Material
from tokentui.learn.part_lengths import PartLengths
from tokentui.learn.rows import Entry, Inventory, PieceCandidate, Ranking, Round, Traits, Why
from tokentui.learn.steps import Changed, Span, Stop, Used, Word
from tokentui.learn.trainer import SLICE_S
from tokentui.learn.unigram.corpus import PER_MILLE, SEED_SIZE
from tokentui.learn.unigram.lattice import WRITTEN, Slices, finished
from tokentui.learn.unigram.model import (
    CUT,
    EM,
    PRUNE,
    REASONS,
    SUB_ROUNDS,
    Judgment,
    Model,
    Models,
    pruned_size,
)
from tokentui.learn.unigram.vocabulary import COLUMNS, ModelVocabulary, RoundStep
from tokentui.recipe import Ending, Stops, WhatIf


class _Position(NamedTuple):
    """A model, and the corpus by it.

    Attributes:
        model: The model.
        tokens: The length of the corpus in pieces, by weight.
        objective: The mean negative natural log probability of a word of the corpus.
        taken: In a walk through a pruning the number of pieces dropped so far.
        going: In such a walk the number of pieces that the pruning drops.
    """

    model: Model
    tokens: int
    objective: float
    taken: int = 0
    going: int = 0


class UnigramTrainer:
    """A unigram training; see `learn.trainer.Trainer`.

    Step 0 is the model of the seeds. A long step is made in slices: `advance` may return in the middle of
    one, and the trainer is then still at the step before.

    If the material has the documents, seeds are those of sentencepiece, which looks for them in lines.
    Counted words alone do not say which of them end a line. Then each word is taken to have a ▁ after it: a
    word that sentencepiece finds only because it occurs both before spaces and at ends of lines is no seed.
    sentencepiece counts the last word of some lines twice; this does not. Every unit that the coverage of the
    recipe includes is kept.

    Args:
        material: The counted words, the recipe and the run. Special tokens count in the size. The size of the
            run is pruned to until a run asks for another one; a size that is too small for the units is
            raised to theirs.
        seed_size: The most seeds of two or more units.
    """

    what_if: tuple[WhatIf, ...] = ()

    def __init__(self, material: Material, seed_size: int = SEED_SIZE) -> None:
        self.words, self.recipe, self._run = material.words, material.recipe, material.run
        recipe, run = material.recipe, material.run
        self._others = len({*run.specials, *recipe.symbols}) + 256 * UNKNOWN.of(recipe.unknown).byte_fallback
        self._shown: ModelVocabulary | None = None
        self._removed: tuple[Model, list[Entry]] | None = None
        self._positions: list[_Position] = []
        with quiet_collector():
            with engines.rescued(engines.available()):
                self._lay_out(material, seed_size)
            if not self._positions:
                self._lay_out(material, seed_size)
        tick(PER_MILLE, PER_MILLE)

    def _lay_out(self, material: Material, seed_size: int) -> None:
        """Find the seeds and start at step 0.

        Sets the corpus, the models, the target size and the position.
        """
        size = self._run.stops.vocab_size
        self._lengths = PartLengths(self.words)
        self._models = Models(self.words, self.recipe, material.documents, seed_size)
        self._target = self._size(UNIGRAM_SIZE if size is None else size)
        self._start()

    def _start(self, longest: int | None = None) -> None:
        """Forget all steps and start with the seeds of at most `longest` units.

        If a job is cancelled in it, nothing is forgotten.
        """
        seeds = finished(self._survey(self._models.first(longest or LONGEST)))
        self._max_length, self.number, self._positions = longest, 0, [seeds]
        self._between: _Position | None = None
        self._work: Slices[_Position] | None = None

    def _survey(self, model: Model) -> Slices[_Position]:
        """Survey the corpus by a model, in slices. Return the position."""
        known, seeds = (yield from self._models.survey(model)), self._models.seeds
        tokens = round(sum(known.uses)) + seeds.apart
        return _Position(model, tokens, -known.likelihood / max(1, seeds.occurrences))

    def _next(self) -> Slices[_Position]:
        """Make the step after the last computed one, in slices. Return its position."""
        last = self._positions[-1].model
        return (yield from self._survey((yield from self._models.next(last, self._target, self._others))))

    # ---- the present step

    @property
    def computed(self) -> int:
        """The furthest step that has been made."""
        return len(self._positions) - 1

    @property
    def at(self) -> _Position:
        """The present position: that of a step, or of a walk through the next pruning."""
        return self._between or self._positions[self.number]

    def memory(self) -> int:
        """Return 0 always: the memory of models and words is not measured."""
        return 0

    @property
    def model(self) -> Model:
        """The present model: pieces by their numbers among the seeds, and their scores."""
        return self.at.model

    @property
    def limits(self) -> Stops:
        """The stops that steps are made under."""
        return Stops(vocab_size=self._target, max_length=self._max_length)

    @property
    def least_size(self) -> int:
        """The smallest possible number of ids: all units, special tokens, symbols and byte tokens."""
        return self._others + self._models.seeds.units

    @property
    def traits(self) -> Traits:
        """The facts about the training that other rooms read."""
        engine = engines.PLAIN if self._models.run is WRITTEN else engines.COMPILED
        return Traits(
            grows=False, shrinks=True, heavy=True, engine=engine, step="step", candidate="piece",
            columns=COLUMNS, shaped_by=("vocab_size", "max_length"), least_size=self.least_size,
            has_substeps=True, phase=self._phase, monotone=("ids",),
        )

    @property
    def _phase(self) -> str:
        """What the next step does, with its round; what the last step did if there is no next one."""
        model = self._positions[self.number].model
        kind = self._next_kind or model.what
        if kind == EM:
            number = model.round if model.rest else model.round + 1
            turn = SUB_ROUNDS - (model.rest or SUB_ROUNDS) + 1
            return f"round {number}, EM {turn}/{SUB_ROUNDS}"
        return "the last cut" if kind == CUT else f"round {model.round}, pruning"

    def _size(self, asked: int) -> int:
        """Return the size that is pruned to if one is asked for: at least that of the units."""
        return max(asked, self.least_size)

    # ---- walking

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk toward a step, or on to a stop, for about some seconds; see `Trainer.advance`.

        A new size drops the computed steps from the first one that would differ. A new greatest length drops
        all steps. A size of None means the last one that was asked for. The stop `merges` counts steps. A
        walk piece by piece ends, unless the goal is the current step.
        """
        self._set_limits(stops)
        stops = stops if goal is None else self.limits
        if goal != self.number:
            self._between = None
        deadline = time.perf_counter() + seconds
        while True:
            if goal is not None and self.number >= goal:
                self.number = goal
                return Stop.MERGES
            if reason := self.end(stops):
                return reason
            self._forward()
            if time.perf_counter() > deadline:
                return None

    def _forward(self) -> None:
        """Go to the next step if it is computed, otherwise work on it for about a millisecond.

        If that completes the step, go to it.
        """
        self._between = None
        if self.number == self.computed:
            self._work = self._work or self._next()
            try:
                next(self._work)
                return
            except StopIteration as stop:
                self._work = None
                if stop.value is None:  # an interrupt ended the work in the middle: begin it again
                    return
                self._positions.append(stop.value)
        self.number += 1

    def _set_limits(self, stops: Stops) -> None:
        """Set the size and the greatest length. Forget the steps that would differ under the new ones."""
        if stops.max_length != self._max_length:
            self._start(stops.max_length)
        old = self._target
        new = old if stops.vocab_size is None else self._size(stops.vocab_size)
        if new == old:
            return
        self._target, self._work, self._between = new, None, None
        for number, (model, *_) in enumerate(self._positions[:-1]):
            kind, size = model.next_kind(new), len(model.pieces)
            alike = kind != PRUNE or pruned_size(size, new) == pruned_size(size, old)
            if kind == CUT or kind != model.next_kind(old) or not alike:
                del self._positions[number + 1 :]
                self.number = min(self.number, number)
                return

    def end(self, stops: Stops) -> Stop | None:
        """Return why these stops allow no further step, None if they allow one.

        The training is over after the last cut: `VOCAB_SIZE` if the vocabulary has the size asked for,
            `NO_PAIR`
        if it is smaller. A model without pieces is `NO_PAIR` too.
        """
        if stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        target = self._target if stops.vocab_size is None else self._size(stops.vocab_size)
        model = self._positions[self.number].model
        if not model.pieces:
            return Stop.NO_PAIR
        if model.final and target == self._target:
            return Stop.VOCAB_SIZE if self.size_at(self.number) >= target else Stop.NO_PAIR
        return None

    def ending(self, stops: Stops) -> Ending:
        """Return the last step of a run under these stops.

        It is an estimate until the last pruning is made.
        """
        model = self._positions[-1].model
        guess = self.computed + model.steps_left(self._target)
        if stops.merges is not None and (stops.merges <= self.computed or stops.merges < guess):
            return Ending(stops.merges, "stop" if stops.merges <= self.computed else "at most")
        return Ending(guess, "last" if model.final or not model.pieces else "about")

    # ---- piece by piece

    def drop_pieces(self, pieces: int) -> int:
        """Walk through the next pruning by a number of pieces, in order of loss.

        The trainer stays at its step. Vocabulary, corpus and figures are those of the model without the
        pieces dropped so far. The next step makes the whole pruning; a step back ends the walk.

        Args:
            pieces: How many more pieces to drop. A negative number takes pieces back.

        Returns:
            The number of pieces dropped so far, between 0 and all that the pruning drops. At 0 the walk is
            over.

        Raises:
            TokentuiError: The next step is no pruning, or there is none.
        """
        if (kind := self._next_kind) not in (PRUNE, CUT):
            what = "the training is over"
            what = "the next step is a round of EM: it weighs all pieces at once" if kind else what
            raise TokentuiError(what, "piece by piece", "go on to a pruning" if kind else "go back")
        going = self._judged.going
        taken = min(max(0, self.at.taken + pieces), len(going))
        between = None
        if taken:
            part = self._models.without(self._positions[self.number].model, going[:taken])
            between = finished(self._survey(part))._replace(taken=taken, going=len(going))
        self._between = between  # where kernels fail, the walk stays where it is
        return taken

    @property
    def walked(self) -> tuple[int, int] | None:
        """The number of pieces dropped so far and the number that the pruning drops; None outside a walk."""
        return (self._between.taken, self._between.going) if self._between else None

    @property
    def _next_kind(self) -> str:
        """The kind of the next step, empty after the last cut."""
        return self._positions[self.number].model.next_kind(self._target)

    @property
    def _judged(self) -> Judgment:
        """The pieces of this step as the next pruning judges them."""
        return finished(self._models.judge(self._positions[self.number].model, self._target, self._others))

    # ---- looking

    def step_at(self, number: int) -> RoundStep:
        """Return a computed step, 1 for the first; 0 for the seeds.

        A walk piece by piece changes only the size.
        """
        model, tokens, objective, _, _ = self._positions[number]
        return RoundStep(
            number=number, kind=model.what, tokens=tokens,
            vocab_size=self.size_at(number),
            round=model.round, kept=len(model.pieces), dropped=len(model.dropped.pieces), objective=objective,
            final=model.final,
        )

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in pieces after a computed step, by weight.

        For the current step it is that of the walk through the next pruning, if there is one.
        """
        return self.at.tokens if number == self.number else self._positions[number].tokens

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each named part at the current step; empty for others, and during a walk."""
        if number != self.number or self._between:
            return ()
        return self._lengths.measured(number, self.segment)

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step, special tokens counted.

        For the current step it is that of the walk through the next pruning, if there is one.
        """
        at = self.at if number == self.number else self._positions[number]
        return self._others + len(at.model.pieces)

    def steps_changing(self, tokens: frozenset[bytes], steps: range) -> Iterator[int]:
        """Yield the steps that drop one of these pieces, and the last cut if it leaves one: what is asked of
        them is known then."""
        exact = self._models.seeds.bytes
        for number in filter(None, steps):
            model = self._positions[number].model
            if any(exact[piece] in tokens for piece in model.dropped.pieces) or (
                model.final and any(exact[piece] in tokens for piece in model.pieces)
            ):
                yield number

    def taken(self, number: int) -> None:
        """Return None: a step takes no single candidate."""

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with the round, and what it drops."""
        step, kind = self.step_at(self.number), self._next_kind
        at = Round(
            last="seeds" if not self.number else CUT if step.final else step.kind,
            round=step.round, pieces=len(self.model.pieces), dropped=step.dropped,
            objective=self.at.objective,
            before=self._positions[self.number - 1].objective if self.number else None, next=kind,
            going=len(self._judged.going) if kind in (PRUNE, CUT) else None, taken=self.at.taken,
        )
        return replace(why, round=at)

    def candidates_at(self, limit: int | None, stops: Stops) -> Ranking:
        """Return the pieces in the order in which a pruning drops them, judged by this step.

        The first call at a step is slow: it makes the passes of a pruning over the corpus.
        """
        model, exact, judged = self._positions[self.number].model, self._models.seeds.bytes, self._judged
        gone = set(judged.going[: self.at.taken])

        def candidate(row: int) -> PieceCandidate:
            n = judged.order[row]
            piece = model.pieces[n]
            probability, expected, uses = exp(model.scores[n]), model.expected[n], round(judged.uses[piece])
            loss, reason = judged.worth.loss[n], judged.reasons.get(piece, "")
            parts = tuple(exact[part] for part in judged.path(piece))
            values = probability, expected, uses, loss, parts, reason
            return PieceCandidate(
                (piece,), parts, exact[piece], -loss, values,
                probability=probability, expected=expected, uses=uses, loss=loss, reason=reason,
                taken=n in gone,
            )

        def piece(row: int) -> int:
            return model.pieces[judged.order[row]]

        return Ranking(
            len(judged.order), 0, 0, candidate, lambda row: exact[piece(row)],
            lambda row: [exact[part] for part in judged.path(piece(row))], parts_join=True,
        )

    def inventory(self) -> Inventory:
        """Return the vocabulary at this step, with the pieces that the last step dropped; in a walk with
        those dropped so far, the latest first."""
        if self._removed is None or self._removed[0] is not self.model:  # a pruning drops many
            self._removed = self.model, list(self._dropped())
        vocabulary = self.vocabulary
        return Inventory(vocabulary, 0, len(vocabulary.pieces), removed=self._removed[1])

    def _dropped(self) -> Iterator[Entry]:
        """Yield the entries of `inventory` for dropped pieces, each with the figure that decided."""
        exact = self._models.seeds.bytes
        if self._between:
            model, judged = self._positions[self.number].model, self._judged
            for n in reversed(judged.going[: self._between.taken]):
                reason, loss = judged.reasons[model.pieces[n]], judged.worth.loss[n]
                yield Entry(None, -1, exact[model.pieces[n]], "left", score=loss, reason=reason)
        else:
            for piece, why, figure in zip(*self.model.dropped, strict=True):
                yield Entry(None, -1, exact[piece], "left", score=figure, reason=REASONS[why])

    def segment(self, place: Word) -> list[Span]:
        """Return the part of a word's best segmentation that a place asks for.

        An unknown unit has symbol -1.
        """
        return place.within(self._vocabulary().spans(place.text))

    def changed(self) -> Changed:
        """Return a `Changed` that compares the segmentations of a word before and after the last step.

        In a walk it compares the current step with the walk. At step 0 nothing differs.
        """
        if not self.number and not self._between:
            return Changed(differs=lambda word: False)
        before = self._positions[self.number if self._between else self.number - 1].model
        old, now = self._laid_out(before), self._vocabulary()
        return Changed(differs=lambda word: old.pieces(word) != now.pieces(word))

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield all steps up to this one, with the tokens of a pre-token."""
        for number, (model, *_) in enumerate(self._positions[: self.number + 1]):
            yield number, tuple(self._laid_out(model).pieces(word))

    def uses_of(self, symbol: int) -> Iterator[Used]:
        """Return an iterator over the uses of a piece, which surveys the corpus by the model of each step."""
        piece = self._vocabulary().numbers[symbol]
        models, positions = copy.copy(self._models), self._positions[: self.number + 1]
        models.results = {}  # do not replace the cached results of the training

        def survey_steps() -> Iterator[Used]:
            for number, (model, *_) in enumerate(positions):
                tick(number, len(positions))
                yield Used(number, round(finished(models.survey(model)).uses[piece]))

        return survey_steps()

    @property
    def vocabulary(self) -> Vocabulary:
        """The pieces of this step, the most probable first."""
        return self._vocabulary().vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol of the vocabulary in the best segmentations of the corpus, by weight."""
        return self._vocabulary().uses

    def _vocabulary(self) -> ModelVocabulary:
        """Return the present model as a vocabulary. It is cached until the model is another one."""
        if self._shown is None or self._shown.model is not self.model:
            self._shown = self._laid_out(self.model)
        return self._shown

    def _laid_out(self, model: Model) -> ModelVocabulary:
        return ModelVocabulary(model, self._models, self.recipe, self._run)

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """Return the tokenizer of a computed step; of the current one if `number` is None."""
        run = self.words.with_corpora(run)
        if number is None or number == self.number:
            return Tokenizer(self.vocabulary, 0, run)
        return Tokenizer(self._laid_out(self._positions[number].model).vocabulary, 0, run)

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> UnigramTrainer:
        """Return another training of the same corpus at a computed step, which shares its models.

        It has all computed steps, also those after `number`.

        Raises:
            TokentuiError: There is a what-if; unigram trainings have none.
        """
        self.traits.check_what_ifs(what_if)
        other = copy.copy(self)
        if engines.failed:  # the original may still be working with its kernels
            other._models = copy.copy(self._models)
            other._models.run, other._models.results = WRITTEN, dict(self._models.results)
        other._positions, other.number = self._positions[:], number
        other._work = other._between = other._shown = None
        return other
