"""A vocabulary that goes on: trained on with a corpus from where its merges end, or with the merges of
another one behind its own."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tokentui import learn
from tokentui.analyze.edit import GONE, STOPS, Edit
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.events import EventVocabulary
from tokentui.encode.stages import StagedVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import GageVocabulary, Vocabulary
from tokentui.formats.spec import Loss
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.merging import merging
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.pretokenize import Pretokenizer


def extend(edit: Edit, corpus: Corpus, size: int) -> Edit:
    """Train on from where a vocabulary ends: the words of a corpus are cut by its merges, and the pairs of
    these tokens are merged on, by the recipe of the tokenizer.

    Args:
        edit: The tokenizer so far, which was trained here.
        corpus: The corpus.
        size: The number of ids to train on to.

    Raises:
        TokentuiError: The tokenizer is of a kind that cannot be trained on, the size is not above the one
            that it has, or the corpus has a unit that the vocabulary lacks.
    """
    tokenizer = edit.tokenizer
    vocabulary, recipe, where = tokenizer.vocabulary, tokenizer.recipe, "--extend"
    if vocabulary.imported:
        what = "only a tokenizer that was trained here can be trained on"
        raise TokentuiError(what, where, "the file of another tool does not say how its merges were chosen")
    kinds = EventVocabulary, StagedVocabulary, GageVocabulary
    if vocabulary.scores or isinstance(vocabulary, kinds):
        raise TokentuiError(f"objective={recipe.objective} does not grow by merges", where, "train it anew")
    if vocabulary.base_last or vocabulary.borrowed or len(vocabulary.units) < vocabulary.base_size:
        raise TokentuiError("new merges would renumber its base", where, "take another base, such as sorted")
    if recipe.symbols:
        raise TokentuiError("it has symbols that no merge crosses", where, "train it anew")
    if size <= tokenizer.vocab_size:
        what = f"it has {tokenizer.vocab_size:,} ids already"
        raise TokentuiError(what, f"--vocab-size {size}", f"take {tokenizer.vocab_size + 1} or more")
    merges = tokenizer.merges
    grown = vocabulary.copy(merges)
    if len(set(grown.pieces)) < len(grown.pieces):
        raise TokentuiError("two of its tokens are spelled alike", where, "train it anew")
    units = Pretokenizer(recipe).units

    def cut(word: str) -> list[bytes]:
        symbols = [grown.units.get(unit, GONE) for unit in units(word)]
        if GONE in symbols:
            lacks = units(word)[symbols.index(GONE)]
            what = f"the corpus has a unit that the vocabulary lacks: {lacks.decode('utf-8', 'replace')!r}"
            raise TokentuiError(what, where, "take that text out, or a tokenizer of bytes")
        return [grown.pieces[symbol] for symbol in _merged(symbols, grown)]

    run = Run(first_id=grown.first_id, specials=tuple(tokenizer.vocabulary.specials))
    material = Material.of(count(corpus, recipe), recipe, run)
    base = Vocabulary(recipe, grown.pieces, run.specials, run.first_id)
    trainer = PairTrainer(PlainPairs(material, lambda _: base, cut), material, merging)
    learn.run(trainer, Stops(vocab_size=size))
    more = trainer.tokenizer()
    for pair, times in zip(more.vocabulary.merges[: more.merges], more.vocabulary.counts, strict=False):
        grown.add(*pair, times)
    told = {key: value for key, value in tokenizer.run.items() if key not in STOPS}
    return replace(edit, tokenizer=Tokenizer(grown, None, told))


def merge(edit: Edit, other: Tokenizer) -> Edit:
    """Put the merges of another tokenizer that a vocabulary lacks behind its own, in their order.

    A token of the other one is left out where it needs a base unit that the vocabulary lacks.

    Args:
        edit: The tokenizer so far, which was trained here.
        other: The other tokenizer, which was trained here with the same units and marks.

    Raises:
        TokentuiError: One of them is of a kind that has no merges of its own, or their units differ.
    """
    where = "--merge"
    for one in (edit.tokenizer, other):
        vocabulary = one.vocabulary
        if vocabulary.imported or vocabulary.scores or isinstance(vocabulary, GageVocabulary):
            what = "only tokenizers that were trained here by merges can be put together"
            raise TokentuiError(what, where, "train both with tokentui train")
        if isinstance(vocabulary, EventVocabulary | StagedVocabulary):
            what = f"objective={one.recipe.objective} has steps that are no merges by rank alone"
            raise TokentuiError(what, where, "put tokenizers of merges together")
        if vocabulary.base_last or vocabulary.borrowed:
            raise TokentuiError("new merges would renumber its base", where, "take another base, as sorted")
    ours, theirs = edit.tokenizer.recipe, other.recipe
    for axis in ("unit", "mark", "encode"):
        if ours.axis(axis) != theirs.axis(axis):
            what = f"{axis}={theirs.axis(axis)}, not {ours.axis(axis)}"
            raise TokentuiError(what, where, f"both take the same {axis}")
    grown, left_out = edit.tokenizer.vocabulary.copy(edit.tokenizer.merges), []
    symbols = {piece: symbol for symbol, piece in reversed(list(enumerate(grown.pieces)))}
    for left, right in other.vocabulary.merges[: other.merges]:
        made, pair = other.vocabulary.join(left, right), (other.vocabulary.pieces[left],
                                                          other.vocabulary.pieces[right])
        if made in symbols:
            continue
        if not symbols.keys() >= set(pair):
            left_out.append(made)
            continue
        symbols[made] = grown.add(symbols[pair[0]], symbols[pair[1]], 0)
    losses = edit.losses
    if left_out:
        example = left_out[0].decode("utf-8", "replace")
        losses += (Loss("tokens", f"{len(left_out):,} need a base unit that IN lacks: left out", example),)
    names = [name for name in other.vocabulary.specials if name not in grown.specials]
    if names:
        losses += (Loss("specials", "those of the other one are left out: name them by --special", names[0]),)
    told = {key: value for key, value in edit.tokenizer.run.items() if key not in STOPS}
    return replace(edit, tokenizer=Tokenizer(grown, None, told), losses=losses)


def _merged(symbols: list[int], vocabulary: Vocabulary) -> list[int]:
    """The symbols of a word after all merges: the lowest rank first, all its places from the left."""
    ranks, none = vocabulary.ranks, len(vocabulary.ranks)
    while len(symbols) > 1:
        check()
        rank, best = min((ranks.get(pair, none), pair) for pair in pairwise(symbols))
        if rank == none:
            break
        found: list[int] = []
        for symbol in symbols:
            if found and (found[-1], symbol) == best:
                found[-1] = vocabulary.base_size + rank
            else:
                found.append(symbol)
        symbols = found
    return symbols
