"""The second wall: whatever a widget draws, the terminal gets no character that acts.

The first wall is `tokentui.core.safetext`, through which all data should pass. Textual itself lets ESC, C1,
bidi controls and more through to the terminal, whichever widget draws them. This filter looks at every line
that is drawn. An app holds one (lines remember what it made of them) and installs it last:

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self.guard]
"""

from __future__ import annotations

import itertools
import unicodedata
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from tokentui.core.safetext import MARKS_SENT, is_safe, stand_in, unsafe_places
from tokentui.ui.terminal.private import acts

_is_safe = lru_cache(8192)(is_safe)
"""The same for short texts, most of which are drawn again and again."""
_WIDE = "〓"
_SCROLL_BAR_ACTIONS = frozenset({"grab", "release", "scroll_up", "scroll_down"})


class ControlGuard(LineFilter):
    """Replaces every unsafe character of a line by a visible one, and drops links and actions from styles.

    A line keeps its width: stand-ins of characters that Rich takes to be without width use up the blanks that
    follow, and cut off the end of their own segment where there are none.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """A line without unsafe characters, of the same width."""
        if not acts(segments) and all(map(_is_safe, [segment[0] for segment in segments])):
            return segments
        line = [(text if is_safe(text) else replace(text), _inert(style)) for text, style, _ in segments]
        surplus = sum(cell_len(text) for text, _ in line) - sum(cell_len(text) for text, *_ in segments)
        texts = [text for text, _ in line]
        if surplus:
            changed = [n for n, (text, *_) in enumerate(segments) if text != texts[n]]
            _fit(texts, changed, surplus)
        return [Segment(text, style) for text, (_, style) in zip(texts, line, strict=True)]


def replace(text: str) -> str:
    """Text with a visible stand-in for every unsafe character, of its width where it has one, and for marks
    too many.
    """
    made = _replaced(text, unsafe_places(text))
    # Where a stand-in has broken what showed a joiner, joiners have one as well.
    return made if is_safe(made) else _replaced(made,
        {place for place, char in enumerate(made) if not is_safe(char)})


def _replaced(text: str, places: set[int]) -> str:
    out: list[str] = []
    marks = 0
    for place, char in enumerate(text):
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > MARKS_SENT:
            out.append(stand_in(char))
            marks = 0  # the next ones stand on the stand-in
        else:
            out.append(char if place not in places else _WIDE if cell_len(char) == 2 else stand_in(char))
    return "".join(out)


def _fit(texts: list[str], changed: list[int], surplus: int) -> None:
    # Blanks behind the first stand-in go first, but for one each: what stands in columns keeps its gaps.
    for n in range(changed[0], len(texts)):
        pieces = [list(group) for _, group in itertools.groupby(texts[n], " ".__eq__)]
        for piece in pieces:
            if piece[0] == " " and surplus > 0:
                gone = min(surplus, len(piece) - 1)
                del piece[len(piece) - gone :]
                surplus -= gone
        texts[n] = "".join(itertools.chain.from_iterable(pieces))
    for n in reversed(changed):
        # Whatever is surplus came from these segments, so they hold at least as much.
        size = cell_len(texts[n])
        gone = min(surplus, size)
        texts[n] = set_cell_size(texts[n], size - gone)
        surplus -= gone


@lru_cache(1024)
def _inert(style: Style | None) -> Style | None:
    if style is None or not (style.link or style.meta):
        return style
    # Actions come by names that begin with "@"; those of Textual's own scroll bars do nothing but scroll.
    meta = {
        name: value
        for name, value in style.meta.items()
        if not str(name).startswith("@") or (isinstance(value, str) and value in _SCROLL_BAR_ACTIONS)
    }
    plain = style.clear_meta_and_links()
    return plain + Style(meta=meta) if meta else plain
