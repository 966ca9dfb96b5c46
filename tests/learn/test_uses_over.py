"""The uses of a token over the run, and the life of a word, against standing at each step."""

from __future__ import annotations

import functools

import pytest

from tokentui import learn
from tokentui.axes import preset
from tokentui.encode.encoder import WordEncoder
from tokentui.learn import Life, Trainer, Used, jump, start
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TEXT = Corpus.from_text("aaa aaaa hug hugs pug the then there they banana anna hugging the the aa " * 2)


def _walked(name: str, steps: int, corpus: Corpus = TEXT) -> Trainer:
    trainer = start(corpus, preset(name), Run(Stops(vocab_size=90)))
    jump(trainer, steps)
    return trainer


def _recounted(trainer: Trainer, symbol: int, steps: int) -> list[int]:
    counts = []
    for number in range(steps + 1):
        jump(trainer, number)
        uses = trainer.uses
        made = number >= learn.steps_of_symbols(trainer)(symbol)
        counts.append(int(uses[symbol]) if symbol < len(uses) and made else 0)
    return counts


def _spread(told: list[Used], steps: int) -> list[int]:
    by_step = {one.number: one.uses for one in told}
    counts = [by_step[0]]
    for number in range(1, steps + 1):
        counts.append(by_step.get(number, counts[-1]))
    return counts


@pytest.mark.parametrize("name", ["gpt2", "wordpiece", "subword-nmt", "gage", "swift-talk-distinct"])
def test_uses_are_those_of_every_step(name: str) -> None:
    trainer = _walked(name, 12)
    steps = trainer.number
    assert steps > 5
    vocabulary = trainer.tokenizer().vocabulary
    base = vocabulary.base_size
    told = {symbol: list(learn.uses_over(trainer, symbol)()) for symbol in range(base + steps)}
    for symbol, one in told.items():
        assert [used.number for used in one] == sorted({used.number for used in one})
        assert _spread(one, steps) == _recounted(trainer, symbol, steps)
        for used in one[1:]:
            assert (used.into == b"") == (learn.steps_of_symbols(trainer)(symbol) == used.number)
            if used.into:
                assert used.into == vocabulary.pieces[base + used.number - 1]
                assert symbol in vocabulary.merges[used.number - 1]


def test_a_pair_of_equal_symbols_uses_two_of_them() -> None:
    trainer = start(Corpus.from_text("aaaaa"), preset("minbpe-basic"))
    jump(trainer, 1)
    (symbol,) = {*trainer.tokenizer().vocabulary.merges[0]}
    assert learn.uses_over(trainer, symbol)() == [Used(0, 5), Used(1, 1, b"aa")]


def test_a_later_step_does_not_change_an_earlier_answer() -> None:
    trainer = _walked("gpt2", 6)
    symbol = trainer.tokenizer().vocabulary.merges[0][0]
    asked, told = learn.uses_over(trainer, symbol), learn.uses_over(trainer, symbol)()
    jump(trainer, 12)
    assert asked() == told
    jump(trainer, 2)
    assert asked() == told


@pytest.mark.parametrize("name", ["gpt2", "bert", "sentencepiece-unigram"])
def test_uses_of_the_tokens_of_a_file(name: str) -> None:
    trained = _walked(name, 12)
    replay = ReplayTrainer(trained.tokenizer(), trained.words)
    jump(replay, steps := min(12, replay.computed))
    symbols = [replay.order.tokens[at] for at in (0, 1, steps - 1)] + [0, 1]
    for symbol in symbols:
        jump(replay, steps)
        assert _spread(list(learn.uses_over(replay, symbol)()), steps) == _recounted(replay, symbol, steps)


@functools.cache
def _models() -> list[WordEncoder]:
    """The encoder of each step of `_unigram`."""
    trainer = _unigram()
    return [trainer.tokenizer(number).encoder for number in range(trainer.number + 1)]


@functools.cache
def _unigram() -> UnigramTrainer:
    """A training at its end. Who goes back in it comes here again."""
    trainer = start(read("sample:english"), preset("sentencepiece-unigram"), Run(Stops(vocab_size=300)))
    learn.run(trainer, Stops(vocab_size=300))
    assert isinstance(trainer, UnigramTrainer)
    return trainer


def test_uses_of_a_piece_at_every_step() -> None:
    trainer = _unigram()
    steps, pieces = trainer.number, trainer.vocabulary.pieces
    for symbol in (0, 5, 40, 120):
        jump(trainer, steps)
        told, counts = list(learn.uses_over(trainer, symbol)()), []
        for number in range(steps + 1):
            jump(trainer, number)
            place = trainer.vocabulary.pieces.index(pieces[symbol])
            counts.append(trainer.uses[place])
        assert _spread(told, steps) == counts


@pytest.mark.parametrize("word", ["▁crowd", "▁the", "▁unhappiness", "▁zzzé☃", "", "▁in"])
def test_the_life_of_a_word_is_that_of_whole_models(word: str) -> None:
    trainer = _unigram()
    lives: list[Life] = []
    for number, encoder in enumerate(_models()):
        tokens = encoder.word(word)
        pieces = tuple(token.piece or b"" for token in tokens)
        if not lives or lives[-1].pieces != pieces:
            lives.append(Life(number, pieces))
    assert learn.life(trainer, word) == lives
