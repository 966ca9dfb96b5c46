"""Report on what a file format cannot store of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable

from tokentui.analyze.report import Cell, Column, Report, Row, Section, Span, as_row, muted, strong, warning
from tokentui.formats.proof import ExportReport
from tokentui.formats.spec import Loss


def report(written: ExportReport) -> Report:
    """Report each loss of a format, or why it cannot store the tokenizer.

    Args:
        written: The result of looking at the format, or of writing it.
    """
    return Report(written.format, (section(written),), as_row(written), verdict(written))


def section(written: ExportReport, losses: Iterable[Loss] = ()) -> Section:
    """Return the losses of a format, after others.

    Args:
        written: The result of looking at the format, or of writing it.
        losses: Losses before those of the format.
    """
    verified = f", verified on {written.checked:,} texts" if written.checked and not written.refused else ""
    rows = (*loss_rows(losses), *loss_rows(written.losses))
    if written.refused:
        rows = (Row((Span("no", "error"), written.refused)),)
    rows = rows or (Row(("lossless",)),)
    return Section(f"{written.format}: {written.about}{verified}", "", rows, (Column(),))


def loss_rows(losses: Iterable[Loss]) -> tuple[Row, ...]:
    """Return a row for each loss."""
    return tuple(
        Row((warning("lost"), (strong(loss.what), f": {loss.consequence}",
                               muted(f" ({loss.example})" if loss.example else ""))))
        for loss in losses
    )


def verdict(written: ExportReport) -> Cell:
    """Return in a few words what a format loses, or why it is not possible."""
    if written.refused:
        return (Span("not possible: ", "error"), muted(written.refused))
    if written.losses:
        return (warning("loses "), ", ".join(loss.what for loss in written.losses))
    return Span("lossless", "success")
