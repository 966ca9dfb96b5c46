"""Exact values of pairs, for objectives whose value is a fraction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction


class DisplayedFraction(Fraction):
    """A fraction that compares exactly, and that `float` turns into another figure, such as a logarithm."""

    figure: float

    @classmethod
    def of(cls, value: tuple[int, int], figure: float) -> DisplayedFraction:
        """Return a fraction with its figure.

        Args:
            value: The numerator and the denominator.
            figure: The figure that `float` returns.
        """
        fraction = cls(*value)
        fraction.figure = figure
        return fraction

    def __float__(self) -> float:
        return self.figure

    def __reduce__(self) -> tuple[object, ...]:
        return DisplayedFraction.of, (self.as_integer_ratio(), self.figure)


def exact_value(
    value: tuple[int, int], arguments: Sequence[int], displayed: Callable[..., float] | None
) -> Fraction:
    """Return a value as a fraction that `float` turns into the figure that people see.

    Args:
        value: The numerator and the denominator.
        arguments: The arguments that the value was computed from.
        displayed: Computes the figure from the same arguments; None if the value itself is shown.
    """
    return Fraction(*value) if displayed is None else DisplayedFraction.of(value, displayed(*arguments))
