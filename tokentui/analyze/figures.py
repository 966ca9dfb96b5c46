"""Numbers about one tokenizer on one corpus, each with its formula and what it was computed under.

`MEASURES` is the one table of them. Ratios are ratios of totals. Where there is nothing to divide by a figure is None, not 0.
They describe; none of them says by itself how well a model would learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokentui.analyze.tally import Tally, WordTally

Value = float | int | None

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
"""What the letters of the formulas stand for."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: what a tally's figure is.

    Attributes:
        name: Its name in rows for machines.
        title: Its name for people.
        formula: In the letters of `SYMBOLS`.
        of: Computes it; None where it has no value.
        under: The conventions that it depends on, of `splitter` and `alpha`.
        fixed: The conventions that it has by itself, such as the denominator.
        digits: The decimals that are shown.
    """

    name: str
    title: str
    formula: str
    of: Callable[[Tally], Value]
    under: tuple[str, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    digits: int = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a measure, with what it was computed under: (convention, value) pairs and the corpus, by its digest."""

    measure: Measure
    conventions: tuple[tuple[str, str], ...]
    corpus: str
    value: Value

    @property
    def shown(self) -> str:
        """The value for people, `n/a` for none."""
        return shown(self.value, self.measure.digits)


@dataclass(frozen=True, slots=True)
class Row:
    """A measure under one set of conventions, a figure a column; None where a column has none under these."""

    measure: Measure
    conventions: tuple[tuple[str, str], ...]
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
    # Σ p^α as the largest share's part times the rest, so that no power of a small share is lost for a large α.
    rest = math.fsum((count / most) ** alpha for count in held)
    return max(0.0, (alpha * math.log2(most / total) + math.log2(rest)) / (1 - alpha))


def ratio(above: float, below: float) -> float | None:
    """A ratio of totals; None where there is nothing to divide by."""
    return above / below if below else None


def efficiency(bits: float | None, size: int) -> float | None:
    """An entropy over that of a uniform choice among `size`; None for less than two."""
    return None if bits is None or size < 2 else bits / math.log2(size)


def _of_words(value: Callable[[WordTally], Value], *, spaced: bool) -> Callable[[Tally], Value]:
    def of(tally: Tally) -> Value:
        words = tally.spaced if spaced else tally.bare
        return None if words is None else value(words)

    return of


_WORDS = ("splitter",)
_SPACED, _BARE = (("leading space", "yes"),), (("leading space", "no"),)
_OVER_V, _OVER_U = (("denominator", "log2 V"),), (("denominator", "log2 U"),)

MEASURES: tuple[Measure, ...] = (
    Measure("tokens", "tokens", "N", lambda t: t.tokens),
    Measure("bytes_per_token", "bytes per token", "B / N", lambda t: ratio(t.bytes, t.tokens)),
    Measure("characters_per_token", "characters per token", "C / N", lambda t: ratio(t.characters, t.tokens)),
    Measure("fertility", "fertility", "Σ |w| / W", _of_words(lambda w: ratio(w.tokens, w.words), spaced=True), _WORDS, _SPACED),
    Measure("continued_words", "continued words", "words with |w| ≥ 2 / W",
            _of_words(lambda w: ratio(w.continued, w.words), spaced=True), _WORDS, _SPACED),
    Measure("single_token_words_spaced", "single-token words", "distinct words with |w| = 1 / T",
            _of_words(lambda w: ratio(w.single, w.distinct), spaced=True), _WORDS, _SPACED),
    Measure("single_token_words_bare", "single-token words", "distinct words with |w| = 1 / T",
            _of_words(lambda w: ratio(w.single, w.distinct), spaced=False), _WORDS, _BARE),
    Measure("shannon_efficiency", "Shannon efficiency", "(-Σ p·log2 p) / log2 V",
            lambda t: efficiency(shannon(t.counts), t.vocab_size), (), _OVER_V),
    Measure("shannon_efficiency_used", "Shannon efficiency", "(-Σ p·log2 p) / log2 U",
            lambda t: efficiency(shannon(t.counts), len(t.counts)), (), _OVER_U),
    Measure("renyi_efficiency", "Rényi efficiency", "log2(Σ p^α) / (1-α) / log2 V",
            lambda t: efficiency(renyi(t.counts, t.conventions.alpha), t.vocab_size), ("alpha",), _OVER_V),
    Measure("renyi_efficiency_used", "Rényi efficiency", "log2(Σ p^α) / (1-α) / log2 U",
            lambda t: efficiency(renyi(t.counts, t.conventions.alpha), len(t.counts)), ("alpha",), _OVER_U),
    Measure("vocabulary_size", "ids", "V", lambda t: t.vocab_size),
    Measure("vocabulary_in_use", "vocabulary in use", "U / V", lambda t: ratio(t.used, t.vocab_size)),
    Measure("dead_tokens", "dead tokens", "V - U", lambda t: t.vocab_size - t.used),
    Measure("bits", "bits at a fixed length", "N·log2 V",
            lambda t: t.tokens * math.log2(t.vocab_size) if t.vocab_size else None, digits=1),
    Measure("unknowns", "unknowns", "tokens for what the vocabulary lacks, and units that are dropped", lambda t: t.unknowns),
    Measure("round_trip_losses", "round-trip losses", "words that decoding their ids does not give back",
            _of_words(lambda w: w.lost, spaced=True), _WORDS, _SPACED),
)
"""The measures in the order in which they are shown: a line a measure."""


def figures(tally: Tally) -> tuple[Figure, ...]:
    """Every measure of a tally."""
    return tuple(
        Figure(measure, measure.fixed + tally.conventions.said(measure.under), tally.corpus, measure.of(tally))
        for measure in MEASURES
    )


def side_by_side(columns: Sequence[Sequence[Figure]]) -> tuple[Row, ...]:
    """Figures in rows, a figure a column. Those computed under other conventions, or on another corpus, get rows of their own.

    Args:
        columns: The figures of each column, none for one that could not be measured.
    """
    rows: dict[tuple[str, tuple[tuple[str, str], ...], str], list[Figure | None]] = {}
    for n, column in enumerate(columns):
        for figure in column:
            key = (figure.measure.name, figure.conventions, figure.corpus)
            rows.setdefault(key, [None] * len(columns))[n] = figure
    place = {measure.name: n for n, measure in enumerate(MEASURES)}
    out = []
    for _, found in sorted(rows.items(), key=lambda row: place[row[0][0]]):
        first = next(figure for figure in found if figure is not None)
        out.append(Row(first.measure, first.conventions, tuple(found)))
    return tuple(out)
