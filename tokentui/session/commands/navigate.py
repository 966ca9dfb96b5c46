"""Commands that go from step to step."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.session.commands.base import Command, Need

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tokentui.learn.trainer import Goal
    from tokentui.session.engine.state import State
    from tokentui.session.training.training import Training


class Move(Command[None], need=Need.ARRIVED, walks=True):
    """Move the position forward by a number of its units, or back for a negative number; see `Position`.
    Moves add up while one is in progress; stops of the run are passed."""

    steps: int

    def apply(self, state: State) -> None:
        state.sync.set_goal(self.steps, relative=True)


class GoTo(Command[None], need=Need.STEPS, walks=True):
    """Go to a value of the position, such as a step, past the stops of the run; None goes to the end of the
    run (its stops, or no pair left)."""

    step: int | None

    @property
    def description(self) -> str:
        return "go to the end" if self.step is None else f"go to step {self.step:,}"

    def apply(self, state: State) -> None:
        state.sync.set_goal(self.step)


class GoToShare(Command[None], need=Need.STEPS, walks=True, summary="go to {0.percent} % of the run"):
    """Go to a share of the run, in percent of its last step; train to the end of the run first."""

    percent: int

    def apply(self, state: State) -> None:
        state.sync.go_to_share(self.percent)


class GoToToken(Command[int | None], need=Need.STEPS, walks=True, summary="go to the token ‘{0.text:.40}’"):
    """Go to the step that makes a token (text as shown or typed), if it is computed or comes within the run.

    Answered by the step, or None if no step makes it. Only for one column.
    """

    text: str

    def apply(self, state: State) -> Future[int | None]:
        return state.sync.seek(self.text)


class GoToId(Command[int | None], need=Need.STEPS, walks=True, summary="go to the token #{0.id}"):
    """Go to the step that makes the token with an id, among the computed steps; a token of the start is at
    step 0.

    Answered by the step; None if no token has the id, or the steps of the training make no tokens.
    """

    id: int

    def apply(self, state: State) -> int | None:
        """Set the goal and return its step; None, with no move, if no computed step makes the id."""
        trainer = state.main.trainer
        tokenizer = trainer.tokenizer()
        further = tokenizer.merges + trainer.computed - trainer.number
        symbol = tokenizer.vocabulary.symbols_by_id(further).get(self.id) if trainer.traits.grows else None
        if symbol is None:
            return None
        step = learn.steps_of_symbols(trainer)(symbol)
        state.sync.set_goal(step)
        return step


class StepWithSpace(Command[int | None], need=Need.STEPS):
    """Find the computed step that makes a token of a text with a space in front, such as `·the` for `the`.

    Answered by the step; None if there is none. The position stays.
    """

    text: str

    def apply(self, state: State) -> int | None:
        from tokentui.session.training.seek import spellings

        return learn.find(state.main.trainer, spellings(f" {self.text}"))


class RunUntil(Command[int | None], need=Need.STEPS, walks=True, summary="run until {0.condition}"):
    """Run on to the first step that meets a condition, the current one included; exactly one must be set.

    Args:
        token: A token that the step makes, as shown or typed.
        size: A number of ids that the vocabulary has reached.
        compression: Bytes of the corpus per token.

    Answered by the step; None if the run ends before, at its end then. The stops of the run apply. Only for
    one column.
    """

    token: str = ""
    size: int | None = None
    compression: float | None = None

    @property
    def condition(self) -> str:
        """The condition in a few words."""
        if self.size is not None:
            return f"{self.size:,} ids"
        if self.compression is not None:
            return f"{self.compression:g} bytes per token"
        return f"the token ‘{self.token:.40}’"

    def apply(self, state: State) -> Future[int | None]:
        return state.sync.run_until(self._goal(state.main.training))

    def _goal(self, training: Training) -> Goal:
        """Return the condition as a trainer looks for it.

        Raises:
            TokentuiError: There is not exactly one, no step can meet it, or the corpus has no bytes per
                token.
        """
        from tokentui.learn.bases import WEIGHTS
        from tokentui.learn.trainer import Size, Tokens
        from tokentui.session.training.seek import spellings

        given = [bool(self.token), self.size is not None, self.compression is not None]
        if sum(given) != 1:
            raise TokentuiError(
                "expected one condition", "run until", "a token, a size or bytes per token"
            )
        if self.size is not None:
            return Size(self.size)
        if self.compression is None:
            return spellings(self.token)
        ratio, size = self.compression, training.corpus.size
        if not ratio > 0 or math.isinf(ratio):
            raise TokentuiError("out of range", f"{ratio:g} bytes per token", "use a number above 0")
        if not WEIGHTS.of(training.recipe.weight).by_occurrences:
            raise TokentuiError(
                "each distinct word counts once, so bytes per token are not defined", "run until", "")
        if training.trainer.traits.shrinks:
            # Steps make the corpus longer: it is met at the first step with at least that many tokens.
            return Tokens(math.ceil(size / ratio))
        most = math.floor(size / ratio)
        # The quotient is rounded: the most tokens that have the ratio, exactly as it is shown.
        while most > 0 and size / most < ratio:
            most -= 1
        while size / (most + 1) >= ratio:
            most += 1
        return Tokens(most)


class Play(Command[None], need=Need.ARRIVED, walks=True, summary="run"):
    """Play if `playing` is True, pause if it is False; None toggles."""

    playing: bool | None = None

    def apply(self, state: State) -> None:
        state.sync.play(self.playing, time.monotonic())


class StepPieces(Command[None], need=Need.ARRIVED, walks=True):
    """Stop, and walk through a pruning piece by piece, in order of loss; a negative number of pieces goes
    back.

    Raises if the next step does not drop pieces one by one.
    """

    pieces: int

    @property
    def description(self) -> str:
        count = abs(self.pieces)
        return f"{count:,} piece{'' if count == 1 else 's'} {'on' if self.pieces > 0 else 'back'}"

    def apply(self, state: State) -> None:
        """Stop all moves, then drop or restore the pieces. A failure of kernels marks the column for a
        fallback.

        Raises:
            TokentuiError: The training has no steps within a step.
        """
        state.sync.halt()
        column = state.main
        substeps = learn.substeps_of(column.trainer)
        if substeps is None:
            raise TokentuiError("this training has no steps within a step", "piece by piece", "use n and b")
        try:
            substeps.drop_pieces(self.pieces)
        except Exception as error:
            if not column.on_kernel_failure(error):
                raise


class Speed(Command[None]):
    """Play faster, or slower for a negative number, by a number of entries of `SPEEDS`, to its ends at
    most."""

    by: int

    def apply(self, state: State) -> None:
        state.sync.faster(self.by, time.monotonic())


class SetSpeed(Command[None]):
    """Play at one of `SPEEDS`, in steps per second; None is as fast as possible."""

    speed: int | None

    def apply(self, state: State) -> None:
        state.sync.play_at(self.speed, time.monotonic())


class CancelWork(Command[None]):
    """Cancel the work in progress: opening, counting, walking, questions. The open corpus and the step
    stay."""

    def apply(self, state: State) -> None:
        state.stop()  # the session gives up the jobs
