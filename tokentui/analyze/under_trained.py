"""Tokens that a model has hardly learned, by the rows of its embedding matrices.

A row that was seldom trained stays where it began, or is only decayed. The indicators, of which small values
are suspicious (Land and Bartolo, "Fishing for Magikarp", 2024; the program of the authors):

    norm                the length of the row of the input matrix
    cosine              1 - the cosine of the row of the output matrix and u
    cosine, centered    the same after the mean row is subtracted from the rows and u
    cosine, no first    the same after the first principal component is taken out of rows and u
    distance            the length of the difference of the row and u

u is the mean of the rows of tokens that are known to be unused: rows beyond the vocabulary, reserved names,
and bytes that UTF-8 never has. Without any of them only the norm is known, and with one matrix for input and
output there is no indicator.

The candidates are the tokens that text can produce, among the lowest two percent. That is a budget for a look
at the model, not a claim: a healthy model has two percent, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from operator import mul, sub
from typing import Any

from tokentui.analyze.glitches import NEVER, TITLES, glitches
from tokentui.analyze.report import (
    NUMBER,
    Bar,
    Cell,
    Column,
    Json,
    Report,
    Row,
    Section,
    Target,
    as_row,
    strong,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.formats.safetensors import BLOCK_ROWS, numpy
from tokentui.formats.weights import Matrix, Model
from tokentui.text.corpus import Corpus

NORM, COSINE, CENTERED = "norm", "cosine", "cosine, centered"
NO_FIRST, DISTANCE = "cosine, no first", "distance"
INDICATORS = {
    NORM: "the length of the row of the input matrix",
    COSINE: "1 - the cosine of the row and the mean of unused rows",
    CENTERED: "the same, the mean row subtracted",
    NO_FIRST: "the same, without the first principal component",
    DISTANCE: "the length of the difference of the row and the mean of unused rows",
}
"""The indicators by name, and what they mean."""
BUDGET = 0.02
"""The share of the tokens that text can produce that are candidates."""
_BINS = 20
_ROUNDS = 30
_SAMPLE = 4096, 512
"""The maximum number of rows that the principal component is found on, with NumPy and without."""
_LEAST = 1e-6
_FEW = 40
_RESERVED = re.compile(r"<?\W*(?:unused|reserved|extra_id|pad(?:ding)?_token_id)[\W_]?", re.IGNORECASE)
_NEVER_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
"""The bytes that UTF-8 never has."""
OK, SPECIAL, UNREACHABLE, UNDECODABLE = "ok", "special", "unreachable", "not whole characters"


@dataclass(frozen=True, slots=True)
class Learned:
    """A token, and how well it seems to be learned.

    Attributes:
        id: Its id.
        piece: Its exact bytes.
        category: `ok` if text produces it, `special`, `unreachable`, or `not whole characters`.
        values: The value of each indicator, in the order of `UnderTrained.indicators`.
        reason: Why it may be untrained: `reserved`, `unreachable`, `never typed` or `always merged`; empty
            if nothing is known.
    """

    id: int
    piece: bytes
    category: str
    values: tuple[float, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class UnderTrained:
    """The tokens that a model may not have learned.

    Attributes:
        model: The name of the model.
        rows: The rows of its input matrix.
        columns: The numbers of a row.
        dtype: Their type.
        tied: True if one matrix is input and output.
        vocab_size: The ids of the tokenizer.
        unused: The rows that are known to be unused.
        indicators: The names of the indicators, the first of which decides.
        threshold: The value up to which tokens are candidates.
        tokens: The number of tokens that text can produce.
        candidates: Those with values up to the threshold, the lowest first.
        others: Tokens of other categories with such values.
        histogram: The lowest and the highest value, and the number of tokens in each of equal steps between.
        not_numbers: The rows with a value that is no finite number.
    """

    model: str
    rows: int
    columns: int
    dtype: str
    tied: bool
    vocab_size: int
    unused: tuple[int, ...]
    indicators: tuple[str, ...]
    threshold: float
    tokens: int
    candidates: tuple[Learned, ...]
    others: tuple[Learned, ...]
    histogram: tuple[float, float, tuple[int, ...]]
    not_numbers: int


# ---- rows, with NumPy and without


class _Sums:
    """Sums over rows in one pass after another. The kind of a row decides who adds."""

    def __init__(self, model: Model, matrix: Matrix) -> None:
        self._model, self._matrix = model, matrix
        self.count, self.columns = matrix.tensor.shape

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, Any]]:
        for first, block in self._model.rows(self._matrix, start, stop):
            tick(first, self.count)
            yield first, block

    def norms(self) -> list[float]:
        """Return the Euclidean length of each row."""
        np, out = numpy(), list[float]()
        for _, block in self.blocks():
            if np is None:
                out += [math.hypot(*row) for row in block]
            else:
                with np.errstate(all="ignore"):
                    out += np.sqrt((block.astype(np.float64) ** 2).sum(axis=1)).tolist()
        return out

    def mean(self, which: Sequence[int] | None = None) -> Any:
        """Return the mean of all rows, or of those in `which`, which is sorted. Rows with a number that is
        not finite are left out. Zeros if no row is left."""
        np, count, wanted = numpy(), 0, None if which is None else frozenset(which)
        total: Any = [0.0] * self.columns if np is None else np.zeros(self.columns)
        for first, block in self._chosen(which):
            rows = [
                at - first for at in range(first, first + len(block)) if wanted is None or at in wanted
                if math.isfinite(sum(block[at - first]))
            ] if np is None else self._finite(np, first, block, wanted)
            count += len(rows)
            if np is None:
                for at in rows:
                    total = [a + b for a, b in zip(total, block[at], strict=True)]
            else:
                with np.errstate(all="ignore"):
                    total += block[rows].astype(np.float64).sum(axis=0)
        count = max(1, count)
        return [value / count for value in total] if np is None else total / count

    @staticmethod
    def _finite(np: Any, first: int, block: Any, wanted: frozenset[int] | None) -> list[int]:
        """Return the indexes in a block of the finite rows among those that are wanted."""
        good = np.isfinite(block).all(axis=1).nonzero()[0].tolist()
        return [at for at in good if wanted is None or first + at in wanted]

    def _chosen(self, which: Sequence[int] | None) -> Iterator[tuple[int, Any]]:
        """Yield blocks of rows that contain all of some sorted rows, and skip the gaps between them; all
        blocks for None."""
        if which is None:
            yield from self.blocks()
            return
        at = 0
        while at < len(which):
            start = which[at]
            yield from self.blocks(start, min(start + BLOCK_ROWS, self.count))
            while at < len(which) and which[at] < start + BLOCK_ROWS:
                at += 1

    def first_component(self, mean: Any) -> Any:
        """Return the first principal component of the centered rows, by power iteration; of many rows, of
        some at equal distances. Each round checks for cancellation."""
        np = numpy()
        most = _SAMPLE[np is None]
        step = max(1, -(-self.count // most))
        rows: list[Any] = []
        for first, block in self.blocks():
            rows += [block[at] for at in range(-first % step, len(block), step)]
        if np is not None:
            centered = np.asarray(rows, np.float64) - mean
            centered = centered[np.isfinite(centered).all(axis=1)]
            vector = np.ones(self.columns) / math.sqrt(self.columns)
            with np.errstate(all="ignore"):
                for _ in range(_ROUNDS):
                    check()
                    vector = centered.T @ (centered @ vector)
                    vector /= max(float(np.sqrt((vector**2).sum())), 1e-300)
            return vector
        centered = [list(map(sub, row, mean)) for row in rows if math.isfinite(sum(row))]
        found = [1 / math.sqrt(self.columns)] * self.columns
        for _ in range(_ROUNDS):
            check()
            new = [0.0] * self.columns
            for row in centered:
                by = sum(map(mul, row, found))
                new = [a + by * b for a, b in zip(new, row, strict=True)]
            length = max(math.hypot(*new), 1e-300)
            found = [value / length for value in new]
        return found

    def compared(self, unused: Any, mean: Any, component: Any) -> list[tuple[float, float, float, float]]:
        """Compare each row with the mean of unused rows: return its cosine distance, the same of centered
        rows, the same without the first component, and its Euclidean distance."""
        np = numpy()
        if np is not None:
            return self._compared_by_numpy(np, unused, mean, component)
        out = []
        along = sum(map(mul, unused, component))
        bare = [a - along * b for a, b in zip(unused, component, strict=True)]
        centered = list(map(sub, unused, mean))
        for _, block in self.blocks():
            for row in block:
                by = sum(map(mul, row, component))
                out.append((
                    _cosine(row, unused), _cosine(list(map(sub, row, mean)), centered),
                    _cosine([a - by * b for a, b in zip(row, component, strict=True)], bare),
                    math.dist(row, unused),
                ))
        return out

    def _compared_by_numpy(
        self, np: Any, unused: Any, mean: Any, component: Any
    ) -> list[tuple[float, float, float, float]]:
        """Return for each row its cosine distances to `unused`, and its Euclidean distance.

        The distances are plain, without the mean, and without the component; rows are read in blocks.
        """
        out: list[tuple[float, float, float, float]] = []
        bare = unused - (unused @ component) * component

        def cosine(rows: Any, to: Any) -> Any:
            lengths = np.sqrt((rows**2).sum(axis=1)) * math.sqrt(float((to**2).sum()))
            return 1 - rows @ to / np.maximum(lengths, _LEAST)

        for _, block in self.blocks():
            with np.errstate(all="ignore"):
                rows = block.astype(np.float64)
                columns = (
                    cosine(rows, unused), cosine(rows - mean, unused - mean),
                    cosine(rows - np.outer(rows @ component, component), bare),
                    np.sqrt(((rows - unused) ** 2).sum(axis=1)),
                )
            out += zip(*(column.tolist() for column in columns), strict=True)
        return out


def _cosine(row: Sequence[float], to: Sequence[float]) -> float:
    product: float = sum(map(mul, row, to))
    return 1 - product / max(math.hypot(*row) * math.hypot(*to), _LEAST)


# ---- the analysis


def unused_rows(tokenizer: Tokenizer, rows: int, never: Container[int] = ()) -> list[int]:
    """Return the ids that no text uses, whatever a model was trained on: rows beyond the vocabulary, reserved
    names, and single bytes that UTF-8 never has or that are never needed.

    Args:
        tokenizer: The tokenizer.
        rows: The rows of the matrix.
        never: The ids that no text produces.
    """
    found = set(range(_ids(tokenizer), rows))
    for entry in tokenizer.entries():
        reserved = entry.kind == "special" and _RESERVED.match(entry.text)
        needless = entry.kind == "byte" and entry.id in never
        if reserved or needless or _byte_of(entry) in _NEVER_UTF8:
            found.add(entry.id)
    return sorted(found)


def _byte_of(entry: TokenEntry) -> int:
    """Return the byte that a token alone stands for; -1 if it stands for something else."""
    if entry.kind == "byte" and re.fullmatch(r"<0x[0-9A-F]{2}>", entry.text):
        return int(entry.text[3:5], 16)
    return entry.piece[0] if entry.kind == "unit" and len(entry.piece) == 1 else -1


def _ids(tokenizer: Tokenizer) -> int:
    """Return one more than the greatest id."""
    return max((entry.id for entry in tokenizer.entries()), default=-1) + 1


def category(tokenizer: Tokenizer, entry: TokenEntry, never: Container[int]) -> str:
    """Return `SPECIAL` for a special or unknown token, `UNDECODABLE` for a part of a character, `UNREACHABLE`
    if no text produces the token or it cannot be decoded, otherwise `OK`. The first that holds counts.

    Args:
        tokenizer: The tokenizer.
        entry: The token.
        never: The ids that no text produces.
    """
    if entry.kind in ("special", "unknown"):
        return SPECIAL
    try:
        text = tokenizer.decode([entry.id])
    except TokentuiError:
        return UNREACHABLE
    if "\ufffd" in text or any("\udc80" <= char <= "\udcff" for char in text):
        return UNDECODABLE
    return UNREACHABLE if entry.id in never else OK


def under_trained(tokenizer: Tokenizer, model: Model, corpus: Corpus | None = None) -> UnderTrained:
    """Find the tokens that a model may not have learned.

    Args:
        tokenizer: The tokenizer of the model.
        model: The model.
        corpus: A corpus that tells which tokens occur only inside longer ones; None to leave that out.

    Raises:
        TokentuiError: One matrix is input and output, and no row is known to be unused; no token that text
            produces has a finite row; or a file ends early.
        Cancelled: The job is cancelled.
    """
    first = _Sums(model, model.input)
    tied = model.output is None
    odd = glitches(tokenizer, corpus)
    reasons = {glitch.id: TITLES[glitch.kind] for glitch in odd}
    never = {glitch.id for glitch in odd if glitch.kind == NEVER}
    unused = unused_rows(tokenizer, first.count, never)
    second = first if model.output is None else _Sums(model, model.output)
    compared = [at for at in unused if at < second.count]
    if tied and not compared:
        what = "one matrix is input and output, and no token is known to be unused to compare it with"
        raise TokentuiError(what, model.name, "name the output matrix with --head")
    columns: dict[str, list[float]] = {}
    if not tied:
        columns[NORM] = first.norms()
    if compared:
        mean = second.mean()
        others = second.compared(second.mean(compared), mean, second.first_component(mean))
        for at, name in enumerate((COSINE, CENTERED, NO_FIRST, DISTANCE)):
            columns[name] = [row[at] for row in others]
    if tied:
        columns[NORM] = first.norms()
    indicators = tuple(columns)
    decides = columns[indicators[0]]
    listed, reserved = list[Learned](), frozenset(unused)
    for number, entry in enumerate(tokenizer.entries()):
        if number % 1024 == 0:
            check()
        if entry.id >= len(decides):
            continue
        values = tuple(columns[name][entry.id] for name in indicators if entry.id < len(columns[name]))
        reason = "reserved" if entry.id in reserved else reasons.get(entry.id, "")
        listed.append(Learned(entry.id, entry.piece, category(tokenizer, entry, never), values, reason))
    good = sorted(row.values[0] for row in listed if row.category == OK and math.isfinite(row.values[0]))
    if not good:
        raise TokentuiError("no token that text produces has a finite row", model.name, "name another model")
    threshold = good[max(0, math.ceil(BUDGET * len(good)) - 1)]
    low = sorted((row for row in listed if row.values[0] <= threshold), key=lambda row: row.values)
    tensor = model.input.tensor
    return UnderTrained(
        model.name, first.count, first.columns, tensor.dtype, tied, tokenizer.vocab_size, tuple(unused),
        indicators, threshold, len(good), tuple(row for row in low if row.category in (OK, SPECIAL)),
        tuple(row for row in low if row.category not in (OK, SPECIAL)), _histogram(good),
        sum(not math.isfinite(value) for value in decides),
    )


def _histogram(values: Sequence[float]) -> tuple[float, float, tuple[int, ...]]:
    """Return the lowest and highest of sorted values, and the number of values in each of `_BINS` equal bins.
    There must be at least one value. If all are equal, they are in the first bin."""
    low, high = values[0], values[-1]
    bins = [0] * _BINS
    for value in values:
        bins[min(_BINS - 1, int((value - low) / (high - low) * _BINS)) if high > low else 0] += 1
    return low, high, tuple(bins)


# ---- the report


def report(found: UnderTrained) -> Report:
    """Report on the tokens that a model may not have learned."""
    name = found.indicators[0]
    matrix = f"{found.rows:,} rows of {found.columns:,} numbers ({found.dtype})"
    shared = "one matrix for input and output" if found.tied else "input and output are two matrices"
    low, high, bins = found.histogram
    most, step = max(bins), (high - low) / _BINS
    histogram = tuple(
        Row((
            f"{low + n * step:.4g}", f"{count:,}", Bar(count / most),
            "candidates end here" if low + n * step <= found.threshold < low + (n + 1) * step else "",
        ))
        for n, count in enumerate(bins)
    )
    unused = f"{len(found.unused):,}" if found.unused else "no"
    notes = [f"{one}: {INDICATORS[one]}" for one in found.indicators]
    if found.not_numbers:
        notes.append(f"{found.not_numbers:,} rows have a value that is no finite number")
    titles = (
        Column("id", "right"), Column("token"), Column("reason", flex=True),
        *(Column(one, "right", -at) for at, one in enumerate(found.indicators)),
    )
    upto = f"{name} up to {found.threshold:.4g}, the lowest {BUDGET:.0%}"
    said = f"{len(found.candidates):,} tokens with {upto}"
    return Report(
        "Under-trained tokens",
        (
            Section("model", f"{found.model}: {matrix}; {shared}"),
            Section("tokens", f"{found.tokens:,} that text produces; {unused} rows are known to be unused"),
            Section("indicators", f"{name} decides; low values are suspicious", notes=tuple(notes)),
            Section(name, "the distribution", histogram, (NUMBER, NUMBER, Column(), Column())),
            Section(
                "candidates", strong(f"{said}: a list to look at, not a claim"),
                tuple(map(_row, found.candidates)), titles, few=_FEW,
            ),
            Section(
                "others", f"{len(found.others):,} that no text produces, or not alone, with such values",
                tuple(map(_row, found.others)), titles, few=_FEW, folded=True,
            ),
        ),
        {**as_row(found), "histogram": {"low": low, "high": high, "counts": bins},
         "candidates": list(map(_json, found.candidates)), "others": list(map(_json, found.others))},
        said,
    )


def _json(token: Learned) -> Json:
    """Return a token as JSON. A value that is no finite number is null."""
    return as_row(token) | {"values": [value if math.isfinite(value) else None for value in token.values]}


def _row(token: Learned) -> Row:
    reason = token.reason or ("" if token.category == OK else token.category)
    values = (f"{value:.4f}" for value in token.values)
    cells: tuple[Cell, ...] = (str(token.id), token.piece, reason, *values)
    return Row(cells, Target("token", token.id))
