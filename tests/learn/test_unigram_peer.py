"""Unigram training against what sentencepiece gives, recorded and live."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import oracle
import pytest

from tokentui import learn
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.learn import Trainer
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.sources import find_sample

RECIPE = next(
    preset.recipe for preset in PRESETS.values() if preset.recipe.objective == "unigram"
).with_axes(coverage=1)
SPECIALS = ("<unk>", "<s>", "</s>")


def trained(
    corpus: Corpus, recipe: Recipe, vocab_size: int, specials: tuple[str, ...] = SPECIALS
) -> Trainer:
    run = learn.start(corpus, recipe, Run(specials=specials))
    assert learn.run(run, Stops(vocab_size=vocab_size)) == "vocab_size"
    return run


def check_scores(run: Trainer, want: dict[str, float]) -> None:
    """The tolerance of the oracle: 99 % of the pieces, and 99 % of their scores within 0.01."""
    vocabulary = run.tokenizer().vocabulary
    mine = {piece.decode(): score for piece, score in zip(vocabulary.pieces, vocabulary.scores, strict=True)}
    common = mine.keys() & want.keys()
    assert len(mine) == len(want)
    assert len(common) >= 0.99 * len(want)
    assert sum(abs(mine[piece] - want[piece]) <= 0.01 for piece in common) >= 0.99 * len(common)


def check_lines(run: Trainer, want: list[tuple[str, list[str | None]]], share: float = 0.9) -> None:
    tokenizer = run.tokenizer()
    mine = [
        [piece if piece is None else piece.decode() for piece in tokenizer.encode(text).pieces] for text,
        _ in want
    ]
    theirs = [pieces for _, pieces in want]
    assert sum(map(len, mine)) == pytest.approx(sum(map(len, theirs)), rel=0.005)
    assert sum(a == b for a, b in zip(mine, theirs, strict=True)) >= share * len(theirs)


@pytest.mark.parametrize("case", oracle.cases("train", objective="unigram"))
def test_oracle(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    recipe, run = Recipe(**case["recipe"]), case["run"]
    mine = trained(oracle.corpus_of(case), recipe, run["vocab_size"], tuple(run["specials"]))
    check_scores(mine, dict(case["expect"]["pieces"]))
    def pieces(item: dict[str, Any]) -> list[str | None]:
        return [one and bytes.fromhex(one).decode() for one in item["hex"]]

    lines = [(item["text"], pieces(item)) for item in case["encode"]]
    check_lines(mine, lines, case["tolerance"]["same_lines"])


DATA = oracle.SHARED / "corpora"


@pytest.mark.peer
@pytest.mark.parametrize(("path", "size"), [
    pytest.param(find_sample("english").path, 400, id="english"),
    pytest.param(find_sample("finnish").path, 400, id="finnish"),
    pytest.param(find_sample("indonesian").path, 300, id="indonesian"),
    pytest.param(DATA / "botchan.txt", 2000, id="botchan", marks=pytest.mark.shared),
    pytest.param(
        DATA / "tinyshakespeare.txt", 8000, id="tinyshakespeare", marks=[pytest.mark.shared, pytest.mark.soak]
    ),
])
def test_live(path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = pytest.importorskip("sentencepiece")
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    file = io.BytesIO()
    peer.SentencePieceTrainer.train(
        sentence_iterator=iter(
            lines
        ), model_writer=file, model_type="unigram", vocab_size=size, character_coverage=1.0,
        num_threads=1, max_sentence_length=1 << 20, minloglevel=2,
    )
    theirs = peer.SentencePieceProcessor(model_proto=file.getvalue())
    mine = trained(Corpus.from_lines(lines), RECIPE, size)
    check_scores(mine, {theirs.id_to_piece(n): theirs.get_score(n) for n in range(3, size)})
    check_lines(mine, [(line, list(theirs.encode(line, out_type=str))) for line in lines[:200]])
