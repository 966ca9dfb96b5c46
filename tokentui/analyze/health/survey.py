"""One look at every token of a vocabulary, and the record of a check that reads it."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from tokentui.analyze.inspect import text_of
from tokentui.analyze.results import CheckResult, DeadToken, Example, SharedSpelling, Token, VocabularyFacts
from tokentui.analyze.vocabulary import ORDINARY
from tokentui.core.jobs import each
from tokentui.encode.decode import bare as bare_bytes
from tokentui.encode.reachability import reachability_of
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.text.pretokenize import UNITS

PASS, INFO, WARN, FAIL, NONE = "PASS", "INFO", "WARN", "FAIL", "n/a"
"""The statuses of a check. `INFO` names what nearly every published tokenizer has, without harm; `NONE` means
that the check makes no sense for a tokenizer."""
SCRIPTS = (
    "Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Han", "Hiragana", "Katakana", "Hangul", "Devanagari",
    "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai",
    "Lao", "Khmer", "Myanmar", "Tibetan", "Georgian", "Armenian", "Ethiopic", "Mongolian", "Cherokee",
    "Syriac",
    "Thaana", "Tifinagh", "Javanese", "Balinese", "Bopomofo",
)
"""The scripts that have names here; all others are `other letters`."""
_JAPANESE = {"Han", "Hiragana", "Katakana"}
_SPACES = " ▁\t\n\r\v\f\xa0\u3000"
_BLANKS = " ▁\t\n\r\v\f"
_EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}")
_LONGEST = 10
_MOST_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings of one look at every token.

    Attributes:
        tokenizer: The tokenizer.
        entries: Its vocabulary in order of the ids.
        pieces: The exact bytes of each ordinary token by its id, marks included.
        bare: The same without the mark, unless a token is nothing else.
        dead: (id, bytes, reason, the same in words) of each token that no text becomes.
        facts: The facts.
    """

    tokenizer: Tokenizer
    entries: tuple[TokenEntry, ...]
    pieces: dict[int, bytes]
    bare: dict[int, bytes]
    dead: tuple[tuple[int, bytes, str, str], ...]
    facts: VocabularyFacts


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of a check.

    Attributes:
        observed: The finding in words.
        value: The number that is compared with the limits of the check; None where the check makes no sense
            here.
        examples: Tokens or texts that show it.
        status: The status, where the value does not decide it.
    """

    observed: str
    value: float | None = None
    examples: Sequence[Example] = ()
    status: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the health report. A lower value is better.

    Attributes:
        name: Its name for programs, one word.
        title: Its name for people.
        about: Why it matters, a sentence.
        look: Computes the value, with its words and examples.
        info, warn, fail: It is an INFO above the first value, a WARN above the second and a FAIL above the
            third; None for never. Shares are of 1.
        of: The part of the survey that it needs: `entries` or `pieces`; without any it makes no sense. Empty
            for a check of texts.
        limits: When it is an INFO, a WARN and a FAIL, in words, where the values do not tell it.
    """

    name: str
    title: str
    about: str
    look: Callable[[Survey], Finding]
    info: float | None = None
    warn: float | None = None
    fail: float | None = None
    of: Literal["", "entries", "pieces"] = ""
    limits: str = ""

    @property
    def threshold(self) -> str:
        """The values from which it is an INFO, a WARN and a FAIL, in words: `limits` if set, or `none`."""
        levels = ((INFO, self.info), (WARN, self.warn), (FAIL, self.fail))
        levels_in_words = [
            f"{name}: {f'more than {100 * level:g} %' if level else 'any'}" for name,
            level in levels if level is not None
        ]
        return self.limits or "; ".join(levels_in_words) or "none"

    def result(self, survey: Survey) -> CheckResult:
        """Return the result of the check on a surveyed tokenizer.

        The status is that of the finding if it sets one, otherwise it follows from the value and the
        thresholds; `n/a` without a value, and without running the check if the survey lacks what it needs.
        The result counts all examples and has the first `_MOST_EXAMPLES`.
        """
        lacks_tokens = bool(self.of) and not getattr(survey, self.of)
        finding = Finding("there are no tokens") if lacks_tokens else self.look(survey)
        return CheckResult(
            self.name, self.title, self.about, finding.status or self._graded(finding.value),
            finding.observed, self.threshold, finding.value, len(finding.examples),
            tuple(finding.examples[:_MOST_EXAMPLES]),
        )

    def _graded(self, value: float | None) -> str:
        if value is None:
            return NONE
        levels = ((FAIL, self.fail), (WARN, self.warn), (INFO, self.info))
        return next((status for status, level in levels if level is not None and value > level), PASS)


def survey(tokenizer: Tokenizer) -> Survey:
    """Collect the facts of every token for the checks. A tick of the job is a token."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    recipe = tokenizer.recipe
    entries = tuple(tokenizer.entries())
    pieces: dict[int, bytes] = {}
    bare: dict[int, bytes] = {}
    dead: list[tuple[int, bytes, str, str]] = []
    alike: dict[bytes, list[int]] = {}
    scripts: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for entry in each(entries, len(entries)):
        symbol = entry.symbol
        if symbol is None or entry.kind not in ORDINARY:
            continue
        piece = pieces[entry.id] = vocabulary.spelled(symbol)
        alike.setdefault(piece, []).append(entry.id)
        own = bare[entry.id] = bare_bytes(recipe, piece)
        scripts[written_in(own)] += 1
        lengths[len(own.decode("utf-8", "replace"))] += 1
        reachability = reachability_of(tokenizer, entry)
        if reachability.text is None:
            dead.append((entry.id, piece, reachability.reason, reachability.sentence))
    units = set(vocabulary.units) if UNITS.of(recipe.unit).is_byte else None
    by_length = sorted(pieces.items(), key=lambda token: (-len(bare[token[0]]), token[0]))
    texts = {number: text for number, piece in pieces.items() if (text := text_of(piece)) is not None}
    facts = VocabularyFacts(
        vocab_size=tokenizer.vocab_size,
        first_id=entries[0].id if entries else vocabulary.first_id,
        merges=merges,
        kinds=tuple(Counter(entry.kind for entry in entries).items()),
        longest=tuple(Token(*token) for token in by_length[:_LONGEST]),
        unreachable=tuple(DeadToken(number, piece, words) for number, piece, _, words in dead),
        duplicates=tuple(SharedSpelling(piece, tuple(ids)) for piece, ids in alike.items() if len(ids) > 1),
        not_utf8=tuple(
            Token(number, piece) for number, piece in pieces.items() if len(piece) > 1 and number not in texts
        ),
        spaces=tuple(
            Token(number, pieces[number]) for number, text in texts.items() if not text.strip(_BLANKS)
        ),
        missing_bytes=() if units is None else tuple(
            value for value in range(256) if bytes((value,)) not in units
        ),
        scripts=tuple(scripts.most_common()),
        lengths=tuple(sorted(lengths.items())),
        holes=tuple((a.id + 1, b.id - 1) for a, b in itertools.pairwise(entries) if b.id - a.id > 1),
        shared_ids=_shared(tokenizer),
    )
    return Survey(tokenizer, entries, pieces, bare, tuple(dead), facts)


def share(part: int, whole: int) -> float:
    """Return a part as a share of a whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def some(count: int, noun: str, rest: str = "", whole: int | None = None) -> str:
    """Return a count in words with its share of a whole, such as `3 tokens of several bytes, 0.1 % of 3,000`.
    """
    things = f"{count:,} {noun}{'' if count == 1 else 's'}" if count else f"no {noun}"
    percent = 100 * count / whole if whole else 0.0
    part = f", {percent:{'.2g' if percent < 10 else '.0f'}} % of {whole:,}" if percent else ""
    return f"{things} {rest}".rstrip() + part


def written_in(piece: bytes) -> str:
    """Return the script of a token without its mark, by its letters: `several scripts` for more than one,
    `Japanese` for a mix of its scripts. Without letters, return the kind of its characters."""
    text = text_of(piece)
    if text is None:
        return "parts of characters"
    bare = text.strip(_SPACES)
    if not bare:
        return "spaces"
    if bare.isascii():
        letters, digits = any(map(str.isalpha, bare)), any(map(str.isdigit, bare))
        return "Latin" if letters else "digits" if digits else "signs"
    scripts = {str(match.lastgroup) for match in _letters().finditer(bare)}
    if len(scripts & _JAPANESE) > 1:
        scripts = scripts - _JAPANESE | {"Japanese"}
    if scripts:
        script = "other letters" if scripts == {"other"} else min(scripts)
        return script if len(scripts) == 1 else "several scripts"
    return "digits" if any(map(str.isdigit, bare)) else "emoji" if _EMOJI.search(bare) else "signs"


@functools.cache
def _letters() -> regex.Pattern[str]:
    named = "|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS)
    return regex.compile(rf"(?=[\p{{L}}\p{{M}}])(?:{named}|(?P<other>\p{{L}}))")


def _shared(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the ids of several symbols with different spellings, except the unknown token."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    if vocabulary.substitutes_bytes:
        return ()
    piece_of: dict[int, bytes] = {}
    shared = {
        number for symbol in vocabulary.symbols(merges)
        if piece_of.setdefault(
            number := vocabulary.id_of(symbol, merges), piece := vocabulary.spelled(symbol)
        ) != piece
    }
    return tuple(sorted(shared - {vocabulary.unknown_id}))
