"""What the checks of a health report are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokentui.analyze.health.survey import Survey
from tokentui.analyze.results import Check, Example

PASS, WARN, FAIL, NONE = "PASS", "WARN", "FAIL", "n/a"
"""What comes of a check; `NONE` where it makes no sense for a tokenizer."""
MOST_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found; its fields are those of `Check`."""

    status: str
    observed: str
    value: float | None = None
    examples: Sequence[Example] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of the table of checks.

    Attributes:
        name: What it is called, one word for programs.
        title: The same for people.
        about: What it is good for, a sentence.
        threshold: What is a WARN and what a FAIL.
        look: Looks.
        of: What of the survey it looks at, token by token: without any it says nothing. Empty for a look at texts.
    """

    name: str
    title: str
    about: str
    threshold: str
    look: Callable[[Survey], Found]
    of: Literal["", "entries", "pieces"] = ""

    def check(self, seen: Survey) -> Check:
        """The check of a tokenizer."""
        none = bool(self.of) and not getattr(seen, self.of)
        found = Found(NONE, "there are no tokens") if none else self.look(seen)
        return Check(
            self.name, self.title, self.about, found.status, found.observed, self.threshold, found.value, len(found.examples),
            tuple(found.examples[:MOST_EXAMPLES]),
        )


def graded(value: float, warn: float, fail: float) -> str:
    """The status of a number: WARN above the first limit, FAIL above the second."""
    return FAIL if value > fail else WARN if value > warn else PASS


def share(part: int, whole: int) -> float:
    """A part as a share, 0 of nothing."""
    return part / whole if whole else 0.0


def some(count: int, noun: str, rest: str = "", whole: int | None = None) -> str:
    """A number of things in words, with its share of a whole: `3 tokens of several bytes, 0.1 % of 3,000`."""
    things = f"{count:,} {noun}{'' if count == 1 else 's'}" if count else f"no {noun}"
    percent = 100 * count / whole if whole else 0.0
    part = f", {percent:{'.2g' if percent < 10 else '.0f'}} % of {whole:,}" if percent else ""
    return f"{things} {rest}".rstrip() + part
