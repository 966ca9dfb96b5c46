"""The unigram language model: many pieces to begin with, fewer in each round (Kudo 2018).

>>> from tokentui.learn import walk
>>> from tokentui.learn.objectives import Material
>>> from tokentui.learn.values import Word
>>> from tokentui.recipe import Recipe, Run, Stops
>>> from tokentui.text.count import Words
>>> words = Words(("hug", "pug", "pun", "bun", "hugs"), (10, 5, 12, 4, 5))
>>> recipe = Recipe(split="whitespace", unit="char", objective="unigram", encode="viterbi", unknown="fused")
>>> trainer = UnigramTrainer(Material(words, recipe, Run(Stops(vocab_size=9))))
>>> [piece.decode() for piece in trainer.vocabulary.pieces][:6], trainer.tokens_at(0)
(['hug', 'ug', 'pun', 'u', 'pu', 'un'], 36)
>>> walk.run(trainer, Stops()).value, trainer.number
('vocab_size', 4)
>>> [piece.decode() for piece in trainer.vocabulary.pieces]
['pun', 'hug', 'b', 's', 'h', 'n', 'p', 'g', 'u']
>>> trainer.segment(Word("hugs")), trainer.tokenizer().encode("hugs pun").ids
([Span(start=0, end=3, symbol=1), Span(start=3, end=4, symbol=3)], (1, 3, 0))
"""

from tokentui.learn.unigram.trainer import UnigramTrainer
from tokentui.learn.unigram.values import Left, RoundStep

__all__ = ["Left", "RoundStep", "UnigramTrainer"]
