"""The budget of a vocabulary: the tokens that a corpus has at each size, the knee of that curve, and the size
at which a target is met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokentui import learn
from tokentui.analyze.metrics import ratio, shown
from tokentui.analyze.report import Column, Json, Report, Row, Section, as_row
from tokentui.core.errors import TokentuiError
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay import ReplayTrainer
from tokentui.text.corpus import Corpus

KNEE = "where ln tokens lies furthest below its chord, both axes scaled to 0..1 (Satopaa et al. 2011)"


class Target(NamedTuple):
    """A target of a vocabulary.

    Attributes:
        rate: The tokens a byte that are wanted; None for a price.
        dimensions: The numbers that an id adds to the embedding.
        worth: The tokens of the corpus that one of these numbers is worth.
    """

    rate: float | None = None
    dimensions: int = 0
    worth: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Target:
        """A target in words: `0.25` tokens a byte, or `768:0.01` for an embedding of 768 numbers an id that
        are worth 0.01 tokens each.

        Raises:
            TokentuiError: It is neither, or out of range.

        >>> Target.parse("0.25").rate, Target.parse("768:0.01").dimensions
        (0.25, 768)
        """
        size, colon, worth = text.rpartition(":")
        try:
            made = cls(None, int(size), float(worth)) if colon else cls(float(text))
        except ValueError:
            made = cls(math.nan)
        values = (made.dimensions, made.worth) if made.rate is None else (made.rate,)
        if not all(math.isfinite(one) and one > 0 for one in values):
            hint = "such as 0.25 tokens a byte, or 768:0.01 for 768 dimensions worth 0.01 tokens each"
            raise TokentuiError("no target", f"target={text}", hint)
        return made

    @property
    def about(self) -> str:
        """The same in a few words."""
        if self.rate is not None:
            return f"at most {self.rate:g} tokens a byte"
        price = f"{self.dimensions:,} dimensions at {self.worth:g} tokens each"
        return f"the least of tokens and the price of the ids, {price}"


@dataclass(frozen=True, slots=True)
class BudgetCurve:
    """A corpus at each size of a vocabulary.

    Attributes:
        corpus: The name of the corpus.
        bytes: Its bytes, as UTF-8.
        tokens: Its tokens after each step, from step 0 on.
        knee: The step of the knee; None where no step saves anything.
        met: The first step that meets the target; None where none does, or none was named.
    """

    corpus: str
    bytes: int
    tokens: tuple[int, ...]
    knee: int | None
    met: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a vocabulary.

    Attributes:
        sizes: The ids after each step, from step 0 on, specials counted.
        curves: The corpus, and the second one where there is one.
        target: The target; None where none was named.
    """

    sizes: tuple[int, ...]
    curves: tuple[BudgetCurve, ...]
    target: Target | None


def budget(tokenizer: Tokenizer, corpora: Sequence[Corpus], target: Target | None = None) -> Budget:
    """The tokens of corpora at each size of the vocabulary: the steps of the tokenizer are replayed.

    Args:
        tokenizer: The tokenizer.
        corpora: One or more corpora.
        target: A target.

    Raises:
        TokentuiError: It does not make its tokens one by one, or cannot read a corpus.
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
        curves.append(BudgetCurve(corpus.name, corpus.size, tokens, knee(sizes, tokens), met))
    return Budget(sizes, tuple(curves), target)


def knee(sizes: Sequence[int], tokens: Sequence[int]) -> int | None:
    """The step of the knee of a curve: of the logarithm of the tokens over the ids, with both axes scaled to
    0..1, the point that lies furthest below the chord from the first point to the last; of equals the first.

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


def met_at(target: Target, sizes: Sequence[int], tokens: Sequence[int], size: int) -> int | None:
    """The first step that meets a target.

    A rate is met by at most so many tokens a byte. A price is met where the tokens, and the numbers that the
    embedding has grown by at what they are worth in tokens, together are least.

    Args:
        target: The target.
        sizes: The ids after each step.
        tokens: The tokens after each step.
        size: The bytes of the corpus.
    """
    if target.rate is not None:
        rate = target.rate
        return next((step for step, one in enumerate(tokens) if one <= rate * size), None)
    price = target.dimensions * target.worth
    return min(range(len(tokens)), key=lambda step: tokens[step] + price * (sizes[step] - sizes[0]))


# ---- the report


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Find the budget of a vocabulary on a corpus, and report on it."""
    assert corpus is not None
    return report(budget(tokenizer, [corpus]))


def report(found: Budget) -> Report:
    """Report on the budget of a vocabulary: a table of sizes, the knees, and where the target is met."""
    sections = [
        Section("second" if n else "corpus", f"{curve.corpus}, {curve.bytes:,} bytes")
        for n, curve in enumerate(found.curves)
    ]
    sections.append(_table(found))
    sections += _places("knee", found, [curve.knee for curve in found.curves], "none", KNEE)
    if found.target is not None:
        met = [curve.met for curve in found.curves]
        sections += _places("target", found, met, "not met", found.target.about)
    value = {
        "sizes": found.sizes, "target": found.target,
        "curves": [_curve_json(found, curve) for curve in found.curves],
    }
    return Report("Budget", tuple(sections), value)


def _places(
    name: str, found: Budget, steps: Sequence[int | None], none: str, about: str
) -> Iterator[Section]:
    """Yield the place of a step on each curve."""
    for n, step in enumerate(steps):
        place = none if step is None else f"{found.sizes[step]:,} ids, step {step:,}"
        notes = (about,) if n == len(steps) - 1 else ()
        yield Section(f"{name} of the second" if n else name, place, notes=notes)


def _table(found: Budget) -> Section:
    """Return the tokens at some sizes, of each corpus next to each other."""
    rows = []
    before: int | None = None
    for step in _marked(found):
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


def _marked(found: Budget) -> list[int]:
    """Return the steps of the table: 0, the powers of two, the last, and those of knees and targets."""
    last = len(found.sizes) - 1
    steps = {0, last, *(1 << power for power in range(last.bit_length()))}
    steps.update(step for curve in found.curves for step in (curve.knee, curve.met) if step is not None)
    return sorted(step for step in steps if step <= last)


def _curve_json(found: Budget, curve: BudgetCurve) -> Json:
    """Return a whole curve; its knee and the place of the target are steps, with their sizes."""
    knee_size, met_size = (None if step is None else found.sizes[step] for step in (curve.knee, curve.met))
    return {**as_row(curve), "knee_size": knee_size, "met_size": met_size}
