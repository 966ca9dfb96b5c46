"""What the playground was left with, in a file of the folder of states; and the tokenizers of the last
sessions."""

from __future__ import annotations

import contextlib
import json
import os

from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_regular
from tokentui.preset_table import PRESETS
from tokentui.session.persist.session_file import (
    LARGEST,
    absolute,
    keep_state,
    read,
    saved_sessions,
    state_dir,
)
from tokentui.session.playground import MOST_PLAYED, Playable, Played, PlayStart, preset_played
from tokentui.session.views import ColumnWanted

_NAME = "play.json"
_MOST_CHARS = 2_000_000
MOST_FILES = 12
"""The maximum number of tokenizer files of the last sessions that are listed."""


def read_left() -> PlayStart:
    """Return what the playground was left with: the first `MOST_PLAYED` entries that are tokenizers. Return
    an empty start if the file is absent, damaged or not readable, or its text is longer than
    `_MOST_CHARS`."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError, TokentuiError):
        left = json.loads(read_regular(str(state_dir() / _NAME), "file", LARGEST))
        text = left["text"]
        if isinstance(text, str) and len(text) <= _MOST_CHARS:
            tokenizers = [played for row in left["tokenizers"] if (played := _played_of_row(row)) is not None]
            return PlayStart(text, tuple(tokenizers[:MOST_PLAYED]), allow_special=bool(left["special"]))
    return PlayStart("")


def _played_of_row(row: dict[str, object]) -> Played | None:
    """Return a row of the file as a tokenizer; None if the preset is unknown, or a value has another type.

    Raises:
        KeyError: A field is missing.
    """
    if (preset := row.get("preset")) is not None:
        return preset_played(preset) if isinstance(preset, str) and preset in PRESETS else None
    path, split, encode, name = (row[key] for key in ("path", "split", "encode", "name"))
    if isinstance(path, str) and path and isinstance(split, str) and isinstance(encode, str):
        return Played(ColumnWanted(path=path, split=split, encode=encode, name=str(name)))
    return None


def keep_left(left: PlayStart) -> None:
    """Save what the playground is left with, for the next time; nothing if the folder cannot be written. A
    training is saved as its preset; one without a preset is left out."""
    rows = []
    for played in left.tokenizers:
        wanted = played.wanted
        if wanted.path:
            rows.append({
                "path": absolute(wanted.path), "split": wanted.split, "encode": wanted.encode,
                "name": wanted.name,
            })
        elif (preset := preset_of(played)) is not None:
            rows.append({"preset": preset})
    body = {"text": left.text or "", "special": left.allow_special, "tokenizers": rows}
    keep_state(_NAME, json.dumps(body, indent=1).encode("ascii"))


def preset_of(played: Played) -> str | None:
    """Return the name of the preset that has the recipe of a tokenizer: of several, the one that the
    tokenizer's name begins with, else the first. None if no preset has it, or the tokenizer is a file."""
    recipe = played.wanted.recipe
    named = [preset.name for preset in PRESETS.values() if preset.recipe == recipe]
    first = played.wanted.name.split(" ", 1)[0]
    return first if first in named else next(iter(named), None)


def tokenizer_files() -> tuple[str, ...]:
    """Return the tokenizer files of the playground and of the last sessions that exist, without doubles.

    At most MOST_FILES, the newest first; sessions that cannot be read are left out.
    """
    found = [played.wanted.path for played in read_left().tokenizers if played.wanted.path]
    for path in saved_sessions()[:MOST_FILES]:
        with contextlib.suppress(TokentuiError):
            kept = read(path)[0]
            found += [kept.tokenizer, *(column for column in kept.columns if isinstance(column, str))]
    return tuple([path for path in dict.fromkeys(filter(None, found)) if os.path.exists(path)][:MOST_FILES])


def playable() -> Playable:
    """Return the tokenizer files of `tokenizer_files`, the published encodings whose file is on this machine,
    and the others with the URLs of their files."""
    from tokentui.formats.published import OPENAI, located

    there, missing = list[str](), list[tuple[str, str]]()
    for name, file in OPENAI.items():
        try:
            located(name)
        except TokentuiError:
            missing.append((name, file.url))
        else:
            there.append(name)
    return Playable(tokenizer_files(), tuple(there), tuple(missing))
