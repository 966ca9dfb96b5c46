"""`tokentui quiz`: print an exercise sheet with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from tokentui import learn
from tokentui.analyze.quiz import Question, answered, asked, questions
from tokentui.cli.options import (
    CORPUS,
    NAMED,
    QUIET,
    READING,
    RECIPE,
    RUN_OPTIONS,
    Count,
    SharedOptions,
    options,
)
from tokentui.cli.output import shown, working, write_text
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.text.corpus import Corpus

LETTERS = "abcdefgh"
SHOWN_CHARS = 600
"""A corpus of no more characters is printed on the sheet."""


@click.command(
    epilog="""\b
Examples:
  tokentui quiz -r gpt2 sample:sailor
  tokentui quiz -r comp336 sample:hugs --count 12 --seed 7 > sheet.md
  tokentui quiz -r hf-bpe novel.txt --merges 20""",
)
@options(
    CORPUS,
    *NAMED,
    *RECIPE,
    *RUN_OPTIONS,
    *READING,
    click.option("--count", metavar="N", type=Count(min=1, max=1000), default=8,
                 help="The number of exercises [default: 8]."),
    click.option("--seed", metavar="N", type=int, default=0,
                 help="The random seed. The same seed gives the same sheet [default: 0]."),
    QUIET,
)
def command(shared: SharedOptions, count: int, seed: int) -> int:
    """Print an exercise sheet in Markdown about a training run on CORPUS: which pair is merged next, how a
    word is split, which of some merges is wrong, what bytes say, how many tokens there are, and how a tie is
    broken. The answers are at the end. tokentui practice asks the same questions on the screen."""
    recipe, run = shared.required_recipe()
    with working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar)
        with bar.phase("training"):
            trainer = learn.start(corpus, recipe, run)
            sheet = questions(trainer, count, seed, run.stops)
    if len(sheet) < count:
        shared.notice([f"only {plural(len(sheet), 'exercise')}: the run is too short for more"])
    name = safe(corpus.name, limit=60)
    lines = [
        f"# Exercises on {_code(name)}", "",
        f"Recipe {_code(shared.recipe or '')}; {plural(trainer.words.occurrences, 'pre-token')}, "
        f"{plural(trainer.tokens_at(0), 'unit')} at the start. A space in a token is written ·.", "",
    ]
    if corpus.counts is None and corpus.characters <= SHOWN_CHARS:
        lines += ["The corpus:", "", *(f"    {safe(exercise)}" for exercise in _documents(corpus)), ""]
    for n, question in enumerate(sheet, 1):
        lines += [f"{n}. {asked(question, _quoted)}", *_choices(question), ""]
    lines += ["## Answers", ""]
    lines += [f"{n}. {_answer(question)}" for n, question in enumerate(sheet, 1)]
    write_text("\n".join(lines))
    return 0


def _documents(corpus: Corpus) -> Iterator[str]:
    """Yield the lines of a short corpus."""
    for document in corpus.documents:
        yield from document.split("\n")


def _code(text: str) -> str:
    """Return a text as Markdown code, with a fence that its backquotes cannot close."""
    fence = "`" * (1 + max((len(run) for run in text.split("`") if not run), default=0) + text.count("`"))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _quoted(piece: bytes) -> str:
    return _code(shown(piece))


def _pair(parts: Sequence[bytes]) -> str:
    return " + ".join(_code(shown(part)) for part in parts)


def _choices(question: Question) -> Iterator[str]:
    for letter, parts in zip(LETTERS, question.choices, strict=False):
        yield f"   - {letter}) {_pair(parts)}"


def _answer(question: Question) -> str:
    words = answered(question, _quoted)
    if question.choices:
        return f"{LETTERS[question.choices.index(question.answer)]}) {words}"
    return words
