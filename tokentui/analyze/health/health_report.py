"""The facts and the health of a tokenizer as a report; with a corpus also its use, and the measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tokentui.analyze.health.survey import FAIL, INFO, NONE, PASS, WARN
from tokentui.analyze.inspect import unused_why
from tokentui.analyze.metrics import MeasureRow, ratio, shown
from tokentui.analyze.report import (
    NUMBER,
    Cell,
    Column,
    Json,
    Part,
    Report,
    Row,
    Section,
    Span,
    Target,
    as_row,
    data,
    muted,
    strong,
)
from tokentui.analyze.results import (
    CheckResult,
    HealthReport,
    UnusedToken,
    VocabularyFacts,
    VocabularyReport,
    costs,
)
from tokentui.analyze.usage_charts import vocabulary_pictures
from tokentui.axes import AXES, label
from tokentui.core.errors import TokentuiError
from tokentui.core.table import plural
from tokentui.encode.decode import bare
from tokentui.encode.tokenizer import Tokenizer
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import UNITS

STATUS_ROLES = {FAIL: "error", WARN: "warning", INFO: "muted", PASS: "success", NONE: "muted"}
"""The role of each status of a check, the worst first."""
_WORTH_SEEING = (FAIL, WARN, INFO)
_FEW = 20
_EXAMPLES = 4
_MOST = 1000
"""The maximum number of unused tokens that become rows; JSON has all of them."""
_LEFT = (Column(),)


def report(
    tokenizer: Tokenizer, health: HealthReport, corpus: VocabularyReport | None = None,
    measures: Sequence[MeasureRow] | TokentuiError = (),
) -> Report:
    """Report on a tokenizer: its recipe, the facts of its vocabulary, its use on a corpus, and its health.

    Args:
        tokenizer: The tokenizer.
        health: Its facts and checks.
        corpus: Its use on a corpus; None without a corpus.
        measures: The measures on the corpus, or the error if the tokenizer refuses a part of it.
    """
    recipe, facts = tokenizer.recipe, health.facts
    sections = [
        Section("recipe", label(recipe)),
        Section("", " ".join(f"{name}={recipe.axis(name)}" for name in AXES), wrap=True),
        *facts_sections(facts, recipe, tokenizer.decoder.bounds, tokenizer.notes),
    ]
    if corpus is not None:
        sections += [*corpus_sections(corpus), measures_section(measures)]
    sections += health_sections(health.checks)
    value = {
        "tokenizer": {
            "recipe": recipe.to_dict(), "run": dict(tokenizer.run),
            **as_row(facts, "vocab_size", "first_id", "merges"), "kinds": dict(facts.kinds),
            "scripts": dict(facts.scripts),
            "lengths": {str(length): count for length, count in facts.lengths},
            "notes": list(tokenizer.notes),
        },
        "health": as_row(facts, "longest", "unreachable", "duplicates", "not_utf8", "spaces",
                         "missing_bytes", "holes", "shared_ids"),
        "checks": health.checks,
        "corpus": corpus and as_row(corpus, "units", "tokens", "used", "unused", "document_count",
                                    "documents", "exhausted", *(["parts"] if corpus.parts else [])),
        "measures": [] if isinstance(measures, TokentuiError) else list(map(measure_json, measures)),
        "measures_error": str(measures) if isinstance(measures, TokentuiError) else None,
    }
    return Report("Facts", tuple(sections), value, status_line(health.checks))


# ---- the facts of a vocabulary


def facts_sections(
    facts: VocabularyFacts, recipe: Recipe, bounds: tuple[int, int] | None = None, notes: Sequence[str] = (),
) -> Iterator[Section]:
    """Yield the facts of a vocabulary.

    Args:
        facts: The facts.
        recipe: The recipe, which says what is a mark.
        bounds: The first and the last id.
        notes: Remarks on the file.
    """
    kinds = ", ".join(f"{times:,} {kind}" for kind, times in facts.kinds)
    span = f", {bounds[0]} to {bounds[1]}" if bounds else ""
    yield Section("ids", f"{facts.vocab_size:,}{span}" + (f" ({kinds})" if kinds else ""))
    yield Section("merges", f"{facts.merges:,}")
    for n, note in enumerate(notes):
        yield Section("" if n else "remarks", Span(note, "warning"))
    yield from vocabulary_pictures(facts)
    longest = [(token.id, f"{len(bare(recipe, token.piece))} B", token.piece) for token in facts.longest]
    yield _tokens("longest", "" if longest else "none", longest, (NUMBER, NUMBER))
    dead = [(token.id, (token.piece, f"  {token.why}")) for token in facts.unreachable]
    yield _tokens("unreachable", _some(dead, "no text produces these"), dead)
    alike = tuple(
        Row(((" ".join(map(str, spelling.ids)), "  ", spelling.piece),), Target("token", spelling.ids[0]))
        for spelling in facts.duplicates[:_FEW]
    )
    yield Section("duplicates", _some(facts.duplicates, "same spelling as another token"), alike)
    for name, what, tokens in (
        ("not UTF-8", "tokens of several invalid UTF-8 by themselves", facts.not_utf8),
        ("spaces", "whitespace only", facts.spaces),
    ):
        yield _tokens(name, _some(tokens, what), tokens)
    if UNITS.of(recipe.unit).is_byte:
        missing = " ".join(f"{value:02X}" for value in facts.missing_bytes)
        there = f"{256 - len(facts.missing_bytes)} of 256"
        yield Section("bytes", there + (f"; not {missing}" if missing else ""))
    holes = [str(first) if first == last else f"{first}–{last}" for first, last in facts.holes[:_FEW]]
    yield Section("unused ids", " ".join(holes) or "none")
    if facts.shared_ids:
        shared = " ".join(map(str, facts.shared_ids[:_FEW]))
        summary = f"{len(facts.shared_ids):,}, of several tokens: {shared}"
        yield Section("shared ids", Span(summary, "warning"))


def _tokens(
    name: str, text: Cell, tokens: Iterable[tuple[int, *tuple[Cell, ...]]],
    columns: tuple[Column, ...] = (NUMBER,), total: int | None = None,
) -> Section:
    """Return a section with a row for each (id, cells) of tokens, of which the terminal prints the first
    `_FEW`."""
    rows = tuple(Row((str(token), *cells), Target("token", token)) for token, *cells in tokens)
    return Section(name, text, rows, columns, _FEW, total)


def _some(tokens: Sequence[object], what: str) -> str:
    return f"{len(tokens):,}, {what}" if tokens else "none"


# ---- a corpus


def corpus_sections(corpus: VocabularyReport) -> Iterator[Section]:
    """Yield the sections on a corpus: the tokens that it uses, those that its documents save, and the end of
    a training without stops if that was requested."""
    saved = corpus.units - corpus.tokens
    yield Section("corpus", f"{corpus.units:,} units, {corpus.tokens:,} tokens: {saved:,} saved")
    parts = tuple(
        Row((part.name, f"{part.tokens:,} tokens", f"{shown(ratio(part.bytes, part.tokens))} B/token",
             f"{shown(cost, 2)} × the cheapest"))
        for part, cost in zip(corpus.parts, costs(corpus.parts), strict=True)
    )
    if parts:
        yield Section("corpora", f"{len(parts):,}", parts, (Column(), NUMBER, NUMBER, NUMBER))
    yield Section("used", f"{corpus.used:,} of {corpus.vocab_size:,} ids")
    yield unused_section(corpus.unused)
    yield documents_section(corpus)
    if (end := corpus.exhausted) is not None:
        yield Section("exhausted", f"{end.merges:,} merges, {end.vocab_size:,} ids, {end.tokens:,} tokens")
        whole = f"{end.whole:,} of {end.distinct:,} distinct pre-tokens are one token"
        yield Section("", f"{whole} (stopped: {end.end})")


def unused_section(unused: Sequence[UnusedToken]) -> Section:
    """Return a section of the tokens that a corpus does not use, each with the reason; at most `_MOST` are
    rows."""
    tokens = [
        (token.id, muted(token.kind), (token.piece, "  ", *unused_why(token))) for token in unused[:_MOST]
    ]
    return _tokens("unused", _some(unused, "and why"), tokens, total=len(unused))


def documents_section(corpus: VocabularyReport) -> Section:
    """Return a section of the documents that save the most tokens, the largest saving first."""
    rows = tuple(
        Row((f"{document.number}", f"{document.units:,} units", f"{document.tokens:,} tokens",
             data(document.name)))
        for document in corpus.documents
    )
    count = corpus.document_count
    return Section("documents", f"{count:,}, largest saving first", rows, (NUMBER, NUMBER, NUMBER),
                   _FEW, count, "more")


def measures_section(measures: Sequence[MeasureRow] | TokentuiError) -> Section:
    """Return the measures of a tokenizer on a corpus, or why there are none."""
    if isinstance(measures, TokentuiError):
        return Section("measures", Span(f"none: {measures}", "error"))
    rows = tuple(
        Row((row.measure.title, *(figure.shown for figure in row.figures if figure), muted(row.under)))
        for row in measures
    )
    return Section("measures", f"{len(rows):,}", rows, (Column(), NUMBER))


def measure_json(row: MeasureRow) -> Json:
    """Return a measure as JSON: its names, its conventions, and a value for each tokenizer."""
    return {
        **as_row(row.measure, "name", "title", "formula"),
        "conventions": dict(row.conventions),
        "values": [None if figure is None else figure.value for figure in row.figures],
        "shown": [None if figure is None else figure.shown for figure in row.figures],
    }


# ---- health


def status_line(checks: Sequence[CheckResult]) -> str:
    """Return the number of checks of each status, the worst first."""
    counted = Counter(check.status for check in checks)
    return ", ".join(f"{counted[status]} {status}" for status in STATUS_ROLES if counted[status])


def health_sections(checks: Sequence[CheckResult]) -> Iterator[Section]:
    """Yield a section of the checks that found something, with examples, the worst first; then one each of
    those that passed and that do not apply, folded, if there are any."""
    worth_seeing = [check for status in _WORTH_SEEING for check in checks if check.status == status]
    yield Section("health", status_line(checks), tuple(map(_check, worth_seeing)), _LEFT)
    for status, name, verb_of_several, verb_of_one in (
        (PASS, "passed", "passed", "passed"), (NONE, "n/a", "do not apply", "does not apply"),
    ):
        rows = tuple(_check(check) for check in checks if check.status == status)
        if rows:
            verb = verb_of_one if len(rows) == 1 else verb_of_several
            yield Section(name, f"{plural(len(rows), 'check')} {verb}", rows, _LEFT, folded=True)


def _check(check: CheckResult) -> Row:
    """Return the row of a check, with its explanation and examples below it.

    Examples show by default only where the status is worth seeing.
    """
    status = Span(check.status, STATUS_ROLES[check.status])
    about = f"{check.about} ({check.threshold})"
    details: list[Row] = []
    if check.status in _WORTH_SEEING:
        details.append(Row((muted(about),)))
    for example in check.examples:
        number: tuple[Part, ...] = () if example.id is None else (muted(f"{example.id} "),)
        note = (muted(f"  {example.note}"),) if example.note else ()
        target = None if example.id is None else Target("token", example.id)
        details.append(Row((("  ", *number, example.piece, *note),), target))
    if check.count > len(check.examples) > 0:
        details.append(Row((muted(f"  … and {check.count - len(check.examples):,} more"),)))
    few = _EXAMPLES if check.status in _WORTH_SEEING else 0
    return Row((status, strong(check.title), check.observed), about=about, details=tuple(details), few=few)
