"""The record of an objective: all that another room has to know of what is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tokentui.core.choices import Choice

Value = Callable[[int, int, int], int | Fraction]
"""The exact value of a pair from its count and the uses of its left and right symbol; the greatest is merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective(Choice):
    """An objective.

    Attributes:
        label: Its name in titles.
        trainer: Makes the trainer from counted words and a recipe.
        task: The task of `core.jit` that loads the kernels; empty where plain Python trains, and the screen says so.
        value: The value that pairs are ordered by; None where that is their count, or no pairs are merged.
        formula: That value in words of a formula.
        columns: The names of the columns of its candidates.
        filters: True if a least count says what is a candidate; else it ends a run.
        step: The word for one step.
        prunes: True if a training starts from all seeds in the documents and prunes them to a size.
        makes: The part of its vocabulary beyond the pieces, `merges` or `scores`; see `EncodingWay.needs`.
        codes: True if a byte replaces a pair, so that ids are bytes of a compressed text.
    """

    label: str
    trainer: Callable[..., Any]
    task: str = ""
    value: Value | None = None
    formula: str = ""
    columns: tuple[str, ...] = ()
    filters: bool = False
    step: str = "merge"
    prunes: bool = False
    makes: str = "merges"
    codes: bool = False
