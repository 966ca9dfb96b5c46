"""`tokentui compare`: measures of several tokenizers, their agreement, and where their training diverges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import click

from tokentui import learn
from tokentui.analyze.align import DROPPED, Alignment, align
from tokentui.analyze.compare import (
    PAIR_MEASURES,
    DifferentCut,
    Overlap,
    PairAgreement,
    check_columns,
    compare_on,
    overlap,
    pieces,
)
from tokentui.analyze.divergence import Divergence, first_divergences
from tokentui.analyze.health.health_report import measure_json
from tokentui.analyze.metrics import (
    SYMBOLS,
    WORD_SPLITTERS,
    Conventions,
    MeasureRow,
    Tally,
    rows_of,
    tally,
)
from tokentui.analyze.metrics import shown as number
from tokentui.analyze.report import Json, as_json, as_row, segmented
from tokentui.analyze.results import ONE_BOUNDARY, DivergenceSide
from tokentui.axes import label
from tokentui.cli.options import (
    COLOR,
    CORPUS,
    NAMED,
    PATH,
    QUIET,
    READING,
    RECIPES,
    RUN_OPTIONS,
    OrderedCommand,
    SharedOptions,
    json_option,
    options,
)
from tokentui.cli.output import ProgressBar, merged, shown, working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.files import short_names
from tokentui.core.safetext import safe, safe_line, to_bytes
from tokentui.core.table import TextTable, plural
from tokentui.encode.encoding import Encoding
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.replay.segmentations import MERGES, RANKS
from tokentui.learn.rows import Candidate
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.text.corpus import Corpus
from tokentui.text.count import COVERED, Coverage, WordCounts, coverage

if TYPE_CHECKING:
    from tokentui.cli.chips import Marks

LETTERS = "ABCD"
_SHORT = 24
_ROWS = 5
_MOST_FOUND = 20
_COUNTED = ("bytes", "characters", "tokens", "vocab_size", "used", "unknowns")
_EXACT, _BARE = "exact", "bare"
_BY = {_EXACT: "bytes, marks included", _BARE: "text without marks"}
"""The ways to compare the tokens of two vocabularies."""

Between = tuple[int, int]
"""The numbers of two columns."""
_Found = tuple[Divergence | None, Divergence | None]
"""The first differing step of two columns, by the meaning and by the spelling of merges."""


@click.command(
    cls=OrderedCommand,
    epilog="""\b
Examples:
  tokentui compare -t mine.json -t theirs.json novel.txt
  tokentui compare -r gpt2 -r bert --vocab-size 2000 novel.txt --json
  tokentui compare -r hf-bpe -r subword-nmt --merges 10 sample:hugs
  tokentui compare -r gpt2 -r gpt2 -s tie=largest-pair --merges 50 sample:hugs
  tokentui compare -t mine.json -s encode=longest-suffix -t mine.json novel.txt
  tokentui compare -t a.json -t b.json novel.txt --text 'The crowd' --find ing""",
)
@options(
    CORPUS,
    *NAMED,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file. Files come before recipes."),
    *RECIPES,
    *RUN_OPTIONS,
    *READING,
    click.option("--words", metavar="SPLIT", default="whitespace",
                 help=f"How to split words: {', '.join(WORD_SPLITTERS)} [default: whitespace]."),
    click.option("--alpha", metavar="X", type=float, default=2.5,
                 help="The order of the Renyi entropy [default: 2.5]."),
    click.option("--text", metavar="TEXT", help="Show how each tokenizer encodes TEXT, one under the other."),
    click.option("--find", metavar="TEXT",
                 help="List the tokens that contain TEXT: shared ones, and those of only one tokenizer."),
    click.option("--literal", is_flag=True,
                 help="Find the first differing step by the spelling of merges instead of their meaning."),
    click.option("--formulas", is_flag=True, help="Print the formula of each measure."),
    json_option("Print the same numbers as one JSON row."),
    COLOR,
    QUIET,
)
def command(
    shared: SharedOptions, tokenizers: tuple[str, ...], words: str, alpha: float, text: str | None,
    find: str | None, literal: bool, formulas: bool,
) -> int:
    """Compare two to four tokenizers on CORPUS: files (-t), and recipes (-r) that are trained on it with the
    same limits. -s sets an axis of the recipe before it. Before the first -r, it applies to every recipe, and
    split=... also to files that do not store a split. After a -t, -s encode=... sets how that file encodes,
    so that one vocabulary can be compared with itself.

    Sizes are matched: next to a file, recipes without a size are trained to the size of the first file, and
    the table says so.

    If a tokenizer cannot read the corpus, its row shows the error, the others are still compared, and the
    exit code is 1.
    """
    shared.require_corpus()
    check_columns(len(tokenizers) + len(shared.recipes))
    conventions = Conventions(words, alpha)
    wanted = shared.recipes_and_runs()
    if not wanted:
        shared.refuse_training_options()
    split = str(shared.axes.get("split", ""))
    ways = shared.encode_by_file or ("",) * len(tokenizers)
    columns = [Column(name + (f" encode={way}" if way else ""), load(path, otherwise=split, encode=way))
               for name, path, way in zip(short_names(tokenizers), tokenizers, ways, strict=True)]
    like = columns[0].tokenizer.vocab_size if columns and columns[0].tokenizer else None
    for name, (recipe, run) in zip(shared.recipes, wanted, strict=True):
        sized = run if like is None else run.sized_like(like)
        columns.append(Column(name, training=(recipe, sized), like=None if sized == run else like))
    with working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar)
        counted = WordCounts(corpus)
        for column in columns:
            try:
                if column.tokenizer is not None:
                    column.trainer = _replayed(column, corpus, bar)
                elif column.training is not None:
                    recipe, run = column.training
                    with bar.phase("counting"):
                        counts = counted.of(recipe)
                        column.coverage = coverage(corpus, recipe, counts)
                    trainer = learn.start(corpus, recipe, run, counts)
                    with bar.phase("merging"):
                        learn.run(trainer, run.stops)
                    column.trainer, column.tokenizer = trainer, trainer.tokenizer(run=run.words)
                if column.tokenizer is not None:
                    with bar.phase("measuring"):
                        column.tally = tally(column.tokenizer, corpus, conventions, counted)
            except TokentuiError as error:  # the others go on
                column.error = error
        if not any(column.tally for column in columns):
            raise next(column.error for column in columns if column.error)
        able = [(n, column.tokenizer) for n, column in enumerate(columns)
                if column.tokenizer is not None and column.tally]
        with bar.phase("measuring"):
            pairs = compare_on(able, corpus, conventions, most=_ROWS)
        answer = Answer(corpus, columns, pairs, _overlaps(columns), _divergences(columns, bar), literal,
                        formulas, find, {}, {})
    for n, column in enumerate(columns):
        if column.tokenizer is None:
            continue
        shared.notice(f"{column.name}: {note}" for note in (*column.tokenizer.notes, *column.coverage.notes))
        try:
            if text is not None:
                answer.encodings[n] = column.tokenizer.encode(text)
        except TokentuiError as error:
            answer.refused[n] = error
    marks = shared.marks
    write_answer(shared.as_json, lambda: _row(answer), _tables(answer, marks), "\n\n", marks)
    return 1 if answer.refused or any(column.error for column in columns) else 0


@dataclass(slots=True)
class Column:
    """A tokenizer to compare: loaded from a file, or trained from a recipe.

    Attributes:
        name: The name of the file or recipe.
        tokenizer: The tokenizer; None if training failed.
        trainer: Its training run or replay; None if its tokens have no order.
        tally: The counts of the corpus; None if the tokenizer cannot read it.
        error: The error of training or of reading the corpus.
        training: The recipe and the run, if it is trained.
        like: The size of the first file, if it is trained to that size.
        coverage: How much of the corpus its pre-tokens cover.
    """

    name: str
    tokenizer: Tokenizer | None = None
    trainer: Trainer | None = None
    tally: Tally | None = None
    error: TokentuiError | None = None
    training: tuple[Recipe, Run] | None = None
    like: int | None = None
    coverage: Coverage = COVERED


@dataclass(frozen=True, slots=True)
class Answer:
    """All results of the comparison.

    Attributes:
        corpus: The corpus.
        columns: The columns.
        pairs: The agreement of each pair of columns that can read the corpus.
        overlaps: The shared tokens of each pair of columns, by exact bytes and by text without marks.
        divergences: The first differing step of each pair of columns.
        literal: True to print divergences by spelling.
        formulas: True to print the formulas of the measures.
        find: The text of `--find`, or None.
        encodings: The encodings of `--text`, by the numbers of the columns.
        refused: The errors of columns that cannot encode it.
    """

    corpus: Corpus
    columns: Sequence[Column]
    pairs: Sequence[PairAgreement]
    overlaps: Mapping[tuple[int, int, str], Overlap]
    divergences: Mapping[Between, _Found]
    literal: bool
    formulas: bool
    find: str | None
    encodings: dict[int, Encoding]
    refused: dict[int, TokentuiError]

    @property
    def rows(self) -> tuple[MeasureRow, ...]:
        """The measures of the columns."""
        return rows_of([column.tally for column in self.columns])


def _replayed(column: Column, corpus: Corpus, bar: ProgressBar) -> Trainer | None:
    """Replay the merges of a tokenizer file, and store in `column` how much of the corpus it covers. Return
    None if the file has no order of merges or cannot read the corpus."""
    tokenizer = column.tokenizer
    if tokenizer is None:
        return None
    try:
        with bar.phase("counting"):
            pretokens = Pretokens(tokenizer)
            words, fixed = pretokens.count(corpus)
            column.coverage = pretokens.coverage(corpus, words, fixed)
        with bar.phase("encoding"):
            tokens = ReplayTrainer(tokenizer, words, fixed=fixed)
    except TokentuiError:
        return None
    if tokens.order.kind not in (MERGES, RANKS):
        return None
    learn.jump(tokens, tokens.computed)
    return tokens


def _overlaps(columns: Sequence[Column]) -> dict[tuple[int, int, str], Overlap]:
    """Return the shared tokens of each pair of columns, by exact bytes and by text without marks."""
    overlaps: dict[tuple[int, int, str], Overlap] = {}
    for by in (_EXACT, _BARE):
        pieces_by_column = {n: [piece for _, piece in pieces(column.tokenizer, by == _BARE)]
                for n, column in enumerate(columns) if column.tokenizer is not None}
        overlaps |= {
            (a, b, by): overlap(pieces_by_column[a], pieces_by_column[b])
            for a, b in combinations(pieces_by_column, 2)
        }
    return overlaps


def _divergences(columns: Sequence[Column], bar: ProgressBar) -> dict[Between, _Found]:
    """Return the first differing step of each pair of columns, up to the end of the shorter run."""
    divergences = {}
    trainers = [(n, column.trainer) for n, column in enumerate(columns) if column.trainer is not None]
    for (n, a), (m, b) in combinations(trainers, 2):
        # One that ended earlier is asked for one step more: either it has none, or its stop came first.
        limit = min(a.number, b.number) + (a.number != b.number)
        with bar.phase("comparing"):
            divergences[n, m] = first_divergences(a, b, limit, rows=_ROWS)
    return divergences


# ---- tables


def _tables(answer: Answer, marks: Marks | None) -> Iterator[TextTable]:
    """Yield the text output as tables. `marks` says how tokens are marked; None if they are not."""
    corpus = answer.corpus
    rows = [[LETTERS[n], *_about(column)] for n, column in enumerate(answer.columns)]
    yield TextTable(rows, f"corpus  {safe(corpus.name)}, {corpus.size:,} bytes")
    yield from _measures(answer)
    rows = [[pair_names(pair.a, pair.b), *(number(measure.of(pair.agreement)) for measure in PAIR_MEASURES)]
            for pair in answer.pairs]
    head = ["boundaries (second against first)", *(measure.title for measure in PAIR_MEASURES)]
    yield TextTable(rows, head=head if rows else (), right=range(-len(PAIR_MEASURES), 0))
    rows = [[pair_names(a, b), _BY[by], *(f"{len(part):,}" for part in shared), number(shared.jaccard)]
            for (a, b, by), shared in answer.overlaps.items()]
    head = ["vocabularies", "compared by", "common", "only the first", "only the second", "Jaccard"]
    yield TextTable(rows, head=head if rows else (), right=range(-4, 0))
    yield TextTable(notes=[line for names in answer.divergences for line in _divergence(answer, names)])
    yield TextTable(notes=[line for pair in answer.pairs for line in differing(pair, marks)])
    yield TextTable(notes=list(_encodings(answer, marks)))
    yield TextTable(notes=list(_found(answer)))


def _about(column: Column) -> list[str]:
    tokenizer, name = column.tokenizer, safe(column.name)
    if tokenizer is None or column.error is not None:
        return [name, safe_line(str(column.error))]
    like = "" if column.like is None else f" (trained to {column.like:,}, the size of A)"
    return [name, safe(label(tokenizer.recipe)), f"{tokenizer.vocab_size:,} ids{like}"]


def _measures(answer: Answer) -> Iterator[TextTable]:
    letters = LETTERS[: len(answer.columns)]
    rows = []
    for row in answer.rows:
        measure = row.measure
        details = [measure.formula, measure.unit, measure.better] if answer.formulas else []
        figures = ("" if figure is None else figure.shown for figure in row.figures)
        rows.append([measure.title, *details, safe(row.under), *figures])
    more = ["formula", "unit", "better"] if answer.formulas else []
    yield TextTable(rows, head=["measure", *more, "convention", *letters], right=range(-len(letters), 0))
    if answer.formulas:
        yield TextTable(list(SYMBOLS.items()))


def _divergence(answer: Answer, names: Between) -> Iterator[str]:
    """Yield the lines on the first differing step of two columns."""
    meant, spelled = answer.divergences[names]
    divergence, other = (spelled, meant) if answer.literal else (meant, spelled)
    step, other_step = (
        "none" if difference is None else f"{difference.step:,}" for difference in (divergence, other)
    )
    yield f"first differing step, {pair_names(*names)}: {step}"
    if step != other_step:
        by_spelling = f"{ONE_BOUNDARY}; as spelled: {other_step} (--literal)"
        yield f"  by meaning: {other_step}" if answer.literal else f"  {by_spelling}"
    if divergence is not None:
        for n, side in zip(names, (divergence.a, divergence.b), strict=True):
            yield f"  {LETTERS[n]}  {_decided(side)}"
            rows = [_candidate(difference, side) for difference in side.chosen_from]
            yield from TextTable(rows, indent=5).lines()


def _decided(side: DivergenceSide) -> str:
    step = side.step
    if step is None:
        return f"has ended ({side.why.end})"
    best = side.why.best
    row = step.row
    if best is None or "score" not in row:
        return step.sentence
    score = "" if row["score"] is None else f", score {row['score']:.6g}"
    tied = f", one of {side.why.tied} tied pairs ({side.why.tie_rule})" if side.why.tied > 1 else ""
    return f"{merged(best.parts, best.token)}  count {row['count']:,}{score}{tied}"


def _candidate(candidate: Candidate, side: DivergenceSide) -> list[str]:
    values = side.values(candidate)
    if "loss" in values:
        return [shown(candidate.token), f"loss {values['loss']:.6g}", "removed" if values["goes"] else "kept"]
    cells = [merged(candidate.parts), f"{values['count']:,}"]
    if "worth" in values or "saved" in values:
        cells.append(f"score {candidate.worth:,}")
    elif side.scored:
        cells.append(f"score {float(candidate.worth):.6g}")
        if "left uses" in values:
            cells.append(f"part counts {values['left uses']:,} and {values['right uses']:,}")
    return cells


def _encodings(answer: Answer, marks: Marks | None) -> Iterator[str]:
    """Yield the encodings of a text, and the errors of columns that refuse it.

    Unmarked tokens have the same column for the same character, and the last line counts the boundaries. If
    tokens are marked, what the tokenizers split differently is underlined.
    """
    if answer.encodings:
        alignment = align(list(answer.encodings.values()))
        for row, n in enumerate(answer.encodings):
            head = f"{LETTERS[n]}  "
            for line in [alignment.line(row)] if marks is None else _marked_row(alignment, row, marks):
                yield f"{head}{line}".rstrip()
                head = " " * len(head)
        if marks is None:
            yield f"   {alignment.counts()}".rstrip()
        else:
            sizes = [f"{LETTERS[n]} {plural(len(tokens), 'token')}" for n, tokens in answer.encodings.items()]
            underlined = marks.underlines and alignment.partings
            yield f"   {', '.join(sizes)}{'; underlined: split differently' if underlined else ''}"
    for n, error in answer.refused.items():
        yield f"{LETTERS[n]}  {safe_line(error)}"


def _marked_row(alignment: Alignment, row: int, marks: Marks) -> Iterator[str]:
    """Yield the lines of a row of marked tokens."""
    from tokentui.cli.chips import Shown

    tokens = []
    for cell in alignment.rows[row]:
        text = alignment.text[cell.start : cell.end]
        parting = alignment.before(cell.end)
        tokens.append(Shown(
            shown(text) if cell.of == 1 else cell.text.strip(" "), cell.start, ends_line="\n" in text,
            underlined=parting is not None and parting.end > cell.start, is_token=cell.token != DROPPED,
        ))
    yield from marks.lines(tokens, indent=3)


def _found(answer: Answer) -> Iterator[str]:
    if answer.find is None:
        return
    for (a, b, by), shared in answer.overlaps.items():
        if by == _EXACT:
            continue
        titles = ("common", f"only {LETTERS[a]}", f"only {LETTERS[b]}")
        for title, part in zip(titles, shared.find(answer.find), strict=True):
            more = f" and {len(part) - _MOST_FOUND:,} more" if len(part) > _MOST_FOUND else ""
            listed = " ".join(map(shown, part[:_MOST_FOUND]))
            head = f"tokens with {safe(answer.find)}, {pair_names(a, b)}, {title} ({len(part):,})"
            yield f"{head}: {listed}{more}".rstrip(": ")


# ---- rows


def _row(answer: Answer) -> Json:
    """Return the JSON row."""
    corpus, divergences = answer.corpus, answer.divergences.items()
    return {
        "corpus": {"name": corpus.name, "bytes": corpus.size, "sha256": corpus.sha256},
        "tokenizers": [_column_row(answer, n) for n in range(len(answer.columns))],
        "measures": [measure_json(row) for row in answer.rows],
        "agreement": [agreement_row(pair) for pair in answer.pairs],
        "vocabulary": [
            _overlap_row(a, b, by, shared, answer.find) for (a, b, by), shared in answer.overlaps.items()
        ],
        "first_difference": [_divergence_row(names, spelled) for names, (_, spelled) in divergences],
        "first_difference_by_meaning": [_divergence_row(names, meant) for names, (meant, _) in divergences],
        "text": _text_row(answer),
    }


def _column_row(answer: Answer, n: int) -> Json:
    column = answer.columns[n]
    tokenizer, tally, error = column.tokenizer, column.tally, column.error
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


def _overlap_row(a: int, b: int, by: str, shared: Overlap, find: str | None) -> Json:
    sizes = {name: len(part) for name, part in shared._asdict().items()}
    matching = {} if find is None else {"found": as_row(shared.find(find))}
    jaccard = {"jaccard": shared.jaccard, "shown": {"jaccard": number(shared.jaccard)}}
    return pair_letters(a, b) | {"by": by} | sizes | jaccard | matching


def _divergence_row(names: Between, divergence: Divergence | None) -> Json:
    if divergence is None:
        return pair_letters(*names) | {"step": None}
    sides = [_side_row(divergence.a), _side_row(divergence.b)]
    return pair_letters(*names) | {"step": divergence.step, "sides": sides}


def _side_row(side: DivergenceSide) -> Json:
    row = None if side.step is None else side.step.row
    if row is not None and "score" in row:
        row = {name: row[name] for name in ("hex", "count", "score")}
    return {
        "step": row, "end": side.why.end, "tied": 0 if side.replays else side.why.tied,
        "tie": side.why.tie_rule or None, "tokens": side.tokens, "vocab_size": side.vocab_size,
        "candidates": [_candidate_row(candidate, side) for candidate in side.chosen_from],
    }


def _candidate_row(candidate: Candidate, side: DivergenceSide) -> Json:
    values = side.values(candidate)
    if "loss" in values:
        loss = values["loss"]
        finite = loss if isinstance(loss, int | float) and math.isfinite(loss) else None
        return {"hex": candidate.token.hex(), "loss": finite, "goes": bool(values["goes"])}
    parts = [part.hex() for part in (*candidate.parts, candidate.token)]
    return {"hex": parts, "count": values["count"], "score": float(candidate.worth) if side.scored else None}


def _text_row(answer: Answer) -> Json | None:
    encodings, refused = answer.encodings, answer.refused
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


# ---- agreement


def differing(pair: PairAgreement, marks: Marks | None = None) -> Iterator[str]:
    """Yield the stretches that two columns split differently most often, then such words and their share."""
    yield from _cuts(f"most frequent differences, {pair_names(pair.a, pair.b)}", pair.partings, marks)
    agreement = pair.agreement
    different = agreement.words - agreement.same_words
    share = number(different / agreement.words if agreement.words else None)
    title = f"words split differently, {pair_names(pair.a, pair.b)}: "
    title += f"{different:,} of {agreement.words:,} ({share})"
    yield from _cuts(title, pair.words, marks)


def _cuts(title: str, differences: Sequence[DifferentCut], marks: Marks | None) -> list[str]:
    """Return a table of differently split texts; empty if there are none."""
    rows = [
        [f"{difference.count:,}", _short([difference.text]), _short(difference.a, marks),
         _short(difference.b, marks)]
        for difference in differences
    ]
    return TextTable(rows, title, indent=2).lines() if rows else []


def agreement_row(pair: PairAgreement) -> Json:
    """Return the agreement of two columns as JSON."""
    agreement = pair.agreement
    values = {measure.name: measure.of(agreement) for measure in PAIR_MEASURES}
    return pair_letters(pair.a, pair.b) | {
        **values,
        "shown": {name: number(value) for name, value in values.items()},
        "totals": as_row(agreement),
        "partings": as_json(pair.partings),
        "different_words": as_json(pair.words),
    }


def pair_names(a: int, b: int) -> str:
    """Return the letters of two columns in words, such as `A and B`."""
    return f"{LETTERS[a]} and {LETTERS[b]}"


def pair_letters(a: int, b: int) -> Json:
    """Return the letters of two columns as JSON."""
    return {"a": LETTERS[a], "b": LETTERS[b]}


def _short(tokens: Sequence[str], marks: Marks | None = None) -> str:
    """Join tokens into a clipped text."""
    texts = list(map(shown, tokens))
    if marks is not None:
        return marks.joined(texts, segmented(map(to_bytes, tokens)).starts, _SHORT)
    line = "│".join(texts)
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"
