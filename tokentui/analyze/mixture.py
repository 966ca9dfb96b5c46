"""The mixture of texts that a tokenizer was trained on, from the order of its merges.

Merge t was the most frequent pair of the training text after the merges before it. A sample of each kind of
text gives the counts of all pairs before each merge. So each step and other pair is one linear inequality on
the shares a of the kinds:

    minimize    Σ v_t + Σ v_p
    subject to  Σ a_i = 1 and, for each step t of merge m and each other pair p,
                Σ a_i c_i,m(t) / d_i + v_t + v_p >= Σ a_i c_i,p(t) / d_i

d_i is the number of pairs of neighbors in sample i before any merge, so that the a are shares of pairs; times
the bytes per pair of each sample they are shares of bytes. v_t forgives a merge, v_p a pair that the trainer
never considered. Source: Hayase et al., "Data mixture inference: what do BPE tokenizers reveal about their
training data?" (2024).

Between two changes of its counts a pair competes with the same counts. Such a row is violated where it
exceeds the least of what the merges of its steps have. The worst rows are added until none is violated.
"""

from __future__ import annotations

import importlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokentui.analyze.report import Bar, Column, Report, Row, Section, as_row, merged, strong, warning
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay.segmentations import TokenOrder
from tokentui.text.corpus import Corpus

EXTRA = "pip install 'tokentui[lp]'"
MERGES = 1000
"""The merges that are looked at by default."""
DENOMINATORS = ("pairs", "bytes", "characters")
"""What the counts of a sample are divided by."""
HIGH_SLACK = 0.1
"""The slack above which no mixture of the samples resembles the training text."""
WIDE = 0.1
"""The width of an interval from which a share is not known."""
_EXACT = 1e-6
_ADDED, _MOST_ROUNDS = 500, 60
_MOVED, _STILL = 2e-5, 3
"""The search ends without an optimum where all shares move less than this, so many rounds in a row."""
_TOLERANCE = 1e-6
_MORE_SLACK = 1.01
_WORST = 10
_ALIKE = 0.9
"""Two samples are alike where they have at least this share of what the halves of one have in common."""
_BARRIER = -1

Vector = tuple[int, ...]


class PairChange(NamedTuple):
    """The counts of a pair in each sample, from one step to another.

    Attributes:
        pair: The two symbols.
        first: The first step before which these are its counts, 1 for the start.
        last: The last one.
        counts: The count in each sample.
    """

    pair: tuple[int, int]
    first: int
    last: int
    counts: Vector


class Replayed(NamedTuple):
    """The counts of all pairs before each merge.

    Attributes:
        merged: The counts of the pair of each merge before it.
        changes: The counts of all pairs that are not merged, in the steps in which they stay the same.
        pairs: The number of pairs of neighbors of each sample at the start.
    """

    merged: list[Vector]
    changes: list[PairChange]
    pairs: Vector


@dataclass(frozen=True, slots=True)
class SampleShare:
    """The share of a sample.

    Attributes:
        name: The name of the sample.
        share: Its share of the bytes of the training text.
        low: The least share with 1 % more slack.
        high: The greatest one.
        pairs: Its share of the pairs.
        bytes: The bytes of the sample.
    """

    name: str
    share: float
    low: float
    high: float
    pairs: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Worst:
    """A merge that needs slack.

    Attributes:
        step: Its step.
        parents: The tokens that it joins.
        piece: The token that it makes.
        slack: The slack of the step.
    """

    step: int
    parents: tuple[bytes, ...]
    piece: bytes
    slack: float


@dataclass(frozen=True, slots=True)
class Mixture:
    """What a tokenizer was trained on, as far as some samples tell.

    Attributes:
        shares: The shares, in the order of the samples.
        slack: The sum of all slacks, in shares of the pairs; above 0.1 the shares mean little.
        merges: The merges that were looked at.
        absent: How many of them occur in no sample.
        worst: The merges of the most slack.
        alike: The pairs of samples that are as like each other as the halves of one.
        rounds: The rounds until no row was violated.
        converged: False if the search ended before.
        denominator: What counts were divided by.
    """

    shares: tuple[SampleShare, ...]
    slack: float
    merges: int
    absent: int
    worst: tuple[Worst, ...]
    alike: tuple[tuple[str, str], ...]
    rounds: int
    converged: bool
    denominator: str

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the samples whose shares stay uncertain: a wide interval, or a sample alike."""
        names = {share.name for share in self.shares if share.high - share.low > WIDE}
        names |= {name for pair in self.alike for name in pair}
        return tuple(share.name for share in self.shares if share.name in names)


# ---- replay


def replay(
    merges: Sequence[tuple[int, int]], base: int, samples: Sequence[Mapping[tuple[int, ...], int]]
) -> Replayed:
    """Count all pairs of some samples before each merge.

    Args:
        merges: The symbols that each merge joins; the first makes the symbol `base`, and so on.
        base: The number of symbols without merges.
        samples: For each sample, the count of each distinct word in symbols; a negative symbol merges with
            nothing.

    Raises:
        Cancelled: The job is cancelled.
    """
    size = len(samples)
    indexes: dict[tuple[int, ...], int] = {}
    words: list[list[int]] = []
    weights: list[list[tuple[int, int]]] = []
    for number, sample in enumerate(samples):
        for word, times in sample.items():
            index = indexes.setdefault(word, len(words))
            if index == len(words):
                words.append(list(word))
                weights.append([])
            weights[index].append((number, times))
    counts: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * size)
    holders: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for index, symbols in enumerate(words):
        for pair in _pairs(symbols):
            holders[pair].add(index)
            for number, times in weights[index]:
                counts[pair][number] += times
    since = dict.fromkeys(counts, 1)
    totals = [0] * size
    for row in counts.values():
        for number, count in enumerate(row):
            totals[number] += count
    found: list[Vector] = []
    changes: list[PairChange] = []
    zero = (0,) * size
    for step, joined in enumerate(merges, 1):
        if step % 16 == 0:
            tick(step, len(merges))
        found.append(tuple(counts.get(joined, zero)))
        moved: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * size)
        for index in holders.pop(joined, ()):
            before = words[index]
            after = _merged(before, joined, base + step - 1)
            if len(after) == len(before):
                continue
            words[index] = after
            weight = weights[index]
            gone, come = Counter(_pairs(before)), Counter(_pairs(after))
            for pair, times in (gone - come).items():
                row = moved[pair]
                for number, count in weight:
                    row[number] -= times * count
            for pair, times in (come - gone).items():
                holders[pair].add(index)
                row = moved[pair]
                for number, count in weight:
                    row[number] += times * count
        for pair, by in moved.items():
            if not any(by):
                continue
            row = counts[pair]
            last = step - 1 if pair == joined else step
            if any(row) and since[pair] <= last:
                changes.append(PairChange(pair, since[pair], last, tuple(row)))
            for number, count in enumerate(by):
                row[number] += count
            since[pair] = step + 1
    for pair, row in counts.items():
        if any(row) and since[pair] <= len(merges):
            changes.append(PairChange(pair, since[pair], len(merges), tuple(row)))
    return Replayed(found, changes, tuple(totals))


def _pairs(symbols: Sequence[int]) -> list[tuple[int, int]]:
    return [
        pair for pair in itertools.pairwise(symbols) if pair[0] >= 0 and pair[1] >= 0
    ]


def _merged(symbols: list[int], joined: tuple[int, int], made: int) -> list[int]:
    """Return the symbols with each occurrence of the pair replaced by `made`, from the left."""
    left, right = joined
    out, at, last = list[int](), 0, len(symbols) - 1
    while at <= last:
        if at < last and symbols[at] == left and symbols[at + 1] == right:
            out.append(made)
            at += 2
        else:
            out.append(symbols[at])
            at += 1
    return out


# ---- the program


class Fit(NamedTuple):
    """A solution.

    Attributes:
        shares: The share of each sample, in pairs.
        steps: The slack of each step.
        slack: The sum of all slacks.
        rounds: The rounds.
        converged: Whether no row is violated.
    """

    shares: Any
    steps: Any
    slack: float
    rounds: int
    converged: bool


class _Infeasible(TokentuiError):
    """No shares need as little slack as they may."""


class MixtureProgram:
    """The linear program of a replay. Rows are added when they are violated, and stay.

    Args:
        replayed: The counts.
        divisors: What the counts of each sample are divided by.

    Raises:
        TokentuiError: SciPy is not installed.
    """

    def __init__(self, replayed: Replayed, divisors: Sequence[int]) -> None:
        try:
            self._numpy: Any = importlib.import_module("numpy")
            self._linprog = importlib.import_module("scipy.optimize").linprog
            self._matrix = importlib.import_module("scipy.sparse").csr_matrix
        except ImportError:
            raise TokentuiError("SciPy is not installed", "mixture", EXTRA) from None
        np = self._numpy
        self.size = len(divisors)
        self.scale = float(min(divisors))
        """Counts are shares times this, so that the solver's tolerance is below one occurrence."""
        by = self.scale / np.asarray(divisors, float)
        self._merged = np.asarray(replayed.merged, float).reshape(-1, self.size) * by
        self._present = self._merged.any(axis=1)
        kept = [change for change in replayed.changes if self._present[change.first - 1 : change.last].any()]
        self._counts = np.asarray([change.counts for change in kept], float).reshape(-1, self.size) * by
        self._first = np.asarray([change.first - 1 for change in kept], int)
        self._last = np.asarray([change.last - 1 for change in kept], int)
        numbers: dict[tuple[int, int], int] = {}
        self._pair = np.asarray([numbers.setdefault(change.pair, len(numbers)) for change in kept], int)
        self._pairs = len(numbers)
        self._added: dict[tuple[int, int], int] = {}
        """The rows of the program: a step and a row of counts."""

    def fit(self) -> Fit:
        """Find the shares that need the least slack. If it ends before no row is violated, the fit is not
        `converged`.

        Raises:
            TokentuiError: The solver finds no optimum.
            Cancelled: The job is cancelled.
        """
        return self._optimize(self._numpy.zeros(self.size), slack=None, norm=self._numpy.ones(self.size))

    def intervals(self, weights: Sequence[float], fit: Fit) -> tuple[Fit, list[tuple[float, float]]]:
        """Return the least and the greatest share of each sample with little more slack than a fit, in shares
        of what `weights` counts by pair. A tick of the job is a search for one share.

        A search adds rows. If these need more slack than that, the fit is solved again with them and
        returned, and the search goes on with its slack.

        Raises:
            TokentuiError: The solver finds no optimum.
            Cancelled: The job is cancelled.
        """
        extremes = []
        for number in range(2 * self.size):
            tick(number, 2 * self.size)
            while True:
                try:
                    extremes.append(self._extreme(weights, number // 2, -1 if number % 2 else 1, fit.slack))
                    break
                except _Infeasible:
                    before, fit = fit, self._solve_again(fit)
                    if fit.slack <= before.slack:
                        raise
        return fit, list(zip(extremes[::2], extremes[1::2], strict=True))

    def _solve_again(self, fit: Fit) -> Fit:
        """Solve the program again with all of its rows. Return the given fit with new shares, steps and
        slack; its other fields stay."""
        np = self._numpy
        shares, of_steps, of_pairs = self._solve_rows(np.zeros(self.size), None, np.ones(self.size))
        return fit._replace(
            shares=shares, steps=of_steps / self.scale, slack=self._total(of_steps, of_pairs)
        )

    def _extreme(self, weights: Sequence[float], which: int, sign: int, least: float) -> float:
        """Return the least (`sign` 1) or greatest (-1) share of a sample with little more than some slack.

        The shares are y · weights with the sum 1, so that the program stays linear (Charnes and Cooper 1962).
        """
        np = self._numpy
        norm = np.asarray(weights, float)
        cost = np.zeros(self.size)
        cost[which] = sign * norm[which]
        found = self._optimize(cost, slack=least * _MORE_SLACK + 1e-9, norm=norm)
        return abs(float(found.shares[which] * norm[which]))

    def _optimize(self, cost: Any, slack: float | None, norm: Any) -> Fit:
        """Add the violated rows and solve again until none is violated, or the shares no longer move. The fit
        is `converged` only if none is violated. There are at most `_MOST_ROUNDS` rounds, and each checks for
        cancellation.

        Args:
            cost: The cost of each share; without effect on slack.
            slack: The maximum slack; None to minimize it.
            norm: The weights of the shares in the sum that is 1.
        """
        np, steps = self._numpy, len(self._merged)
        shares = np.ones(self.size) / norm.sum()
        of_steps, of_pairs = np.zeros(steps), np.zeros(self._pairs)
        still = 0
        for rounds in range(1, _MOST_ROUNDS + 1):
            check()
            if not self._add(shares, of_steps, of_pairs) and rounds > 1:
                return Fit(shares, of_steps / self.scale, self._total(of_steps, of_pairs), rounds, True)
            before = shares
            shares, of_steps, of_pairs = self._solve_rows(cost, slack, norm)
            still = still + 1 if np.abs(shares - before).max() < _MOVED else 0
            if still >= _STILL:
                break
        return Fit(shares, of_steps / self.scale, self._total(of_steps, of_pairs), rounds, False)

    def _total(self, of_steps: Any, of_pairs: Any) -> float:
        return float(of_steps.sum() + of_pairs.sum()) / self.scale

    def _add(self, shares: Any, of_steps: Any, of_pairs: Any) -> int:
        """Add the rows that are violated most, at most _ADDED. Returns how many are new; 0 if none is."""
        np = self._numpy
        if not len(self._counts):
            return 0
        limits = self._merged @ shares + of_steps
        limits[~self._present] = np.inf
        tightest = self._least(limits)
        over = self._counts @ shares - of_pairs[self._pair] - limits[tightest]
        worst = np.argsort(-over, kind="stable")[:_ADDED]
        before = len(self._added)
        for row in worst:
            if over[row] <= _TOLERANCE:
                break
            self._added.setdefault((int(tightest[row]), int(row)), len(self._added))
        return len(self._added) - before

    def _least(self, limits: Any) -> Any:
        """Return for each row of counts the step of its interval with the least limit, by a table of the
        minima of all stretches of 2, 4, 8 … steps."""
        np = self._numpy
        table = [np.arange(len(limits))]
        width = 1
        while 2 * width <= len(limits):
            left, right = table[-1][: -width or None], table[-1][width:]
            left = left[: len(right)]
            table.append(np.where(limits[right] < limits[left], right, left))
            width *= 2
        level = np.frexp((self._last - self._first + 1).astype(float))[1] - 1
        out = np.empty(len(self._first), int)
        for number, row in enumerate(table):
            chosen = level == number
            left = row[self._first[chosen]]
            right = row[self._last[chosen] - (1 << number) + 1]
            out[chosen] = np.where(limits[right] < limits[left], right, left)
        return out

    def _solve_rows(self, cost: Any, slack: float | None, norm: Any) -> tuple[Any, Any, Any]:
        """Solve the program with the rows that were added; see `_optimize` for the arguments. Return the
        shares, the slack of each step and the slack of each pair, both times `scale`.

        Raises:
            _Infeasible: There is no optimum.
        """
        np, size = self._numpy, self.size
        steps = sorted({step for step, _ in self._added})
        pairs = sorted({int(self._pair[row]) for _, row in self._added})
        of_step = {step: size + n for n, step in enumerate(steps)}
        of_pair = {pair: size + len(steps) + n for n, pair in enumerate(pairs)}
        columns, rows = size + len(steps) + len(pairs), len(self._added)
        at_step = np.asarray([step for step, _ in self._added], int)
        at_row = np.asarray([row for _, row in self._added], int)
        dense = self._counts[at_row] - self._merged[at_step] if rows else np.zeros((0, size))
        lines = np.arange(rows)
        values = [dense.ravel(), -np.ones(2 * rows)]
        line = [np.repeat(lines, size), lines, lines]
        column = [
            np.tile(np.arange(size), rows),
            np.asarray([of_step[step] for step, _ in self._added], int),
            np.asarray([of_pair[int(self._pair[row])] for _, row in self._added], int),
        ]
        limit = np.zeros(rows)
        costs = np.zeros(columns)
        costs[:size] = cost
        if slack is None:
            costs[size:] = 1.0
        else:
            values += [np.full(size, -slack * self.scale), np.ones(columns - size)]
            line.append(np.full(columns, rows))
            column.append(np.arange(columns))
            limit = np.append(limit, 0.0)
        whole = self._matrix(
            (np.concatenate(values), (np.concatenate(line), np.concatenate(column))),
            shape=(len(limit), columns),
        )
        equal = np.zeros((1, columns))
        equal[0, :size] = norm
        done = self._linprog(
            costs, A_ub=whole, b_ub=limit, A_eq=equal, b_eq=[1.0], bounds=(0, None), method="highs"
        )
        if done.status:
            raise _Infeasible("the solver found no optimum", "mixture", "use fewer merges, or other samples")
        of_steps, of_pairs = np.zeros(len(self._merged)), np.zeros(self._pairs)
        of_steps[steps] = done.x[size : size + len(steps)]
        of_pairs[pairs] = done.x[size + len(steps) :]
        return done.x[:size], of_steps, of_pairs


# ---- the analysis


class MixtureSample(NamedTuple):
    """A sample of a kind of text.

    Attributes:
        name: Its name.
        corpus: The text.
    """

    name: str
    corpus: Corpus


def mixture(
    tokenizer: Tokenizer, samples: Sequence[MixtureSample], merges: int = MERGES, denominator: str = "pairs"
) -> Mixture:
    """Infer the shares of some kinds of text in the training text of a tokenizer.

    Args:
        tokenizer: The tokenizer, whose vocabulary lists its merges in order.
        samples: Two or more samples.
        merges: The maximum number of merges to look at.
        denominator: One of `DENOMINATORS`.

    Raises:
        TokentuiError: The tokenizer has no merges, a sample has no pair, or SciPy is not installed.
        Cancelled: The job is cancelled.
    """
    if len(samples) < 2:
        raise TokentuiError("a mixture needs two samples", "mixture", "name each with --corpus NAME=FILE")
    order = TokenOrder.of(tokenizer)
    vocabulary = order.vocabulary
    if not vocabulary.merges or not tokenizer.merges:
        raise TokentuiError("the vocabulary lists no merges", "mixture", "name a file of byte-pair encoding")
    counted, halves = [], []
    for sample in samples:
        whole, parts = _words(tokenizer, sample.corpus)
        counted.append(_in_symbols(tokenizer, whole))
        halves.append(parts)
    steps = min(merges, tokenizer.merges)
    listed = [tuple(vocabulary.merges[number]) for number in range(steps)]
    replayed = replay(listed, vocabulary.base_size, counted)  # type: ignore[arg-type]
    for sample, pairs in zip(samples, replayed.pairs, strict=True):
        if not pairs:
            raise TokentuiError("it has no pair of units", sample.name, "name a longer sample")
    divisors = {
        "pairs": replayed.pairs, "bytes": tuple(sample.corpus.size for sample in samples),
        "characters": tuple(sample.corpus.characters for sample in samples),
    }[denominator]
    program = MixtureProgram(replayed, divisors)
    fit = program.fit()
    by = [sample.corpus.size / divisor for sample, divisor in zip(samples, divisors, strict=True)]
    fit, intervals = program.intervals(by, fit)
    points = [float(share) for share in fit.shares]
    total = sum(share * each for share, each in zip(points, by, strict=True))
    of_pairs = [pairs / divisor for pairs, divisor in zip(replayed.pairs, divisors, strict=True)]
    pair_total = sum(share * each for share, each in zip(points, of_pairs, strict=True))
    shares = []
    for number, sample in enumerate(samples):
        point = points[number] * by[number] / total
        low, high = intervals[number]
        in_pairs = points[number] * of_pairs[number] / pair_total
        size = sample.corpus.size
        shares.append(SampleShare(sample.name, point, min(low, point), max(high, point), in_pairs, size))
    slacks = sorted(((-float(slack), step) for step, slack in enumerate(fit.steps) if slack > 0))[:_WORST]
    worst = tuple(_worst(tokenizer, step, -slack) for slack, step in slacks)
    absent = sum(not any(counts) for counts in replayed.merged)
    return Mixture(
        tuple(shares), fit.slack, steps, absent, worst, tuple(_alike(samples, halves)), fit.rounds,
        fit.converged, denominator,
    )


def _worst(tokenizer: Tokenizer, step: int, slack: float) -> Worst:
    """Return the merge of a step, given from 0, with the slack that it needs."""
    vocabulary = tokenizer.vocabulary
    symbol = vocabulary.base_size + step
    left, right = vocabulary.merges[step]
    pieces = vocabulary.pieces
    return Worst(step + 1, (pieces[left], pieces[right]), pieces[symbol], slack)


def _words(tokenizer: Tokenizer, corpus: Corpus) -> tuple[Counter[str], tuple[Counter[str], ...]]:
    """Return the count of each pre-token of a sample, and of its two halves; no halves of counted words."""
    pretokens = Pretokens(tokenizer)
    if corpus.counts is not None or corpus.named:
        words, _ = pretokens.count(corpus)
        return Counter(dict(zip(words.words, words.counts, strict=True))), ()
    text, halves = "\n".join(corpus.documents), []
    middle = text.find(" ", len(text) // 2)
    for part in ([text[:middle], text[middle:]] if middle > 0 else [text]):
        words, _ = pretokens.count(Corpus.from_text(part, corpus.name))
        halves.append(Counter(dict(zip(words.words, words.counts, strict=True))))
    words, _ = pretokens.count(corpus)
    counts = Counter(dict(zip(words.words, words.counts, strict=True)))
    return counts, tuple(halves) if len(halves) == 2 else ()


def _in_symbols(tokenizer: Tokenizer, words: Mapping[str, int]) -> Counter[tuple[int, ...]]:
    """Count the words by their units as numbers; an unknown unit is a barrier that no merge crosses.

    Words that are whole symbols are left out. It checks for cancellation.
    """
    units_of, number_of = tokenizer.encoder.pretokenizer.units, tokenizer.vocabulary.units
    symbols = tokenizer.encoder.pretokenizer.symbols
    out: Counter[tuple[int, ...]] = Counter()
    for number, (word, times) in enumerate(words.items()):
        if number % 4096 == 0:
            check()
        if word not in symbols:
            out[tuple(number_of.get(unit, _BARRIER) for unit in units_of(word))] += times
    return out


def _alike(
    samples: Sequence[MixtureSample], halves: Sequence[tuple[Counter[str], ...]]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of samples that have about as much in common as the halves of one of them."""
    own = [_common(*pair) if pair else 0.0 for pair in halves]
    for second in range(len(samples)):
        for first in range(second):
            if not halves[first] or not halves[second]:
                continue
            between = [_common(a, b) for a, b in zip(halves[first], halves[second], strict=True)]
            least = min(own[first], own[second])
            if least and sum(between) / 2 >= _ALIKE * least:
                yield samples[first].name, samples[second].name


def _common(a: Counter[str], b: Counter[str]) -> float:
    """Return how much the words of two texts overlap, by their shares: 1 if all, 0 if nothing or a text is
    empty."""
    of_a, of_b = a.total(), b.total()
    if not of_a or not of_b:
        return 0.0
    return sum(min(times / of_a, b[word] / of_b) for word, times in a.items() if word in b)


# ---- the report


def report(found: Mixture) -> Report:
    """Report on a mixture. With much slack its first line says that the shares mean little."""
    if found.slack > HIGH_SLACK:
        said = f"{found.slack:.3f}: the shares mean little, as no mixture of these samples makes such merges"
        first = Section("slack", warning(said))
    else:
        said = "0 is exact" if found.slack > _EXACT else "a mixture of these samples has just these merges"
        first = Section("slack", f"{found.slack:.3f}; {said}")
    rows = tuple(
        Row((
            share.name, f"{100 * share.share:.1f} %", f"{100 * share.low:.1f} to {100 * share.high:.1f} %",
            Bar(share.share),
        ))
        for share in found.shares
    )
    columns = Column("sample"), Column("bytes", "right"), Column("with 1 % more slack", "right"), Column()
    shares = Section("shares", "of the bytes of the training text", rows, columns)
    sections = [first, Section("merges", _looked_at(found)), shares]
    if found.unknown:
        apart = strong(f"cannot be told apart: {', '.join(found.unknown)}")
        sections.append(Section("unknown", apart, notes=tuple(_reasons(found))))
    if found.worst:
        worst = tuple(
            Row((f"{one.step:,}", f"{one.slack:.5f}", merged(one.parents, one.piece))) for one in found.worst
        )
        titles = Column("step", "right"), Column("slack", "right"), Column("merge")
        sections.append(Section("worst merges", "", worst, titles))
    return Report(
        "Training mixture", tuple(sections), {**as_row(found), "unknown": found.unknown},
        ", ".join(f"{share.name} {100 * share.share:.0f} %" for share in found.shares),
    )


def _looked_at(found: Mixture) -> str:
    more = f"; {found.absent:,} occur in no sample" if found.absent else ""
    ended = "" if found.converged else "; the search ended before all inequalities held"
    return f"the first {found.merges:,}{more}{ended}"


def _reasons(found: Mixture) -> Iterator[str]:
    """Yield why the shares are not certain: wide intervals, and sources that look alike."""
    wide = [share.name for share in found.shares if share.high - share.low > WIDE]
    if wide:
        yield f"the merges allow intervals wider than {100 * WIDE:.0f} points: {', '.join(wide)}"
    for first, second in found.alike:
        yield f"{first} and {second} differ hardly more than the halves of one of them"
