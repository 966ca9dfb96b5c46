"""The table of panes of Compare, and their layout for a size of the terminal."""

from __future__ import annotations

from tokentui.ui.field import TypedLine
from tokentui.ui.panes.compare.columns import ALONE_WIDTH, FACTS_WIDTH, CandidateTable, ColumnPane
from tokentui.ui.panes.compare.curves import CurveChart
from tokentui.ui.panes.compare.encodings import AlignedRows, CompareEncode
from tokentui.ui.panes.compare.tables import (
    AgreementList,
    DivergencePane,
    MeasuresList,
    SideTable,
    TokensPane,
    TokenTable,
)
from tokentui.ui.panes.entry import Layout, PaneEntry, groups, one_group

COLUMNS, ENCODE = "columns", "encode"
LEAST = 40, 10
"""Below this nothing but a line is shown."""
_ALONE_HEIGHT, _TALL, _BROAD = 20, 30, 160
_LEFT = {"low": "lower", "tall": "lower", "broad": "left"}
_RIGHT = {"low": "lower", "tall": "lower", "broad": "right"}

# The layouts are `low`, `tall` and `broad` (`places`); in a small one all panes share one place.
COMPARE_PANES: tuple[PaneEntry, ...] = (
    PaneEntry(
        COLUMNS, "Columns", "Go to the columns; press again for the next one", None, key_action="columns",
        key_section="choices", key_owners=(("choices", CandidateTable), ("choices", ColumnPane)),
    ),
    PaneEntry(
        "parting", "Divergence", "Go to where two columns diverge, with both tables of candidates",
        lambda screen: DivergencePane(), "Diverge", key_id="to_sides",
        key_owners=(("parting", SideTable), ("parting", DivergencePane)), place=_LEFT,
    ),
    PaneEntry(
        "vocabulary", "Vocabulary", "Go to what two vocabularies share", lambda screen: TokensPane(), "Vocab",
        key_id="to_tokens", key_section="tokens",
        key_owners=(("tokens", TokenTable), ("tokens", TokensPane)), place=_LEFT,
    ),
    PaneEntry(
        ENCODE, "Encode", "Go to the aligned encodings",
        lambda screen: CompareEncode(screen.first_text), key_section="aligned",
        key_owners=(("aligned", AlignedRows), ("encode", TypedLine)), place={"low": "lower"},
    ),
    PaneEntry(
        "measures", "Measures", "Go to the measures", lambda screen: MeasuresList(),
        key_owners=(("measures", MeasuresList),), place=_RIGHT, shows_tokens=False,
    ),
    PaneEntry(
        "agreement", "Agreement", "Go to the agreement of two columns on the corpus",
        lambda screen: AgreementList(), "Agree", key_owners=(("agreement", AgreementList),), place=_RIGHT,
    ),
    PaneEntry(
        "curves", "Curves", "Go to the curves", lambda screen: CurveChart(),
        key_owners=(("curves", CurveChart),), place=_RIGHT, shows_tokens=False,
    ),
)
"""The panes in the order of their number keys."""


def places(width: int, height: int, count: int, zoomed: bool = False) -> Layout | None:
    """Return the layout of Compare for a size; None below `LEAST`.

    Args:
        width: The columns of the terminal.
        height: Its lines.
        count: The number of columns that are compared.
        zoomed: True if one pane is maximized.
    """
    if width < LEAST[0] or height < LEAST[1]:
        return None
    classes = {f"of-{count}"}
    if height >= _TALL:
        classes |= {"tall", "narrow"} if width // count < FACTS_WIDTH else {"tall"}
    if zoomed or width < ALONE_WIDTH or height < _ALONE_HEIGHT:
        return Layout(one_group(COMPARE_PANES), frozenset(classes))
    layout = "low" if height < _TALL else "tall" if width < _BROAD else "broad"
    return Layout(groups(COMPARE_PANES, layout), frozenset(classes))
