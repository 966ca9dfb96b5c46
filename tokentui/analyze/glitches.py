"""Glitch tokens: tokens that no text produces, or no text that people type.

Such tokens are seldom or never trained on: Land and Bartolo, "Fishing for Magikarp" (2024). Special tokens
are none: they are meant to come of no text.
"""

from __future__ import annotations

import itertools
import string
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokentui.analyze.report import Cell, Report, Row, Section, Target, as_row, data, pieces
from tokentui.analyze.vocabulary import ORDINARY, usage
from tokentui.core.jobs import each
from tokentui.encode.completions import completions
from tokentui.encode.decode import bare, spelled_units
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.reachability import (
    neighbors,
    reachability_of,
    typed_text,
    whole_characters,
)
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.text.corpus import Corpus

NEVER, UNWRITTEN, SWALLOWED = "never", "unwritten", "swallowed"
KINDS = {
    NEVER: "no text produces it",
    UNWRITTEN: "only text that people do not type produces it",
    SWALLOWED: "in the corpus, but only inside longer tokens",
}
"""The kinds of glitch tokens, by name, and what they mean."""
TITLES = {NEVER: "unreachable", UNWRITTEN: "never typed", SWALLOWED: "always merged"}
"""The kinds in reports."""
_FEW = 40
_LINE = "\t\n\r"
_MOST_TRIED, _MOST_VARIED = 1 << 18, 1 << 12
"""The maximum number of characters that are tried for a token that is a part of a character."""
_ROW = 128
"""The code points of a script mostly fill rows of this many."""


@dataclass(frozen=True, slots=True)
class Glitch:
    """A glitch token.

    Attributes:
        id: Its id.
        piece: Its exact bytes, marks included.
        kind: One of `KINDS`.
        reason: The name of the reason: of `tokentui.encode.why_not.REASONS` for a token that no text becomes;
            `control`, `lone-mark` or `not-utf8` for one that is not typed; `swallowed`.
        sentence: The reason in words.
        text: A text that becomes it; None if none was found, and for a swallowed one.
        into: The tokens that it became a part of in the corpus, the commonest first, at most three; empty for
            other kinds.
    """

    id: int
    piece: bytes
    kind: str
    reason: str
    sentence: str
    text: str | None = None
    into: tuple[bytes, ...] = ()


def glitches(tokenizer: Tokenizer, corpus: Corpus | None = None) -> tuple[Glitch, ...]:
    """Return the glitch tokens of a tokenizer, in order of their ids.

    A spelling that people do not write holds a control character but tab and line ends, a code point that is
    private or has no character, U+FFFD, or bytes that are not UTF-8; or a combining mark with no letter to
    stand on: it follows a space in the token, or stands first in it and no letter of its script or of a to z
    in front of it leaves the token. A token is of that kind where each text that was tried and becomes it is
    such a spelling.

    Args:
        tokenizer: The tokenizer.
        corpus: A corpus to find swallowed tokens in; None to look for none.

    Raises:
        TokentuiError: The tokenizer refuses the corpus.
        Cancelled: The job is cancelled.
    """
    entries = [entry for entry in tokenizer.entries() if entry.kind in (*ORDINARY, "byte", "orphan")]
    others = neighbors(tokenizer)
    typed = tuple(text for text in others if not unwritten(text))
    written = None if typed == others else typed
    by_id = {}
    for entry in each(entries, len(entries)):
        if (glitch := _glitch(tokenizer, entry, written)) is not None:
            by_id[glitch.id] = glitch
    if corpus is not None:
        words, _ = Pretokens(tokenizer).count(corpus)
        symbols = tokenizer.vocabulary.symbols_by_id(tokenizer.merges)
        for unused in usage(tokenizer, words).unused:
            if unused.why == SWALLOWED and unused.id not in by_id:
                symbol = symbols.get(unused.id)
                piece = unused.piece if symbol is None else tokenizer.vocabulary.spelled(symbol)
                by_id[unused.id] = Glitch(unused.id, piece, SWALLOWED, SWALLOWED, KINDS[SWALLOWED],
                                          into=unused.into)
    return tuple(by_id[number] for number in sorted(by_id))


def unwritten(text: str) -> str:
    """Return why people do not type a text: `not-utf8` or `control`; empty if they do.

    >>> unwritten("a\\tb"), unwritten("a\\x07b"), unwritten("\\ue000"), unwritten("\\udc80")
    ('', 'control', 'control', 'not-utf8')
    """
    kinds = {unicodedata.category(char) for char in text if char not in _LINE}
    if "Cs" in kinds:
        return "not-utf8"
    return "control" if kinds & {"Cc", "Co", "Cn"} or "\ufffd" in text else ""


def _glitch(
    tokenizer: Tokenizer, entry: TokenEntry, written: tuple[str, ...] | None
) -> Glitch | None:
    """Return the glitch of an entry, or None. Whether it is swallowed in a corpus is not checked.

    Args:
        tokenizer: The tokenizer.
        entry: The entry.
        written: The texts to try around the token, without those that people do not type; None for all.
    """
    reachability = reachability_of(tokenizer, entry, written)
    if reachability.text is None and reachability.reason == "context":
        reachability = reachability_of(tokenizer, entry)
    if reachability.text is None:
        return Glitch(entry.id, reachability.piece, NEVER, reachability.reason, reachability.sentence)
    text, reason = reachability.text, unwritten(reachability.text)
    own = None if entry.symbol is None else typed_text(tokenizer, entry.symbol)
    if reason and own is None:
        typed = (whole for whole in _whole(tokenizer, entry) if not unwritten(whole))
        text = next((whole for whole in typed if tokenizer.encoder.ids_include(whole, entry.id)), text)
        reason = unwritten(text)
    if reason:
        sentence = ("only invalid UTF-8 produces it" if reason == "not-utf8" else
                "only text with control, unassigned or private-use characters produces it")
        return Glitch(entry.id, reachability.piece, UNWRITTEN, reason, sentence, text)
    if own is not None and _lone(tokenizer, own, entry.id):
        sentence = "it has a combining mark without a letter"
        return Glitch(entry.id, reachability.piece, UNWRITTEN, "lone-mark", sentence, text)
    return None


def _whole(tokenizer: Tokenizer, entry: TokenEntry) -> Iterator[str]:
    """Yield texts that contain the bytes of a token that is a part of a character."""
    if entry.symbol is None:
        return itertools.islice(completions(bytes((int(entry.text[3:5], 16),))), _MOST_TRIED)
    data = bare(tokenizer.recipe, tokenizer.vocabulary.spelled(entry.symbol))
    units = spelled_units(tokenizer.encoder, entry.symbol)
    return itertools.islice(whole_characters(tokenizer, units, data), _MOST_VARIED)


def _lone(tokenizer: Tokenizer, own: str, number: int) -> bool:
    """Return whether a token has a combining mark without a letter in every text that produces it.

    Args:
        tokenizer: The tokenizer.
        own: The text of the token.
        number: Its id.
    """
    marks = [unicodedata.category(char).startswith("M") for char in own]
    if any(mark and own[at - 1].isspace() for at, mark in enumerate(marks) if at):
        return True
    if not marks or not marks[0]:
        return False
    row = ord(own[0]) // _ROW * _ROW
    letters = (char for char in map(chr, range(row, row + _ROW))
               if unicodedata.category(char) in ("Lo", "Ll"))
    return not any(tokenizer.encoder.ids_include(letter + own, number)
                   for letter in itertools.chain(string.ascii_lowercase, letters))


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Find the glitch tokens of a tokenizer, and report on them."""
    return report(glitches(tokenizer, corpus), tokenizer.vocab_size, corpus is not None)


def report(tokens: Sequence[Glitch], vocab_size: int, with_corpus: bool) -> Report:
    """Report on glitch tokens: a section for each kind.

    Args:
        tokens: The glitch tokens.
        vocab_size: The number of ids of the tokenizer.
        with_corpus: True if a corpus was searched for swallowed ones.
    """
    counts = Counter(glitch.kind for glitch in tokens)
    kinds = [kind for kind in KINDS if with_corpus or kind != SWALLOWED]
    return Report(
        "Glitch tokens",
        (Section("ids", f"{vocab_size:,}, without special tokens"),
         *(_section(kind, [glitch for glitch in tokens if glitch.kind == kind]) for kind in kinds)),
        {"vocab_size": vocab_size, "counts": {kind: counts[kind] for kind in KINDS},
         "glitches": [as_row(glitch) for glitch in tokens]},
        ", ".join(f"{counts[kind]:,} {TITLES[kind]}" for kind in kinds),
    )


def _section(kind: str, tokens: Sequence[Glitch]) -> Section:
    """Return the section of one kind of tokens, with its reasons counted if there are several."""
    summary = f"{len(tokens):,}, {KINDS[kind]}" if tokens else "none"
    reasons = Counter(glitch.reason for glitch in tokens)
    if len(reasons) > 1:
        summary += f" ({', '.join(f'{times:,} {reason}' for reason, times in reasons.most_common())})"
    return Section(TITLES[kind], summary, tuple(map(_row, tokens)), few=_FEW)


def _row(glitch: Glitch) -> Row:
    why: Cell = glitch.sentence if glitch.kind != SWALLOWED else ("by ", *pieces(glitch.into))
    example = () if glitch.text is None else (", such as ", data(glitch.text))
    about = (f"{KINDS[glitch.kind]}: {glitch.sentence}", *example)
    return Row((str(glitch.id), glitch.piece, why), Target("token", glitch.id), about)
