"""Errors of a session that screens show in their own way."""

from __future__ import annotations

from tokentui.core.errors import TokentuiError


class NothingOpen(TokentuiError):
    """A step is asked for while nothing is open."""

    def __init__(self) -> None:
        super().__init__("nothing is open: o opens a text or a tokenizer")


class Dropped(TokentuiError):
    """A queued command was dropped before it ran."""
