"""Commands that write the tokenizer of a step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.session.commands.base import Command, Job, Lane, Need

if TYPE_CHECKING:
    from tokentui.formats import Format
    from tokentui.formats.proof import ExportReport
    from tokentui.session.engine.state import State
    from tokentui.session.training.step_context import StepContext


class Formats(Command["Sequence[ExportReport]"], lane=Lane.JOB, need=Need.IDLE):
    """Ask what each file format loses of the tokenizer of this step. Nothing is written or tested."""

    def answer(self, context: StepContext) -> Sequence[ExportReport]:
        """Return the report of each format that can be written, in the order of `WRITTEN`."""
        from tokentui.core.jobs import each
        from tokentui.formats import WRITTEN
        from tokentui.formats.proof import check_export
        from tokentui.formats.spec import Spec

        spec = Spec(context.tokenizer)
        return tuple(check_export(spec, format) for format in each(WRITTEN.values()))


class Export(Command["ExportReport"], lane=Lane.JOB, need=Need.IDLE):
    """Write the tokenizer of this step to a file. Nothing is written if the answer's `refused` gives a
    reason.

    Raises if the path cannot be written; unless `overwrite` is set, also if the file exists already or its
    name is one of another format.
    """

    path: str
    format: str
    overwrite: bool = False

    def apply(self, state: State) -> Job[ExportReport]:
        context = state.context()
        # Whoever asked may leave meanwhile: the file is written all the same, rather than half of it.
        return Job(lambda: self.answer(context), cancellable=False)

    def answer(self, context: StepContext) -> ExportReport:
        """Write the files. If the format cannot hold the tokenizer, nothing is written, and the report has
        `refused`.

        Raises:
            TokentuiError: The path cannot be written; without `overwrite`, also if a file exists, or its name
                is one of another format.
        """
        from tokentui.formats import WRITTEN
        from tokentui.formats.files import export, targets
        from tokentui.formats.proof import check_export
        from tokentui.formats.spec import Spec, Unsupported

        sandbox.check_writing(self.path)
        path, format = sandbox.expanded(self.path), WRITTEN[self.format]
        existing = next((name for name in targets(path, format) if os.path.lexists(name)), None)
        doubts = ["the file exists already"] if existing is not None else []
        if (other := _other_format(path, format)) is not None:
            doubts.append(f"this file name belongs to {other.name}, not to {format.name}")
        if doubts and not self.overwrite:
            doing = "overwrite it" if existing is not None else "write it anyway"
            raise TokentuiError("; ".join(doubts), existing or path, f"press enter again to {doing}")
        try:
            return export(context.tokenizer, path, format.name)
        except Unsupported as error:
            report = check_export(Spec(context.tokenizer), format)
            return replace(report, refused=report.refused or error.what.partition(": ")[2])


def _other_format(path: str, format: Format) -> Format | None:
    """Return the other format that the suffix of a file name belongs to. None if the name fits `format`, or
    no other format; the suffix .json of our own format fits any."""
    from tokentui.formats import OWN, WRITTEN

    name = os.path.basename(path).lower()
    if name in format.files or name.endswith(format.suffixes):
        return None
    return next(
        (other for other in WRITTEN.values() if other is not OWN and name.endswith(other.suffixes)), None
    )


class Contents(Command["tuple[ExportReport, tuple[bytes, ...]]"], lane=Lane.JOB, need=Need.IDLE):
    """Ask for the files of the tokenizer of this step in a format, for a browser to save; none if the
    report's `refused` gives a reason."""

    format: str

    def answer(self, context: StepContext) -> tuple[ExportReport, tuple[bytes, ...]]:
        """Return the report of the format, and the bytes of each of its files; no files if it refuses the
        tokenizer."""
        from tokentui.formats import WRITTEN
        from tokentui.formats.proof import contents

        report, files = contents(context.tokenizer, WRITTEN[self.format])
        return report, () if report.refused else tuple(files)
