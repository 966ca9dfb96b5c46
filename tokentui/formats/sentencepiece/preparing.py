"""What tokenizer classes of transformers do to a text before sentencepiece reads it.

Source: `tokenization_*.py` of transformers 4.57: `preprocess_text` of Albert, XLNet, FNet and GPTSw3,
`canonicalize_text` of Siglip.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Mapping

from tokentui.formats.huggingface import AlignedText
from tokentui.recipe import NEWEST_UNICODE
from tokentui.text.unicode import TABLES, combining

_NEWEST = TABLES[NEWEST_UNICODE]
Prepare = Callable[[AlignedText], AlignedText]
_WHITESPACE = re.compile(r"\s+")
_UNPRINTED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\xa0\xad\u200b]")
_SPACES = str.maketrans(dict.fromkeys("\u2002\u2003\u2005\u2008\u2009\u200a\u202f\u3000\ufffc", " "))


def prepared_by(kind: str, settings: Mapping[str, object], defaults: Mapping[str, bool]) -> Prepare | None:
    """Return what a class does to a text; None for nothing.

    Args:
        kind: A name in `KINDS`; empty for none.
        settings: The settings of `tokenizer_config.json`.
        defaults: The values of the class for `do_lower_case`, `remove_space` and `keep_accents`.
    """
    flags = {name: value if isinstance(value := settings.get(name), bool) else default
             for name, default in defaults.items()}
    return functools.partial(KINDS[kind], **flags) if kind else None


def _google(
    text: AlignedText, *, do_lower_case: bool, remove_space: bool, keep_accents: bool
) -> AlignedText:
    """Return a text as Albert, XLNet and FNet prepare it."""
    if do_lower_case:
        text = text.passed(str.lower)
    if remove_space:
        text = _squeezed(text)
    for quotes in ("``", "''"):
        text = _replaced(text, re.compile(quotes), '"')
    if not keep_accents:
        text = text.passed(_without_accents)
    return text.passed(str.lower) if do_lower_case else text


def _squeezed(text: AlignedText) -> AlignedText:
    """Return a text without white space at its ends, and with one space for each run inside."""
    start = len(text.text) - len(text.text.lstrip())
    return _replaced(text.part(start, max(start, len(text.text.rstrip()))), _WHITESPACE, " ")


def _replaced(text: AlignedText, pattern: re.Pattern[str], by: str) -> AlignedText:
    return text.replaced(lambda: [match.span() for match in pattern.finditer(text.text)], by,
                         pattern.sub(by, text.text))


def _without_accents(text: str) -> str:
    return "".join(character for character in _NEWEST.nfkd(text) if not combining(character))


def _gpt_sw3(text: AlignedText) -> AlignedText:
    return _replaced(text, _UNPRINTED, "").passed(_spaced).passed(_composed)


def _spaced(text: str) -> str:
    return text.translate(_SPACES)


def _composed(text: str) -> str:
    return _NEWEST.nfc(text)


def _siglip(text: AlignedText, *, do_lower_case: bool) -> AlignedText:
    """Return a text in lower case without punctuation."""
    if do_lower_case:
        text = text.passed(str.lower)
    return _squeezed(_replaced(text, _PUNCTUATION_MARKS, ""))


def _lower(text: AlignedText, *, do_lower_case: bool) -> AlignedText:
    return text.passed(str.lower) if do_lower_case else text


_PUNCTUATION_MARKS = re.compile(f"[{re.escape(string.punctuation)}]+")
KINDS: Mapping[str, Callable[..., AlignedText]] = {
    "google": _google, "gpt-sw3": _gpt_sw3, "siglip": _siglip, "lower": _lower,
}
"""The functions that prepare a text, by the kind that a class names (`classes.Preparation`)."""
