"""The first stage that differs between two tokenizers on a text, and the shortest part that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, silent
from tokentui.core.records import dataclass
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.split import SPACE_MARK

STAGES = {
    "added tokens": "other added tokens are found in the text",
    "normalization": "the normalized text differs",
    "split": "the pre-tokens differ",
    "model": "the same pre-tokens become other tokens",
    "ids": "the same tokens have other ids",
    "post-processing": "other tokens are added around the text",
}
"""The stages in the order in which a text passes them, and what differs there."""
LONGEST = 4000
"""Longer texts, in characters, are cut before one is shortened; one that cannot be cut stays as long."""
_TRIES = 600


@dataclass(frozen=True, slots=True)
class Staged:
    """A text in the stages of a tokenizer.

    Attributes:
        normalized: The normalized text.
        words: The part of the text that each pre-token covers.
        tokens: Its tokens; empty if it is refused.
        ids: Their ids, None for a token without one.
        refused: The reason why it is refused; None if it is not.
    """

    normalized: str
    words: tuple[str, ...]
    tokens: tuple[str, ...] = ()
    ids: tuple[int | None, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class FirstText:
    """The first text that two tokenizers encode differently.

    Attributes:
        number: The number of its document, from 1.
        text: The shortest part of it that was found to differ.
        stage: The first of `STAGES` that differs.
        a, b: The stages of that part under either.
    """

    number: int
    text: str
    stage: str
    a: Staged
    b: Staged


def first_text(
    a: Tokenizer, b: Tokenizer, number: int, document: str, differs: Callable[[str], bool]
) -> FirstText:
    """Shorten a document that two tokenizers encode differently, and return the rest with the first stage
    that differs. It stays whole if only all of it differs and it is longer than `LONGEST`.

    Args:
        a, b: The tokenizers.
        number: The number of the document, from 1.
        document: The document.
        differs: Returns whether a text is encoded differently; true for the document.

    Raises:
        Cancelled: The job is cancelled.
    """
    with silent():
        part = next((part for part in cut(document) if differs(part)), document)
        text = shorten(part, differs) if len(part) <= LONGEST else part
        staged_a, staged_b = _staged(a, text), _staged(b, text)
        stage = _stage(a, b, text, staged_a, staged_b)
        if stage == "post-processing":
            staged_a, staged_b = _staged(a, text, around=True), _staged(b, text, around=True)
        return FirstText(number, text, stage, staged_a, staged_b)


def differs_around(a: Tokenizer, b: Tokenizer) -> bool:
    """Return whether the special tokens that two tokenizers add before and after a text differ."""
    return a.encoder.around != b.encoder.around


def _stage(a: Tokenizer, b: Tokenizer, text: str, staged_a: Staged, staged_b: Staged) -> str:
    """Name the first stage in which two encodings of a text differ.

    "post-processing" if they differ only in the tokens around the text. "ids" stands for equal tokens with
    other ids, "model" for what no earlier stage explains.
    """
    if staged_a.refused is None and staged_b.refused is None:
        added_a, added_b = ([(row.start, row.end) for row in way.encode(text).rows if row.word < 0]
                         for way in (a, b))
        if added_a != added_b:
            return "added tokens"
        if staged_a.ids == staged_b.ids:
            return "post-processing"
    if _bare(staged_a.normalized) != _bare(staged_b.normalized):
        return "normalization"
    if staged_a.words != staged_b.words:
        return "split"
    return "ids" if staged_a.tokens == staged_b.tokens and staged_a.refused == staged_b.refused else "model"


def _bare(normalized: str) -> str:
    """Return a normalized text with spaces for ▁ and without a first space: some files set these as they
    normalize, others as they split."""
    return normalized.replace(SPACE_MARK, " ").removeprefix(" ")


def _staged(tokenizer: Tokenizer, text: str, around: bool = False) -> Staged:
    """Return the stages of an encoding; if the tokenizer refuses the text, the reason is in it. `around` adds
    the special tokens before and after the text."""
    analysis = tokenizer.encoder.pretokenizer.analyze(text)
    words = tuple(text[word.start : word.end] for word in analysis.pretokens)
    try:
        encoding = tokenizer.encode(text, special_tokens=around)
    except TokentuiError as error:
        return Staged(analysis.normalized, words, refused=str(error))
    return Staged(analysis.normalized, words, encoding.tokens, tuple(encoding.ids))


def cut(document: str) -> Iterator[str]:
    """Yield a document in parts of at most `LONGEST` characters, cut after a line end if there is one."""
    start = 0
    while start < len(document):
        end = len(document)
        if end - start > LONGEST:
            end = document.rfind("\n", start, start + LONGEST) + 1 or start + LONGEST
        yield document[start:end]
        start = end


def shorten(text: str, differs: Callable[[str], bool], tries: int = _TRIES) -> str:
    """Shorten a text that `differs` accepts, by leaving out shorter and shorter parts of it.

    The result may have gaps. No single character of it can be left out, unless the tries ran out. It is not
    empty unless the text is; without tries it is the text.

    Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, without the
    tests of subsets.

    Args:
        text: The text, of which `differs` is true.
        differs: Returns whether a shorter text is still accepted; not called for `text` itself.
        tries: The maximum number of calls of `differs`.

    Raises:
        Cancelled: The job is cancelled.
    """
    size = max(1, len(text) // 2)
    while tries > 0:
        at = 0
        left_out = False
        while at < len(text) and tries > 0:
            check()
            shorter = text[:at] + text[at + size :]
            tries -= 1
            if shorter and differs(shorter):
                text, left_out = shorter, True
            else:
                at += size
        if size == 1 and not left_out:
            break
        size = max(1, size // 2)
    return text
