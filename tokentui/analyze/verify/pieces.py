"""Comparison of a unigram training with another library: the pieces, and the score of each."""

from __future__ import annotations

from dataclasses import dataclass

from tokentui import learn
from tokentui.analyze.verify import TRAINING_S
from tokentui.analyze.verify.peers import Peer, asking, check_recipe, request
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import silent
from tokentui.core.safetext import to_bytes
from tokentui.learn import start
from tokentui.learn.objectives import OBJECTIVES
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

APART = 0.0002
"""The greatest difference of two scores (natural log probabilities) that counts as none.

sentencepiece adds up in single precision, which changes the fifth digit behind the point. It also counts the
last word of some lines twice when it looks for seeds, which `UnigramTrainer` does not: scores of a few
pieces, mostly of punctuation, may then differ in the third digit, and are reported.
"""


@dataclass(frozen=True, slots=True)
class Scored:
    """A piece of both libraries whose scores differ.

    Attributes:
        piece: The piece.
        ours: Its score here.
        theirs: Its score there.
    """

    piece: bytes
    ours: float
    theirs: float


@dataclass(frozen=True, slots=True)
class PiecesDifference:
    """What differs in two unigram models.

    Attributes:
        only_ours: The pieces that only our training kept, the most probable first.
        only_theirs: The same of the other library.
        scores: The pieces of both whose scores differ by more than `APART`, the greatest difference first.
    """

    only_ours: tuple[bytes, ...]
    only_theirs: tuple[bytes, ...]
    scores: tuple[Scored, ...]


@dataclass(frozen=True, slots=True)
class PiecesReport:
    """The result of a comparison.

    Attributes:
        peer: The library.
        difference: What differs; None if nothing does.
        pieces: The number of pieces that both kept, without specials, symbols and bytes.
        apart: The greatest difference of two scores.
        end: Why our training ended.
    """

    peer: Peer
    difference: PiecesDifference | None
    pieces: int
    apart: float
    end: str


def verify_pieces(corpus: Corpus, recipe: Recipe, peer: Peer, run: Run | None = None) -> PiecesReport:
    """Train a unigram model here and with the other library, and compare their pieces, as sets, and the score
    of each piece. The order of pieces is not compared: it is that of the scores.

    Args:
        corpus: The corpus to train on.
        recipe: The recipe to train by.
        peer: The library.
        run: The size; other stops are refused. Without a size, that of `recipes` is used.

    Raises:
        TokentuiError: The library cannot train by the recipe, refuses the corpus, or fails; or the run has
            another stop.
    """
    check_recipe(recipe, peer)
    stops = (run or Run()).stops
    if stops.merges is not None:
        what = "a unigram model has rounds, not merges"
        raise TokentuiError(what, "--merges", "use --vocab-size")
    size = stops.vocab_size or OBJECTIVES.of(recipe.objective).size
    with silent():
        words = count(corpus, recipe)
        material = request(peer, recipe, corpus, words)
        trainer = start(corpus, recipe, Run(Stops(vocab_size=size), specials=peer.reserved), words)
    end = learn.run(trainer, Stops(vocab_size=size))
    vocabulary = trainer.tokenizer().vocabulary
    ours = dict(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    with asking(peer) as ask:
        rows = ask(f"train_{peer.module}_pieces", TRAINING_S, **material, size=size)
    theirs = {to_bytes(piece): float(score) for piece, score in rows}
    both = [Scored(piece, ours[piece], theirs[piece]) for piece in ours if piece in theirs]
    both.sort(key=lambda row: -abs(row.ours - row.theirs))
    difference = PiecesDifference(
        tuple(sorted(ours.keys() - theirs.keys(), key=lambda piece: (-ours[piece], piece))),
        tuple(sorted(theirs.keys() - ours.keys(), key=lambda piece: (-theirs[piece], piece))),
        tuple(row for row in both if abs(row.ours - row.theirs) > APART),
    )
    found = difference if any((difference.only_ours, difference.only_theirs, difference.scores)) else None
    apart = abs(both[0].ours - both[0].theirs) if both else 0.0
    return PiecesReport(peer, found, len(both), apart, end)
