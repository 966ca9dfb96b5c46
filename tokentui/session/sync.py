"""Columns kept together at one position, walked there in slices: no clock of its own, no threads.

A long way is walked in short ones, from one position of all columns to the next, so that whatever is shown in
between belongs to one position. A column that cannot keep up, or has just been opened, is not in sync: it
comes after the others on its own. One column alone goes its way at once: its position is wherever it stands.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.learn.trainer import Made, Size, Tokens
from tokentui.session.column import Column, Seek, last, over, way
from tokentui.session.sections import needles
from tokentui.session.views import END, SPEEDS, WAYS, Busy, Position

SLICE_S = 0.008
"""The longest slice of work in seconds, about; a single merge of a large corpus may take longer."""
_MOST = 1 << 14
_FINISH_S = 0.03
"""Seconds for a moving column to arrive before it is shown."""
_LEAST_S = 0.0005
_REST_S = 0.05
"""Seconds between checks, by columns at their end, for one that is still being opened."""


class Synchronizer:
    """One to four columns at one position.

    Args:
        position: Where they begin.
    """

    def __init__(self, position: Position = Position()) -> None:  # noqa: B008 - a frozen value
        self.columns: list[Column] = []
        self.position = position
        """The position of all columns that are in sync."""
        self.goal: Position | None = None
        self.playing = False
        self.arrival: Position | None = None
        """The position that a single column moves to, where it differs from `position`."""
        self._free = False
        """True if the goal was given by its value: the stops of a run do not apply."""
        self._then: list[int] = []
        """Moves that begin where the goal turns out to be: it may lie beyond the last step."""
        self._seek: Seek | None = None
        self._speed = len(SPEEDS) - 4
        self._played_from = (0.0, 0)
        self._next = position
        self._way = 1
        self._began = 0.0
        self._stood: dict[int, int] = {}

    # ---- columns

    def column(self, key: int) -> Column | None:
        """The column with a key, None where there is none."""
        return next((column for column in self.columns if column.key == key), None)

    @property
    def open(self) -> list[Column]:
        """The columns that have a training."""
        return [column for column in self.columns if column.prepared is not None]

    @property
    def in_sync(self) -> list[Column]:
        """The columns at the position."""
        return [column for column in self.columns if column.in_sync]

    @property
    def loading(self) -> bool:
        """True if a column is still being opened."""
        return any(column.prepared is None and not column.error for column in self.columns)

    @property
    def leader(self) -> Column | None:
        """The first column: the others follow it by `tokens`, and it stays where the way is changed."""
        return next((column for column in self.columns if column.in_sync), None)

    @property
    def ended(self) -> bool:
        """True if every column is at its end."""
        there = self.in_sync
        return bool(there) and all(column.end(free=False) is not None for column in there)

    @property
    def walking(self) -> bool:
        """True if the columns walk to a position or search for the step that makes a token."""
        return self.goal is not None or self._seek is not None or self._late

    @property
    def _late(self) -> bool:
        return any(not column.in_sync and column.prepared is not None for column in self.columns)

    @property
    def at_work(self) -> bool:
        """True if there is work to do without a new command."""
        return self.playing or self.walking or self._next != self.position

    @property
    def aim(self) -> int:
        """The value of the position that is walked to, or that of the position."""
        goal = self.goal
        return (
            self.position.value if goal is None or goal.value == END else max(0, goal.value + sum(self._then))
        )

    @property
    def speed(self) -> int | None:
        """Units of the position a second that a run plays at; None for as fast as it can."""
        return SPEEDS[self._speed]

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to keep the columns together; where some grow and others shrink, their steps have little
        in common."""
        traits = [column.trainer.traits for column in self.open]
        alike = all(one.grows for one in traits) or not any(one.grows for one in traits)
        return WAYS if alike else (*WAYS[1:], WAYS[0])

    @property
    def busy(self) -> Busy | None:
        """The way of a column that is alone, where it is a long one."""
        if len(self.columns) != 1 or self.columns[0].prepared is None:
            return None
        return way(
            self.columns[0], self._seek is not None, self.goal or (self._target if self._late else None)
        )

    # ---- commands

    def move(self, by: int) -> None:
        """Go so many units of the position on, or back."""
        goal = self.goal if self.goal is not None and self.goal.value != END else None
        beyond = goal is not None and goal.value > max(
            [self.position.value, *(column.trainer.computed for column in self.in_sync)]
        )
        if goal is not None and (self._then or (beyond and by < 0 and goal.by != "size")):
            self._then.append(by)  # back from the goal, or from the end where that comes first
        else:
            self.go((goal or self.position).value + by)

    def go(self, value: int | None) -> None:
        """Go to a value of the position, None for the end of the run."""
        self.halt()
        least = 0
        if self.position.by == "size":
            least = min(
                (one.trainer.size_at(0) for one in self.in_sync if one.trainer.traits.grows), default=0
            )
        value = END if value is None else max(least, value)
        if value == END or self.leader is not None:
            self.goal, self._free = Position(self.position.by, value), value != END
        else:  # no column is there yet: they come to where they are wanted
            self.position = self._next = Position(self.position.by, value)

    def go_within(self, value: int) -> None:
        """Go to a value of the position as far as the stops allow."""
        self.halt()
        self.goal = Position(self.position.by, value)

    def begin(self, position: Position) -> None:
        """Bring all columns to a position from wherever they are."""
        self.halt()
        self.position = self._next = position
        for column in self.columns:
            column.in_sync = False

    def seek(self, text: str, answer: Callable[[object], None]) -> None:
        """Go to the step that makes a token; a column that is alone looks on past its stops.

        Raises:
            TokentuiError: There are several columns.
        """
        if len(self.columns) > 1:
            raise TokentuiError("a token is looked for in one column", text, "go to a step, or leave Compare")
        self.halt()
        wanted = frozenset(needle for way in (text, "▁" + text) for needle in needles(way))
        trainer = self.columns[0].trainer
        found = trainer.find(Made(wanted))
        if found is not None:
            self.goal, self._free = Position("merges", found), True
            answer(found)
            return
        self._seek = Seek(wanted, trainer.computed, trainer.number, answer)

    def play(self, on: bool | None, now: float) -> None:
        """Run, or stop where it is; None turns over."""
        playing = not self.playing if on is None else on
        self.halt()
        self.playing = playing and not over(self.in_sync, self.position, free=False)
        self._played_from = (now, self.position.value)

    def faster(self, by: int, now: float) -> None:
        """Play faster or slower by so many places of `SPEEDS`."""
        self._speed = min(max(0, self._speed + by), len(SPEEDS) - 1)
        self._played_from = (now, self.position.value)

    def halt(self) -> None:
        """Stop at the next position."""
        if self._seek is not None:
            self._seek.answer(Cancelled())
        self._seek, self.goal, self.playing, self._free, self._then = None, None, False, False, []
        if self.arrival is not None:
            self.arrival = None
            self._stay()
        self.settle()
        self._next = self.position

    def keep_by(self, by: str | None) -> None:
        """Keep them together by another way, None by the next one. The first column stays.

        Raises:
            TokentuiError: There is no such way.
        """
        if by is not None and by not in WAYS:
            raise TokentuiError("no such way to keep columns in step", by, "one of: " + ", ".join(WAYS))
        self.halt()
        ways = self.ways
        self._stand_by(by or ways[(ways.index(self.position.by) + 1) % len(ways)])

    def put(self, columns: Iterable[Column]) -> None:
        """Take these columns, in this order. Whatever they are walking to, they go on to."""
        self.settle()
        self._next = self.position
        self.columns = list(columns)
        if len(self.columns) == 1:
            if self.position.by != "merges":
                self._stand_by("merges")
        else:
            self._agree(self.position)
        if self.position.by == "tokens":
            self._stand_by("tokens")

    def stand(self, column: Column) -> None:
        """Take the place where a column stands for the position of all."""
        column.in_sync, self.arrival = True, None
        self.position = self._next = self._place_of(column)
        self._free, self.goal, self.playing, self._then = False, None, False, []

    def come(self, column: Column, to: Position) -> None:
        """Bring a column that is alone to a position, and stand by merges there."""
        self.goal, self.playing, self._then, self._seek, self._free = None, False, [], None, False
        column.in_sync, self.arrival = False, to

    def _stay(self) -> None:
        """Stand where a column that is alone has come to on its way."""
        if len(self.columns) == 1 and self.columns[0].prepared is not None:
            self.columns[0].in_sync = True
            self.position = self._next = self._place_of(self.columns[0], "merges")

    def _stand_by(self, by: str) -> None:
        leader = self.leader
        first = leader or next(iter(self.open), None)
        self.position = self._next = self._place_of(first, by) if first else Position(by, 0)
        free = self._passes(self.position.value)
        for column in self.in_sync:
            column.in_sync = column is leader and (free or not column.passed)
        self._chase(time.perf_counter() + _FINISH_S)

    # ---- work

    def work(self, now: float, seconds: float = SLICE_S) -> float:
        """Work for a short while.

        Returns:
            How many seconds from `now` on nothing is to be done; 0 when there is more to do at once.
        """
        begun = time.perf_counter()
        deadline = begun + seconds
        if self._seek is not None:
            self._work_seek(self._seek, seconds)
            return 0.0
        if self._late:
            both = self._next != self.position or self.goal is not None or self.playing
            self._chase(begun + seconds / 2 if both and self.leader else deadline)
        while time.perf_counter() < deadline:
            if self._next != self.position:
                if self._sync(deadline):
                    self._arrive()
                continue
            value, wait = self._wanted(now)
            if value is None or self.leader is None:  # a goal waits for a column that is to go there
                return 0.0 if self._late else wait
            self._set_out(value)
        return 0.0

    def settle(self) -> None:
        """Bring all columns to the same position; mark those that cannot reach it in 30 ms as out of sync."""
        if self._next == self.position:
            return
        if all(column.trainer.number == self._stood.get(column.key) for column in self.in_sync):
            return
        if len(self.columns) == 1:
            self.position = self._next = self._place_of(self.columns[0])
            return
        if not self._sync(time.perf_counter() + _FINISH_S):
            self._leave_behind()
        self._arrive()

    def _leave_behind(self) -> None:
        """Go on without those who take too long; where that is every column, stand where the first one is."""
        there = self.in_sync
        behind = [column for column in there if not self._walk(column, self._next, 0.0)]
        if len(behind) == len(there):
            self._next = self._place_of(there[0])
            behind = [column for column in there if not self._walk(column, self._next, 0.0)]
        for column in behind:
            column.in_sync = False

    def _place_of(self, column: Column, by: str = "") -> Position:
        """The position where a column stands."""
        by = by or self.position.by
        number = column.trainer.number
        return Position(by, column.trainer.size_at(number) if by == "size" else number)

    def _wanted(self, now: float) -> tuple[int | None, float]:
        """The value to go to, None where there is nothing to do for so many seconds."""
        here = self.position.value
        if self.goal is not None:
            end = self.goal.value == END
            if (
                (end or self.goal.value > here)
                and self.loading
                and over(self.in_sync, self.position, free=self._free)
            ):
                return None, _REST_S  # a column that is still to come may go further
            if self.goal.value == here or (end and over(self.in_sync, self.position, free=False)):
                self._reached()
                return (None, 0.0) if self.goal is None else (self.goal.value, 0.0)
            return self.goal.value, 0.0
        if not self.playing:
            return None, 0.0
        if self.loading and over(self.in_sync, self.position, free=False):
            return None, _REST_S
        speed = self.speed
        if speed is None:
            return END, 0.0
        since, start = self._played_from
        due = start + int((now - since) * speed)
        if due <= here:
            return None, max(0.001, since + (here - start + 1) / speed - now)
        if due - here > speed:
            self._played_from = (now, here)  # slower than asked for: do not run after what is lost
        return due, 0.0

    def _reached(self) -> None:
        """Go on to what was asked for from the goal."""
        following = self._then.pop(0) if self._then else None
        self.goal = (
            None if following is None else Position(self.position.by, max(0, self.position.value + following))
        )

    def _set_out(self, value: int) -> None:
        here = self.position.value
        way = self._way if len(self.columns) > 1 else 1 << 62
        if value == END:
            value = here + way
        self._next = Position(self.position.by, here + max(-way, min(way, value - here)))
        self._stood = {column.key: column.trainer.number for column in self.columns if column.in_sync}
        self._began = time.perf_counter()

    def _arrive(self) -> None:
        forward = self._next.value > self.position.value
        gone, took = abs(self._next.value - self.position.value), max(time.perf_counter() - self._began, 1e-6)
        if gone and len(self.columns) > 1:
            self._way = max(1, min(2 * max(gone, self._way), int(gone * SLICE_S / took), _MOST))
        self.position = self._next
        if forward and over(
            self.in_sync, self.position, free=self._free and self._passes(self.position.value)
        ):
            if not self.loading:
                self.playing = False
            passed = self._passes(self.position.value)
            self.position = self._next = Position(self.position.by, last(self.in_sync, self.position.by))
            # the last of them has no stop: the others stay at theirs
            if passed and not self._passes(self.position.value):
                for column in self.in_sync:
                    column.in_sync = column.trainer.number <= (column.stopped_at or 0)
            if self.goal is not None and not self.loading:
                self._reached()

    def _sync(self, deadline: float) -> bool:
        """Walk to the next position.

        A column that takes long goes first: nothing is out of sync meanwhile.
        """
        there, free = self.in_sync, self._passes(self._next.value)
        if len(there) > 1:
            leader = self.leader if self._next.by == "tokens" else None
            there.sort(key=lambda one: one is not leader if leader else not one.trainer.traits.heavy)
        if not all(
            self._walk(column, self._next, max(_LEAST_S, deadline - time.perf_counter())) for column in there
        ):
            return False
        # Columns that have only now found their stops may have to pass them.
        return not self._free or free or not self._passes(self._next.value) or self._sync(deadline)

    def _chase(self, deadline: float) -> None:
        """Bring on the columns that are not in sync."""
        first, target = self.leader, self._target
        for column in self.open:
            while not column.in_sync and (left := deadline - time.perf_counter()) > 0:
                free = self._passes(target.value)
                # A column that has only now found its stop may have to pass it, as the others did.
                column.in_sync = self._walk(column, target, left) and self._passes(target.value) == free
        if len(self.columns) > 1 and not self._late:
            self._agree(target)
        if self.arrival is not None and self.columns[0].in_sync:
            self.arrival = None
            self._stay()
        elif self.position.by == "tokens" and self.leader is not first and self.leader is not None:
            self.position = self._next = Position("tokens", self.leader.trainer.number)
            for column in self.in_sync:
                column.in_sync = column is self.leader
        elif (
            len(self.columns) > 1
            and not self._late
            and not self.loading
            and over(self.in_sync, self.position, free=False)
        ):
            end = last(self.in_sync, self.position.by)
            if self.position.value > end and not self._passes(self.position.value):
                self.position = self._next = Position(self.position.by, end)

    def _agree(self, position: Position) -> None:
        """Send those on again that passed their stops where the others may not, or the other way round: stops
        come and go."""
        free = self._passes(position.value)
        for column in self.in_sync:
            column.in_sync = (
                column.agrees(position.value, free) if position.by == "merges" else free or not column.passed
            )

    @property
    def _target(self) -> Position:
        return self.arrival or self.position

    def _walk(self, column: Column, position: Position, seconds: float) -> bool:
        leader = self.leader
        if len(self.columns) == 1:
            free = self._free or self.arrival is not None
        else:  # a column that comes to where the others have passed their stops passes its own
            free = (self._free or position == self.position) and self._passes(position.value)
        if position.by == "tokens" and leader is not None and column is not leader:
            return column.to_goal(Tokens(leader.trainer.tokens_at(leader.trainer.number)), seconds, free)
        if position.by == "size":
            return column.to_goal(Size(position.value), seconds, free)
        return column.to_step(position.value, seconds, free)

    def _work_seek(self, seek: Seek, seconds: float) -> None:
        """Go on until the token is made; where it never is, back to where one was."""
        column = self.columns[0]
        trainer, stops = column.trainer, column.stops
        if trainer.number < trainer.computed:
            trainer.advance(trainer.computed, stops, seconds)
        else:
            ends = stops.only((*trainer.traits.shaped_by, "min_count"))
            column.passed = True
            reason = trainer.advance(None, ends, seconds)
            found = trainer.find(Made(seek.wanted), seek.looked)
            if found is not None or reason:
                self._seek, self._free = None, True
                self.goal = Position("merges", seek.origin if found is None else found)
                seek.answer(found)
            seek.looked = trainer.computed
        self.position = self._next = self._place_of(column)

    # ---- ends

    def _passes(self, value: int) -> bool:
        """True if a position given by its value lies beyond the stops of all columns, and so passes them."""
        if len(self.columns) == 1:
            return self._free
        stops = [column.stopped_at for column in self.open]
        known = [stop for stop in stops if stop is not None]
        return self.position.by == "merges" and 0 < len(known) == len(stops) and value > max(known)
