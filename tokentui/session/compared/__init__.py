"""What the Compare screen sees and what it may ask: frozen values, and frozen commands.

Columns stand at one `Position` together. What is drawn at once belongs to the position of its snapshot; what takes longer
(vocabularies, measures, agreement) is found beside it, and each such value says in `at` which position it belongs to. Bytes and
names are exact; making them safe to draw is the screen's business.

A session takes these commands and, of `tokentui.session.commands`, `Move`, `GoTo`, `Play`, `Speed`, `Type` and `CancelWork`,
which mean what they mean on the main screen, in units of the position: merges, ids, or steps of the first column.
"""

from tokentui.analyze.agreement import Agreement, Disagreement
from tokentui.analyze.align import DROPPED, Alignment, Cell, Mark
from tokentui.analyze.compare import FEWEST, MOST
from tokentui.analyze.figures import SYMBOLS, Figure, Measure, Row, shown
from tokentui.analyze.together import Parting
from tokentui.session.compared.asked import (
    SECTIONS,
    AddColumn,
    CompareCommand,
    CompareLook,
    CompareSnapshot,
    FindParting,
    GoToParting,
    HeldOut,
    InStepBy,
    MoveColumn,
    NextPassage,
    RemoveColumn,
    ShowPassage,
    Under,
    Watch,
)
from tokentui.session.compared.columns import (
    END,
    LETTERS,
    WAYS,
    ColumnAt,
    ColumnView,
    ColumnWanted,
    Passage,
    Position,
)
from tokentui.session.compared.found import (
    CURVES,
    PARTS,
    Aligned,
    Curve,
    Curves,
    Measured,
    OverlapCounts,
    PairAgreement,
    PartingSide,
    PartingView,
    TokenInBoth,
    VocabularyLook,
    VocabularyRows,
)
from tokentui.session.snapshot import Busy, EncodedToken, LossRow, PairRow, RoundView, WhyView

__all__ = [
    "CURVES", "DROPPED", "END", "FEWEST", "LETTERS", "MOST", "PARTS", "SECTIONS", "SYMBOLS", "WAYS", "AddColumn", "Agreement",
    "Aligned", "Alignment", "Busy", "Cell", "ColumnAt", "ColumnView", "ColumnWanted", "CompareCommand", "CompareLook",
    "CompareSnapshot", "Curve", "Curves", "Disagreement", "EncodedToken", "Figure", "FindParting", "GoToParting", "HeldOut",
    "InStepBy", "LossRow", "Mark", "Measure", "Measured", "MoveColumn", "NextPassage", "OverlapCounts", "PairAgreement",
    "PairRow", "Parting", "PartingSide", "PartingView", "Passage", "Position", "RemoveColumn", "RoundView", "Row", "ShowPassage",
    "TokenInBoth", "Under", "VocabularyLook", "VocabularyRows", "Watch", "WhyView", "shown",
]
