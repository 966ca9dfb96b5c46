"""Base of the commands of a session: the thread that runs one, the state that it needs, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum, Flag, IntEnum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, dataclass_transform

from tokentui.core.records import dataclass

if TYPE_CHECKING:
    from tokentui.session.engine.state import State
    from tokentui.session.training.step_context import StepContext
    from tokentui.session.training.training import Partial, Training, TrainingCache

Answer_co = TypeVar("Answer_co", covariant=True)


class Lane(Enum):
    """The thread that runs a command."""

    ENGINE = "engine"  # between two slices of the columns' work
    LOADER = "loader"  # the thread that reads and counts
    # one of its own, about the step at which it is sent; a later command of its class replaces it
    JOB = "job"


class Need(IntEnum):
    """The state that a command needs to run. Each member includes those before it."""

    NOTHING = 0
    SHOWN = 1  # something is open, or a part of it
    CORPUS = 2  # the text of the corpus that was opened last
    STEPS = 3  # a training, or an opened tokenizer, that can be stepped through
    ARRIVED = 4  # the training is at the place that is kept
    COUNTED = 5  # the whole corpus has been counted for it
    IDLE = 6  # no move to a target is in progress; the training may be playing


class Part(Flag):
    """The parts of a session that a command of the loader replaces."""

    NOTHING = 0
    CORPUS = auto()
    TRAINING = auto()


class Job(Generic[Answer_co]):
    """Work for a thread of its own, returned by `Command.apply` in place of an answer.

    Args:
        work: Does the work. It must not read the state, which changes meanwhile.
        then: Turns the result of `work` into the answer, on the engine thread; None to answer with the
            result.
        reads_files: True to run in the thread that opens files: a read may hang on a device.
        cancellable: False to finish the work even if nobody waits for the answer.
    """

    def __init__(
        self, work: Callable[[], Any], then: Callable[[Any], Answer_co] | None = None, *,
        reads_files: bool = False, cancellable: bool = True,
    ) -> None:
        self.work, self.then = work, then
        self.reads_files, self.cancellable = reads_files, cancellable

    def answer(self, result: Any) -> Answer_co:
        """Return the answer for a result of `work`. Called on the engine thread."""
        return result if self.then is None else self.then(result)


@dataclass_transform(frozen_default=True)
class Command(Generic[Answer_co]):
    """A request from a screen to a session, a frozen value; the type parameter is the type of the answer.

    A command overrides one method: `apply` if it changes the state, `answer` if it only reads, `load` if its
    lane is the loader's. Screens import all commands before the first paint, so these methods import what
    only the engine needs.

    Attributes:
        lane: The lane that runs the command.
        need: The state that the command needs.
        walks: True if the command moves from step to step.
        fresh: True if the command makes earlier requests for steps meaningless.
        opens: The parts of the session that the command replaces.
        summary: The short description, a format string of the command.
        in_order: True if the command runs in order with the others; a command that only reads does not.
    """

    lane: ClassVar[Lane] = Lane.ENGINE
    need: ClassVar[Need] = Need.NOTHING
    walks: ClassVar[bool] = False
    fresh: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    opens: ClassVar[Part] = Part.NOTHING
    summary: ClassVar[str] = ""

    def __init_subclass__(
        cls, lane: Lane = Lane.ENGINE, need: Need = Need.NOTHING, walks: bool = False, fresh: bool = False,
        opens: Part = Part.NOTHING, summary: str = "",
    ) -> None:
        """Store the keywords of the class statement on the class, and make it a frozen dataclass.

        Commands of the loader, and those that need steps, run in the order in which they are sent.
        """
        super().__init_subclass__()
        cls.lane, cls.need, cls.walks, cls.fresh, cls.opens, cls.summary = (
            lane, need, walks, fresh, opens, summary
        )
        cls.in_order = lane is Lane.LOADER or need >= Need.STEPS
        dataclass(frozen=True)(cls)

    @property
    def replaces(self) -> Part:
        """The parts of the session that this command replaces."""
        return self.opens

    @property
    def description(self) -> str:
        """A short description, shown while the command is queued; empty if a dialog shows it."""
        return self.summary.format(self)

    def apply(self, state: State) -> Answer_co | Future[Answer_co] | Job[Answer_co]:
        """Change the state, on the engine thread. If not overridden, answer the question about the column
        that the field `column` names: in a job if the lane is `JOB`, else at once.

        Returns:
            The answer, a future of it if a walk has to find it, or a job.

        Raises:
            TokentuiError: It cannot be done.
        """
        context = state.context(getattr(self, "column", None))
        return Job(lambda: self.answer(context)) if self.lane is Lane.JOB else self.answer(context)

    def answer(self, context: StepContext) -> Answer_co:
        """Answer a question about a step: in a job if that is the lane, else on the engine thread.

        Args:
            context: The step of the column that the field `column` names; of the first column if there is no
                such field, or if it is None.

        Raises:
            TokentuiError: There is no answer.
        """
        raise NotImplementedError

    def load(self, cache: TrainingCache, before: Training, partial: Partial) -> Training:
        """Open something, on the loader's thread.

        Args:
            cache: The trainings to go back to.
            before: What is open.
            partial: Called with a part of a large corpus, to be shown before the rest is counted.

        Raises:
            TokentuiError: It cannot be opened.
        """
        raise NotImplementedError


def run_now(job: Job[Any], reply: Callable[[Any], object]) -> None:
    """Run a job in this thread and call `reply` with its answer. Exceptions are raised, not passed to
    `reply`."""
    reply(job.answer(job.work()))


def perform(
    command: Command[Any], state: State, reply: Callable[[Any], object],
    submit: Callable[[Job[Any], Callable[[Any], object]], object] = run_now,
) -> None:
    """Run a command of the engine's lane or of a job.

    Args:
        command: The command.
        state: The state that it changes or reads.
        reply: Called with the answer, now or later; later also with the exception that takes its place.
        submit: Runs a job and calls the second argument with its answer.

    Raises:
        TokentuiError: It cannot be done.
    """
    if command.walks:
        state.start_walk()
    outcome = command.apply(state)
    if isinstance(outcome, Job):
        submit(outcome, reply)
    elif isinstance(outcome, Future):
        outcome.add_done_callback(lambda future: reply(future.exception() or future.result()))
    else:
        reply(outcome)
