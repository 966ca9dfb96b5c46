"""Growing a vocabulary: continue training on a corpus, or append the merges of another tokenizer."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from tokentui import learn
from tokentui.analyze.edit import STOPS, Edit, Grown, followed
from tokentui.analyze.shapes import GONE, Merge, appended, in_shape, moves, next_id
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.segment.merges import Merging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID, Vocabulary
from tokentui.formats.spec import Loss, Spec
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.extension import ExtendedWords
from tokentui.learn.objectives import OBJECTIVES, Material, trainer_of
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.pretokenize import Pretokenizer


def extend(edit: Edit, corpus: Corpus, size: int) -> Edit:
    """Continue training where a vocabulary ends. The words of a corpus are encoded, and pairs of their tokens
    are merged. A tokenizer trained by tokentui continues with its recipe; one from a file of another tool
    continues as `tokentui.learn.extension` says. If no pair is left, the result has fewer ids than `size`.

    Args:
        edit: The tokenizer so far.
        corpus: The corpus.
        size: The number of ids to train on to.

    Raises:
        TokentuiError: The tokenizer is of a kind that cannot be trained on, its objective is retired, the
            size is not above the one that it has, or the corpus has a unit that the vocabulary of a training
            lacks.
    """
    tokenizer = edit.tokenizer
    vocabulary, recipe, where = tokenizer.vocabulary, tokenizer.recipe, "--extend"
    if size <= tokenizer.vocab_size:
        what = f"it has {tokenizer.vocab_size:,} ids already"
        raise TokentuiError(what, f"--vocab-size {size}", f"use {tokenizer.vocab_size + 1} or more")
    if vocabulary.imported:
        return _extended_file(edit, corpus, size)
    trainer_of(recipe)  # refuses a retired objective
    if vocabulary.scores or not vocabulary.plain_merges:
        raise TokentuiError(f"objective={recipe.objective} does not train merges", where, "train it again")
    if OBJECTIVES.of(recipe.objective).per_corpus:
        what = f"objective={recipe.objective} goes on by the lengths of its languages, which no file stores"
        raise TokentuiError(what, where, "train it again")
    if vocabulary.base_last or vocabulary.borrowed or len(vocabulary.units) < vocabulary.base_size:
        raise TokentuiError("new merges would renumber its base", where, "use another base, such as sorted")
    if recipe.symbols:
        raise TokentuiError("it has symbols that no merge crosses", where, "train it again")
    merges = tokenizer.merges
    grown = vocabulary.truncated(merges)
    if len(set(grown.pieces)) < len(grown.pieces):
        raise TokentuiError("two of its tokens have the same spelling", where, "train it again")
    units = Pretokenizer(recipe).units

    def cut(word: str) -> list[bytes]:
        symbols = [grown.units.get(unit, GONE) for unit in units(word)]
        if GONE in symbols:
            lacks = units(word)[symbols.index(GONE)]
            what = f"the corpus has a unit that the vocabulary lacks: {lacks.decode('utf-8', 'replace')!r}"
            raise TokentuiError(what, where, "remove that text, or use a byte-level tokenizer")
        return [grown.pieces[symbol] for symbol in _merged(symbols, grown)]

    run = Run(first_id=grown.first_id, specials=tuple(tokenizer.vocabulary.specials))
    words = count(corpus, recipe)
    material = Material.of(words, recipe, run)
    base = Vocabulary(recipe, grown.pieces, run.specials, run.first_id)
    trainer = PairTrainer(PlainPairs(material, lambda _: base, cut), material, pair_trainer)
    learn.run(trainer, Stops(vocab_size=size))
    extension = trainer.tokenizer()
    added = extension.vocabulary
    for pair, times in zip(added.merges[: extension.merges], added.counts, strict=False):
        grown.add(*pair, times)
    kept_run = {key: value for key, value in tokenizer.run.items() if key not in STOPS}
    before, after = trainer.tokens_at(0), trainer.tokens_at(trainer.number)
    grown_by = Grown(extension.merges, len(words.words), before, after)
    return replace(edit, tokenizer=Tokenizer(grown, None, kept_run), grown=grown_by)


def _mergeable(tokenizer: Tokenizer, where: str) -> Merging:
    """Return the segmenter of a file's tokenizer if it encodes by merges that more can be appended to.

    Raises:
        TokentuiError: It encodes otherwise, has no merges, or has pieces that are split again.
    """
    way = tokenizer.encoder.segmenter
    if not isinstance(way, Merging) or not tokenizer.merges:
        what = f"it encodes by encode={tokenizer.recipe.encode}: an added merge has no effect"
        raise TokentuiError(what, where, "name tokens by --add, or train again")
    if not way.plain:
        raise TokentuiError("it has pieces that are split again", where, "prune it first")
    return way


def _extended_file(edit: Edit, corpus: Corpus, size: int) -> Edit:
    """Do what `extend` does for a file of another tool. The words that the new file encodes differently from
    the training are in `grown.unlike`."""
    tokenizer, format, losses = in_shape(edit.tokenizer, "--extend")
    way, vocabulary = _mergeable(tokenizer, "--extend"), tokenizer.vocabulary
    words, _ = Pretokens(tokenizer).count(corpus)
    cut = [[token.symbol for token in tokenizer.encoder.word(word)] for word in each(words.words)]
    prefix = len(vocabulary.prefix)
    # A byte that stands for a part of an unknown character is no part of a longer token.
    frozen = {*way.frozen, *vocabulary.byte_symbols.values()}
    training = ExtendedWords(
        cut, words.counts, vocabulary.pieces, lambda left, right: left + right[prefix:], way.spelled,
        frozenset(frozen), whole=next(way.whole_words(), None) is not None,
    )
    ids = [vocabulary.id_of(symbol, tokenizer.merges) for symbol in range(len(vocabulary.pieces))]
    first, merges = next_id(tokenizer, format), list[Merge]()
    for number, merge in enumerate(training.add_merges(size - tokenizer.vocab_size), first):
        ids.append(number)
        merges.append(Merge(ids[merge.left], ids[merge.right], number, merge.piece))
    extended = appended(tokenizer, format, merges)
    unlike = []
    for word, trained in zip(each(words.words), training.words, strict=True):
        encoded = [NO_ID if merge.symbol is None else merge.id for merge in extended.encoder.word(word)]
        if encoded != [NO_ID if merge is None else ids[merge] for merge in trained]:
            unlike.append(word)
    before, after = (sum(map(operator.mul, map(len, rows), words.counts)) for rows in (cut, training.words))
    grown_by = Grown(len(merges), len(words.words), before, after, tuple(unlike))
    moved = followed(edit.ids, moves(edit.tokenizer, extended))
    return replace(edit, tokenizer=extended, ids=moved, losses=edit.losses + losses, grown=grown_by)


def merge(edit: Edit, other: Tokenizer) -> Edit:
    """Append the merges of another tokenizer whose tokens a vocabulary lacks, in their order.

    A merge is left out if the vocabulary lacks one of its parts; special tokens of the other tokenizer are
    left out, too. The losses of the result name both.

    Args:
        edit: The tokenizer so far.
        other: The other tokenizer, with the same units and marks.

    Raises:
        TokentuiError: One of them is of a kind that has no merges of its own, or their units differ.
    """
    where = "--merge"
    for tokenizer in (edit.tokenizer, other):
        vocabulary = tokenizer.vocabulary
        if vocabulary.imported:
            _mergeable(tokenizer, where)
        elif vocabulary.scores or not vocabulary.plain_merges:
            what = f"objective={tokenizer.recipe.objective} is not a list of merges by rank"
            raise TokentuiError(what, where, "merge tokenizers that have merges")
        elif vocabulary.base_last or vocabulary.borrowed:
            hint = "use another base, such as sorted"
            raise TokentuiError("new merges would renumber its base", where, hint)
    ours, theirs = edit.tokenizer.recipe, other.recipe
    for axis in ("unit", "mark", "encode"):
        if ours.axis(axis) != theirs.axis(axis):
            what = f"{axis}={theirs.axis(axis)}, not {ours.axis(axis)}"
            raise TokentuiError(what, where, f"both need the same {axis}")
    if edit.tokenizer.vocabulary.imported:
        return _merged_file(edit, other)
    grown, left_out = edit.tokenizer.vocabulary.truncated(edit.tokenizer.merges), []
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
    losses = edit.losses + _lost(edit.tokenizer, other, left_out)
    kept_run = {key: value for key, value in edit.tokenizer.run.items() if key not in STOPS}
    return replace(edit, tokenizer=Tokenizer(grown, None, kept_run), losses=losses)


def _merged_file(edit: Edit, other: Tokenizer) -> Edit:
    """Do what `merge` does for a file of another tool: new ids follow the last one of its model."""
    tokenizer, format, losses = in_shape(edit.tokenizer, "--merge")
    entries = list(each(tokenizer.entries()))
    ids = {entry.piece: entry.id for entry in reversed(entries) if entry.symbol is not None}
    first, left_out, merges = next_id(tokenizer, format), [], list[Merge]()
    for left, right, piece in Spec(other).merges:
        if piece in ids:
            continue
        if left not in ids or right not in ids:
            left_out.append(piece)
            continue
        ids[piece] = first + len(merges)
        merges.append(Merge(ids[left], ids[right], ids[piece], piece))
    merged = appended(tokenizer, format, merges)
    moved = followed(edit.ids, moves(edit.tokenizer, merged))
    losses = edit.losses + losses + _lost(tokenizer, other, left_out)
    return replace(edit, tokenizer=merged, ids=moved, losses=losses)


def _lost(tokenizer: Tokenizer, other: Tokenizer, left_out: Sequence[bytes]) -> tuple[Loss, ...]:
    """Return the losses of a merge of tokenizers: left-out tokens and special tokens of the other one."""
    losses: tuple[Loss, ...] = ()
    if left_out:
        example = left_out[0].decode("utf-8", "replace")
        losses += (Loss("tokens", f"{len(left_out):,} need a base unit that IN lacks: left out", example),)
    names = [name for name in other.vocabulary.specials if name not in tokenizer.vocabulary.specials]
    if names:
        losses += (Loss("specials", "those of the other one are left out: name them by --special", names[0]),)
    return losses


def _merged(symbols: list[int], vocabulary: Vocabulary) -> list[int]:
    """Return the symbols of a word after all merges, lowest rank first, each at all places from the left."""
    ranks, none = vocabulary.ranks, len(vocabulary.ranks)
    while len(symbols) > 1:
        check()
        rank, best = min((ranks.get(pair, none), pair) for pair in pairwise(symbols))
        if rank == none:
            break
        merged: list[int] = []
        for symbol in symbols:
            if merged and (merged[-1], symbol) == best:
                merged[-1] = vocabulary.base_size + rank
            else:
                merged.append(symbol)
        symbols = merged
    return symbols
