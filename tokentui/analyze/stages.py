"""The stage at which two tokenizers part on a text, and the shortest part of the text that shows it."""

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
"""The characters of a text that are encoded at once to make it short."""
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
    """Make a document that two tokenizers encode differently short, and name the stage where they part.

    Args:
        a, b: The tokenizers.
        number: The number of the document, from 1.
        document: The document.
        differs: Returns whether a text is encoded differently. It holds for the document.

    Raises:
        Cancelled: The job is cancelled.
    """
    with silent():
        part = next((part for part in cut(document) if differs(part)), document)
        text = shorten(part, differs) if len(part) <= LONGEST else part
        one, other = _staged(a, text), _staged(b, text)
        stage = _stage(a, b, text, one, other)
        if stage == "post-processing":
            one, other = _staged(a, text, around=True), _staged(b, text, around=True)
        return FirstText(number, text, stage, one, other)


def differs_around(a: Tokenizer, b: Tokenizer) -> bool:
    """Return whether two tokenizers add other tokens before or after a text."""
    return a.encoder.around != b.encoder.around


def _stage(a: Tokenizer, b: Tokenizer, text: str, one: Staged, other: Staged) -> str:
    if one.refused is None and other.refused is None:
        added, others = ([(row.start, row.end) for row in way.encode(text).rows if row.word < 0]
                         for way in (a, b))
        if added != others:
            return "added tokens"
        if one.ids == other.ids:
            return "post-processing"
    if _bare(one.normalized) != _bare(other.normalized):
        return "normalization"
    if one.words != other.words:
        return "split"
    return "ids" if one.tokens == other.tokens and one.refused == other.refused else "model"


def _bare(normalized: str) -> str:
    """A normalized text with spaces for ▁ and none in front: some files set these as they normalize, others
    as they split."""
    return normalized.replace(SPACE_MARK, " ").removeprefix(" ")


def _staged(tokenizer: Tokenizer, text: str, around: bool = False) -> Staged:
    analysis = tokenizer.encoder.pretokenizer.analyse(text)
    words = tuple(text[word.start : word.end] for word in analysis.pretokens)
    try:
        encoding = tokenizer.encode(text, special_tokens=around)
    except TokentuiError as error:
        return Staged(analysis.normalized, words, refused=str(error))
    return Staged(analysis.normalized, words, encoding.tokens, tuple(encoding.ids))


def cut(document: str) -> Iterator[str]:
    """Yield a document in texts of some lines each: those are soon encoded, and soon made short."""
    start = 0
    while start < len(document):
        end = len(document)
        if end - start > LONGEST:
            end = document.rfind("\n", start, start + LONGEST) + 1 or start + LONGEST
        yield document[start:end]
        start = end


def shorten(text: str, differs: Callable[[str], bool], tries: int = _TRIES) -> str:
    """Return the shortest part of a text that was found for which something holds, by leaving out less and
    less of it.

    Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, without the
    tests of subsets.
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
