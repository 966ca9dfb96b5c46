"""Commands that make a tokenizer with another vocabulary from that of a step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.session.commands.base import Command, Lane, Need

if TYPE_CHECKING:
    from tokentui.analyze.edit import Added, Edit, Grown, Pruned
    from tokentui.encode.tokenizer import TokenEntry, Tokenizer
    from tokentui.formats.proof import ExportReport
    from tokentui.formats.spec import Loss
    from tokentui.session.training.step_context import StepContext
    from tokentui.text.corpus import Corpus


@dataclass(frozen=True)
class Edits:
    """The changes to a vocabulary, in the order in which they are made.

    Attributes:
        prune: True to remove the tokens that the corpus does not use.
        keep: The maximum number of ids that pruning keeps; None for all that are used.
        size: The number of ids to train on to with the corpus; None for no training.
        merge: The file of another tokenizer whose merges are appended; empty for none.
        add: Tokens to add.
        special: Special tokens to add.
    """

    prune: bool = False
    keep: int | None = None
    size: int | None = None
    merge: str = ""
    add: tuple[str, ...] = ()
    special: tuple[str, ...] = ()

    def applied(self, tokenizer: Tokenizer, corpus: Corpus) -> Edit:
        """Return a tokenizer with these changes: pruned, trained on, merged with the other file, then with
        the named tokens added.

        Raises:
            TokentuiError: There are no changes, or one cannot be made.
        """
        from tokentui.analyze.edit import add, prune, unchanged
        from tokentui.analyze.grow import extend, merge
        from tokentui.formats.files import load

        if self == Edits():
            raise TokentuiError("no change given", "edit", "prune, train on, or name a token")
        edit = unchanged(tokenizer)
        if self.prune:
            edit = prune(edit, corpus, self.keep)
        if self.size is not None:
            edit = extend(edit, corpus, self.size)
        if self.merge:
            edit = merge(edit, load(sandbox.expanded(self.merge), otherwise=tokenizer.recipe.split))
        return add(edit, [*((text, False) for text in self.add), *((text, True) for text in self.special)])


@dataclass(frozen=True)
class EditView:
    """A changed vocabulary that is not written yet.

    Attributes:
        before, after: The number of ids.
        went: The removed tokens.
        came: The new tokens.
        added: Those of them that were named.
        pruned: The effect of pruning on the corpus; None without pruning.
        grown: The result of training on; None without it.
        losses: The losses on the way.
    """

    before: int
    after: int
    went: Sequence[TokenEntry]
    came: Sequence[TokenEntry]
    added: Sequence[Added]
    pruned: Pruned | None
    grown: Grown | None
    losses: Sequence[Loss]


class EditVocabulary(Command[EditView], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the effect of a changed vocabulary on the tokenizer of this step. Nothing is written, and the
    session keeps its tokenizer."""

    edits: Edits

    def answer(self, context: StepContext) -> EditView:
        """Make the changes on a copy of the tokenizer of the step, and return what they removed and added.

        Raises:
            TokentuiError: There are no changes, or one cannot be made.
        """
        from tokentui.analyze.edit import changes

        edit = self.edits.applied(context.tokenizer, context.corpus)
        went, came = changes(edit, context.tokenizer)
        return EditView(
            context.tokenizer.vocab_size, edit.tokenizer.vocab_size, went, came, edit.added, edit.pruned,
            edit.grown, edit.losses,
        )


class WriteEdited(Command["ExportReport"], lane=Lane.JOB, need=Need.COUNTED):
    """Make the tokenizer of this step with another vocabulary, and write it, with the map of the ids if `ids`
    names a file.

    Raises if a path cannot be written, or a file exists already.
    """

    edits: Edits
    path: str
    format: str = ""
    ids: str = ""

    def answer(self, context: StepContext) -> ExportReport:
        """Write the tokenizer and the map of ids together, unless the format refuses the tokenizer.

        The paths are checked first: none may be outside the folders that may be written, or exist.
        """
        from tokentui.analyze.edit import id_map
        from tokentui.core.files import write_together
        from tokentui.formats.files import format_of, targets
        from tokentui.formats.proof import contents

        edit = self.edits.applied(context.tokenizer, context.corpus)
        sandbox.check_writing(self.path)
        path, ids = map(sandbox.expanded, (self.path, self.ids))
        format = format_of(path, edit.tokenizer.recipe, self.format or None)
        maps = [(ids, id_map(ids, edit.ids))] if ids else []
        for name in (*targets(path, format), *(name for name, _ in maps)):
            if os.path.lexists(name):
                raise TokentuiError("the file exists already", name, "choose another name")
        report, files = contents(edit.tokenizer, format)
        if not report.refused:
            write_together([*zip(targets(path, format), files, strict=True), *maps])
        return report
