"""Hugging Face's BpeTrainer makes the same merges, gives the same ids and encodes alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import peers
import pytest
import soak
from trainers import start

from tokentui import learn
from tokentui.axes import preset
from tokentui.learn import Trainer
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus

hf = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peer

NO_LIMIT = 10**6

# Another way to say what the split `cl100k` says: without possessive quantifiers, which mean something else
# in Oniguruma, as does `$`.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
)
PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
LETTERS = {chr(byte): byte for byte in PRINTABLE}
LETTERS |= {chr(256 + n): byte for n, byte in enumerate(byte for byte in range(256) if byte not in PRINTABLE)}
"""The letters that stand for bytes in its byte-level vocabularies."""


def byte_level(pattern: str | None = None) -> Any:
    """An untrained byte-level tokenizer, of GPT-2's pattern or another."""
    tokenizer = hf.Tokenizer(hf.models.BPE())
    if pattern is None:
        tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = hf.pre_tokenizers.Sequence([
            hf.pre_tokenizers.Split(hf.Regex(pattern), "isolated"),
            hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ])
    return tokenizer


def of_words() -> Any:
    """An untrained tokenizer of characters, cut at whitespace."""
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    return tokenizer


def train(tokenizer: Any, corpus: Corpus, **options: Any) -> list[tuple[str, str]]:
    """Train it. Returns the merges as it writes them."""
    settings = {"vocab_size": NO_LIMIT, "min_frequency": 0, "show_progress": False, **options}
    tokenizer.train_from_iterator(corpus.documents, hf.trainers.BpeTrainer(**settings))
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]


def raw(token: str) -> bytes:
    """The bytes of a token of a byte-level vocabulary."""
    return bytes(LETTERS[letter] for letter in token)


def same_vocabulary(tokenizer: Any, trainer: Trainer, byte_level: bool) -> None:
    """Each of our pieces has the id that it has there, and there are no others."""
    ours = {entry.piece: entry.id for entry in trainer.tokenizer().entries()}
    specials = trainer.tokenizer().vocabulary.specials
    theirs = {
        raw(token) if byte_level and token not in specials else token.encode(): number
        for token, number in tokenizer.get_vocab().items()
    }
    assert ours == theirs


def same_ids(tokenizer: Any, trainer: Trainer, probes: Sequence[str]) -> None:
    """Both encode alike."""
    ours = trainer.tokenizer()
    for probe in probes:
        assert list(ours.encode(probe).ids) == tokenizer.encode(probe).ids, probe


@pytest.mark.parametrize(("name", "split"), soak.covering(peers.CORPORA, ["gpt2", "cl100k"]))
@pytest.mark.first_run(cases=2)
def test_bytes(name: str, split: str) -> None:
    """Byte-level, until no pair is left."""
    tokenizer = byte_level(None if split == "gpt2" else CL100K)
    theirs = train(tokenizer, peers.corpus(name), initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet())
    trainer = start(peers.corpus(name), preset("gpt2", split=split))
    assert learn.run(trainer, Stops()) == "no pair left"
    peers.same_steps(peers.merges(trainer), [(raw(left), raw(right)) for left, right in theirs])
    same_vocabulary(tokenizer, trainer, byte_level=True)
    same_ids(tokenizer, trainer, [*peers.PROBES, peers.text(name)])


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("name", "longest"), soak.covering(peers.CORPORA, [None, 2, 5]))
def test_words_of_characters(name: str, longest: int | None) -> None:
    """Characters of words, with a longest token or without one.

    Characters that the corpus lacks are left out.
    """
    tokenizer = of_words()
    # It makes a longer token than two units only where that is shorter than its limit.
    theirs = train(tokenizer, peers.corpus(name), max_token_length=None if longest is None else longest + 1)
    trainer = start(peers.corpus(name), preset("hf-bpe"))
    assert learn.run(trainer, Stops(max_length=longest)) == "no pair left"
    peers.same_steps(peers.merges(trainer), [(left.encode(), right.encode()) for left, right in theirs])
    same_vocabulary(tokenizer, trainer, byte_level=False)
    same_ids(tokenizer, trainer, [*peers.PROBES, peers.text(name)])


def of_bert(vocabulary: dict[str, int] | None = None) -> Any:
    """A tokenizer with BERT's stages, untrained or with a vocabulary."""
    tokenizer = hf.Tokenizer(hf.models.WordPiece(vocabulary or {}, unk_token="[UNK]"))
    tokenizer.normalizer = hf.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def wordpiece(name: str, specials: Sequence[str]) -> list[str]:
    """Train by its `WordPieceTrainer`. Returns the vocabulary in the order of its ids."""
    tokenizer = of_bert()
    options = {"vocab_size": NO_LIMIT, "show_progress": False, "special_tokens": list(specials)}
    tokenizer.train_from_iterator(peers.corpus(name).documents, hf.trainers.WordPieceTrainer(**options))
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


@pytest.mark.parametrize("name", soak.covering(peers.CORPORA))
@pytest.mark.first_run(cases=2)
def test_wordpiece(name: str) -> None:
    """Each character bare, then the forms with ##, then the merges, with the same ids.

    Its order of the forms with ## differs each time, unless they are given in order before all others.
    """
    trainer = start(peers.corpus(name), preset("bert"), Run(specials=("[UNK]",)))
    learn.run(trainer, Stops())
    ours = [entry.piece.decode() for entry in trainer.tokenizer().entries()]
    base = 1 + trainer.tokenizer().vocabulary.base_size
    bare = next((at for at in range(1, base) if len(ours[at]) > 1), base)
    theirs = wordpiece(name, ["[UNK]"])
    assert (theirs[:bare], sorted(theirs[bare:base])) == (ours[:bare], ours[bare:base])
    assert wordpiece(name, ours[:base]) == ours
    ids = {token: number for number, token in enumerate(ours)}
    same_ids(of_bert(ids), trainer, [*peers.PROBES, peers.text(name)])


@pytest.mark.parametrize("stop", [{"vocab_size": 500}, {"vocab_size": 100}, {"min_count": 4}], ids=str)
def test_stops(stop: dict[str, int]) -> None:
    """A size that is reached, one below the alphabet's own, and a least count."""
    tokenizer = byte_level()
    options = {"min_frequency" if name == "min_count" else name: value for name, value in stop.items()}
    alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
    theirs = train(tokenizer, peers.corpus("english"), initial_alphabet=alphabet, **options)
    trainer = start(peers.corpus("english"), preset("gpt2"))
    assert learn.run(trainer, Stops(**stop)) == next(iter(stop))
    ours = peers.merges(trainer)
    assert len(ours) == len(theirs)
    assert bool(ours) is (stop != {"vocab_size": 100})
    assert ours == [(raw(left), raw(right)) for left, right in theirs]
    same_vocabulary(tokenizer, trainer, byte_level=True)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", ["english", "finnish", "korean", "emoji"])
def test_specials(name: str) -> None:
    """Specials take the first ids; a merge that spells one takes its id."""
    plain = start(peers.corpus(name), preset("hf-bpe"))
    learn.run(plain, Stops(merges=60))
    spelled = [token.decode() for token in peers.made(plain)[4::20]]
    specials = ["<|endoftext|>", *spelled, "<s>"]
    tokenizer = of_words()
    theirs = train(tokenizer, peers.corpus(name), special_tokens=specials)
    trainer = start(peers.corpus(name), preset("hf-bpe"), Run(specials=tuple(specials)))
    learn.run(trainer, Stops())
    peers.same_steps(peers.merges(trainer), [(left.encode(), right.encode()) for left, right in theirs])
    same_vocabulary(tokenizer, trainer, byte_level=False)
    assert set(spelled) <= {token.decode() for token in peers.made(trainer)}
    base = trainer.tokenizer().vocabulary.base_size
    assert trainer.size_at(trainer.number) == len(specials) + base + trainer.number - len(spelled)


def test_one_unknown_token_each_or_for_a_run() -> None:
    """The unknown token: one a unit, and one for a run of them."""
    for unknown, fuse in (("per-unit", False), ("fused", True)):
        tokenizer = hf.Tokenizer(hf.models.BPE(unk_token="<unk>", fuse_unk=fuse))
        tokenizer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
        train(tokenizer, peers.corpus("turkish"), special_tokens=["<unk>"])
        trainer = start(peers.corpus("turkish"), preset("hf-bpe", unknown=unknown), Run(specials=("<unk>",)))
        learn.run(trainer, Stops())
        same_ids(tokenizer, trainer, peers.PROBES)
        assert 0 in trainer.tokenizer().encode(peers.PROBES[7]).ids
