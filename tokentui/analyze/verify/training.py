"""A training here and one by another library, compared step by step.

The other library gets the pre-tokens that are counted here, so that what is compared is what is learned of them; sentencepiece
gets the documents, for its normalisation and its words are a part of how it learns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokentui.analyze.verify.peers import Peer, asking, version_of
from tokentui.core.errors import TokentuiError
from tokentui.formats import letters
from tokentui.learn import start_counted
from tokentui.learn.base import Cancel, Candidate, Progress, Stops
from tokentui.learn.pairs import PairTrainer
from tokentui.recipe import AXES, Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.normalize import normalize
from tokentui.text.split import to_bytes

SECONDS = 3600.0
"""What a library may take to train."""
SPECIALS = ("<unk>", "<s>", "</s>")
"""The special tokens of sentencepiece, which are there always."""
ROWS = 10
_FEW = 250
_END = "</w>"
_DIGITS = "sentencepiece-digits"
_OWN_RULE = "nmt-nfkc"
_SENTENCE = 4192
"""Bytes of a line that sentencepiece reads unless it is told otherwise; it leaves out longer ones without a word."""
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
    "sentencepiece": {"pieces": ("sentencepiece", _DIGITS), "unit": ("char",), "split": ("metaspace",), "mark": ("none",)},
}
"""The values of each axis that a library trains with, where these are not all."""
_WHY = {("tokenizers", "mark"): "; with a mark its ids, and so its ties, are others each time"}


@dataclass(frozen=True, slots=True)
class Taken:
    """What the other library did at a step.

    Attributes:
        left, right: The pair that it merged, None where it tells its tokens only and two pairs or none make it.
        token: The token that it made.
        count: How often the pair stands in the corpus as it was cut then, by a recount of all of it.
        place: The place of the pair among our candidates, from 1; None where it is not among them.
    """

    left: bytes | None
    right: bytes | None
    token: bytes
    count: int
    place: int | None


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step that the two make differently.

    Attributes:
        step: Its number, from 1.
        ours: The pair that we took, None where our training ended before.
        ours_end: Why it ended, empty where it did not.
        candidates: What we chose from, best first.
        tied: How many of these share the best count.
        tie_rule: The rule that chose.
        theirs: What they took, None where theirs ended before.
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
    """What came of it.

    Attributes:
        peer, version: The library.
        steps: How many steps are alike.
        parting: The first that differs, None where all are alike.
        end: Why it ended where all are alike.
    """

    peer: str
    version: str
    steps: int
    parting: Parting | None
    end: str


def check_recipe(recipe: Recipe, peer: Peer) -> None:
    """Refuse a recipe that a library cannot train by; not one that breaks ties otherwise: that is what is looked for.

    All but sentencepiece get our pre-tokens, so normalize and split are ours; base and tie only decide among equals, and
    encode and unknown say nothing of a training.

    Raises:
        TokentuiError: It cannot; it names the axis.
    """
    for axis, values in {**_BY_ALL, **_BY[peer.name]}.items():
        if recipe.axis(axis) not in values:
            what = f"{peer.name} cannot train with {axis}={recipe.axis(axis)}"
            known = [f"{axis}={value}" for value in values if ":" in value or value in AXES[axis].values]
            why = _WHY.get((peer.name, axis), "")
            raise TokentuiError(what, "--against", f"it trains with {' or '.join(known)}{why}")
    if peer.name == "sentencepiece":
        if recipe.coverage < _LEAST_COVERAGE:
            raise TokentuiError("sentencepiece takes 0.98 to 1", f"coverage={recipe.word('coverage')}", "take more")
    elif recipe.symbols or recipe.coverage < 1:
        name = "symbols" if recipe.symbols else "coverage"
        raise TokentuiError(f"{peer.name} knows no {name}", f"{name}={recipe.word(name)}", "leave it out")


def verify_training(
    corpus: Corpus, recipe: Recipe, peer: Peer, merges: int | None = None, run: Mapping[str, Any] | None = None, *,
    progress: Progress | None = None, cancel: Cancel | None = None,
) -> TrainingReport:
    """Train here and there and find the first step that differs.

    Args:
        corpus: What is trained on.
        recipe: How.
        peer: The library.
        merges: The last step that is looked at; None for all there are, but for a few hundred of a library that is slow.
        run: Other words of a run: special tokens, and the sizes at which it ends.
        progress: Told (done, total) of our own training.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The library cannot train so, refuses, or fails.
    """
    check_recipe(recipe, peer)
    if merges is None and peer.name == "tiktoken":
        merges = _FEW
    spm = peer.name == "sentencepiece"
    named = dict(run or {})
    if spm:
        _check_lines(corpus, recipe)
    words = count(corpus, recipe, cancel=cancel)
    specials = SPECIALS if spm else tuple(named.get("specials", ()))
    trainer = start_counted(words, recipe, specials=specials, cancel=cancel)
    if not isinstance(trainer, PairTrainer):
        raise TokentuiError("only trainings by pairs are compared", "-r", f"{peer.name} trains {peer.trains}")
    size = named.get("vocab_size")
    if size is not None:
        last = max(0, size - trainer.vocab_size)
        merges = last if merges is None else min(merges, last)
    elif merges is None:
        merges = named.get("merges")
    end = trainer.run(merges=merges, min_count=2 if spm else 1, progress=progress, cancel=cancel)
    made = trainer.number
    # One step more than ours, to see whether theirs goes on; a library that fails when nothing is left is not asked for it.
    more = made if spm or peer.name == "tiktoken" else made + 1 if merges is None else min(merges, made + 1)
    with asking(peer, cancel) as asked:
        rows = asked.ask(SECONDS, do="train", merges=more, **_request(peer, recipe, words, corpus, trainer))["made"]
    theirs = [tuple(_piece(name, peer, recipe) for name in row) for row in rows]
    if merges is not None:
        theirs = theirs[:merges]
    number = _first(trainer, theirs)
    if number is None:
        return TrainingReport(peer.name, version_of(peer), made, None, end)
    return TrainingReport(peer.name, version_of(peer), number - 1, _parting(trainer, words, number, theirs, recipe, end), end)


def _check_lines(corpus: Corpus, recipe: Recipe) -> None:
    """Refuse a corpus of which sentencepiece leaves something out."""
    if corpus.counts is not None:
        raise TokentuiError("sentencepiece takes texts, not counted words", corpus.name, "open the text --as lines")
    for place, document in enumerate(corpus.documents, 1):
        size = len(document.encode("utf-8", "replace"))
        if size > _LONGEST_LINE:
            raise TokentuiError("sentencepiece takes no line so long", f"text {place}: {size:,} bytes", "take --as lines")
        if _UNKNOWN in document:
            raise TokentuiError(f"sentencepiece leaves out a line that holds {_UNKNOWN}", f"text {place}", "take it out")
        held = next((name for name in SPECIALS if name in document and name not in recipe.symbols), None)
        if held is not None:
            raise TokentuiError(f"sentencepiece takes {held} in a text for its own token", f"text {place}", "take it out")


def _request(peer: Peer, recipe: Recipe, words: Words, corpus: Corpus, trainer: PairTrainer) -> dict[str, Any]:
    if peer.name == "sentencepiece":
        # Its own rules where the recipe names them; else it gets texts that are normalised by the recipe, and leaves them so.
        own = recipe.normalize == (_OWN_RULE,)
        documents = list(corpus.documents) if own else [normalize(text, recipe.normalize) for text in corpus.documents]
        return {
            "documents": documents, "size": trainer.vocab_size, "fallback": recipe.unknown == "byte-fallback",
            "rule": "nmt_nfkc" if own else "identity", "squeeze": own, "digits": recipe.pieces == _DIGITS,
            "longest": max([_SENTENCE, *(len(to_bytes(text)) + 1 for text in documents)]),
            "coverage": recipe.coverage, "symbols": list(recipe.symbols), "prefix": recipe.spaced,
        }
    spelled: Sequence[str] = words.words
    alphabet: list[str] = []
    if peer.name == "tokenizers" and recipe.unit == "byte":
        spelled, alphabet = [letters.letters(to_bytes(word)) for word in spelled], list(letters.LETTERS)
    elif peer.name == "subword-nmt" and (bad := next((word for word in spelled if _BREAKS.search(word)), None)):
        raise TokentuiError(f"{peer.name} cannot take the word {bad[:40]!r}", "CORPUS", "take --as lines, and split=space")
    held = set().union(*map(set, spelled)) if peer.name in ("tokenizers", "tiktoken") else set()
    delimiter = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in held)
    return {"words": list(spelled), "counts": list(words.counts), "delimiter": delimiter, "alphabet": alphabet,
            "base": trainer.vocabulary.base_size}


def _piece(name: str, peer: Peer, recipe: Recipe) -> bytes:
    """A part or token as it is spelled here."""
    if peer.name == "tokenizers":
        return letters.spelled(name) if recipe.unit == "byte" else name.encode("utf-8", "surrogatepass")
    return name.encode() if peer.name == "subword-nmt" else bytes.fromhex(name)


def _first(trainer: PairTrainer, theirs: Sequence[tuple[bytes, ...]]) -> int | None:
    """The number of the first step that differs."""
    spelled = trainer.vocabulary.spelled
    base = trainer.vocabulary.base_size
    ours = trainer.vocabulary.merges[: trainer.number]
    for number, (pair, row) in enumerate(zip(ours, theirs, strict=False), 1):
        made = tuple(map(spelled, pair)) if len(row) == 2 else (spelled(base + number - 1),)
        if made != row:
            return number
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs)) + 1


def _parting(
    trainer: PairTrainer, words: Words, number: int, theirs: Sequence[tuple[bytes, ...]], recipe: Recipe, end: str
) -> Parting:
    made = trainer.number
    trainer.jump(number - 1)
    candidates = trainer.candidates(ROWS)
    spelled = trainer.vocabulary.spelled
    ours = None
    if number <= made:
        left, right = trainer.vocabulary.merges[number - 1]
        ours = spelled(left), spelled(right)
    taken = None
    if number <= len(theirs):
        row = theirs[number - 1]
        counts = _recount(trainer, words, recipe)
        pairs = [row] if len(row) == 2 else [pair for pair in counts if b"".join(pair) == row[0]]
        pair = max(pairs, key=lambda one: counts[one[0], one[1]], default=None)
        token = row[0] if len(row) == 1 else row[0] + row[1]
        if pair is None:
            taken = Taken(None, None, token, 0, None)
        else:
            places = [n for n, one in enumerate(trainer.candidates(1000), 1) if (one.left, one.right) == pair]
            taken = Taken(pair[0], pair[1], token, counts[pair[0], pair[1]], places[0] if places else None)
    tied = trainer.why().tied if trainer.end(Stops()) is None else 0
    return Parting(number, ours, "" if ours else end, tuple(candidates), tied, recipe.tie, taken)


def _recount(trainer: PairTrainer, words: Words, recipe: Recipe) -> Counter[tuple[bytes, bytes]]:
    """How often each two neighbours stand in the corpus as it is cut now, counted one by one."""
    counts: Counter[tuple[bytes, bytes]] = Counter()
    spelled = trainer.vocabulary.spelled
    for word, times in zip(words.words, words.counts, strict=True):
        for (at, one), (next_at, other) in pairwise(trainer.word(word) or ()):
            if at + trainer.length(one) == next_at:  # else a barrier stands between them
                counts[spelled(one), spelled(other)] += times
    return counts
