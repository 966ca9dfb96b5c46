"""rustbpe, also with nanochat's pattern, makes the same tokens and encodes alike."""

from __future__ import annotations

import peers
import pytest
import soak
from trainers import start

from tokentui import learn
from tokentui.axes import preset
from tokentui.recipe import Stops

rustbpe = pytest.importorskip("rustbpe")
pytestmark = pytest.mark.peer


NANOCHAT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""The pattern that nanochat passes (`nanochat/tokenizer.py`, `SPLIT_PATTERN`)."""
RECIPES = {None: preset("rustbpe"), NANOCHAT: preset("nanochat")}


@pytest.mark.parametrize(("name", "pattern"), soak.covering(peers.CORPORA, [None, NANOCHAT, r"\S+|\s+"]))
@pytest.mark.first_run(cases=8)
def test_training(name: str, pattern: str | None) -> None:
    """Until no pair is left. It tells its tokens, not the pairs that they were made of."""
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(peers.corpus(name).documents), 100_000, pattern=pattern)
    ranks = dict(theirs.get_mergeable_ranks())
    ranks = {bytes(token): rank for token, rank in ranks.items()}
    recipe = RECIPES.get(pattern) or preset("rustbpe", split=f"regex:{pattern}")
    trainer = start(peers.corpus(name), recipe)
    assert learn.run(trainer, Stops()) == "no pair left"
    peers.same_steps(peers.made(trainer), sorted(ranks, key=ranks.__getitem__)[256:])
    tokenizer = trainer.tokenizer()
    assert {entry.piece: entry.id for entry in tokenizer.entries()} == ranks
    for probe in [*peers.PROBES, peers.text(name)]:
        assert list(tokenizer.encode(probe).ids) == theirs.encode(probe), probe
        assert tokenizer.decode(theirs.encode(probe)) == probe


def test_a_size_that_is_reached() -> None:
    """So many ids and no more."""
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(peers.corpus("english").documents), 400)
    trainer = start(peers.corpus("english"), preset("rustbpe"))
    assert learn.run(trainer, Stops(vocab_size=400)) == "vocab_size"
    assert theirs.vocab_size == trainer.size_at(trainer.number) == 400
    peers.same_steps(peers.made(trainer), [bytes(token) for token, _ in theirs.get_mergeable_ranks()[256:]])
