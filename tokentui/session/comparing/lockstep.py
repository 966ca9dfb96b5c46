"""Columns kept together at one position, walked there in slices: no clock of its own, no threads.

A long way is walked in short ones, from one position of all columns to the next, so that whatever is shown in between belongs to
one position. A column that cannot keep up, or has just been opened, is not `there`: it comes after the others on its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from tokentui.core.errors import TokentuiError
from tokentui.session import commands as do
from tokentui.session.compared import END, WAYS, Position
from tokentui.session.comparing.column import Column

_WAY_S = 0.008
"""How long a short way takes, about."""
_MOST = 1 << 14
_FINISH_S = 0.03
"""How long what has begun to move is given to arrive before it is looked at."""
_LEAST_S = 0.0005
_REST_S = 0.05
"""How long those who are at their end rest before they look again for who is still to come."""


class Lockstep:
    """Two to four columns at one position.

    Args:
        position: Where they begin.
    """

    def __init__(self, position: Position) -> None:
        self.columns: list[Column] = []
        self.position = position
        """Where all columns that are there stand."""
        self.goal: Position | None = None
        self.playing = False
        self._speed = len(do.SPEEDS) - 4
        self._played_from = (0.0, 0)
        self._next = position
        self._way = 1
        self._began = 0.0
        self._stood: dict[int, int] = {}

    # ---- who is there

    def column(self, key: int) -> Column | None:
        """The column with a key, None where there is none."""
        return next((column for column in self.columns if column.key == key), None)

    @property
    def open(self) -> list[Column]:
        """The columns that have a training."""
        return [column for column in self.columns if column.opened is not None]

    @property
    def there(self) -> list[Column]:
        """The columns that stand at the position."""
        return [column for column in self.open if column.there]

    @property
    def coming(self) -> bool:
        """Whether a column is still being opened."""
        return any(column.opened is None and not column.error for column in self.columns)

    @property
    def leader(self) -> Column | None:
        """The first column: what the others follow by `tokens`, and who stays where the way is changed."""
        return next(iter(self.there), None)

    @property
    def ended(self) -> bool:
        """Whether every column stands at its end."""
        return bool(self.there) and all(column.ended for column in self.there)

    @property
    def at_work(self) -> bool:
        """Whether there is something to do without a new command."""
        return self.playing or self.goal is not None or self._next != self.position or len(self.there) < len(self.open)

    @property
    def speed(self) -> int | None:
        """Units of the position a second that a run plays at; None for as fast as it can."""
        return do.SPEEDS[self._speed]

    # ---- commands

    def move(self, by: int) -> None:
        """Go so many units of the position on, or back."""
        going = self.goal if self.goal is not None and self.goal.value != END else self.position
        self.go(going.value + by)

    def go(self, value: int | None) -> None:
        """Go to a value of the position, None for the end."""
        self.halt()
        value = END if value is None else max(self._floor(), value)
        if value == END or self.there:
            self.goal = Position(self.position.by, value)
        else:  # nobody is there yet: they come to where they are wanted
            self.position = self._next = Position(self.position.by, value)

    def finish(self) -> None:
        """Go to the end when they are there."""
        self.goal = Position(self.position.by, END)

    def play(self, on: bool | None, now: float) -> None:
        """Run, or stop where it is; None turns over."""
        playing = not self.playing if on is None else on
        self.halt()
        self.playing = playing and not self._over(True)
        self._played_from = (now, self.position.value)

    def faster(self, by: int, now: float) -> None:
        """Play faster or slower by so many places of `SPEEDS`."""
        self._speed = min(max(0, self._speed + by), len(do.SPEEDS) - 1)
        self._played_from = (now, self.position.value)

    def halt(self) -> None:
        """Stop at the next position."""
        self.goal, self.playing = None, False
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
        self._stand_by(by or WAYS[(WAYS.index(self.position.by) + 1) % len(WAYS)])

    def put(self, columns: Iterable[Column]) -> None:
        """Take these columns, in this order. Whatever they are walking to, they go on to."""
        self.settle()
        self._next = self.position
        self.columns = list(columns)
        if self.position.by == "tokens":
            self._stand_by("tokens")

    def _stand_by(self, by: str) -> None:
        leader = self.leader
        first = leader or next(iter(self.open), None)
        self.position = self._next = self._place_of(first, by) if first else Position(by, 0)
        for column in self.there:
            column.there = column is leader
        self._chase(time.perf_counter() + _FINISH_S)

    # ---- work

    def work(self, now: float, seconds: float) -> float:
        """Work for a short while.

        Returns:
            How many seconds from `now` on nothing is to be done; 0 when there is more to do at once.
        """
        begun = time.perf_counter()
        deadline = begun + seconds
        if len(self.there) < len(self.open):
            both = self._next != self.position or self.goal is not None or self.playing
            self._chase(begun + seconds / 2 if both and self.there else deadline)
        while time.perf_counter() < deadline:
            if self._next != self.position:
                if self._sync(deadline):
                    self._arrive()
                continue
            value, wait = self._wanted(now)
            if value is None or not self.there:  # a goal waits for who is to go there
                return 0.0 if len(self.there) < len(self.open) else wait
            self._set_out(value)
        return 0.0

    def settle(self) -> None:
        """Make what can be looked at belong to one position: arrive where it was set out for, or leave behind who cannot."""
        if self._next == self.position or all(column.trainer.number == self._stood.get(column.key) for column in self.there):
            return
        if not self._sync(time.perf_counter() + _FINISH_S):
            self._leave_behind()
        self._arrive()

    def _leave_behind(self) -> None:
        """Go on without those who take too long; where that is everybody, stand where the first one is."""
        there = self.there
        behind = [column for column in there if not self._walk(column, self._next, 0.0)]
        if len(behind) == len(there):
            self._next = self._place_of(there[0])
            behind = [column for column in there if not self._walk(column, self._next, 0.0)]
        for column in behind:
            column.there = False

    def _place_of(self, column: Column, by: str = "") -> Position:
        """The position where a column stands."""
        by = by or self.position.by
        return Position(by, column.trainer.vocab_size if by == "size" else column.trainer.number)

    def _wanted(self, now: float) -> tuple[int | None, float]:
        """The value to go to, None where there is nothing to do for so many seconds."""
        here = self.position.value
        if self.goal is not None:
            if (self.goal.value == END or self.goal.value > here) and self.coming and self._over(True):
                return None, _REST_S  # who is still to come may go further
            if self.goal.value == here or (self.goal.value == END and self._over(True)):
                self.goal = None
                return None, 0.0
            return self.goal.value, 0.0
        if not self.playing:
            return None, 0.0
        if self.coming and self._over(True):
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

    def _set_out(self, value: int) -> None:
        here = self.position.value
        if value == END:
            value = here + self._way
        self._next = Position(self.position.by, here + max(-self._way, min(self._way, value - here)))
        self._stood = {column.key: column.trainer.number for column in self.there}
        self._began = time.perf_counter()

    def _arrive(self) -> None:
        forward = self._next.value > self.position.value
        gone, took = abs(self._next.value - self.position.value), max(time.perf_counter() - self._began, 1e-6)
        if gone:
            self._way = max(1, min(2 * max(gone, self._way), int(gone * _WAY_S / took), _MOST))
        self.position = self._next
        if self._over(forward):
            if not self.coming:
                self.goal, self.playing = None, False
            self.position = self._next = Position(self.position.by, self._last())

    def _sync(self, deadline: float) -> bool:
        """Walk to the next position. Who takes long goes first: the others wait, and nothing is out of step meanwhile."""
        leader = self.leader if self._next.by == "tokens" else None
        for column in sorted(self.there, key=lambda column: column is not leader if leader else not column.slow):
            if not self._walk(column, self._next, max(_LEAST_S, deadline - time.perf_counter())):
                return False
        return True

    def _chase(self, deadline: float) -> None:
        """Bring on those who are not there."""
        first = self.leader
        for column in self.open:
            while not column.there and (left := deadline - time.perf_counter()) > 0:
                column.there = self._walk(column, self.position, left)
        if self.position.by == "tokens" and self.leader is not first and self.leader is not None:
            self.position = self._next = Position("tokens", self.leader.trainer.number)
            for column in self.there:
                column.there = column is self.leader

    def _walk(self, column: Column, position: Position, seconds: float) -> bool:
        leader = self.leader
        if position.by == "tokens" and (leader is None or column is leader):
            return column.to_step(position.value, seconds)
        return column.towards(position, leader.trainer.tokens if leader else 0, seconds)

    # ---- ends

    def _over(self, forward: bool) -> bool:
        """Whether no column goes further that way."""
        if not self.there:
            return False
        here, by = self.position.value, self.position.by
        if by == "tokens":
            leader = self.leader
            return forward and leader is not None and leader.ended
        if by == "size":
            return forward and here >= self._last() and all(column.ended for column in self._growing)
        return forward and self.ended

    @property
    def _growing(self) -> list[Column]:
        """The columns whose vocabulary grows."""
        return [column for column in self.there if not column.slow]

    def _last(self) -> int:
        """The value beyond which no column goes."""
        by = self.position.by
        if by == "merges":
            return max(column.trainer.number for column in self.there)
        if by == "tokens":
            return self.there[0].trainer.number
        if self._growing:
            most = max(column.trainer.vocab_size for column in self._growing)
            # A merge that borrows the id of a special adds none: the end is not the first step of its size then.
            exact = all(column.trainer.step_with(most) in (None, column.trainer.number) for column in self._growing)
            return most if exact else most + 1
        return max(column.opened.first_size for column in self.there if column.opened)

    def _floor(self) -> int:
        """The least value of the position."""
        if self.position.by != "size" or not self.there:
            return 0
        sizes = [column.opened.first_size for column in self._growing or () if column.opened]
        return min(sizes, default=0)
