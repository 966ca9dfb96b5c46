"""Calls of the system that fail, and kills, at any one of the calls that a program makes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

CALLS = ("open", "fsync", "fchmod", "write", "replace", "unlink")
"""What writes, names and removes files."""


class Killed(BaseException):
    """The process is no more: every call after the one at which it was killed raises it too."""


@contextlib.contextmanager
def failing(patch: pytest.MonkeyPatch, name: str, nth: int, error: BaseException) -> Iterator[list[int]]:
    """The nth call of one function of the system fails, from 1; after a kill every call of any of them does.
    """
    calls, real = [0], {one: getattr(os, one) for one in CALLS}
    dead = [False]

    def of(one: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls[0] += one == name
            if dead[0] or (one == name and calls[0] == nth):
                dead[0] = isinstance(error, Killed)
                raise error
            return real[one](*given, **named)

        return call

    with patch.context() as here:
        for one in CALLS:
            here.setattr(os, one, of(one))
        yield calls
