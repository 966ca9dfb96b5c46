"""The base of the commands of a session: its lane, the state that it needs, and what it opens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, auto
from typing import ClassVar, Generic, TypeVar, dataclass_transform

from tokentui.core.errors import TokentuiError

Answer_co = TypeVar("Answer_co", covariant=True)


class Lane(Enum):
    """The thread that a command runs in."""

    ENGINE = "engine"  # between two slices of the columns' work
    LOADER = "loader"  # the thread that reads and counts
    # one of its own, about the step at which it is handed in; a later one of its kind takes its place
    BESIDE = "beside"


class Need(IntEnum):
    """The state that a command needs to run. Each member includes those before it."""

    NOTHING = 0
    SIGHT = 1  # something that can be shown
    CORPUS = 2  # the text of the corpus that was opened last
    STEPS = 3  # a training, or an opened tokenizer, that can be stepped through
    ARRIVED = 4  # the training is at the place that is kept
    WHOLE = 5  # all of the corpus has been counted for it
    REST = 6  # the training walks nowhere


class Decides(Flag):
    """The parts of a session that a command of the loader opens anew."""

    NOTHING = 0
    CORPUS = auto()
    TRAINING = auto()


class NothingOpen(TokentuiError):
    """A step is asked for where nothing is open."""

    def __init__(self) -> None:
        super().__init__("nothing is open: o opens a text or a tokenizer")


@dataclass_transform(frozen_default=True)
class Command(Generic[Answer_co]):
    """A request from a screen to a session, a frozen value; the type parameter is the type of the answer.

    Attributes:
        lane: The lane that runs the command.
        need: The state that the command needs.
        walks: True if the command moves from step to step.
        fresh: True if the command makes earlier requests for steps meaningless.
        opens: The parts of the session that the command opens anew.
        said: The short description, a format string of the command.
        in_order: True if the command runs in order with the others; a command that only reads does not.
    """

    lane: ClassVar[Lane] = Lane.ENGINE
    need: ClassVar[Need] = Need.NOTHING
    walks: ClassVar[bool] = False
    fresh: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    opens: ClassVar[Decides] = Decides.NOTHING
    said: ClassVar[str] = ""

    def __init_subclass__(
        cls, lane: Lane = Lane.ENGINE, need: Need = Need.NOTHING, walks: bool = False, fresh: bool = False,
        opens: Decides = Decides.NOTHING, said: str = "",
    ) -> None:
        super().__init_subclass__()
        cls.lane, cls.need, cls.walks, cls.fresh, cls.opens, cls.said = lane, need, walks, fresh, opens, said
        cls.in_order = lane is Lane.LOADER or need >= Need.STEPS
        dataclass(frozen=True)(cls)

    @property
    def decides(self) -> Decides:
        """The parts that the command opens anew."""
        return self.opens

    @property
    def words(self) -> str:
        """A short description, shown while the command waits; empty where a dialog shows it."""
        return self.said.format(self)
