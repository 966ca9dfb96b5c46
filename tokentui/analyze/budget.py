"""The budget of a vocabulary: the tokens that a corpus has at each size, the knee of that curve, and the size
at which a target is met."""

from __future__ import annotations

import csv
import io
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tokentui import learn
from tokentui.analyze.divergence import as_trained
from tokentui.analyze.metrics import ratio, shown
from tokentui.analyze.report import Column, Json, Report, Row, Section, as_row
from tokentui.core.chart import Axis, Chart, Mark, Series
from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay import ReplayTrainer
from tokentui.recipe import Recipe, Run
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

if TYPE_CHECKING:
    from tokentui.analyze.results import Bounds

KNEE = "where ln(tokens) is furthest below its chord, both axes scaled to 0..1 (Satopaa et al. 2011)"
MORE_IDS, LEAST_SAVED = 1_000, 0.01
"""Ids stop paying at the first size from which `MORE_IDS` more save less than `LEAST_SAVED` of the tokens."""


class Costs(NamedTuple):
    """The units in which the cost of a size is reported. None leaves a unit out.

    Attributes:
        dimensions: The numbers of a row of the embedding.
        matrices: The embedding matrices: 1 where input and output share theirs, 2 where they do not.
        training_bytes: The bytes of the text that a model is trained on.
        context: The tokens of a context window.
        price: The price of a million tokens.
    """

    dimensions: int | None = None
    matrices: int = 1
    training_bytes: int | None = None
    context: int | None = None
    price: float | None = None


class SizeRow(NamedTuple):
    """A corpus at one size of the vocabulary.

    Attributes:
        size: The ids.
        step: The step that has them.
        tokens: The tokens of the corpus.
        bytes_per_token: Its bytes over its tokens; None for an empty corpus.
        tokens_per_document: Its tokens over its documents; None for counted words.
        saved_per_id: The tokens that each id after the previous row saves; None in the first row.
        embedding_parameters: The numbers in the embedding.
        training_tokens: The tokens of the training text, if it is like the corpus.
        context_bytes: The bytes of text in a context window, if it is like the corpus.
        cost: The price of the training text, or of the corpus if no training text is given.
        bound: No vocabulary of this size has fewer tokens; None if it was not asked for.
        most_saved: The greatest share of the tokens that another vocabulary of this size could save.
    """

    size: int
    step: int
    tokens: int
    bytes_per_token: float | None
    tokens_per_document: float | None
    saved_per_id: float | None
    embedding_parameters: int | None
    training_tokens: int | None
    context_bytes: int | None
    cost: float | None
    bound: int | None = None
    most_saved: float | None = None


class BudgetTarget(NamedTuple):
    """A target of a vocabulary.

    Attributes:
        rate: The maximum number of tokens per byte; None for a price.
        dimensions: The parameters that an id adds to the embedding; 0 for a rate.
        worth: The tokens of the corpus that one parameter is worth; 0 for a rate.
    """

    rate: float | None = None
    dimensions: int = 0
    worth: float = 0.0

    @classmethod
    def parse(cls, text: str) -> BudgetTarget:
        """Parse a target: `0.25` is tokens per byte. `768:0.01` is an embedding dimension and the price of
        one parameter in tokens.

        Raises:
            TokentuiError: It is neither, or out of range.

        >>> BudgetTarget.parse("0.25").rate, BudgetTarget.parse("768:0.01").dimensions
        (0.25, 768)
        """
        size, colon, worth = text.rpartition(":")
        try:
            target = cls(None, int(size), float(worth)) if colon else cls(float(text))
        except ValueError:
            target = cls(math.nan)
        values = (target.dimensions, target.worth) if target.rate is None else (target.rate,)
        if not all(math.isfinite(number) and number > 0 for number in values):
            hint = "for example 0.25, or 768:0.01 for 768 dimensions at 0.01 tokens per parameter"
            raise TokentuiError("no target", f"target={text}", hint)
        return target

    @property
    def about(self) -> str:
        """Describe the target in a few words."""
        if self.rate is not None:
            return f"at most {self.rate:g} tokens per byte"
        price = f"{self.dimensions:,} dimensions at {self.worth:g} tokens per parameter"
        return f"the smallest sum of tokens and the price of the ids, {price}"


@dataclass(frozen=True, slots=True)
class BudgetCurve:
    """A corpus at each size of a vocabulary.

    Attributes:
        corpus: The name of the corpus.
        bytes: Its bytes, as UTF-8.
        documents: Its documents; 0 for counted words.
        tokens: Its tokens after each step, from step 0 on.
        knee: The step of the knee; None if there is none.
        met: The first step that meets the target; None if none does, or without a target.
    """

    corpus: str
    bytes: int
    documents: int
    tokens: tuple[int, ...]
    knee: int | None
    met: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a vocabulary.

    Attributes:
        sizes: The ids after each step, from step 0 on, specials counted.
        curves: A curve for each corpus.
        target: The target; None without one.
    """

    sizes: tuple[int, ...]
    curves: tuple[BudgetCurve, ...]
    target: BudgetTarget | None


def budget(tokenizer: Tokenizer, corpora: Sequence[Corpus], target: BudgetTarget | None = None) -> Budget:
    """Count the tokens of corpora at each vocabulary size, by replaying the steps of the tokenizer.

    Args:
        tokenizer: The tokenizer.
        corpora: One or more corpora.
        target: A target.

    Raises:
        TokentuiError: The tokenizer does not make its tokens one by one, or refuses a corpus.
        Cancelled: The job is cancelled.
    """
    sizes: tuple[int, ...] = ()
    curves = []
    for corpus in corpora:
        words, fixed = Pretokens(tokenizer).count(corpus)
        trainer = ReplayTrainer(tokenizer, words, fixed=fixed)
        learn.jump(trainer, trainer.computed)
        steps = range(trainer.number + 1)
        sizes = tuple(map(trainer.size_at, steps))
        tokens = tuple(map(trainer.tokens_at, steps))
        met = None if target is None else met_at(target, sizes, tokens, corpus.size)
        documents = len(corpus.texts)
        curves.append(BudgetCurve(corpus.name, corpus.size, documents, tokens, knee(sizes, tokens), met))
    return Budget(sizes, tuple(curves), target)


def trained_budget(
    corpus: Corpus, recipe: Recipe, run: Run, words: Words | None = None
) -> tuple[Budget, Tokenizer]:
    """Train to the end of a run, and count the tokens of the corpus at each size on the way.

    A training by pruning goes from many ids to few: the sizes of its steps fall.

    Args:
        corpus: The corpus.
        recipe: The recipe.
        run: The run with its stops.
        words: The counted pre-tokens of the corpus; None to count them.

    Returns:
        The budget, and the tokenizer of the last step.

    Raises:
        TokentuiError: The recipe cannot be trained, or its tokens cannot be counted size by size.
        Cancelled: The job is cancelled.
    """
    trainer = learn.start(corpus, recipe, run, words)
    learn.run(trainer, run.stops)
    tokenizer = trainer.tokenizer()
    if not as_trained(recipe):
        return budget(tokenizer, [corpus]), tokenizer
    steps = range(trainer.number + 1)
    sizes, tokens = tuple(map(trainer.size_at, steps)), tuple(map(trainer.tokens_at, steps))
    order = by_size(sizes)
    bend = knee([sizes[step] for step in order], [tokens[step] for step in order])
    curve = BudgetCurve(
        corpus.name, corpus.size, len(corpus.texts), tokens, None if bend is None else order[bend], None
    )
    return Budget(sizes, (curve,), None), tokenizer


def by_size(sizes: Sequence[int]) -> list[int]:
    """Return the last step of each size, from the smallest size.

    >>> by_size([9, 9, 4, 6])
    [2, 3, 1]
    """
    last = {size: step for step, size in enumerate(sizes)}
    return [last[size] for size in sorted(last)]


def knee(sizes: Sequence[int], tokens: Sequence[int]) -> int | None:
    """Return the step at the knee of a curve. With ln(tokens) over ids, both scaled to 0..1, the knee is the
    point that is furthest below the chord from the first point to the last. The first one wins a tie.

    Return None if no point is below the chord, the tokens do not fall or end at 0, or the ids do not grow.

    Source: Satopaa et al., "Finding a 'Kneedle' in a Haystack", 2011, without smoothing.

    >>> knee([0, 1, 2, 3, 4], [1000, 100, 50, 40, 36])
    1
    >>> knee([5, 6], [7, 7]) is None
    True
    """
    if not tokens or tokens[-1] >= tokens[0] or not tokens[-1] or sizes[-1] == sizes[0]:
        return None
    top, fall = math.log(tokens[0]), math.log(tokens[0]) - math.log(tokens[-1])
    wide = sizes[-1] - sizes[0]

    def below(step: int) -> float:
        return (top - math.log(tokens[step])) / fall - (sizes[step] - sizes[0]) / wide

    best = max(range(len(tokens)), key=below)
    return best if below(best) > 0 else None


def paid_off(sizes: Sequence[int], tokens: Sequence[int]) -> int | None:
    """Return the first step from which `MORE_IDS` more ids save less than `LEAST_SAVED` of the tokens.

    The sizes grow. None if there is no such step, or the curve ends before it has that many more ids.

    >>> paid_off([256, 300, 1256, 1300], [1000, 900, 896, 895])
    1
    """
    for step, (size, count) in enumerate(zip(sizes, tokens, strict=True)):
        later = bisect_right(sizes, size + MORE_IDS) - 1
        if sizes[-1] < size + MORE_IDS:
            return None
        if count - tokens[later] < LEAST_SAVED * count:
            return step
    return None


def met_at(target: BudgetTarget, sizes: Sequence[int], tokens: Sequence[int], size: int) -> int | None:
    """Return the first step that meets a target; None if no step has a rate as low as wanted.

    A price is met at the step with the least sum of the tokens and of the price, in tokens, of the parameters
    that the embedding has gained since step 0.

    Args:
        target: The target.
        sizes: The ids after each step.
        tokens: The tokens after each step.
        size: The bytes of the corpus.
    """
    if target.rate is not None:
        rate = target.rate
        return next((step for step, count in enumerate(tokens) if count <= rate * size), None)
    price = target.dimensions * target.worth
    return min(range(len(tokens)), key=lambda step: tokens[step] + price * (sizes[step] - sizes[0]))


def step_of(sizes: Sequence[int], size: int) -> int:
    """Return the step with the most ids up to `size`, the last of them.

    Raises:
        TokentuiError: The size is below the first or above the last number of ids.
    """
    if size > max(sizes):
        hint = "train further, or leave it out"
        raise TokentuiError(f"the vocabulary ends at {max(sizes):,} ids", f"--sizes {size}", hint)
    if size < min(sizes):
        hint = "name larger sizes: 32k is 32,000, and commas separate sizes"
        raise TokentuiError(f"the vocabulary begins with {min(sizes):,} ids", f"--sizes {size}", hint)
    return max((ids, step) for step, ids in enumerate(sizes) if ids <= size)[1]


def read_sizes(text: str, where: str) -> list[int]:
    """Return the sizes that a text lists with commas between them; none for an empty text.

    Args:
        text: The text.
        where: Where it stands, for errors.

    Raises:
        TokentuiError: One is no whole number.

    >>> read_sizes("8k, 32k", "sizes")
    [8000, 32000]
    """
    sizes = []
    for word in text.split(",") if text.strip() else ():
        if not (size := read_count(word)):
            raise TokentuiError(f"not a size: {word[:40]!r}", where, "for example 8k,16k,32k")
        sizes.append(size)
    return sizes


def size_rows(budget: Budget, curve: BudgetCurve, steps: Sequence[int], costs: Costs) -> list[SizeRow]:
    """Return a row for each of some steps, in their order. Each saves tokens against the row before it. Costs
    that are None leave their fields None."""
    rows: list[SizeRow] = []
    for step in steps:
        size, tokens = budget.sizes[step], curve.tokens[step]
        before = rows[-1] if rows else None
        bytes_per_token = ratio(curve.bytes, tokens)
        trained = context = None
        if costs.training_bytes is not None and curve.bytes:
            trained = round(costs.training_bytes * tokens / curve.bytes)
        if costs.context is not None and bytes_per_token is not None:
            context = round(costs.context * bytes_per_token)
        paid = trained if costs.training_bytes is not None else tokens
        rows.append(SizeRow(
            size, step, tokens, bytes_per_token, ratio(tokens, curve.documents),
            None if before is None else ratio(before.tokens - tokens, size - before.size),
            None if costs.dimensions is None else size * costs.dimensions * costs.matrices,
            trained, context, None if costs.price is None or paid is None else paid * costs.price / 10**6,
        ))
    return rows


# ---- the report


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Find the budget of a vocabulary on a corpus, which must not be None, and report on it."""
    assert corpus is not None
    return report(budget(tokenizer, [corpus]))


def report(found: Budget) -> Report:
    """Report on the budget of a vocabulary: a table of sizes, the knees, and where the target is met."""
    sections = [
        Section("second" if n else "corpus", f"{curve.corpus}, {curve.bytes:,} bytes")
        for n, curve in enumerate(found.curves)
    ]
    sections.append(replace(_table(found), picture=picture(found)))
    sections += _places("knee", found, [curve.knee for curve in found.curves], "none", KNEE)
    if found.target is not None:
        met = [curve.met for curve in found.curves]
        sections += _places("target", found, met, "not met", found.target.about)
    value = {
        "sizes": found.sizes, "target": found.target,
        "curves": [_curve_json(found, curve) for curve in found.curves],
    }
    return Report("Budget", tuple(sections), value)


def picture(found: Budget, bounds: Sequence[Bounds] = ()) -> Chart:
    """Return the tokens at each size as a chart, with the knees and the sizes that meet the target.

    Args:
        found: The budget.
        bounds: The bounds of each corpus at some sizes; none to leave them out.
    """
    order = by_size(found.sizes)
    sizes, several = tuple(found.sizes[step] for step in order), len(found.curves) > 1
    series, marks = [], []
    for n, curve in enumerate(found.curves):
        role = _ROLES[n % len(_ROLES)]
        tokens = tuple(curve.tokens[step] for step in order)
        series.append(Series(sizes, tokens, name=curve.corpus if several else "tokens", role=role))
        places = ((curve.knee, "knee"), (paid_off_step(found, curve), "< 1 %"), (curve.met, "target"))
        marks += [Mark(found.sizes[step], name, role) for step, name in places if step is not None]
        if bounds:
            known = {found.sizes[step_of(found.sizes, one.vocab_size)]: one.bound for one in bounds[n].sizes}
            name = f"bound of {curve.corpus}" if several else "bound"
            below = sorted(known)
            series.append(Series(tuple(below), tuple(known[size] for size in below), name=name, role=role,
                dashed=True))
    at = next((mark.x for mark in marks), sizes[-1] if sizes else None)
    return Chart("tokens at each vocabulary size", Axis("ids", log=True), Axis("tokens"), tuple(series),
        tuple(marks), at, 0 if len(series) > 1 else 0.5, _ABOUT)


_ABOUT = (
    "The tokens of the corpus at each size of the vocabulary.",
    "The knee is the size at which the curve bends most: from there on, ids save less and less. From < 1 % "
    "on, 1,000 more ids save less than 1 % of the tokens. A dashed curve is the bound that no vocabulary can "
    "go below.",
    "Try: press end: the last ids, and how many tokens fewer than at half of them.",
)
"""The help of the picture."""
_ROLES = ("primary", "accent", "success", "warning")
"""The styles of the curves."""


def size_csv(corpora: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a table as CSV with a row for each corpus and size.

    Args:
        corpora: The field `corpora` of the value of `size_report`.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("corpus", *SizeRow._fields))
    for corpus in corpora:
        writer.writerows((corpus["corpus"], *row.values()) for row in corpus["sizes"])
    return stream.getvalue().encode("utf-8", "surrogateescape")


def paid_off_step(found: Budget, curve: BudgetCurve) -> int | None:
    """Return the step of a curve that `paid_off` finds, with its sizes in order."""
    order = by_size(found.sizes)
    place = paid_off([found.sizes[step] for step in order], [curve.tokens[step] for step in order])
    return None if place is None else order[place]


def default_sizes(found: Budget) -> set[int]:
    """Return the sizes of a table for which none are named: the powers of two, the first and the last one."""
    least, last = min(found.sizes), max(found.sizes)
    return {least, last, *(n for p in range(last.bit_length()) if (n := 1 << p) >= least)}


def size_report(
    found: Budget, sizes: Sequence[int], costs: Costs, bounds: Sequence[Bounds] = ()
) -> Report:
    """Report on the cost of a vocabulary at some sizes, corpus by corpus.

    Args:
        found: The budget.
        sizes: The sizes; none for the powers of two, the first and the last one.
        costs: The units of the costs.
        bounds: The bounds of each corpus at these sizes; none to leave them out.

    Raises:
        TokentuiError: The vocabulary never has one of the sizes.
    """
    steps = sorted({step_of(found.sizes, size) for size in sizes or default_sizes(found)})
    sections: list[Section] = []
    curves: list[Json] = []
    chart = picture(found, bounds)
    if len(found.curves) > 1:
        sections.append(Section("curves", picture=chart))
    for n, curve in enumerate(found.curves):
        last_curve = curve is found.curves[-1]
        rows = size_rows(found, curve, steps, costs)
        if bounds:
            known = {size.vocab_size: size for size in bounds[n].sizes}
            rows = [row._replace(
                bound=known[row.size].bound, most_saved=known[row.size].most_saved
            ) for row in rows]
        sections.append(Section("corpus", f"{curve.corpus}, {curve.bytes:,} bytes"))
        table = _size_table(rows, curve.documents > 1)
        sections.append(table if len(found.curves) > 1 else replace(table, picture=chart))
        sections += _places("knee", found, [curve.knee], "none", KNEE if last_curve else "")
        if found.target is not None:
            about = found.target.about if last_curve else ""
            sections += _places("target", found, [curve.met], "not met", about)
        whole = _curve_json(found, curve)
        curves.append({name: field for name, field in whole.items() if name != "tokens"}
                      | {"sizes": [as_row(row) for row in rows]})
    notes = _notes(costs)
    if bounds:
        notes += (
            "bound: no vocabulary of this size has fewer tokens, with these pre-tokens and units; "
            "saveable: what any could save at most",
        )
    if notes:
        sections.append(Section("costs", notes=notes))
    return Report("Budget", tuple(sections), {"target": found.target, "costs": costs, "corpora": curves})


_PERCENT = -1
"""In place of the digits: a share is shown in percent."""
_UNITS: tuple[tuple[str, str, int | None], ...] = (
    ("size", "ids", None), ("tokens", "tokens", None), ("bytes_per_token", "bytes/token", 2),
    ("bound", "bound", None), ("most_saved", "saveable", _PERCENT),
    ("saved_per_id", "saved/id", 2), ("tokens_per_document", "tokens/document", 1),
    ("embedding_parameters", "embedding", None), ("training_tokens", "training tokens", None),
    ("context_bytes", "bytes in context", None), ("cost", "cost", 2),
)
"""The columns of a table of sizes: field, title, and the digits of a fraction."""


def _size_table(rows: Sequence[SizeRow], documents: bool) -> Section:
    """Return a table of rows with a column for each unit that any row has. Tokens per document are left out
    unless `documents` is True."""
    units = [
        unit for unit in _UNITS
        if any(getattr(row, unit[0]) is not None for row in rows)
        and (documents or unit[0] != "tokens_per_document")
    ]
    cells = []
    for row in rows:
        fields = [(getattr(row, name), digits) for name, _, digits in units]
        cells.append(Row(tuple(
            "" if field is None else f"{field:.2%}" if digits == _PERCENT else f"{field:,.{digits or 0}f}"
            for field, digits in fields
        )))
    columns = tuple(Column(title, "right", -n) for n, (_, title, _) in enumerate(units))
    return Section("sizes", "", tuple(cells), columns)


def _notes(costs: Costs) -> tuple[str, ...]:
    """Return a sentence for each unit of the costs that is not None."""
    notes = []
    if costs.dimensions is not None:
        shared = "shared by input and output" if costs.matrices == 1 else "for each of input and output"
        notes.append(f"embedding: {costs.dimensions:,} parameters for each id, {shared}")
    if costs.training_bytes is not None:
        notes.append(f"training tokens: for {costs.training_bytes:,} bytes of text like the corpus")
    if costs.context is not None:
        notes.append(f"bytes in context: the text that fits in {costs.context:,} tokens")
    if costs.price is not None:
        paid = "the corpus" if costs.training_bytes is None else "the training tokens"
        notes.append(f"cost: for {paid}, at {costs.price:g} per million tokens")
    return tuple(notes)


def _places(
    name: str, found: Budget, steps: Sequence[int | None], none: str, about: str
) -> Iterator[Section]:
    """Yield a section for each curve with the size and number of a step of it.

    Args:
        name: The name of the sections.
        found: The budget.
        steps: The step on each curve; None if it has none.
        none: The text for None.
        about: A note below the last section; empty for none.
    """
    for n, step in enumerate(steps):
        place = none if step is None else f"{found.sizes[step]:,} ids, step {step:,}"
        notes = (about,) if about and n == len(steps) - 1 else ()
        yield Section(f"{name} of the second" if n else name, place, notes=notes)


def _table(found: Budget) -> Section:
    """Return a table of the tokens at steps that are powers of two, at knees and at targets, with columns for
    each corpus."""
    rows = []
    before: int | None = None
    for step in _table_steps(found):
        cells = [f"{step:,}", f"{found.sizes[step]:,}"]
        for curve in found.curves:
            tokens = curve.tokens[step]
            ids = 0 if before is None else found.sizes[step] - found.sizes[before]
            saved = None if before is None else ratio(curve.tokens[before] - tokens, ids)
            each = "" if saved is None else shown(saved, 2)
            cells += [f"{tokens:,}", shown(ratio(curve.bytes, tokens), 2), each]
        rows.append(Row(tuple(cells)))
        before = step
    words = ("tokens", "bytes/token", "saved/id")
    titles = ["step", "ids", *words, *(f"{word} 2" for word in words if len(found.curves) > 1)]
    columns = tuple(Column(title, "right", -n) for n, title in enumerate(titles))
    return Section("sizes", "", tuple(rows), columns)


def _table_steps(found: Budget) -> list[int]:
    """Return the steps of the table: 0, the powers of two, the last, and those of knees and targets."""
    last = len(found.sizes) - 1
    steps = {0, last, *(1 << power for power in range(last.bit_length()))}
    steps.update(step for curve in found.curves for step in (curve.knee, curve.met) if step is not None)
    return sorted(step for step in steps if step <= last)


def _curve_json(found: Budget, curve: BudgetCurve) -> Json:
    """Return a curve as JSON, with the sizes at its knee and its target; None without one."""
    knee_size, met_size = (None if step is None else found.sizes[step] for step in (curve.knee, curve.met))
    return {**as_row(curve), "knee_size": knee_size, "met_size": met_size}
