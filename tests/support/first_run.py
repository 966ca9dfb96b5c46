"""The cases that the first run takes of a test with many.

Of a test with the marker `first_run`, `python -m pytest` takes some cases; the others get the mark `slow`.
`first_run(cases=N)` takes N cases, evenly spaced. `first_run(cover=1)` takes a few cases that hold each value
of each parameter, `cover=2` each pair of values of two parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

Feature = tuple[tuple[str, int], ...]


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


def _features(items: list[pytest.Item], size: int) -> list[set[Feature]]:
    """Return the combinations of `size` parameter values of each case. Values are numbered by their text."""
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for item in items:
        values = [
            (name, numbers.setdefault((name, repr(value)), len(numbers)))
            for name, value in item.callspec.params.items()  # type: ignore[attr-defined]
        ]
        found.append(set(itertools.combinations(values, min(size, len(values)))))
    return found


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the cases `slow` that the first run leaves out."""
    tests: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("first_run"):
            tests.setdefault((str(item.path), item.nodeid.partition("[")[0]), []).append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("first_run")
        assert marker is not None
        cover = marker.kwargs.get("cover")
        kept = covering(_features(cases, cover)) if cover else spread(len(cases), marker.kwargs["cases"])
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker("slow")
