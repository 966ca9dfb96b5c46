"""Which recordings a contributor renews."""

from __future__ import annotations

import os


def renews(name: str) -> bool:
    """Return whether `TOKENTUI_KEEP` names a recording."""
    parts = [part.strip() for part in os.environ.get("TOKENTUI_KEEP", "").split(",") if part.strip()]
    return any(part in ("1", "all") or part in name for part in parts)
