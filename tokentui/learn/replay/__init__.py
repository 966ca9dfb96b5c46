"""The replay of a tokenizer file, token by token: how it would encode with its first k tokens alone.

>>> from tokentui.encode.tokenizer import Tokenizer
>>> from tokentui.encode.vocabulary import Vocabulary
>>> from tokentui.learn.steps import Word
>>> from tokentui.recipe import Recipe, Stops
>>> from tokentui.text.count import Words
>>> vocabulary = Vocabulary(Recipe(split="whitespace", unit="char"), [b"b", b"g", b"h", b"u"])
>>> vocabulary.extend([(3, 1), (2, 4)], [15, 10])  # ug, hug
>>> trainer = ReplayTrainer(Tokenizer(vocabulary, 2), Words(("hug", "bug"), (10, 5)))
>>> [trainer.tokens_at(number) for number in range(3)]
[45, 30, 20]
>>> trainer.advance(1, Stops()).value, [span.symbol for span in trainer.segment(Word("hug"))]
('merges', [2, 4])
>>> list(trainer.cuts_of("bug"))
[(0, (b'b', b'u', b'g')), (1, (b'b', b'ug'))]
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterator, Mapping

from tokentui.core.safetext import to_bytes
from tokentui.encode.events import Event, EventKind
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.part_lengths import PartLengths
from tokentui.learn.replay.segmentations import ChangeLog, TokenOrder, WordSegmentations
from tokentui.learn.rows import KEPT_ROWS, Column, Entry, Inventory, Ranking, TokenCandidate, Traits, Why
from tokentui.learn.steps import Changed, MergeStep, Span, Stop, Used, Word
from tokentui.recipe import Ending, Stops, WhatIf
from tokentui.text.count import Words

COLUMNS = (Column("parts", "", "tokens"), Column("places", "", "count"), Column("place", "", "text"))
"""The columns of the candidates, which are the next tokens."""
ORPHAN = "no merge leads to it"


def _token(
    order: TokenOrder, segmentations: WordSegmentations, changes: ChangeLog, number: int
) -> TokenCandidate:
    """Return the token of a step as a candidate, with the places and words that the step changes."""
    vocabulary, symbol = order.vocabulary, order.tokens[number - 1]
    if vocabulary.merges:
        left, right = vocabulary.merges[symbol - vocabulary.base_size]
        parts: tuple[bytes, ...] = vocabulary.pieces[left], vocabulary.pieces[right]
    else:
        parts = segmentations.before(symbol, number)
    score, place = vocabulary.scores[symbol] if vocabulary.scores else None, order.place(number)
    places, words = changes.places(number, symbol), len(changes.touched(number))
    return TokenCandidate(
        (symbol,), parts, vocabulary.pieces[symbol], -number,
        (parts, places, place), marks=vocabulary.mark_sizes(symbol), places=places,
        number=number, symbol=symbol, id=vocabulary.id_of(symbol, order.merges), score=score, words=words,
        place=place,
    )


class ReplayTrainer:
    """A replay of the tokens of a file over a corpus; see `learn.trainer.Trainer`.

    All steps are computed at the start, so any step is reached at once.

    Args:
        tokenizer: The whole tokenizer.
        words: The distinct pre-tokens of the corpus, as the tokenizer cuts it.
        fixed: The count in the corpus of each special token, by its name.
        order: The order of the tokens; None for `TokenOrder.of(tokenizer)`.

    Raises:
        TokentuiError: The tokens of the file have no order one by one.
    """

    limits = Stops()
    what_if: tuple[WhatIf, ...] = ()

    def __init__(
        self, tokenizer: Tokenizer, words: Words, *, fixed: dict[str, int] | None = None,
        order: TokenOrder | None = None,
    ) -> None:
        self.opened = tokenizer
        self.words, self._lengths = words, PartLengths(words)
        self.recipe = tokenizer.recipe
        self.order = order or TokenOrder.of(tokenizer)
        self.fixed = dict(fixed or {})
        self._changes = ChangeLog(self.order, words.words, words.counts, sum(self.fixed.values()))
        self._start()

    def _start(self) -> None:
        """Go to step 0, and empty all caches."""
        self.number = 0
        self.uses = [0] * len(self.order.vocabulary.pieces)
        self._changes.walk(self.uses, -1, 0)
        self._segmentations = WordSegmentations(self.order)
        self.taken = functools.lru_cache(KEPT_ROWS)(
            functools.partial(_token, self.order, self._segmentations, self._changes)
        )
        """Returns the token of a step, 1 for the first, as a candidate."""
        self._tokenizer: tuple[int, Tokenizer] | None = None
        self._never: dict[int, str] = {}

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> ReplayTrainer:
        """Return another replay of the same corpus at a step, which shares the changes of all steps.

        Raises:
            TokentuiError: There is a what-if; a replay has none.
        """
        self.traits.check_what_ifs(what_if)
        other = copy.copy(self)
        other._start()
        other._go(number)
        return other

    # ---- the present step

    @property
    def computed(self) -> int:
        """The number of tokens: all steps are computed at the start."""
        return len(self.order.tokens)

    def memory(self) -> int:
        """Return the bytes that the changes of all steps take."""
        return self._changes.memory

    @functools.cached_property
    def traits(self) -> Traits:
        """The facts about the training that other rooms read."""
        return Traits(
            step="token", candidate="token", columns=COLUMNS, shaped_by=(), least_size=self.order.size(0),
            replays=True, monotone=("ids",),
        )

    # ---- walking

    def _go(self, number: int) -> None:
        """Go to a step, or to the first or last one if the number is out of range."""
        number = min(max(0, number), self.computed)
        self._changes.walk(self.uses, self.number, number)
        self.number = number

    def advance(self, goal: int | None, stops: Stops, seconds: float = 0.01) -> Stop | None:
        """Go to a step at once, or without a goal forward to the last step under the stops.

        Returns why it stopped: with a goal `MERGES`, or `LAST` if there is no such step; without one `end`.
            Never
        None.
        """
        if goal is not None:
            self._go(goal)
            return Stop.MERGES if self.number == goal else Stop.LAST
        self._go(max(self._last(stops), self.number))
        return self.end(stops)

    def _last(self, stops: Stops) -> int:
        """Return the last step of a run under these stops, of which only `merges` counts."""
        return self.computed if stops.merges is None else min(stops.merges, self.computed)

    def end(self, stops: Stops) -> Stop | None:
        """Return why these stops allow no further step, None if they allow one."""
        if self.number >= self.computed:
            return Stop.LAST
        return Stop.MERGES if self.number >= self._last(stops) else None

    def ending(self, stops: Stops) -> Ending:
        """Return the last step of a run under these stops."""
        last = self._last(stops)
        return Ending(last, "last" if last == self.computed else "stop")

    # ---- steps

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a step, by weight."""
        return self._changes.tokens_at(number)

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each named part after a step; empty if the corpus has too many words."""
        return self._lengths.measured(
            number, lambda word: word.within(self._segmentations.spans(word.text, number))
        )

    def size_at(self, number: int) -> int:
        """Return the number of ids after a step: special tokens count, ids without a token do not."""
        return self.order.size(number)

    def step_at(self, number: int) -> MergeStep:
        """Return a step, 1 for the first, as the step of a single token.

        If the token has parts, `left` is the first part and `right` the rest; otherwise `left` is the token,
        and `right` is empty.
        """
        token = self.taken(number)
        left = token.parts[0] if token.parts else token.token
        right = token.parts[1] if len(token.parts) == 2 else token.token[len(left) :]
        return MergeStep(
            number=number, kind="token",
            events=(Event(EventKind.TOKEN, token.symbol, (), token.places, token.places),),
            left=left, right=right, token=token.token, id=token.id, count=token.places, replaced=token.places,
            score=token.score, tokens=self.tokens_at(number), vocab_size=self.size_at(number),
        )

    def steps_changing(self, tokens: frozenset[bytes], steps: range) -> list[int]:
        """Return the steps at which one of these tokens comes into use."""
        found = (step for token in tokens for step in self._steps_of.get(token, ()))
        return sorted(step for step in found if step in steps)

    @functools.cached_property
    def _steps_of(self) -> dict[bytes, list[int]]:
        """The steps of each token, by its exact bytes; 0 for a token of the start."""
        steps: dict[bytes, list[int]] = {}
        for piece, step in zip(self.order.vocabulary.pieces, self.order.made, strict=True):
            steps.setdefault(piece, []).append(step)
        return steps

    def candidates_at(self, limit: int | None, stops: Stops) -> Ranking:
        """Return the next tokens, the first to come first.

        At the last step no token is next: it has all tokens that came into use, the last one first.
        """
        number, order = self.number, self.order
        steps = range(number + 1, self.computed + 1) if number < self.computed else range(number, 0, -1)
        return Ranking(
            len(steps), 1, self.taken(number + 1).places if number < self.computed else 0,
            lambda row: self.taken(steps[row]),
            lambda row: order.vocabulary.pieces[order.tokens[steps[row] - 1]],
            lambda row: self.taken(steps[row]).parts, parts_join=True,
        )

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the next token and the one after it; at the last step facts about the whole file.

        `stops` are ignored.
        """
        if self.number == self.computed:
            return Why(None, None, 0, 0, "", Stop.LAST, tuple(self._ends()))
        assert isinstance(why.best, TokenCandidate)
        never = self.never(why.best.symbol)
        facts = (f"no text becomes it: {never}",) if never else ()
        return Why(why.best, why.runner_up, why.tied, why.replaced, "", None, facts)

    def never(self, symbol: int) -> str:
        """Return why no text ever becomes a token of the file, by its symbol; empty if some text does."""
        if self.order.vocabulary.kind_of(symbol) == "orphan":
            return ORPHAN
        if symbol not in self._never:
            from tokentui.encode.reachability import never  # imported late: most replays never ask

            self._never[symbol] = never(self._whole, symbol)
        return self._never[symbol]

    def unreachable(self, number: int) -> str:
        """Return why no text ever becomes the token of an id; empty if some text does, or the id has no
        token."""
        vocabulary = self.order.vocabulary
        symbol = vocabulary.symbols_by_id(self.order.merges).get(number)
        return "" if symbol is None else self.never(symbol)

    @functools.cached_property
    def _whole(self) -> Tokenizer:
        """A tokenizer of the whole file with an encoder of its own."""
        return Tokenizer(self.opened.vocabulary, self.opened.merges)

    def _ends(self) -> Iterator[str]:
        """Yield sentences on the whole file: on tokens that no merge makes, and on ids without a token."""
        order, vocabulary = self.order, self.order.vocabulary
        roots = order.listed[: len(order.listed) - (order.size(self.computed) - order.size(0))]
        orphans = sum(vocabulary.kind_of(symbol) == "orphan" for symbol in roots)
        if orphans:
            yield f"{'1 token is an orphan' if orphans == 1 else f'{orphans:,} tokens are orphans'}: {ORPHAN}"
        ids = set(map(vocabulary.ids(order.merges).__getitem__, order.listed))
        ids |= {vocabulary.special_id(name) for name in vocabulary.specials}
        holes = (max(ids) - min(ids) + 1 - len(ids)) if ids else 0
        if holes:
            several = f"{holes:,} ids between the first and the last have no token"
            yield several if holes > 1 else "1 id has no token"

    def inventory(self) -> Inventory:
        """Return the vocabulary at this step. Special tokens have their uses in the corpus."""
        order, vocabulary = self.order, self.order.vocabulary
        fixed = len(vocabulary.specials) + vocabulary.byte_tokens
        return Inventory(
            vocabulary, order.merges, len(vocabulary.pieces),
            newest=lambda: order.listed[: order.size(self.number) - fixed][::-1],
            made_at=lambda symbol: order.made[symbol] if symbol >= 0 else 0, finish=self._finished,
        )

    def _finished(self, entry: Entry) -> Entry:
        """Return an entry of the vocabulary with its step, or with the uses of a special token."""
        if entry.symbol < 0:
            return entry._replace(uses=self._fixed_uses.get(entry.piece) if entry.kind == "special" else None)
        step, never = self.order.made[entry.symbol], entry.symbol in self.order.vocabulary.unreachable
        return entry._replace(
            kind="base" if not step and entry.kind == "piece" else entry.kind, made=step or None, places=None,
            reason=ORPHAN if entry.kind == "orphan" else "text is never taken for it" if never else "",
        )

    @functools.cached_property
    def _fixed_uses(self) -> dict[bytes, int]:
        """The count in the corpus of each special token, by the bytes of its name."""
        return {to_bytes(name): count for name, count in self.fixed.items()}

    # ---- words

    def since(self, word: str) -> int:
        """Return the step since which a pre-token has its present segmentation.

        Returns the current step for a word that the corpus lacks.
        """
        index = self._index.get(word)
        return self.number if index is None else self._changes.since(index, self.number)

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words.words)}

    def segment(self, place: Word) -> list[Span]:
        """Return the segmentation of a word at this step."""
        return place.within(self._segmentations.spans(place.text, self.number))

    def changed(self) -> Changed:
        """Return the words that the last step changed; none at step 0."""
        return Changed(frozenset(self._changes.touched(self.number))) if self.number else Changed()

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the steps up to this one that cut a pre-token in another way, with its tokens."""
        return itertools.takewhile(lambda cut: cut[0] <= self.number, self._segmentations.cuts_of(word))

    def uses_of(self, symbol: int) -> Iterator[Used]:
        """Return an iterator over the uses of a symbol, read now from the changes of each step."""
        order, changes, uses, entries = self.order, self._changes, 0, list[Used]()
        for step in itertools.takewhile(self.number.__ge__, changes.steps):
            by = changes.changes[step].get(symbol, 0)
            if by or not step:
                uses += by
                taken = order.tokens[step - 1] if step else symbol
                entries.append(Used(step, uses, b"" if taken == symbol else order.vocabulary.pieces[taken]))
        return iter(entries)

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """Return the tokenizer of a step; of the current one if `number` is None. `run` is ignored."""
        number = self.number if number is None else number
        if self._tokenizer is None or self._tokenizer[0] != number:
            self._tokenizer = number, self.order.tokenizer(number)
        return self._tokenizer[1]
