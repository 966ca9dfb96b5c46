"""The start of a training by merges of pairs, with the engine that is fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tokentui.core import native
from tokentui.core.runtime import quiet_collector
from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import BASES, FILTERS, WEIGHTS, Totals
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.ranking import TIES
from tokentui.learn.values import PairEngine
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import MARKS

WORTH_CHARS = 1 << 15
"""A corpus whose distinct words have fewer characters is trained by the plain engine within some hundredths
of a second."""
MOST_CHARS = (1 << 31) // 4 - 1
"""Places are numbers of 32 bits; a character is up to four bytes."""
MOST_WEIGHT = (1 << 31) - 1


def without_kernel(recipe: Recipe) -> str:
    """The value of a recipe that no kernel knows, as `axis=value`: plain Python trains by it.

    Empty where kernels know all; `what-ifs` where it has some.
    """
    if recipe.what_if:
        return "what-ifs"
    objective = OBJECTIVES.of(recipe.objective)
    known = {"objective": objective.kernel}
    if not objective.scored:
        known |= {
            # A barrier inside a word is known to the cells of the plain engine alone.
            "pieces": FILTERS.of(recipe.pieces).allows is None, "tie": TIES.of(recipe.tie).kernel,
            "mark": MARKS.of(recipe.mark).kernel, "weight": WEIGHTS.of(recipe.weight).kernel,
            "coverage": recipe.coverage == 1, "symbols": not recipe.symbols,
        }
    return next((f"{name}={recipe.axis(name)}" for name, all_known in known.items() if not all_known), "")


def is_chosen(material: Material) -> bool:
    """True if the kernels are to do a training: they can be called, and are fit for the recipe and the
    corpus."""
    words, recipe = material.words, material.recipe
    if without_kernel(recipe) or not native.available():
        return False
    size = sum(map(len, words.words)) if words.flat is None else len(words.flat.text)
    return (
        size <= MOST_CHARS
        and max(words.counts, default=0) <= MOST_WEIGHT
        and not _may_spell(material.run.specials, words, recipe)
    )


def _may_spell(specials: Sequence[str], words: Words, recipe: Recipe) -> bool:
    """True if a merge may spell a special token and take its id. The kernels do not know special tokens."""
    if not specials:
        return False
    mark = recipe.mark_text if MARKS.of(recipe.mark).ends_word else ""
    text = to_bytes((mark + "\0").join((*words.words, "")))
    prefix = to_bytes(recipe.mark_text) if MARKS.of(recipe.mark).in_front else b""
    spellings = [special.encode("utf-8", "surrogatepass") for special in specials]
    return any(spelling in text or spelling.removeprefix(prefix) in text for spelling in spellings)


def plain_fork(engine: PairEngine, number: int, material: Material) -> PlainPairs:
    """The corpus of an engine of merges at a known step, in plain Python."""
    if isinstance(engine, PlainPairs):
        return engine.fork(number, material)
    from tokentui.learn.compiled import KernelPairs

    assert isinstance(engine, KernelPairs)
    return engine.fork(number, material)


def start_pairs(
    material: Material, vocabulary: Callable[[Totals], Vocabulary], source: PairEngine | None = None,
    number: int = 0, compiled: bool | None = None,
) -> PairEngine:
    """The engine of a training by merges of pairs that is fit.

    Args:
        material, source, number, compiled: As for `merging`.
        vocabulary: Makes the vocabulary from the units and how often they count.
    """
    chosen = not native.failed and (is_chosen(material) if compiled is None else compiled)
    if isinstance(source, PlainPairs) or (
        source is not None and source.engine == native.COMPILED and material.recipe.what_if
    ):
        return plain_fork(source, number, material)
    if chosen and not material.recipe.what_if:
        with native.rescued():
            from tokentui.learn.compiled import KernelPairs

            return KernelPairs(material, vocabulary)
    return PlainPairs(material, vocabulary)


def merging(
    material: Material, source: PairEngine | None = None, number: int = 0, compiled: bool | None = None
) -> PairTrainer:
    """Start a training by merges of pairs. Only plain Python knows what-ifs.

    Args:
        material: The counted words, the recipe and the run.
        source: The engine of a training of the same words, whose steps are taken over; None for none.
        number: How many of its steps are taken over, where they need not be chosen again.
        compiled: True to train with kernels; None lets `is_chosen` decide.
    """
    recipe, run = material.recipe, material.run

    def vocabulary(totals: Totals) -> Vocabulary:
        return Vocabulary(recipe, BASES.of(recipe.base).units(totals), run.specials, run.first_id)

    with quiet_collector():
        engine = start_pairs(material, vocabulary, source, number, compiled)
        return PairTrainer(engine, material, partial(merging, compiled=compiled))
