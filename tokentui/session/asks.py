"""The questions of the engineer's tools, as commands of a session: what differs, what languages cost, which
tokens come of no text, and what another vocabulary would have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokentui.session.lanes import Command, Lane, Need

if TYPE_CHECKING:  # answers of rooms that load when one is asked for
    from tokentui.analyze.diff import Diff  # noqa: F401
    from tokentui.analyze.edit import Added, Grown, Pruned
    from tokentui.analyze.glitches import Glitch  # noqa: F401
    from tokentui.analyze.languages import Languages  # noqa: F401
    from tokentui.encode.tokenizer import Entry
    from tokentui.formats.proof import ExportReport  # noqa: F401
    from tokentui.formats.spec import Loss


class DiffColumns(Command["Diff"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The differences of two columns, by their keys, as their tokenizers stand at this position, on the
    corpus.

    Args:
        a: The old one.
        b: The new one.
        rows: The most documents that are listed.

    Raises where one of them is not in step.
    """

    a: int
    b: int
    rows: int = 50


class CountLanguages(Command["tuple[Languages, ...]"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The costs of the built-in parallel text under the tokenizer of each column that is in step.

    Args:
        by: What they are counted by, a name of `tokentui.analyze.languages.BASES`.
    """

    by: str = "sentences"


class FindGlitches(Command["tuple[Glitch, ...]"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The glitch tokens of the tokenizer of this step, on the corpus."""


@dataclass(frozen=True)
class Wishes:
    """A wish for another vocabulary, in the order in which it is granted.

    Attributes:
        prune: True to take out what the corpus does not use.
        keep: The most ids that are kept then; None for all that are used.
        size: The number of ids to train on to with the corpus; None for no training.
        merge: The file of another tokenizer whose merges are put behind; empty for none.
        add: Tokens that are added.
        special: Special tokens that are added.
    """

    prune: bool = False
    keep: int | None = None
    size: int | None = None
    merge: str = ""
    add: tuple[str, ...] = ()
    special: tuple[str, ...] = ()


@dataclass(frozen=True)
class EditView:
    """A vocabulary that was changed and is not written yet.

    Attributes:
        before, after: The number of ids.
        went: The tokens that went, as they were.
        came: The tokens that came.
        added: Those of them that were named.
        pruned: What became of the corpus; None where nothing was taken out.
        grown: What came of training on; None where that was not asked for.
        losses: What was lost on the way.
    """

    before: int
    after: int
    went: Sequence[Entry]
    came: Sequence[Entry]
    added: Sequence[Added]
    pruned: Pruned | None
    grown: Grown | None
    losses: Sequence[Loss]


class EditVocabulary(Command["EditView"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The tokenizer of this step with another vocabulary. Nothing is written."""

    wishes: Wishes


class WriteEdited(Command["ExportReport"], lane=Lane.BESIDE, need=Need.WHOLE):
    """Make the tokenizer of this step with another vocabulary, and write it, with the map of the ids where
    one is named.

    Raises what is wrong with a path, or that a file is there already.
    """

    wishes: Wishes
    path: str
    format: str = ""
    ids: str = ""
