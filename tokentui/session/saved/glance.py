"""A look at the sessions that costs a start next to nothing."""

from __future__ import annotations

import os

import platformdirs

_MARK = b'"ended": false\n}'
"""The last bytes of the file of a session that its user did not leave."""


def any_open() -> bool:
    """True if some saved session looks as if its user had not left it; `store.offered` reads it."""
    home = os.environ.get("TOKENTUI_HOME") or platformdirs.user_state_dir("tokentui", appauthor=False)
    try:
        with os.scandir(os.path.join(home, "sessions")) as listed:
            return any(_is_open(entry.path) for entry in listed if entry.name.endswith(".json"))
    except OSError:
        return False


def _is_open(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            file.seek(-len(_MARK), os.SEEK_END)
            return file.read() == _MARK
    except OSError:
        return False
