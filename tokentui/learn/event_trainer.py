"""The trainer of an event training: it answers questions from the events of each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokentui.core.jobs import check
from tokentui.core.runtime import quiet_collector
from tokentui.core.safetext import to_bytes
from tokentui.encode.events import LEAVING, MAKING, Event, EventKind
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.segment.replaying import Replaying
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.engine import PairEngine, Ranked
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Candidate, Worth
from tokentui.learn.steps import EventStep, NGramStep

_COMING_OR_GOING = (*MAKING, *LEAVING, EventKind.BREAK)
"""The kinds of events that change which tokens there are."""


class EventTrainer(PairTrainer):
    """A training by events; see `trainer.Trainer`.

    Args:
        engine: The engine.
        material: The counted words, the recipe and the run.
        rebuild: See `PairTrainer`.
    """

    engine: EventEngine

    def __init__(
        self, engine: EventEngine, material: Material,
        rebuild: Callable[[Material, PairEngine | None, int], PairTrainer],
    ) -> None:
        super().__init__(engine, material, rebuild)
        method = engine.method
        self.traits = self.traits._replace(
            step=method.step, candidate=method.candidate, phase=method.phase
        )

    @classmethod
    def start(
        cls, material: Material, method: Callable[[Material], Method], source: object = None, number: int = 0
    ) -> EventTrainer:
        """Start a training.

        Args:
            material: The counted words, the recipe and the run.
            method: Makes the method.
            source: The engine of a training of the same words, to take over steps from. Any other object,
                such as None, starts at step 0.
            number: The number of steps that are taken over.
        """
        with quiet_collector():
            if isinstance(source, EventEngine):
                engine = source.fork(number, material)
            else:
                engine = EventEngine(material, method(material))
        return cls(engine, material, lambda material, *of: cls.start(material, method, *of))

    # ---- candidates

    def _worth(self, row: Pair | NGram) -> Worth:
        """Return the worth of an n-gram, or the count of a pair."""
        return row.worth if isinstance(row, NGram) else row.places

    def _candidate_of(
        self, vocabulary: Vocabulary, row: Pair | NGram, worth: Worth, tied: bool, letter: bytes
    ) -> Candidate:
        """Return an n-gram as a row; see `PairTrainer` for a pair."""
        if isinstance(row, Pair):
            return super()._candidate_of(vocabulary, row, worth, tied, letter)
        parts = tuple(vocabulary.pieces[symbol] for symbol in row.symbols)
        figures = {
            "count": row.places, "change": None if row.before is None else row.places - row.before,
            "worth": worth, "saved": worth, "run": len(parts),
        }
        return Candidate(
            row.symbols, parts, b"".join(parts), worth,
            tuple(figures[column.name] for column in self.objective.columns), tied, places=row.places,
        )

    def _facts(self, ranked: Ranked) -> list[str]:
        """Return what the method says of the best candidate; nothing without one."""
        if not ranked.rows:
            return []
        return self.engine.method.facts(self.engine, ranked.rows[0], ranked.replaced)

    # ---- steps

    def step_at(self, number: int) -> EventStep | NGramStep:  # type: ignore[override]  # no merge of a pair
        """Return a computed step, 1 for the first: an NGramStep if it took an n-gram, otherwise an EventStep,
        whose events after the first are its `following`."""
        engine, vocabulary, step = self.engine, self.engine.vocabulary, self.engine.steps[number - 1]
        pieces, first, merge = vocabulary.pieces, step.events[0], step.figures
        taken, replaced, tied = merge.pair, merge.replaced, merge.tied
        tokens, size = self.tokens_at(number), self.size_at(number)
        kind, id = engine.method.kind(step.events), vocabulary.order[first.symbol]
        if isinstance(taken, NGram):
            return NGramStep(
                number=number, kind=kind, events=step.events, tied=tied, tokens=tokens, vocab_size=size,
                parts=tuple(pieces[part] for part in first.parts), token=pieces[first.symbol], id=id,
                count=first.places, replaced=replaced, worth=taken.worth,
                saved=self.tokens_at(number - 1) - tokens,
            )
        return EventStep(
            number=number, kind=kind, events=step.events, tied=tied, tokens=tokens, vocab_size=size,
            left=pieces[taken.left], right=pieces[taken.right], token=pieces[first.symbol], id=id,
            count=taken.places, replaced=replaced, left_uses=taken.left_uses,
            right_uses=taken.right_uses,
            following=tuple(
                (str(event.kind), pieces[event.symbol], tuple(pieces[part] for part in event.parts))
                for event in step.events[1:]
            ),
        )

    def _symbols_changed(self, number: int) -> list[int]:
        events = self.engine.steps[number - 1].events
        return [event.symbol for event in events if event.kind in _COMING_OR_GOING]

    def _use_changes(self, symbol: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield the use changes of every step, also of one that changes none; see `PairTrainer`."""
        for number in range(self.number, 0, -1):
            step = self.engine.steps[number - 1]
            if step.changes is None:
                change = sum(_use_change(event, symbol) for event in step.events)
            else:
                change = step.changes.get(symbol, 0)
            first = step.events[0]
            joins = symbol != first.symbol and (symbol in first.parts or first.kind is EventKind.COVER)
            yield number, change, first.symbol if joins else None

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the steps up to this one that may cut a pre-token in another way, with its tokens."""
        by_rank = ENCODING_WAYS.of(self.recipe.encode).by_rank
        return self._replay(word) if by_rank else self._encode_at_steps(word)

    def _replay(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield each step whose events change a word, with the tokens of the word after it."""
        vocabulary, encoder = self.engine.vocabulary, self.tokenizer().encoder
        units, replaying = encoder.pretokenizer.units(word), Replaying(vocabulary, self.number)
        units = [units[at] for at in encoder.kept_indices(units)]
        for number, _ in replaying.history(units):
            parts = encoder.parts(units, len(word), replaying.with_limit(number, ()))
            yield number, tuple(
                b"" if part.symbol is None else vocabulary.pieces[part.symbol] for part in parts
            )

    def _encode_at_steps(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield each step whose token occurs in a word, with the tokens of the word as encoded after it.

        For ways of encoding that do not replay events.
        """
        vocabulary, text = self.engine.vocabulary, to_bytes(word)
        for number in range(self.number + 1):
            if not number or vocabulary.pieces[vocabulary.made_by(number)] in text:
                check()
                tokens = self.tokenizer(number).encoder.word(word)
                yield number, tuple(token.piece or b"" for token in tokens)


def _use_change(event: Event, symbol: int) -> int:
    """Return by how much an event changed the uses of a symbol, by weight."""
    change = event.replaced * (event.parts.count(symbol) - (event.symbol == symbol))
    if event.kind is EventKind.MERGE:
        return -change
    return change if event.kind in (EventKind.SPLIT, EventKind.BREAK) else 0
