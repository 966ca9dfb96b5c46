"""What is in a folder: names that begin with what was typed. It reads the disk, so it is to be called with `aside`."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

MOST_ENTRIES = 2000
"""The most entries that are listed; those that come first in the order are."""

_LOOK_EVERY = 1000  # entries between two looks at `cancel`


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder. `size` is in bytes, None for a folder and for what cannot be looked at."""

    name: str
    folder: bool
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of `folder` whose names begin with `prefix`, folders first, then by name.

    `more` says that some were left out; `error` why the folder cannot be listed.
    """

    folder: str
    prefix: str
    entries: tuple[Entry, ...] = ()
    more: bool = False
    error: str = ""

    def answers(self, folder: str, prefix: str) -> bool:
        """Whether what is asked for can be told from this listing without looking again."""
        return folder == self.folder and (
            prefix == self.prefix or (not self.more and prefix.startswith(self.prefix) and _hidden(prefix, self.prefix))
        )

    def beginning(self, prefix: str) -> tuple[Entry, ...]:
        """The entries whose names begin with a prefix."""
        return tuple(entry for entry in self.entries if entry.name.startswith(prefix))


async def aside(call: Callable[[], T]) -> T:
    """What a call gives that may wait for a disk, without anybody else waiting.

    It runs in a thread of its own that dies with the program: a network folder that never answers holds up neither the
    threads of the engine nor the end of the program.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(take: Callable[[], None]) -> None:
        if not answer.done():
            take()

    def run() -> None:
        try:
            value = call()
        except Exception as error:
            failure = error
            take: Callable[[], None] = lambda: answer.set_exception(failure)  # noqa: E731
        else:
            take = lambda: answer.set_result(value)  # noqa: E731
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, take)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await answer


def parts(typed: str) -> tuple[str, str]:
    """What was typed as a folder, with `~` expanded ("." for none), and the beginning of a name in it."""
    head, slash, name = typed.rpartition("/")
    return (os.path.expanduser(head + slash) if slash else "."), name


def list_folder(folder: str, prefix: str, cancel: Callable[[], bool] = lambda: False) -> Listed:
    """List a folder. Names that begin with a dot are left out unless the prefix does.

    Args:
        folder: Its path.
        prefix: What names must begin with.
        cancel: Asked now and then; a true answer ends the listing early.
    """
    try:
        with os.scandir(folder) as scan:
            first = heapq.nsmallest(MOST_ENTRIES + 1, _matching(scan, prefix, cancel), key=_order)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Listed(folder, prefix, error=why.lower())
    kept = first[:MOST_ENTRIES]
    entries = tuple(Entry(one.name, is_folder, None if is_folder else _size(one)) for one, is_folder in kept)
    return Listed(folder, prefix, entries, len(first) > MOST_ENTRIES)


def _order(found: tuple[os.DirEntry[str], bool]) -> tuple[bool, str, str]:
    entry, is_folder = found
    return not is_folder, entry.name.casefold(), entry.name


def _matching(
    scan: Iterator[os.DirEntry[str]], prefix: str, cancel: Callable[[], bool]
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    for number, entry in enumerate(scan):
        if number % _LOOK_EVERY == 0 and cancel():
            return
        if entry.name.startswith(prefix) and (prefix or not entry.name.startswith(".")):
            yield entry, _is_folder(entry)


def _hidden(prefix: str, before: str) -> bool:
    """Whether a longer prefix asks for no names that were left out for the shorter one."""
    return bool(before) or not prefix.startswith(".")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _size(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat().st_size
    except OSError:
        return None
