"""Write a file in several parts. It appears under its name only when it is complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from tokentui.core import sandbox
from tokentui.core.files import flush_folder, mode_of, remove_leftovers, temporary, write_errors


@contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name. It is renamed once complete, and removed on failure.

    A symlink's target is written, and an existing file keeps its permissions. A pipe or a terminal is written
    to directly.

    Raises:
        TokentuiError: The file cannot be written. The message has the reason.
    """
    sandbox.check_writing(path)
    with write_errors(path, "the file is as it was; name another place"):
        target = os.path.realpath(path)
        mode = mode_of(path)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as file:
                yield file
            return
        remove_leftovers(target)
        with temporary(target, b"", mode) as name:
            with open(name, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        flush_folder(os.path.dirname(target))
