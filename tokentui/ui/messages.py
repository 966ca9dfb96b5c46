"""What is said between the session, the app and the main screen."""

from __future__ import annotations

from textual.message import Message

from tokentui.session.snapshot import Place, Snapshot


class Snapshotted(Message, bubble=False):
    """The session has a new snapshot. One that still waits gives way to a newer one."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters."""
        return isinstance(message, Snapshotted)


class TextWanted(Message):
    """The corpus pane needs other text: so many characters from a place on, and so many before it."""

    def __init__(self, place: Place, chars: int, before: int) -> None:
        super().__init__()
        self.place = place
        self.chars = chars
        self.before = before

    def can_replace(self, message: Message) -> bool:
        """A newer wish stands for an older one that still waits."""
        return isinstance(message, TextWanted)
