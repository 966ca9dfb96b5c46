"""Files for a user whose disk is elsewhere: they are handed to the browser."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Sequence
from typing import Any

from textual.app import App


def deliver(app: App[Any], name: str, data: bytes) -> None:
    """Send a file to the browser.

    Args:
        app: The app.
        name: The name of the file; folders in it are dropped.
        data: Its content.
    """
    app.deliver_binary(io.BytesIO(data), save_directory=".", save_filename=os.path.basename(name) or "file")


def archive(names: Sequence[str], files: Sequence[bytes]) -> bytes:
    """Return files as one zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in zip(names, files, strict=True):
            archive.writestr(name, data)
    return made.getvalue()
