"""Training a unigram language model, one sub-step at a time: the history of a run, and walking in it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from tokentui.core import jit
from tokentui.core.errors import TokentuiError
from tokentui.learn import base as end
from tokentui.learn.base import Cancel, Progress, Stops
from tokentui.learn.unigram.coded import MAX_LENGTH
from tokentui.learn.unigram.maker import Maker
from tokentui.learn.unigram.model import CUT, PRUNE, SPARE, SUB_ROUNDS, Model, pruned_size
from tokentui.learn.unigram.plain import Engine, Plain, drain
from tokentui.learn.unigram.rows import UnigramStep
from tokentui.learn.unigram.seeds import SEED_SIZE
from tokentui.learn.walking import look, quiet_collector
from tokentui.recipe import Ending, Recipe
from tokentui.text.count import Words
from tokentui.text.patience import asking

VOCAB_SIZE = 8000
"""The size that a training prunes towards where none was asked for: the default of sentencepiece."""
_SLICE_S = 0.01
_PER_MILLE = 1000


class _Walk(NamedTuple):
    """A place in the middle of a pruning: so many pieces dropped of those that go, and what is left of the model."""

    taken: int
    going: int
    model: Model
    tokens: int
    objective: float


class Training:
    """Training by expectation, maximisation and pruning.

    The trainer stands at a step, `number`, and knows all steps up to `known`. Step 0 is the model of the seeds; each
    step after it is a round of EM (two, then a pruning) or a pruning; the last one cuts to the size asked for. A long
    step is made in slices: `advance` may return in the middle of one, and the trainer then still stands before it.

    Seeds are those of sentencepiece when the documents are given as `lines`, since it looks for them in lines. Counted
    words alone do not tell which of them end a line: without `lines` each is taken to have a ▁ after it, so that a word
    which the library saw before spaces and at ends of lines, and nowhere else, is no seed. One thing of the library is
    left out: it counts twice what ends lines as the very last line does. Every unit that the coverage of the recipe takes in is
    required.

    Args:
        words: The counted pre-tokens of the corpus.
        recipe: What to train. Its objective is `unigram`.
        first_id: The first id given.
        specials: Special tokens, which take the first ids and count in the size.
        progress: Told (done, total) in thousandths while the start is laid out.
        cancel: Asked meanwhile; true raises `Cancelled`.
        vocab_size: The size to prune towards until a run asks for another. One that the units alone exceed is taken as
            just large enough for them.
        lines: The documents that the words come from.
        seed_size: How many seeds of two or more units there are at most.
    """

    known_for: Stops = Stops()
    """The sizes that a run goes to where none are named."""

    def __init__(
        self,
        words: Words,
        recipe: Recipe,
        *,
        first_id: int = 0,
        specials: Sequence[str] = (),
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        vocab_size: int = VOCAB_SIZE,
        lines: Sequence[str] | None = None,
        seed_size: int = SEED_SIZE,
    ) -> None:
        self.words = words
        self.recipe = recipe
        self.first_id = first_id
        self.specials = tuple(specials)
        symbols = sum(name not in self.specials for name in recipe.symbols)
        self._others = len(self.specials) + symbols + (256 if recipe.unknown == "byte-fallback" else 0)
        self._max_length: int | None = None
        with quiet_collector(), asking(cancel) if cancel is not None else nullcontext():
            work = self._lay_out(lines, seed_size)
            while True:
                try:
                    look(progress, cancel, int(next(work) * _PER_MILLE), _PER_MILLE)
                except StopIteration as stop:
                    self._maker: Maker = stop.value
                    break
            self._target = self._size(vocab_size)
            self._start()
        look(progress, cancel, _PER_MILLE, _PER_MILLE)

    def _lay_out(self, lines: Sequence[str] | None, seed_size: int) -> Generator[float, None, Maker]:
        kind: type[Engine] = Plain
        if jit.loaded("unigram"):
            from tokentui.learn.unigram.compiled import Compiled  # needs the kernels

            kind = Compiled
        return Maker((yield from kind.lay_out(self.words, self.recipe, lines, seed_size)))

    def _start(self) -> None:
        """Forget all steps and stand on the seeds."""
        self.number = 0
        self._walk: _Walk | None = None
        self._models: list[Model] = []
        self._tokens: list[int] = []
        self._objectives: list[float] = []
        self._work: Generator[None, None, None] | None = None
        drain(self._arrive(self._maker.engine.first(self._max_length or MAX_LENGTH)))
        self.start_tokens = self._tokens[0]
        """The length of the corpus in pieces by the seeds."""

    @property
    def known(self) -> int:
        """The number of steps that have been made, those gone back over too."""
        return len(self._models) - 1

    memory = 0
    """What models and words take is not counted."""

    @property
    def pieces(self) -> int:
        """The number of pieces at this step."""
        return len(self.model.pieces)

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials and byte tokens counted."""
        return self._others + self.pieces

    @property
    def tokens(self) -> int:
        """The length of the corpus in pieces at this step, by weight."""
        return self._walk.tokens if self._walk else self._tokens[self.number]

    @property
    def objective(self) -> float:
        """The mean negative natural log probability of a word at this step, over all segmentations."""
        return self._walk.objective if self._walk else self._objectives[self.number]

    # ---- walking

    def step(self) -> UnigramStep | None:
        """Make the next step. Returns None at the end."""
        number = self.number
        while self.number == number:
            if self.end(Stops()):
                return None
            self._forward()
        return self.step_at(self.number)

    def back(self) -> UnigramStep | None:
        """Undo the last step and return it; None at the start."""
        self._walk = None
        if not self.number:
            return None
        self.number -= 1
        return self.step_at(self.number + 1)

    def fine(self, pieces: int) -> int:
        """Walk through the coming pruning, so many pieces on or back, in order of loss.

        The trainer stays at its step; pieces, vocabulary, corpus and figures are those of the model without what has been
        dropped so far. The next step makes the whole pruning, from wherever the walk stands; a step back leaves it.

        Returns:
            How many pieces are dropped now.

        Raises:
            TokentuiError: The next step is no pruning.
        """
        model = self._models[self.number]
        kind = model.coming(self._target)
        if kind not in (PRUNE, CUT):
            what = "the training is over" if not kind else "the next step is a round of EM: it weighs all pieces at once"
            raise TokentuiError(what, "piece by piece", "go back" if not kind else "go on to a pruning")
        taken = (self._walk.taken if self._walk else 0) + pieces
        going = self._going(model)
        taken = min(max(0, taken), len(going))
        self._walk = self._stand(model, going, taken) if taken else None
        return taken

    @property
    def coming(self) -> str:
        """What the next step is: `em`, `prune`, `cut` (the last pruning), or empty at the end."""
        return self._models[self.number].coming(self._target)

    @property
    def going(self) -> int:
        """How many pieces the next step drops, where it is a pruning."""
        return len(self._going(self._models[self.number]))

    def _going(self, model: Model) -> list[int]:
        """What the coming pruning drops, in order of loss, as places in the model."""
        judged = self._maker.judge(model, self._target, self._others)
        return [n for n in judged.order if model.pieces[n] in judged.reasons]

    def _stand(self, model: Model, going: Sequence[int], taken: int) -> _Walk:
        """Stand in the middle of a pruning."""
        part = model.without(going[:taken])
        known = drain(self._maker.survey(part))
        words = max(1, self._maker.seeds.occurrences)
        return _Walk(taken, len(going), part, round(sum(known.uses)) + self._maker.seeds.apart, -known.likelihood / words)

    @property
    def walked(self) -> tuple[int, int] | None:
        """How far a walk through the coming pruning is: pieces dropped, of how many; None where none is under way."""
        return (self._walk.taken, self._walk.going) if self._walk else None

    def jump(self, number: int, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a step, or to the end of the training.

        Returns:
            The number of the step arrived at.
        """
        number = max(0, number)
        start, total = self.number, abs(number - self.number)
        while not self.advance(number, Stops(max_length=self._max_length)):
            look(progress, cancel, abs(self.number - start), total)
        return self.number

    def run(
        self,
        *,
        merges: int | None = None,
        vocab_size: int | None = None,
        min_count: int = 1,
        max_length: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> str:
        """Train to the end.

        Args:
            merges: Stop at this step.
            vocab_size: The number of ids to prune to; the one asked for last where None.
            min_count: Of no meaning here; what stands twice may be a piece.
            max_length: Make no piece longer than so many units, 16 at most.
            progress: Told (done, total) in steps; the total is a guess that becomes better.
            cancel: Asked meanwhile; true raises `Cancelled`, and the trainer stays where it is.

        Returns:
            Why it stopped: `vocab_size`, `merges`, or `no pair left` where the corpus has not so many pieces.
        """
        stops = Stops(merges, vocab_size, max(1, min_count), max_length)
        stops = self.known_for if stops == Stops() else stops
        with quiet_collector():
            reason = None
            while not reason:
                look(progress, cancel, self.number, self._guess())
                reason = self.advance(None, stops)
        return reason

    def advance(self, target: int | None, stops: Stops, seconds: float = _SLICE_S) -> str | None:
        """Walk towards a step, or on to a stop, for a short while.

        Args:
            target: The step to go to, back or forward; None goes on until a stop holds.
            stops: Where to stop going forward. Another size than before takes back the prunings that would differ;
                another greatest length all steps. A size of None is the one asked for last. `merges` counts steps.
            seconds: About how long to work.

        Returns:
            Why it stopped, `"merges"` at the target; None when time is up and there is more to do.
        """
        self.bound(stops)
        if target != self.number:
            self._walk = None
        deadline = time.perf_counter() + seconds
        while True:
            if target is not None and self.number >= target:
                self.number = target
                return end.MERGES
            reason = self.end(stops)
            if reason:
                return reason
            self._forward()
            if time.perf_counter() > deadline:
                return None

    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; None where one may."""
        if stops.merges is not None and self.number >= stops.merges:
            return end.MERGES
        target = self._target if stops.vocab_size is None else self._size(stops.vocab_size)
        model = self._models[self.number]
        if not model.pieces:
            return end.NO_PAIR
        if model.final and target == self._target:
            return end.VOCAB_SIZE if self.vocab_size >= target else end.NO_PAIR
        return None

    @property
    def least_size(self) -> int:
        """The number of ids that the units and what is no piece take: no pruning goes below."""
        return self._others + self._maker.seeds.units

    def _size(self, asked: int) -> int:
        return max(asked, self.least_size)

    def bound(self, stops: Stops) -> None:
        """Take another size or greatest length: what was made under the old ones and would differ is forgotten."""
        if stops.max_length != self._max_length:
            self._max_length = stops.max_length
            self._start()
        old = self._target
        new = old if stops.vocab_size is None else self._size(stops.vocab_size)
        if new == old:
            return
        self._target, self._work, self._walk = new, None, None
        for number, model in enumerate(self._models[:-1]):
            kind, size = model.coming(new), len(model.pieces)
            same = kind == model.coming(old) and (kind != PRUNE or pruned_size(size, new) == pruned_size(size, old))
            if not same or kind == CUT:
                del self._models[number + 1 :], self._tokens[number + 1 :], self._objectives[number + 1 :]
                self.number = min(self.number, number)
                return

    def _forward(self) -> None:
        """Go to the next step if it is known, else work on it for about a millisecond."""
        self._walk = None
        if self.number == self.known:
            self._work = self._work or self._next()
            try:
                next(self._work)
                return
            except StopIteration:
                self._work = None
            if self.number == self.known:  # an interrupt ended the work in the middle: begin it again
                return
        self.number += 1

    def _next(self) -> Generator[None, None, None]:
        """Make the step after the last known one."""
        yield from self._arrive((yield from self._maker.next(self._models[-1], self._target, self._others)))

    def _arrive(self, model: Model) -> Generator[None, None, None]:
        """Note another last step, with what the corpus is by it."""
        known = yield from self._maker.survey(model)
        self._models.append(model)
        self._tokens.append(round(sum(known.uses)) + self._maker.seeds.apart)
        self._objectives.append(-known.likelihood / max(1, self._maker.seeds.occurrences))

    def _guess(self) -> int:
        """About how many steps there will be."""
        model, steps = self._models[-1], self.known
        size = len(model.pieces)
        if model.final or not size:
            return steps
        if model.what != PRUNE or not model.ready(self._target):
            steps += model.rest if model.what != PRUNE else SUB_ROUNDS
            while True:
                steps += 1
                size = pruned_size(size, self._target)
                if size <= int(self._target * SPARE):
                    break
                steps += SUB_ROUNDS
        return steps + 1

    # ---- looking

    @property
    def model(self) -> Model:
        """The model of this step: pieces by their numbers among the seeds, and their scores."""
        return self._walk.model if self._walk else self._models[self.number]

    def step_at(self, number: int) -> UnigramStep:
        """A known step, 1 for the first."""
        model = self._models[number]
        return UnigramStep(
            number=number,
            round=model.round,
            what=model.what,
            kept=len(model.pieces),
            dropped=len(model.dropped.pieces),
            objective=self._objectives[number],
            tokens=self._tokens[number],
            vocab_size=self._others + len(model.pieces),
            final=model.final,
        )

    def steps(self, first: int = 1) -> Iterator[UnigramStep]:
        """The known steps from this one on up to the present step."""
        return (self.step_at(number) for number in range(first, self.number + 1))

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""
        return self._tokens[number]

    def last_step(self, stops: Stops) -> int | None:
        """The step that the training ends with: known at its end, before that about the right one."""
        guess = self._guess()
        return guess if stops.merges is None else min(guess, stops.merges)

    def ending(self, stops: Stops) -> Ending:
        """Where the training ends: how many prunings it takes is an estimate until the last one is made."""
        model, guess = self._models[-1], self._guess()
        if stops.merges is not None and (stops.merges <= self.known or stops.merges < guess):
            return Ending(stops.merges, "stop" if stops.merges <= self.known else "at most")
        return Ending(guess, "last" if model.final or not model.pieces else "about")

    def limits(self, stops: Stops) -> Stops:
        """Of some stops those that say what a step is, without those that only end a run."""
        return Stops(vocab_size=stops.vocab_size, max_length=stops.max_length)

    def step_with(self, size: int) -> int | None:
        """The first known step with at most so many ids; None where there is none yet."""
        others = self._others
        return next((n for n, model in enumerate(self._models) if others + len(model.pieces) <= size), None)
