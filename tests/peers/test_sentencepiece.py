"""sentencepiece's BPE makes the same pieces in the same order, gives the same ids and encodes alike."""

from __future__ import annotations

import io

import peers
import pytest
import soak
from trainers import start

from tokentui import learn
from tokentui.axes import preset
from tokentui.recipe import Run, Stops

sentencepiece = pytest.importorskip("sentencepiece")
pytestmark = pytest.mark.peer

SPECIALS = ("<unk>", "<s>", "</s>")


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize(("name", "fallback"), soak.covering(peers.CORPORA, [False, True]))
def test_training(name: str, fallback: bool) -> None:
    """Until a pair would stand once: further on it merges pairs that stand nowhere any more."""
    corpus = peers.lines(name)
    recipe = preset("sentencepiece-bpe", unknown="byte-fallback" if fallback else "fused")
    trainer = start(corpus, recipe, Run(specials=SPECIALS))
    assert learn.run(trainer, Stops(min_count=2)) == "min_count"
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus.documents), model_writer=model, model_type="bpe",
        vocab_size=trainer.size_at(trainer.number),
        character_coverage=recipe.coverage, byte_fallback=fallback, num_threads=2, minloglevel=2,
    )
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [theirs.id_to_piece(number) for number in range(theirs.get_piece_size())]
    first = len(SPECIALS) + 256 * fallback
    made = [token.decode() for token in peers.made(trainer)]
    peers.same_steps(made, pieces[first : first + len(made)])
    tokenizer = trainer.tokenizer()
    assert [entry.text for entry in tokenizer.entries()] == pieces
    for probe in [*peers.PROBES, *corpus.documents]:
        assert list(tokenizer.encode(probe).ids) == theirs.encode(probe), probe
