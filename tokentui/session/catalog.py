"""Names of the lower rooms that screens show: the built-in corpora, file formats, measures, alignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.analyze.align import DROPPED, Alignment, Cell, Mark
from tokentui.analyze.compare import (
    FEWEST,
    MOST,
    PAIR_MEASURES,
    Agreement,
    DifferentCut,
    Disagreement,
    PairAgreement,
)
from tokentui.analyze.metrics import SYMBOLS, Figure, Measure, MeasureRow, shown
from tokentui.learn.trainer import Compressed
from tokentui.text.named import PARALLEL, SCHEME, named_in, short_name
from tokentui.text.places import is_place
from tokentui.text.sources import Sample, find_sample, samples

if TYPE_CHECKING:
    # types: the formats load when one is asked for
    from tokentui.encode.tokenizer import Entry as Entry
    from tokentui.formats.proof import ExportReport as ExportReport

__all__ = [
    "DROPPED", "FEWEST", "MOST", "PAIR_MEASURES", "PARALLEL", "SCHEME",
    "SYMBOLS", "Agreement", "Alignment", "Cell", "Compressed",
    "DifferentCut", "Disagreement", "Figure", "Mark", "Measure", "MeasureRow", "PairAgreement", "Sample",
    "find_sample", "is_place", "named_in", "samples", "short_name", "shown",
]
