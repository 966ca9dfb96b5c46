"""The objectives of training: one record for each value of the axis `objective`, and the material of a
training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from tokentui.core.choices import Axis, Choice, Parameter, Ref, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.encode.segment import WAYS
from tokentui.learn.rows import Column, Worth
from tokentui.recipe import Recipe, Run
from tokentui.text.parts import CorpusPart as CorpusPart
from tokentui.text.split import SPLITS

if TYPE_CHECKING:  # the records are read where nothing is trained
    from tokentui.encode.vocabulary import Vocabulary
    from tokentui.learn.engine import Pair
    from tokentui.learn.trainer import Trainer
    from tokentui.text.count import Words

Value = Callable[..., tuple[int, int]]
"""The exact value of a pair, as numerator and denominator, from its count, the uses of its left and right
symbol, and the further figures that the objective sees; and from its parameters by name. The greatest is
merged. The denominator is 1 or more."""

SEEN = {
    "length": "the units of the token that it would make",
    "tokens": "the corpus in tokens",
    "pairs": "all places of pairs",
}
"""The further figures of a pair that a value may see, and what each is."""

_KINDS = {
    "count": "count", "change": "change", "left uses": "part", "right uses": "part", "score": "score",
    "value": "score", "as": "byte", "spelled": "token", **dict.fromkeys(SEEN, "part"),
    "worth": "count", "saved": "count", "run": "count",
}
"""The kind of each figure of a pair, by the name of the column that shows it."""


@dataclass(frozen=True)
class Material:
    """All that a training starts from; `Material.of` makes it of one corpus.

    Attributes:
        parts: The corpora.
        recipe: The recipe.
        run: The first id, the special tokens, and of the stops the size that a training which prunes goes to.
        documents: The documents that the words come from, for an objective that reads them too; None where
            they are not known.
    """

    parts: tuple[CorpusPart, ...]
    recipe: Recipe
    run: Run = field(default_factory=Run)
    documents: Sequence[str] | None = None

    @classmethod
    def of(
        cls, words: Words, recipe: Recipe, run: Run | None = None, documents: Sequence[str] | None = None
    ) -> Material:
        """The material of one corpus, or of named ones, by their counted pre-tokens."""
        return cls(words.as_parts, recipe, run or Run(), documents)

    @cached_property
    def words(self) -> Words:
        """The counted pre-tokens of all parts together: what is trained on where no part is chosen."""
        first = self.parts[0].words
        one = len(self.parts) == 1 and not self.parts[0].name
        return first if one else first.of_parts(self.parts)

    @property
    def objective(self) -> Objective:
        """The objective of the recipe, with its parameters."""
        return OBJECTIVES.of(self.recipe.objective).bound(self.recipe.objective)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective(Choice):
    """An objective.

    Attributes:
        label: Its name in titles.
        trainer: Makes the trainer; None for a retired objective.
        instead: The objectives to train by in place of a retired one.
        kernel: True if there are kernels for it; else plain Python trains, and the screen says so.
        queue: The order of pairs that these have, a name of `QUEUES` in `learn/compiled.py`.
        value: The value that pairs are ordered by; None where that is their count, or no pairs are merged.
        sees: The names of the further figures of a pair that the value is made of, each of `SEEN`.
        shown: The figure that people see in place of the value, from the same figures; None for the value.
        formula: That value in words of a formula.
        columns: The columns of its candidates.
        filters: True if a least count says which pairs are candidates; else it only ends a run.
        rare: True if rare pairs have the greatest values where no least count is set.
        least: The least count that a pair must have in any case.
        scored: True if its pieces have log probabilities, and no merges.
        codes: True if a byte replaces a pair, so that ids are bytes of a compressed text.
        per_corpus: True if the named corpora of a training are not counted as one.
        events: True if steps are more than one merge, and its tokenizers encode by all that happened.
        prunes: True if its tokens are all there from the start and leave, and no merges make them.
        vocabulary: Makes the vocabulary, before any merge, from the recipe, the base, the special tokens and
            the first id; None for an ordinary one.
        size: The number of ids that a run ends at where none was asked for; None if only the pairs end it.
        preparation: What a training does before its first step, for those who show its progress.
    """

    label: str
    trainer: Callable[[Material], Trainer] | None = None
    instead: tuple[str, ...] = ()
    kernel: bool = False
    queue: str = "counts"
    value: Value | None = None
    sees: tuple[str, ...] = ()
    shown: Callable[..., float] | None = None
    formula: str = ""
    columns: tuple[Column, ...] = ()
    filters: bool = False
    rare: bool = False
    least: int = 1
    scored: bool = False
    codes: bool = False
    per_corpus: bool = False
    events: bool = False
    prunes: bool = False
    vocabulary: Callable[..., Vocabulary] | None = None
    size: int | None = None
    preparation: str = "laying out the corpus"

    def bound(self, written: str) -> Objective:
        """This objective with the parameters of a value of the axis, such as `pmi:power=2`."""
        if self.value is None or not self.parameters:
            return self
        given = self.arguments(written)
        shown = None if self.shown is None else partial(self.shown, **given)
        return replace(self, value=partial(self.value, **given), shown=shown, parameters=())

    @property
    def shaped_by(self) -> tuple[str, ...]:
        """The stops that a step depends on."""
        return ("min_count", "max_length") if self.filters else ("max_length",)

    def worths(self, pairs: Sequence[Pair]) -> list[Worth]:
        """The values of pairs, exactly."""
        if self.value is None:
            return [pair.places for pair in pairs]
        from tokentui.learn.exact_values import exact  # fractions import decimal numbers

        seen = [(one.places, one.left_uses, one.right_uses, *one.more) for one in pairs]
        return [exact(self.value(*figures), figures, self.shown) for figures in seen]


def columns(*names: str) -> tuple[Column, ...]:
    """The columns of these names, each a figure of a pair; a name of its own is that of its value."""
    return tuple(Column(name, "", _KINDS.get(name, "score")) for name in names)


# ---- the values


def _score(count: int, left: int, right: int) -> tuple[int, int]:
    return count, left * right


def _count_length(count: int, left: int, right: int, length: int) -> tuple[int, int]:
    return count * length, 1


def _pmi(count: int, left: int, right: int, tokens: int, pairs: int) -> tuple[int, int]:
    return count, left * right  # at one step the rest is the same for all pairs


def _bits(count: int, left: int, right: int, tokens: int, pairs: int) -> float:
    return math.log2(count * tokens * tokens / (left * right * pairs))


def _probabilities(recipe: Recipe) -> Refusal | None:
    if WAYS.of(recipe.encode).needs == "merges":
        what = "a unigram model has no merges to encode by"
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


def _stages(recipe: Recipe) -> Refusal | None:
    within = str(OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"])
    SPLITS.check(within)
    other = "objective=count"
    if not (SPLITS.of(within).keeps_spaces and SPLITS.of(recipe.split).keeps_spaces) or (
        SPLITS.of(recipe.split).marks_spaces or SPLITS.of(within).marks_spaces
    ):
        return Refusal("split", "superwords hold the text between words", ("split=superwords", other))
    if recipe.encode != "merges":
        takes = ("encode=merges", other, "objective=unigram")
        return Refusal("encode", "superwords are encoded by their merges", takes)
    if recipe.mark != "none":
        return Refusal("mark", "superwords hold several words, each without a mark", ("mark=none", other))
    if recipe.symbols or recipe.coverage < 1:
        what = "the second stage is laid out in tokens: each unit is one"
        word = "symbols" if recipe.symbols else "coverage"
        return Refusal(word, what, ("no symbols",) if recipe.symbols else ("coverage=1",), fades=True)
    return None


def _events(recipe: Recipe) -> Refusal | None:
    name = recipe.objective.partition(":")[0]
    if recipe.encode != "merges":
        what = f"objective={name} is encoded by its events, in their order"
        return Refusal("encode", what, ("encode=merges", "objective=count", "objective=unigram"))
    if recipe.mark != "none":
        what = f"objective={name} tells tokens by their bytes, and a mark may stand in a text"
        return Refusal("mark", what, ("mark=none", "objective=count"))
    if recipe.base == "frequency":
        what = f"the ids of objective={name} begin with the base, since tokens leave"
        return Refusal("base", what, ("base=sorted", "objective=count"))
    return None


def _runs(recipe: Recipe) -> Refusal | None:
    if not WAYS.of(recipe.encode).needs:  # its tokens alone are enough for other ways
        recipe = recipe.with_axes(encode="merges")
    by = OBJECTIVES.of(recipe.objective).arguments(recipe.objective).get("by", "tokens")
    if by not in ("tokens", "saved", "characters"):
        takes = ("by=tokens", "by=saved", "by=characters")
        return Refusal("objective", f"no length of a run is told by {str(by)[:40]!r}", takes)
    return _events(recipe)


def _paths(recipe: Recipe) -> Refusal | None:
    if recipe.encode != "fewest-tokens":
        what = "objective=pathpiece judges tokens by the shortest way through a word"
        return Refusal("encode", what, ("encode=fewest-tokens", "objective=count", "objective=unigram"))
    if recipe.mark != "none":
        what = "objective=pathpiece tells tokens by their bytes, and a mark may stand in a text"
        return Refusal("mark", what, ("mark=none", "objective=count"))
    return None


def _joined(recipe: Recipe) -> Refusal | None:
    within = str(OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"])
    SPLITS.check(within)
    splits = SPLITS.of(recipe.split), SPLITS.of(within)
    if not all(one.keeps_spaces and not one.marks_spaces for one in splits):
        return Refusal("split", "joined words hold the text between words", ("split=none", "objective=count"))
    if recipe.symbols or recipe.coverage < 1:
        word = "symbols" if recipe.symbols else "coverage"
        takes = ("no symbols",) if recipe.symbols else ("coverage=1",)
        return Refusal(word, "each unit of a joined word is a token", takes, fades=True)
    return _events(recipe)


UNIGRAM_SIZE = 8000
"""The size that a unigram training prunes towards where none was asked for: the default of sentencepiece."""

OBJECTIVES = Axis(
    "objective", "what makes a pair the best",
    Objective(
        "count", "it stands most often (BPE)", label="bpe",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"), kernel=True,
        columns=columns("count", "change"),
    ),
    Objective(
        "parity", "it stands most often in the language that is worst off", label="parity-aware bpe",
        trainer=Ref("tokentui.learn.parity:parity"), kernel=True, per_corpus=True,
        columns=columns("count", "change"),
        parameters=(
            Parameter("variant", "which language is worst off: base, window or ratio", "base", str),
            Parameter("global_merges", "so many first steps are of all languages together", 0),
            Parameter("window_size", "the steps that variant=window looks back", 100, least=1),
            Parameter("alpha", "the part of an equal share that a language may have of it", 2.0, float),
            Parameter("ratios", "the compression that variant=ratio aims at, such as 1:1.5", "", str),
        ),
        refuses=Ref("tokentui.learn.parity:refuses"),
    ),
    Objective(
        "score", "c(xy)/(c(x)·c(y)) is largest (WordPiece)", label="wordpiece",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"),
        kernel=True, queue="scores", value=_score, formula="c(xy)/(c(x)·c(y))",
        columns=columns("count", "left uses", "right uses", "score"),
        filters=True, rare=True,
    ),
    Objective(
        "count-length", "its count times the units of its token is largest", label="count·length",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"), kernel=True, queue="lengths",
        value=_count_length, sees=("length",),
        formula="c(xy)·length", columns=columns("count", "length", "value"), filters=True,
    ),
    Objective(
        "pmi", "its pointwise mutual information is largest", label="pmi",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"), kernel=True, queue="scores", value=_pmi,
        shown=_bits, sees=("tokens", "pairs"), formula="log2(c(xy)·N²/(c(x)·c(y)·M))",
        columns=columns("count", "left uses", "right uses", "pmi"), filters=True, rare=True,
    ),
    Objective(
        "unigram", "pieces of a unigram language model, pruned", label="unigram",
        trainer=Ref("tokentui.learn.unigram:UnigramTrainer"), kernel=True, scored=True,
        refuses=_probabilities, size=UNIGRAM_SIZE, preparation="finding seed pieces",
    ),
    Objective(
        "gage", "Gage's compression: a free byte stands for the pair", label="gage",
        trainer=Ref("tokentui.learn.gage:GageTrainer"), columns=columns("as", "spelled", "count", "change"),
        least=2, codes=True, refuses=_whole_text,
    ),
    Objective(
        "superbpe", "BPE inside words first, then across them (SuperBPE)", label="superbpe",
        trainer=Ref("tokentui.learn.superbpe:SuperTrainer"), kernel=True, columns=columns("count", "change"),
        refuses=_stages, vocabulary=Ref("tokentui.learn.superbpe:vocabulary"),
        parameters=(
            Parameter("at", "the merges inside words, before the switch", 1000),
            Parameter("within", "the split of these words", "superbpe-words", str),
            Parameter("words", "the most words of a token", 4, least=1),
        ),
    ),
    Objective(
        "boundless", "BPE inside words against joins of whole words (BoundlessBPE)", label="boundless bpe",
        trainer=Ref("tokentui.learn.boundless:trainer"), columns=columns("count", "change"),
        refuses=_joined, events=True, vocabulary=Ref("tokentui.learn.boundless:vocabulary"),
        parameters=(
            Parameter("threshold", "the IoS from which on a part is taken apart", 0.9, float, 0, 2),
            Parameter("within", "the split of the words", "gpt2", str),
        ),
    ),
    Objective(
        "greedtok", "the text whose cover saves most tokens (GreedTok)", label="greedtok",
        trainer=Ref("tokentui.learn.greedtok:trainer"), columns=columns("saved", "count", "change"),
        filters=True, refuses=_runs, events=True,
        parameters=(Parameter("longest", "the most units of a token", 32, least=2, most=1000),),
    ),
    Objective(
        "length-max", "the run of tokens of the greatest count times length (Length-MAX)", label="length-max",
        trainer=Ref("tokentui.learn.length_max:trainer"),
        columns=columns("worth", "run", "count", "change"), filters=True, least=2, refuses=_runs, events=True,
        parameters=(
            Parameter("most", "the most tokens of a run", 5, least=2, most=100),
            Parameter("by", "the length of a run: tokens, saved or characters", "tokens", str),
        ),
    ),
    Objective(
        "pathpiece", "the token whose absence lengthens the corpus least leaves (PathPiece)",
        label="pathpiece", trainer=Ref("tokentui.learn.pathpiece:PathTrainer"), refuses=_paths, prunes=True,
        preparation="finding seed texts",
        columns=(
            Column("loss", "", "loss"), Column("uses", "", "count"), Column("instead", "", "tokens"),
            Column("goes", "", "text"),
        ),
        parameters=(
            Parameter("seeds", "the most texts to begin with", 32768),
            Parameter("longest", "the most units of a text", 16, least=2, most=1000),
            Parameter("at", "the tokens that a step removes", 1, least=1),
        ),
    ),
    Objective(
        "picky", "BPE that removes what hardly stands alone any more (PickyBPE)", label="picky bpe",
        trainer=Ref("tokentui.learn.picky:trainer"), columns=columns("count", "change"), refuses=_events,
        events=True,
        parameters=(Parameter("threshold", "the IoS above which a part is removed", 0.9, float, 0, 1),),
    ),
    retired=(
        Objective(
            "npmi", "its normalized pointwise mutual information is largest", label="npmi", instead=("pmi",)
        ),
        Objective(
            "gain", "merging it makes the corpus most likely (S-BPE)", label="s-bpe", instead=("count", "pmi")
        ),
        Objective(
            "scaffold", "BPE with tokens that only merge (Scaffold-BPE)", label="scaffold bpe",
            refuses=_events, events=True, instead=("picky",),
        ),
    ),
)
"""The objectives, by name. A retired one encodes and is not trained."""


def trainer_of(recipe: Recipe) -> Callable[[Material], Trainer]:
    """Return the function that makes the trainer of a recipe.

    Raises:
        TokentuiError: The objective is retired.
    """
    objective = OBJECTIVES.of(recipe.objective)
    if objective.trainer is None:
        takes = " or ".join(f"objective={name}" for name in objective.instead)
        raise TokentuiError(
            "this objective is retired and cannot be trained", f"objective={objective.name}", f"take {takes}"
        )
    return objective.trainer
