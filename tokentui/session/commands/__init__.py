"""The commands of a session: frozen values that a screen sends. A later snapshot shows their effect; some
also have an answer.

Each file holds the commands of one topic, with what they do. A new question is a class with an `answer`.
"""

from tokentui.session.commands.analysis import (
    Analyze,
    AnalyzeVocabulary,
    CountLanguages,
    DiffColumns,
    EncodeAtEnd,
    ExamineHealth,
)
from tokentui.session.commands.base import Command, Job, Lane, Need, Part, perform
from tokentui.session.commands.compare import (
    AddColumn,
    ChangeColumn,
    Compare,
    FindDivergence,
    GoToDivergence,
    HoldOut,
    Leave,
    MeasureUnder,
    MoveColumn,
    NextPassage,
    RemoveColumn,
    ShowPassage,
    SyncBy,
)
from tokentui.session.commands.edit import EditView, EditVocabulary, Wishes, WriteEdited
from tokentui.session.commands.export import Contents, Export, Formats
from tokentui.session.commands.inspect import (
    Draw,
    EncodeChat,
    ExplainSteps,
    InspectText,
    InspectToken,
    LifeOfWord,
    ListSteps,
    Search,
    TokenPlaces,
    TokenThere,
    WhyUnreachable,
)
from tokentui.session.commands.navigate import (
    CancelWork,
    GoTo,
    GoToId,
    GoToShare,
    GoToToken,
    Move,
    Play,
    RunUntil,
    SetSpeed,
    Speed,
    StepPieces,
    StepWithSpace,
)
from tokentui.session.commands.open import (
    Fingerprint,
    KeepPlace,
    Open,
    OpenTokenizer,
    Preview,
    Recognize,
    SetRecipe,
    TrainOnText,
)
from tokentui.session.commands.view import (
    Compress,
    CorpusText,
    Find,
    FindChanged,
    Pieces,
    SetInput,
    SetViewport,
)
from tokentui.session.errors import NothingOpen

__all__ = [
    "AddColumn", "Analyze", "AnalyzeVocabulary", "CancelWork", "ChangeColumn", "Command", "Compare",
    "Compress", "Contents", "CorpusText", "CountLanguages", "DiffColumns", "Draw", "EditView",
    "EditVocabulary", "EncodeAtEnd", "EncodeChat", "ExamineHealth", "ExplainSteps", "Export", "Find",
    "FindChanged", "FindDivergence", "Fingerprint", "Formats", "GoTo", "GoToDivergence", "GoToId",
    "GoToShare", "GoToToken", "HoldOut", "InspectText", "InspectToken", "Job", "KeepPlace", "Lane", "Leave",
    "LifeOfWord", "ListSteps", "MeasureUnder", "Move", "MoveColumn", "Need", "NextPassage", "NothingOpen",
    "Open", "OpenTokenizer", "Part", "Pieces", "Play", "Preview", "Recognize", "RemoveColumn", "RunUntil",
    "Search", "SetInput", "SetRecipe", "SetSpeed", "SetViewport", "ShowPassage", "Speed", "StepPieces",
    "StepWithSpace", "SyncBy", "TokenPlaces", "TokenThere", "TrainOnText", "WhyUnreachable", "Wishes",
    "WriteEdited", "perform",
]
