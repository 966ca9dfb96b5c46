"""subword-nmt learns the same codes and applies them alike."""

from __future__ import annotations

import io

import peers
import pytest
import soak
from trainers import start

from tokentui import learn
from tokentui.axes import preset
from tokentui.encode.tokenizer import Tokenizer
from tokentui.recipe import Stops
from tokentui.text.corpus import Corpus

learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
pytestmark = pytest.mark.peer

END = "</w>"


def with_joiners(tokenizer: Tokenizer, line: str) -> list[str]:
    """Our tokens as it writes them: `@@` after every piece but a word's last, and no mark there."""
    encoding = tokenizer.encode(line)
    out = []
    for n, (token, word) in enumerate(zip(encoding.tokens, encoding.words, strict=True), 1):
        out.append(token + "@@" if word in encoding.words[n : n + 1] else token.removesuffix(END))
    return out


@pytest.mark.parametrize(("name", "least"), soak.covering(peers.CORPORA, [1, 2, 5]))
@pytest.mark.first_run(cases=7)
def test_codes(name: str, least: int) -> None:
    """Until no pair stands often enough; then both encode text that they have not seen."""
    corpus = Corpus.from_lines(peers.text(name)[:2500].split("\n"), name)  # their learner is slow
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(corpus.documents)), codes, 100_000, min_frequency=least)
    version, *rows = codes.getvalue().splitlines()
    assert version == "#version: 0.2"
    trainer = start(corpus, preset("subword-nmt"))
    assert learn.run(trainer, Stops(min_count=least)) == ("no pair left" if least == 1 else "min_count")
    peers.same_steps(peers.merges(trainer), [tuple(half.encode() for half in row.split(" ")) for row in rows])
    codes.seek(0)
    theirs = apply_bpe.BPE(codes)
    tokenizer = trainer.tokenizer()
    probes = [line for probe in peers.PROBES for line in probe.split("\n")]
    for line in [*probes, *corpus.documents]:
        words = [word for word in line.split(" ") if word]
        assert with_joiners(tokenizer, line) == theirs.segment_tokens(words), line
