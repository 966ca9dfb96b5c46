"""What `tokentui compare` prints: one answer as tables for people, and as a row for machines with the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.analyze.align import Alignment, cell_width
from tokentui.analyze.compare import Comparison
from tokentui.analyze.figures import SYMBOLS, Value
from tokentui.analyze.figures import shown as number
from tokentui.analyze.overlap import Overlap
from tokentui.analyze.parting import Difference, Side
from tokentui.analyze.results import ONE_BOUNDARY
from tokentui.analyze.together import Pair
from tokentui.cli.output import shown
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Candidate, Step, Trainer
from tokentui.learn.unigram.rows import PieceRow, UnigramStep
from tokentui.presets import label
from tokentui.text.corpus import Corpus

LETTERS = "ABCD"
_MOST_FOUND = 20
_SHORT = 24

_AGREEMENT = (
    ("exact", "words alike"), ("precision", "precision"), ("recall", "recall"), ("f1", "F1"), ("token_ratio", "token ratio"),
)
_COUNTED = ("bytes", "characters", "tokens", "vocab_size", "used", "unknowns")
_TOTALS = ("tokens_a", "tokens_b", "boundaries_a", "boundaries_b", "shared", "words", "same_words")


@dataclass(frozen=True, slots=True)
class Column:
    """A tokenizer of the table: from a file, or with its training. `tokenizer` is the error of one that could not be trained."""

    name: str
    tokenizer: Tokenizer | TokentuiError
    trainer: Trainer | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """All that is printed. `differences` are those of each two whose tokens come in an order, by the meaning of merges and as
    they are spelled; `literal` says which of them people want to see. `aligned` is there where a text is shown."""

    corpus: Corpus
    columns: tuple[Column, ...]
    comparison: Comparison
    differences: dict[tuple[int, int], tuple[Difference | None, Difference | None]]
    literal: bool
    aligned: tuple[tuple[int, ...], Alignment] | None
    refused: tuple[tuple[int, TokentuiError], ...]
    find: str | None


def as_text(answer: Answer, formulas: bool = False) -> str:
    """The tables for people."""
    blocks = [
        _heading(answer), _measures(answer, formulas), _agreements(answer), _vocabularies(answer), _firsts(answer),
        _partings(answer), _alignment(answer), _found(answer),
    ]
    return "\n\n".join(filter(None, blocks))


def _heading(answer: Answer) -> str:
    corpus = answer.corpus
    lines = [f"corpus  {safe(corpus.name)}, {corpus.size:,} bytes"]
    rows = []
    for n, column in enumerate(answer.columns):
        one, error = column.tokenizer, answer.comparison.errors[n]
        about = [safe(label(one.recipe)), f"{one.vocab_size:,} ids"] if isinstance(one, Tokenizer) else []
        rows.append([LETTERS[n], safe(column.name), *([safe_line(error)] if error else about)])
    return "\n".join([*lines, *_table(rows)])


def _measures(answer: Answer, formulas: bool) -> str:
    head = ["measure", *(["formula"] if formulas else []), "computed under", *_letters(answer)]
    rows = [
        [row.measure.title, *([row.measure.formula] if formulas else []), safe(row.under),
         *("" if figure is None else figure.shown for figure in row.figures)]
        for row in answer.comparison.rows
    ]
    lines = _table([head, *rows], right=len(answer.columns))
    if formulas:
        lines += ["", *_table([[name, about] for name, about in SYMBOLS.items()])]
    return "\n".join(lines)


def _ways(answer: Answer) -> tuple[tuple[str, dict[tuple[int, int], Overlap]], ...]:
    return ("bytes, marks included", answer.comparison.overlaps), ("text without marks", answer.comparison.bare)


def _agreements(answer: Answer) -> str:
    pairs = answer.comparison.pairs
    rows = [[_names(one.a, one.b), *(number(getattr(one.agreement, name)) for name, _ in _AGREEMENT)] for one in pairs]
    head = ["boundaries, the second against the first", *(title for _, title in _AGREEMENT)]
    return "\n".join(_table([head, *rows], right=len(_AGREEMENT))) if rows else ""


def _vocabularies(answer: Answer) -> str:
    rows = [
        [_names(a, b), way, *(f"{len(part):,}" for part in (one.common, one.only_a, one.only_b)), number(one.jaccard)]
        for way, overlaps in _ways(answer)
        for (a, b), one in overlaps.items()
    ]
    head = ["vocabularies", "the same by", "common", "only the first", "only the second", "Jaccard"]
    return "\n".join(_table([head, *rows], right=4)) if rows else ""


def _firsts(answer: Answer) -> str:
    lines = []
    for (a, b), (meant, spelled) in answer.differences.items():
        found, other = (spelled, meant) if answer.literal else (meant, spelled)
        told = "none" if found is None else f"{found.step:,}"
        lines.append(f"first differing step, {_names(a, b)}: {told}")
        if (found and found.step) != (other and other.step):
            step = "none" if other is None else f"{other.step:,}"
            lines.append(f"  by meaning: {step}" if answer.literal else f"  {ONE_BOUNDARY}; as spelled: {step} (--literal)")
        if found is None:
            continue
        for letter, side in zip((LETTERS[a], LETTERS[b]), (found.a, found.b), strict=True):
            lines.append(f"  {letter}  {_decided(side)}")
            scored = isinstance(side.step, Step) and side.step.score is not None
            lines += [f"     {line}" for line in _table([_candidate(one, scored) for one in side.candidates])]
    return "\n".join(lines)


def _decided(side: Side) -> str:
    step = side.step
    if step is None:
        return f"has ended: {side.end}"
    if isinstance(step, UnigramStep):
        return f"round {step.round}, {step.what}: {step.kept:,} pieces kept, {step.dropped:,} dropped"
    score = "" if step.score is None else f", score {step.score:.6g}"
    tied = f", one of {side.tied} that are equal: {side.tie_rule}" if side.tied > 1 else ""
    return f"{shown(step.left)} + {shown(step.right)} = {shown(step.token)}  count {step.count:,}{score}{tied}"


def _candidate(one: Candidate | PieceRow, scored: bool) -> list[str]:
    if isinstance(one, PieceRow):
        return [shown(one.piece), f"loss {one.loss:.6g}", "goes" if one.goes else "stays"]
    uses = [f"score {one.score:.6g}", f"of {one.left_uses:,} and {one.right_uses:,}"] if scored else []
    return [f"{shown(one.left)} + {shown(one.right)}", f"{one.count:,}", *uses]


def _partings(answer: Answer) -> str:
    lines = []
    for pair in answer.comparison.pairs:
        if pair.partings:
            lines.append(f"cut otherwise most often, {_names(pair.a, pair.b)}")
            rows = [[f"{one.count:,}", _pieces([one.text]), _pieces(one.a), _pieces(one.b)] for one in pair.partings]
            lines += [f"  {line}" for line in _table(rows)]
    return "\n".join(lines)


def _alignment(answer: Answer) -> str:
    lines = []
    if answer.aligned:
        columns, alignment = answer.aligned
        for row, n in enumerate(columns):
            lines.append(f"{LETTERS[n]}  {alignment.line(row)}".rstrip())
        lines.append(f"   {alignment.counts()}".rstrip())
    return "\n".join([*lines, *(f"{LETTERS[n]}  {safe_line(error)}" for n, error in answer.refused)])


def _found(answer: Answer) -> str:
    if answer.find is None:
        return ""
    lines = []
    for (a, b), one in answer.comparison.bare.items():
        held = one.find(answer.find)
        for title, part in (("common", held.common), (f"only {LETTERS[a]}", held.only_a), (f"only {LETTERS[b]}", held.only_b)):
            more = f" and {len(part) - _MOST_FOUND:,} more" if len(part) > _MOST_FOUND else ""
            listed = " ".join(shown(piece) for piece in part[:_MOST_FOUND])
            lines.append(f"with {safe(answer.find)}, {_names(a, b)}, {title}, {len(part):,}: {listed}{more}".rstrip(": "))
    return "\n".join(lines)


def as_row(answer: Answer) -> dict[str, Any]:
    """The same as a row for machines."""
    corpus, comparison = answer.corpus, answer.comparison
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
            _overlap_row(a, b, way, one, answer.find)
            for way, overlaps in (("exact", comparison.overlaps), ("bare", comparison.bare))
            for (a, b), one in overlaps.items()
        ],
        "first_difference": [_difference_row(a, b, spelled) for (a, b), (_, spelled) in answer.differences.items()],
        "first_difference_by_meaning": [_difference_row(a, b, meant) for (a, b), (meant, _) in answer.differences.items()],
        "text": _text_row(answer),
    }


def _column_row(answer: Answer, n: int) -> dict[str, Any]:
    column, tally, error = answer.columns[n], answer.comparison.tallies[n], answer.comparison.errors[n]
    one = column.tokenizer
    totals = {name: getattr(tally, name) for name in _COUNTED} if tally else None
    words = {
        name: None if found is None else {key: getattr(found, key) for key in found.__slots__}
        for name, found in (("spaced", tally.spaced), ("bare", tally.bare))
    } if tally else None
    return {
        "letter": LETTERS[n],
        "name": column.name,
        "recipe": one.recipe.to_dict() | one.recipe.shape if isinstance(one, Tokenizer) else None,
        "notes": list(one.notes) if isinstance(one, Tokenizer) else [],
        "totals": totals,
        "words": words,
        "error": None if error is None else str(error),
    }


def _agreement_row(pair: Pair) -> dict[str, Any]:
    found = pair.agreement
    values: dict[str, Value] = {name: getattr(found, name) for name, _ in _AGREEMENT}
    return {
        "a": LETTERS[pair.a],
        "b": LETTERS[pair.b],
        **values,
        "shown": {name: number(value) for name, value in values.items()},
        "totals": {name: getattr(found, name) for name in _TOTALS},
        "partings": [{"text": one.text, "count": one.count, "a": one.a, "b": one.b} for one in pair.partings],
    }


def _overlap_row(a: int, b: int, way: str, one: Overlap, find: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "a": LETTERS[a], "b": LETTERS[b], "by": way, "common": len(one.common), "only_a": len(one.only_a),
        "only_b": len(one.only_b), "jaccard": one.jaccard, "shown": {"jaccard": number(one.jaccard)},
    }
    if find is not None:
        held = one.find(find)
        row["found"] = {name: [piece.hex() for piece in getattr(held, name)] for name in ("common", "only_a", "only_b")}
    return row


def _difference_row(a: int, b: int, found: Difference | None) -> dict[str, Any]:
    row: dict[str, Any] = {"a": LETTERS[a], "b": LETTERS[b], "step": None if found is None else found.step}
    if found is not None:
        row["sides"] = [_side_row(side) for side in (found.a, found.b)]
    return row


def _side_row(side: Side) -> dict[str, Any]:
    step: dict[str, Any] | None = None
    if isinstance(side.step, Step):
        step = {"hex": side.step.hex, "count": side.step.count, "score": side.step.score}
    elif side.step is not None:
        step = side.step.row
    return {
        "step": step, "end": side.end, "tied": side.tied, "tie": side.tie_rule or None, "tokens": side.tokens,
        "vocab_size": side.vocab_size,
        "candidates": [_candidate_row(one, step is not None and step.get("score") is not None) for one in side.candidates],
    }


def _candidate_row(one: Candidate | PieceRow, scored: bool) -> dict[str, Any]:
    if isinstance(one, PieceRow):
        return {"hex": one.piece.hex(), "loss": one.loss if abs(one.loss) != float("inf") else None, "goes": one.goes}
    return {
        "hex": [one.left.hex(), one.right.hex(), one.token.hex()], "count": one.count,
        "score": one.score if scored else None,
    }


def _text_row(answer: Answer) -> dict[str, Any] | None:
    if answer.aligned is None and not answer.refused:
        return None
    row: dict[str, Any] = {"refused": [{"tokenizer": LETTERS[n], "error": str(error)} for n, error in answer.refused]}
    if answer.aligned:
        columns, alignment = answer.aligned
        row |= {
            "text": alignment.text,
            "boundaries": {LETTERS[n]: sorted(alignment.boundaries[at]) for at, n in enumerate(columns)},
            "ruler": [[mark.offset, len(mark.rows)] for mark in alignment.ruler],
            "partings": [[one.start, one.end] for one in alignment.partings],
        }
    return row


def _letters(answer: Answer) -> list[str]:
    return list(LETTERS[: len(answer.columns)])


def _names(a: int, b: int) -> str:
    return f"{LETTERS[a]} and {LETTERS[b]}"


def _pieces(tokens: Iterable[str]) -> str:
    line = "│".join(shown(token) for token in tokens)
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def _table(rows: Sequence[Sequence[str]], right: int = 0) -> list[str]:
    """Rows in columns, the last so many set to the right."""
    size = max((len(row) for row in rows), default=0)
    widths = [max((cell_width(row[n]) for row in rows if n < len(row)), default=0) for n in range(size)]
    out = []
    for row in rows:
        cells = []
        for n, cell in enumerate(row):
            pad = " " * (widths[n] - cell_width(cell))
            cells.append(pad + cell if n >= size - right else cell + pad)
        out.append("  ".join(cells).rstrip())
    return out
