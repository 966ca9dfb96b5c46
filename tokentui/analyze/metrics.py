"""Measures of one tokenizer on one corpus, each with its formula and what it was computed under.

`MEASURES` is the one table of them. Ratios are ratios of totals. Where there is nothing to divide by a figure
is None, not 0. They describe; none of them says by itself how well a model would learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tokentui.analyze.tally import Tally, WordTally

Value = float | int | None
Under = tuple[tuple[str, str], ...]
"""Conventions, as (name, value)."""
Counted = TypeVar("Counted")

SYMBOLS: Mapping[str, str] = {
    "N": "tokens of the corpus",
    "B": "bytes of the corpus, as UTF-8",
    "C": "characters (code points) of the corpus",
    "V": "ids of the vocabulary, specials counted",
    "U": "tokens of the vocabulary that the corpus holds",
    "W": "words of the corpus, by the named splitter",
    "T": "distinct words",
    "|w|": "tokens of a word encoded by itself",
    "p": "share of a token among the tokens of the corpus",
}
"""The meaning of the letters in the formulas."""


@dataclass(frozen=True, slots=True)
class Measure(Generic[Counted]):
    """A measure: one entry of `MEASURES`, or of the measures of two tokenizers.

    Attributes:
        name: Its name in rows for machines.
        title: Its name for people.
        formula: In the letters of `SYMBOLS`; of two tokenizers with {a} and {b} for their letters.
        unit: The unit of its values.
        better: `more` or `less` where that is better for the same corpus, empty where neither is.
        of: Computes it; None where it has no value.
        under: The conventions that it depends on, of `splitter` and `alpha`.
        fixed: The conventions that it has by itself, such as the denominator.
        digits: The decimals that are shown.
    """

    name: str
    title: str
    formula: str
    unit: str
    better: str
    of: Callable[[Counted], Value]
    under: tuple[str, ...] = ()
    fixed: Under = ()
    digits: int = 4


class Figure(NamedTuple):
    """The value of a measure, and the decimals that are shown of it."""

    value: Value
    digits: int = 4

    @property
    def shown(self) -> str:
        """The value for people, `n/a` for none."""
        return shown(self.value, self.digits)


class MeasureRow(NamedTuple):
    """A measure under some conventions, a figure a column; None for a column that could not be measured."""

    measure: Measure[Tally]
    conventions: Under
    figures: tuple[Figure | None, ...]

    @property
    def under(self) -> str:
        """The conventions in a line."""
        return ", ".join(f"{name} {value}" for name, value in self.conventions)


def shown(value: Value, digits: int = 4) -> str:
    """A number for people: thousands apart, so many decimals; `n/a` for none."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def shannon(counts: Iterable[int]) -> float | None:
    """The entropy in bits of the shares of some counts, H = -Σ p·log2 p; None where nothing was counted."""
    held = [count for count in counts if count > 0]
    total = sum(held)
    if not total:
        return None
    return max(0.0, math.log2(total) - math.fsum(count * math.log2(count) for count in held) / total)


def renyi(counts: Iterable[int], alpha: float) -> float | None:
    """Rényi's entropy of order α in bits, log2(Σ p^α)/(1-α) (Rényi 1961).

    At 1 it is Shannon's, at infinity -log2 of the largest share. None where nothing was counted.
    """
    held = [count for count in counts if count > 0]
    total = sum(held)
    if not total:
        return None
    if alpha == 1:
        return shannon(held)
    most = max(held)
    if math.isinf(alpha):
        return math.log2(total / most)
    # Σ p^α as the largest share's part times the rest, so that no power of a small share is lost for a large
    # α.
    rest = math.fsum((count / most) ** alpha for count in held)
    return max(0.0, (alpha * math.log2(most / total) + math.log2(rest)) / (1 - alpha))


def ratio(above: float, below: float) -> float | None:
    """A ratio of totals; None where there is nothing to divide by."""
    return above / below if below else None


def efficiency(bits: float | None, size: int) -> float | None:
    """An entropy over that of a uniform choice among `size`; None for less than two."""
    return None if bits is None or size < 2 else bits / math.log2(size)


def bits(tokens: int, ids: int) -> float | None:
    """The bits of a corpus at a fixed length for each token, N·log2 V; None without ids."""
    return tokens * math.log2(ids) if ids else None


def _spaced(value: Callable[[WordTally], Value]) -> Callable[[Tally], Value]:
    """A value of the words with a space before each."""
    return lambda tally: None if tally.spaced is None else value(tally.spaced)


def _bare(value: Callable[[WordTally], Value]) -> Callable[[Tally], Value]:
    """A value of the words without."""
    return lambda tally: None if tally.bare is None else value(tally.bare)


_WORDS = ("splitter",)
_SPACE, _NO_SPACE = (("leading space", "yes"),), (("leading space", "no"),)
_OVER_V, _OVER_U = (("denominator", "log2 V"),), (("denominator", "log2 U"),)
_SHANNON, _RENYI = "(-Σ p·log2 p)", "log2(Σ p^α) / (1-α)"
_SINGLE = "distinct words with |w| = 1 / T"

MEASURES: tuple[Measure[Tally], ...] = (
    Measure("tokens", "tokens", "N", "tokens", "less", lambda t: t.tokens),
    Measure("bytes_per_token", "bytes per token", "B / N", "bytes", "more",
            lambda t: ratio(t.bytes, t.tokens)),
    Measure("characters_per_token", "characters per token", "C / N", "characters", "more",
            lambda t: ratio(t.characters, t.tokens)),
    Measure("fertility", "fertility", "Σ |w| / W", "tokens a word", "less",
            _spaced(lambda w: ratio(w.tokens, w.words)), _WORDS, _SPACE),
    Measure("continued_words", "continued words", "words with |w| ≥ 2 / W", "share", "less",
            _spaced(lambda w: ratio(w.continued, w.words)), _WORDS, _SPACE),
    Measure("single_token_words_spaced", "single-token words", _SINGLE, "share", "more",
            _spaced(lambda w: ratio(w.single, w.distinct)), _WORDS, _SPACE),
    Measure("single_token_words_bare", "single-token words", _SINGLE, "share", "more",
            _bare(lambda w: ratio(w.single, w.distinct)), _WORDS, _NO_SPACE),
    Measure("shannon_efficiency", "Shannon efficiency", f"{_SHANNON} / log2 V", "share", "more",
            lambda t: efficiency(shannon(t.counts), t.vocab_size), (), _OVER_V),
    Measure("shannon_efficiency_used", "Shannon efficiency", f"{_SHANNON} / log2 U", "share", "more",
            lambda t: efficiency(shannon(t.counts), len(t.counts)), (), _OVER_U),
    Measure("renyi_efficiency", "Rényi efficiency", f"{_RENYI} / log2 V", "share", "more",
            lambda t: efficiency(renyi(t.counts, t.conventions.alpha), t.vocab_size), ("alpha",), _OVER_V),
    Measure("renyi_efficiency_used", "Rényi efficiency", f"{_RENYI} / log2 U", "share", "more",
            lambda t: efficiency(renyi(t.counts, t.conventions.alpha), len(t.counts)), ("alpha",), _OVER_U),
    Measure("vocabulary_size", "ids", "V", "ids", "", lambda t: t.vocab_size),
    Measure("vocabulary_in_use", "vocabulary in use", "U / V", "share", "more",
            lambda t: ratio(t.used, t.vocab_size)),
    Measure("dead_tokens", "dead tokens", "V - U", "ids", "less", lambda t: t.vocab_size - t.used),
    Measure("bits", "bits at a fixed length", "N·log2 V", "bits", "less",
            lambda t: bits(t.tokens, t.vocab_size), digits=1),
    Measure("unknowns", "unknowns", "tokens for what the vocabulary lacks, and units that are dropped",
            "tokens", "less", lambda t: t.unknowns),
    Measure("round_trip_losses", "round-trip losses", "words that decoding their ids does not give back",
            "words", "less", _spaced(lambda w: w.lost), _WORDS, _SPACE),
)
"""The measures in the order in which they are shown. A new one is an entry here."""


def rows_of(tallies: Sequence[Tally | None]) -> tuple[MeasureRow, ...]:
    """The measures of columns on one corpus under the same conventions; none where no column was counted."""
    under = next((one.conventions for one in tallies if one), None)
    if under is None:
        return ()
    rows = []
    for measure in MEASURES:
        figures = tuple(Figure(measure.of(one), measure.digits) if one else None for one in tallies)
        rows.append(MeasureRow(measure, measure.fixed + under.said(measure.under), figures))
    return tuple(rows)
