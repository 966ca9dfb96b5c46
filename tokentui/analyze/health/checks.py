"""The checks of a health report, a line each."""

from __future__ import annotations

from tokentui.analyze.health import patterns, texts, tokens
from tokentui.analyze.health.found import FAIL, NONE, PASS, WARN, Rule
from tokentui.analyze.health.survey import Survey
from tokentui.analyze.results import Check
from tokentui.core.errors import Cancelled
from tokentui.learn.base import Cancel

_ANY = "WARN: any"
_SOME = "WARN: any; FAIL: more than 5 %"

CHECKS: tuple[Rule, ...] = (
    Rule("bytes", "any text can be written", "What has no token is lost, refused or unknown.",
         "WARN: some text is unknown or refused; FAIL: it is dropped, or all is", tokens.coverage),
    Rule("unknown", "scripts", "A script of which letters are unknown cannot be read or written.", _ANY, texts.unknown),
    Rule("texts", "round trip of texts", "What does not come back was changed or lost on the way.", _ANY, texts.texts),
    Rule("spaces", "round trip of white space", "Code and tables live by their white space.", _ANY, texts.spaces),
    Rule("controls", "round trip of controls", "Normalisers drop characters that have no shape.", _ANY, texts.controls),
    Rule("stable", "the same ids again", "Ids that change on the way back and forth are not what a model was trained on.",
         "WARN: any; FAIL: half of the texts", texts.stable),
    Rule("forms", "composed and decomposed", "Two forms of a text that look alike should have the same ids.", _ANY, texts.forms),
    Rule("digits", "numbers", "Numbers of one length that are cut in several ways are hard to reckon with.",
         "WARN: any length in several ways", texts.digits),
    Rule("literals", "text where a pattern was meant", "A pattern that is written as plain text matches nearly nothing.",
         "FAIL: any", patterns.literals),
    Rule("specials", "special tokens are whole", "A special token that falls apart is none.", "FAIL: any", texts.specials),
    Rule("injected", "special tokens in plain text", "Plain text that becomes a special token lets anybody write one.", _ANY,
         texts.injected),
    Rule("otherwise", "tokens that become others", "Merges or scores lead elsewhere: no text trains the row.", _SOME,
         tokens.otherwise, of="pieces"),
    Rule("split", "tokens that the split cuts", "No word holds the token, and no text trains its row. Single characters aside.",
         _SOME, tokens.split_away, of="pieces"),
    Rule("normalised", "tokens that are normalised away", "The text of the token is changed before it is looked up.", _SOME,
         tokens.normalised_away, of="pieces"),
    Rule("orphans", "tokens that no merge makes", "Merging never reaches them.", _SOME, tokens.orphans, of="pieces"),
    Rule("duplicates", "ids and spellings", "One spelling with two ids, or one id for two tokens, is not what anybody meant.",
         "WARN: a spelling with several ids; FAIL: an id of several tokens", tokens.duplicates, of="entries"),
    Rule("holes", "holes in the ids", "A model has a row for each of them.", _ANY, tokens.holes, of="entries"),
    Rule("reserved", "reserved names", "Names that stand for nothing yet.", "none", tokens.reserved, of="entries"),
    Rule("partial", "parts of characters", "A token that is a part of a character has no meaning alone.",
         "WARN: more than 5 %; FAIL: more than 20 %", tokens.partial, of="pieces"),
    Rule("crossing", "across characters", "A token that ends in the middle of a character can make text that is none.",
         "WARN: more than 1 %; FAIL: more than 5 %", tokens.crossing, of="pieces"),
    Rule("impossible", "impossible bytes", "Bytes that stand in no UTF-8, learned from broken text.", _ANY, tokens.impossible,
         of="pieces"),
    Rule("invisible", "characters that cannot be seen", "They come from a corpus that was not cleaned.",
         "WARN: more than 0.1 %", tokens.controls, of="pieces"),
    Rule("long", "long tokens", "They come from text that was repeated.", "WARN: more than 0.1 %; FAIL: more than 5 %",
         tokens.long_ones, of="pieces"),
    Rule("siblings", "case and space alone", "Tokens that differ in nothing else take room from others.", "WARN: more than 75 %",
         tokens.siblings, of="pieces"),
    Rule("file", "what had to be assumed", "What the file does not say may be otherwise where it is used.", _ANY,
         patterns.doubts),
)
"""What is checked, in the order in which it is told."""


def run(seen: Survey, cancel: Cancel | None = None) -> tuple[Check, ...]:
    """All checks of a survey; `cancel` is asked between them."""
    made = []
    for rule in CHECKS:
        if cancel is not None and cancel():
            raise Cancelled
        made.append(rule.check(seen))
    return tuple(made)


__all__ = ["CHECKS", "FAIL", "NONE", "PASS", "WARN", "run"]
