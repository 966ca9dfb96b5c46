"""The tokens that a corpus uses when it is encoded, why it does not use the others, and what each document
saves."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tokentui.analyze.results import DocumentSaved, UnusedToken
from tokentui.core.jobs import check, tick
from tokentui.encode.decode import Decoder
from tokentui.encode.offsets import Token, WordEncoder
from tokentui.encode.reach import Finder, spelled_units, unreachable
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.segment.ways import WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay.pretokens import Pretokens
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, chunks
from tokentui.text.pretokenize import PreToken, Pretokenizer

ORDINARY = ("unit", "merge", "piece")
"""The kinds of entries that are made from text."""

_LOOK_EVERY = 512
_INTO = 3
_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class Usage:
    """A corpus as a tokenizer encodes it; each pre-token counts as often as it occurs.

    Attributes:
        uses: The count of each id that occurs.
        unused: The other ids, in order.
        units: The length of the corpus in units, from which training starts.
        tokens: Its length in tokens.
        lengths: (units, tokens) of each distinct pre-token.
    """

    uses: Mapping[int, int]
    unused: tuple[UnusedToken, ...]
    units: int
    tokens: int
    lengths: Mapping[str, tuple[int, int]]


def usage(
    tokenizer: Tokenizer, words: Words
) -> Usage:
    """Encode the distinct pre-tokens of a corpus and count.

    Args:
        tokenizer: The tokenizer.
        words: The counted pre-tokens.
    """
    encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
    uses: dict[int, int] = {}
    lengths: dict[str, tuple[int, int]] = {}
    units = tokens = 0
    for number, (word, count) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            tick(number, len(words.words))
        found = encoder.word(word)
        size = len(encoder.pretokenizer.units(word))
        lengths[word] = (size, len(found))
        units += size * count
        tokens += len(found) * count
        for token in found:
            if token.id is not None:
                uses[token.id] = uses.get(token.id, 0) + count
    return Usage(uses, _unused(tokenizer, encoder, words, uses), units, tokens, lengths)


def _unused(
    tokenizer: Tokenizer, encoder: WordEncoder, words: Words, uses: Mapping[int, int]
) -> tuple[UnusedToken, ...]:
    """The ids that are not used, each with the reason."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    symbols = vocabulary.symbols_by_id(merges)
    missing = [entry for entry in tokenizer.entries() if entry.id not in uses]
    swallowed: dict[int, Counter[int]] = {}
    if by_merges := WAYS.of(vocabulary.recipe.encode).needs == "merges":
        held = {symbols[number]: times for number, times in uses.items() if number in symbols}
        swallowed = swallowers(tokenizer, held)
    rest = [symbols[entry.id] for entry in missing if entry.kind in ORDINARY]
    rest = [symbol for symbol in rest if symbol not in swallowed]
    # Where no unit is unknown, units that were never merged on and do not occur are not in the corpus: no
    # need to look.
    sure = vocabulary.base_size if by_merges and UNKNOWN.of(vocabulary.recipe.unknown).sure else 0
    places = _Places(encoder, [symbol for symbol in rest if symbol >= sure])
    if any(symbol >= sure for symbol in rest):
        for number, (word, count) in enumerate(zip(words.words, words.counts, strict=True)):
            if number % _LOOK_EVERY == 0:
                check()
            places.look(word, count)
    decoder = Decoder(vocabulary, merges)
    reasons: dict[int, str] = {}
    for number, symbol in enumerate(rest):
        if number % _LOOK_EVERY == 0:
            check()
        spelled = symbol in places.inside or symbol in places.free
        if not by_merges and spelled and symbol not in places.free:
            inside = places.inside[symbol]
            swallowed[symbol] = Counter({symbols[number]: times for number, times in inside.items()})
        elif unreachable(encoder, decoder, symbol):
            reasons[symbol] = "unreachable"
        else:
            reasons[symbol] = "not chosen" if spelled else "not in the corpus"
    found = []
    for entry in missing:
        why = "byte" if entry.kind == "byte" else "special"
        into: tuple[bytes, ...] = ()
        if entry.kind in ORDINARY:
            symbol = symbols[entry.id]
            why = reasons.get(symbol, "swallowed")
            most = swallowed.get(symbol, Counter()).most_common(_INTO)
            into = tuple(vocabulary.spelled(one) for one, _ in most)
        found.append(UnusedToken(entry.id, entry.piece, entry.kind, why, into))
    return tuple(found)


def swallowers(tokenizer: Tokenizer, uses: Mapping[int, int]) -> dict[int, Counter[int]]:
    """Of each symbol that occurred on the way: the symbols that it was merged into, and how often.

    Args:
        tokenizer: One that encodes by merges.
        uses: The count of each symbol in the corpus at the end.
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
    """The places where unused tokens could occur in the words of a corpus: inside a used token, or not."""

    def __init__(self, encoder: WordEncoder, symbols: Iterable[int]) -> None:
        self._encoder = encoder
        self._finder = Finder((spelled_units(encoder, symbol), symbol) for symbol in symbols)
        self._made = set(encoder.vocabulary.symbols_by_id(encoder.merges))
        self.inside: dict[int, Counter[int]] = {}
        """The ids of the tokens that hold it, with how often."""
        self.free: Counter[int] = Counter()
        """The number of times that it lies across tokens, or in a unit that is unknown."""

    def look(self, word: str, count: int) -> None:
        """Look at the places in one word."""
        units = self._encoder.pretokenizer.units(word)
        kept = self._encoder.kept(units)
        if len(kept) < len(units):
            units = [units[at] for at in kept]
        owners: dict[int, Token] = {}
        for at in range(len(units)):
            for end, symbol in self._finder.at(units, at):
                if not owners:
                    owners = {
                        unit: token for token in self._encoder.word(word) for unit in range(
                            token.start, token.end
                        )
                    }
                owner = owners.get(kept[at])
                if owner is not None and owner.id in self._made and owner.end > kept[end - 1]:
                    self.inside.setdefault(symbol, Counter())[owner.id] += count
                else:
                    self.free[symbol] += count


def saved(
    corpus: Corpus, tokenizer: Tokenizer, usage: Usage, limit: int | None = None
) -> tuple[DocumentSaved, ...]:
    """The documents that save most tokens, first; of equals the earlier one. Numbers count from 1.

    The documents of counted words are the words, each with all its occurrences.

    Args:
        corpus: The corpus.
        tokenizer: It cuts the corpus into pre-tokens.
        usage: The same corpus, encoded.
        limit: The most to return.
    """
    every = _documents(corpus, tokenizer, usage)
    first = sorted(every) if limit is None else heapq.nsmallest(limit, every)
    texts = corpus.documents if corpus.counts is None else [word for word, _ in corpus.counts]
    return tuple(
        DocumentSaved(number, _name(texts[number - 1]), units, tokens) for _, number, units, tokens in first
    )


def document_count(corpus: Corpus) -> int:
    """The number of documents of a corpus; those of counted words are the words."""
    return len(corpus.documents if corpus.counts is None else corpus.counts)


def _documents(
    corpus: Corpus, tokenizer: Tokenizer, usage: Usage
) -> Iterator[tuple[int, int, int, int]]:
    """(tokens less units, number, units, tokens) of each document."""
    lengths = usage.lengths
    if corpus.counts is not None:
        for number, (word, count) in enumerate(corpus.counts, 1):
            units, tokens = lengths[word]
            yield (tokens - units) * count, number, units * count, tokens * count
        return
    if len(corpus.documents) == 1:
        yield usage.tokens - usage.units, 1, usage.units, usage.tokens
        return
    words = _words_of(tokenizer)
    for number, document in enumerate(corpus.documents, 1):
        units = tokens = 0
        for word in words(document):
            of_word = lengths[word]
            units += of_word[0]
            tokens += of_word[1]
        yield tokens - units, number, units, tokens


def _words_of(tokenizer: Tokenizer) -> Callable[[str], Iterator[str]]:
    """A function from a document to its pre-tokens: by the recipe, or by the steps of a file where they do
    more."""
    own = Pretokens(tokenizer)
    pretokenizer = Pretokenizer(tokenizer.recipe)

    def words(document: str) -> Iterator[str]:
        if own.does_more(document):
            check()
            yield from (item.text for item in own.of(document) if isinstance(item, PreToken))
            return
        for text, first in chunks((document,), pretokenizer):
            check()
            yield from pretokenizer.words(text, first=first)

    return words


def _name(document: str) -> str:
    """The beginning of a document: its first line that is not blank, cut short."""
    start = document[: 10 * _NAME_CHARS].lstrip()
    line = start.split("\n", 1)[0].rstrip()
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1] + "…"
