"""Two columns of `tokentui compare` that cut a corpus: tables and rows of their agreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokentui.analyze.compare import PAIR_MEASURES, DifferentCut, PairAgreement
from tokentui.analyze.metrics import shown as number
from tokentui.analyze.report import Json, as_json, as_row
from tokentui.cli.output import shown
from tokentui.core.table import TextTable

LETTERS = "ABCD"
_SHORT = 24


def differing(pair: PairAgreement) -> Iterator[str]:
    """The stretches that two columns cut differently most often, then the words, and how often they do."""
    yield from _cuts(f"most frequent differences, {pair_names(pair.a, pair.b)}", pair.partings)
    found = pair.agreement
    different = found.words - found.same_words
    share = number(different / found.words if found.words else None)
    title = f"words split differently, {pair_names(pair.a, pair.b)}: "
    title += f"{different:,} of {found.words:,} ({share})"
    yield from _cuts(title, pair.words)


def _cuts(title: str, found: Sequence[DifferentCut]) -> list[str]:
    rows = [[f"{one.count:,}", _short([one.text]), _short(one.a), _short(one.b)] for one in found]
    return TextTable(rows, title, indent=2).lines() if rows else []


def agreement_row(pair: PairAgreement) -> Json:
    """The agreement of two columns as a row."""
    found = pair.agreement
    values = {measure.name: measure.of(found) for measure in PAIR_MEASURES}
    return pair_letters(pair.a, pair.b) | {
        **values,
        "shown": {name: number(value) for name, value in values.items()},
        "totals": as_row(found),
        "partings": as_json(pair.partings),
        "different_words": as_json(pair.words),
    }


def pair_names(a: int, b: int) -> str:
    """Two columns by their letters."""
    return f"{LETTERS[a]} and {LETTERS[b]}"


def pair_letters(a: int, b: int) -> Json:
    """The letters of two columns in a row."""
    return {"a": LETTERS[a], "b": LETTERS[b]}


def _short(tokens: Iterable[str]) -> str:
    line = "│".join(map(shown, tokens))
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"

