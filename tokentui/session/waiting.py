"""What is asked for while something is being loaded: it waits in one line, in the order in which it was given.

A command says what it needs; a session says how much of that is there. What needs more waits, and is seen to wait.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.presets import label
from tokentui.session import commands as do
from tokentui.session.explorer import Explorer
from tokentui.session.futures import resolve
from tokentui.session.prepared import Prepared
from tokentui.session.requests import Glancing, Install, Loading, OpenMany, Rebuild

TOKEN_SHOWN = 40


class Need(IntEnum):
    """What a command needs to act. Each includes those before it."""

    NOTHING = 0
    SIGHT = 1
    """Something that can be looked at."""
    CORPUS = 2
    """The text of the corpus that was asked for last."""
    STEPS = 3
    """A training, or an opened tokenizer, that can be stepped through."""
    ARRIVED = 4
    """It stands at the place that is kept."""
    WHOLE = 5
    """All of the corpus has been counted for it."""
    REST = 6
    """It walks nowhere."""


_NEEDS: dict[type, Need] = {
    do.Find: Need.SIGHT, do.Follow: Need.SIGHT,
    do.Preview: Need.CORPUS, do.CorpusText: Need.CORPUS,
    do.GoTo: Need.STEPS, do.GoToToken: Need.STEPS,
    do.Move: Need.ARRIVED, do.Play: Need.ARRIVED, do.Fine: Need.ARRIVED,
    do.Pieces: Need.WHOLE, do.Compress: Need.WHOLE, do.Ask: Need.WHOLE, do.Facts: Need.WHOLE,
    do.Formats: Need.REST, do.Export: Need.REST,
}  # fmt: skip
_LOADS = (do.Open, do.OpenTokenizer, do.Use, do.Scratch, OpenMany, Rebuild)
_CORPUS, _TRAINING = "corpus", "training"

Waits = do.Command | Install | Glancing | OpenMany | Rebuild


def is_load(command: object) -> bool:
    """Whether it opens a corpus, or lays one out."""
    return isinstance(command, _LOADS)


def in_order(command: object) -> bool:
    """Whether it keeps its place among others, and does not only look."""
    return is_load(command) or need(command) >= Need.STEPS


def need(command: object) -> Need:
    """What a command needs to act."""
    return Need(command.need) if isinstance(command, Glancing) else _NEEDS.get(type(command), Need.NOTHING)


def need_of(aside: type) -> Need:
    """What a question beside the training needs."""
    return _NEEDS.get(aside, Need.NOTHING)


def sets(command: object) -> frozenset[str]:
    """What a load decides: the corpus, the training, or both."""
    if isinstance(command, OpenMany) and command.tokenizer:
        return frozenset((_CORPUS, _TRAINING))
    if isinstance(command, do.Open | do.Scratch | OpenMany):
        return frozenset((_CORPUS,))
    return frozenset((_TRAINING,)) if isinstance(command, do.Use | do.OpenTokenizer) else frozenset()


def _begins_anew(command: object) -> bool:
    """Whether what was walked to before has no meaning after this load."""
    return isinstance(command, do.Open | OpenMany | do.OpenTokenizer)


def there(
    loading: Loading | None, explorer: Explorer, shown: Prepared, commands: Iterable[tuple[object, object]], *, arrives: bool
) -> Need:
    """How much there is of what is wanted.

    Args:
        loading: What is being loaded.
        explorer: What is stepped through.
        shown: What was last handed to it.
        commands: What it has not done yet.
        arrives: Whether something that is whole was handed to it and is not yet stood on.
    """
    if loading is None or isinstance(loading.command, Rebuild):
        if arrives or explorer.arriving:
            return Need.STEPS
        return Need.WHOLE if explorer.walking or any(is_step(command) for command, _ in commands) else Need.REST
    if loading.part is not None:
        return Need.ARRIVED if loading.part.opened else Need.CORPUS
    if shown.nothing:
        return Need.NOTHING
    return Need.CORPUS if isinstance(loading.command, do.Use | do.OpenTokenizer) else Need.SIGHT


class Dropped(TokentuiError):
    """What waited was not done."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    command: Waits
    answer: asyncio.Future[Any]


class Line:
    """Commands that wait, first come, first served."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def __iter__(self) -> Iterator[_Waiting]:
        """Those that are still wanted."""
        self._waiting = [one for one in self._waiting if not one.answer.done()]
        return iter(self._waiting)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    @property
    def keeps_order(self) -> bool:
        """Whether somebody waits before whom nothing may be done that keeps its place."""
        return any(in_order(one.command) for one in self)

    @property
    def head(self) -> Waits | None:
        """Who comes next."""
        return next((one.command for one in self), None)

    def add(self, command: Waits, answer: asyncio.Future[Any]) -> None:
        """Wait behind all others."""
        self._waiting.append(_Waiting(command, answer))

    def take(self) -> list[tuple[Any, asyncio.Future[Any]]]:
        """Those who go together: the next one; of moves all that follow each other."""
        held = list(self)
        count = next((n for n, one in enumerate(held) if not isinstance(one.command, do.Move)), len(held)) or 1
        self._waiting = held[count:]
        return [(one.command, one.answer) for one in held[:count]]

    def take_all(self) -> list[tuple[Any, asyncio.Future[Any]]]:
        """All of them."""
        held, self._waiting = self._waiting, []
        return [(one.command, one.answer) for one in held]

    def admits(self, load: object, under_way: object | None) -> bool:
        """Make way for a load. True if it may begin at once, in the place of what is being loaded, if anything is.

        What was to be loaded before and is decided anew is given up; so are steps, where a load begins anew behind them.
        """
        ordered = [one for one in self if in_order(one.command)]
        moot: list[_Waiting] = []
        for one in reversed(ordered):
            decided = sets(one.command) <= sets(load) if is_load(one.command) else _begins_anew(load) and is_step(one.command)
            if not decided:
                break
            moot.insert(0, one)
        self._waiting = [one for one in self if one not in moot]
        said = _said([one for one in moot if not is_load(one.command)])
        for one in moot:
            resolve(one.answer, Cancelled() if is_load(one.command) else Dropped(f"not done, {_in_place(load)}: {said}"))
        return len(moot) == len(ordered) and (under_way is None or sets(under_way) <= sets(load))

    def drop(self, why: str, *, loads: bool) -> str:
        """Give up those who wait, all of them or up to the next load. Returns what they are, in words."""
        held = list(self)
        stop = len(held) if loads else next((n for n, one in enumerate(held) if is_load(one.command)), len(held))
        gone, self._waiting = held[:stop], held[stop:]
        said = _said(gone)
        for one in gone:
            resolve(one.answer, Dropped(f"{why}: {said}" if said else why))
        return said

    @property
    def said(self) -> str:
        """What waits, in words."""
        return _said(list(self))


def is_step(command: object) -> bool:
    """Whether it goes from step to step."""
    return isinstance(command, do.Move | do.GoTo | do.GoToToken | do.Play | do.Fine)


def _in_place(load: object) -> str:
    return "a tokenizer was opened" if isinstance(load, do.OpenTokenizer) else "another corpus was opened"


def _said(waiting: list[_Waiting]) -> str:
    words: list[str] = []
    moves = 0

    def moved() -> None:
        nonlocal moves
        if moves:
            count = "a step" if abs(moves) == 1 else f"{abs(moves):,} steps"
            words.append(f"{count} {'on' if moves > 0 else 'back'}")
        moves = 0

    for one in waiting:
        if isinstance(one.command, do.Move):
            if moves * one.command.steps < 0:
                moved()
            moves += one.command.steps
        else:
            moved()
            words.append(_word(one.command))
    moved()
    return ", ".join(word for word in words if word)


def _word(command: object) -> str:
    """A command in a few words; none for a question, whose dialog tells that it waits."""
    match command:
        case do.GoTo(step):
            return "go to the end" if step is None else f"go to step {step:,}"
        case do.GoToToken(text):
            return f"go to the token ‘{text[:TOKEN_SHOWN]}’"
        case do.Play():
            return "run"
        case do.Fine(pieces):
            return f"{abs(pieces):,} piece{'' if abs(pieces) == 1 else 's'} {'on' if pieces > 0 else 'back'}"
        case do.Find(_, text):
            return f"find ‘{text[:TOKEN_SHOWN]}’"
        case do.Use(recipe):
            return f"train by {label(recipe)}"
        case do.Open(path) | do.OpenTokenizer(path):
            return f"open {os.path.basename(path) or path}"
        case do.Scratch():
            return "train on the text that is typed"
    return ""
