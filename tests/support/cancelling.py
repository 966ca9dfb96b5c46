"""Cancel a call at each of its checks."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job


def checks_of(call: Callable[[], object]) -> int:
    """Return how often a call asks whether its job is cancelled."""
    asked = itertools.count()
    with job(cancel=lambda: next(asked) < 0):
        call()
    return next(asked)


def cancel_at(number: int, call: Callable[[], object]) -> None:
    """Cancel a call at a check, given from 0. It must raise `Cancelled` there."""
    asked = itertools.count()
    with pytest.raises(Cancelled), job(cancel=lambda: next(asked) == number):
        call()
    assert next(asked) == number + 1
