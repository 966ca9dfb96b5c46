"""The answers to the questions of the engineer's tools, see `tokentui.session.asks`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tokentui.analyze.diff import diff
from tokentui.analyze.edit import Edit, add, changes, id_map, prune, unchanged
from tokentui.analyze.glitches import glitches
from tokentui.analyze.grow import extend, merge
from tokentui.analyze.languages import costs, parallel_corpora
from tokentui.core import reach
from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_together
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import format_of, load, targets
from tokentui.formats.proof import ExportReport, contents
from tokentui.session import asks
from tokentui.session.lanes import Command
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts


def answered(
    command: Command[object], tokenizer: Tokenizer, corpus: Corpus, columns: Mapping[int, Tokenizer]
) -> object:
    """The answer to a question.

    Args:
        command: The question.
        tokenizer: The tokenizer of the step that it is asked at.
        corpus: The corpus.
        columns: The tokenizers of the columns that are in step, by their keys.
    """
    match command:
        case asks.DiffColumns(a, b, rows):
            if a not in columns or b not in columns:
                raise TokentuiError("a column is not in step yet", "diff", "press the key again then")
            # The program has threads: a process that it forks may hang.
            return diff(columns[a], columns[b], corpus, rows=rows, processes=1)
        case asks.CountLanguages(by):
            texts = parallel_corpora()
            counted = {name: WordCounts(text) for name, text in texts.items()}
            return tuple(costs(one, texts, by, counted=counted) for one in columns.values())
        case asks.FindGlitches():
            return glitches(tokenizer, corpus)
        case asks.EditVocabulary(wishes):
            made = granted(tokenizer, corpus, wishes)
            went, came = changes(made, tokenizer)
            return asks.EditView(
                tokenizer.vocab_size, made.tokenizer.vocab_size, went, came, made.added, made.pruned,
                made.grown, made.losses,
            )
        case asks.WriteEdited():
            return _written(granted(tokenizer, corpus, command.wishes), command)
    raise TokentuiError("not a command of a session", type(command).__name__)


def granted(tokenizer: Tokenizer, corpus: Corpus, wishes: asks.Wishes) -> Edit:
    """A tokenizer with the vocabulary that is wished for.

    Raises:
        TokentuiError: Nothing is wished for, or it cannot be.
    """
    if wishes == asks.Wishes():
        raise TokentuiError("nothing to change is named", "edit", "prune, train on, or name a token")
    edit = unchanged(tokenizer)
    if wishes.prune:
        edit = prune(edit, corpus, wishes.keep)
    if wishes.size is not None:
        edit = extend(edit, corpus, wishes.size)
    if wishes.merge:
        edit = merge(edit, load(reach.expanded(wishes.merge), otherwise=tokenizer.recipe.split))
    return add(edit, [*((text, False) for text in wishes.add), *((text, True) for text in wishes.special)])


def _written(edit: Edit, command: asks.WriteEdited) -> ExportReport:
    reach.check_writing(command.path)
    path, ids = map(reach.expanded, (command.path, command.ids))
    format = format_of(path, edit.tokenizer.recipe, command.format or None)
    maps = [(ids, id_map(ids, edit.ids))] if ids else []
    for one in (*targets(path, format), *(name for name, _ in maps)):
        if os.path.lexists(one):
            raise TokentuiError("the file is there already", one, "take another name")
    report, files = contents(edit.tokenizer, format)
    if not report.refused:
        write_together([*zip(targets(path, format), files, strict=True), *maps])
    return report
