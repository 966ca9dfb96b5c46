"""tiktoken's educational module makes the same tokens, the first seen of equals, and encodes alike."""

from __future__ import annotations

import peers
import pytest
from trainers import start

from tokentui import learn
from tokentui.axes import preset
from tokentui.recipe import Stops
from tokentui.text.corpus import Corpus

educational = pytest.importorskip("tiktoken._educational")
pytestmark = pytest.mark.peer

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""GPT-4's pattern as `tiktoken_ext.openai_public` has it."""
PART = 1000
"""How many characters it is given: it counts all pairs anew at each step."""
MERGES = 200


@pytest.mark.parametrize("name", peers.CORPORA)
@pytest.mark.first_run(cases=2)
def test_training(name: str) -> None:
    """So many merges that most pairs are ties, or until no pair is left: one more step and it would fail."""
    part = peers.text(name)[:PART]
    trainer = start(Corpus.from_text(part), preset("tiktoken-edu"))
    learn.run(trainer, Stops(merges=MERGES))
    ranks = educational.bpe_train(part, trainer.size_at(trainer.number), GPT2, visualise=None)
    theirs = educational.SimpleBytePairEncoding(pat_str=GPT2, mergeable_ranks=ranks)
    peers.same_steps(peers.made(trainer), sorted(ranks, key=ranks.__getitem__)[256:])
    assert sum(step.tied > 1 for step in learn.steps(trainer)) > 100, "ties are what is looked at here"
    tokenizer = trainer.tokenizer()
    for probe in [*peers.PROBES, part]:
        assert list(tokenizer.encode(probe).ids) == theirs.encode(probe, visualise=None), probe


def test_core() -> None:
    """tiktoken's own encoder, given our ranks, encodes whole texts as we do."""
    tiktoken = pytest.importorskip("tiktoken")
    trainer = start(peers.corpus("english"), preset("tiktoken-edu", split="cl100k"))
    learn.run(trainer, Stops(vocab_size=1000))
    ours = trainer.tokenizer()
    ranks = {entry.piece: entry.id for entry in ours.entries()}
    theirs = tiktoken.Encoding("ours", pat_str=CL100K, mergeable_ranks=ranks, special_tokens={})
    for probe in [*peers.PROBES, *map(peers.text, peers.CORPORA)]:
        assert list(ours.encode(probe).ids) == theirs.encode_ordinary(probe), probe


LETTERS = r"\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
PATTERNS = {
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "kimi": "|".join((
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{LETTERS}*[\p{{Ll}}{LETTERS}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{LETTERS}+[\p{{Ll}}{LETTERS}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
    )),
}
"""The patterns as the programs of Qwen and Kimi give them to tiktoken, with set operations."""
MIXED = "中文English混合 汉字abc 二〇二六年 I'LL don't 12345 ⺀x 々\u0301 日本語のテキスト\r\n\n  end "


@pytest.mark.parametrize("split", PATTERNS)
def test_patterns_of_models(split: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    corpus = Corpus.from_text(MIXED * 3 + "".join(map(peers.text, peers.CORPORA)))
    trainer = start(corpus, preset("tiktoken-edu", split=split))
    learn.run(trainer, Stops(vocab_size=800))
    ours = trainer.tokenizer()
    ranks = {entry.piece: entry.id for entry in ours.entries()}
    theirs = tiktoken.Encoding(
        "theirs", pat_str=PATTERNS[split], mergeable_ranks=ranks, special_tokens={"<|im_end|>": 900}
    )
    for probe in [*peers.PROBES, MIXED, MIXED[::-1], *map(peers.text, peers.CORPORA)]:
        assert list(ours.encode(probe).ids) == theirs.encode_ordinary(probe), probe
