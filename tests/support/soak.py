"""How many examples property tests try: a fifth in the first run, and many more by `make soak`."""

from __future__ import annotations

import functools
import itertools
import sys
import unicodedata
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

FACTOR = 100
"""How many times as many examples a property test tries in a long run."""
EXAMPLES = 50
"""How many a property test that names no number tries in a daily run."""
PART = 5
"""The first run divides the number of examples by this. It tries at least five of those that a test names."""


def register_profiles() -> None:
    """The two ways to run property tests: `default`, which is loaded, and `soak`, which `lengthen` looks for.

    No example has a deadline of its own, and drawing the first ones has none of a second: on a machine that
    others use too a test would only fail by chance.
    """
    slow = [HealthCheck.too_slow]
    daily = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=slow)
    settings.register_profile("default", daily)
    settings.register_profile("soak", daily, print_blob=True)
    settings.load_profile("default")


def lengthen(items: list[pytest.Item]) -> None:
    """Under the profile `soak`, mark every property test as a long one and multiply its examples.

    A profile's own `max_examples` would change nothing: a test that names its number stands above it.
    """
    if settings.get_current_profile_name() == "soak":
        for item in _set_examples(items, lambda count: count * FACTOR):
            item.add_marker(pytest.mark.soak)


def shorten(items: list[pytest.Item]) -> None:
    """Divide the examples of each property test for the first run. The run of all tests tries all of them."""
    if settings.get_current_profile_name() != "soak":
        _set_examples(items, lambda count: max(min(count, 5), count // PART))


def _set_examples(items: list[pytest.Item], of: Callable[[int], int]) -> list[pytest.Item]:
    """Change how many examples property tests try. Return these tests."""
    found = []
    done: set[object] = set()  # the items of a parametrised test share one function
    for item in items:
        test = getattr(item, "obj", None)
        if test is None or not is_hypothesis_test(test):
            continue
        found.append(item)
        holder, name = settings_of(test)
        if holder not in done:
            done.add(holder)
            known: settings = getattr(holder, name)
            setattr(holder, name, settings(known, max_examples=of(known.max_examples)))
    return found


def settings_of(test: Any) -> tuple[Any, str]:
    """Where the settings of a property test are kept: an object and the name of its attribute.

    The test case of a state machine has them in its class; other tests have them where Hypothesis's own
    plugin for pytest looks them up too.
    """
    case = getattr(test, "__self__", None)
    if isinstance(case, unittest.TestCase):
        return type(case), "settings"
    return getattr(test, "__func__", test), "_hypothesis_internal_use_settings"


def covering(*axes: Iterable[object]) -> list[Any]:
    """Every combination of values as parameters of a test; a daily run takes as few as have each value once.
    """
    values = [list(axis) for axis in axes]
    daily = {tuple(n % len(axis) for axis in values) for n in range(max(map(len, values)))}
    return [
        pytest.param(
            *(axis[n] for axis, n in zip(values, chosen, strict=True)),
            marks=[] if chosen in daily else [pytest.mark.soak],
        )
        for chosen in itertools.product(*(range(len(axis)) for axis in values))
    ]


@functools.cache
def code_points() -> tuple[int, ...]:
    """The code points that a test of all of them looks at: all in a long run, else those that can differ.

    Left out are ideographs, surrogates, private and unassigned ones between two others of their category,
    which no rule can tell from these. Those that decompose and the ends of planes are kept.
    """
    every = range(sys.maxunicode + 1)
    if settings.get_current_profile_name() == "soak":
        return tuple(every)
    planes = {end + at for end in range(0, len(every), 0x10000) for at in (0, 0xFFFF)}
    kept: list[int] = []
    first = 0
    for kind, alike in itertools.groupby(map(unicodedata.category, map(chr, every))):
        codes = range(first, first := first + len(list(alike)))
        ends = {codes[0], codes[-1], *(code for code in planes if code in codes)}
        kept += sorted(ends) if kind in {"Cn", "Co", "Cs"} else [
            code for code in codes
            if code in ends or not (0x3400 <= code < 0xA000 or 0x20000 <= code < 0x40000)
            or unicodedata.decomposition(chr(code))
        ]
    return tuple(kept)


def characters() -> list[str]:
    """The characters of `code_points`, without the halves of surrogate pairs."""
    return [chr(code) for code in code_points() if not 0xD800 <= code < 0xE000]
