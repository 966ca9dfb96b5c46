"""From columns to what a screen sees of them: pure questions, answered where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tokentui.analyze.agreement import agreement, cuts, word_spans
from tokentui.analyze.align import Alignment, Width, align
from tokentui.analyze.curves import as_trained, bits, evenly
from tokentui.core.errors import TokentuiError
from tokentui.encode import Encoding, WordEncoder, encode
from tokentui.learn.base import Stops, Trainer
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.replay import OpenedTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.presets import label
from tokentui.session.compared import (
    Aligned,
    ColumnAt,
    ColumnView,
    CompareLook,
    Curve,
    PairAgreement,
    PartingSide,
    Passage,
)
from tokentui.session.comparing.column import Column, Opened
from tokentui.session.replay_rows import last_birth
from tokentui.session.rows import candidate_rows, last_row, why_view
from tokentui.session.snapshot import Busy, EncodedToken, PairRow
from tokentui.text.corpus import to_bytes

MOST_SHOWN = 4_000
"""Of a longer text that is typed only so many characters are shown aligned."""


class Columns:
    """The columns as they are shown, kept while they stay where they are."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[object, ...], ColumnAt]] = {}

    def view(self, column: Column, look: CompareLook) -> ColumnView:
        """A column."""
        opened, recipe = column.opened, column.recipe
        at, coming = None, None
        if opened is not None and column.there:
            at = self._at(column, opened, look)
        elif not column.error:
            coming = column.opening if opened is None else Busy("coming", opened.trainer.number, 0)
        return ColumnView(
            key=column.key,
            name=column.name,
            about=label(recipe) if recipe else "",
            recipe=recipe,
            path=column.wanted.path,
            error=column.error,
            coming=coming,
            at=at,
            notes=opened.tokenizer.notes if opened and opened.tokenizer else (),
        )

    def _at(self, column: Column, opened: Opened, look: CompareLook) -> ColumnAt:
        trainer = opened.trainer
        key = (trainer, trainer.number, trainer.known, look.pairs_top, look.pairs_rows)
        known = self._known.get(column.key)
        if known is None or known[0] != key:
            known = self._known[column.key] = (key, column_at(opened, look.pairs_top, look.pairs_rows))
        return known[1]


def column_at(opened: Opened, top: int, rows: int) -> ColumnAt:
    """The numbers of a column where it stands, and its candidates from a row on."""
    trainer, stops = opened.trainer, opened.stops
    pairs_top, pairs = candidate_rows(trainer, top, rows)
    last, last_id = last_made(trainer)
    target, ending = trainer.ending(stops)
    counted = trainer.tokens and opened.recipe.weight != "distinct"
    return ColumnAt(
        step=trainer.number,
        known=trainer.known,
        target=target,
        tokens=trainer.tokens,
        start_tokens=trainer.start_tokens,
        bytes_per_token=opened.corpus.size / trainer.tokens if counted else None,
        vocab_size=trainer.vocab_size,
        pairs=pairs,
        pairs_top=pairs_top,
        pairs_total=trainer.pairs,
        why=why_view(trainer, stops),
        last=last,
        last_id=last_id,
        ending=ending,
    )


def last_made(trainer: Trainer) -> tuple[PairRow | None, int | None]:
    """The step that a training made last, and the id that it made."""
    if isinstance(trainer, OpenedTrainer):
        born = last_birth(trainer)
        return born, born.id if born else None
    if not trainer.number or isinstance(trainer, UnigramTrainer):
        return None, None
    step = trainer.step_at(trainer.number)
    return last_row(step), step.id


def parting_side(trainer: Trainer, stops: Stops, step: int, rows: int) -> PartingSide:
    """What a training does at a step, or that it has ended before; it is left there."""
    trainer.jump(min(step - 1, trainer.known))
    why = why_view(trainer, stops)
    made = step <= trainer.known
    choice = None
    if made and not isinstance(trainer, UnigramTrainer):
        choice = why.best if isinstance(trainer, OpenedTrainer) else last_row(trainer.step_at(step))
    return PartingSide(
        choice=choice,
        round=why.round if made else None,
        end=None if made else trainer.end(stops),
        pairs=candidate_rows(trainer, 0, rows)[1],
        tied=why.tied,
        tie_rule=why.tie_rule,
        tokens=trainer.tokens,
        vocab_size=trainer.vocab_size,
    )


class Encodings:
    """A text encoded by the columns, word by word as they were encoded before where that has not changed."""

    def __init__(self, width: Width) -> None:
        self._width = width
        self._encoders: dict[int, WordEncoder] = {}
        self._encoded: dict[int, tuple[tuple[object, ...], Encoding | TokentuiError]] = {}
        self._last: tuple[tuple[Encoding, ...], Alignment] | None = None

    def aligned(self, columns: Sequence[Column], text: str, passage: Passage | None, words: str) -> Aligned:
        """The text under each other.

        Args:
            columns: Those that stand at the position.
            text: The text.
            passage: Where it stands in the corpus, None for what was typed.
            words: The splitter that tells what a word is.
        """
        shown = text[:MOST_SHOWN]
        found = [(column.key, self._encode(column, shown)) for column in columns]
        rows = [(key, one) for key, one in found if isinstance(one, Encoding)]
        ways, spans = [cuts(one) for _, one in rows], word_spans(shown, words)
        return Aligned(
            text=shown,
            passage=passage,
            keys=tuple(key for key, _ in rows),
            alignment=self._align(tuple(one for _, one in rows)),
            tokens=tuple(_tokens(one) for _, one in rows),
            bytes=len(to_bytes(shown)),
            pairs=tuple(
                PairAgreement(rows[a][0], rows[b][0], agreement(ways[a], ways[b], spans))
                for a, b in combinations(range(len(rows)), 2)
            ),
            refused=tuple((key, str(one)) for key, one in found if not isinstance(one, Encoding)),
            left=len(text) - len(shown),
        )

    def _encode(self, column: Column, text: str) -> Encoding | TokentuiError:
        trainer = column.trainer
        vocabulary, merges = trainer.vocabulary, trainer.merges
        key = (vocabulary, merges, text)
        known = self._encoded.get(column.key)
        if known is not None and known[0] == key:
            return known[1]
        found: Encoding | TokentuiError
        try:
            found = self._fresh(column, text)
        except TokentuiError as error:
            found = error
        self._encoded[column.key] = (key, found)
        return found

    def _fresh(self, column: Column, text: str) -> Encoding:
        trainer = column.trainer
        if isinstance(trainer, OpenedTrainer):
            return trainer.tokenizer().encode(text)
        vocabulary, merges = trainer.vocabulary, trainer.merges
        encoder = self._encoders.get(column.key)
        if encoder is None or encoder.vocabulary is not vocabulary:
            encoder = WordEncoder(vocabulary, merges)
        elif encoder.merges != merges:
            encoder = encoder.after(merges)
        self._encoders[column.key] = encoder
        return encode(vocabulary, merges, text, cache=encoder)

    def _align(self, encodings: tuple[Encoding, ...]) -> Alignment | None:
        if not encodings:
            return None
        if self._last is None or self._last[0] != encodings:
            self._last = (encodings, align(encodings, width=self._width))
        return self._last[1]


def _tokens(encoding: Encoding) -> tuple[EncodedToken, ...]:
    return tuple(
        EncodedToken(number, text, piece, start, end, word)
        for number, text, piece, (start, end), word in zip(
            encoding.ids, encoding.tokens, encoding.pieces, encoding.offsets, encoding.words, strict=True
        )
    )


def curve_so_far(column: Column, points: int) -> Curve | None:
    """The curves of a column on its corpus as far as its training tells them; None where it does not encode as it was trained."""
    assert column.opened is not None
    trainer = column.trainer
    if not (isinstance(trainer, OpenedTrainer) or as_trained(column.opened.recipe)):
        return None
    steps = evenly(trainer.known, points)
    return curve_of(
        column.key, False, steps, [trainer.tokens_at(step) for step in steps], sizes(trainer, steps), column.opened.corpus.size
    )


def sizes(trainer: Trainer, steps: Sequence[int]) -> list[int]:
    """The number of ids after each of some known steps."""
    if isinstance(trainer, OpenedTrainer):
        return [trainer.order.size(step) for step in steps]
    if isinstance(trainer, PairTrainer):
        return [trainer.vocabulary.size(step) for step in steps]
    return [trainer.step_at(step).vocab_size for step in steps]


def curve_of(
    key: int, held_out: bool, steps: Sequence[int], tokens: Sequence[int], ids: Sequence[int], corpus_bytes: int,
    used: Sequence[int] = (),
) -> Curve:
    """Curves from the tokens and the ids at some steps, and the ids that are in use where these are known."""
    return Curve(
        key=key,
        held_out=held_out,
        steps=tuple(steps),
        tokens=tuple(tokens),
        bytes_per_token=tuple(corpus_bytes / one if one else None for one in tokens),
        bits=tuple(bits(one, size) for one, size in zip(tokens, ids, strict=True)),
        in_use=tuple(one / size if size else 0.0 for one, size in zip(used, ids, strict=True)) if used else (),
    )

