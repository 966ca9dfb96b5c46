"""Errors of a session that screens show in their own way."""

from __future__ import annotations

from tokentui.core.errors import Cancelled, TokentuiError


class NothingOpen(TokentuiError):
    """A step is asked for while nothing is open."""

    def __init__(self) -> None:
        super().__init__("nothing is open: o opens a text or a tokenizer")


class Replaced(Cancelled):
    """A newer recipe or typed text took the place of the one that was being opened; nobody has to know."""


class Dropped(TokentuiError):
    """A queued command was dropped before it ran."""
