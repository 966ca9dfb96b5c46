"""A text that is encoded by chance, as a session answers it, and the behaviours that there are."""

from __future__ import annotations

from tokentui.encode.sampling import Drawn as Drawn
from tokentui.encode.sampling import DrawnWord as DrawnWord
from tokentui.encode.segment.dropout import LIKE as LIKE
