"""The differences of two tokenizers: the first merge that differs, ids that moved, tokens that came and went,
special tokens, steps, chat templates, and the documents of a corpus that change.

Tokens are matched by their exact bytes, marks included; several with the same bytes first by equal ids, then
in order of their ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokentui.analyze.divergence import Decision, Meanings, first_numbers
from tokentui.analyze.documents import ChangedDocument, DocumentsDiff, documents_diff, first_changed
from tokentui.analyze.report import (
    Cell,
    Column,
    Json,
    Report,
    Row,
    Section,
    Span,
    Target,
    Tokens,
    as_json,
    as_row,
    data,
    merged,
    muted,
    piece_row,
    segmented,
    strong,
)
from tokentui.analyze.stages import STAGES, FirstText
from tokentui.axes import label, word
from tokentui.core.jobs import each
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
from tokentui.encode.pipeline import Parents
from tokentui.encode.segment.merges import JoinedMerging
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.formats.spec import Spec
from tokentui.recipe import AXIS_NAMES, SHAPE
from tokentui.text.corpus import Corpus

TEMPLATE = "chat_template"
"""The key of a file that holds the text of its chat template."""
_TRAINING = ("base", "objective", "weight", "tie", "pieces", "coverage", "what_if")
"""The axes and parameters of a training, which another tool's file does not store."""
_ELSEWHERE = ("added_tokens", "version", TEMPLATE)
"""Keys of a file that other sections report, or that say nothing of a text."""
_SHOWN = 80
MERGE_FIELDS = ("id", "elsewhere", "built", "uses")
"""The fields of a side of a differing merge in JSON, besides its tokens."""


@dataclass(frozen=True, slots=True)
class MergeSide:
    """The merge of one tokenizer at the step where two tokenizers differ.

    Attributes:
        parts: The exact bytes of the pair.
        token: The token that it makes.
        id: Its id.
        elsewhere: The step at which the other tokenizer makes the same merge; None if it never does.
        built: The number of later merges made of this token, directly or not; None if a file stores no pairs.
        uses: The occurrences of the token in the documents of the corpus that change; None without a corpus.
    """

    parts: tuple[bytes, bytes]
    token: bytes
    id: int
    elsewhere: int | None
    built: int | None
    uses: int | None = None


@dataclass(frozen=True, slots=True)
class MergeDifference:
    """The first step (from 1) at which two lists of merges differ. A side is None if its list has ended."""

    step: int
    a: MergeSide | None
    b: MergeSide | None


@dataclass(frozen=True, slots=True)
class ChangedToken:
    """A token of one of two tokenizers.

    Attributes:
        id: Its id there.
        piece: Its exact bytes.
        kind: The kind of its entry.
        uses: Its occurrences in the documents of the corpus that change; None without a corpus.
    """

    id: int
    piece: bytes
    kind: str
    uses: int | None = None


@dataclass(frozen=True, slots=True)
class MovedIds:
    """A run of tokens with consecutive ids in both tokenizers, which differ by the same number.

    Attributes:
        first, last: The first and last id in the first tokenizer.
        by: The number that is added to each id in the second one; negative for lower ids.
        piece: The exact bytes of the first token.
    """

    first: int
    last: int
    by: int
    piece: bytes


@dataclass(frozen=True, slots=True)
class Rescored:
    """A token whose score (a natural log probability) changed."""

    piece: bytes
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs: where it is, and its text in both tokenizers (None if absent)."""

    where: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences of two tokenizers.

    Attributes:
        merges: The first merge that is spelled differently; None if there is none, or a tokenizer has no
            merges.
        merges_by_meaning: The first merge with another meaning: a space, ▁ and a mark at the edge of a word
            are the same boundary.
        moved: The ids that moved, in runs.
        moved_count: How many tokens have another id.
        reused: The number of ids of the first that are another token in the second.
        went: The tokens that the second lacks, those used most first, then in order of the ids.
        came: The tokens that the first lacks, in the same order.
        rescored: The tokens of another score, the greatest change first.
        specials: What differs of special tokens: names, ids, flags, and those around a text.
        steps: The axes and steps that differ.
        template: The first line of the chat template that differs.
        documents: The documents of the corpus, None without one.
        first: The first text of the corpus that differs, and the stage; None if there is none, or without a
            corpus.
    """

    merges: MergeDifference | None
    merges_by_meaning: MergeDifference | None
    moved: tuple[MovedIds, ...]
    moved_count: int
    reused: int
    went: tuple[ChangedToken, ...]
    came: tuple[ChangedToken, ...]
    rescored: tuple[Rescored, ...]
    specials: tuple[Change, ...]
    steps: tuple[Change, ...]
    template: Change | None
    documents: DocumentsDiff | None
    first: FirstText | None = None

    @property
    def same(self) -> bool:
        """True if nothing differs, as far as this diff looks."""
        texts = self.documents
        return not (
            self.merges or self.moved or self.went or self.came or self.rescored or self.specials
            or self.steps or self.template or (texts and (texts.changed or texts.recut))
        )

    @property
    def same_ids(self) -> bool:
        """True if each id of the first tokenizer is the same token in the second, and each text of the corpus
        gets the same ids. The second may have more tokens."""
        return not (self.moved or self.went or (self.documents and self.documents.changed))

    def grows_more(self, share: float) -> bool:
        """Return whether the second tokenizer needs more tokens for the corpus by more than a share, or alone
        refuses a document. False without a corpus.

        Args:
            share: The share of the tokens of the first, such as 0.005.
        """
        texts = self.documents
        if texts is None:
            return False
        return bool(texts.only_b_refuses) or texts.b - texts.a > share * texts.a


def diff(
    a: Tokenizer, b: Tokenizer, corpus: Corpus | None = None, *, rows: int = 10, processes: int | None = None
) -> Diff:
    """Compare two tokenizers. Progress of the job is in characters of the corpus.

    Args:
        a: The first, the old one.
        b: The second, the new one.
        corpus: The corpus; None for none.
        rows: The maximum number of documents listed.
        processes: The processes at most; the cores of the machine if None.

    Raises:
        Cancelled: The job is cancelled.
    """
    pairs, went, came = _matched(a, b)
    same = {old.id: new.id for old, new in pairs}
    texts = first = None
    if corpus is not None:
        texts = documents_diff(a, b, same, corpus, rows, processes=processes)
        first = first_changed(a, b, same, corpus, texts)
    uses_a, uses_b = (None, None) if texts is None else (texts.uses_a, texts.uses_b)
    by_meaning, spelled = _merges(a, b, uses_a, uses_b)
    moved = sorted((old.id, new.id, old.piece) for old, new in pairs if old.id != new.id)
    ids_of_b = {new.id for _, new in pairs} | {entry.id for entry in came}
    scores = (Rescored(old.piece, old.score, new.score) for old, new in pairs
              if old.score is not None and new.score is not None and old.score != new.score)
    return Diff(
        spelled, by_meaning, tuple(_runs(moved)), len(moved),
        sum(number in ids_of_b for number, _, _ in moved) + sum(entry.id in ids_of_b for entry in went),
        _changed(went, uses_a), _changed(came, uses_b),
        tuple(sorted(scores, key=lambda change: -abs(change.b - change.a))),
        tuple(_specials(a, b)), tuple(_steps(a, b)), _template(a, b), texts, first,
    )


def _matched(a: Tokenizer, b: Tokenizer) -> tuple[
    list[tuple[TokenEntry, TokenEntry]], list[TokenEntry], list[TokenEntry]
]:
    """Return the pairs of entries that are the same token, the entries of only the first, and those of only
    the second. Entries with the same bytes are paired by equal ids first, then in order of their ids."""
    theirs: dict[bytes, list[TokenEntry]] = {}
    for entry in each(b.entries()):
        theirs.setdefault(entry.piece, []).append(entry)
    pairs, only_a, waiting = [], [], []
    for entry in each(a.entries()):
        # A token that kept its id is the same one, whatever others have its bytes.
        same_bytes = theirs.get(entry.piece, [])
        twin = next((other for other in same_bytes if other.id == entry.id), None)
        if twin is None:
            waiting.append(entry)
        else:
            same_bytes.remove(twin)
            pairs.append((entry, twin))
    for entry in waiting:
        if remaining := theirs.get(entry.piece):
            pairs.append((entry, remaining.pop(0)))
        else:
            only_a.append(entry)
    return pairs, only_a, [entry for entries in theirs.values() for entry in entries]


def _changed(entries: Sequence[TokenEntry], uses: Mapping[int, int] | None) -> tuple[ChangedToken, ...]:
    """Return the entries as changed tokens, most used first. Without `uses` they come by id."""
    tokens = [
        ChangedToken(entry.id, entry.piece, entry.kind, None if uses is None else uses.get(entry.id, 0))
        for entry in entries
    ]
    return tuple(sorted(tokens, key=lambda token: (-(token.uses or 0), token.id)))


def _runs(moved: Sequence[tuple[int, int, bytes]]) -> Iterator[MovedIds]:
    """Yield runs of (old id, new id, bytes) with consecutive ids that move by the same number."""
    for (_, by), run in itertools.groupby(
        enumerate(moved), lambda row: (row[1][0] - row[0], row[1][1] - row[1][0])
    ):
        tokens = [token for _, token in run]
        yield MovedIds(tokens[0][0], tokens[-1][0], by, tokens[0][2])


# ---- merges


class _Merges:
    """The merges of a tokenizer in order.

    Args:
        tokenizer: The tokenizer.
        rows: True for all rows of a file, False for the first merge of each token.
    """

    def __init__(self, tokenizer: Tokenizer, rows: bool) -> None:
        self._vocabulary = vocabulary = tokenizer.vocabulary
        self._at = tokenizer.merges
        self._listed = Spec(tokenizer).pairs if rows else None
        self._meanings = Meanings(vocabulary)

    def __len__(self) -> int:
        return self._at if self._listed is None else len(self._listed)

    def of(self, number: int) -> tuple[int, int, int]:
        """Return (left, right, made) of a merge, numbered from 0, as symbols."""
        if self._listed is not None:
            return self._listed[number]
        return *self._vocabulary.merges[number], self._vocabulary.made_by(number + 1)

    def spelled(self, number: int) -> tuple[bytes, bytes] | None:
        """Return the bytes of the pair of a merge; None past the end."""
        if number >= len(self):
            return None
        left, right, _ = self.of(number)
        return self._vocabulary.spelled(left), self._vocabulary.spelled(right)

    def decision(self, number: int) -> Decision:
        """Return a merge by spelling and by meaning; None past the end."""
        if number >= len(self):
            return None, None
        left, right, _ = self.of(number)
        return self.spelled(number), self._meanings.of_symbols(left, right)

    def token(self, number: int) -> bytes | None:
        """Return the token that a merge makes; None past the end."""
        return None if number >= len(self) else self._vocabulary.spelled(self.of(number)[2])

    def side(
        self, number: int, other: _Merges, uses: Mapping[int, int] | None, meant: bool
    ) -> MergeSide | None:
        """Describe a merge and its effect; return None past the end.

        Args:
            number: The merge, from 0.
            other: The merges of the other tokenizer, searched for the same merge.
            uses: The occurrences of each id; None without a corpus.
            meant: True to compare merges by meaning, false by spelling.
        """
        if number >= len(self):
            return None
        left, right, made = self.of(number)
        pieces, identity = self._vocabulary.spelled, self._vocabulary.id_of(made, self._at)
        numbers = each(range(len(other)))
        if meant:
            meaning = self.decision(number)[1]
            place = next((n + 1 for n in numbers if other.decision(n)[1] == meaning), None)
        else:  # few tokens are spelled so, and their pairs may have to be worked out
            token, pair = self.token(number), self.spelled(number)
            alike = (n for n in numbers if other.token(n) == token)
            place = next((n + 1 for n in alike if other.spelled(n) == pair), None)
        return MergeSide(
            (pieces(left), pieces(right)), pieces(made), identity, place, self._count_built(number),
            None if uses is None else uses.get(identity, 0),
        )

    def _count_built(self, number: int) -> int | None:
        """Count the later merges made of the token of a merge, directly or not. Return None if the pairs of
        merges are not stored."""
        if isinstance(self._vocabulary.merges, Parents):  # to work all of them out takes seconds
            return None
        built_symbols, built = {self.of(number)[2]}, 0
        for later in range(number + 1, len(self)):
            left, right, made = self.of(later)
            if left in built_symbols or right in built_symbols:
                built_symbols.add(made)
                built += 1
        return built


def _merges(
    a: Tokenizer, b: Tokenizer, uses_a: Mapping[int, int] | None, uses_b: Mapping[int, int] | None
) -> tuple[MergeDifference | None, MergeDifference | None]:
    """Return the first merge that differs by meaning, and the first that differs by spelling. Both are None
    if a tokenizer has no merges."""
    if not (a.merges and b.merges):
        return None, None
    joined = [isinstance(tokenizer.encoder.segmenter, JoinedMerging) for tokenizer in (a, b)]
    first, second = (_Merges(tokenizer, not any(joined)) for tokenizer in (a, b))
    start, ends = 0, max(len(first), len(second))
    if all(joined) and _units(a) == _units(b):
        # The pairs of ranks follow from the tokens: where these are alike, so are those.
        start = next((n for n in each(range(ends)) if first.token(n) != second.token(n)), ends)
    decisions = ((first.decision(n), second.decision(n)) for n in each(range(start, ends)))
    by_meaning, by_spelling = first_numbers(decisions, start + 1)

    def difference(number: int | None, meant: bool) -> MergeDifference | None:
        if number is None:
            return None
        return MergeDifference(
            number, first.side(number - 1, second, uses_a, meant),
            second.side(number - 1, first, uses_b, meant),
        )

    spelled = difference(by_spelling, False)
    return spelled if by_meaning == by_spelling else difference(by_meaning, True), spelled


def _units(tokenizer: Tokenizer) -> list[bytes]:
    vocabulary = tokenizer.vocabulary
    return vocabulary.pieces[: vocabulary.base_size]


# ---- specials, steps, templates


def _specials(a: Tokenizer, b: Tokenizer) -> Iterator[Change]:
    """Yield the changes of special tokens: their ids, the tokens added before and after a text, the unknown
    token, and flags."""
    ids_a, ids_b = ({
        name: str(tokenizer.vocabulary.special_id(name)) for name in tokenizer.vocabulary.specials
    } for tokenizer in (a, b))
    yield from _differing({f"id of {name}": number for name, number in ids_a.items()},
                          {f"id of {name}": number for name, number in ids_b.items()})
    yield from _differing(_flags(a), _flags(b)) if _both_staged(a, b) else ()
    for n, where in enumerate(("before a text", "after a text")):
        texts = [" ".join(tokenizer.encoder.around[n]) for tokenizer in (a, b)]
        if texts[0] != texts[1]:
            yield Change(where, *texts)
    unknown = [str(tokenizer.vocabulary.unknown_id) for tokenizer in (a, b)]
    if unknown[0] != unknown[1]:
        yield Change("id of the unknown token", *unknown)


def _flags(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the flags of the added tokens of a file, `true` or `false`, by a name such as `lstrip of <pad>`.
    A flag that is not in the file has its default. Empty if the file lists none."""
    added = tokenizer.vocabulary.file.stages.get("added_tokens")
    listed = [token for token in added if isinstance(token, dict)] if isinstance(added, list) else []
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {
        f"{flag} of {token.get('content')}": str(bool(token.get(flag, flag == "normalized"))).lower()
        for token in listed for flag in flags
    }


def _both_staged(a: Tokenizer, b: Tokenizer) -> bool:
    """Return whether both are of files of one format that lists its steps."""
    file_a, file_b = a.vocabulary.file, b.vocabulary.file
    return file_a.format == file_b.format and bool(file_a.stages and file_b.stages)


def _steps(a: Tokenizer, b: Tokenizer) -> Iterator[Change]:
    """Yield the axes that differ. If both files have one format, yield the steps of the files that differ,
    too.

    Axes of training are compared only if tokentui trained both. For axes that only approximate the steps of
    a file, these steps are compared instead.
    """
    read = any(tokenizer.vocabulary.imported for tokenizer in (a, b))
    staged = _both_staged(a, b)
    for name in (*AXIS_NAMES, *SHAPE):
        if (read and name in _TRAINING) or (staged and name in ("split", "normalize")):
            continue
        values = [word(tokenizer.recipe, name) for tokenizer in (a, b)]
        if values[0] != values[1]:
            yield Change(name, *values)
    if staged:
        stages = (tokenizer.vocabulary.file.stages for tokenizer in (a, b))
        compared = ({key: step for key, step in steps.items() if key not in _ELSEWHERE} for steps in stages)
        yield from _differing(*(dict(_leaves(steps, "")) for steps in compared))


def _leaves(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each value of a JSON document, such as `model.vocab[3]`; an empty list
    or object is a value."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list) and value:
        for n, inner in enumerate(value):
            yield from _leaves(inner, f"{where}[{n}]")
    else:
        yield where, "null" if value is None else str(value)


def _differing(texts_a: Mapping[str, str], texts_b: Mapping[str, str]) -> Iterator[Change]:
    """Yield a change for each place whose text differs, shortened. A text is None if only the other side has
    the place."""
    for where in dict.fromkeys((*texts_a, *texts_b)):
        values = texts_a.get(where), texts_b.get(where)
        if values[0] != values[1]:
            yield Change(where, *(None if value is None else _short(value) for value in values))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def template_of(tokenizer: Tokenizer) -> str | None:
    """Return the chat template that the file of a tokenizer stores, or None. Several templates are joined."""
    stored = tokenizer.vocabulary.file.stages.get(TEMPLATE)
    if isinstance(stored, list):
        rows = [row for row in stored if isinstance(row, dict)]
        return "\n".join(f"{row.get('name')}:\n{row.get('template')}" for row in rows)
    return stored if isinstance(stored, str) else None


def _template(a: Tokenizer, b: Tokenizer) -> Change | None:
    """Return the first line in which the chat templates differ, None if they are the same.

    If only one tokenizer has a template, its number of lines stands for it.
    """
    texts = template_of(a), template_of(b)
    if texts[0] == texts[1]:
        return None
    if None in texts:
        return Change("chat template", *(
            None if text is None else f"{text.count(chr(10)) + 1:,} lines" for text in texts
        ))
    lines = [(text or "").split("\n") for text in texts]
    for number, (line_a, line_b) in enumerate(itertools.zip_longest(*lines), 1):
        if line_a != line_b:
            return Change(f"chat template, line {number:,}", line_a, line_b)
    return None


# ---- the report

_TOTALS = ("documents", "changed", "recut", "grown", "shrunk", "refused_a", "refused_b", "only_b_refuses",
           "a", "b", "growth")
_LETTERS = "AB"
_BEFORE = 16
_LEFT = (Column(),)


def report(
    differences: Diff, names: tuple[str, str], tokenizers: tuple[Tokenizer, Tokenizer] | None = None,
    bounds: Mapping[str, bool] | None = None, rows: int | None = None,
) -> Report:
    """Report on the differences of two tokenizers, A and B.

    Args:
        differences: The differences.
        names: The names of the tokenizers.
        tokenizers: The tokenizers, which add to the first lines and to JSON; None to leave them out.
        bounds: The bounds that were checked, and whether each holds.
        rows: The maximum number of rows of a section that the terminal prints; None for all.
    """
    sections = []
    for n, name in enumerate(names):
        tokenizer = None if tokenizers is None else tokenizers[n]
        about = "" if tokenizer is None else f"  {label(tokenizer.recipe)}  {tokenizer.vocab_size:,} ids"
        sections.append(Section(_LETTERS[n], (name, about)))
    if differences.same:
        sections.append(Section("", "no differences"))
    sections += [
        *_merge_sections(differences, rows),
        *_id_sections(differences, rows),
        *_change_sections(differences, rows),
        *([] if differences.documents is None else _document_sections(differences.documents)),
        *([] if differences.first is None else _first_sections(differences.first)),
    ]
    for name, holds in (bounds or {}).items():
        sections.append(Section("bound", f"{name}: {'passed' if holds else 'failed'}"))
    value = _value(differences, names, tokenizers) | {"bounds": dict(bounds or {})}
    return Report(f"From {names[0]} to {names[1]}", tuple(sections), value, _summary(differences))


def _summary(differences: Diff) -> Cell:
    """Return the change of tokens in the corpus; without a corpus, only whether the tokenizers differ."""
    texts = differences.documents
    if differences.same or texts is None:
        return strong("no differences" if differences.same else "the tokenizers differ")
    growth = "" if texts.growth is None else f" {texts.growth:+.3%}"
    recut = f" · {texts.recut:,} of {plural(texts.documents, 'document')} with different tokens"
    ids = f", {texts.changed:,} with different ids"
    return (strong(f"{texts.a:,} → {plural(texts.b, 'token')}{growth}"), muted(recut + ids))


def _merge_sections(differences: Diff, rows: int | None) -> Iterator[Section]:
    """Yield the first merge that differs, by spelling and by meaning, with both sides; none if none does."""
    spelled, meant = differences.merges, differences.merges_by_meaning
    if spelled is None:
        return
    yield Section("merges", f"first difference at step {spelled.step:,}", _sides(spelled), _LEFT, rows)
    if meant is None:
        yield Section("", "the same by meaning")
    elif meant.step != spelled.step:
        yield Section("by meaning", f"first difference at step {meant.step:,}", _sides(meant), _LEFT, rows)


def _sides(difference: MergeDifference) -> tuple[Row, ...]:
    """Return a row for each side of a differing merge, with where the other one has it."""
    rows = []
    for n, side in enumerate((difference.a, difference.b)):
        if side is None:
            rows.append(Row((_LETTERS[n], "has no more merges")))
            continue
        other = _LETTERS[1 - n]
        there = f"not in {other}" if side.elsewhere is None else f"in {other} at step {side.elsewhere:,}"
        more = "" if side.built is None else f"{plural(side.built, 'later merge')} built on it"
        cells: tuple[Cell, ...] = (
            _LETTERS[n], merged(side.parts, side.token), f"id {side.id:,}", muted(there), muted(more),
            *_uses(side),
        )
        rows.append(Row(cells, Target("token", side.id, n)))
    return tuple(rows)


def _uses(token: MergeSide | ChangedToken) -> tuple[Cell, ...]:
    return () if token.uses is None else (muted(f"{token.uses:,} in changed documents"),)


def _id_sections(differences: Diff, rows: int | None) -> Iterator[Section]:
    """Yield a section each for the ids that moved, removed tokens, added tokens and changed scores, if there
    are any. The terminal prints at most `rows` rows of each."""
    if differences.moved:
        belongs = "belongs" if differences.reused == 1 else "belong"
        summary = f"{plural(differences.moved_count, 'token')} moved; "
        summary += f"{plural(differences.reused, 'id')} of A {belongs} to another token in B"
        moved = tuple(
            Row((_ids(run.first, run.last), f"→ {_ids(run.first + run.by, run.last + run.by)}",
                 f"{run.by:+,}", run.piece), Target("token", run.first, 0))
            for run in differences.moved
        )
        yield Section("ids", summary, moved, few=rows)
    for n, (name, tokens) in enumerate((("removed", differences.went), ("added", differences.came))):
        if tokens:
            listed = tuple(
                Row((f"{token.id:,}", token.piece, muted(token.kind), *_uses(token)),
                    Target("token", token.id, n))
                for token in tokens
            )
            yield Section(name, plural(len(tokens), "token"), listed, few=rows)
    if differences.rescored:
        scores = tuple(
            Row((f"{change.a:.4f}", f"→ {change.b:.4f}", change.piece)) for change in differences.rescored
        )
        yield Section("scores", plural(len(differences.rescored), "token"), scores, few=rows)


def _ids(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _change_sections(differences: Diff, rows: int | None) -> Iterator[Section]:
    """Yield a section each for special tokens, steps and the template, if they differ."""
    template = (differences.template,) if differences.template else ()
    changes_of = {"specials": differences.specials, "steps": differences.steps, "template": template}
    for name, changes in changes_of.items():
        if changes:
            summary = plural(len(changes), "difference")
            yield Section(name, summary, tuple(map(_change, changes)), _LEFT, rows)


def _change(change: Change) -> Row:
    a, b = ("none" if text is None else data(text) if text else "nothing" for text in (change.a, change.b))
    return Row((muted(change.where), (a, muted(" → "), b)))


def _document_sections(documents: DocumentsDiff) -> Iterator[Section]:
    """Yield the totals of the corpus, then refusals and the documents that change most, if any."""
    summary = f"{plural(documents.documents, 'document')}: {documents.changed:,} with different ids, "
    summary += f"{documents.recut:,} with different tokens "
    summary += f"({documents.grown:,} grow, {documents.shrunk:,} shrink)"
    yield Section("corpus", summary)
    growth = "" if documents.growth is None else f", {documents.growth:+.3%}"
    yield Section("tokens", f"{documents.a:,} → {documents.b:,}{growth}")
    if documents.refused_a or documents.refused_b:
        summary = f"A {documents.refused_a:,}, B {documents.refused_b:,}, B only {documents.only_b_refuses:,}"
        yield Section("refused", summary)
    if documents.worst:
        yield Section("documents", "largest change first", tuple(map(_document, documents.worst)), _LEFT)


def _first_sections(first: FirstText) -> Iterator[Section]:
    """Yield the first text that differs, the stage at which it differs, and the result of that stage for both
    tokenizers."""
    yield Section("first text", f"document {first.number:,}, stage {first.stage}: {STAGES[first.stage]}")
    rows = [Row((muted("text"), data(first.text)))]
    for letter, side in zip(_LETTERS, (first.a, first.b), strict=True):
        cells: Cell = _tokens(side.tokens)
        if side.refused is not None and first.stage not in ("normalization", "split"):
            cells = (f"refused: {side.refused}",)
        elif first.stage == "normalization":
            cells = (data(side.normalized),)
        elif first.stage == "split":
            cells = _tokens(side.words)
        elif first.stage == "ids":
            cells = (" ".join("null" if number is None else str(number) for number in side.ids),)
        rows.append(Row((letter, cells)))
    yield Section("", "", tuple(rows), _LEFT)


def _document(document: ChangedDocument) -> Row:
    """Return the row of a document: its tokens in both, and the first place that is cut differently.

    Sizes read "refused" if a side cannot encode it; the reasons follow.
    """
    times = "" if document.count == 1 else f", {document.count:,} times"
    sizes: Cell = Span("refused", "error")
    if document.a is not None and document.b is not None:
        style = "warning" if document.growth > 0 else "success"
        sizes = (f"{document.a:,} → {document.b:,} tokens, ", Span(f"{document.growth:+,}", style))
    place, beginning = document.place, data(document.name)
    cells: tuple[Cell, ...] = (beginning,)
    if place is not None:
        text = (muted("…" * (place.start > _BEFORE)), data(place.before[-_BEFORE:], "muted"), muted("▸"),
                data(place.text, "strong"), muted("◂"))
        cells = (text, (_tokens(place.a, place.start), muted(" → "), _tokens(place.b, place.start)))
    refusals = [
        f"{letter} cannot encode it: {why}"
        for letter, why in zip(_LETTERS, document.refusals, strict=True) if why
    ]
    return Row((f"document {document.number:,}{times}:", sizes, *cells, *refusals), about=beginning)


def _tokens(texts: Iterable[str], start: int = 0) -> Tokens:
    return segmented(map(to_bytes, texts), start, between="│")


def _value(
    differences: Diff, names: tuple[str, str], tokenizers: tuple[Tokenizer, Tokenizer] | None
) -> dict[str, object]:
    """Return the JSON of a diff. Without tokenizers their list is empty; without a corpus, `corpus` and
    `first` are None."""
    texts = differences.documents
    return {
        "same": differences.same,
        "same_ids": differences.same_ids,
        "tokenizers": [
            {"letter": letter, "name": name, "vocab_size": tokenizer.vocab_size,
             "recipe": tokenizer.recipe.to_dict() | tokenizer.recipe.shape}
            for letter, name, tokenizer in zip(_LETTERS, names, tokenizers or (), strict=False)
        ],
        "merges": _merges_json(differences.merges),
        "merges_by_meaning": _merges_json(differences.merges_by_meaning),
        "moved": differences.moved,
        "moved_count": differences.moved_count,
        "reused": differences.reused,
        "went": differences.went,
        "came": differences.came,
        "rescored": differences.rescored,
        "specials": differences.specials,
        "steps": differences.steps,
        "template": differences.template,
        "corpus": None if texts is None else as_row(texts, *_TOTALS) | {"worst": as_json(texts.worst)},
        "first": as_json(differences.first),
    }


def _merges_json(difference: MergeDifference | None) -> Json | None:
    if difference is None:
        return None
    return {"step": difference.step, "a": _side_json(difference.a), "b": _side_json(difference.b)}


def _side_json(side: MergeSide | None) -> Json | None:
    if side is None:
        return None
    pieces = {"parts": [piece_row(part) for part in side.parts], "token": piece_row(side.token)}
    return pieces | as_row(side, *MERGE_FIELDS)
