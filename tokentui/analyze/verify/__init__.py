"""Comparison with another library: the first step of a training run that differs, or the first text that a
file encodes differently, shortened, and the stage at which both diverge."""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokentui import learn
from tokentui.analyze.stages import cut, shorten
from tokentui.analyze.verify.peers import PEERS, Ask, Peer, asking, check_recipe, request
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import silent, tick
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import WRITTEN
from tokentui.formats.files import recognize
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
        pieces: The pair that it merged; None if it reports only its tokens and no pair makes this one.
        token: The token that it made.
        count: The count of the pair before the step, by a recount of the corpus as we segment it.
        place: The place of the pair among our first 1000 candidates, from 1; None if it is not one.
    """

    pieces: Pieces | None
    token: bytes
    count: int
    place: int | None


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first step that the training here and the other library make differently.

    Attributes:
        step: Its number, from 1.
        ours: The pair that we merged; None if our training ended before.
        ours_end: Why our training ended; None if it did not.
        candidates: Our first candidates for the step, best first.
        tied: The number of all candidates that share the best value; 0 if our training ended.
        tie: The tie rule that chose.
        theirs: The decision of the other library; None if its training ended before.
    """

    step: int
    ours: Pieces | None
    ours_end: str | None
    candidates: tuple[Candidate, ...]
    tied: int
    tie: str
    theirs: Taken | None

    @property
    def count(self) -> int | None:
        """The places of the pair that we merged; None if it is not among the candidates."""
        return next((row.places for row in self.candidates if row.parts == self.ours), None)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The result of a comparison.

    Attributes:
        peer: The library.
        difference: The first step that differs; None if none does.
        steps: The number of steps before it that are the same.
        end: Why our training ended.
    """

    peer: Peer
    difference: StepDifference | None
    steps: int
    end: str


def verify_training(corpus: Corpus, recipe: Recipe, peer: Peer, run: Run | None = None) -> TrainingReport:
    """Train here and with the other library, and find the first step that differs.

    Args:
        corpus: The corpus to train on.
        recipe: The recipe to train by.
        peer: The library.
        run: The special tokens, and the stops by merges or ids; other stops are ignored. Without a stop, both
            train to the end, or for `peer.few` steps with a slow library.

    Raises:
        TokentuiError: The library cannot train by the recipe, refuses the corpus, or fails.
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
    steps_made, vocabulary = trainer.number, trainer.tokenizer().vocabulary
    with asking(peer) as ask:
        # One step more than ours, to see whether theirs goes on; a library that fails when nothing is left is
        # not asked for it.
        rows = ask(
            f"train_{peer.module}", TRAINING_S, **material,
            merges=steps_made + (peer.asks_more and steps_made != merges),
            base=vocabulary.base_size, size=trainer.size_at(steps_made),
        )
    lettered = peer.letters and UNITS.of(recipe.unit).is_byte
    theirs = [tuple(piece_of(name, lettered) for name in row) for row in rows][:merges]
    # A library names the pair of a step, or only its token.
    ours = [(tuple(map(vocabulary.spelled, pair)), (vocabulary.spelled(symbol),))
            for symbol, pair in enumerate(vocabulary.merges[:steps_made], vocabulary.base_size)]
    steps = enumerate(itertools.zip_longest(ours, theirs, fillvalue=()), 1)
    number = next((number for number, (forms, row) in steps if row not in forms), None)
    if number is None:
        return TrainingReport(peer, None, steps_made, end)
    row = theirs[number - 1] if number <= len(theirs) else None
    pair = ours[number - 1][0] if number <= steps_made else None
    difference = step_difference(trainer, words, number, pair, None if number <= steps_made else end, row)
    return TrainingReport(peer, difference, number - 1, end)


def step_difference(
    trainer: Trainer, words: Words, number: int, ours: Pieces | None, ended: str | None, row: Pieces | None
) -> StepDifference:
    """Describe the step at which two training runs differ.

    Args:
        trainer: The training. It is moved to the step before, and left there.
        words: The counted pre-tokens of its corpus.
        number: The number of the step.
        ours: The pair that the training merges; None if it has ended.
        ended: Why it has ended; None if it has not.
        row: The other decision: a pair, or a token alone; None if the other training has ended.
    """
    vocabulary = trainer.tokenizer().vocabulary
    learn.jump(trainer, number - 1)
    why = learn.with_plain_fallback(trainer, learn.why, trainer.limits)
    return StepDifference(
        step=number, ours=ours, ours_end=ended,
        candidates=learn.with_plain_fallback(trainer, learn.candidates, Query(rows=_ROWS)).rows,
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
    rows = learn.with_plain_fallback(trainer, learn.candidates, Query(rows=1000)).rows
    place = next((n for n, candidate in enumerate(rows, 1) if pair and candidate.parts == pair), None)
    return Taken(pair or None, token, counts[pair], place)


def _recount(trainer: Trainer, words: Words, vocabulary: Vocabulary) -> Counter[Pieces]:
    """Return the count of each pair of adjacent tokens in the current corpus. Pairs across a barrier do not
    count.
    """
    counts: Counter[Pieces] = Counter()
    for word, times in zip(words.words, words.counts, strict=True):
        for left, right in itertools.pairwise(trainer.segment(Word(word))):
            if left.end == right.start:  # else a barrier is between them
                counts[vocabulary.spelled(left.symbol), vocabulary.spelled(right.symbol)] += times
    return counts


# ---- a file, encoded with


@dataclass(frozen=True, slots=True)
class Encoded:
    """The stages of a text in one of the two tokenizers.

    Attributes:
        normalized: The normalized text; None if it is not known.
        words: Its pre-tokens; None if they are not known.
        tokens: Its tokens; empty if the text is refused.
        ids: Their ids.
        refused: Why the text is refused; None if it is not.
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
        stage: The first stage that differs: `normalized text`, `pre-tokens`, `ids`, or `ids, with special
            tokens found by their names`.
        specials: True if the names of special tokens were read as those tokens; false for plain text.
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
    """The result of a comparison of encodings.

    Attributes:
        peer: The library.
        difference: The first text that differs; None if none does.
        texts: The number of texts before it with the same ids.
        tokens: The number of tokens of those texts.
    """

    peer: Peer
    difference: TextDifference | None
    texts: int
    tokens: int


class Opening(NamedTuple):
    """How a library opens a file.

    Attributes:
        path: The absolute path of the file, or of the model folder.
        pattern: The pattern of the split, for a library whose files do not store it; empty for others.
        named: The ids of the special tokens that it finds by their names.
        prepared: Normalizes a text before the library gets it, for files that hold no normalization.
    """

    path: str
    pattern: str
    named: dict[str, int]
    prepared: Callable[[str], str]


def opening(tokenizer: Tokenizer, path: str, peer: Peer) -> Opening:
    """Return how a library opens the file of a tokenizer.

    Raises:
        TokentuiError: It does not read such files, or the file is not on this machine.
    """
    if not peer.reads:
        readers = ", ".join(f"{name} ({able.reads})" for name, able in PEERS.items() if able.reads)
        raise TokentuiError(f"{peer.name} does not read vocabulary files", "--against", f"use {readers}")
    folder = model_folder(path)
    if peer.folders and folder is None:
        what = f"{peer.name} reads {peer.reads}, not a file"
        raise TokentuiError(what, path, "name the folder of the file")
    if folder is not None:
        path = folder.path if peer.folders else folder.file
    recognized = None if peer.folders else recognize(path)
    if not peer.folders and (recognized is None or recognized.name != peer.format):
        # in place of the library's parse error
        what = f"{peer.name} reads {peer.reads}, not {recognized.about if recognized else 'this file'}"
        hint = f"tokentui convert FILE OUT --to {peer.format}, and verify OUT"
        raise TokentuiError(what, path, hint if peer.format in WRITTEN else f"name one of its {peer.reads}")
    if is_url(path) or not path:
        what = f"{peer.name} reads files of this machine"
        raise TokentuiError(what, shown(path) or "-t", "fetch the file, and name its path")
    pattern = _pattern(tokenizer, peer) if peer.pattern else ""
    # A file of ranks alone holds no normalization: the program that reads it normalizes first.
    rules = tokenizer.recipe.normalize if peer.pattern else ()
    prepared: Callable[[str], str] = functools.partial(normalize, steps=rules) if rules else str
    vocabulary = tokenizer.vocabulary
    named = {name: vocabulary.special_id(name) for name in vocabulary.specials} if peer.specials else {}
    return Opening(os.path.abspath(located(path)), pattern, named, prepared)


def verify_encoding(tokenizer: Tokenizer, path: str, peer: Peer, documents: Sequence[str]) -> EncodingReport:
    """Encode documents, cut at line ends, with a file here and with the other library, up to the first text
    that differs. Progress of the job is in characters.

    Args:
        tokenizer: The tokenizer of the file.
        path: The file, or the model folder, which the library reads itself.
        peer: The library.
        documents: The documents, encoded as plain text. Those with the name of a special token are also
            encoded with special tokens found, unless the library never does that.

    Raises:
        TokentuiError: The library does not read such files or refuses this one, fails, or the file is not on
            this machine.
    """
    opened = opening(tokenizer, path, peer)
    prepared, named = opened.prepared, opened.named
    total, done, same_texts, tokens = sum(map(len, documents)), 0, 0, 0
    parts = (part for document in documents for part in cut(document))
    with asking(peer) as ask:
        ask(peer.opens, path=opened.path, pattern=opened.pattern, specials=named)
        while batch := list(itertools.islice(parts, _TEXTS)):
            tick(done, total)
            with_names = [text for text in batch if any(name in text for name in named)]
            plain = ask("encode", texts=[prepared(text) for text in batch], specials=False)
            with_specials = ask("encode", texts=[prepared(text) for text in with_names], specials=True)
            special = dict(zip(with_names, with_specials, strict=True))
            for text, ids in zip(batch, plain, strict=True):
                for specials, theirs in ((False, ids), (True, special.get(text, ids))):
                    if (not specials or text in special) and _differs(tokenizer, text, theirs, specials):
                        n = same_texts + 1
                        difference = _difference(tokenizer, peer, ask, prepared, n, text, specials)
                        return EncodingReport(peer, difference, same_texts, tokens)
                same_texts += 1
                tokens += len(theirs) if isinstance(theirs, list) else 0
            done += sum(map(len, batch))
    return EncodingReport(peer, None, same_texts, tokens)


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
        what = f"{peer.name} cannot split with split={split}: it is more than a pattern"
        raise TokentuiError(what, "-s split", "for example split=gpt2")
    return entry.pattern


def _differs(tokenizer: Tokenizer, text: str, theirs: list[int] | str, specials: bool) -> bool:
    """Return whether the other library gave other ids, or only one of the two refused the text.

    Args:
        tokenizer: The tokenizer.
        text: The text.
        theirs: The ids of the other library, or the reason why it refuses the text.
        specials: True to read the names of special tokens as those tokens.
    """
    ours = ids_here(tokenizer, text, specials)
    return not isinstance(theirs, str) if isinstance(ours, str) else ours != theirs


def ids_here(tokenizer: Tokenizer, text: str, specials: bool) -> list[int | None] | str:
    """Return the ids of a text, or the reason why the tokenizer refuses it."""
    try:
        with silent():
            return list(tokenizer.encode(text, allow_special=specials).ids)
    except TokentuiError as error:
        return str(error)


def _difference(
    tokenizer: Tokenizer, peer: Peer, ask: Ask, prepared: Callable[[str], str], number: int, text: str,
    specials: bool,
) -> TextDifference:
    """Shorten a text that is encoded differently, and return the stages of the rest in both libraries."""

    def theirs(part: str) -> list[int] | str:
        encoded: list[int] | str = ask("encode", texts=[prepared(part)], specials=specials)[0]
        return encoded

    short = shorten(text, lambda part: _differs(tokenizer, part, theirs(part), specials))
    ours = encoded_here(tokenizer, short, specials)
    other = encoded_there(tokenizer, peer, ask, prepared, short, specials)
    stage = "ids, with special tokens found by their names" if specials else "ids"
    if None not in (ours.words, other.words) and ours.words != other.words:
        stage = "pre-tokens"
    if None not in (ours.normalized, other.normalized) and ours.normalized != other.normalized:
        stage = "normalized text"
    return TextDifference(number, short, stage, specials, ours, other)


def encoded_there(
    tokenizer: Tokenizer, peer: Peer, ask: Ask, prepared: Callable[[str], str], text: str, specials: bool
) -> Encoded:
    """Return the stages of a text in another library, which has opened the file of the tokenizer. A refusal
    is in the result; with `specials`, only tokens and ids are known."""
    ids = ask("encode", texts=[prepared(text)], specials=specials)[0]
    if isinstance(ids, str):
        return Encoded(refused=ids)
    if specials:
        return Encoded(tokens=tuple(tokenizer.id_to_token(number) or "?" for number in ids), ids=tuple(ids))
    stages = ask("stages", text=prepared(text))
    plain = _plain if peer.letters and UNITS.of(tokenizer.recipe.unit).is_byte else str
    words = None if stages["words"] is None else tuple(map(plain, stages["words"]))
    return Encoded(stages["normalized"], words, tuple(map(plain, stages["tokens"])), tuple(ids))


def encoded_here(tokenizer: Tokenizer, text: str, specials: bool) -> Encoded:
    """Return the stages of a text in our tokenizer. With `specials`, the names of special tokens are read,
    and normalized text and words are left out. A refusal is in the result."""
    normalized = words = None
    if not specials:
        analysis = tokenizer.encoder.pretokenizer.analyze(text)
        normalized, words = analysis.normalized, tuple(pretoken.text for pretoken in analysis.pretokens)
    try:
        encoding = tokenizer.encode(text, allow_special=specials)
    except TokentuiError as error:
        return Encoded(normalized, words, refused=str(error))
    return Encoded(normalized, words, encoding.tokens, encoding.ids)


def _plain(name: str) -> str:
    """Return a word spelled in letters for bytes as plain text; any other word unchanged."""
    return spelled(name).decode("utf-8", "surrogateescape") if is_letters(name) else name
