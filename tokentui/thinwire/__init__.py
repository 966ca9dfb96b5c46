"""A terminal driver for Textual that sends only changed cells, and never more than the line takes.

Use `ThinWireApp` in place of `textual.app.App`. It draws what any app draws, with three to eight times fewer
bytes a key (`docs/thinwire.md` has the figures), and delivers keys that are typed ahead to the screen that
they are meant for. The other names are the parts it is made of:

- `ScreenBuffer`: the cells that the screen should show, filled from the lines that Textual draws.
- `DiffWriter`: the bytes that turn what the terminal shows into what the buffer holds.
- `LinkEstimator`: how many bytes are on their way to the terminal, and how long the next frame has to wait.
- `ThinWireDriver`: a `LinuxDriver` that writes the frames and reads any bytes as keys.
- `TypeAhead`: keys in one burst, each delivered after the one before it has been acted on.
- `SafeText` and `SafeTextFilter`: the functions that decide which text may reach the terminal; yours, if you
  have better ones than `RICH_TEXT`.

The package imports the standard library, Rich and Textual. All private parts of them that it uses are in
`private.py`.
"""

from tokentui.thinwire.app import CLIPBOARD_BYTES, ThinWireApp
from tokentui.thinwire.buffer import Row, ScreenBuffer
from tokentui.thinwire.diff import DiffWriter
from tokentui.thinwire.driver import ThinWireDriver
from tokentui.thinwire.link import LinkEstimator
from tokentui.thinwire.safe_text import RICH_TEXT, SafeText, SafeTextFilter
from tokentui.thinwire.styles import DEFAULT_STYLE, CellStyle
from tokentui.thinwire.type_ahead import TypeAhead
from tokentui.thinwire.widths import correct_widths

__all__ = [
    "CLIPBOARD_BYTES", "DEFAULT_STYLE", "RICH_TEXT", "CellStyle", "DiffWriter", "LinkEstimator", "Row",
    "SafeText", "SafeTextFilter", "ScreenBuffer", "ThinWireApp", "ThinWireDriver", "TypeAhead",
    "correct_widths",
]
