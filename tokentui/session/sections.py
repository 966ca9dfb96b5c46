"""The sections of a column at its step. A section is made again only when its key has changed.

A key holds everything that the section depends on: the training with its corpus, its run and its engine (`Prepared`, of which
each has sections of its own), the step, how far steps are computed, the rows that are shown, the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from tokentui.axes import label
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import GlyphMode, meant
from tokentui.encode.decode import Decoder
from tokentui.encode.offsets import WordEncoder, encode
from tokentui.encode.roundtrip import round_trip
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.typed import Typed
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.trainer import Trainer, Why
from tokentui.learn.values import Candidate, Entry, Query
from tokentui.presets import preset_of
from tokentui.recipe import Ending, Stops
from tokentui.session.prepared import Prepared
from tokentui.session.views import (
    AtStep,
    BirthRow,
    Candidates,
    ColumnSnapshot,
    CorpusView,
    CurveView,
    EncodedToken,
    EncodedView,
    LossRow,
    PairRow,
    RoundView,
    TokenRow,
    Viewport,
    VocabularyPage,
    WhyView,
)
from tokentui.text.patterns import TakesTooLong
from tokentui.text.pretokenize import to_bytes

LOSSES_CHARS = 4_000
"""In a longer text no losses are looked for at each step."""

Key = tuple[object, ...]
_Section = TypeVar("_Section")


class Sections:
    """The sections of a column.

    Args:
        prepared: The training, with its corpus and its run.
    """

    NO_CANDIDATES, NO_WHY, NO_VOCABULARY = Candidates(), WhyView(), VocabularyPage()
    NO_CORPUS, NO_ENCODING, NO_CURVE = CorpusView(), EncodedView(), CurveView()

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._typed = Typed(EncodedToken)
        self._kept: dict[str, tuple[Key, Any]] = {}
        file = prepared.opened.tokenizer if prepared.opened else None
        self._decoder = Decoder(file.vocabulary, file.merges) if file else None

    def forget(self) -> None:
        """Make all sections again."""
        self._kept.clear()

    def moment(self) -> Key:
        """The step, and what else changes without another training: the computed steps, a walk through a step."""
        trainer = self.prepared.trainer
        substeps = trainer.traits.substeps
        return trainer.number, trainer.computed, None if substeps is None else substeps.walked

    def column(self, key: int, name: str) -> ColumnSnapshot:
        """The column without its sections."""
        prepared = self.prepared
        recipe, file = prepared.recipe, prepared.opened
        return self._section("column", (key, name), lambda: ColumnSnapshot(
            key, name, label(recipe), recipe, preset_of(recipe), file.view.path if file else "", file.view if file else None,
            file.tokenizer.notes if file else (), partial=prepared.partial,
        ), lambda error: ColumnSnapshot(key, name, error=error))

    def at(self, moment: Key) -> AtStep:
        """The numbers at the step."""
        return self._section("at", moment, lambda: at_step(self.prepared), lambda error: AtStep())

    def candidates(self, moment: Key, view: Viewport) -> Candidates:
        """Return the candidates for the next step."""
        top, rows = view.candidates_top, view.candidates_rows
        return self._section(
            "candidates", (moment, top, rows), lambda: candidates(self.prepared.trainer, top, rows),
            lambda error: Candidates(error=error),
        )

    def why(self, moment: Key) -> WhyView:
        """Why the next step is what it is."""
        trainer, stops = self.prepared.trainer, self.prepared.run.stops
        return self._section("why", moment, lambda: why_view(trainer, stops), lambda error: WhyView(error=error))

    def vocabulary(self, moment: Key, view: Viewport) -> VocabularyPage:
        """Entries of the vocabulary."""
        query = Query(view.vocabulary_top, view.vocabulary_rows, view.vocabulary_order)
        trainer = self.prepared.trainer

        def make() -> VocabularyPage:
            page = trainer.entries(query)
            return VocabularyPage(tuple([token_row(one) for one in page.rows]), page.top, page.total, query.order)

        return self._section("vocabulary", (moment, query), make, lambda error: VocabularyPage(error=error))

    def corpus(self, moment: Key, view: Viewport) -> CorpusView:
        """The corpus in tokens."""
        prepared = self.prepared
        return self._section(
            "corpus", (moment, view.corpus, view.corpus_chars, view.corpus_before),
            lambda: prepared.text.view(view, prepared.trainer), lambda error: CorpusView(error=error),
        )

    def encoding(self, moment: Key, text: str) -> EncodedView:
        """The typed text in tokens."""
        trainer, typed = self.prepared.trainer, self._typed
        return self._section(
            "encoding", (moment[0], text), lambda: encoded_view(trainer.tokenizer(), text, typed, self._decoder),
            lambda error: EncodedView(text, error=error),
        )

    def curve(self, at: AtStep, view: Viewport) -> CurveView:
        """The corpus in tokens, step by step."""
        trainer, points = self.prepared.trainer, view.curve_points
        end = max(at.computed, at.target or 0)
        return self._section(
            "curve", (at.computed, points, end), lambda: curve(trainer, points, end), lambda error: CurveView(error=error)
        )

    def _section(
        self, name: str, key: Key, make: Callable[[], _Section], failed: Callable[[str], _Section]
    ) -> _Section:
        kept = self._kept.get(name)
        if kept is not None and kept[0] == key:
            return cast("_Section", kept[1])
        try:
            made = make()
        except Cancelled:
            raise
        except TokentuiError as error:
            made = failed(str(error))
        except Exception as error:
            made = failed(f"this should not happen: {type(error).__name__}: {error}")
        self._kept[name] = key, made
        return made


# ---- numbers


def at_step(prepared: Prepared) -> AtStep:
    """The numbers of a training at its step."""
    trainer = prepared.trainer
    number, words = trainer.number, trainer.words
    target, ending = trainer.ending(prepared.run.stops)
    tokens, start_tokens, size = trainer.tokens_at(number), trainer.tokens_at(0), trainer.size_at(number)
    if ending == "last" and not prepared.opened and (prepared.partial or not start_tokens):
        # That is the end of the part that has been counted, or of nothing at all.
        target, ending = Ending()
    last, last_id = last_made(trainer)
    counted = tokens and prepared.recipe.weight != "distinct"
    return AtStep(
        step=number,
        computed=trainer.computed,
        target=target,
        ending=ending,
        tokens=tokens,
        start_tokens=start_tokens,
        vocab_size=size,
        occurrences=words.occurrences,
        distinct=len(words.words),
        memory=trainer.memory,
        bytes_per_token=prepared.corpus.size / tokens if counted else None,
        last=last,
        last_id=last_id,
    )


def last_made(trainer: Trainer) -> tuple[PairRow | None, int | None]:
    """The step that a training made last, and the id of the token that it made."""
    if not trainer.number:
        return None, None
    step = trainer.step_at(trainer.number)
    chosen = step.chosen
    if chosen is None:
        return None, None
    row = pair_row(trainer, chosen)
    return row, row.id if isinstance(row, BirthRow) else getattr(step, "id", None)


def curve(trainer: Trainer, points: int, end: int) -> CurveView:
    """The corpus in tokens after evenly spread steps from 0 to `end`, as far as they are computed."""
    points, computed, tokens_at = max(2, points), trainer.computed, trainer.tokens_at
    steps = [round(n * end / (points - 1)) for n in range(points)]
    return CurveView(tuple([tokens_at(step) for step in steps if step <= computed]), end)


# ---- candidates


def candidates(trainer: Trainer, top: int, rows: int) -> Candidates:
    """Return the candidates from a row on; for a file that is at its end, its last steps."""
    page = trainer.candidates(Query(top, rows))
    if not page.total and trainer.traits.replay is not None:
        page = trainer.candidates(Query(top, rows, "made"))
    made = [pair_row(trainer, one) for one in page.rows] if trainer.traits.grows else [_loss_row(one) for one in page.rows]
    return Candidates(tuple(made), page.top, page.total)  # type: ignore[arg-type]


def _values(trainer: Trainer, one: Candidate) -> Mapping[str, Any]:
    """The values of a candidate by the names of the columns."""
    return dict(zip([column.name for column in trainer.traits.columns], one.values, strict=False))


def pair_row(trainer: Trainer, one: Candidate) -> PairRow:
    """A candidate that makes a token as a row."""
    values = _values(trainer, one)
    left = one.parts[0] if one.parts else one.token
    right = one.parts[1] if len(one.parts) == 2 else b"".join(one.parts[1:])
    if trainer.traits.replay is not None:
        number = -int(one.worth)  # the earlier step comes first
        return BirthRow(
            left, right, one.token, values["places"], 0, False, False, score=values["score"] or 0.0, marks=one.marks,
            number=number, id=values["id"], parts=one.parts, words=values["words"], place=values["place"],
            born=number <= trainer.number,
        )
    change = values.get("change")
    return PairRow(
        left, right, one.token, values.get("count", 0), change or 0, change is None, one.tied, values.get("left uses", 0),
        values.get("right uses", 0), values.get("score", 0.0), values.get("spelled", b""), one.marks,
    )


def _loss_row(one: Any) -> LossRow:
    """A piece that a pruning judges as a row."""
    return LossRow(
        one.token, one.probability, one.expected, round(one.uses), one.loss, one.parts, bool(one.reason), one.reason, one.taken
    )


def why_view(trainer: Trainer, stops: Stops) -> WhyView:
    """Why the next step is what it is."""
    why = trainer.why(trainer.number + 1, stops)
    return WhyView(
        best=pair_row(trainer, why.best) if why.best else None,
        runner_up=pair_row(trainer, why.runner_up) if why.runner_up else None,
        tied=why.tied,
        replaced=why.replaced,
        tie_rule=why.tie_rule,
        end=str(why.end) if why.end is not None else None,
        facts=why.facts,
        round=round_view(why),
    )


def round_view(why: Why) -> RoundView | None:
    """The position in a training by rounds."""
    at = why.round
    if at is None:
        return None
    return RoundView(at.last, at.round, at.pieces, at.dropped, at.objective, at.before, at.next, at.going, at.taken)


# ---- the vocabulary


def token_row(one: Entry) -> TokenRow:
    """An entry of the vocabulary as a row."""
    return TokenRow(
        one.id, one.piece, one.kind, one.made, one.places, one.uses, one.score, one.reason, one.parts, one.marks
    )


def needles(text: str, mode: GlyphMode = "text") -> tuple[bytes, ...]:
    """Return the readings of a typed text: as typed, and with symbols for spaces and bytes resolved."""
    return tuple(dict.fromkeys((to_bytes(text), meant(text, mode))))


def next_place(places: Sequence[int], start: int, backward: bool) -> int | None:
    """The next of some rows after (or before) a row, round the end; None where there is none."""
    if not places:
        return None
    if backward:
        return next((row for row in reversed(places) if row < start), places[-1])
    return next((row for row in places if row > start), places[0])


# ---- the typed text


def encoded_view(tokenizer: Tokenizer, text: str, typed: Typed[EncodedToken], decoder: Decoder | None) -> EncodedView:
    """The typed text as a tokenizer encodes it.

    Args:
        tokenizer: The tokenizer of the step.
        text: The text.
        typed: Knows how what was typed before is encoded.
        decoder: The decoder of a whole file, which decodes an id alike at any step; None where a recipe is trained.
    """
    size = len(to_bytes(text))
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    if typed.too_slow and typed.too_slow[0] == text:
        return EncodedView(text, (), size, str(typed.too_slow[1]))
    try:
        if decoder is None:
            tokens, encoder = typed.encode(vocabulary, merges, text), None
        else:
            encoder = WordEncoder(vocabulary, merges)
            found = encode(vocabulary, merges, text, cache=encoder)
            rows = zip(found.ids, found.tokens, found.pieces, found.offsets, found.words, strict=True)
            tokens = tuple([EncodedToken(number, name, piece, *places, word) for number, name, piece, places, word in rows])
    except TokentuiError as error:
        if isinstance(error, TakesTooLong):
            typed.too_slow = text, error
        return EncodedView(text, (), size, str(error))
    if len(text) > LOSSES_CHARS or (decoder is None and _comes_back(vocabulary, tokens, text)):
        return EncodedView(text, tokens, size)
    back = round_trip(vocabulary, merges, text, cache=encoder, decoder=decoder)
    return EncodedView(text, tokens, size, lost=back.lost, back=back.back or "" if back.lost else "")


def _comes_back(vocabulary: Vocabulary, tokens: tuple[EncodedToken, ...], text: str) -> bool:
    """True if the pieces concatenate to the text and decoding leaves them unchanged."""
    recipe = vocabulary.recipe
    if recipe.mark_kind != "none" or recipe.split == "metaspace" or vocabulary.byte_tokens:
        return False
    pieces = [token.piece for token in tokens]
    return None not in pieces and b"".join(cast("list[bytes]", pieces)) == to_bytes(text)
