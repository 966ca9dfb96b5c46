"""Write values as TOML. The standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")


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
