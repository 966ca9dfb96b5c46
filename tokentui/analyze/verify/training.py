"""A training here and one by another library, compared step by step.

The other library gets the pre-tokens that are counted here, so that what is compared is what is learned of
them; sentencepiece gets the documents, for its normalisation and its words are a part of how it learns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokentui.analyze.verify import Peer, asking, version_of
from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import silent
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import tokens
from tokentui.learn import start_counted, walk
from tokentui.learn.rows import Candidate, Query
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Stop, Word
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.normalize import normalize
from tokentui.text.split import spaced, to_bytes

SECONDS = 3600.0
"""The time that a library may take to train, in seconds."""
SPECIALS = ("<unk>", "<s>", "</s>")
"""The special tokens of sentencepiece, which are there always."""
ROWS = 10
_FEW = 250
_END = "</w>"
_DIGITS = "sentencepiece-digits"
_OWN_RULE = "nmt-nfkc"
_SENTENCE = 4192
"""Bytes of a line that sentencepiece reads by default; it leaves out longer ones without a word."""
_LEAST_COVERAGE = 0.98
_LONGEST_LINE = 1 << 30
_UNKNOWN = "\u2585"
_BREAKS = re.compile("[ \r\n]")


_BY_ALL: dict[str, tuple[str, ...]] = {"objective": ("count",), "weight": ("occurrences",)}
_BYTES: dict[str, tuple[str, ...]] = {"unit": ("byte",), "mark": ("none",), "pieces": ("any",)}
_BY: dict[str, dict[str, tuple[str, ...]]] = {
    "tokenizers": {"unit": ("byte", "char"), "mark": ("none",), "pieces": ("any",)},
    "rustbpe": _BYTES,
    "tiktoken": _BYTES,
    "subword-nmt": {"unit": ("char",), "mark": (f"end-suffix:{_END}",), "pieces": ("any",)},
    "sentencepiece": {
        "pieces": ("sentencepiece", _DIGITS), "unit": ("char",), "split": ("metaspace",), "mark": ("none",)
    },
}
"""The values of each axis that a library trains with, where these are not all."""
_WHY = {("tokenizers", "mark"): "; with a mark its ids, and so its ties, are others each time"}


@dataclass(frozen=True, slots=True)
class Taken:
    """The decision of the other library at a step.

    Attributes:
        pair: The pair that it merged; empty where it tells its tokens only and no pair makes this one.
        token: The token that it made.
        count: The count of the pair in the corpus as it was cut then, by a recount of all of it.
        place: The place of the pair among our candidates, from 1; None where it is not among them.
    """

    pair: tuple[bytes, ...]
    token: bytes
    count: int
    place: int | None


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first step that the two make differently.

    Attributes:
        step: Its number, from 1.
        ours: The pair that we took, None where our training ended before.
        ours_end: Why it ended, empty where it did not.
        candidates: The candidates that we chose from, best first.
        tied: The number of these that share the best count.
        tie_rule: The rule that chose.
        theirs: The pair they took, None where theirs ended before.
    """

    step: int
    ours: tuple[bytes, bytes] | None
    ours_end: str
    candidates: tuple[Candidate, ...]
    tied: int
    tie_rule: str
    theirs: Taken | None


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The result of a comparison.

    Attributes:
        peer, version: The library.
        steps: The number of steps that are alike.
        difference: The first that differs, None where all are alike.
        end: Why it ended where all are alike.
    """

    peer: str
    version: str
    steps: int
    difference: StepDifference | None
    end: str


def check_recipe(recipe: Recipe, peer: Peer) -> None:
    """Refuse a recipe that a library cannot train by; not one that breaks ties differently: that is what is
    looked for.

    All but sentencepiece get our pre-tokens, so normalize and split are ours; base and tie only decide among
    equals, and encode and unknown say nothing of a training.

    Raises:
        TokentuiError: It cannot; it names the axis.
    """
    for axis, values in {**_BY_ALL, **_BY[peer.name]}.items():
        if recipe.axis(axis) not in values:
            what = f"{peer.name} cannot train with {axis}={recipe.axis(axis)}"
            known = [f"{axis}={value}" for value in values if value.partition(":")[0] in AXES[axis]]
            why = _WHY.get((peer.name, axis), "")
            raise TokentuiError(what, "--against", f"it trains with {' or '.join(known)}{why}")
    if peer.name == "sentencepiece":
        if recipe.coverage < _LEAST_COVERAGE:
            raise TokentuiError(
                "sentencepiece takes 0.98 to 1", f"coverage={recipe.axis('coverage')}", "take more"
            )
    elif recipe.symbols or recipe.coverage < 1:
        name = "symbols" if recipe.symbols else "coverage"
        raise TokentuiError(f"{peer.name} knows no {name}", f"{name}={recipe.axis(name)}", "leave it out")


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
    merges = _FEW if run.stops.merges is None and peer.name == "tiktoken" else run.stops.merges
    spm = peer.name == "sentencepiece"
    if spm:
        _check_lines(corpus, recipe)
    with silent():
        words = count(corpus, recipe)
    with silent():
        trainer = start_counted(words, recipe, Run(specials=SPECIALS if spm else run.specials))
    size = run.stops.vocab_size
    if size is not None:
        last = max(0, size - trainer.size_at(0))
        merges = last if merges is None else min(merges, last)
    end = walk.run(trainer, Stops(merges, min_count=2 if spm else 1))
    made = trainer.number
    # One step more than ours, to see whether theirs goes on; a library that fails when nothing is left is not
    # asked for it.
    more = made if spm or peer.name == "tiktoken" else made + 1 if merges is None else min(merges, made + 1)
    with asking(peer) as asked:
        rows = asked.ask(
            SECONDS, do="train", merges=more, **_request(peer, recipe, words, corpus, trainer)
        )["made"]
    theirs = [tuple(_piece(name, peer, recipe) for name in row) for row in rows]
    if merges is not None:
        theirs = theirs[:merges]
    number = _first(trainer, theirs)
    if number is None:
        return TrainingReport(peer.name, version_of(peer), made, None, end)
    difference = _difference(trainer, words, number, theirs, end)
    return TrainingReport(peer.name, version_of(peer), number - 1, difference, end)


def _check_lines(corpus: Corpus, recipe: Recipe) -> None:
    """Refuse a corpus of which sentencepiece leaves something out."""
    if corpus.counts is not None:
        raise TokentuiError(
            "sentencepiece takes texts, not counted words", corpus.name, "open the text --as lines"
        )
    for place, document in enumerate(corpus.documents, 1):
        size = len(document.encode("utf-8", "replace"))
        if size > _LONGEST_LINE:
            raise TokentuiError(
                "sentencepiece takes no line so long", f"text {place}: {size:,} bytes", "take --as lines"
            )
        if _UNKNOWN in document:
            raise TokentuiError(
                f"sentencepiece leaves out a line that holds {_UNKNOWN}", f"text {place}", "take it out"
            )
        held = next((name for name in SPECIALS if name in document and name not in recipe.symbols), None)
        if held is not None:
            raise TokentuiError(
                f"sentencepiece takes {held} in a text for its own token", f"text {place}", "take it out"
            )


def _request(peer: Peer, recipe: Recipe, words: Words, corpus: Corpus, trainer: Trainer) -> dict[str, object]:
    if peer.name == "sentencepiece":
        # Its own rules where the recipe names them; else it gets texts that are normalised by the recipe, and
        # leaves them so.
        own = recipe.normalize == (_OWN_RULE,)
        documents = list(corpus.documents) if own else [
            normalize(text, recipe.normalize) for text in corpus.documents
        ]
        return {
            "documents": documents, "size": trainer.size_at(trainer.number),
            "fallback": recipe.unknown == "byte-fallback",
            "rule": "nmt_nfkc" if own else "identity", "squeeze": own, "digits": recipe.pieces == _DIGITS,
            "longest": max([_SENTENCE, *(len(to_bytes(text)) + 1 for text in documents)]),
            "coverage": recipe.coverage, "symbols": list(recipe.symbols), "prefix": spaced(recipe),
        }
    spelled: Sequence[str] = words.words
    alphabet: list[str] = []
    if peer.name == "tokenizers" and recipe.unit == "byte":
        spelled, alphabet = [tokens.letters(to_bytes(word)) for word in spelled], list(tokens.LETTERS)
    elif peer.name == "subword-nmt" and (
        bad := next((word for word in spelled if _BREAKS.search(word)), None)
    ):
        raise TokentuiError(
            f"{peer.name} cannot take the word {bad[:40]!r}", "CORPUS", "take --as lines, and split=space"
        )
    held = set().union(*map(set, spelled)) if peer.name in ("tokenizers", "tiktoken") else set()
    delimiter = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in held)
    return {"words": list(spelled), "counts": list(words.counts), "delimiter": delimiter,
            "alphabet": alphabet, "base": trainer.tokenizer().vocabulary.base_size}


def _piece(name: str, peer: Peer, recipe: Recipe) -> bytes:
    """A part or token as it is spelled here."""
    if peer.name == "tokenizers":
        return tokens.spelled(name) if recipe.unit == "byte" else name.encode("utf-8", "surrogatepass")
    return name.encode() if peer.name == "subword-nmt" else bytes.fromhex(name)


def _first(trainer: Trainer, theirs: Sequence[tuple[bytes, ...]]) -> int | None:
    """The number of the first step that differs."""
    vocabulary = trainer.tokenizer().vocabulary
    spelled, base = vocabulary.spelled, vocabulary.base_size
    ours = vocabulary.merges[: trainer.number]
    for number, (pair, row) in enumerate(zip(ours, theirs, strict=False), 1):
        made = tuple(map(spelled, pair)) if len(row) == 2 else (spelled(base + number - 1),)
        if made != row:
            return number
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs)) + 1


def _difference(
    trainer: Trainer, words: Words, number: int, theirs: Sequence[tuple[bytes, ...]], end: Stop
) -> StepDifference:
    vocabulary, made = trainer.tokenizer().vocabulary, trainer.number
    walk.jump(trainer, number - 1)
    ours = None
    if number <= made:
        left, right = vocabulary.merges[number - 1]
        ours = vocabulary.spelled(left), vocabulary.spelled(right)
    taken = None
    if number <= len(theirs):
        row = theirs[number - 1]
        counts = _recount(trainer, words, vocabulary)
        pairs = [row] if len(row) == 2 else [pair for pair in counts if b"".join(pair) == row[0]]
        pair = max(pairs, key=lambda one: counts[one[0], one[1]], default=None)
        if pair is None:
            taken = Taken((), b"".join(row), 0, None)
        else:
            rows = trainer.candidates(Query(rows=1000)).rows
            places = [n for n, one in enumerate(rows, 1) if one.parts == pair]
            taken = Taken(pair, b"".join(row), counts[pair[0], pair[1]], places[0] if places else None)
    why = trainer.why(trainer.number + 1, trainer.limits)
    candidates = trainer.candidates(Query(rows=ROWS)).rows
    tied = why.tied if trainer.end(Stops()) is None else 0
    return StepDifference(number, ours, "" if ours else end, candidates, tied, why.tie_rule, taken)


def _recount(trainer: Trainer, words: Words, vocabulary: Vocabulary) -> Counter[tuple[bytes, bytes]]:
    """The counts of each two neighbours in the corpus as it is segmented now, counted one by one."""
    counts: Counter[tuple[bytes, bytes]] = Counter()
    for word, times in zip(words.words, words.counts, strict=True):
        for one, other in pairwise(trainer.segment(Word(word))):
            if one.end == other.start:  # else a barrier is between them
                counts[vocabulary.spelled(one.symbol), vocabulary.spelled(other.symbol)] += times
    return counts
