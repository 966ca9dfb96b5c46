"""The replay of a tokenizer of a file, token by token: what it would have given after its first k tokens.

>>> from tokentui.encode.tokenizer import Tokenizer
>>> from tokentui.encode.vocabulary import Vocabulary
>>> from tokentui.learn.values import Word
>>> from tokentui.recipe import Recipe, Stops
>>> from tokentui.text.count import Words
>>> vocabulary = Vocabulary(Recipe(split="whitespace", unit="char"), [b"b", b"g", b"h", b"u"])
>>> vocabulary.extend([(3, 1), (2, 4)], [15, 10])  # ug, hug
>>> trainer = ReplayTrainer(Tokenizer(vocabulary, 2), Words(("hug", "bug"), (10, 5)))
>>> [trainer.tokens_at(number) for number in range(3)]
[45, 30, 20]
>>> trainer.advance(1, Stops()).value, [span.symbol for span in trainer.segment(Word("hug"))]
('merges', [2, 4])
>>> [(life.number, life.pieces) for life in trainer.life("bug")]
[(0, (b'b', b'u', b'g')), (1, (b'b', b'ug'))]
"""

from tokentui.learn.replay.order import IDS, MERGES, RANKS, SAID, SCORES, TokenOrder
from tokentui.learn.replay.trainer import ReplayTrainer

__all__ = ["IDS", "MERGES", "RANKS", "SAID", "SCORES", "ReplayTrainer", "TokenOrder"]
