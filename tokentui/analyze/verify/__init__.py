"""Comparison with another library: the first step of a training run that differs, or the first text that a
file encodes differently, shortened, and the stage at which both diverge."""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui import learn
from tokentui.analyze.stages import cut, shorten
from tokentui.analyze.verify.peers import PEERS, Ask, Peer, asking, check_recipe, request
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import silent, tick
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import WRITTEN
from tokentui.formats.files import recognise
from tokentui.formats.folder import model_folder
from tokentui.formats.published import located
from tokentui.formats.tokens import is_letters, piece_of, spelled
from tokentui.learn import start
from tokentui.learn.rows import Candidate, Query
from tokentui.learn.steps import Word
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.normalize import normalize
from tokentui.text.pretokenize import UNITS
from tokentui.text.remote import is_url, shown
from tokentui.text.split import SPLITS

TRAINING_S = 3600.0
"""The time that a library may take to train, in seconds."""
_ROWS = 10
_TEXTS = 64

Pieces = tuple[bytes, ...]


# ---- a training, compared step by step


@dataclass(frozen=True, slots=True)
class Taken:
    """The decision of the other library at a step.

    Attributes:
        pieces: The pair that it merged; None where it tells its tokens only and no pair makes this one.
        token: The token that it made.
        count: The count of the pair in the corpus as it was cut then, by a recount of all of it.
        place: The place of the pair among our candidates, from 1; None where it is not among them.
    """

    pieces: Pieces | None
    token: bytes
    count: int
    place: int | None


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first step that the two make differently.

    Attributes:
        step: Its number, from 1.
        ours: The pair that we took, None where our training ended before.
        ours_end: Why it ended, None where it did not.
        candidates: The candidates that we chose from, best first.
        tied: The number of these that share the best count.
        tie: The rule that chose.
        theirs: The decision of the other library, None where its training ended before.
    """

    step: int
    ours: Pieces | None
    ours_end: str | None
    candidates: tuple[Candidate, ...]
    tied: int
    tie: str
    theirs: Taken | None


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The result of a comparison.

    Attributes:
        peer: The library.
        difference: The first step that differs, None where all are alike.
        steps: The number of steps that are alike.
        end: Why our training ended where all are alike.
    """

    peer: Peer
    difference: StepDifference | None
    steps: int
    end: str


def verify_training(corpus: Corpus, recipe: Recipe, peer: Peer, run: Run | None = None) -> TrainingReport:
    """Train here and there and find the first step that differs.

    Args:
        corpus: The corpus to train on.
        recipe: The recipe to train by.
        peer: The library.
        run: The special tokens, and the sizes at which it ends. Without a size it ends with the last step,
            or after a few hundred of a library that is slow.

    Raises:
        TokentuiError: The library cannot train so, refuses, or fails.
    """
    check_recipe(recipe, peer)
    run = run or Run()
    with silent():
        words = count(corpus, recipe)
        material = request(peer, recipe, corpus, words)
        trainer = start(corpus, recipe, Run(specials=peer.reserved or run.specials), words)
    merges, size = run.stops.merges, run.stops.vocab_size
    merges = peer.few if merges is None else merges
    if size is not None:
        last = max(0, size - trainer.size_at(0))
        merges = last if merges is None else min(merges, last)
    end = learn.run(trainer, Stops(merges, min_count=peer.least_count))
    made, vocabulary = trainer.number, trainer.tokenizer().vocabulary
    with asking(peer) as ask:
        # One step more than ours, to see whether theirs goes on; a library that fails when nothing is left is
        # not asked for it.
        rows = ask(
            f"train_{peer.module}", TRAINING_S, **material, merges=made + (peer.asks_more and made != merges),
            base=vocabulary.base_size, size=trainer.size_at(made),
        )
    lettered = peer.letters and UNITS.of(recipe.unit).is_byte
    theirs = [tuple(piece_of(name, lettered) for name in row) for row in rows][:merges]
    # A step is told by its pair, or by its token alone.
    ours = [(tuple(map(vocabulary.spelled, pair)), (vocabulary.spelled(symbol),))
            for symbol, pair in enumerate(vocabulary.merges[:made], vocabulary.base_size)]
    steps = enumerate(itertools.zip_longest(ours, theirs, fillvalue=()), 1)
    number = next((number for number, (one, row) in steps if row not in one), None)
    if number is None:
        return TrainingReport(peer, None, made, end)
    row = theirs[number - 1] if number <= len(theirs) else None
    pair = ours[number - 1][0] if number <= made else None
    difference = step_difference(trainer, words, number, pair, None if number <= made else end, row)
    return TrainingReport(peer, difference, number - 1, end)


def step_difference(
    trainer: Trainer, words: Words, number: int, ours: Pieces | None, ended: str | None, row: Pieces | None
) -> StepDifference:
    """Describe the step at which two training runs differ.

    Args:
        trainer: The training, which goes to the step before.
        words: The counted pre-tokens of its corpus.
        number: The number of the step.
        ours: The pair that the training takes, None where it has ended.
        ended: Why it has ended, None where it has not.
        row: The other decision: a pair, or a token alone; None where the other one has ended.
    """
    vocabulary = trainer.tokenizer().vocabulary
    learn.jump(trainer, number - 1)
    why = learn.with_plain_fallback(trainer, lambda: trainer.why(trainer.limits))
    return StepDifference(
        step=number, ours=ours, ours_end=ended,
        candidates=learn.with_plain_fallback(trainer, lambda: trainer.candidates(Query(rows=_ROWS))).rows,
        tied=why.tied if trainer.end(Stops()) is None else 0,
        tie=why.tie_rule,
        theirs=None if row is None else _taken(trainer, words, vocabulary, row),
    )


def _taken(trainer: Trainer, words: Words, vocabulary: Vocabulary, row: Pieces) -> Taken:
    """Return the decision of the other library, given as a pair or a token, with its count in the corpus at
    this step."""
    counts = _recount(trainer, words, vocabulary)
    token = b"".join(row)
    pairs = [pair for pair in counts if pair == row or (len(row) == 1 and b"".join(pair) == token)]
    pair: Pieces = max(pairs, key=counts.__getitem__, default=row if len(row) == 2 else ())
    rows = learn.with_plain_fallback(trainer, lambda: trainer.candidates(Query(rows=1000))).rows
    place = next((place for place, one in enumerate(rows, 1) if pair and one.parts == pair), None)
    return Taken(pair or None, token, counts[pair], place)


def _recount(trainer: Trainer, words: Words, vocabulary: Vocabulary) -> Counter[Pieces]:
    """Count each pair of neighbors in the corpus as it is segmented now, one by one."""
    counts: Counter[Pieces] = Counter()
    for word, times in zip(words.words, words.counts, strict=True):
        for one, other in itertools.pairwise(trainer.segment(Word(word))):
            if one.end == other.start:  # else a barrier is between them
                counts[vocabulary.spelled(one.symbol), vocabulary.spelled(other.symbol)] += times
    return counts


# ---- a file, encoded with


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text on its way to ids, in one of the two.

    Attributes:
        normalized: The text after normalisation, None where that is not told.
        words: Its pre-tokens, None where these are not told.
        tokens: Its tokens, empty where it is refused.
        ids: Their ids.
        refused: Why it is refused, None where it is not.
    """

    normalized: str | None = None
    words: tuple[str, ...] | None = None
    tokens: tuple[str, ...] = ()
    ids: tuple[int | None, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The first text that is encoded differently.

    Attributes:
        number: The number of the text, from 1.
        text: The shortest part of it that was found to differ.
        stage: Where the two part: `normalized text`, `pre-tokens` or `ids`.
        specials: True if special tokens were found in it by their names; else all of it is plain text.
        ours, theirs: The results of all stages for that part.
    """

    number: int
    text: str
    stage: str
    specials: bool
    ours: Encoded
    theirs: Encoded


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """The result: how many texts and tokens are alike, and the first text that is not."""

    peer: Peer
    difference: TextDifference | None
    texts: int
    tokens: int


def verify_encoding(tokenizer: Tokenizer, path: str, peer: Peer, documents: Sequence[str]) -> EncodingReport:
    """Encode documents, cut at line ends, with a file here and there.

    Args:
        tokenizer: The tokenizer of the file.
        path: The file, or the model folder, which the library reads itself.
        peer: The library.
        documents: The documents, encoded as plain text. Those with the name of a special token are also
            encoded with special tokens found, unless the library never does that.

    Raises:
        TokentuiError: The library does not read such files, refuses, or fails.
    """
    if not peer.reads:
        able = ", ".join(f"{name} ({one.reads})" for name, one in PEERS.items() if one.reads)
        raise TokentuiError(f"{peer.name} reads no file of ids", "--against", f"take {able}")
    folder = model_folder(path)
    if peer.folders and folder is None:
        what = f"{peer.name} reads {peer.reads}, not a file"
        raise TokentuiError(what, path, "name the folder of the file")
    if folder is not None:
        path = folder.path if peer.folders else folder.file
    found = None if peer.folders else recognise(path)
    if not peer.folders and (found is None or found.name != peer.format):
        # in place of the library's parse error
        what = f"{peer.name} reads {peer.reads}, not {found.about if found else 'this file'}"
        hint = f"tokentui convert FILE OUT --to {peer.format}, and verify OUT"
        raise TokentuiError(what, path, hint if peer.format in WRITTEN else f"name one of its {peer.reads}")
    if is_url(path) or not path:
        what = f"{peer.name} reads files of this machine"
        raise TokentuiError(what, shown(path) or "-t", "fetch the file, and name its path")
    pattern = _pattern(tokenizer, peer) if peer.pattern else ""
    # A file of ranks alone holds no normalization: the program that reads it normalizes first.
    rules = tokenizer.recipe.normalize if peer.pattern else ()
    prepared = functools.partial(normalize, steps=rules) if rules else str
    vocabulary = tokenizer.vocabulary
    named = {name: vocabulary.special_id(name) for name in vocabulary.specials} if peer.specials else {}
    total, done, alike, tokens = sum(map(len, documents)), 0, 0, 0
    parts = (part for document in documents for part in cut(document))
    with asking(peer) as ask:
        ask(peer.opens, path=os.path.abspath(located(path)), pattern=pattern, specials=named)
        while batch := list(itertools.islice(parts, _TEXTS)):
            tick(done, total)
            holding = [text for text in batch if any(name in text for name in named)]
            plain = ask("encode", texts=[prepared(text) for text in batch], specials=False)
            found_there = ask("encode", texts=[prepared(text) for text in holding], specials=True)
            special = dict(zip(holding, found_there, strict=True))
            for text, ids in zip(batch, plain, strict=True):
                for specials, theirs in ((False, ids), (True, special.get(text, ids))):
                    if (not specials or text in special) and _differs(tokenizer, text, theirs, specials):
                        difference = _difference(tokenizer, peer, ask, prepared, alike + 1, text, specials)
                        return EncodingReport(peer, difference, alike, tokens)
                alike += 1
                tokens += len(theirs) if isinstance(theirs, list) else 0
            done += sum(map(len, batch))
    return EncodingReport(peer, None, alike, tokens)


def _pattern(tokenizer: Tokenizer, peer: Peer) -> str:
    """Return the pattern of the split of a tokenizer, for a peer whose files do not store it.

    Raises:
        TokentuiError: The split is no single pattern.
    """
    split = tokenizer.recipe.split
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    entry = SPLITS[split]
    if not entry.is_pattern:
        what = f"{peer.name} cannot cut with split={split}: it is more than a pattern"
        raise TokentuiError(what, "-s split", "such as split=gpt2")
    return entry.pattern


def _differs(tokenizer: Tokenizer, text: str, theirs: list[int] | str, specials: bool) -> bool:
    """Return whether the other library gave other ids, or one of the two refused the text."""
    try:
        with silent():
            return list(tokenizer.encode(text, allow_special=specials).ids) != theirs
    except TokentuiError:
        return not isinstance(theirs, str)


def _difference(
    tokenizer: Tokenizer, peer: Peer, ask: Ask, prepared: Callable[[str], str], number: int, text: str,
    specials: bool,
) -> TextDifference:
    """Shorten a text that is encoded differently, and return the intermediate results of both libraries."""

    def theirs(part: str) -> list[int] | str:
        found: list[int] | str = ask("encode", texts=[prepared(part)], specials=specials)[0]
        return found

    short = shorten(text, lambda part: _differs(tokenizer, part, theirs(part), specials))
    ours, other = _ours(tokenizer, short, specials), Encoded()
    if isinstance(ids := theirs(short), str):
        other = Encoded(refused=ids)
    elif specials:
        other = Encoded(tokens=tuple(tokenizer.id_to_token(one) or "?" for one in ids), ids=tuple(ids))
    else:
        told = ask("stages", text=prepared(short))
        plain = _plain if peer.letters and UNITS.of(tokenizer.recipe.unit).is_byte else str
        words = None if told["words"] is None else tuple(map(plain, told["words"]))
        other = Encoded(told["normalized"], words, tuple(map(plain, told["tokens"])), tuple(ids))
    stage = "ids, with special tokens found by their names" if specials else "ids"
    if None not in (ours.words, other.words) and ours.words != other.words:
        stage = "pre-tokens"
    if None not in (ours.normalized, other.normalized) and ours.normalized != other.normalized:
        stage = "normalized text"
    return TextDifference(number, short, stage, specials, ours, other)


def _ours(tokenizer: Tokenizer, text: str, specials: bool) -> Encoded:
    normalized = words = None
    if not specials:
        analysis = tokenizer.encoder.pretokenizer.analyse(text)
        normalized, words = analysis.normalized, tuple(pretoken.text for pretoken in analysis.pretokens)
    try:
        encoding = tokenizer.encode(text, allow_special=specials)
    except TokentuiError as error:
        return Encoded(normalized, words, refused=str(error))
    return Encoded(normalized, words, encoding.tokens, encoding.ids)


def _plain(name: str) -> str:
    """Return a word spelled in letters for bytes as plain text; any other word unchanged."""
    return spelled(name).decode("utf-8", "surrogateescape") if is_letters(name) else name
