"""The answer of `tokentui compare`: tables for people, and one row for machines with the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from tokentui.analyze.agreement import PAIR_MEASURES
from tokentui.analyze.align import Alignment
from tokentui.analyze.compare import Comparison, Pair
from tokentui.analyze.divergence import Divergence, Side
from tokentui.analyze.metrics import SYMBOLS, Value
from tokentui.analyze.metrics import shown as number
from tokentui.analyze.overlap import Overlap
from tokentui.analyze.results import ONE_BOUNDARY
from tokentui.axes import label
from tokentui.cli.output import Json, shown
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.core.table import Table
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Candidate
from tokentui.text.corpus import Corpus

LETTERS = "ABCD"
_MOST_FOUND = 20
_SHORT = 24

_TOTALS = ("tokens_a", "tokens_b", "boundaries_a", "boundaries_b", "shared", "words", "same_words")
_COUNTED = ("bytes", "characters", "tokens", "vocab_size", "used", "unknowns")
_PARTS = ("common", "only_a", "only_b")

Between = tuple[int, int]
"""Two columns, by their numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: a tokenizer from a file, or a trained one.

    Attributes:
        name: The name of the file or recipe.
        tokenizer: The tokenizer; the error of one that could not be trained.
        trainer: Its training, where its tokens come in an order.
    """

    name: str
    tokenizer: Tokenizer | TokentuiError
    trainer: Trainer | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that is printed.

    Attributes:
        corpus: The corpus.
        columns: The columns.
        comparison: Measures, agreement and shared tokens.
        divergences: The first differing step of each two columns, by the meaning of merges and as they are
            spelled.
        literal: True if people want to see the second of these.
        aligned: The encodings of a text under each other, with the numbers of their columns; None without a
            text.
        refused: The columns that refuse the text, and why.
        find: A text whose tokens are listed.
    """

    corpus: Corpus
    columns: tuple[Column, ...]
    comparison: Comparison
    divergences: Mapping[Between, tuple[Divergence | None, Divergence | None]]
    literal: bool
    aligned: tuple[tuple[int, ...], Alignment] | None
    refused: tuple[tuple[int, TokentuiError], ...]
    find: str | None


def tables(answer: Answer, formulas: bool = False) -> Iterator[Table]:
    """The answer as tables, each set apart from the next."""
    corpus, comparison = answer.corpus, answer.comparison
    rows = [_about(column, comparison.errors[n], LETTERS[n]) for n, column in enumerate(answer.columns)]
    yield Table(rows, f"corpus  {safe(corpus.name)}, {corpus.size:,} bytes")
    yield from _measures(answer, formulas)
    rows = [
        [_names(one.a, one.b), *(number(measure.of(one.agreement)) for measure in PAIR_MEASURES)]
        for one in comparison.pairs
    ]
    head = ["boundaries, the second against the first", *(measure.title for measure in PAIR_MEASURES)]
    yield Table(rows, head=head if rows else (), right=range(-len(PAIR_MEASURES), 0))
    rows = [
        [_names(a, b), by, *(f"{len(getattr(one, part)):,}" for part in _PARTS), number(one.jaccard)]
        for by,
        overlaps in (("bytes, marks included", comparison.overlaps), ("text without marks", comparison.bare))
        for (a, b), one in overlaps.items()
    ]
    head = ["vocabularies", "the same by", "common", "only the first", "only the second", "Jaccard"]
    yield Table(rows, head=head if rows else (), right=range(-4, 0))
    yield Table(notes=[line for names in answer.divergences for line in _divergence(answer, names)])
    yield Table(notes=[line for pair in comparison.pairs for line in _differing(pair)])
    yield Table(notes=list(_alignment(answer)))
    yield Table(notes=list(_found(answer)))


def _about(column: Column, error: TokentuiError | None, letter: str) -> list[str]:
    one = column.tokenizer
    if error is not None or isinstance(one, TokentuiError):
        return [letter, safe(column.name), safe_line(error or str(one))]
    return [letter, safe(column.name), safe(label(one.recipe)), f"{one.vocab_size:,} ids"]


def _measures(answer: Answer, formulas: bool) -> Iterator[Table]:
    letters = LETTERS[: len(answer.columns)]
    rows = []
    for row in answer.comparison.rows:
        measure = row.measure
        told = [measure.formula, measure.unit, measure.better] if formulas else []
        figures = ("" if figure is None else figure.shown for figure in row.figures)
        rows.append([measure.title, *told, safe(row.under), *figures])
    more = ["formula", "unit", "better"] if formulas else []
    yield Table(rows, head=["measure", *more, "computed under", *letters], right=range(-len(letters), 0))
    if formulas:
        yield Table(list(SYMBOLS.items()))


def _divergence(answer: Answer, names: Between) -> Iterator[str]:
    """The first differing step of two columns, with both sides of it."""
    meant, spelled = answer.divergences[names]
    found, other = (spelled, meant) if answer.literal else (meant, spelled)
    step, other_step = ("none" if one is None else f"{one.step:,}" for one in (found, other))
    yield f"first differing step, {_names(*names)}: {step}"
    if step != other_step:
        by_spelling = f"{ONE_BOUNDARY}; as spelled: {other_step} (--literal)"
        yield f"  by meaning: {other_step}" if answer.literal else f"  {by_spelling}"
    if found is not None:
        for n, side in zip(names, (found.a, found.b), strict=True):
            yield f"  {LETTERS[n]}  {_decided(side)}"
            yield from Table([_candidate(one, side) for one in side.candidates], indent=5).lines()


def _decided(side: Side) -> str:
    step = side.step
    if step is None:
        return f"has ended: {side.end}"
    if step.chosen is None:
        return step.said
    row = step.row
    score = "" if row["score"] is None else f", score {row['score']:.6g}"
    tied = f", one of {side.tied} that are equal: {side.tie_rule}" if side.tied > 1 else ""
    made = f"{' + '.join(map(shown, step.chosen.parts))} = {shown(step.chosen.token)}"
    return f"{made}  count {row['count']:,}{score}{tied}"


def _values(one: Candidate, side: Side) -> Json:
    """The values of a candidate, by the names of their columns."""
    return {column.name: value for column, value in zip(side.columns, one.values, strict=False)}


def _scored(side: Side) -> bool:
    return side.step is not None and side.step.row.get("score") is not None


def _candidate(one: Candidate, side: Side) -> list[str]:
    values = _values(one, side)
    if "loss" in values:
        return [shown(one.token), f"loss {values['loss']:.6g}", "goes" if values["goes"] else "stays"]
    cells = [" + ".join(map(shown, one.parts)), f"{values['count']:,}"]
    if _scored(side):
        cells += [f"score {values['score']:.6g}", f"of {values['left uses']:,} and {values['right uses']:,}"]
    return cells


def _differing(pair: Pair) -> list[str]:
    """The stretches that two columns cut differently most often."""
    rows = [[f"{one.count:,}", _short([one.text]), _short(one.a), _short(one.b)] for one in pair.partings]
    title = f"cut differently most often, {_names(pair.a, pair.b)}"
    return Table(rows, title, indent=2).lines() if rows else []


def _alignment(answer: Answer) -> Iterator[str]:
    if answer.aligned is not None:
        columns, alignment = answer.aligned
        for row, n in enumerate(columns):
            yield f"{LETTERS[n]}  {alignment.line(row)}".rstrip()
        yield f"   {alignment.counts()}".rstrip()
    for n, error in answer.refused:
        yield f"{LETTERS[n]}  {safe_line(error)}"


def _found(answer: Answer) -> Iterator[str]:
    if answer.find is None:
        return
    for (a, b), one in answer.comparison.bare.items():
        held = one.find(answer.find)
        for title, part in zip(
            ("common", f"only {LETTERS[a]}", f"only {LETTERS[b]}"), held.parts, strict=True
        ):
            more = f" and {len(part) - _MOST_FOUND:,} more" if len(part) > _MOST_FOUND else ""
            listed = " ".join(map(shown, part[:_MOST_FOUND]))
            head = f"with {safe(answer.find)}, {_names(a, b)}, {title}, {len(part):,}"
            yield f"{head}: {listed}{more}".rstrip(": ")


def _names(a: int, b: int) -> str:
    return f"{LETTERS[a]} and {LETTERS[b]}"


def _short(tokens: Iterable[str]) -> str:
    line = "│".join(map(shown, tokens))
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def as_row(answer: Answer) -> Json:
    """The answer as a row for machines."""
    corpus, comparison = answer.corpus, answer.comparison
    overlaps = (("exact", comparison.overlaps), ("bare", comparison.bare))
    divergences = answer.divergences.items()
    return {
        "corpus": {"name": corpus.name, "bytes": corpus.size, "sha256": corpus.sha256},
        "tokenizers": [_column_row(answer, n) for n in range(len(answer.columns))],
        "measures": [
            {
                "name": row.measure.name,
                "title": row.measure.title,
                "formula": row.measure.formula,
                "conventions": dict(row.conventions),
                "values": [None if figure is None else figure.value for figure in row.figures],
                "shown": [None if figure is None else figure.shown for figure in row.figures],
            }
            for row in comparison.rows
        ],
        "agreement": [_agreement_row(pair) for pair in comparison.pairs],
        "vocabulary": [
            _overlap_row(names, by, one, answer.find) for by, found in overlaps for names,
            one in found.items()
        ],
        "first_difference": [_divergence_row(names, spelled) for names, (_, spelled) in divergences],
        "first_difference_by_meaning": [_divergence_row(names, meant) for names, (meant, _) in divergences],
        "text": _text_row(answer),
    }


def _column_row(answer: Answer, n: int) -> Json:
    column, tally, error = answer.columns[n], answer.comparison.tallies[n], answer.comparison.errors[n]
    one = column.tokenizer if isinstance(column.tokenizer, Tokenizer) else None
    words = (("spaced", tally.spaced), ("bare", tally.bare)) if tally else ()
    return {
        "letter": LETTERS[n],
        "name": column.name,
        "recipe": one.recipe.to_dict() | one.recipe.shape if one else None,
        "notes": list(one.notes) if one else [],
        "totals": {name: getattr(tally, name) for name in _COUNTED} if tally else None,
        "words": {name: None if found is None else asdict(found) for name, found in words} if tally else None,
        "error": None if error is None else str(error),
    }


def _agreement_row(pair: Pair) -> Json:
    found = pair.agreement
    values: dict[str, Value] = {measure.name: measure.of(found) for measure in PAIR_MEASURES}
    return {
        "a": LETTERS[pair.a],
        "b": LETTERS[pair.b],
        **values,
        "shown": {name: number(value) for name, value in values.items()},
        "totals": {name: getattr(found, name) for name in _TOTALS},
        "partings": [asdict(one) for one in pair.partings],
    }


def _overlap_row(names: Between, by: str, one: Overlap, find: str | None) -> Json:
    a, b = names
    sizes = {name: len(getattr(one, name)) for name in _PARTS}
    row: Json = {"a": LETTERS[a], "b": LETTERS[b], "by": by, **sizes, "jaccard": one.jaccard}
    row["shown"] = {"jaccard": number(one.jaccard)}
    if find is not None:
        held = one.find(find)
        row["found"] = {name: [piece.hex() for piece in getattr(held, name)] for name in _PARTS}
    return row


def _divergence_row(names: Between, found: Divergence | None) -> Json:
    a, b = names
    row: Json = {"a": LETTERS[a], "b": LETTERS[b], "step": None if found is None else found.step}
    if found is not None:
        row["sides"] = [_side_row(side) for side in (found.a, found.b)]
    return row


def _side_row(side: Side) -> Json:
    row = None if side.step is None else side.step.row
    if row is not None and "hex" in row:
        row = {name: row[name] for name in ("hex", "count", "score")}
    return {
        "step": row, "end": side.end, "tied": side.tied, "tie": side.tie_rule or None, "tokens": side.tokens,
        "vocab_size": side.vocab_size, "candidates": [_candidate_row(one, side) for one in side.candidates],
    }


def _candidate_row(one: Candidate, side: Side) -> Json:
    values = _values(one, side)
    if "loss" in values:
        loss = values["loss"]
        finite = loss if isinstance(loss, float) and math.isfinite(loss) else None
        return {"hex": one.token.hex(), "loss": finite, "goes": bool(values["goes"])}
    parts = [part.hex() for part in (*one.parts, one.token)]
    return {"hex": parts, "count": values["count"], "score": values["score"] if _scored(side) else None}


def _text_row(answer: Answer) -> Json | None:
    if answer.aligned is None and not answer.refused:
        return None
    row: Json = {"refused": [{"tokenizer": LETTERS[n], "error": str(error)} for n, error in answer.refused]}
    if answer.aligned is not None:
        columns, alignment = answer.aligned
        row |= {
            "text": alignment.text,
            "boundaries": {LETTERS[n]: sorted(alignment.boundaries[at]) for at, n in enumerate(columns)},
            "ruler": [[mark.offset, len(mark.rows)] for mark in alignment.ruler],
            "partings": [[one.start, one.end] for one in alignment.partings],
        }
    return row
