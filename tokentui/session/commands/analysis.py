"""Questions about the whole tokenizer of a step: its vocabulary, its health, its costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError
from tokentui.session.commands.base import Command, Lane, Need
from tokentui.session.snapshot import EndView

if TYPE_CHECKING:
    from tokentui.analyze.budget import Budget
    from tokentui.analyze.compare import PairAgreement
    from tokentui.analyze.diff import Diff
    from tokentui.analyze.languages import Languages
    from tokentui.analyze.metrics import MeasureRow
    from tokentui.analyze.report import Report
    from tokentui.analyze.results import Bounds, HealthReport, VocabularyReport
    from tokentui.session.training.step_context import StepContext


class EncodeAtEnd(Command[EndView], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the encoding of the typed text at the end of the run. A new training is run to that end; the
    step on screen stays.

    Raises if a tokenizer of a file is open, or the tokenizer refuses the text.
    """

    def answer(self, context: StepContext) -> EndView:
        """Train a new tokenizer to the end of the run, and encode the typed text with it.

        Raises:
            TokentuiError: A tokenizer of a file is open, or the text is refused.
        """
        from tokentui import learn

        training = context.training
        if training.opened is not None:
            raise TokentuiError(
                "a tokenizer from a file cannot be trained", training.opened.view.name, "open a text"
            )
        trainer = learn.start(training.corpus, training.recipe, training.run, training.trainer.words)
        learn.run(trainer, training.run.stops)
        return EndView(trainer.number, trainer.tokenizer().encode(context.typed).rows)


class MeasureSizes(Command["tuple[Budget, tuple[Bounds, ...]]"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the tokens of the corpus at each size of the vocabulary up to the end of the run. A new
    training is run to that end; the step on screen stays. An opened tokenizer is measured whole.

    Args:
        bounded: The sizes whose bounds are proved too; none for no bounds.
    """

    bounded: tuple[int, ...] = ()

    def answer(self, context: StepContext) -> tuple[Budget, tuple[Bounds, ...]]:
        """Measure an opened tokenizer at each of its sizes, or else train to the end of the run. Bounds are
        proved only for the sizes `bounded`."""
        from tokentui.analyze.budget import budget, trained_budget

        training = context.training
        if training.opened is not None:
            tokenizer = training.opened.tokenizer
            found = budget(tokenizer, [training.corpus])
        else:
            found, tokenizer = trained_budget(
                training.corpus, training.recipe, training.run, training.trainer.words
            )
        if not self.bounded:
            return found, ()
        from tokentui.analyze.bound import BoundedCorpus

        return found, (BoundedCorpus(tokenizer, training.corpus).bounds(self.bounded)[0],)


class MeasureCorpus(Command["tuple[MeasureRow, ...]"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the measures of the tokenizer of this step on the corpus.

    Raises if the tokenizer refuses a part of the corpus.
    """

    def answer(self, context: StepContext) -> tuple[MeasureRow, ...]:
        from tokentui.analyze.metrics import rows_of, tally

        return rows_of([tally(context.tokenizer, context.corpus)])


class AnalyzeVocabulary(Command["VocabularyReport"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the report on the vocabulary of this step on the corpus: used and unused tokens, what documents
    save.

    Args:
        word: The text whose segmentations are listed; the typed text if empty.
        exhaust: True to train a copy until no pair is left, and report its end.
    """

    word: str = ""
    exhaust: bool = False

    def answer(self, context: StepContext) -> VocabularyReport:
        """Report on the tokenizer of the step, with the words that are counted already."""
        from tokentui.analyze.vocabulary import vocabulary_report

        return vocabulary_report(
            context.tokenizer, context.corpus, context.training.trainer.words, step=context.step,
            text=self.word or context.typed, exhaust=self.exhaust,
        )


class ExamineHealth(Command["HealthReport"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the facts and the health of the tokenizer of this step. An opened file is examined at its last
    step, and a model folder with its other files."""

    def answer(self, context: StepContext) -> HealthReport:
        """Examine the tokenizer, for an opened file with the checks of its folder if it lies in one."""
        from tokentui.analyze.health import examine

        if (file := context.training.opened) is not None:
            from tokentui.analyze.health.folder import examine_folder
            from tokentui.formats.folder import model_folder

            health = examine(file.tokenizer)
            if (folder := model_folder(file.view.path)) is None:
                return health
            return replace(health, checks=(*health.checks, *examine_folder(folder, file.tokenizer)))
        return examine(context.tokenizer, context.step)


class DiffColumns(Command["Diff"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the differences of the tokenizers of two columns, by their keys, at this position, on the
    corpus.

    Args:
        a: The old one.
        b: The new one.
        rows: The maximum number of documents that are listed.

    Raises if one of them is not in sync.
    """

    a: int
    b: int
    rows: int = 50

    def answer(self, context: StepContext) -> Diff:
        """Compare the two tokenizers in one process.

        Raises:
            TokentuiError: A column is not in sync.
        """
        from tokentui.analyze.diff import diff

        columns = context.columns
        if self.a not in columns or self.b not in columns:
            raise TokentuiError("a column is not in sync yet", "diff", "wait and press the key again")
        # The program has threads: a process that it forks may hang.
        return diff(columns[self.a], columns[self.b], context.corpus, rows=self.rows, processes=1)


class MeasureAgreement(Command["tuple[PairAgreement, ...]"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the agreement of each two columns in sync: how much they split the words of the corpus
    alike."""

    def answer(self, context: StepContext) -> tuple[PairAgreement, ...]:
        from tokentui.analyze.compare import compare_on

        return compare_on([*context.columns.items()], context.corpus, context.under, most=0)


class CountLanguages(Command["tuple[Languages, ...]"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the costs of the built-in parallel text under the tokenizer of each column that is in sync.

    Args:
        by: The unit of the costs, a name of `tokentui.analyze.languages.BASES`.
    """

    by: str = "sentences"

    def answer(self, context: StepContext) -> tuple[Languages, ...]:
        """Return the costs of each column in sync, from the left. The built-in texts are counted once for all
        columns."""
        from tokentui.analyze.languages import costs, parallel_corpora
        from tokentui.text.count import WordCounts

        texts = parallel_corpora()
        counted = {name: WordCounts(text) for name, text in texts.items()}
        return tuple(
            costs(tokenizer, texts, self.by, counted=counted) for tokenizer in context.columns.values()
        )


class Analyze(Command["Report"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the report of an analysis of the tokenizer of this step, on the corpus.

    Args:
        name: The name of a record of `tokentui.analyze.analyses.ANALYSES`.
    """

    name: str

    def answer(self, context: StepContext) -> Report:
        from tokentui.analyze.analyses import ANALYSES

        report: Report = ANALYSES[self.name].report(context.tokenizer, context.corpus)
        return report
