"""Report on a vocabulary: the tokens that a corpus uses, the tokens that its documents save, and the end of a
training that continues until no pair is left."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tokentui import learn
from tokentui.analyze.results import DocumentSaved, Exhausted, PartTally, UnusedToken, VocabularyReport
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each, silent, tick
from tokentui.encode.decode import SymbolFinder, spelled_units
from tokentui.encode.encoder import WordEncoder, WordToken
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.reachability import reachability_of
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
from tokentui.encode.segmentations import ways_of
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.bases import WEIGHTS, has_barriers
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.steps import Word
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, chunks
from tokentui.text.pretokenize import PreToken

DOCUMENTS = 100
"""The maximum number of documents that a report lists by default."""


def vocabulary_report(
    tokenizer: Tokenizer, corpus: Corpus, words: Words | None = None, *, step: int | None = None,
    text: str = "", exhaust: bool = False, documents: int = DOCUMENTS,
) -> VocabularyReport:
    """Report on a vocabulary and a corpus.

    All figures are of the corpus as it is: each pre-token counts as often as it occurs, whatever weight a
    training gives it.

    Args:
        tokenizer: The tokenizer.
        corpus: The corpus.
        words: Its counted pre-tokens; None to count them here.
        step: The step of the tokenizer; None for its number of merges.
        text: A text whose pre-tokens are listed with their segmentations; empty for none.
        exhaust: True to train a new tokenizer by the same recipe until no pair is left. That may take
            long.
        documents: The maximum number of documents listed.

    Raises:
        TokentuiError: The corpus cannot be split, or a pre-token of the text is too long.
    """
    words = words or Pretokens(tokenizer).count(corpus)[0]
    used = usage(tokenizer, words)
    end = None
    if exhaust:
        vocabulary = tokenizer.vocabulary
        run = Run(first_id=vocabulary.first_id, specials=tuple(vocabulary.specials))
        end = exhausted(words, tokenizer.recipe, run, corpus)
    return VocabularyReport(
        step=tokenizer.merges if step is None else step,
        vocab_size=tokenizer.vocab_size,
        used=len(used.uses),
        unused=used.unused,
        units=used.units,
        tokens=used.tokens,
        documents=saved(corpus, tokenizer, used, documents),
        document_count=len(corpus.parts),
        exhausted=end,
        ways=ways_of(tokenizer.encoder, text),
        parts=tuple(
            PartTally(named.name, named.times * named.corpus.size, sum(
                used.lengths[word][1] * times
                for word, times in zip(part.words.words, part.words.counts, strict=True)
            ))
            for named, part in zip(corpus.named, words.parts, strict=False)
        ),
    )


def exhausted(words: Words, recipe: Recipe, run: Run, corpus: Corpus | None = None) -> Exhausted:
    """Train a new tokenizer until no pair is left, and return the figures at its end.

    A training that only drops pieces has no such end, so its start is reported. A recipe that cannot be
    trained is no error; `end` says why, and the other figures are 0. A tick of the job is a token of the
    corpus.

    Args:
        words: The counted pre-tokens of the corpus.
        recipe: The recipe to train.
        run: The first id and the special tokens; its stops are ignored.
        corpus: The corpus, for an objective that reads its documents.
    """
    run, distinct = replace(run, stops=Stops()), len(words.words)
    try:
        with silent():
            trainer = learn.start(corpus, recipe, run, words)
    except TokentuiError as error:
        return Exhausted(0, len(run.specials), 0, 0, distinct, f"it cannot be trained: {error}")
    grows, start = trainer.traits.grows, trainer.tokens_at(0)
    shortest = sum(words.counts if WEIGHTS.of(recipe.weight).by_occurrences else (1,) * distinct)
    most = max(1, start - shortest)
    pieces = trainer.size_at(0) - len(run.specials)
    model = OBJECTIVES.of(recipe.objective).label
    only_drops = f"a {model} model only drops pieces: it begins with all {pieces:,} that it may have"
    end = "" if grows else only_drops
    while not end:
        end = learn.with_plain_fallback(trainer, lambda trainer: trainer.advance(None, Stops())) or ""
        tick(min(start - trainer.tokens_at(trainer.number), most), most)
    tokenizer, whole = trainer.tokenizer(), 0
    encoded = not grows or has_barriers(recipe)
    for word in each(words.words):
        whole += len(tokenizer.encoder.word(word) if encoded else trainer.segment(Word(word))) == 1
    tokens = trainer.tokens_at(trainer.number)
    return Exhausted(tokenizer.merges, tokenizer.vocab_size, tokens, whole, distinct, end)


ORDINARY = ("unit", "merge", "piece")
"""The kinds of entries that are made from text."""

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


def usage(tokenizer: Tokenizer, words: Words) -> Usage:
    """Count the ids of a corpus by encoding its distinct pre-tokens, and say why each other id is unused. The
    job reports its progress in pre-tokens, then in ids.

    Args:
        tokenizer: The tokenizer.
        words: The counted pre-tokens.
    """
    encoder = tokenizer.encoder
    uses: dict[int, int] = {}
    lengths: dict[str, tuple[int, int]] = {}
    units = tokens = 0
    total = len(words.words) + tokenizer.vocab_size
    for word, count in each(zip(words.words, words.counts, strict=True), total):
        encoded = encoder.word(word)
        size = len(encoder.pretokenizer.units(word))
        lengths[word] = (size, len(encoded))
        units += size * count
        tokens += len(encoded) * count
        for token in encoded:
            if token.id is not None:
                uses[token.id] = uses.get(token.id, 0) + count
    return Usage(uses, _unused(tokenizer, words, uses), units, tokens, lengths)


def _unused(tokenizer: Tokenizer, words: Words, uses: Mapping[int, int]) -> tuple[UnusedToken, ...]:
    """Return the unused ids in order, each with the reason, see `UnusedToken.why`.

    Args:
        tokenizer: The tokenizer.
        words: The counted pre-tokens of the corpus.
        uses: The count of each id that occurs.
    """
    vocabulary, encoder = tokenizer.vocabulary, tokenizer.encoder
    symbols = vocabulary.symbols_by_id(tokenizer.merges)
    missing = [entry for entry in tokenizer.entries() if entry.id not in uses]
    swallowed: dict[int, Counter[int]] = {}
    by_merges = ENCODING_WAYS.of(vocabulary.recipe.encode).needs == "merges" and not vocabulary.eventful
    if by_merges:
        uses_of_symbols = {symbols[number]: times for number, times in uses.items() if number in symbols}
        swallowed = swallowers(tokenizer, uses_of_symbols)
    rest = [symbols[entry.id] for entry in missing if entry.kind in ORDINARY]
    rest = [symbol for symbol in rest if symbol not in swallowed]
    # Where no unit is unknown, units that were never merged on and do not occur are not in the corpus: no
    # need to look.
    sure = vocabulary.base_size if by_merges and UNKNOWN.of(vocabulary.recipe.unknown).never_unknown else 0
    places = _Places(encoder, [symbol for symbol in rest if symbol >= sure])
    if any(symbol >= sure for symbol in rest):
        for word, count in each(zip(words.words, words.counts, strict=True)):
            places.add_word(word, count)
    unused = []
    done = len(words.words) + tokenizer.vocab_size - len(missing)
    for entry in each(missing, done + len(missing), done):
        why = "byte" if entry.kind == "byte" else "special"
        into: Counter[int] = Counter()
        if entry.kind in ORDINARY:
            symbol = symbols[entry.id]
            free, inside = symbol in places.free, places.inside.get(symbol, Counter())
            if symbol in swallowed:
                why, into = "swallowed", swallowed[symbol]
            elif not by_merges and inside and not free:
                why, into = "swallowed", Counter({symbols[number]: times for number, times in inside.items()})
            elif reachability_of(tokenizer, entry).text is None:
                why = "unreachable"
            else:
                why = "not chosen" if inside or free else "not in the corpus"
        tokens = tuple(vocabulary.spelled(symbol) for symbol, _ in into.most_common(_INTO))
        unused.append(UnusedToken(entry.id, entry.piece, entry.kind, why, tokens))
    return tuple(unused)


def swallowers(tokenizer: Tokenizer, uses: Mapping[int, int]) -> dict[int, Counter[int]]:
    """Return for each symbol that merging the corpus joined into others these symbols, and how often.

    Args:
        tokenizer: A tokenizer that encodes by merges.
        uses: The count of each symbol in the encoded corpus.
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
    """Counts the places where unused tokens could occur in the words of a corpus.

    Args:
        encoder: The encoder.
        symbols: The symbols of the unused tokens.
    """

    def __init__(self, encoder: WordEncoder, symbols: Iterable[int]) -> None:
        self._encoder = encoder
        self._finder = SymbolFinder((spelled_units(encoder, symbol), symbol) for symbol in symbols)
        self._made = set(encoder.vocabulary.symbols_by_id(encoder.merges))
        self.inside: dict[int, Counter[int]] = {}
        """For each symbol the ids of the longer tokens that contain it, with how often."""
        self.free: Counter[int] = Counter()
        """For each symbol the number of times that it crosses tokens, or is in an unknown part."""

    def add_word(self, word: str, count: int) -> None:
        """Count the places in a word that occurs `count` times, in `inside` and `free`."""
        units = self._encoder.pretokenizer.units(word)
        kept = self._encoder.kept_indices(units)
        if len(kept) < len(units):
            units = [units[at] for at in kept]
        owners: dict[int, WordToken] = {}
        for at in range(len(units)):
            for end, symbol in self._finder.at(units, at):
                if not owners:
                    tokens = self._encoder.word(word)
                    owners = {unit: token for token in tokens for unit in range(token.start, token.end)}
                owner = owners.get(kept[at])
                if owner is not None and owner.id in self._made and owner.end > kept[end - 1]:
                    self.inside.setdefault(symbol, Counter())[owner.id] += count
                else:
                    self.free[symbol] += count


def saved(corpus: Corpus, tokenizer: Tokenizer, usage: Usage, limit: int) -> tuple[DocumentSaved, ...]:
    """Return the documents with the most units less tokens, largest saving first. The earlier one wins a tie.
    Numbers start at 1.

    A token that covers more units saves more. A document may save nothing, and is listed as well.

    The documents of counted words are the words, each with all its occurrences.

    Args:
        corpus: The corpus.
        tokenizer: The tokenizer, which splits the documents into pre-tokens.
        usage: The usage of the corpus, with the length of each of its pre-tokens.
        limit: The maximum number of documents to return.
    """
    documents = _documents(corpus, tokenizer, usage)
    return tuple(heapq.nsmallest(
        limit, documents, key=lambda document: (document.tokens - document.units, document.number)
    ))


def _documents(corpus: Corpus, tokenizer: Tokenizer, usage: Usage) -> Iterator[DocumentSaved]:
    """Yield the units and tokens of each document; of counted words each word, times its count.

    A document is cut again, as the words of all are counted together; a single one is not.
    """
    lengths = usage.lengths
    if corpus.counts is not None:
        for number, (word, count) in enumerate(corpus.counts, 1):
            units, tokens = lengths[word]
            yield DocumentSaved(number, beginning_of(word), units * count, tokens * count)
        return
    if len(corpus.documents) == 1:  # as cut already
        yield DocumentSaved(1, beginning_of(corpus.documents[0]), usage.units, usage.tokens)
        return
    own = Pretokens(tokenizer)
    for number, document in enumerate(corpus.documents, 1):
        units = tokens = 0
        for word in _words(document, own):
            of_word = lengths[word]
            units += of_word[0]
            tokens += of_word[1]
        yield DocumentSaved(number, beginning_of(document), units, tokens)


def _words(document: str, own: Pretokens) -> Iterator[str]:
    """Yield the pre-tokens of a document, by the recipe or by the steps of a file if it does more."""
    if not own.encoder.splits_plainly(document):
        check()
        yield from (item.text for item in own.of(document) if isinstance(item, PreToken))
        return
    pretokenizer = own.encoder.pretokenizer
    for text, first in chunks((document,), pretokenizer):
        check()
        yield from pretokenizer.words(text, first=first)


def beginning_of(document: str) -> str:
    """Return the first line of a document that is not blank, of at most 40 characters with an ellipsis. Empty
    if the first 400 characters are blank."""
    start = document[: 10 * _NAME_CHARS].lstrip()
    line = start.split("\n", 1)[0].rstrip()
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1] + "…"
