"""The state of a session: its columns, and what is shown of them. Commands in, work in slices, snapshots out.

Everything here is plain and synchronous. A session calls it from one worker thread; a test calls it as it
likes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, cast

from tokentui.analyze.compare import FEWEST, MOST
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import short_names
from tokentui.learn import jump, substeps_of
from tokentui.learn.start_pairs import value_without_kernel
from tokentui.learn.trainer import Trainer
from tokentui.session.compare.results import Results
from tokentui.session.engine.jobs import BackgroundQuery, ignore
from tokentui.session.errors import NothingOpen
from tokentui.session.playground import Playground
from tokentui.session.snapshot import Between, CorpusFacts, Snapshot
from tokentui.session.training.column import Column, same_request
from tokentui.session.training.finding import TextSearch
from tokentui.session.training.history import StepHistory
from tokentui.session.training.step_context import StepContext
from tokentui.session.training.sync import Synchronizer
from tokentui.session.training.training import Training, branched, prepare_again, prepare_column
from tokentui.session.views import (
    Busy,
    ColumnSnapshot,
    ColumnWanted,
    CorpusPlace,
    Passage,
    Position,
    Viewport,
)
from tokentui.text.count import WordCounts
from tokentui.text.kernels.rules import without_scanner

KERNEL_BYTES = 200_000
"""A smaller corpus gains nothing by kernels: plain Python steps through it as quickly as one looks. It is not
laid out again by them, and the screen does not wait for them."""
_ALONE = Between()
_NONE = "", ""


class KeptPlace(NamedTuple):
    """The place that another recipe goes to: a number of merges, or of ids."""

    merges: int
    vocab_size: int


class State:
    """The columns of a session.

    Args:
        training: The training to begin with.
    """

    def __init__(self, training: Training) -> None:
        self.view = Viewport()
        self.typed = ""
        self.passage: Passage | None = None
        self.busy: Busy | None = None
        self.asked: Busy | None = None
        self.waiting = ""
        self.keep_place = "step"
        self.sync = Synchronizer()
        self.results = Results(self.sync, training.corpus)
        self.main = self._new_column(ColumnWanted(training.recipe, training.run))
        """The column that the main screen shows."""
        self.compared: list[Column] = []
        """The columns that are shown side by side, or that are kept until they are again."""
        self.version = 0
        self._merges_at = 0
        self.search, self.playground = TextSearch(), Playground()
        self._past: tuple[Trainer, StepHistory] | None = None
        """A copy of the training of the first column that walks to its past steps."""
        self._requested_place: KeptPlace | None = None
        self._show_whole = False
        self.sync.set_columns([self.main])
        self._set_main_training(training)
        self.sync.adopt_position(self.main)

    _keys = 0

    def _new_column(self, wanted: ColumnWanted) -> Column:
        self._keys += 1
        return Column(self._keys, wanted)

    # ---- what is opened

    def _set_main_training(self, training: Training) -> None:
        """Set the training of the first column.

        With another corpus, reset the results, and close the other columns: they are opened again on it.
        """
        moved = training.corpus is not self.results.corpus
        self.main.set_training(training)
        corpus = training.corpus
        self._note_facts()
        if moved:
            self.results.reset(corpus)
            self.compared = [  # the others are to be opened on the new corpus
                column if column is self.main else Column(column.key, column.wanted)
                for column in self.compared
            ]
            if len(self.sync.columns) > 1:
                self.sync.columns = list(self.compared)
        self._note_engine()

    def _note_facts(self) -> None:
        training = self.main.training
        corpus, notes = training.corpus, (*training.corpus.noticed, *training.notes)
        self._facts = CorpusFacts(corpus.name, corpus.size, notes, training.nothing_open)

    @property
    def _place_to_keep(self) -> KeptPlace:
        """The place that another recipe walks to: the requested one, otherwise the target of a move in
        progress or the current one, as a number of merges and of ids.

        A training that does not grow has no merges: the number is then the last known one, kept by the access
        itself while training grows.
        """
        if self._requested_place is not None:  # nothing was done since: it may be more than this recipe has
            return self._requested_place
        sync, trainer = self.sync, self.main.trainer
        size = trainer.size_at(trainer.number)
        if trainer.traits.grows:
            self._merges_at = sync.target_value
        return KeptPlace(self._merges_at, size)

    def install(self, training: Training, *, keeps_place: bool = False, keeps_view: bool = False) -> None:
        """Show another training in the first column, stop all walks, and set the step or size to keep as
        goal.

        A newly opened corpus is shown from its beginning. If only a part of this corpus was open before, the
        whole takes over at the same step, with the goal and all jobs under way.

        Args:
            training: The new training.
            keeps_place: True to walk to the kept place. A file, once all of the corpus is counted, ignores
                this.
            keeps_view: True to keep the rows that are shown of another corpus.
        """
        sync, main = self.sync, self.main
        before = main.training
        file, was = training.opened, before.opened
        starts_over = not keeps_place or (file and not training.partial)
        kept = None if starts_over else self._place_to_keep
        if file and before.partial and before.corpus is training.corpus and was and was.view == file.view:
            self.take_over(main, training)
            return
        if file and was and file.tokenizer is was.tokenizer:
            jump(training.trainer, main.trainer.number)  # another corpus, or all of it: at the same step
            kept = None
        sync.halt()
        moved = training.corpus is not before.corpus
        self._set_main_training(training)
        if moved and kept is None and not keeps_view:
            self.view = dataclasses.replace(
                self.view, corpus=CorpusPlace(), candidates_top=0, vocabulary_top=0
            )
            self._merges_at = 0
        self._requested_place = kept
        if kept is not None:
            self._merges_at = kept.merges
        if (
            kept is None
            or training.partial
            or (self.keep_place == "step" and not training.trainer.traits.grows)
        ):
            sync.adopt_position(main)  # of a part the whole walks there
        elif self.keep_place == "size":
            sync.send_all_to(Position("size", kept.vocab_size))
        else:
            sync.send_all_to(Position("merges", kept.merges))

    def take_over(self, column: Column, training: Training) -> None:
        """Replace a column's training by another one of the same recipe or file, at the same step.

        Computed steps, a walk piece by piece, and whether the column is in sync are carried over.
        """
        old, new = column.trainer, training.trainer
        new.advance(new.number, training.run.stops)
        for step in (old.computed, old.number) if old.computed > new.computed else (old.number,):
            jump(new, step)
        was, walk = substeps_of(old), substeps_of(new)
        if was is not None and was.walked and walk is not None:
            walk.drop_pieces(was.walked[0])
        in_sync, passed, stopped_at = column.in_sync, column.passed, column.stopped_at
        column.set_training(training)
        if column is self.main:
            self._note_facts()  # of a part it was not known what the split leaves out
        column.in_sync, column.passed, column.stopped_at = in_sync, passed, stopped_at
        self._note_engine()

    def missing_trainings(self) -> Iterator[BackgroundQuery]:
        """Yield a query for each column to open, or to lay out again because its kernels failed. A column
        with an error has none."""
        for column in self.sync.columns:
            if not column.open and not column.error:
                was, what = None, "waiting"
                work = partial(prepare_column, self.results.counted, column.wanted)
                if column.needs_fallback:
                    was, what = column.training, "laying out again"
                    work = partial(prepare_again, was)
                yield BackgroundQuery(("column", (column.key,)), (was, column), what, work)

    def install_column(self, query: BackgroundQuery, training: object) -> None:
        """Set the training of a column that was opened or laid out again, or its error if `training` is one.

        An opened column then walks to the position of the others. An answer for a column that was removed or
        changed meanwhile, or of a canceled job, is ignored.

        Raises:
            Exception: The only column, whose kernels failed, could not be laid out again.
        """
        (_, (key,)), (was, asked) = query.key, query.signature
        column = self.sync.column(key)
        if column is None or isinstance(training, Cancelled):
            return
        prepared, failed = cast("Training", training), isinstance(training, BaseException)
        before = column.training if column.needs_fallback else None
        if column is asked and not column.open and before is was:
            if failed and len(self.sync.columns) == 1:
                raise cast("Exception", training)
            if failed:
                column.set_error(cast("Exception", training))
                self.results.forget(key)
            elif column.needs_fallback:
                self.take_over(column, prepared)
            elif prepared.corpus is self.results.corpus:
                column.set_training(prepared)
                self._note_engine()
            self._walk_to_whole_files()

    def _walk_to_whole_files(self) -> None:
        """Walk to the last step of the opened files, once all columns are open or failed, if files are to be
        shown whole at first. Does so only once; else does nothing."""
        columns = self.sync.columns
        if self._show_whole and len(columns) > 1 and all(column.open or column.error for column in columns):
            self._show_whole = False
            files = [column for column in self.sync.open if column.training.opened]
            if files:
                self.sync.set_goal(max(column.trainer.computed for column in files), past_stops=False)

    def start_walk(self) -> None:
        """Prepare for a command that walks: forget the requested place. Nothing walks yet.

        Raises:
            TokentuiError: Nothing is open, or the only column failed to load.
        """
        main = self.main
        if self._facts.nothing_open:
            raise NothingOpen
        if main.error and len(self.sync.columns) == 1:  # it failed as one of several, as all of them did
            raise TokentuiError("this column failed to load, so it has no steps", main.name, main.error)
        self._requested_place, self._show_whole = None, False

    def stop(self) -> None:
        """Stop the columns where they are, and forget the requested place."""
        self._requested_place = None
        self.sync.halt()

    # ---- columns

    def compare(self, wanted: Sequence[ColumnWanted]) -> None:
        """Show columns side by side, after stopping all walks.

        Args:
            wanted: The requests, of which the first `MOST` count. Columns that are open already are used
                again. If empty, the columns compared before are shown, with the first column.

        Raises:
            TokentuiError: There are fewer than two columns.
        """
        known = list(dict.fromkeys(self.compared if self.main.error else (self.main, *self.compared)))
        # A column that failed is tried again.
        known = [self._new_column(column.wanted) if column.error else column for column in known]
        if wanted:
            columns = []
            for request in wanted[:MOST]:
                match = next((column for column in known if same_request(column.wanted, request)), None)
                if match is not None:
                    known.remove(match)
                    if request.name:
                        match.wanted = dataclasses.replace(match.wanted, name=request.name)
                        match.describe()
                columns.append(match or self._new_column(request))
        else:
            columns = known
        if len(columns) < FEWEST:
            raise TokentuiError("at least two columns are needed", "compare", "name another one")
        self.sync.halt()
        self.compared = columns
        counted = self.results.counted = WordCounts(self.results.corpus)
        for trained in (column.training for column in columns if column.open):
            if not (trained.opened or trained.partial):
                counted.add(trained.recipe, trained.trainer.words)
        for column in columns:
            column.in_sync = column is self.main and column.in_sync and column.open
            self._branch(column)
        self.sync.set_columns(columns)
        if self.main not in columns:
            self.sync.send_all_to(Position())
        files = bool(wanted) and all(request.path for request in wanted)
        self._show_whole = self.main not in columns or (
            files and self.main.trainer.number == self.main.trainer.computed
        )

    def leave_compare(self) -> None:
        """Show only the first column that could be opened, and keep the others in `compared`.

        Stops all walks. Does nothing if only one column is shown.
        """
        if len(self.sync.columns) == 1:
            return
        self.sync.halt()
        first = next(
            (column for column in self.sync.columns if column.open or column.needs_fallback), self.main
        )
        if first is not self.main:
            self.main = first
            self._note_engine()
        self.passage, self.results.counted = None, WordCounts(self.results.corpus)
        self.results.cancel_divergence_jumps()
        self.sync.set_columns([self.main])
        self.sync.adopt_position(self.main)

    def add_column(self, wanted: ColumnWanted, place: int | None) -> int:
        """Insert a column at a place (from 0), or at the right for None, and return its key. It is opened
        later, unless it branches off an open one.

        Raises:
            TokentuiError: There are `MOST` already.
        """
        if len(self.sync.columns) >= MOST:
            raise TokentuiError(
                f"at most {MOST} columns are shown", "compare", "remove one first"
            )
        column = self._new_column(wanted)
        columns = list(self.sync.columns)
        columns.insert(len(columns) if place is None else place, column)
        self._set_compared(columns)
        return column.key

    def change_column(self, key: int, wanted: ColumnWanted) -> int:
        """Replace the column with a key by a new one at the same place, and return the new key.

        Raises:
            TokentuiError: There is no such column.
        """
        old, column = self.column(key), self._new_column(wanted)
        self._set_compared(column if other is old else other for other in self.sync.columns)
        self.results.forget(key)
        return column.key

    def remove_column(self, key: int) -> None:
        """Remove the column with a key.

        Raises:
            TokentuiError: There is no such column, or only `FEWEST` are left.
        """
        self.column(key)
        if len(self.sync.columns) <= FEWEST:
            raise TokentuiError("at least two columns are needed", "compare", "add a column first")
        self._set_compared(column for column in self.sync.columns if column.key != key)
        self.results.forget(key)

    def move_column(self, key: int, by: int) -> None:
        """Move the column with a key a number of places to the right, or to the left if it is negative; at
        most to the first or last place.

        Raises:
            TokentuiError: There is no such column.
        """
        column = self.column(key)
        columns = [other for other in self.sync.columns if other is not column]
        columns.insert(min(max(0, self.sync.columns.index(column) + by), len(columns)), column)
        self._set_compared(columns)

    def _set_compared(self, columns: Iterable[Column]) -> None:
        """Set the columns that are shown side by side, and open as branches those that can be. Others are
        opened later."""
        self.compared = list(columns)
        for column in self.compared:
            self._branch(column)
        self.sync.set_columns(self.compared)

    def _branch(self, column: Column) -> None:
        """Open a column as a branch of an open one that has the same recipe with fewer what-ifs, if there is
        one.

        Steps before the first further what-if are shared. Of several columns the one with the most what-ifs
        is used.
        """
        recipe = column.wanted.recipe
        if column.open or column.error or recipe is None or not recipe.what_if:
            return
        near = [
            column for column in (self.main, *self.sync.columns, *self.compared)
            if column.open and column.training.opened is None and not column.training.partial
            and column.training.corpus is self.results.corpus and column.training.run == column.wanted.run
            and column.training.recipe.but() == recipe.but()
            and set(column.training.recipe.what_if) < set(recipe.what_if)
        ]
        if near:
            of = max(near, key=lambda column: len(column.training.recipe.what_if))
            column.set_training(branched(of.training, recipe))

    def column(self, key: int) -> Column:
        """Return the column with a key.

        Raises:
            TokentuiError: There is no such column.
        """
        column = self.sync.column(key)
        if column is None:
            raise TokentuiError("no such column", f"key {key}", "")
        return column

    # ---- looking

    def context(self, key: int | None = None) -> StepContext:
        """Return the context of a question about the column with a key, or about the first column.

        Raises:
            TokentuiError: There is no such column, or it is not open yet.
        """
        column = self.main if key is None else self.column(key)
        if key is not None and not column.open:
            raise TokentuiError("the column is not open yet", column.name, "wait and press the key again")
        training, trainer = column.training, column.trainer
        columns = {other.key: other.trainer.tokenizer() for other in self.sync.in_sync}
        if self._past is None or self._past[0] is not trainer:
            self._past = trainer, StepHistory(training)
        return StepContext(
            trainer.number, trainer.tokenizer(), training, self.view, self.typed, columns, self.passage,
            self._past[1], self.results.under,
        )

    def stamp(self) -> tuple[object, ...]:
        """Return the values whose change requires a new snapshot, besides commands. The first four describe
        the position: `Session` starts no jobs for it until they rest."""
        sync = self.sync
        numbers = tuple([
            (column.training, column.in_sync, column.trainer.number) if column.open else column.error
            for column in sync.columns
        ])
        return (
            numbers, sync.position, sync.goal, sync.playing, sync.announces, sync.search is not None,
            self.busy, self.asked, engines.failed, self.waiting, self.results.version,
            [column.loading for column in sync.columns],
            list(self.results.busy.values()),
        )

    def _with_distinct_names(self, columns: tuple[ColumnSnapshot, ...]) -> tuple[ColumnSnapshot, ...]:
        """Return the columns, with longer names for files that have the same name."""
        paths = [column.wanted.path for column in self.sync.columns]
        names = short_names(paths)
        return tuple(
            shown if column.wanted.name or not path or shown.name == name
            else dataclasses.replace(shown, name=name)
            for shown, column, path, name in zip(columns, self.sync.columns, paths, names, strict=True)
        )

    def snapshot(self, pause: Callable[[], object] = ignore) -> Snapshot:
        """Return a new snapshot of all that the screen shows. Columns on their way to the next position are
        settled first (see `Synchronizer.settle`), and the version grows.

        `pause` is called before each section of a column that is made again.
        """
        sync = self.sync
        if sync.target != sync.position:
            sync.settle()
        self.version += 1
        alone = len(sync.columns) == 1
        while True:
            leader = None if alone else next(iter(sync.in_sync), None)
            columns = tuple([
                column.snapshot(self.view, self.typed, alone, pause) for column in sync.columns
            ])
            if alone or not sync.follow_new_leader(leader):
                break
        engine = engines.FAILED if engines.failed else self._engine
        return Snapshot(
            version=self.version,
            corpus=self._facts,
            columns=self._with_distinct_names(columns),
            position=sync.position,
            goal=sync.goal,
            running=sync.playing,
            speed=sync.speed,
            coming=self.main.coming() if alone and sync.announces else (),
            busy=self.busy or (sync.busy if sync.has_work or self.main.needs_fallback else None),
            asked=self.asked,
            waiting=self.waiting,
            keep_place=self.keep_place,
            engine=engine,
            plain=self._plain if engine == engines.COMPILED else _NONE,
            parked=max(0, len(self.compared) - 1) if alone else 0,
            between=_ALONE if alone else self.results.between(self.view, self.typed, self.passage),
        )

    def _note_engine(self) -> None:
        """Record the engine, and the first recipe value without kernels for training and for counting.

        Values are recorded only for a corpus of at least `KERNEL_BYTES`.
        """
        self._gains = self.results.corpus.size >= KERNEL_BYTES
        trained = [
            column.training.recipe for column in self.sync.columns
            if column.open and not column.training.opened
        ]
        trains, counts = (
            next(filter(None, map(lacks, trained if self._gains else ())), "")
            for lacks in (value_without_kernel, without_scanner)
        )
        self._plain, self._engine = (trains, counts), engines.engine()
