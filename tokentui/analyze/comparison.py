"""Several tokenizers compared on a corpus: measures, agreement, shared tokens and first differing steps,
as one value and one report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tokentui import learn
from tokentui.analyze.agreement_map import agreement_map
from tokentui.analyze.align import align
from tokentui.analyze.compare import (
    PAIR_MEASURES,
    DifferentCut,
    Overlap,
    PairAgreement,
    agreement_shown,
    compare_on,
    overlaps,
    pieces,
)
from tokentui.analyze.divergence import Divergence, first_divergences
from tokentui.analyze.health.health_report import measure_json
from tokentui.analyze.metrics import SYMBOLS, Conventions, MeasureRow, Tally, rows_of, shown, tallies
from tokentui.analyze.report import (
    AlignedRow,
    Cell,
    Column,
    Json,
    Part,
    Report,
    Row,
    Section,
    as_json,
    as_row,
    data,
    merged,
    segmented,
)
from tokentui.analyze.results import ONE_BOUNDARY, DivergenceSide
from tokentui.axes import label
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import phase
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
from tokentui.encode.encoding import Encoding
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.replay.segmentations import MERGES, RANKS
from tokentui.learn.rows import Candidate
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.text.corpus import Corpus
from tokentui.text.count import COVERED, Coverage, WordCounts, coverage

LETTERS = "ABCD"
"""The names of the columns."""
_ROWS = 5
"""The candidates of a step, and the stretches that two columns split differently, that are listed."""
_MOST_FOUND = 20
_SHORT = 24
_COUNTED = ("bytes", "characters", "tokens", "vocab_size", "used", "unknowns")
_BY = ("exact", "bytes, marks included"), ("bare", "text without marks")
"""The ways to compare the tokens of two vocabularies: the name in JSON, and the words for people."""


@dataclass(slots=True)
class Compared:
    """A tokenizer to compare: loaded from a file, or trained from a recipe.

    Attributes:
        name: The name of the file or recipe.
        tokenizer: The tokenizer; None before it is trained, or if that fails.
        training: The recipe and the run, if it is trained.
        like: The size of the first file, if it is trained to that size.
        trainer: Its training run or replay; None if its tokens have no order.
        error: The error of training or of reading the corpus.
        coverage: How much of the corpus its pre-tokens cover.
    """

    name: str
    tokenizer: Tokenizer | None = None
    training: tuple[Recipe, Run] | None = None
    like: int | None = None
    trainer: Trainer | None = None
    error: TokentuiError | None = None
    coverage: Coverage = COVERED

    def prepare(self, counted: WordCounts) -> None:
        """Train it on a corpus until its stops, or replay the merges of its file there. A `TokentuiError` is
        stored in `error`, not raised; `Cancelled` is raised."""
        try:
            if self.tokenizer is not None:
                self._replay(self.tokenizer, counted.corpus)
            elif self.training is not None:
                recipe, run = self.training
                with phase("counting"):
                    counts = counted.of(recipe)
                    self.coverage = coverage(counted.corpus, recipe, counts)
                self.trainer = learn.start(counted.corpus, recipe, run, counts)
                with phase("merging"):
                    learn.run(self.trainer, run.stops)
                self.tokenizer = self.trainer.tokenizer(run=run.words)
        except TokentuiError as error:
            self.error = error

    def _replay(self, tokenizer: Tokenizer, corpus: Corpus) -> None:
        """Replay the merges of a file on a corpus. If it cannot read the corpus, or its tokens have no order,
        it gets no trainer, and no error is stored."""
        try:
            with phase("counting"):
                pretokens = Pretokens(tokenizer)
                words, fixed = pretokens.count(corpus)
                self.coverage = pretokens.coverage(corpus, words, fixed)
            with phase("encoding"):
                tokens = ReplayTrainer(tokenizer, words, fixed=fixed)
        except TokentuiError:
            return
        if tokens.order.kind in (MERGES, RANKS):
            learn.jump(tokens, tokens.computed)
            self.trainer = tokens


Between = tuple[int, int]
"""The numbers of two columns."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All results of a comparison.

    Attributes:
        corpus: The corpus.
        columns: The columns.
        tallies: The counts of the corpus by the number of the column, or why it cannot read it; without
            columns that could not be trained.
        pairs: The agreement of each pair of columns that can read the corpus.
        overlaps: The shared tokens of each pair of columns, by exact bytes and by text without marks.
        divergences: The first differing step of each pair of columns, by the meaning and by the spelling of
            merges.
        encodings: The encodings of a text, by the numbers of the columns.
        refused: The errors of columns that cannot encode it.
    """

    corpus: Corpus
    columns: Sequence[Compared]
    tallies: Mapping[int, Tally | TokentuiError]
    pairs: Sequence[PairAgreement]
    overlaps: Mapping[Between, tuple[Overlap, Overlap]]
    divergences: Mapping[Between, tuple[Divergence | None, Divergence | None]]
    encodings: dict[int, Encoding] = field(default_factory=dict)
    refused: dict[int, TokentuiError] = field(default_factory=dict)

    def encode(self, text: str) -> None:
        """Encode a text with each column that has a tokenizer. Stores the results in `encodings` and the
        errors in `refused`."""
        for n, column in enumerate(self.columns):
            if column.tokenizer is not None:
                try:
                    self.encodings[n] = column.tokenizer.encode(text)
                except TokentuiError as error:
                    self.refused[n] = error

    def tally(self, n: int) -> Tally | None:
        """Return the counts of a column; None if it has none."""
        tally = self.tallies.get(n)
        return None if isinstance(tally, TokentuiError) else tally

    def error(self, n: int) -> TokentuiError | None:
        """Return why a column could not be trained, or cannot read the corpus; None if neither failed."""
        tally = self.tallies.get(n)
        return tally if isinstance(tally, TokentuiError) else self.columns[n].error

    @property
    def errors(self) -> list[TokentuiError]:
        """The errors of columns and of the text."""
        errors = (self.error(n) for n in range(len(self.columns)))
        return [*filter(None, errors), *self.refused.values()]

    @property
    def measures(self) -> tuple[MeasureRow, ...]:
        """The measures of the columns."""
        return rows_of([self.tally(n) for n in range(len(self.columns))])


def compare(
    columns: Sequence[Compared], counted: WordCounts, conventions: Conventions, listed: int = _ROWS
) -> Comparison:
    """Compare tokenizers on a corpus. Columns with errors are left out, and the others are compared.

    Args:
        columns: The columns; those that are not prepared are trained or replayed.
        counted: The corpus.
        conventions: What a word is, and the order of the Renyi entropy.
        listed: The most stretches, words and candidates that are listed.

    Raises:
        TokentuiError: No column can read the corpus.
    """
    for column in columns:
        column.prepare(counted)
    able = {n: column.tokenizer for n, column in enumerate(columns) if column.tokenizer is not None}
    trainers = {n: column.trainer for n, column in enumerate(columns) if column.trainer is not None}
    with phase("measuring"):
        found = tallies(able, counted.corpus, conventions, counted)
        read = [(n, tokenizer) for n, tokenizer in able.items() if isinstance(found[n], Tally)]
        if not read:
            errors = (column.error or found[n] for n, column in enumerate(columns))
            raise next(error for error in errors if isinstance(error, TokentuiError))
        pairs = compare_on(read, counted.corpus, conventions, most=listed)
    tokens = {
        n: [[piece for _, piece in pieces(tokenizer, bare)] for bare in (False, True)]
        for n, tokenizer in able.items()
    }
    divergences = {}
    with phase("comparing"):
        for (n, a), (m, b) in combinations(trainers.items(), 2):
            # One that ended earlier is asked for one step more: either it has none, or its stop came first.
            limit = min(a.number, b.number) + (a.number != b.number)
            divergences[n, m] = first_divergences(a, b, limit, rows=listed)
    return Comparison(counted.corpus, columns, found, pairs, overlaps(tokens), divergences)


# ---- the report


def report(
    comparison: Comparison, *, literal: bool = False, formulas: bool = False, find: str | None = None
) -> Report:
    """Report on a comparison.

    Args:
        comparison: The comparison.
        literal: True to show the first differing steps by the spelling of merges.
        formulas: True to show the formulas of the measures.
        find: A text: the tokens that contain it are listed.
    """
    corpus = comparison.corpus
    sections = (
        Section("corpus", f"{corpus.name}, {corpus.size:,} bytes"),
        Section(rows=tuple(Row((LETTERS[n], *_about(comparison, n))) for n in range(len(comparison.columns))),
                columns=(), indent=0),
        *_measure_sections(comparison, formulas),
        *_agreement_sections(comparison),
        *_divergence_sections(comparison, literal),
        *(section for pair in comparison.pairs for section in difference_sections(pair)),
        *_text_sections(comparison),
        *_found_sections(comparison, find),
    )
    return Report("Comparison", sections, _value(comparison, find))


def _about(comparison: Comparison, n: int) -> tuple[str, ...]:
    """Return name, recipe and size of a column; of one that failed, its name and error."""
    column = comparison.columns[n]
    tokenizer, error = column.tokenizer, comparison.error(n)
    if tokenizer is None or error is not None:
        return column.name, str(error)
    like = "" if column.like is None else f" (trained to {column.like:,}, the size of A)"
    return column.name, label(tokenizer.recipe), f"{tokenizer.vocab_size:,} ids{like}"


def _measure_sections(comparison: Comparison, formulas: bool) -> Iterator[Section]:
    """Yield the table of measures, with `formulas` their formulas and a table of symbols too."""
    letters = LETTERS[: len(comparison.columns)]
    rows = []
    for row in comparison.measures:
        measure = row.measure
        details = (measure.formula, measure.unit, measure.better) if formulas else ()
        figures = ("" if figure is None else figure.shown for figure in row.figures)
        rows.append(Row((measure.title, *details, row.under, *figures)))
    names = "measure", *(("formula", "unit", "better") if formulas else ()), "convention"
    columns = *map(Column, names), *(Column(letter, "right") for letter in letters)
    yield Section(rows=tuple(rows), columns=columns, indent=0)
    if formulas:
        symbols = tuple(Row((symbol, about)) for symbol, about in SYMBOLS.items())
        yield Section(rows=symbols, columns=(), indent=0, apart=True)


def _agreement_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield a table of the agreement of each pair of columns, for three or more columns its picture, and a
    table of the tokens that their vocabularies share."""
    rows = tuple(
        Row((pair_names(pair.a, pair.b),
             *(agreement_shown(measure, pair.agreement) for measure in PAIR_MEASURES)))
        for pair in comparison.pairs
    )
    titles = "boundaries (second against first)", *(measure.title for measure in PAIR_MEASURES)
    if rows:
        yield Section(rows=rows, columns=_figures(*titles, left=1), indent=0)
        if len(comparison.columns) > 2:  # two have one figure
            names = dict(enumerate(LETTERS[: len(comparison.columns)]))
            yield Section(picture=agreement_map(names, comparison.pairs), apart=True)
    rows = tuple(
        Row((pair_names(a, b), about, *(f"{len(part):,}" for part in both[by]), shown(both[by].jaccard)))
        for by, (_, about) in enumerate(_BY) for (a, b), both in comparison.overlaps.items()
    )
    titles = "vocabularies", "compared by", "common", "only the first", "only the second", "Jaccard"
    if rows:
        yield Section(rows=rows, columns=_figures(*titles, left=2), indent=0)


def _figures(*titles: str, left: int) -> tuple[Column, ...]:
    return tuple(Column(title, "left" if n < left else "right") for n, title in enumerate(titles))


def _divergence_sections(comparison: Comparison, literal: bool) -> Iterator[Section]:
    """Yield a section for each pair of columns with their first differing step, by meaning or with `literal`
    by spelling, and what either decided there. The other step is noted if it differs."""
    for names, (meant, spelled) in comparison.divergences.items():
        divergence, other = (spelled, meant) if literal else (meant, spelled)
        step, other_step = (
            "none" if difference is None else f"{difference.step:,}" for difference in (divergence, other)
        )
        rows: list[Row] = []
        if step != other_step:
            by_spelling = f"{ONE_BOUNDARY}; as spelled: {other_step} (--literal)"
            rows.append(Row((f"by meaning: {other_step}" if literal else by_spelling,)))
        for n, side in zip(names, (divergence.a, divergence.b) if divergence else (), strict=False):
            candidates = tuple(Row(_candidate(candidate, side)) for candidate in side.chosen_from)
            rows.append(Row(((f"{LETTERS[n]}  ", *_decided(side)),), details=candidates))
        yield Section(f"first differing step, {pair_names(*names)}:", step, tuple(rows))


def _decided(side: DivergenceSide) -> tuple[Part, ...]:
    """Return what a side did at the parting: its end, a sentence, or the merge with count, score and ties."""
    step, best = side.step, side.why.best
    if step is None:
        return (f"has ended ({side.why.end})",)
    row = step.row
    if best is None or "score" not in row:
        return (step.sentence,)
    score = "" if row["score"] is None else f", score {row['score']:.6g}"
    tied = f", one of {side.why.tied} tied pairs ({side.why.tie_rule})" if side.why.tied > 1 else ""
    return (*merged(best.parts, best.token), f"  count {row['count']:,}{score}{tied}")


def _candidate(candidate: Candidate, side: DivergenceSide) -> tuple[Cell, ...]:
    """Return the cells of a candidate: its loss, or its parts, count and score if it has one."""
    values = side.values(candidate)
    if "loss" in values:
        return candidate.token, f"loss {values['loss']:.6g}", "removed" if values["goes"] else "kept"
    cells: tuple[Cell, ...] = merged(candidate.parts), f"{values['count']:,}"
    if "worth" in values or "saved" in values:
        cells = *cells, f"score {candidate.worth:,}"
    elif side.scored:
        cells = *cells, f"score {float(candidate.worth):.6g}"
        if "left uses" in values:
            cells = *cells, f"part counts {values['left uses']:,} and {values['right uses']:,}"
    return cells


def difference_sections(pair: PairAgreement) -> Iterator[Section]:
    """Yield the stretches that two columns split differently most often, then such words and their share."""
    counted = pair.agreement
    different = counted.words - counted.same_words
    share = shown(different / counted.words if counted.words else None)
    names = pair_names(pair.a, pair.b)
    words = f"words split differently, {names}: {different:,} of {counted.words:,} ({share})"
    for name, cuts in ((f"most frequent differences, {names}", pair.partings), (words, pair.words)):
        if cuts:
            yield Section(name, rows=tuple(map(_different, cuts)), columns=_CUTS, apart=cuts is pair.partings)


_CUTS = Column(), *(Column(most=_SHORT),) * 3


def _different(cut: DifferentCut) -> Row:
    sides = (segmented(map(to_bytes, side), between="│") for side in (cut.a, cut.b))
    return Row((f"{cut.count:,}", data(cut.text), *sides))


def _text_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield the encodings of a text, and the errors of columns that refuse it.

    Tokens without marks have the same column for the same character, and the last line counts the boundaries.
    """
    encodings, rows = comparison.encodings, list[Row]()
    if encodings:
        alignment = align(list(encodings.values()))
        rows = [Row(((f"{LETTERS[n]}  ", AlignedRow(alignment, row)),)) for row, n in enumerate(encodings)]
        sizes = (f"{LETTERS[n]} {plural(len(tokens), 'token')}" for n, tokens in encodings.items())
        rows.append(Row((("   ", AlignedRow(alignment, None, ", ".join(sizes))),)))
    rows += [Row((f"{LETTERS[n]}  {error}",)) for n, error in comparison.refused.items()]
    if rows:
        yield Section(rows=tuple(rows), columns=(), indent=0, apart=True)


def _found_sections(comparison: Comparison, find: str | None) -> Iterator[Section]:
    """Yield a section of the tokens that contain a text, shared ones and those of only one column, for each
    pair; nothing if `find` is None."""
    rows = []
    for (a, b), (_, bare) in comparison.overlaps.items() if find is not None else ():
        titles = ("common", f"only {LETTERS[a]}", f"only {LETTERS[b]}")
        for title, part in zip(titles, bare.find(find or ""), strict=True):
            more = f" and {len(part) - _MOST_FOUND:,} more" if len(part) > _MOST_FOUND else ""
            head = f"tokens with {find}, {pair_names(a, b)}, {title} ({len(part):,})"
            listed = (": ", segmented(part[:_MOST_FOUND]), more) if part else ()
            rows.append(Row(((head, *listed),)))
    if rows:
        yield Section(rows=tuple(rows), columns=(), indent=0, apart=True)


def pair_names(a: int, b: int) -> str:
    """Return the letters of two columns in words, such as `A and B`."""
    return f"{LETTERS[a]} and {LETTERS[b]}"


# ---- JSON


def _value(comparison: Comparison, find: str | None) -> Json:
    """Return the JSON of a comparison. With `find`, the overlaps also list the tokens that contain this
    text."""
    corpus, divergences = comparison.corpus, comparison.divergences.items()
    return {
        "corpus": {"name": corpus.name, "bytes": corpus.size, "sha256": corpus.sha256},
        "tokenizers": [_column_row(comparison, n) for n in range(len(comparison.columns))],
        "measures": [measure_json(row) for row in comparison.measures],
        "agreement": [agreement_row(pair) for pair in comparison.pairs],
        "vocabulary": [
            _overlap_row(names, name, both[by], find)
            for by, (name, _) in enumerate(_BY) for names, both in comparison.overlaps.items()
        ],
        "first_difference": [_divergence_row(names, spelled) for names, (_, spelled) in divergences],
        "first_difference_by_meaning": [_divergence_row(names, meant) for names, (meant, _) in divergences],
        "text": _text_row(comparison),
    }


def _column_row(comparison: Comparison, n: int) -> Json:
    """Return the JSON row of a column; fields without a tokenizer or a tally are None or empty."""
    column, tally, error = comparison.columns[n], comparison.tally(n), comparison.error(n)
    tokenizer = column.tokenizer
    return {
        "letter": LETTERS[n],
        "name": column.name,
        "recipe": tokenizer.recipe.to_dict() | tokenizer.recipe.shape if tokenizer else None,
        "notes": list(tokenizer.notes) if tokenizer else [],
        "trained_to": column.like,
        "totals": as_row(tally, *_COUNTED) if tally else None,
        "words": {"spaced": as_json(tally.spaced), "bare": as_json(tally.bare)} if tally else None,
        "error": None if error is None else str(error),
    }


def _letters(a: int, b: int) -> Json:
    return {"a": LETTERS[a], "b": LETTERS[b]}


def agreement_row(pair: PairAgreement) -> Json:
    """Return the agreement of two columns as JSON."""
    values = {measure.name: measure.of(pair.agreement) for measure in PAIR_MEASURES}
    return _letters(pair.a, pair.b) | {
        **values,
        "shown": {measure.name: agreement_shown(measure, pair.agreement) for measure in PAIR_MEASURES},
        "totals": as_row(pair.agreement),
        "partings": as_json(pair.partings),
        "different_words": as_json(pair.words),
    }


def _overlap_row(names: Between, by: str, shared: Overlap, find: str | None) -> Json:
    sizes = {name: len(part) for name, part in shared._asdict().items()}
    matching = {} if find is None else {"found": as_row(shared.find(find))}
    jaccard = {"jaccard": shared.jaccard, "shown": {"jaccard": shown(shared.jaccard)}}
    return _letters(*names) | {"by": by} | sizes | jaccard | matching


def _divergence_row(names: Between, divergence: Divergence | None) -> Json:
    if divergence is None:
        return _letters(*names) | {"step": None}
    sides = [_side_row(divergence.a), _side_row(divergence.b)]
    return _letters(*names) | {"step": divergence.step, "sides": sides}


def _side_row(side: DivergenceSide) -> Json:
    """Return the JSON row of a side at the parting. The step is None after its end.

    No ties are counted for a side that replays a file.
    """
    row = None if side.step is None else side.step.row
    if row is not None and "score" in row:
        row = {name: row[name] for name in ("hex", "count", "score")}
    return {
        "step": row, "end": side.why.end, "tied": 0 if side.replays else side.why.tied,
        "tie": side.why.tie_rule or None, "tokens": side.tokens, "vocab_size": side.vocab_size,
        "candidates": [_candidate_row(candidate, side) for candidate in side.chosen_from],
    }


def _candidate_row(candidate: Candidate, side: DivergenceSide) -> Json:
    """Return the JSON row of a candidate. A loss that is not finite is None."""
    values = side.values(candidate)
    if "loss" in values:
        loss = values["loss"]
        finite = loss if isinstance(loss, int | float) and math.isfinite(loss) else None
        return {"hex": candidate.token.hex(), "loss": finite, "goes": bool(values["goes"])}
    parts = [part.hex() for part in (*candidate.parts, candidate.token)]
    return {"hex": parts, "count": values["count"], "score": float(candidate.worth) if side.scored else None}


def _text_row(comparison: Comparison) -> Json | None:
    """Return the JSON row of the text in all columns, with who refused it; None without a text."""
    encodings, refused = comparison.encodings, comparison.refused
    if not encodings and not refused:
        return None
    row: Json = {"refused": [{"tokenizer": LETTERS[n], "error": str(error)} for n, error in refused.items()]}
    if encodings:
        alignment = align(list(encodings.values()))
        cuts = zip(encodings, alignment.cuts, strict=True)
        row |= {
            "text": alignment.text,
            "boundaries": {LETTERS[n]: list(cuts.offsets) for n, cuts in cuts},
            "ruler": [[mark.offset, len(mark.rows)] for mark in alignment.ruler],
            "partings": [[cuts.start, cuts.end] for cuts in alignment.partings],
        }
    return row
