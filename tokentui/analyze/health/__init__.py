"""A report on a vocabulary: what is in it, and what is wrong with it.

`report` is what a screen or a program asks for: one `Check` a line of `CHECKS`. `health` tells the facts alone, `examine` both at
one go.
"""

from __future__ import annotations

from tokentui.analyze.health.checks import CHECKS, FAIL, PASS, WARN, run
from tokentui.analyze.health.survey import survey
from tokentui.analyze.results import Check, Health
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Cancel, Progress


def health(tokenizer: Tokenizer, *, progress: Progress | None = None, cancel: Cancel | None = None) -> Health:
    """The facts of a vocabulary.

    Args:
        tokenizer: The tokenizer.
        progress: Told (done, total) in tokens.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    return survey(tokenizer, progress=progress, cancel=cancel).health


def report(tokenizer: Tokenizer, *, progress: Progress | None = None, cancel: Cancel | None = None) -> tuple[Check, ...]:
    """The checks, in the order of `CHECKS`, each with what was observed and what it is held against.

    Args:
        tokenizer: The tokenizer.
        progress: Told (done, total) in tokens.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    return examine(tokenizer, progress=progress, cancel=cancel)[1]


def examine(
    tokenizer: Tokenizer, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> tuple[Health, tuple[Check, ...]]:
    """The facts and the checks, for one look at every token. The arguments are those of `report`."""
    seen = survey(tokenizer, progress=progress, cancel=cancel)
    return seen.health, run(seen, cancel)


def worst(checks: tuple[Check, ...]) -> str:
    """The worst status of a report."""
    found = {check.status for check in checks}
    return next((status for status in (FAIL, WARN) if status in found), PASS)


__all__ = ["CHECKS", "FAIL", "PASS", "WARN", "examine", "health", "report", "worst"]
