"""How far each two of several tokenizers agree, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokentui.analyze.compare import PAIR_MEASURES, PairAgreement
from tokentui.analyze.report import Report, Section
from tokentui.core.chart import Axis, HeatMap

_LEAST = 0, 50, 75, 90, 95
"""The values that the scale of shades may begin at. The greatest one below all cells is taken."""

_ABOUT = (
    "The share of the words of the corpus that each two columns split alike.",
    "A cell is filled from ░ to █: the fuller, the more they agree. ▸ is the cursor; – marks a pair that was "
    "not compared.",
    "Try: press → until the cursor is on the cell with the lowest percentage: these two agree least.",
)


def agreement_map(names: Mapping[int, str], pairs: Sequence[PairAgreement]) -> HeatMap:
    """Return the share of words that each two tokenizers split the same way, in percent. There is none for a
    tokenizer and itself, or for one that cannot read the corpus.

    Args:
        names: The names of the tokenizers, by their keys.
        pairs: The agreement of each two, by the same keys.
    """
    exact = PAIR_MEASURES[0]
    shares = {frozenset((pair.a, pair.b)): exact.of(pair.agreement) for pair in pairs}
    values = []
    for a in names:
        found = (shares.get(frozenset((a, b))) for b in names)
        values.append(tuple(None if share is None else 100 * share for share in found))
    known = [value for row in values for value in row if value is not None]
    least = max(step for step in _LEAST if step <= min(known, default=0.0))
    axis, labels = Axis(exact.title, " %", 1, least=least, most=100), tuple(names.values())
    words = "{row} and {column} split {value} of the words alike"
    return HeatMap(exact.title, labels, labels, tuple(values), axis, words, _ABOUT)


def agreement_report(names: Mapping[int, str], pairs: Sequence[PairAgreement]) -> Report:
    """Return the heat map of the agreement, and which two agree most and least.

    Args:
        names: The names of the tokenizers, by their keys.
        pairs: The agreement of each two, by the same keys.
    """
    exact = PAIR_MEASURES[0]
    known = [(share, pair) for pair in pairs if (share := exact.of(pair.agreement)) is not None]
    about = "no two columns can be compared"
    if known:
        known.sort(key=lambda one: -one[0])
        most, least = (f"{names[pair.a]} and {names[pair.b]}" for _, pair in (known[0], known[-1]))
        about = f"{most} agree most, {least} least" if len(known) > 1 else f"{most} alone can be compared"
    picture = agreement_map(names, pairs)
    return Report(exact.title, (Section("agreement", about, picture=picture),), {}, about)
