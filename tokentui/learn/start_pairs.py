"""Start a training by merges of pairs, with kernels if they can do it and in plain Python otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tokentui.core import engines
from tokentui.core.runtime import quiet_collector
from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import FILTERS, WEIGHTS, Totals, base_units
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.engine import PairEngine
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.ranking import TIES
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import MARKS

if TYPE_CHECKING:
    from tokentui.learn.compiled import KernelPairs

Built = TypeVar("Built")

WORTH_CHARS = 1 << 15
"""The characters of distinct words below which the plain engine trains within some hundredths of a second."""
MOST_CHARS = (1 << 31) // 4 - 1
"""The most characters of distinct words that kernels lay out: places are numbers of 32 bits, and a character
has up to four bytes."""
MOST_WEIGHT = (1 << 31) - 1
"""The greatest weight of a word that kernels count with."""


# ---- which engine


def value_without_kernel(recipe: Recipe) -> str:
    """Return the value of a recipe that keeps kernels from training by it, as `axis=value`.

    Returns:
        An empty string if kernels support the whole recipe.
    """
    objective = OBJECTIVES.of(recipe.objective)
    supported = {"objective": objective.kernel}
    if not objective.scored:
        supported |= {
            # Only the cells of the plain engine have barriers inside a word.
            "pieces": FILTERS.of(recipe.pieces).allows is None, "tie": TIES.of(recipe.tie).kernel,
            "mark": MARKS.of(recipe.mark).kernel, "weight": WEIGHTS.of(recipe.weight).kernel,
            "coverage": recipe.coverage == 1, "symbols": not recipe.symbols,
        }
    return next((f"{name}={recipe.axis(name)}" for name, known in supported.items() if not known), "")


def kernels_fit(material: Material) -> bool:
    """Return whether kernels are available, and support the recipe, the size and the special tokens."""
    words, recipe = material.words, material.recipe
    if value_without_kernel(recipe) or not engines.available():
        return False
    size = sum(map(len, words.words)) if words.flat is None else len(words.flat.text)
    return (
        size <= MOST_CHARS
        and max(words.counts, default=0) <= MOST_WEIGHT
        and not _may_spell(material.run.specials, words, recipe)
    )


def _may_spell(specials: Sequence[str], words: Words, recipe: Recipe) -> bool:
    """Return whether a merge may spell a special token and take its id, which kernels do not check."""
    if not specials:
        return False
    mark = recipe.mark_text if MARKS.of(recipe.mark).ends_word else ""
    text = to_bytes((mark + "\0").join((*words.words, "")))
    prefix = to_bytes(recipe.mark_text) if MARKS.of(recipe.mark).in_front else b""
    spellings = [special.encode("utf-8", "surrogatepass") for special in specials]
    return any(spelling in text or spelling.removeprefix(prefix) in text for spelling in spellings)


def with_engine(
    material: Material, build: Callable[[type[PlainPairs] | type[KernelPairs]], Built], compiled: bool | None
) -> Built:
    """Return `build(engine)` with the class of the engine that is to train.

    Args:
        material: The counted words, the recipe and the run.
        build: Makes the training. It is called again with `PlainPairs` if a kernel fails in it.
        compiled: Whether to train with kernels. None asks `kernels_fit`. Everything after a kernel has failed
            uses plain Python.
    """
    if engines.failed:
        compiled = False
    elif compiled is None:
        compiled = kernels_fit(material)
    if compiled:
        with engines.rescued():
            from tokentui.learn.compiled import KernelPairs

            return build(KernelPairs)
    return build(PlainPairs)


# ---- the start


def may_fork(engine: PairEngine) -> bool:
    """Return whether a fork can take over the steps of an engine. A kernel that failed leaves half a step."""
    return not (engines.failed and engine.engine == engines.COMPILED)


def start_engine(
    material: Material, vocabulary_of: Callable[[Totals], Vocabulary], source: PairEngine | None = None,
    number: int = 0, compiled: bool | None = None,
) -> PairEngine:
    """Start the engine of a training by merges of pairs.

    Args:
        material, source, number, compiled: See `pair_trainer`.
        vocabulary_of: Makes the vocabulary from the units and how often each occurs, by weight.
    """
    if source is not None and may_fork(source):
        return source.fork(number, material)

    def build(engine: type[PlainPairs] | type[KernelPairs]) -> PairEngine:
        return engine(material, vocabulary_of)

    return with_engine(material, build, compiled)


def pair_trainer(
    material: Material, source: PairEngine | None = None, number: int = 0, compiled: bool | None = None
) -> PairTrainer:
    """Start a training by merges of pairs.

    Args:
        material: The counted words, the recipe and the run.
        source: The engine of a training of the same words, to take over steps from. None starts at step 0.
        number: The number of steps that are taken over.
        compiled: Whether to train with kernels; None asks `kernels_fit`.
    """
    recipe, run = material.recipe, material.run

    def vocabulary_of(totals: Totals) -> Vocabulary:
        return Vocabulary(recipe, base_units(recipe, totals), run.specials, run.first_id)

    with quiet_collector():
        engine = start_engine(material, vocabulary_of, source, number, compiled)
        return PairTrainer(engine, material, partial(pair_trainer, compiled=compiled))
