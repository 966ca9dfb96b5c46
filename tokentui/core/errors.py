"""The errors that a user reads: one clear line that says what, where and what to do."""

from __future__ import annotations


class TokentuiError(Exception):
    """Something a user can mend: bad input, a missing file, a recipe that cannot be.

    Args:
        what: What is wrong, in a few words ("no such file").
        where: The thing it is wrong with: a path, an axis, a place in a file. May be empty.
        hint: What would do instead. May be empty.
    """

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where, hint)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """One line, `where: what (hint)`. Not yet safe for a terminal: see `tokentui.core.safetext`."""
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line} ({self.hint})" if self.hint else line


class Cancelled(TokentuiError):
    """A long call was asked to stop, by its `cancel` callable."""

    def __init__(self, what: str = "cancelled", where: str = "", hint: str = "") -> None:
        super().__init__(what, where, hint)
