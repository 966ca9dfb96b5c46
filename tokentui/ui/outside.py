"""The editor of the user, in the terminal of the program."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from textual.app import App, SuspendNotSupported

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes


def edited(app: App[None], text: str) -> str:
    """Return a text after the user has edited it with the program that VISUAL or EDITOR names; the app is
    suspended meanwhile.

    Raises:
        TokentuiError: No program is named or can be run, it fails, there is no terminal for it, or the
            session is served.
    """
    if sandbox.sealed():
        raise TokentuiError("a visitor has no editor", "$EDITOR", "type into the text")
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise TokentuiError("no editor is named", "$EDITOR", "set it, for example: export EDITOR=nano")
    with tempfile.TemporaryDirectory(prefix="tokentui-") as folder:
        path = os.path.join(folder, "prompt.txt")
        with open(path, "wb") as file:
            file.write(to_bytes(text))
        code: int | str
        try:
            with app.suspend():
                # Textual takes the terminal again only where nothing is raised here.
                code = _run(command, path)
        except SuspendNotSupported:
            raise TokentuiError("there is no terminal for an editor", command) from None
        if isinstance(code, str):
            raise TokentuiError(f"it cannot be run: {code}", command, "set EDITOR to a program")
        if code:
            raise TokentuiError(f"it ended with code {code}", command, "the text stays as it was")
        with open(path, "rb") as file:
            found = file.read().decode("utf-8", "surrogateescape")
    # Most editors end a file with a line feed.
    return found if text.endswith("\n") else found.removesuffix("\n")


def _run(command: str, path: str) -> int | str:
    """Run a program with a file. Return its exit code, or why it cannot be run."""
    try:
        return subprocess.run([*shlex.split(command), path], check=False).returncode
    except (OSError, ValueError) as error:
        return str(error)
