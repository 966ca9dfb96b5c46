"""Which errors of the package a run of the tests makes: places in the code, for docs/scripts/errors.py."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import tokentui

ROOT = Path(tokentui.__path__[0]).resolve()


def write_down(kind: type, path: Path) -> None:
    """Add a line for each place of the package that makes a value of a class, the first time it does.

    Args:
        kind: The class.
        path: The file; several processes may write to it.
    """
    made: Any = kind.__new__
    seen: set[tuple[str, int]] = set()
    lines = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def noted(of: type, *args: Any, **named: Any) -> object:
        frame = sys._getframe(1)
        for _ in range(4):  # a function may make the error for its caller
            file = Path(frame.f_code.co_filename)
            place = (str(file), frame.f_lineno)
            if place not in seen and file.is_relative_to(ROOT):
                seen.add(place)
                os.write(lines, (json.dumps([str(file.relative_to(ROOT)), frame.f_lineno]) + "\n").encode())
            if frame.f_back is None:
                break
            frame = frame.f_back
        return made(of, *args, **named)

    kind.__new__ = noted  # type: ignore[method-assign, assignment]
