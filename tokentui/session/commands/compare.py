"""Commands for columns side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.session.commands.base import Command, Job, Lane, Need
from tokentui.session.views import ColumnWanted, Passage

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tokentui.session.engine.state import State


class Compare(Command[None], need=Need.IDLE):
    """Show columns side by side: these or, if empty, those that were kept when Compare was left.

    The open column becomes the first one if that has the same request. Raises if there are fewer than two.
    """

    columns: tuple[ColumnWanted, ...] = ()

    def apply(self, state: State) -> None:
        state.compare(self.columns)


class Leave(Command[None]):
    """Show the first column alone; the others are kept for the next `Compare`."""

    def apply(self, state: State) -> None:
        state.leave_compare()


class SyncBy(Command[None]):
    """Keep the columns together by another of `SYNC_UNITS`; None takes the next.

    The first column stays at its step, and the others move. Stops playing. Raises for an unknown unit.
    """

    by: str | None = None

    def apply(self, state: State) -> None:
        state.sync.sync_by(self.by)


class AddColumn(Command[int]):
    """Add a column, before the one at a place (from 0) or at the right. Answered by its key, before it is
    opened.

    Raises if there are four already.
    """

    wanted: ColumnWanted
    place: int | None = None

    def apply(self, state: State) -> int:
        return state.add_column(self.wanted, self.place)


class ChangeColumn(Command[int]):
    """Replace a column, by its key. Answered by the key of the new one."""

    key: int
    wanted: ColumnWanted

    def apply(self, state: State) -> int:
        return state.change_column(self.key, self.wanted)


class RemoveColumn(Command[None]):
    """Remove a column, by its key. Raises if only two are left."""

    key: int

    def apply(self, state: State) -> None:
        state.remove_column(self.key)


class MoveColumn(Command[None]):
    """Move a column, by its key, `by` places to the right, or to the left for a negative number."""

    key: int
    by: int

    def apply(self, state: State) -> None:
        state.move_column(self.key, self.by)


class GoToDivergence(Command[int | None]):
    """Go to the step before the first differing one of two columns, by their keys, so that both show what
    they are about to do.

    Answered by the differing step once it is found, None if there is none. The columns are in step by merges
    then.
    """

    a: int
    b: int

    def apply(self, state: State) -> Future[int | None]:
        first, second = state.column(self.a), state.column(self.b)
        return state.results.go_to_divergence(first, second, state.view.literal)


class FindDivergence(Command[None]):
    """Search again for the first differing step of two columns, by their keys, after the search was
    cancelled."""

    a: int
    b: int

    def apply(self, state: State) -> None:
        state.results.retry_divergence(state.column(self.a).key, state.column(self.b).key)


class ShowPassage(Command[None]):
    """Show a passage of the corpus encoded in place of the typed text; None shows the typed text again."""

    passage: Passage | None

    def apply(self, state: State) -> None:
        from tokentui.session.training.passages import fitted

        state.passage = fitted(state.results.corpus, self.passage) if self.passage is not None else None


class NextPassage(Command[Passage | None], lane=Lane.JOB):
    """Show the next (or previous) passage of the corpus that the columns cut differently, wrapping around.

    Answered by the passage, None if they agree everywhere.
    """

    backward: bool = False

    def apply(self, state: State) -> Job[Passage | None]:
        """Return a job that searches from the passage on screen. The passage that it finds is then shown; if
        it finds none, the shown one stays."""
        from tokentui.session.training.passages import next_disagreement

        context = state.context()

        def show(passage: Passage | None) -> Passage | None:
            state.passage = passage or state.passage
            return passage

        return Job(
            lambda: next_disagreement(
                context.corpus, tuple(context.columns.values()), context.passage, Passage().length,
                self.backward,
            ),
            show,
        )


class HoldOut(Command[None], lane=Lane.JOB):
    """Measure on a second corpus as well; an empty source ends that.

    Answered when it is open; raises if it cannot be read.
    """

    source: str
    as_: str | None = None
    field: str = "text"

    def apply(self, state: State) -> Job[None]:
        """Return a job that reads the source; the session then measures on it, or on none for an empty
        source."""
        from tokentui.session.training.training import open_corpus

        return Job(
            lambda: open_corpus(self.source, self.as_, self.field) if self.source else None,
            state.results.set_held_out, reads_files=True,
        )


class MeasureUnder(Command[None]):
    """Set the conventions of the measures: the splitter that defines a word, and the order of Rényi's
    entropy.

    Raises if there is no such splitter or order.
    """

    splitter: str = "whitespace"
    alpha: float = 2.5

    def apply(self, state: State) -> None:
        from tokentui.analyze.metrics import Conventions

        state.results.under = Conventions(self.splitter, self.alpha)
