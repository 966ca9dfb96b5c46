"""`tokentui practice`: ask questions on a training run, on the screen."""

from __future__ import annotations

from dataclasses import replace

import click

from tokentui import learn
from tokentui.analyze.grading.exercise import EXERCISES, read_exercise
from tokentui.cli.options import QUIET, READING, RECIPE, RUN_OPTIONS, Count, SharedOptions, options
from tokentui.cli.output import working
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.tours.facts import Place
from tokentui.tours.practice import Practice, practice_of


@click.command(
    epilog="""\b
Examples:
  tokentui practice jurafsky
  tokentui practice exercise.toml --count 20
  tokentui practice sample:sailor -r gpt2 --seed 7""",
)
@options(
    click.argument("name", metavar="EXERCISE|CORPUS"),
    *RECIPE,
    *RUN_OPTIONS,
    *READING,
    click.option("--count", metavar="N", type=Count(min=1, max=200), default=10,
                 help="The number of questions [default: 10]."),
    click.option("--seed", metavar="N", type=int, default=0,
                 help="The random seed. The same seed gives the same questions [default: 0]."),
    QUIET,
)
def command(shared: SharedOptions, name: str, count: int, seed: int) -> int:
    """Practice on the screen: predict the next merge, cut a word into tokens, find the wrong merge, read
    bytes.

    EXERCISE is one that tokentui grade lists, or a TOML file. With -r, a CORPUS is practiced on. What went
    wrong comes again at the end. tokentui quiz prints the same questions.
    """
    with working(shared.quiet) as bar, bar.phase("training"):
        practice = _practice(shared, name, count, seed)
    from tokentui.cli.commands.explore import play

    return play(practice)


def _practice(shared: SharedOptions, name: str, count: int, seed: int) -> Practice:
    """Return the questions on an exercise, or on a corpus with `-r`.

    Raises:
        TokentuiError: There is no such exercise, or it trains nothing.
    """
    if shared.recipe is not None:
        recipe, run = shared.recipe_and_run(shared.recipe)
        with working(shared.quiet) as bar:
            corpus = replace(shared, sources=(name,)).read_corpus(bar)
        title = safe(corpus.name, limit=60)
        return _practice_on(title, name, None, corpus, recipe, run, run.stops, count, seed)
    if name not in {exercise.name for exercise in EXERCISES} and not name.endswith(".toml"):
        raise TokentuiError("no such exercise", name,
            "name one that tokentui grade lists, or a CORPUS with -r")
    exercise = read_exercise(name)
    if not exercise.trains:
        raise TokentuiError("it trains nothing", name, "use another exercise")
    stops = Stops(merges=exercise.asked(exercise.start()))
    text = str(exercise.corpus.documents[0]) if not exercise.source else None
    return _practice_on(
        exercise.title, exercise.source, text, exercise.corpus, exercise.whole_recipe, Run(), stops, count,
        seed,
    )


def _practice_on(
    title: str, source: str, text: str | None, corpus: Corpus, recipe: Recipe, run: Run, stops: Stops,
    count: int,
    seed: int,
) -> Practice:
    """Start a training on a corpus, and return questions on it.

    Args:
        title: The title of the practice.
        source: The corpus as the command line names it; empty for a text.
        text: The text; None for a source.
        corpus, recipe, run: The training.
        stops: The end of the steps that are asked about.
        count: The maximum number of questions.
        seed: The random seed.
    """
    place = Place(source, text, recipe, run)
    return practice_of(title, place, learn.start(corpus, recipe, run), stops, count, seed)
