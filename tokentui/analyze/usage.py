"""Which tokens a corpus uses when it is encoded, and why it does not use the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokentui.analyze.reach import unreachable
from tokentui.analyze.results import UnusedToken
from tokentui.analyze.spelling import Finder, spelled_units
from tokentui.core.errors import Cancelled
from tokentui.encode import Decoder, WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.barriers import has_barriers
from tokentui.learn.base import Cancel, Progress, Trainer
from tokentui.text.count import Words

ORDINARY = ("unit", "merge", "piece")
"""The kinds of entries that are made from text."""

_NONE = -1
_LOOK_EVERY = 512
_INTO = 3

Place = tuple[int, int, int]
"""A token in a word: the unit that it starts with, the one that it ends before, its id (-1 for one that has none)."""
Cut = Callable[[str], Sequence[Place]]
"""How a pre-token is cut."""


@dataclass(frozen=True, slots=True)
class Usage:
    """A corpus as a tokenizer encodes it, each pre-token as often as it stands there.

    Attributes:
        uses: How often each id stands in it; ids that do not are not among them.
        unused: The other ids, in order.
        units: Its length in units, as training starts from.
        tokens: Its length in tokens.
        lengths: (units, tokens) of each distinct pre-token.
    """

    uses: Mapping[int, int]
    unused: tuple[UnusedToken, ...]
    units: int
    tokens: int
    lengths: Mapping[str, tuple[int, int]]


def usage(
    tokenizer: Tokenizer,
    words: Words,
    *,
    trainer: Trainer | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Usage:
    """Encode the distinct pre-tokens of a corpus and count.

    Args:
        tokenizer: The tokenizer.
        words: The counted pre-tokens.
        trainer: The trainer that stands at this tokenizer and holds these words, which saves encoding them.
        progress: Told (done, total) in pre-tokens.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
    # A trainer tells the tokens of its vocabulary alone: not symbols, nor what is unknown.
    replayed = trainer is not None and tokenizer.recipe.encode == "merges" and not has_barriers(tokenizer.recipe)
    cut = _as_trained(trainer, tokenizer) if trainer is not None and replayed else _as_encoded(encoder)
    uses: dict[int, int] = {}
    lengths: dict[str, tuple[int, int]] = {}
    units = tokens = 0
    units_of = encoder.pretokenizer.units
    for number, (word, count) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            _look(progress, cancel, number, len(words.words))
        places = cut(word)
        size = places[-1][1] if replayed and places else len(units_of(word))
        lengths[word] = (size, len(places))
        units += size * count
        tokens += len(places) * count
        for _, _, one in places:
            uses[one] = uses.get(one, 0) + count
    uses.pop(_NONE, None)
    return Usage(uses, _unused(tokenizer, encoder, words, uses, cut, cancel), units, tokens, lengths)


def _as_trained(trainer: Trainer, tokenizer: Tokenizer) -> Cut:
    length, look = trainer.length, trainer.word
    ids = {symbol: number for number, symbol in tokenizer.vocabulary.symbols_by_id(tokenizer.merges).items()}

    def cut(word: str) -> Sequence[Place]:
        return [(at, at + length(symbol), ids[symbol]) for at, symbol in look(word) or ()]

    return cut


def _as_encoded(encoder: WordEncoder) -> Cut:
    encode = encoder.word

    def cut(word: str) -> Sequence[Place]:
        return [(token.start, token.end, _NONE if token.id is None else token.id) for token in encode(word)]

    return cut


def _unused(
    tokenizer: Tokenizer,
    encoder: WordEncoder,
    words: Words,
    uses: Mapping[int, int],
    cut: Cut,
    cancel: Cancel | None,
) -> tuple[UnusedToken, ...]:
    """The ids that are not used, each with the reason."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    symbols = vocabulary.symbols_by_id(merges)
    missing = [entry for entry in tokenizer.entries() if entry.id not in uses]
    swallowed: dict[int, Counter[int]] = {}
    if by_merges := vocabulary.recipe.encode == "merges":
        swallowed = swallowers(tokenizer, {symbols[number]: times for number, times in uses.items() if number in symbols})
    rest = [symbol for entry in missing if entry.kind in ORDINARY and (symbol := symbols[entry.id]) not in swallowed]
    # Where no unit is unknown, units that were never merged on and do not stand in the corpus are not in it: no need to look.
    sure = vocabulary.base_size if by_merges and vocabulary.recipe.unknown == "never" else 0
    places = _Places(encoder, [symbol for symbol in rest if symbol >= sure])
    if any(symbol >= sure for symbol in rest):
        for number, (word, count) in enumerate(zip(words.words, words.counts, strict=True)):
            if number % _LOOK_EVERY == 0:
                _look(None, cancel, 0, 0)
            places.look(word, count, cut)
    decoder = Decoder(vocabulary, merges)
    reasons: dict[int, str] = {}
    for number, symbol in enumerate(rest):
        if number % _LOOK_EVERY == 0:
            _look(None, cancel, 0, 0)
        spelled = symbol in places.inside or symbol in places.free
        if not by_merges and spelled and symbol not in places.free:
            swallowed[symbol] = Counter({symbols[number]: times for number, times in places.inside[symbol].items()})
        elif unreachable(encoder, decoder, symbol):
            reasons[symbol] = "unreachable"
        else:
            reasons[symbol] = "not chosen" if spelled else "not in the corpus"
    found = []
    for entry in missing:
        if entry.kind in ORDINARY:
            symbol = symbols[entry.id]
            into = tuple(vocabulary.spelled(one) for one, _ in swallowed.get(symbol, Counter()).most_common(_INTO))
            found.append(UnusedToken(entry.id, entry.piece, entry.kind, reasons.get(symbol, "swallowed"), into))
        else:
            found.append(UnusedToken(entry.id, entry.piece, entry.kind, "byte" if entry.kind == "byte" else "special"))
    return tuple(found)


def swallowers(tokenizer: Tokenizer, uses: Mapping[int, int]) -> dict[int, Counter[int]]:
    """Of each symbol that stood in the corpus on the way: the symbols that it was merged into, and how often.

    Args:
        tokenizer: One that encodes by merges.
        uses: How often each symbol stands in the corpus in the end.
    """
    base, merges = tokenizer.vocabulary.base_size, tokenizer.vocabulary.merges
    passed = [uses.get(symbol, 0) for symbol in range(base + tokenizer.merges)]
    into: dict[int, Counter[int]] = {}
    for rank in range(tokenizer.merges - 1, -1, -1):
        times = passed[base + rank]
        if times:
            for part in merges[rank]:
                passed[part] += times
                into.setdefault(part, Counter())[base + rank] += times
    return into


class _Places:
    """Where unused tokens could stand in the words of a corpus: inside a used token, or not."""

    def __init__(self, encoder: WordEncoder, symbols: Iterable[int]) -> None:
        self._encoder = encoder
        self._finder = Finder((spelled_units(encoder, symbol), symbol) for symbol in symbols)
        self._made = set(encoder.vocabulary.symbols_by_id(encoder.merges))
        self.inside: dict[int, Counter[int]] = {}
        """The ids of the tokens that hold it, with how often."""
        self.free: Counter[int] = Counter()
        """How often it lies across tokens, or in what is unknown."""

    def look(self, word: str, count: int, cut: Cut) -> None:
        """Look at the places in one word."""
        units = self._encoder.pretokenizer.units(word)
        kept = self._encoder.kept(units)
        if len(kept) < len(units):
            units = [units[at] for at in kept]
        owners: dict[int, Place] | None = None
        for at in range(len(units)):
            for end, symbol in self._finder.at(units, at):
                if owners is None:
                    owners = {unit: place for place in cut(word) for unit in range(place[0], place[1])}
                _, last, number = owners.get(kept[at], (0, 0, _NONE))
                if number in self._made and last > kept[end - 1]:
                    self.inside.setdefault(symbol, Counter())[number] += count
                else:
                    self.free[symbol] += count


def _look(progress: Progress | None, cancel: Cancel | None, done: int, total: int) -> None:
    if cancel is not None and cancel():
        raise Cancelled
    if progress is not None:
        progress(done, total)
