"""Names of the lower rooms that screens show: the built-in corpora and the reports of file formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.text.samples import Sample, find_sample, samples

if TYPE_CHECKING:
    from tokentui.formats.report import ExportReport as ExportReport  # a type: the formats load when one is asked for

__all__ = ["Sample", "find_sample", "samples"]
