"""Read TOML files that users name, and write values as TOML, which the standard library only reads."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, nearest, shown_path
from tokentui.core.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".toml"
_MOST_BYTES = 1 << 20
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ERROR = re.compile(r"(.*) \(at line (\d+), column \d+\)")


class TomlText(NamedTuple):
    """The text of a TOML file.

    Attributes:
        text: The text.
        where: The name of the file in errors.
        folder: The folder that paths in it start from.
    """

    text: str
    where: str
    folder: str = ""


def toml_text(path: str, kind: str, large: tuple[str, str]) -> TomlText:
    """Return the text of a TOML file of at most 1 MiB.

    Args:
        path: The path of the file.
        kind: What the file is, as errors name it.
        large: The error of a larger file, and its hint.

    Raises:
        TokentuiError: The file cannot be read, is too large, or is not UTF-8.
    """
    data, where = read_regular(path, kind, _MOST_BYTES + 1), shown_path(path)
    if len(data) > _MOST_BYTES:
        raise TokentuiError(large[0], where, large[1])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, "save it as UTF-8") from None
    return TomlText(text, where, os.path.dirname(os.path.abspath(path)))


def shipped_or_named(name: str, kind: str, shipped: Collection[str], home: Path) -> TomlText:
    """Return the text of the TOML file that ships under a name, or that of a file of a user.

    Args:
        name: The name, or the path of a file.
        kind: What the file is, with its article, such as `a tour`.
        shipped: The names of those that ship.
        home: The folder of those that ship.

    Raises:
        TokentuiError: There is no such file, or it cannot be read.
    """
    if name in shipped:
        return TomlText((home / f"{name}{SUFFIX}").read_text(encoding="utf-8"), name)
    noun = kind.partition(" ")[2]
    if not (sandbox.holds(name) and os.path.lexists(name)):
        hint = f"{nearest(name, shipped)}; or name a file"
        raise TokentuiError(f"no such {noun}", shown_path(name), hint)
    return toml_text(name, noun, (f"too large for {kind}", f"{kind} has at most 1 MiB"))


def toml_table(text: str, where: str, hint: str, most: int | None = None) -> dict[str, Any]:
    """Return the table of a TOML text.

    Args:
        text: The text.
        where: The name of the file in errors.
        hint: The hint of an error.
        most: The most characters of the fault in an error; None for all.

    Raises:
        TokentuiError: The text is not TOML. The error names the line.
    """
    import tomllib  # slow to import

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = " ".join(str(error).split())
        found = _ERROR.fullmatch(message)
        at, what = (f"{where}:{found[2]}", found[1]) if found else (where, message)
        raise TokentuiError(f"not TOML: {what[:most]}", at, hint) from None


def toml_value(value: object) -> str:
    """Return a value as one line of TOML: a text, number, boolean, list, or a mapping as an inline table.

    Half a surrogate pair, which TOML cannot represent, becomes `?`.

    Raises:
        TypeError: TOML cannot represent the value, such as None.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        whole = value.encode("utf-8", "replace").decode()
        # A TOML basic string escapes as JSON does, and DEL too.
        return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, Mapping):
        pairs = [f"{toml_key(str(key))} = {toml_value(item)}" for key, item in value.items()]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    raise TypeError(f"no TOML for {type(value).__name__}")


def toml_key(key: str) -> str:
    """Return a key as TOML: bare if possible, else quoted."""
    return key if _BARE.fullmatch(key) else toml_value(key)
