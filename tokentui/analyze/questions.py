"""The report on four questions about a vocabulary: the tokens that a corpus does not use, the tokens that its
documents save, the end of a training without stops, and the ways to write a word."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.analyze.report import (
    Cell,
    Column,
    Report,
    Row,
    Section,
    Span,
    Target,
    data,
    muted,
    pieces,
    strong,
)
from tokentui.analyze.results import UnusedToken, VocabularyReport, WordSegmentations
from tokentui.core.table import plural

_WHY = {
    "special": "special: it is never made from text",
    "byte": "a byte that does not occur here",
    "not in the corpus": "never occurs in the corpus",
    "not chosen": "spelled, but other tokens are used there",
    "unreachable": "no text encodes to it",
    "swallowed": "it always became part of other tokens",
}


def report(answers: VocabularyReport) -> Report:
    """Report on a vocabulary and a corpus, a section for each question."""
    sections = _unused(answers), _saved(answers), _exhausted(answers), _ways(answers)
    return Report("Questions", sections, {})


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _unused(answers: VocabularyReport) -> Section:
    """Return a section of the tokens that the corpus does not use, in the order of their ids."""
    unused = len(answers.unused)
    many = f"{answers.used:,} of {plural(answers.vocab_size, 'token')}"
    rest = f" · {unused:,} do not" if unused else " · every one is used"
    summary = strong(f"{many} occur in the corpus at step {answers.step:,}"), muted(rest)
    rows = [
        Row((muted(f"{token.id:,}"), token.piece, muted(token.kind), _reason(token)),
            Target("token", token.id)) for token in answers.unused
    ]
    columns = (Column("id", "right", 1), Column("token", priority=2, flex=True), Column("kind"),
        Column("why it is not used", priority=2, flex=True))
    return Section("1 used", summary, tuple(rows) or (Row((muted("every token is used"),)),), columns)


def _reason(token: UnusedToken) -> Cell:
    """Return why a token is unused; for a swallowed one, the tokens that it became part of."""
    if token.why != "swallowed" or not token.into:
        return muted(_WHY.get(token.why, token.why))
    return (muted("it always became part of "), *pieces(token.into, ", "))


def _saved(answers: VocabularyReport) -> Section:
    """Return a section of the documents, those that save the most tokens first, with the total saving."""
    saved = answers.units - answers.tokens
    counts = f"{plural(answers.units, 'unit')} → {plural(answers.tokens, 'token')}"
    summary = (
        strong(f"{plural(saved, 'token')} saved, {_share(saved, answers.units)}"),
        muted(f" · {counts} in {plural(answers.document_count, 'document')}"),
    )
    rows = []
    for document in answers.documents:
        less = document.units - document.tokens
        rows.append(Row((
            muted(f"{document.number:,}"), data(document.name), f"{document.units:,}", f"{document.tokens:,}",
            strong(f"{less:,}"), muted(_share(less, document.units)),
        )))
    if (more := answers.document_count - len(answers.documents)) > 0:
        rows.append(Row(("", muted(f"and {plural(more, 'more document')}"))))
    columns = (Column("#", "right"), Column("document", priority=3, flex=True), Column("units", "right", 1),
        Column("tokens", "right", 1), Column("saved", "right", 2), Column("", "right"))
    return Section("2 saved", summary, tuple(rows) or (Row((muted("there is no document"),)),), columns)


def _exhausted(answers: VocabularyReport) -> Section:
    """Return a section that compares this step with a training until no pair is left; if there was none, it
    names the key that starts one."""
    end = answers.exhausted
    if end is None:
        how = (Span("x", "key"), muted(" trains a copy until no pair is left; it may take a while"))
        return Section("3 exhaust", "", (Row((how,)),))
    facts = (
        ("merges", f"{answers.step:,} → {end.merges:,}"),
        ("vocabulary", f"{answers.vocab_size:,} → {end.vocab_size:,} ids"),
        ("corpus", f"{answers.tokens:,} → {plural(end.tokens, 'token')}"),
        ("whole", f"{end.whole:,} of {end.distinct:,} distinct pre-tokens are one token then"),
        ("end", end.end),
    )
    rows = tuple(Row((muted(name), text)) for name, text in facts)
    return Section("3 exhaust", strong("Training until no pair is left"), rows, (Column(),))


def _ways(answers: VocabularyReport) -> Section:
    """Return a section of the ways to write each word, the fewest tokens first. The one that the encoder
    takes is marked.

    Without words it names the key that asks for one. Scores have a column only if there are any.
    """
    if not answers.ways:
        return Section("4 ways", "", (Row(((Span("i", "key"), muted(" types a word")),)),))
    scored = any(score is not None for word in answers.ways for _, score in word.ways)
    columns = (Column("word", priority=1), Column("tokens", "right"),
        Column("written as", priority=2, flex=True), Column("log probability", "right"))
    rows = [row for word in answers.ways for row in _ways_of(word)]
    how = {word.how for word in answers.ways}
    by = f": {how.pop()}" if len(how) == 1 else " by the encoder"
    summary = strong("Ways to split"), muted(f" · • taken{by}")
    return Section("4 ways", summary, tuple(rows), columns if scored else columns[:-1])


def _ways_of(word: WordSegmentations) -> Iterator[Row]:
    """Yield a row for each listed segmentation of a word, the chosen one marked.

    It is added if it is not among those listed; the last row counts those left out.
    """
    listed = [*word.ways]
    if word.chosen and word.chosen not in [way for way, _ in listed]:
        listed.append((word.chosen, None))
    for place, (way, score) in enumerate(listed):
        taken = way == word.chosen
        parts = pieces(way, "│", "accent" if taken else "")
        name = () if place else (muted("‘"), data(word.word), muted(f"’  {plural(word.count, 'way')}"))
        figure = "" if score is None else f"{score:.4f}".replace("-", "−")
        yield Row((name, muted(f"{len(way):,}"), parts, figure), about=word.how, marked=taken)
    if (more := word.count - len(listed)) > 0:
        yield Row(("", "", muted(f"and {plural(more, 'more way')}")))
