"""The unigram language model: many pieces to begin with, fewer in each round (Kudo 2018)."""

from tokentui.learn.unigram.rows import DroppedRow, PieceRow, UnigramStep
from tokentui.learn.unigram.trainer import UnigramTrainer

__all__ = ["DroppedRow", "PieceRow", "UnigramStep", "UnigramTrainer"]
