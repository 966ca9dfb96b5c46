"""One check of the health of a tokenizer, without all others."""

from __future__ import annotations

from tokentui.analyze.health import CHECKS
from tokentui.analyze.health.survey import survey
from tokentui.analyze.results import CheckResult
from tokentui.encode.tokenizer import Tokenizer


def checked(tokenizer: Tokenizer, name: str) -> CheckResult:
    """Return the result of a check, as `examine` has it."""
    return next(check for check in CHECKS if check.name == name).result(survey(tokenizer))
