"""Charts of a vocabulary on a corpus: how often its tokens occur, how long they are, in which scripts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from tokentui.analyze.health import examine
from tokentui.analyze.report import Report, Section
from tokentui.analyze.results import VocabularyFacts
from tokentui.analyze.vocabulary import usage
from tokentui.core.chart import Axis, Chart, Mark, Series, histogram
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus

_BINS, _SCRIPTS, _SMALL = 16, 8, 10
_HALF = 0.5
_ABOUT_ZIPF = (
    "How often each id that occurs is used, the most used one first.",
    "Each dot is an id, or several in one place. With both axes logarithmic, a straight line is Zipf's law.",
    "Try: press →: the uses of the second id. Press x and X: the same in linear axes.",
)
_ABOUT_COVERAGE = (
    "The share of the tokens of the corpus that the most used ids make together.",
    "The upright line is where they make half of the tokens.",
    "Try: press end: all ids that occur make 100 %. Press enter: the values.",
)
_ABOUT_IDS = (
    "The share of the ids of each range that the corpus uses.",
    "Each bar is a range of ids, low ones first. A short bar at the end: a text like this seldom needs the "
    "last ids.",
    "Try: press ↓ to a short bar; its range and its share are at the lower right.",
)
_ABOUT_LENGTHS = (
    "The number of tokens of each length, in characters.",
    "Each bar is a length, or a range of lengths.",
    "Try: press →: the next length. Press X: a logarithmic axis shows the small bars.",
)
_ABOUT_SCRIPTS = (
    "The number of tokens in each script.",
    "The longest bar is the commonest script. Parts of characters are tokens without a whole character.",
    "Try: press ↓: the number of tokens of the next script. Press X: a logarithmic axis.",
)


@dataclass(frozen=True, slots=True)
class IdUses:
    """The uses of the ids of a vocabulary in a corpus.

    Attributes:
        corpus: The name of the corpus.
        vocab_size: The ids.
        uses: The count of each id that occurs, by id.
    """

    corpus: str
    vocab_size: int
    uses: tuple[tuple[int, int], ...]

    @property
    def ranked(self) -> list[int]:
        """The counts, the greatest first."""
        return sorted((count for _, count in self.uses), reverse=True)


def id_uses(tokenizer: Tokenizer, corpus: Corpus) -> IdUses:
    """Count the ids of a corpus.

    Raises:
        TokentuiError: The tokenizer refuses the corpus.
        Cancelled: The job is cancelled.
    """
    words, _ = Pretokens(tokenizer).count(corpus)
    found = usage(tokenizer, words)
    return IdUses(corpus.name, tokenizer.vocab_size, tuple(sorted(found.uses.items())))


def zipf_chart(found: IdUses) -> Chart:
    """Return the uses of the ids by their rank. On two logarithmic axes text gives nearly a straight line."""
    ranked = tuple(found.ranked)
    return Chart("uses by rank", Axis("rank", log=True), Axis("uses", log=True),
        (Series(tuple(range(1, len(ranked) + 1)), ranked, "scatter"),), at=1, about=_ABOUT_ZIPF)


def coverage_chart(found: IdUses) -> Chart:
    """Return the share of the tokens of the corpus that the most used ids make, by their number."""
    ranked = found.ranked
    total = sum(ranked)
    shares = tuple(100 * count / total for count in itertools.accumulate(ranked)) if total else ()
    half = next((rank for rank, share in enumerate(shares, 1) if share >= 100 * _HALF), None)
    marks = () if half is None else (Mark(half, "half"),)
    return Chart("coverage by the number of ids", Axis("most used ids", log=True),
        Axis("share of the tokens", " %", 1), (Series(tuple(range(1, len(shares) + 1)), shares),), marks,
        half, about=_ABOUT_COVERAGE)


def id_chart(found: IdUses) -> Chart:
    """Return the share of the ids that occur, by ranges of ids: where a vocabulary stops paying."""
    ids = [number for number, _ in found.uses]
    last = max(found.vocab_size - 1, *ids, 0) if ids else found.vocab_size - 1
    size = max(1, -(-(last + 1) // _BINS))
    count = -(-(last + 1) // size)
    used = [0] * count
    for number in ids:
        used[number // size] += 1
    widths = [min(size, last + 1 - n * size) for n in range(count)]
    shares = tuple(100 * some / width for some, width in zip(used, widths, strict=True))
    ends = [min((n + 1) * size, last + 1) - 1 for n in range(count)]
    names = tuple(f"{n * size:,}–{end:,}" if end > n * size else f"{end:,}" for n, end in enumerate(ends))
    return Chart("ids that occur, by id", Axis("ids", names=names),
        Axis("share of the ids that occur", " %", 1), (Series(tuple(range(count)), shares, "bar"),), at=0,
        about=_ABOUT_IDS)


def length_chart(facts: VocabularyFacts) -> Chart:
    """Return the number of tokens of each length in characters; empty tokens are left out.

    The cursor is at the most frequent length; long ones share bins.
    """
    names, counts = histogram([pair for pair in facts.lengths if pair[0] > 0], _BINS)
    most = max(range(len(counts)), key=counts.__getitem__, default=0)
    return Chart("tokens by their length", Axis("characters", names=names), Axis("tokens"),
        (Series(tuple(range(len(counts))), counts, "bar"),), at=most, about=_ABOUT_LENGTHS)


def script_chart(facts: VocabularyFacts) -> Chart:
    """Return the number of tokens in each script, the commonest first; the rarest are one bar."""
    scripts = list(facts.scripts[:_SCRIPTS])
    if rest := facts.scripts[_SCRIPTS:]:
        scripts[-1:] = [(f"{len(rest) + 1} others", scripts[-1][1] + sum(count for _, count in rest))]
    return Chart("tokens by their script", Axis("script", names=tuple(name for name, _ in scripts)),
        Axis("tokens"), (Series(tuple(range(len(scripts))), tuple(count for _, count in scripts), "bar"),),
        at=0, about=_ABOUT_SCRIPTS)


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Count the ids of a corpus, which must not be None, and report on them by charts."""
    assert corpus is not None
    return report(id_uses(tokenizer, corpus), examine(tokenizer).facts)


def report(found: IdUses, facts: VocabularyFacts) -> Report:
    """Report on the uses of ids, and on the lengths and scripts of tokens: a chart each."""
    value = {
        "corpus": found.corpus, "vocab_size": found.vocab_size, "tokens": sum(found.ranked),
        "uses": [{"id": number, "uses": count} for number, count in found.uses],
        "lengths": {str(length): count for length, count in facts.lengths},
        "scripts": dict(facts.scripts),
    }
    summary = f"{len(found.uses):,} of {found.vocab_size:,} ids occur in {found.corpus}"
    return Report("Charts", tuple(_sections(found, facts)), value, summary)


def _sections(found: IdUses, facts: VocabularyFacts) -> Iterator[Section]:
    """Yield the charts of ranks, coverage and ids of the corpus, then those of the vocabulary."""
    ranked, total = found.ranked, sum(found.ranked)
    once = sum(count == 1 for count in ranked)
    zipf = f"{len(ranked):,} ids occur, {once:,} once; a straight line down is Zipf's law"
    yield Section("Zipf", zipf, picture=zipf_chart(found))
    coverage = coverage_chart(found)
    half = f"{int(coverage.marks[0].x):,} of the {len(ranked):,} ids that occur" if total else "no id"
    yield Section("coverage", f"{half} make half of the tokens", picture=coverage)
    unused = found.vocab_size - len(found.uses)
    about = f"{unused:,} of {found.vocab_size:,} ids do not occur; each bar: the share of its ids that do"
    yield Section("by id", about, picture=id_chart(found))
    yield from vocabulary_pictures(facts)


def vocabulary_pictures(facts: VocabularyFacts) -> Iterator[Section]:
    """Yield the scripts and the lengths of the tokens of a vocabulary, a small chart each."""
    first = ", ".join(f"{count:,} {script}" for script, count in facts.scripts[:2])
    rest = f" and {len(facts.scripts) - 2:,} more" if len(facts.scripts) > 2 else ""
    yield Section("scripts", f"{first}{rest}" if first else "none", picture=script_chart(facts), lines=_SMALL)
    tokens = sum(count for _, count in facts.lengths)
    mean = sum(length * count for length, count in facts.lengths) / tokens if tokens else 0.0
    longest = max((length for length, _ in facts.lengths), default=0)
    yield Section("characters", f"{mean:.1f} on average, {longest:,} at most", picture=length_chart(facts),
        lines=_SMALL)
