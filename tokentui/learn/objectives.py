"""The objectives of training: one record for each value of the axis `objective`."""

from __future__ import annotations

from fractions import Fraction

from tokentui.core.choices import Axis, Refusal
from tokentui.core.lazy import Ref
from tokentui.learn.objective import Objective
from tokentui.recipe import Recipe


def _score(count: int, left: int, right: int) -> Fraction:
    return Fraction(count, left * right)


def _probabilities(recipe: Recipe) -> Refusal | None:
    if recipe.encode != "viterbi":
        what = "a unigram model is encoded by its probabilities"
        return Refusal("encode", what, ("encode=viterbi", "objective=count"))
    return None


def _whole_text(recipe: Recipe) -> Refusal | None:
    bytes_of_all = "Gage's compression works on the bytes of the whole text"
    other = "objective=count"
    if (recipe.unit, recipe.split, recipe.mark) != ("byte", "none", "none"):
        return Refusal("objective", bytes_of_all, ("unit=byte, split=none and mark=none", other))
    if recipe.base != "bytes":
        return Refusal("base", "the ids of Gage's compression are byte values", ("base=bytes", other))
    if recipe.encode != "merges":
        takes = ("encode=merges", other, "objective=unigram")
        return Refusal("encode", "Gage's compression replaces pair by pair", takes)
    if recipe.symbols:
        return Refusal("symbols", bytes_of_all, ("no symbols",))
    if recipe.prefix_space:
        return Refusal("prefix_space", "a space in front is no part of the text", ("prefix_space=no",))
    return None


OBJECTIVES = Axis(
    "objective", "what makes a pair the best",
    Objective(
        "count", "it stands most often (BPE)", label="bpe", trainer=Ref("tokentui.learn.merging:merging"),
        task="pairs", formula="c(xy)",
        columns=("count", "change"),
    ),
    Objective(
        "score", "c(xy)/(c(x)·c(y)) is largest (WordPiece)", label="wordpiece",
        trainer=Ref("tokentui.learn.merging:merging"),
        task="score", value=_score,
        formula="c(xy)/(c(x)·c(y))", columns=("count", "left uses", "right uses", "score", "change"), filters=True,
    ),
    Objective(
        "unigram", "pieces of a unigram language model, pruned", label="unigram",
        trainer=Ref("tokentui.learn.unigram.trainer:UnigramTrainer"), task="unigram", step="step", prunes=True,
        makes="scores", refuses=_probabilities,
    ),
    Objective(
        "gage", "Gage's compression: a free byte stands for the pair", label="gage",
        trainer=Ref("tokentui.learn.merging:merging"), columns=("count", "change", "as", "spelled"), codes=True,
        refuses=_whole_text,
    ),
)
"""The objectives, by name."""
