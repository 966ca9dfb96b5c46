"""A report on the health of a vocabulary: the facts, and the checks of the table `CHECKS`."""

from __future__ import annotations

from collections.abc import Iterable

from tokentui.analyze.health import texts, tokens
from tokentui.analyze.health.survey import FAIL, NONE, PASS, WARN, Check, survey
from tokentui.analyze.results import CheckResult, HealthReport
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer

__all__ = ["CHECKS", "FAIL", "NONE", "PASS", "WARN", "Check", "examine", "worst"]

CHECKS: tuple[Check, ...] = (
    Check("bytes", "any text can be written", "What has no token is lost, refused or unknown.",
          tokens.coverage,
          fail=0, limits="WARN: some text is unknown or refused; FAIL: it is dropped, or all is"),
    Check("unknown", "scripts", "A script of which letters are unknown cannot be read or written.",
          texts.unknown, warn=0),
    Check("texts", "round trip of texts", "What does not come back was changed or lost on the way.",
          texts.texts, warn=0),
    Check("spaces", "round trip of white space", "Code and tables live by their white space.",
          texts.spaces, warn=0),
    Check("controls", "round trip of controls", "Normalisers drop characters that have no shape.",
          texts.controls, warn=0),
    Check("stable", "the same ids again",
          "Ids that change on the way back and forth are not what a model was trained on.", texts.stable,
          warn=0, fail=0.5, limits="WARN: any; FAIL: half of the texts"),
    Check("forms", "composed and decomposed", "Two forms of a text that look alike should have the same ids.",
          texts.forms, warn=0),
    Check("digits", "numbers", "Numbers of one length that are cut in several ways are hard to reckon with.",
          texts.digits, warn=0, limits="WARN: any length in several ways"),
    Check("literals", "text where a pattern was meant",
          "A pattern that is written as plain text matches nearly nothing.", tokens.literals, fail=0),
    Check("specials", "special tokens are whole", "A special token that falls apart is none.", texts.specials,
          fail=0),
    Check("injected", "special tokens in plain text",
          "Plain text that becomes a special token lets anybody write one.", texts.injected, warn=0),
    Check("otherwise", "tokens that become others",
          "Merges or scores lead elsewhere: no text trains the row.",
          tokens.otherwise, warn=0, fail=0.05, of="pieces"),
    Check("split", "tokens that the split cuts",
          "No word holds the token, and no text trains its row. Single characters aside.", tokens.split_away,
          warn=0, fail=0.05, of="pieces"),
    Check("normalised", "tokens that are normalised away",
          "The text of the token is changed before it is looked up.", tokens.normalised_away,
          warn=0, fail=0.05, of="pieces"),
    Check("orphans", "tokens that no merge makes", "Merging never reaches them.", tokens.orphans,
          warn=0, fail=0.05, of="pieces"),
    Check("duplicates", "ids and spellings",
          "One spelling with two ids, or one id for two tokens, is not what anybody meant.",
          tokens.duplicates,
          of="entries", limits="WARN: a spelling with several ids; FAIL: an id of several tokens"),
    Check(
        "holes", "holes in the ids", "A model has a row for each of them.", tokens.holes, warn=0, of="entries"
    ),
    Check("reserved", "reserved names", "Names that stand for nothing yet.", tokens.reserved, of="entries"),
    Check("partial", "parts of characters", "A token that is a part of a character has no meaning alone.",
          tokens.partial, warn=0.05, fail=0.2, of="pieces"),
    Check("crossing", "across characters",
          "A token that ends in the middle of a character can make text that is none.", tokens.crossing,
          warn=0.01, fail=0.05, of="pieces"),
    Check("impossible", "impossible bytes", "Bytes that stand in no UTF-8, learned from broken text.",
          tokens.impossible, warn=0, of="pieces"),
    Check("invisible", "characters that cannot be seen", "They come from a corpus that was not cleaned.",
          tokens.controls, warn=0.001, of="pieces"),
    Check("long", "long tokens", "They come from text that was repeated.", tokens.long_ones,
          warn=0.001, fail=0.05, of="pieces"),
    Check("siblings", "case and space alone", "Tokens that differ in nothing else take room from others.",
          tokens.siblings, warn=0.75, of="pieces"),
    Check("file", "what had to be assumed", "What the file does not say may be otherwise where it is used.",
          tokens.doubts, warn=0),
)
"""The checks, in the order in which they are shown. A new one is a line here and the function that it names.
"""


def examine(tokenizer: Tokenizer, step: int | None = None) -> HealthReport:
    """The facts of a vocabulary, and the results of all checks in the order of `CHECKS`.

    Args:
        tokenizer: The tokenizer.
        step: Its step; its number of merges where None.
    """
    seen = survey(tokenizer)
    results = []
    for one in CHECKS:
        check()
        results.append(one.result(seen))
    return HealthReport(tokenizer.merges if step is None else step, seen.facts, tuple(results))


def worst(checks: Iterable[CheckResult]) -> str:
    """The worst status of some checks."""
    found = {check.status for check in checks}
    return next((status for status in (FAIL, WARN) if status in found), PASS)
