"""Exact values of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction


class Told(Fraction):
    """An exact value that people see as another figure: compared as a fraction, `float` gives the figure."""

    figure: float

    @classmethod
    def of(cls, value: tuple[int, int], figure: float) -> Told:
        """A value with its figure."""
        made = cls(*value)
        made.figure = figure
        return made

    def __float__(self) -> float:
        return self.figure

    def __reduce__(self) -> tuple[object, ...]:
        return Told.of, (self.as_integer_ratio(), self.figure)


def exact(value: tuple[int, int], figures: Sequence[int], shown: Callable[..., float] | None) -> Fraction:
    """A value as a fraction, which `float` gives as people see it.

    Args:
        value: The numerator and the denominator.
        figures: The figures that it was made of.
        shown: The figure that people see in place of the value, from the same figures; None for the value.
    """
    return Fraction(*value) if shown is None else Told.of(value, shown(*figures))
