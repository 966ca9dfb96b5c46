"""The folder of the program's state, and the corpora that were opened last.

`TOKENTUI_HOME`, where it is set, is the folder for all of it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import platformdirs

from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_whole

MOST_RECENT = 20
"""The number of sources that are remembered."""

_MOST_BYTES = 1 << 20  # a longer file was not written here


def state_dir() -> Path:
    """The folder of what the program remembers by itself. It may not exist."""
    home = os.environ.get("TOKENTUI_HOME")
    return Path(home) if home else platformdirs.user_state_path("tokentui", appauthor=False)


def recent() -> tuple[str, ...]:
    """The sources that were opened last, newest first. Nothing where the file is absent, damaged or not
    readable."""
    try:
        with _recent_file().open("rb") as file:
            listed = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(listed, list):
        return ()
    return tuple(dict.fromkeys(one for one in listed if isinstance(one, str) and one))[:MOST_RECENT]


def remember(source: str) -> None:
    """Put a source at the front of the recent ones. A path is kept absolute; standard input is not kept.

    Where nothing can be written, such as in a home that is read-only, nothing is remembered and nothing is
    said.
    """
    if source in ("", "-"):
        return
    try:
        kept = source if source.startswith("sample:") else os.path.abspath(os.path.expanduser(source))
        listed = [kept, *(one for one in recent() if one != kept)][:MOST_RECENT]
        state_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(_recent_file(), json.dumps(listed, indent=1).encode("ascii"))
    except (OSError, ValueError, TokentuiError):
        return


def keep_account(text: str) -> Path | None:
    """Keep the account of a failure, in the place of an older one.

    Returns:
        Where it is; None where nothing can be written.
    """
    path = state_dir() / "crash.txt"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8", "replace"))
    except (OSError, ValueError, TokentuiError):
        return None
    return path


def _recent_file() -> Path:
    return state_dir() / "recent.json"
