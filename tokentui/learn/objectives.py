"""The objectives of training: one record for each value of the axis `objective`.

To add an objective, add an entry to `OBJECTIVES`. Its trainer is a function of a `Material`: the counted
corpus, the recipe and the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from tokentui.core.choices import Axis, Choice, Parameter, Ref, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.learn.rows import Column, Worth
from tokentui.recipe import Recipe, Run
from tokentui.text.parts import CorpusPart as CorpusPart
from tokentui.text.split import SPLITS

if TYPE_CHECKING:  # the records are read where nothing is trained
    from tokentui.encode.vocabulary import Vocabulary
    from tokentui.learn.ngrams import Pair
    from tokentui.learn.trainer import Trainer
    from tokentui.text.count import Words

Value = Callable[..., tuple[int, int]]
"""Returns the exact value of a pair as a numerator and a denominator of 1 or more. The pair of the greatest
value is merged.

It takes the count of the pair and the uses of its left and of its right symbol; then the parameters of the
objective by name.
"""

_COLUMN_KINDS = {
    "count": "count", "change": "change", "left uses": "part", "right uses": "part", "score": "score",
    "value": "score", "as": "byte", "spelled": "token",
    "worth": "count", "saved": "count", "run": "count",
}
"""The kind of each column of candidates, by its name; see `rows.Column`."""


@dataclass(frozen=True)
class Material:
    """What a training starts from.

    Attributes:
        parts: The corpora, each with its counted pre-tokens.
        recipe: The recipe.
        run: The first id, the special tokens, and the size that a training by pruning aims at.
        documents: The texts of the corpus, for an objective that reads them too; None if they are not known.
    """

    parts: tuple[CorpusPart, ...]
    recipe: Recipe
    run: Run = field(default_factory=Run)
    documents: Sequence[str] | None = None

    @classmethod
    def of(
        cls, words: Words, recipe: Recipe, run: Run | None = None, documents: Sequence[str] | None = None
    ) -> Material:
        """Return the material of counted pre-tokens, of one corpus or of several named ones."""
        return cls(words.as_parts, recipe, run or Run(), documents)

    @cached_property
    def words(self) -> Words:
        """The counted pre-tokens of all parts together."""
        first, *others = self.parts
        return first.words.of_parts(self.parts) if others or first.name else first.words

    @property
    def objective(self) -> Objective:
        """The objective of the recipe, with the parameters that the recipe gives it."""
        return OBJECTIVES.of(self.recipe.objective).bound(self.recipe.objective)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective(Choice):
    """An objective.

    Attributes:
        label: The name in titles.
        trainer: Starts a training; None for a retired objective.
        instead: The objectives to use in place of a retired one.
        kernel: True if it has kernels. Otherwise plain Python trains, and the screen says so.
        queue: The order in which its kernels keep pairs, a name of `QUEUES` in `learn/compiled.py`.
        value: The value that pairs are ordered by; None for their count, or if it ranks no pairs.
        formula: The value as people read it.
        columns: The columns of its candidates.
        filters: True if a least count decides which pairs are candidates. Otherwise it only ends a run.
        favors_rare: True if rare pairs have the greatest values unless a least count is set.
        least_count: The least count of a pair that is merged, whatever the run asks for.
        scored: True if its tokens have log probabilities and no merges.
        substitutes_bytes: True if a byte stands for a pair, so that ids are bytes of a compressed text.
        per_corpus: True if it trains on each named corpus by itself rather than on all of them together.
        events: True if a step may be more than one merge, so that its tokenizers encode by events.
        prunes: True if all tokens are there at the start and steps remove them.
        vocabulary: Makes the vocabulary without any merge, from the recipe, the base, the special tokens and
            the first id; None for `encode.vocabulary.Vocabulary`.
        size: The number of ids at which a run ends by default; None if it ends when no pair is left.
        preparation: What a training does before its first step, as people read it.
    """

    label: str
    trainer: Callable[[Material], Trainer] | None = None
    instead: tuple[str, ...] = ()
    kernel: bool = False
    queue: str = "counts"
    value: Value | None = None
    formula: str = ""
    columns: tuple[Column, ...] = ()
    filters: bool = False
    favors_rare: bool = False
    least_count: int = 1
    scored: bool = False
    substitutes_bytes: bool = False
    per_corpus: bool = False
    events: bool = False
    prunes: bool = False
    vocabulary: Callable[..., Vocabulary] | None = None
    size: int | None = None
    preparation: str = "laying out the corpus"

    def bound(self, written: str) -> Objective:
        """Return this objective with its parameters set as a recipe writes them, such as `dice:power=2`."""
        if self.value is None or not self.parameters:
            return self
        return replace(self, value=partial(self.value, **self.arguments(written)), parameters=())

    @property
    def shaped_by(self) -> tuple[str, ...]:
        """The names of the stops that a step depends on."""
        return ("min_count", "max_length") if self.filters else ("max_length",)

    def worths(self, pairs: Sequence[Pair]) -> list[Worth]:
        """Return the exact values of pairs. `float` of one gives the figure that people see."""
        if self.value is None:
            return [pair.places for pair in pairs]
        from fractions import Fraction  # slow to import

        return [Fraction(*self.value(pair.places, pair.left_uses, pair.right_uses)) for pair in pairs]


def columns(*names: str) -> tuple[Column, ...]:
    """Return columns of candidates. An unknown name is that of the objective's value."""
    return tuple(Column(name, "", _COLUMN_KINDS.get(name, "score")) for name in names)


# ---- the values


def _score(count: int, left: int, right: int) -> tuple[int, int]:
    return count, left * right


# ---- the recipes that an objective refuses


def _refuse_merges(recipe: Recipe) -> Refusal | None:
    """Refuse to encode by merges, as unigram models have none; else return None."""
    if ENCODING_WAYS.of(recipe.encode).needs == "merges":
        what = "a unigram model has no merges to encode by"
        return Refusal("encode", what, ("encode=viterbi", "objective=count"))
    return None


def _refuse_for_gage(recipe: Recipe) -> Refusal | None:
    """Refuse all that Gage's compression of whole texts of bytes cannot do."""
    bytes_of_all = "Gage's compression works on the bytes of the whole text"
    other = "objective=count"
    if (recipe.unit, recipe.split, recipe.mark) != ("byte", "none", "none"):
        return Refusal("objective", bytes_of_all, ("unit=byte, split=none and mark=none", other))
    if recipe.base != "bytes":
        return Refusal("base", "in Gage's compression, ids are byte values", ("base=bytes", other))
    if recipe.encode != "merges":
        takes = ("encode=merges", other, "objective=unigram")
        return Refusal("encode", "Gage's compression encodes by replacing pairs", takes)
    if recipe.symbols:
        return Refusal("symbols", bytes_of_all, ("no symbols",))
    if recipe.prefix_space:
        return Refusal("prefix_space", "an added space is not part of the text", ("prefix_space=no",))
    return None


def _refuse_for_superbpe(recipe: Recipe) -> Refusal | None:
    """Refuse, for superwords, splits that drop or mark the text between words, encoding by other than merges,
    marks, symbols and a coverage below 1. Return None for all else.

    Raises:
        TokentuiError: The argument `within` of the objective names no split.
    """
    within = str(OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"])
    SPLITS.check(within)
    other = "objective=count"
    if not (SPLITS.of(within).keeps_spaces and SPLITS.of(recipe.split).keeps_spaces) or (
        SPLITS.of(recipe.split).marks_spaces or SPLITS.of(within).marks_spaces
    ):
        return Refusal("split", "superwords contain the text between words", ("split=superwords", other))
    if recipe.encode != "merges":
        takes = ("encode=merges", other, "objective=unigram")
        return Refusal("encode", "superwords are encoded by their merges", takes)
    if recipe.mark != "none":
        return Refusal("mark", "superwords contain several words, so there are no marks", ("mark=none",
            other))
    if recipe.symbols or recipe.coverage < 1:
        what = "in the second stage, each unit must be a token"
        word = "symbols" if recipe.symbols else "coverage"
        return Refusal(word, what, ("no symbols",) if recipe.symbols else ("coverage=1",), fades=True)
    return None


def _refuse_for_events(recipe: Recipe) -> Refusal | None:
    """Refuse all ways of encoding but replaying the events, marks, and a base ordered by frequency."""
    name = recipe.objective.partition(":")[0]
    if recipe.encode != "merges":
        what = f"objective={name} is encoded by its events, in their order"
        return Refusal("encode", what, ("encode=merges", "objective=count", "objective=unigram"))
    if recipe.mark != "none":
        what = f"objective={name} identifies tokens by their bytes, and a mark can occur in a text"
        return Refusal("mark", what, ("mark=none", "objective=count"))
    if recipe.base == "frequency":
        what = f"with objective={name}, the ids begin with the base because tokens can be removed"
        return Refusal("base", what, ("base=sorted", "objective=count"))
    return None


def _refuse_for_ngrams(recipe: Recipe) -> Refusal | None:
    """Refuse an unknown `by`, and what `_refuse_for_events` does unless the way needs tokens alone."""
    if not ENCODING_WAYS.of(recipe.encode).needs:
        recipe = recipe.with_axes(encode="merges")
    by = OBJECTIVES.of(recipe.objective).arguments(recipe.objective).get("by", "tokens")
    if by not in ("tokens", "saved", "characters"):
        takes = ("by=tokens", "by=saved", "by=characters")
        return Refusal("objective", f"the length of a run cannot be measured by {str(by)[:40]!r}", takes)
    return _refuse_for_events(recipe)


def _refuse_for_pathpiece(recipe: Recipe) -> Refusal | None:
    """Refuse all ways of encoding but the fewest tokens, and marks."""
    if recipe.encode != "fewest-tokens":
        what = "objective=pathpiece evaluates tokens by the shortest segmentation"
        return Refusal("encode", what, ("encode=fewest-tokens", "objective=count", "objective=unigram"))
    if recipe.mark != "none":
        what = "objective=pathpiece identifies tokens by their bytes, and a mark can occur in a text"
        return Refusal("mark", what, ("mark=none", "objective=count"))
    return None


def _refuse_for_boundless(recipe: Recipe) -> Refusal | None:
    """Refuse splits that drop text between words, symbols, a coverage below 1, and what is no event."""
    within = str(OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"])
    SPLITS.check(within)
    splits = SPLITS.of(recipe.split), SPLITS.of(within)
    if not all(split.keeps_spaces and not split.marks_spaces for split in splits):
        return Refusal("split", "joined words contain the text between words", ("split=none",
            "objective=count"))
    if recipe.symbols or recipe.coverage < 1:
        word = "symbols" if recipe.symbols else "coverage"
        takes = ("no symbols",) if recipe.symbols else ("coverage=1",)
        return Refusal(word, "each unit of a joined word must be a token", takes, fades=True)
    return _refuse_for_events(recipe)


UNIGRAM_SIZE = 8000
"""The number of ids that a unigram training prunes to by default, as sentencepiece does."""

OBJECTIVES = Axis(
    "objective", "how each step is chosen",
    Objective(
        "count", "the most frequent pair (BPE)", label="bpe",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"), kernel=True,
        columns=columns("count", "change"),
    ),
    Objective(
        "parity", "the most frequent pair of the language with the worst compression",
        label="parity-aware bpe",
        trainer=Ref("tokentui.learn.parity:parity_trainer"), kernel=True, per_corpus=True,
        columns=columns("count", "change"),
        parameters=(
            Parameter("variant", "how the worst-served language is found: base, window or ratio", "base",
                str),
            Parameter("global_merges", "the number of initial steps that count all languages together", 0),
            Parameter("window_size", "with variant=window: the number of recent steps to look at", 100,
                      least=1),
            Parameter(
                "alpha", "with variant=window: skip languages chosen in more than alpha/L of these steps "
                "(L: the number of languages)", 2.0, float,
            ),
            Parameter("ratios", "with variant=ratio: the target compression per language, such as 1:1.5", "",
                      str),
        ),
        refuses=Ref("tokentui.learn.parity:refuses"),
    ),
    Objective(
        "score", "the pair with the largest c(xy)/(c(x)·c(y)) (WordPiece)", label="wordpiece",
        trainer=Ref("tokentui.learn.start_pairs:pair_trainer"),
        kernel=True, queue="scores", value=_score, formula="c(xy)/(c(x)·c(y))",
        columns=columns("count", "left uses", "right uses", "score"),
        filters=True, favors_rare=True,
    ),
    Objective(
        "unigram", "pieces of a unigram language model, pruned", label="unigram",
        trainer=Ref("tokentui.learn.unigram:UnigramTrainer"), kernel=True, scored=True,
        refuses=_refuse_merges, size=UNIGRAM_SIZE, preparation="finding seed pieces",
    ),
    Objective(
        "gage", "Gage's compression: an unused byte replaces the pair", label="gage",
        trainer=Ref("tokentui.learn.gage:GageTrainer"), columns=columns("as", "spelled", "count", "change"),
        least_count=2, substitutes_bytes=True, refuses=_refuse_for_gage,
    ),
    Objective(
        "superbpe", "BPE within words first, then across them (SuperBPE)", label="superbpe",
        trainer=Ref("tokentui.learn.superbpe:SuperTrainer"), kernel=True, columns=columns("count", "change"),
        refuses=_refuse_for_superbpe, vocabulary=Ref("tokentui.learn.superbpe:vocabulary"),
        parameters=(
            Parameter("at", "the number of merges within words before merges across words begin", 1000),
            Parameter("within", "the split that defines the words", "superbpe-words", str),
            Parameter("words", "the maximum number of words in a token", 4, least=1),
        ),
    ),
    Objective(
        "boundless", "BPE within words and joins of whole words, in one ranking (BoundlessBPE)",
        label="boundless bpe",
        trainer=Ref("tokentui.learn.boundless:trainer"), columns=columns("count", "change"),
        refuses=_refuse_for_boundless, events=True, vocabulary=Ref("tokentui.learn.boundless:vocabulary"),
        parameters=(
            Parameter("threshold", "split a token if at least this share of its uses would be merged (IoS)",
                0.9,
                float, 0, 2),
            Parameter("within", "the split that separates words", "gpt2", str),
        ),
    ),
    Objective(
        "greedtok", "the text that saves the most tokens (GreedTok)", label="greedtok",
        trainer=Ref("tokentui.learn.greedtok:trainer"), columns=columns("saved", "count", "change"),
        filters=True, refuses=_refuse_for_ngrams, events=True,
        parameters=(Parameter("longest", "the maximum length of a token, in units", 32, least=2, most=1000),),
    ),
    Objective(
        "length-max", "the run of tokens with the largest count times length (Length-MAX)",
        label="length-max",
        trainer=Ref("tokentui.learn.length_max:trainer"),
        columns=columns("worth", "run", "count", "change"), filters=True, least_count=2,
        refuses=_refuse_for_ngrams, events=True,
        parameters=(
            Parameter("most", "the maximum number of tokens in a run", 5, least=2, most=100),
            Parameter("by", "how to measure the length of a run: tokens, saved or characters", "tokens", str),
        ),
    ),
    Objective(
        "pathpiece", "removes the token whose loss adds the fewest tokens (PathPiece)",
        label="pathpiece", trainer=Ref("tokentui.learn.pathpiece:PathTrainer"), prunes=True,
        refuses=_refuse_for_pathpiece, preparation="finding seed texts",
        columns=(
            Column("loss", "", "loss"), Column("uses", "", "count"), Column("instead", "", "tokens"),
            Column("goes", "", "text"),
        ),
        parameters=(
            Parameter("seeds", "the maximum number of seed texts", 32768),
            Parameter("longest", "the maximum length of a text, in units", 16, least=2, most=1000),
            Parameter("at", "the number of tokens that each step removes", 1, least=1),
        ),
    ),
    Objective(
        "picky", "BPE that removes tokens that rarely occur on their own (PickyBPE)", label="picky bpe",
        trainer=Ref("tokentui.learn.picky:trainer"), columns=columns("count", "change"),
        refuses=_refuse_for_events, events=True,
        parameters=(
            Parameter("threshold", "remove a token if more than this share of its uses were merged (IoS)",
                0.9,
                float, 0,
                      1),
        ),
    ),
    retired=(
        Objective(
            "count-length", "the pair with the largest count times length in units", label="count·length",
            instead=("count", "length-max"),
        ),
        Objective(
            "pmi", "the pair with the largest pointwise mutual information", label="pmi", instead=("score",),
        ),
        Objective(
            "npmi", "the pair with the largest normalized pointwise mutual information", label="npmi",
            instead=("score",),
        ),
        Objective(
            "gain", "the pair whose merge makes the corpus most likely (S-BPE)", label="s-bpe",
            instead=("count", "score"),
        ),
        Objective(
            "scaffold", "BPE with tokens that only merge (Scaffold-BPE)", label="scaffold bpe",
            refuses=_refuse_for_events, events=True, instead=("picky",),
        ),
    ),
)
"""The objectives, by name. A retired one still encodes but is not trained."""


def trainer_of(recipe: Recipe) -> Callable[[Material], Trainer]:
    """Return the function that starts a training by a recipe.

    Raises:
        TokentuiError: The objective is retired.
    """
    objective = OBJECTIVES.of(recipe.objective)
    if objective.trainer is None:
        takes = " or ".join(f"objective={name}" for name in objective.instead)
        raise TokentuiError(
            "this objective is retired and cannot be trained", f"objective={objective.name}", f"use {takes}"
        )
    return objective.trainer
