"""How far a vocabulary is from the best possible one: the tokens of a corpus against a proved lower bound.

The bound is that of `learn/lower_bound.py`. It belongs to the pre-tokens and the base units of a tokenizer,
and says nothing about text outside the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tokentui import learn
from tokentui.analyze.budget import step_of
from tokentui.analyze.report import Report, Row, Section, as_row, strong
from tokentui.analyze.results import Bounds, SizeBound
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import each, silent, tick
from tokentui.encode.decode import spelled_units
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.segment import UnknownUnit
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.learn.lower_bound import (
    Bound,
    BoundSearch,
    Candidates,
    WordRow,
    rounds_of,
    simple_bound,
    with_plain_fallback,
)
from tokentui.learn.replay import ReplayTrainer
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

ROUNDS = 200
"""The rounds of a search by default."""
SIZE_FIELDS = ("vocab_size", "tokens", "bound", "reached", "simple", "rounds", "most_saved", "saved")
"""The fields of a bound in JSON."""


class BoundedCorpus:
    """A corpus as a tokenizer cuts it, whose bounds are asked for.

    Args:
        tokenizer: The tokenizer.
        corpus: The corpus.

    Raises:
        TokentuiError: The tokenizer refuses the corpus, or the corpus has no pre-token.
        Cancelled: The job is cancelled.
    """

    def __init__(self, tokenizer: Tokenizer, corpus: Corpus) -> None:
        self._tokenizer, self._corpus = tokenizer, corpus
        words, _ = Pretokens(tokenizer).count(corpus)
        encoder, kept, lengths = tokenizer.encoder, list[tuple[str, int]](), list[int]()
        counts: Counter[tuple[bytes, ...]] = Counter()
        self.left_out = 0
        unknown = {NO_ID, tokenizer.vocabulary.unknown_id}
        for word, count in each(list(zip(words.words, words.counts, strict=True)), len(words.words)):
            units = encoder.pretokenizer.units(word)
            ids = _ids(encoder, word)
            dropped = len(units) - len(encoder.kept_indices(units)) if encoder.drops_units else 0
            if not units or dropped or not unknown.isdisjoint(ids):
                self.left_out += count
                continue
            symbol = word in encoder.pretokenizer.symbols
            counts[(word.encode("utf-8", "surrogateescape"),) if symbol else tuple(units)] += count
            kept.append((word, count))
            lengths.append(len(ids) * count)
        if not kept:
            hint = "name a corpus that the tokenizer can encode"
            raise TokentuiError("no pre-token to bound", corpus.name, hint)
        self._words = Words(tuple(word for word, _ in kept), tuple(count for _, count in kept))
        self._tokens = sum(lengths)
        self.rows = [WordRow(units, count) for units, count in counts.items()]
        """The distinct pre-tokens in units."""
        with silent():
            self.candidates = with_plain_fallback(lambda: Candidates(self.rows))
        several = sum(
            entry.kind == "merge" or (
                entry.symbol is not None and entry.kind in ("piece", "orphan")
                and len(spelled_units(encoder, entry.symbol)) > 1
            )
            for entry in tokenizer.entries()
        )
        self.base = tokenizer.vocab_size - several
        """The ids that are no token of several units."""

    def bounds(self, sizes: Sequence[int] = (), rounds: int = ROUNDS) -> tuple[Bounds, list[Bound]]:
        """Find the bounds of some sizes. Reports progress in rounds.

        Args:
            sizes: The sizes in ids; none for that of the tokenizer.
            rounds: The maximum number of rounds for each.

        Returns:
            The bounds in ascending order of their sizes, and what proves each, in the same order. A size
                between two steps becomes that of the step before it.

        Raises:
            TokentuiError: The tokenizer has no step of such a size.
            Cancelled: The job is cancelled.
        """
        found = with_plain_fallback(lambda: self._search(self._lengths(sizes), rounds))
        recipe, candidates = self._tokenizer.recipe, self.candidates
        return Bounds(
            self._corpus.name, self._corpus.size, candidates.pretokens, len(self.rows), self.left_out,
            candidates.long, recipe.split, recipe.unit, self.base, tuple(row for row, _ in found),
        ), [bound for _, bound in found]

    def _search(self, tokens_of: Mapping[int, int], rounds: int) -> list[tuple[SizeBound, Bound]]:
        """Search the bound of each size, given the tokens of the corpus at it, in ascending order of the
        sizes."""
        found: list[tuple[SizeBound, Bound]] = []
        first: Sequence[int] | None = None
        for n, size in enumerate(sorted(tokens_of)):
            search = BoundSearch(self.candidates, size - self.base, tokens_of[size], first)
            for _ in rounds_of(search, rounds):
                tick(n * rounds + search.rounds, len(tokens_of) * rounds)
            best = search.best
            simple = simple_bound(self.candidates, size - self.base)
            figures = tokens_of[size], best.tokens, search.reached, simple, search.rounds
            found.append((SizeBound(size, *figures), best))
            first = best.numbers
        return found

    def _lengths(self, sizes: Sequence[int]) -> dict[int, int]:
        """Return the tokens of the corpus at each size, by size; for no sizes, at that of the tokenizer. A
        size between two steps becomes that of the step before it.

        Raises:
            TokentuiError: The tokenizer has no step of such a size.
        """
        whole = self._tokenizer.vocab_size
        if not sizes or set(sizes) == {whole}:
            return {whole: self._tokens}
        trainer = ReplayTrainer(self._tokenizer, self._words)
        learn.jump(trainer, trainer.computed)
        ids = tuple(map(trainer.size_at, range(trainer.number + 1)))
        steps = sorted({step_of(ids, size) for size in sizes})
        return {ids[step]: trainer.tokens_at(step) for step in steps}


def _ids(encoder: WordEncoder, word: str) -> list[int]:
    """Return the ids of a word; an id that none is if the tokenizer refuses it."""
    try:
        return encoder.word_ids(word)
    except UnknownUnit:
        return [NO_ID]


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Find the bound of a tokenizer on a corpus, which must not be None, and report on it."""
    assert corpus is not None
    return report(BoundedCorpus(tokenizer, corpus).bounds()[0])


def claim(size: SizeBound) -> str:
    """Return what a bound proves in a sentence: the greatest share of the tokens that another vocabulary of
    this size could save, in percent rounded up, or that none can be saved."""
    if size.bound >= size.tokens:
        return "no token can be saved by any vocabulary of this size, and that is proved"
    share = f"{_up(size.most_saved)} %"
    return f"at most {share} of the tokens could be saved by any vocabulary of this size, and that is proved"


def _up(share: float) -> str:
    """Return a share in percent with two digits, rounded up, so that the sentence stays true."""
    return f"{-(-share * 1e4 // 1) / 100:.2f}"


def report(found: Bounds, program: float | None = None) -> Report:
    """Report on the bounds of a corpus.

    Args:
        found: The bounds.
        program: The value of the linear program for the first size; None if it was not solved.
    """
    sections = [Section("corpus", (
        f"{found.corpus}, {found.bytes:,} bytes: {found.pretokens:,} pre-tokens, {found.distinct:,} distinct"
    ), notes=tuple(_notes(found)))]
    sections.append(Section(
        "units", f"split={found.split}, unit={found.unit}; {found.base:,} ids are units and special tokens"
    ))
    for size in found.sizes:
        rows = (
            Row((f"{size.tokens:,}", "tokens with this tokenizer")),
            Row((f"{size.reached:,}", _reached(size))),
            Row((f"{size.bound:,}", f"tokens or more with any vocabulary of {size.vocab_size:,} ids")),
            Row((f"{size.simple:,}", "the same bound from the most frequent pre-tokens alone")),
        )
        sections.append(Section(f"{size.vocab_size:,} ids", strong(claim(size)), rows))
    if program is not None:
        sections.append(Section("linear program", f"{program:,.3f} tokens at least"))
    about = (
        "It holds for these pre-tokens and units, and every encoder that loses nothing. It says nothing "
        "about other text."
    )
    proof = f"{found.sizes[-1].rounds:,} rounds; bound -o FILE writes it"
    sections.append(Section("proof", proof, notes=(about,)))
    sizes = [as_row(size, *SIZE_FIELDS) for size in found.sizes]
    value = {**as_row(found), "sizes": sizes, "program": program}
    return Report("Lower bound", tuple(sections), value, claim(found.sizes[-1]))


def _reached(size: SizeBound) -> str:
    if size.reached >= size.tokens:
        return "tokens with the best vocabulary that was found"
    return f"tokens with another vocabulary, which saves {100 * size.saved:.2f} %"


def _notes(found: Bounds) -> Iterator[str]:
    if found.left_out:
        yield f"{found.left_out:,} pre-tokens are left out: the tokenizer loses a part of them"
    if found.long:
        yield f"{found.long:,} long pre-tokens count as one token each"
