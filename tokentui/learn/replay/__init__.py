"""A tokenizer that was read from a file, walked through token by token: what it would have given after its first k births."""

from tokentui.learn.replay.order import IDS, MERGES, RANKS, SAID, SCORES, Order
from tokentui.learn.replay.trainer import LAST, Birth, OpenedTrainer

__all__ = ["IDS", "LAST", "MERGES", "RANKS", "SAID", "SCORES", "Birth", "OpenedTrainer", "Order"]
