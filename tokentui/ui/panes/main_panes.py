"""The table of panes of the main screen."""

from __future__ import annotations

from tokentui.core.choices import Ref
from tokentui.ui.field import TypedLine
from tokentui.ui.panes.column_tables import ColumnTable, PairTable, candidates, entries
from tokentui.ui.panes.corpus import CorpusPane, CorpusText
from tokentui.ui.panes.encode import EncodePane
from tokentui.ui.panes.entry import PaneEntry

# The layouts are `wide` and `medium` (`MainScreen.layout_for`); in a small one all panes share one place.
MAIN_PANES: tuple[PaneEntry, ...] = (
    PaneEntry(
        "corpus", "Corpus", "Go to the corpus",
        lambda screen: CorpusPane(screen.engine, screen.text, screen.follow_editor), key_id="pane_1",
        key_owners=(
            ("corpus", CorpusPane), ("corpus", CorpusText),
            ("editor", Ref("tokentui.ui.panes.editor:CorpusEditor")),
        ),
    ),
    PaneEntry(
        "pairs", "Pairs", "Go to the pairs, or the pieces by loss",
        lambda screen: PairTable("candidates", candidates), key_id="pane_2",
        key_owners=(("pairs", PairTable),), place={"medium": "tables"},
    ),
    PaneEntry(
        "vocabulary", "Vocabulary", "Go to the vocabulary",
        lambda screen: ColumnTable("vocabulary", entries), "Vocab", key_id="pane_3",
        key_owners=(("vocabulary", ColumnTable),), place={"medium": "tables"},
    ),
    PaneEntry(
        "encode", "Encode", "Go to the typed text",
        lambda screen: EncodePane(screen.first_text, screen.update_titles), key_id="pane_4",
        key_owners=(("encode", TypedLine), ("encode", EncodePane)),
    ),
)
"""The panes in the order of their number keys."""
