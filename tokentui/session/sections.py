"""The sections of a column at its step. A section is made again only when its key has changed.

A key holds everything that the section depends on: the training with its corpus, its run and its engine
(`Prepared`, of which each has sections of its own), the step, how far steps are computed, the rows that are
shown, the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

from tokentui.axes import label
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import GlyphMode, meant
from tokentui.encode.decode import Decoder
from tokentui.encode.explain import round_trip
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.typed import Typed
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.rows import Candidate, Page, Query
from tokentui.learn.trainer import Trainer
from tokentui.presets import preset_of
from tokentui.recipe import Ending
from tokentui.session.opening import Prepared
from tokentui.session.views import (
    MAIN,
    AtStep,
    ColumnSnapshot,
    CurveView,
    EncodedToken,
    EncodedView,
    Viewport,
)
from tokentui.text.patterns import TakesTooLong
from tokentui.text.split import to_bytes

LOSSES_CHARS = 4_000
"""In a longer text no losses are looked for at each step."""

Key = tuple[object, ...]
_EMPTY = ColumnSnapshot()


class Sections:
    """The sections of a column.

    Args:
        prepared: The training, with its corpus and its run.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._typed = Typed(EncodedToken)
        self._kept: dict[str, tuple[Key, Any]] = {}
        self._errors: dict[str, str] = {}
        self._lengths: dict[int, int] = {}
        """The corpus in tokens after the steps that the curve has shown."""
        file = prepared.opened.tokenizer if prepared.opened else None
        self._decoder = Decoder(file.vocabulary, file.merges) if file else None
        recipe, view = prepared.recipe, prepared.opened.view if prepared.opened else None
        self._column = ColumnSnapshot(
            about=label(recipe), recipe=recipe, preset=preset_of(recipe), path=view.path if view else "",
            opened=view, notes=file.notes if file else (), partial=prepared.partial,
            traits=prepared.trainer.traits,
        )

    def column(self, key: int, name: str, in_sync: bool, view: Viewport, typed: str) -> ColumnSnapshot:
        """The column with the sections that a viewport wants.

        Args:
            key: The column's own number.
            name: Its name.
            in_sync: True if it is at the position.
            view: The rows and sections that are shown.
            typed: The typed text.
        """
        trainer = self.prepared.trainer
        substeps, number, computed = trainer.substeps, trainer.number, trainer.computed
        moment = number, computed, None if substeps is None else substeps.walked
        at = self._section("at", moment, view, typed)
        keys: dict[str, Key] = {
            "candidates": (moment, view.candidates_top, view.candidates_rows),
            "why": moment,
            "vocabulary": (moment, view.vocabulary_top, view.vocabulary_rows, view.vocabulary_order),
            "corpus": (moment, view.corpus, view.corpus_chars, view.corpus_before),
            "encoding": (number, typed),
            "curve": (computed, at.target, view.curve_points),
        }
        wants = view.wants
        sections = {
            one: self._section(one, keys[one], view, typed) if one in wants else getattr(_EMPTY, one)
            for one in MAIN
        }
        errors = {one: self._errors[one] for one in wants if one in self._errors}
        return dataclasses.replace(
            self._column, key=key, name=name, in_sync=in_sync, at=at, errors=errors, **sections
        )

    def _section(self, name: str, key: Key, view: Viewport, typed: str) -> Any:
        """A section, made anew where its key has changed; an empty one and an error where it cannot be made.
        """
        kept = self._kept.get(name)
        if kept is not None and kept[0] == key:
            return kept[1]
        self._errors.pop(name, None)
        try:
            made = self._make(name, view, typed)
        except Cancelled:
            raise
        except Exception as error:
            expected = isinstance(error, TokentuiError)
            self._errors[name] = (
                str(error) if expected else f"this should not happen: {type(error).__name__}: {error}"
            )
            made = getattr(_EMPTY, name)
        self._kept[name] = key, made
        return made

    def _make(self, name: str, view: Viewport, typed: str) -> object:
        prepared, trainer = self.prepared, self.prepared.trainer
        match name:
            case "at":
                return at_step(prepared)
            case "candidates":
                return candidates(trainer, Query(view.candidates_top, view.candidates_rows))
            case "why":
                return trainer.why(trainer.number + 1, prepared.run.stops)
            case "vocabulary":
                return trainer.entries(
                    Query(view.vocabulary_top, view.vocabulary_rows, view.vocabulary_order)
                )
            case "corpus":
                return prepared.text.view(view, trainer)
            case "encoding":
                return self._encoding(typed)
            case _:
                return self._curve(view.curve_points)

    def _curve(self, points: int) -> CurveView:
        """The corpus in tokens after evenly spread steps up to the end of the run, as far as they are
        computed."""
        trainer, at, known = self.prepared.trainer, self._kept["at"][1], self._lengths
        end, points = max(at.computed, at.target or 0), max(2, points)
        lengths = []
        for step in [round(n * end / (points - 1)) for n in range(points)]:
            if step <= at.computed:
                if step not in known:
                    known[step] = trainer.tokens_at(step)
                lengths.append(known[step])
        return CurveView(tuple(lengths), end)

    def _encoding(self, text: str) -> EncodedView:
        """The typed text as the tokenizer of the step encodes it."""
        tokenizer, typed, decoder = self.prepared.trainer.tokenizer(), self._typed, self._decoder
        size, vocabulary, merges = len(to_bytes(text)), tokenizer.vocabulary, tokenizer.merges
        if typed.too_slow and typed.too_slow[0] == text:
            return EncodedView(text, (), size, str(typed.too_slow[1]))
        try:
            if decoder is None:
                tokens, encoder = typed.encode(vocabulary, merges, text), None
            else:  # a whole file, which decodes an id alike at any step
                encoder = WordEncoder(vocabulary, merges)
                found = encoder.encode(text)
                rows = zip(found.ids, found.tokens, found.pieces, found.offsets, found.words, strict=True)
                tokens = tuple(
                    [
                        EncodedToken(number, name, piece, *places, word)
                        for number, name, piece, places, word in rows
                    ]
                )
        except TokentuiError as error:
            if isinstance(error, TakesTooLong):
                typed.too_slow = text, error
            return EncodedView(text, (), size, str(error))
        if len(text) > LOSSES_CHARS or (decoder is None and _comes_back(vocabulary, tokens, text)):
            return EncodedView(text, tokens, size)
        back = round_trip(encoder or WordEncoder(vocabulary, merges), text, decoder)
        return EncodedView(text, tokens, size, lost=back.lost, back=back.back or "" if back.lost else "")


def at_step(prepared: Prepared) -> AtStep:
    """The numbers of a training at its step."""
    trainer = prepared.trainer
    number, words = trainer.number, trainer.words
    target, ending = trainer.ending(prepared.run.stops)
    tokens, start_tokens = trainer.tokens_at(number), trainer.tokens_at(0)
    if ending == "last" and not prepared.opened and (prepared.partial or not start_tokens):
        # That is the end of the part that has been counted, or of nothing at all.
        target, ending = Ending()
    last = trainer.step_at(number) if number else None
    counted = tokens and prepared.recipe.weight != "distinct"
    return AtStep(
        step=number,
        computed=trainer.computed,
        target=target,
        ending=ending,
        tokens=tokens,
        start_tokens=start_tokens,
        vocab_size=trainer.size_at(number),
        occurrences=words.occurrences,
        distinct=len(words.words),
        memory=trainer.memory,
        bytes_per_token=prepared.corpus.size / tokens if counted else None,
        last=last.chosen if last else None,
        last_id=getattr(last, "id", None),
    )


def candidates(trainer: Trainer, query: Query) -> Page[Candidate]:
    """A page of the candidates; for a file that is at its end, of its last tokens."""
    page = trainer.candidates(query)
    if not page.total and trainer.traits.replays:
        page = trainer.candidates(query._replace(order="made"))
    return page


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


def _comes_back(vocabulary: Vocabulary, tokens: tuple[EncodedToken, ...], text: str) -> bool:
    """True if the pieces concatenate to the text and decoding leaves them unchanged."""
    recipe = vocabulary.recipe
    if recipe.mark_kind != "none" or recipe.split == "metaspace" or vocabulary.byte_tokens:
        return False
    pieces = [token.piece for token in tokens]
    return None not in pieces and b"".join(cast("list[bytes]", pieces)) == to_bytes(text)
