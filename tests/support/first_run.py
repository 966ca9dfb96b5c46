"""The cases that the first run takes of a test with many.

Of a test with the marker `first_run`, `python -m pytest` takes some cases; the others get the mark `slow`.
`first_run(cases=N)` takes N cases, evenly spaced. `first_run(cover=1)` takes a few cases that hold each value
of each parameter, `cover=2` each pair of values of two parameters. The first run does not collect what it
leaves out: half of the cases, and a third of the time of a collection.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest

Feature = tuple[tuple[str, int], ...]

EXPRESSION = "not slow and not soak"
"""The option `-m` of the first run, which `pyproject.toml` sets."""


def is_first(config: pytest.Config) -> bool:
    """Return whether this is the first run, and no case is named by its id: each id can be found then."""
    return config.option.markexpr == EXPRESSION and not any("::" in word for word in config.args)


def left_out(test: object) -> bool:
    """Return whether a mark of a test function or class says that the first run leaves it out."""
    return any(mark.name in {"slow", "soak"} for mark in getattr(test, "pytestmark", ()))


def spread(size: int, count: int) -> set[int]:
    """Return `count` evenly spaced numbers below `size`, the first and the last one among them."""
    if count >= size:
        return set(range(size))
    return {number * (size - 1) // max(1, count - 1) for number in range(count)}


def covering(features: list[set[Feature]]) -> set[int]:
    """Return the numbers of cases that together hold all features: greedily, the first of the best."""
    missing, kept = set[Feature]().union(*features), set[int]()
    while missing:
        best = max(range(len(features)), key=lambda number: len(features[number] & missing))
        kept.add(best)
        missing -= features[best]
    return kept


def _features(cases: Sequence[Mapping[str, object]], size: int) -> list[set[Feature]]:
    """Return the combinations of `size` parameter values of each case. Values are numbered by their text."""
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for params in cases:
        values = [
            (name, numbers.setdefault((name, repr(value)), len(numbers))) for name, value in params.items()
        ]
        found.append(set(itertools.combinations(values, min(size, len(values)))))
    return found


def choose(metafunc: pytest.Metafunc) -> None:
    """Drop the cases of a test that the first run leaves out. In another run, mark them `slow`.

    pytest has no hook between the parameters of a test and its cases, so this changes its list of them.
    """
    calls = metafunc._calls
    marker = metafunc.definition.get_closest_marker("first_run")
    if marker is None or not calls:
        return
    cover = marker.kwargs.get("cover")
    kept = (
        covering(_features([call.params for call in calls], cover)) if cover
        else spread(len(calls), marker.kwargs["cases"])
    )
    if is_first(metafunc.config):
        calls[:] = [calls[number] for number in sorted(kept)]
        return
    for number, call in enumerate(calls):
        if number not in kept:
            call.marks.append(pytest.mark.slow.mark)
