"""The settings of the user that outlive a session: plain values in one TOML file."""

from __future__ import annotations

import json

from tokentui.session.saved import keep_state, state_dir

_NAME = "settings.toml"
_MOST_BYTES = 1 << 20  # a longer file was not written here


def settings() -> dict[str, object]:
    """The settings by name. Nothing where the file is absent, damaged or not readable."""
    import tomllib  # only what asks for settings needs it

    try:
        with (state_dir() / _NAME).open("rb") as file:
            return tomllib.loads(file.read(_MOST_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return {}


def keep_setting(name: str, value: bool | int | str) -> None:
    """Keep a setting; the others stay. Where nothing can be written nothing is kept, without a word."""
    kept = {**settings(), name: value}
    if settings().get(name) != value:
        lines = [f"{one} = {json.dumps(held)}\n" for one, held in kept.items()]
        keep_state(_NAME, "".join(lines).encode())
