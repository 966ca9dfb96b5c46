"""One to four columns that are kept at one position and walk to the next in slices. It starts no threads.

Several columns walk to a far goal in short moves, from one common position to the next, so that all that is
shown in between belongs to one position. A column that cannot keep up, or has just been opened, is not in
sync: it follows on its own. A single column walks to the goal at once: its position is always its step.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import NamedTuple, TypeAlias

from tokentui import learn
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.learn.trainer import Goal, Size, Tokens
from tokentui.session.engine.eta import TimeLeft
from tokentui.session.training.column import Column, all_ended, furthest_value
from tokentui.session.training.seek import Seek, advance_seek, meets, spellings
from tokentui.session.views import END, FIRST_SPEED, SLOW_SPEED, SPEEDS, SYNC_UNITS, Busy, Position

SLICE_S = 0.008
"""The longest slice of work in seconds, about; a single merge of a large corpus may take longer."""
_MOST = 1 << 14
_FINISH_S = 0.03
"""Seconds for a moving column to arrive before it is shown."""
_LEAST_S = 0.0005
_REST_S = 0.05
"""Seconds between checks, by columns at their end, for one that is still being opened."""
_PART = 0.5
"""The part of the pause before a step of a slow run in which that step is announced."""


class WalkPlan(NamedTuple):
    """A plan to walk to a position.

    Attributes:
        position: The position; `END` for the end of the run.
        then: Moves to make after it is reached, in order: it may turn out to be after the last step.
    """

    position: Position
    then: tuple[int, ...] = ()


class SharePlan(NamedTuple):
    """A plan to walk to the end of the run, and from there back to a share of its last position.

    Attributes:
        position: The end of the run, or its last position.
        percent: The share in percent.
    """

    position: Position
    percent: int


class PlayPlan(NamedTuple):
    """A plan to play, from a time and the position at that time."""

    since: float
    start: int


Plan: TypeAlias = WalkPlan | SharePlan | PlayPlan | Seek | None
"""The plan of columns; None to stay."""


class Synchronizer:
    """One to four columns at one position.

    A column that is not in sync walks to the position. The others, if there is a goal or the run is playing,
    walk from it to the next position on the way.
    """

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.position = Position()
        """The position of all columns that are in sync, to which the others walk."""
        self._plan: Plan = None
        self._free = False
        """True if the last goal was given by its value: the stops of a run do not apply."""
        self.speed: int | None = FIRST_SPEED
        """Units of the position a second that a run plays at; None for as fast as it can."""
        self.announces = False
        """True in the last part of the pause before a step of a single column that plays at most at
        `SLOW_SPEED`: what the step merges is shown before it is made."""
        self._pace, self._seen_at = TimeLeft(), 0.0
        """The time left of the way, and the time of the last turn."""
        self.target = self.position
        """The next position on the way to the goal."""
        self._way = 1
        """The distance from one position of several columns to the next, which takes about a slice."""
        self._began = 0.0
        self._start_steps: dict[int, int] = {}
        """The step of each column, by its key, when it set out for the next position."""

    # ---- the plan

    @property
    def goal(self) -> Position | None:
        """The position that columns walk to; None without one."""
        return self._plan.position if isinstance(self._plan, WalkPlan | SharePlan) else None

    @property
    def playing(self) -> bool:
        """True if the run plays."""
        return isinstance(self._plan, PlayPlan)

    @property
    def search(self) -> Seek | None:
        """The search of the only column for a step; None without one."""
        return self._plan if isinstance(self._plan, Seek) else None

    def _set_plan(self, plan: Plan) -> None:
        """Replace the plan. A search without a result is answered by `Cancelled`."""
        before, self._plan, self.announces = self._plan, plan, False
        if isinstance(before, Seek) and not before.answer.done():
            before.answer.set_exception(Cancelled())

    # ---- columns

    def column(self, key: int) -> Column | None:
        """Return the column with a key, or None."""
        return next((column for column in self.columns if column.key == key), None)

    @property
    def open(self) -> list[Column]:
        """The columns that have a training."""
        return [column for column in self.columns if column.open]

    @property
    def in_sync(self) -> list[Column]:
        """The columns at the position. By `tokens` the others follow the first of them, and it stays where
        the way is changed."""
        return [column for column in self.columns if column.in_sync]

    @property
    def not_arrived(self) -> list[Column]:
        """The columns that are not at the position yet: they are being opened, or walk there."""
        return [column for column in self.columns if not column.in_sync and not column.error]

    @property
    def approaching_start(self) -> bool:
        """True if the only column walks to the position where it begins."""
        return len(self.columns) == 1 and not self.columns[0].in_sync

    @property
    def has_work(self) -> bool:
        """True if there is work to do without a new command: columns play, walk to a position, or search for
        the step that makes a token."""
        waits = self.columns[0].needs_fallback and self.approaching_start
        return self._plan is not None or waits or any(column.open for column in self.not_arrived)

    @property
    def target_value(self) -> int:
        """The target position if a move is in progress, otherwise the current one, as a number in its
        unit."""
        if not isinstance(self._plan, WalkPlan) or self._plan.position.value == END:
            return self.position.value
        return max(0, self._plan.position.value + sum(self._plan.then))

    @property
    def busy(self) -> Busy | None:
        """The progress of a single column: of its long walk or its search, or of rebuilding it after a
        failure of kernels. None with several columns, or without long work."""
        column = self.columns[0]
        if len(self.columns) != 1 or not (column.open or column.needs_fallback):
            return None
        if column.needs_fallback:
            return column.loading
        if self.search is not None:
            what = "looking for the token" if self.search.origin is not None else "running until"
            return Busy(what, column.trainer.number, 0)
        goal = self.goal if column.in_sync else self.position
        way = column.progress_to(goal) if goal is not None else None
        return self._pace.with_time_left(way, self._seen_at) if way is not None else None

    # ---- commands

    def set_goal(self, value: int | None, *, relative: bool = False, past_stops: bool = True) -> None:
        """Set the goal: a position, or the end of the run. `work` takes the steps to it.

        It replaces an earlier goal, and stops playing. Without a column in sync, the position itself is set,
        and columns go there as soon as they are open.

        Args:
            value: The position in the current unit; None for the end of the run.
            relative: True if the value is relative to the goal, or to the position without one. A move back
                from a goal after the computed steps is made when that goal is reached.
            past_stops: True to go past the stops of the runs.
        """
        by, there, going, least = self.position.by, self.in_sync, self.goal, 0
        if value is not None and relative:
            start = going.value if going is not None and going.value != END else self.position.value
            beyond = start > max([self.position.value, *(column.trainer.computed for column in there)])
            plan = self._plan
            if isinstance(plan, WalkPlan) and (plan.then or (beyond and value < 0 and by != "size")):
                # back from the goal, or from the end where that comes first
                self._set_plan(plan._replace(then=(*plan.then, value)))
                return
            value += start
        if self.has_work:
            self.halt()
            there = self.in_sync
        if by == "size":
            sizes = [column.trainer.size_at(0) for column in there if column.trainer.traits.grows]
            least = min(sizes, default=0)
        self._free = past_stops and value is not None and bool(there)
        if value is None or there:
            self._set_plan(WalkPlan(Position(by, END if value is None else max(least, value))))
        else:  # no column is there yet: they come to where they are wanted
            self.position = self.target = Position(by, max(least, value))

    def go_to_share(self, percent: int) -> None:
        """Set the end of the run as the goal, and from there go back to a share of its last position, in
        percent. It replaces an earlier goal, and stops playing."""
        self.set_goal(None)
        self._set_plan(SharePlan(Position(self.position.by, END), percent))

    def send_all_to(self, position: Position) -> None:
        """Mark all columns as out of sync: `work` walks each to this position, past its stops."""
        self.position = self.target = position
        for column in self.columns:
            column.in_sync = False

    def seek(self, text: str) -> Future[int | None]:
        """Go to the step that makes a token, also past the stops of the column.

        Returns:
            The step, once it is known; None if no step makes it. `Cancelled` if something else is asked for.

        Raises:
            TokentuiError: There are several columns.
        """
        if len(self.columns) > 1:
            raise TokentuiError(
                "tokens can be searched in one column only", text, "go to a step, or leave Compare")
        self.halt()
        trainer = self.columns[0].trainer
        forms, answer = spellings(text), Future[int | None]()
        step = learn.find(trainer, forms)
        if step is not None:
            self.set_goal(step)
            answer.set_result(step)
        else:
            self._set_plan(Seek(forms, trainer.computed, trainer.number, answer))
        return answer

    def run_until(self, goal: Goal) -> Future[int | None]:
        """Go on to the first step that meets a condition, or to the end of the run.

        Returns:
            The step, once it is known; None if the run ends before. `Cancelled` if something else is asked
            for.

        Raises:
            TokentuiError: There are several columns, or the token is made already.
        """
        if len(self.columns) > 1:
            raise TokentuiError("only one column at a time", "run until", "leave Compare")
        self.halt()
        column, answer = self.columns[0], Future[int | None]()
        if meets(column, goal):
            answer.set_result(column.trainer.number)
            return answer
        here, stop = column.trainer.number, column.stopped_at
        step = learn.find(column.trainer, goal, here) if here else learn.find(column.trainer, goal)
        if step and (stop is None or step <= stop or here >= stop):
            self.set_goal(step)
            answer.set_result(step)
        elif stop is not None:
            self.set_goal(None)
            answer.set_result(None)
        else:
            self._set_plan(Seek(goal, column.trainer.computed, None, answer))
        return answer

    def play(self, on: bool | None, now: float) -> None:
        """Start or stop playing; None toggles. Halts all walks first. Columns at their end do not play."""
        playing = not self.playing if on is None else on
        self.halt()
        if playing and not all_ended(self.in_sync, self.position, free=False):
            self._set_plan(PlayPlan(now, self.position.value))

    def faster(self, by: int, now: float) -> None:
        """Change the speed by a number of entries of `SPEEDS`, faster if positive, up to either end of the
        list. `now` is the time by `time.monotonic`."""
        self.play_at(SPEEDS[min(max(0, SPEEDS.index(self.speed) + by), len(SPEEDS) - 1)], now)

    def play_at(self, speed: int | None, now: float) -> None:
        """Set the speed to one of `SPEEDS`, from now on. This does not start playing."""
        self.speed = speed
        if self.playing:
            self._set_plan(PlayPlan(now, self.position.value))

    def halt(self) -> None:
        """Stop where the columns are, see `settle`. Drops the goal, later moves and playing; a search is
        answered by `Cancelled`."""
        self._set_plan(None)
        self._free = False
        if self.target != self.position:
            self.settle()
            self.target = self.position
        elif len(self.columns) == 1 and not self.columns[0].in_sync:
            self.adopt_position(self.columns[0])

    def sync_by(self, by: str | None) -> None:
        """Stop all walks, and change the unit that columns are kept together by; None for the next unit. The
        first column stays.

        Where some grow and others shrink, their steps have little in common: `merges` comes last.

        Raises:
            TokentuiError: There is no such unit.
        """
        if by is not None and by not in SYNC_UNITS:
            raise TokentuiError("no such unit to sync columns by", by, "one of: " + ", ".join(SYNC_UNITS))
        self.halt()
        kinds = {column.trainer.traits.grows for column in self.open}
        ways = SYNC_UNITS if len(kinds) < 2 else (*SYNC_UNITS[1:], SYNC_UNITS[0])
        self._set_unit(by or ways[(ways.index(self.position.by) + 1) % len(ways)])

    def set_columns(self, columns: Iterable[Column]) -> None:
        """Replace the columns, in this order. The goal and playing stay. The position moves back if it is
        after the end of all columns, or to the step of the first one by `tokens`."""
        if self.target != self.position:
            self.settle()
        self.target, self.columns = self.position, list(columns)
        if len(self.columns) > 1:
            self._recheck_stops(self.position)
            if self.position.by == "tokens":
                self._set_unit("tokens")
            else:
                self._limit_to_end(self.in_sync)  # the column that went furthest may have been taken away

    def adopt_position(self, column: Column) -> None:
        """Make the step of a column the position of all, and the column in sync."""
        column.in_sync = True
        by = "merges" if len(self.columns) == 1 else self.position.by
        self.position = self.target = _position_of(column, by)

    def _set_unit(self, by: str) -> None:
        """Change the unit of the position to that of the first column in sync. The others leave the sync and
        are brought to it; columns that passed their own stops leave it as well."""
        there = self.in_sync
        first = next(iter(there or self.open), None)
        self.position = self.target = _position_of(first, by) if first else Position(by, 0)
        free = self._passes_stops(self.position.value)
        for column in there:
            column.in_sync = column is there[0] and (free or not column.passed)
        self._advance_late_columns(time.perf_counter() + _FINISH_S)

    # ---- work

    def work(self, now: float, seconds: float = SLICE_S) -> float:
        """Walk, search or play for one slice.

        If one of several columns fails, it is marked as failed, and the others go on.

        Args:
            now: The time by `time.monotonic`.
            seconds: The length of the slice.

        Returns:
            The seconds until the next slice is due; 0 if there is work left now.

        Raises:
            Exception: The only column failed, and not by its kernels.
        """
        if len(self.columns) == 1:
            column, training = self.columns[0], self.columns[0].training
            if column.needs_fallback or (training.partial and not training.opened):
                return 0.1  # steps begin when the corpus is whole, and laid out
        self._seen_at = now
        started = time.perf_counter()
        deadline = started + seconds
        if self.search is not None:
            try:
                self._work_seek(self.search, seconds)
            except Exception as error:
                self.on_column_error(self.columns[0], error)
            return 0.0
        if any(column.open for column in self.not_arrived):
            both = self.goal is not None or self.playing
            self._advance_late_columns(started + seconds / 2 if both and self.in_sync else deadline)
        while time.perf_counter() < deadline:
            if self.target != self.position:
                if self._walk_to_target(deadline):
                    self._arrive()
                elif any(column.needs_fallback for column in self.in_sync):
                    return _REST_S
                continue
            value, wait = self._next_value(now)
            there, here = self.in_sync, self.position.value
            if value is None or not there:  # a goal waits for a column that is to go there
                not_arrived = self.not_arrived
                if not there and not not_arrived:  # no column is left
                    self._set_plan(None)
                if any(column.open for column in not_arrived):
                    return 0.0
                return wait if there else _REST_S
            way = self._way if len(self.columns) > 1 else 1 << 62
            far = way if value == END else max(-way, min(way, value - here))
            self.target, self._began = Position(self.position.by, here + far), time.perf_counter()
            self._start_steps = {column.key: column.trainer.number for column in there}
        return 0.0

    def _next_value(self, now: float) -> tuple[int | None, float]:
        """Return the next value to walk to, and 0; or None, and the seconds in which there is nothing to do.

        A goal that is reached is removed here, and the pending share or the next pending move becomes the
        goal. Also sets `announces`.
        """
        here, speed, self.announces = self.position.value, self.speed, False
        while (goal := self.goal) is not None:
            if goal.value != here:
                ahead = goal.value == END or (goal.value > here and self.not_arrived)
                if not (ahead and all_ended(self.in_sync, self.position, free=self._free)):
                    return goal.value, 0.0
                if self.not_arrived:  # a column that is still to come may go further
                    return None, _REST_S
            self._set_plan(self._next_plan(here))
        if not isinstance(self._plan, PlayPlan):
            return None, 0.0
        if self.not_arrived and all_ended(self.in_sync, self.position, free=self._free):
            return None, _REST_S
        if speed is None:
            return END, 0.0
        since, start = self._plan
        due = start + int((now - since) * speed)
        if due <= here:
            wait = max(0.001, since + (here - start + 1) / speed - now)
            if speed > SLOW_SPEED or len(self.columns) > 1:
                return None, wait
            first = wait - _PART / speed
            self.announces = first <= 0
            return None, wait if self.announces else max(0.001, first)
        if due - here > speed:  # slower than asked for: a second is caught up with, the rest is lost
            due = here + speed
            self._set_plan(PlayPlan(now, due))
        return due, 0.0

    def _next_plan(self, here: int) -> Plan:
        """Return the plan after the goal is reached: the pending share, the next pending move, or none."""
        by = self.position.by
        match self._plan:
            case SharePlan(_, percent):
                return WalkPlan(Position(by, here * percent // 100))
            case WalkPlan(_, (move, *then)):
                return WalkPlan(Position(by, max(0, here + move)), tuple(then))
        return None

    def settle(self) -> None:
        """Bring the columns that are on their way to the next position to it, or to one before it; mark those
        that cannot reach it in 30 ms as out of sync."""
        there = self.in_sync
        if all(column.trainer.number == self._start_steps.get(column.key) for column in there):
            return
        if len(self.columns) == 1:
            self.adopt_position(self.columns[0])
            return
        if not self._walk_to_target(time.perf_counter() + _FINISH_S):
            there = self.in_sync  # without those that failed
            behind = [column for column in there if not self._walk(column, self.target, 0.0)]
            if there and len(behind) == len(there):  # all take too long: where the first one is
                self.target = _position_of(there[0], self.position.by)
                behind = [column for column in there if not self._walk(column, self.target, 0.0)]
            for column in behind:
                column.in_sync = False
        self._arrive()

    def _arrive(self) -> None:
        """Make the target the position, or the end of the furthest column if that is before the target.

        The distance to the next target is adapted, so that a walk takes about a slice.
        """
        there, not_arrived, here, self.position = self.in_sync, self.not_arrived, self.position, self.target
        gone = abs(self.target.value - here.value)
        if len(self.columns) > 1:
            took = max(time.perf_counter() - self._began, 1e-6)
            self._way = max(1, min(2 * max(gone, self._way), int(gone * SLICE_S / took), _MOST))
        passed = self._passes_stops(self.position.value)
        if self.position.value > here.value and all_ended(there, self.position, free=self._free and passed):
            self.position = self.target = Position(here.by, furthest_value(there, here.by))
            if passed and not self._passes_stops(self.position.value):
                for column in there:  # the last of them has no stop: the others stay at theirs
                    column.in_sync = column.trainer.number <= (column.stopped_at or 0)
            if not not_arrived:  # one that is still to come may go further
                plan = self._plan
                self._set_plan(
                    plan._replace(position=self.position) if isinstance(plan, WalkPlan | SharePlan) else None)

    def _walk_to_target(self, deadline: float) -> bool:
        """Walk the columns in sync to the target, until a deadline of `perf_counter`. Return whether all of
        them are there. A column that fails leaves the sync.

        Columns that take long go first: if the deadline comes, the others have not moved.
        """
        there, free = self.in_sync, self._passes_stops(self.target.value)
        if len(there) > 1 and self.target.by != "tokens":
            there.sort(key=lambda column: not column.trainer.traits.heavy)
        for column in there:
            if not self._walk(column, self.target, max(_LEAST_S, deadline - time.perf_counter())):
                return False
        # Columns that have only now found their stops may have to pass them.
        if not self._free or free or not self._passes_stops(self.target.value):
            return True
        return self._walk_to_target(deadline)

    def _advance_late_columns(self, deadline: float) -> None:
        """Move the columns that are not in sync towards the position, until a deadline of `perf_counter`.

        A column that arrives joins those in sync. If none is left to arrive, a position after the end of all
        columns moves back to the end of the furthest. If another column comes first in a position by tokens,
        the position becomes the step of that column. A single column in sync sets the position to its own.
        """
        first, target = next(iter(self.in_sync), None), self.position
        for column in self.open:
            while column.open and not column.in_sync and (left := deadline - time.perf_counter()) > 0:
                free = self._passes_stops(target.value)
                arrived = self._walk(column, target, left) and column.open
                # A column that has only now found its stop may have to pass it, as the others did.
                column.in_sync = arrived and self._passes_stops(target.value) == free
        if len(self.columns) == 1:
            if self.columns[0].in_sync:
                self.adopt_position(self.columns[0])
            return
        if not any(column.open for column in self.not_arrived):
            self._recheck_stops(target)
        there = self.in_sync
        if self.position.by == "tokens" and there and there[0] is not first:
            self._follow_leader(there)
        else:
            self._limit_to_end(there)

    def _limit_to_end(self, there: list[Column]) -> None:
        """Move the position back to the end of the furthest column, if it is after the ends of all and no
        column is still to arrive."""
        free = self._passes_stops(self.position.value)
        if not self.not_arrived and all_ended(there, self.position, free=free):
            end = furthest_value(there, self.position.by)
            if self.position.value > end:
                self.position = self.target = Position(self.position.by, end)
                self._recheck_stops(self.position)

    def follow_new_leader(self, leader: Column | None) -> bool:
        """If another column leads now, make its step the position by tokens, and drop the goal and playing.
        Return whether that was done; by other units never.

        Args:
            leader: The column that led before; None for none.
        """
        there = self.in_sync
        if self.position.by != "tokens" or not there or there[0] is leader:
            return False
        self._set_plan(None)
        self._follow_leader(there)
        return True

    def _follow_leader(self, there: list[Column]) -> None:
        """Make the step of the first column the position by tokens, and mark the others as out of sync."""
        self.position = self.target = _position_of(there[0], "tokens")
        for column in there[1:]:
            column.in_sync = False

    def _recheck_stops(self, position: Position) -> None:
        """Mark columns as out of sync that are at a position by other stops than now apply: stops are found,
        and columns come and go."""
        free = self._passes_stops(position.value)
        for column in self.in_sync:
            column.in_sync = (
                column.respects_stops(position.value, free) if position.by == "merges"
                else free or not column.passed
            )

    def _walk(self, column: Column, position: Position, seconds: float) -> bool:
        """Walk a column toward a position for some seconds, and return whether it is there. An error marks
        the column as failed; then return whether there are other columns.

        Raises:
            Exception: The only column failed, and not by its kernels.
        """
        # A column that comes to where the others have passed their stops passes its own.
        free = (self._free or position == self.position) and self._passes_stops(position.value)
        leader = self.in_sync[0] if position.by == "tokens" and self.in_sync else column
        try:
            if position.by == "size":
                return column.advance_to_goal(Size(position.value), seconds, free)
            if leader is not column:
                tokens = Tokens(leader.trainer.tokens_at(leader.trainer.number))
                return column.advance_to_goal(tokens, seconds, free)
            return column.advance_to_step(position.value, seconds, free)
        except Exception as error:
            return self.on_column_error(column, error)

    def on_column_error(self, column: Column, error: Exception) -> bool:
        """Mark a column as failed, or for a fallback if its kernels failed; choose another leader if it led.

        Returns:
            Whether there are other columns, which go on.

        Raises:
            Exception: The error, if the column is the only one and its kernels did not fail.
        """
        alone, leader = len(self.columns) == 1, next(iter(self.in_sync), None)
        if not column.on_kernel_failure(error):
            if alone:
                raise error
            column.set_error(error)
        column.in_sync = alone and column.in_sync
        self.follow_new_leader(leader)
        return not alone

    def _work_seek(self, seek: Seek, seconds: float) -> None:
        """Search for one slice. When the search ends, answer it, and set the goal to the step that was found,
        or to the step where it began (for `run_until` the end of the run)."""
        column = self.columns[0]
        over, found = advance_seek(seek, column, seconds)
        if over:
            seek.answer.set_result(found)
            self._free = seek.origin is not None
            nowhere = END if seek.origin is None else seek.origin
            self._set_plan(WalkPlan(Position("merges", nowhere if found is None else found)))
        self.position = self.target = _position_of(column, "merges")

    def _passes_stops(self, value: int) -> bool:
        """Return whether columns pass their stops to reach a position.

        Several do by `merges`, if the position is beyond the known stop of every column. A single one does if
        the goal was given by its value, or on the way to where it begins.
        """
        if len(self.columns) == 1:
            return self._free or not self.columns[0].in_sync
        stops = [column.stopped_at for column in self.open]
        known = [stop for stop in stops if stop is not None]
        return self.position.by == "merges" and 0 < len(known) == len(stops) and value > max(known)


def _position_of(column: Column, by: str) -> Position:
    """Return the position of a column in a unit."""
    number = column.trainer.number
    return Position(by, column.trainer.size_at(number) if by == "size" else number)
