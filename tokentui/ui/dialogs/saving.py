"""Asks for the name of a file, and writes it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, shown_path
from tokentui.core.files import write_whole
from tokentui.core.safetext import safe
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.link import EngineScreen


def ask_file(
    screen: EngineScreen[Any], heading: str, suffix: str, what: str, data: Callable[[str], bytes],
    then: str = "",
) -> None:
    """Ask for the name of a new file, and write it; a served session sends it to the browser instead.

    An empty line stands for a name that is free. A name that exists is refused. A message shows the path, or
    the error of writing.

    Args:
        screen: The screen below the dialog.
        heading: The title of the dialog.
        suffix: The suffix of the file, which is added to a name without it.
        what: What is written, in a few words.
        data: Returns the content for a path.
        then: What the message adds after the path.
    """
    app = screen.app

    def path_of(line: str) -> str:
        path = os.path.basename(line.strip()) if sandbox.sealed() else os.path.abspath(
            os.path.expanduser(line.strip()))
        return path if path.endswith(suffix) else path + suffix

    names = itertools.chain([f"tokentui{suffix}"], (f"tokentui-{n}{suffix}" for n in itertools.count(2)))
    free = next(name for name in names if sandbox.sealed() or not os.path.lexists(name))

    def describe(line: str) -> str:
        if not line.strip():
            return f"the name of a file; enter alone writes {free}"
        path = path_of(line)
        if not sandbox.sealed() and os.path.lexists(path):
            raise TokentuiError("the file exists already", os.path.basename(path), "name another")
        return f"writes {what} to {safe(os.path.basename(path), limit=40)}"

    def write(line: str) -> None:
        from tokentui.ui.delivery import deliver

        path = path_of(line)
        if sandbox.sealed():
            deliver(app, path, data(path))
            return
        try:
            write_whole(path, data(path))
        except TokentuiError as error:
            app.tell(error)
            return
        app.say(f"written: {shown_path(path)}{then}")

    app.push_screen(AskLine(screen.engine, heading, describe, write, free))
