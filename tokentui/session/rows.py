"""From a trainer to the rows that a screen shows: pure questions, answered at the trainer's present step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GlyphMode, meant
from tokentui.encode import Typed
from tokentui.encode.segment.parts import Marks
from tokentui.encode.vocabulary import byte_token
from tokentui.learn.base import Candidate, Step, Stops, Trainer
from tokentui.learn.gage import GageCandidate, GageStep, GageTrainer, compressed, letter
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.replay import OpenedTrainer
from tokentui.learn.unigram import DroppedRow, PieceRow, UnigramTrainer
from tokentui.session.replay_rows import BirthVocabulary, birth_rows, encoded_by, find_birth, why_next
from tokentui.session.snapshot import (
    CompressedView,
    EncodedToken,
    EncodedView,
    Look,
    LossRow,
    PairRow,
    RoundView,
    TokenRow,
    WhyView,
)
from tokentui.text.patience import TakesTooLong
from tokentui.text.pretokenize import to_bytes


def candidate_rows(trainer: Trainer, top: int, rows: int) -> tuple[int, tuple[PairRow, ...] | tuple[LossRow, ...]]:
    """What the next steps may take, from a row on; the row is moved up where there are fewer."""
    top = max(0, min(top, trainer.pairs - 1))
    if isinstance(trainer, OpenedTrainer):
        return top, birth_rows(trainer, top, rows)
    if isinstance(trainer, UnigramTrainer):
        return top, tuple(map(_loss_row, trainer.prune_order(rows, top)))
    pairs = _pairs(trainer)
    start = max(0, top - 1)
    found = pairs.candidates(rows + (top - start) + 1, start)
    out, marks = [], Marks(trainer.vocabulary)
    for n in range(top - start, min(len(found), rows + top - start)):
        near = [found[m] for m in (n - 1, n + 1) if 0 <= m < len(found)]
        out.append(pair_row(found[n], any(_equal(pairs, found[n], other) for other in near), marks))
    return top, tuple(out)


def pair_row(candidate: Candidate, tied: bool, marks: Marks) -> PairRow:
    """A candidate as a row; `marks` tell what of its token is the mark."""
    return PairRow(
        left=candidate.left,
        right=candidate.right,
        token=candidate.token,
        count=candidate.count,
        change=candidate.change,
        new=candidate.before is None,
        tied=tied,
        left_uses=candidate.left_uses,
        right_uses=candidate.right_uses,
        score=candidate.score,
        spelled=candidate.spelled if isinstance(candidate, GageCandidate) else b"",
        marks=marks.sizes(candidate.left_symbol, candidate.right_symbol),
    )


def last_row(step: Step) -> PairRow:
    """A step that was made as a row: with the figures that it was chosen for."""
    return PairRow(
        left=step.left,
        right=step.right,
        token=step.token,
        count=step.count,
        change=0,
        new=False,
        tied=step.tied > 1,
        left_uses=step.left_uses,
        right_uses=step.right_uses,
        score=step.score or 0.0,
        spelled=step.spelled if isinstance(step, GageStep) else b"",
    )


def _equal(trainer: PairTrainer, one: Candidate, other: Candidate) -> bool:
    """Whether two candidates are exactly as good."""
    if trainer.recipe.objective != "score":
        return one.count == other.count
    return one.count * other.left_uses * other.right_uses == other.count * one.left_uses * one.right_uses


def _loss_row(row: PieceRow) -> LossRow:
    return LossRow(
        row.piece, row.probability, row.expected, round(row.uses), row.loss, row.alternative, row.goes, row.reason, row.taken
    )


def _pairs(trainer: Trainer) -> PairTrainer:
    """A trainer whose steps are merges: every one but the unigram's."""
    assert isinstance(trainer, PairTrainer)
    return trainer


def why_view(trainer: Trainer, stops: Stops) -> WhyView:
    """Why the next step is what it is."""
    if isinstance(trainer, OpenedTrainer):
        return why_next(trainer, stops)
    if isinstance(trainer, UnigramTrainer):
        return WhyView(None, None, 0, 0, "", trainer.end(stops), (), round_view(trainer))
    pairs = _pairs(trainer)
    why = pairs.why(stops)
    tied, second, marks = why.tied > 1, why.runner_up, Marks(trainer.vocabulary)
    return WhyView(
        best=pair_row(why.best, tied, marks) if why.best else None,
        runner_up=pair_row(second, why.best is not None and _equal(pairs, second, why.best), marks) if second else None,
        tied=why.tied,
        replaced=why.replaced,
        tie_rule=why.tie_rule,
        end=why.end,
        facts=(*why.facts, *_facts(trainer, stops)),
    )


def _facts(trainer: Trainer, stops: Stops) -> Iterator[str]:
    """What is to be known of a recipe whatever the step is."""
    recipe = trainer.recipe
    if recipe.objective == "score" and stops.min_count <= 1:
        yield "no least pair count is set: rare pairs win"
    if recipe.objective == "count" and recipe.mark_kind == "prefix" and recipe.encode == "longest-match":
        yield f"this is byte-pair encoding by count with {recipe.mark_text}, not the score of WordPiece"
    if recipe.weight == "distinct":
        yield "each distinct word counts once"


def round_view(trainer: UnigramTrainer) -> RoundView:
    """Where a unigram training stands."""
    step = trainer.step_at(trainer.number)
    coming = trainer.coming
    last = "seeds" if not trainer.number else "cut" if step.final else step.what
    return RoundView(
        last=last,
        round=step.round,
        pieces=trainer.pieces,
        dropped=step.dropped,
        objective=trainer.objective,
        before=trainer.step_at(trainer.number - 1).objective if trainer.number else None,
        next=coming,
        going=trainer.going if coming in ("prune", "cut") else None,
        taken=trainer.walked[0] if trainer.walked else 0,
    )


_JOINED = b"+"
"""What stands between the parts of a row."""
_LOSSES_LOOKED_FOR = 4_000
"""In a longer text no losses are looked for at each step."""
_LEFT = -(1 << 40)
"""Entries of the vocabulary from here down have left it: the n-th of them is this minus n."""


def vocabulary_rows(trainer: Trainer) -> VocabularyRows | BirthVocabulary:
    """The vocabulary of a trainer in any of its orders."""
    return BirthVocabulary(trainer) if isinstance(trainer, OpenedTrainer) else VocabularyRows(trainer)


class VocabularyRows:
    """The vocabulary of a trainer in one of the orders that a screen may ask for, kept while the step stays."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._key: tuple[object, ...] | None = None
        self._order: Sequence[int] = ()
        self._left: Sequence[DroppedRow] = ()

    def order(self, name: str) -> Sequence[int]:
        """The rows in order: a symbol, or -1-n for the n-th of specials and byte tokens, or what has left, from `_LEFT` down."""
        trainer = self._trainer
        walked = trainer.walked if isinstance(trainer, UnigramTrainer) else None
        key = (trainer.number, walked, name)
        if key != self._key:
            vocabulary, merges, uses = trainer.vocabulary, trainer.merges, trainer.uses
            first = vocabulary.first_id + len(vocabulary.specials) + vocabulary.byte_tokens
            by_id = vocabulary.symbols_by_id(merges)
            learned = sorted(symbol for number, symbol in by_id.items() if number >= first)
            fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
            self._left = trainer.left() if isinstance(trainer, UnigramTrainer) and name == "newest" else ()
            if name == "id":
                learned.sort(key=lambda symbol: vocabulary.id_of(symbol, merges))
                self._order = fixed + learned
            else:
                if not vocabulary.scores:
                    learned.reverse()
                if name == "most used":
                    learned.sort(key=lambda symbol: -uses[symbol])
                elif name == "longest":
                    learned.sort(key=lambda symbol: -len(vocabulary.spelled(symbol)))
                self._order = [_LEFT - n for n in range(len(self._left))] + learned + fixed
            self._key = key
        return self._order

    def rows(self, name: str, top: int, rows: int) -> tuple[int, tuple[TokenRow, ...]]:
        """The entries from a row on."""
        order = self.order(name)
        top = max(0, min(top, len(order) - 1))
        return top, tuple(self.row(entry) for entry in order[top : top + rows])

    def row(self, entry: int) -> TokenRow:
        """One entry of `order` as a row."""
        trainer, vocabulary, merges = self._trainer, self._trainer.vocabulary, self._trainer.merges
        if entry <= _LEFT:
            left = self._left[_LEFT - entry]
            return TokenRow(None, left.piece, "left", None, None, None, left.figure, left.reason)
        if entry < 0:
            n = -1 - entry
            if n < len(vocabulary.specials):
                return TokenRow(vocabulary.first_id + n, to_bytes(vocabulary.specials[n]), "special", None, None, None)
            value = n - len(vocabulary.specials)
            return TokenRow(vocabulary.byte_id(value), byte_token(value).encode(), "byte", None, None, None)
        rank = entry - vocabulary.base_size
        merged = rank >= 0
        return TokenRow(
            id=vocabulary.id_of(entry, merges),
            piece=vocabulary.pieces[entry],
            kind="piece" if vocabulary.scores else "merge" if merged else "base",
            step=rank + 1 if merged else None,
            count=vocabulary.counts[rank] if merged else None,
            uses=trainer.uses[entry],
            score=vocabulary.scores[entry] if vocabulary.scores else None,
            parents=tuple(vocabulary.pieces[part] for part in vocabulary.merges[rank]) if merged else (),
            marks=Marks(vocabulary).sizes(entry),
        )

    def find(self, wanted: Sequence[bytes], start: int, backward: bool, order: str) -> int | None:
        """The next row after (or before) a row whose token holds one of these, round the end."""
        entries = self.order(order)
        step = -1 if backward else 1
        for turn in range(1, len(entries) + 1):
            row = (start + step * turn) % len(entries)
            entry = entries[row]
            piece = self._trainer.vocabulary.spelled(entry) if entry >= 0 else self.row(entry).piece
            if any(needle in piece for needle in wanted):
                return row
        return None


def find_candidate(trainer: Trainer, text: str, start: int, backward: bool, mode: GlyphMode = "text") -> int | None:
    """The next candidate after (or before) a row that shows a text, round the end: in its token, or in its two sides with the
    plus between them."""
    total = trainer.pairs
    wanted = needles(text, mode)
    if isinstance(trainer, OpenedTrainer):
        return find_birth(trainer, wanted, start, backward)
    rows: Sequence[tuple[bytes, ...]]
    if isinstance(trainer, UnigramTrainer):
        rows = [(row.piece, _JOINED.join(row.alternative)) for row in trainer.prune_order(total)]
    else:
        pairs = _pairs(trainer).candidates(total)
        rows = [(one.spelled if isinstance(one, GageCandidate) else one.token, one.left + _JOINED + one.right) for one in pairs]
    joined = text.strip() != "+"  # which every pair shows
    step = -1 if backward else 1
    for turn in range(1, total + 1):
        row = (start + step * turn) % total
        if any(needle in shown for needle in wanted for shown in rows[row][: 2 if joined else 1]):
            return row
    return None


def needles(text: str, mode: GlyphMode = "text") -> tuple[bytes, ...]:
    """What a user may mean by a text: as typed, and with what stands in for spaces, controls and bytes read as these."""
    return tuple(dict.fromkeys((to_bytes(text), meant(text, mode))))


def encoded_view(trainer: Trainer, text: str, typed: Typed[EncodedToken]) -> EncodedView:
    """The typed text as the tokenizer of this step encodes it; `typed` knows how what was typed before is encoded."""
    size = len(to_bytes(text))
    if typed.too_slow and typed.too_slow[0] == text:
        return EncodedView(text, (), size, str(typed.too_slow[1]))
    try:
        if isinstance(trainer, OpenedTrainer):
            tokens, back = encoded_by(trainer, text, len(text) <= _LOSSES_LOOKED_FOR)
            return EncodedView(text, tokens, size, lost=back.lost, back=back.back or "" if back.lost else "")
        tokens = typed.encode(trainer.vocabulary, trainer.merges, text)
    except TokentuiError as error:
        if isinstance(error, TakesTooLong):
            typed.too_slow = text, error
        return EncodedView(text, (), size, str(error))
    if len(text) > _LOSSES_LOOKED_FOR:
        return EncodedView(text, tokens, size)
    back = trainer.tokenizer().round_trip(text)
    return EncodedView(text, tokens, size, lost=back.lost, back=back.back or "" if back.lost else "")


def curve(trainer: Trainer, look: Look, end: int) -> tuple[int, ...]:
    """The corpus in tokens after evenly spread steps from 0 to `end`, as far as they are known."""
    points = max(2, look.curve_points)
    steps = [round(n * end / (points - 1)) for n in range(points)]
    return tuple(trainer.tokens_at(step) for step in steps if step <= trainer.known)


def compressed_view(trainer: Trainer, start: int, length: int) -> CompressedView:
    """Gage's compression at this step.

    Raises:
        TokentuiError: The trainer is another.
    """
    if not isinstance(trainer, GageTrainer):
        raise TokentuiError("only Gage's compression has a compressed text", f"objective={trainer.recipe.objective}", "take gage")
    view = compressed(trainer, start, length)
    letters = {placeholder: letter(placeholder) for placeholder, _, _, _ in view.table}
    return CompressedView(
        parts=tuple((value, letters.get(value, "")) for value in view.compressed),
        table=tuple((letters[placeholder], placeholder, left, right, whole) for placeholder, left, right, whole in view.table),
        text_bytes=view.text_bytes,
        table_bytes=view.table_bytes,
        original_bytes=view.original_bytes,
    )
