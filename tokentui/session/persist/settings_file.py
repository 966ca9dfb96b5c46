"""The settings of the user, in one TOML file."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_regular
from tokentui.core.toml import toml_value
from tokentui.session.persist.session_file import keep_state, state_dir

_NAME = "settings.toml"
_MOST_BYTES = 1 << 20  # a longer file was not written here
_MOST_ASIDE = 100
_MOST_SEARCHED = 1 << 16
_MOST_PARSED = 8
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KEEPING = threading.Lock()


def settings_path() -> Path:
    """Return the path of the settings file, which may not exist."""
    return state_dir() / _NAME


def read_settings() -> tuple[dict[str, object], str]:
    """Read the settings file.

    Returns:
        The settings by name, and the fault in the file, which is not safe for a terminal yet. The fault is
        empty if the file can be read or does not exist. An unreadable file has no settings.
    """
    _, found, wrong = _read()
    return found, wrong


def settings() -> dict[str, object]:
    """Return the settings by name; none if the file does not exist or cannot be read."""
    return read_settings()[0]


def keep_setting(name: str, value: bool | int | str) -> str:
    """Write a setting. Other settings and comments of the file stay.

    If the file is not TOML, it is renamed, and a new one is written.

    Args:
        name: Its name: letters, digits and `_`.
        value: Its value. Lone surrogates become question marks, because TOML cannot store them.

    Returns:
        A warning for the user, which is not safe for a terminal yet; empty if the setting was written.
    """
    with _KEEPING:
        text, found, wrong = _read()
        if text is None:
            return f"the setting was not saved: {wrong}"
        note = ""
        if wrong:
            aside = _set_aside()
            if aside is None:
                return f"the setting was not saved: {wrong}"
            text, found, note = "", {}, f"the broken settings file was kept as {aside}"
        line = f"{name} = {toml_value(value)}\n"
        if found.get(name) == value and type(found.get(name)) is type(value):
            return note
        changed = _with_line(text, name, line)
        try:
            whole = _parsed(changed) == {**found, name: _parsed(line)[name]}
        except (ValueError, RecursionError):
            whole = False
        if not whole:
            # The file sets it in a way that one line cannot replace, such as a string of several lines.
            return f"the setting was not saved: change {name} by hand in {settings_path()}"
        if keep_state(_NAME, changed.encode()) is None and not sandbox.sealed():
            return f"the setting was not saved: {settings_path()} cannot be written"
        return note


def line_in_file(table: str, name: str) -> int | None:
    """Return the number of the line of the settings file that sets a name of a table; None if the file cannot
    be read, or there is no such line. See `line_of`."""
    text, _, _ = _read()
    return line_of(text or "", table, name)


def line_of(text: str, table: str, name: str) -> int | None:
    """Return the number of the line that sets a name of a table, from 1. `tomllib` does not report lines.

    A line is the right one if the text without it parses to the same settings without the name, so no
    spelling of TOML is misread. Return None if there is no such line: the name shares its line with others,
    is a table, has a value of several lines or escapes, or the file is too long or not TOML.
    """
    if len(text) > _MOST_SEARCHED:
        return None
    lines = text.split("\n")
    key = re.compile(rf"""(?<![\w-])["']?{re.escape(name)}["']?[ \t]*[]=]""")
    candidates = [n for n, line in enumerate(lines) if key.search(line)]
    try:
        wanted = _without(_parsed(text), table, name)
    except (ValueError, RecursionError):
        return None
    for n in candidates[:_MOST_PARSED]:
        try:
            if _without(_parsed("\n".join([*lines[:n], *lines[n + 1 :]])), table) == wanted:
                return n + 1
        except (ValueError, RecursionError):
            continue
    return None


def _without(found: dict[str, object], table: str, name: str | None = None) -> dict[str, object]:
    """Return settings without a name of a table; unchanged if `name` is None.

    Raises:
        ValueError: The table does not have the name.
    """
    values = found.get(table, {})
    if not isinstance(values, dict) or (name is not None and name not in values):
        raise ValueError(f"no {name} in {table}")
    return {**found, table: {key: value for key, value in values.items() if key != name}}


def _read() -> tuple[str | None, dict[str, object], str]:
    """Return the text of the file, its settings, and the fault in it (empty if none). The text is None if the
    file cannot be read, and empty if it does not exist, is too large or not TOML."""
    path = settings_path()
    try:
        if not os.path.lexists(path):
            return "", {}, ""
        data = read_regular(str(path), "settings file", _MOST_BYTES + 1)
    except (OSError, ValueError, TokentuiError) as error:
        return None, {}, f"{path}: {error.what if isinstance(error, TokentuiError) else error}"
    if len(data) > _MOST_BYTES:
        return "", {}, f"{path}: too large for a settings file; the defaults are used"
    try:
        text = data.decode()
        return text, _parsed(text), ""
    except (ValueError, RecursionError) as error:
        return "", {}, f"{path}: not TOML ({' '.join(str(error).split())}); the defaults are used"


def _parsed(text: str) -> dict[str, object]:
    """Parse a text as TOML.

    Raises:
        ValueError: It is not TOML.
        RecursionError: It is nested too deep.
    """
    import tomllib  # not needed at start

    return tomllib.loads(text)


def _with_line(text: str, name: str, line: str) -> str:
    """Return the text with `line`, which must end with a line break, in place of the line that sets `name`.
    If no line before the first table sets it, `line` is inserted there."""
    own = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=.*(\n|\Z)", re.MULTILINE)
    table = _TABLE.search(text)
    end = table.start() if table is not None else len(text)
    if (found := own.search(text, 0, end)) is not None:
        return text[: found.start()] + line + text[found.end() :]
    gap = "\n" if end and text[end - 1] != "\n" else ""
    return text[:end] + gap + line + text[end:]


def _set_aside() -> Path | None:
    """Rename the settings file to `settings.broken-N.toml`, without replacing another file. Return its new
    path; None if that fails."""
    path = settings_path()
    for number in range(1, _MOST_ASIDE):
        aside = path.with_name(f"settings.broken-{number}.toml")
        if not os.path.lexists(aside):
            try:
                path.rename(aside)
            except OSError:
                return None
            return aside
    return None
