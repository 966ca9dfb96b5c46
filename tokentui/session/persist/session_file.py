"""Saved sessions: each in a file of its own that notices any damage, with the generation before it, held by
one process."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.files import lock, own_folder, read_regular, remove, write_whole
from tokentui.core.safetext import safe
from tokentui.recipe import Recipe, Run
from tokentui.text.named import SCHEME, named_in
from tokentui.text.remote import is_remote

VERSION = 1
_FORMAT = "tokentui session"
_HINT = "start again: tokentui CORPUS"

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A training that was stepped through: its recipe, its run, and the step where it stood."""

    recipe: Recipe
    run: Run = dataclasses.field(default_factory=Run)
    step: int = 0


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session.

    Attributes:
        sources: The sources of the corpus with absolute paths; empty for a typed text.
        as_: How they are read; None to decide by their names.
        field_: The field of JSON rows that has the text.
        sha256: The SHA-256 of the bytes that were read, in hex; empty if it is not known yet.
        scratch: The text that was typed as a corpus; None if sources were opened.
        tokenizer: The tokenizer file that was opened; empty if a recipe is trained.
        split: The split that was named for the tokenizer file.
        training: The recipe, the run and the step.
        branches: Other trainings on this corpus, the last one first.
        typed: The text of the encode pane.
        settings: The settings of the view by name, plain values.
        columns: The columns of Compare, recipes with their steps or paths; empty if it was not open.
        ended: True if it is not offered at the next start: it was declined, or holds no work.
    """

    sources: tuple[str, ...] = ()
    as_: str | None = None
    field_: str = "text"
    sha256: str = ""
    scratch: str | None = None
    tokenizer: str = ""
    split: str = ""
    training: Branch = Branch(Recipe())
    branches: tuple[Branch, ...] = ()
    typed: str = ""
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    columns: tuple[Branch | str, ...] = ()
    ended: bool = False

    @property
    def name(self) -> str:
        """A short name for the corpus, not yet sanitized for a terminal."""
        return "a typed text" if self.scratch is not None else " ".join(self.sources)


def absolute(source: str) -> str:
    """Return a source that can be opened from any folder: a path is made absolute, and so are the paths in a
    source of named corpora. Standard input, samples and URLs stay as they are."""
    if source == "-" or source.startswith("sample:") or is_remote(source):
        return source
    if source.startswith(SCHEME):
        with contextlib.suppress(TokentuiError):  # as it was named where it is none
            if (corpora := named_in(source)) is not None:
                return corpora.by(absolute).text
        return source
    return os.path.abspath(sandbox.expanded(source))


def dumps(kept: SavedSession) -> bytes:
    """Return a session as the bytes of a file: a line with the format, the version and a checksum, then
    JSON."""
    body = {name: _as_json(getattr(kept, field)) for field, name in _NAMES.items()}
    data = json.dumps(body, indent=1, allow_nan=False).encode("ascii")
    return _head(VERSION, hashlib.sha256(data).hexdigest()) + data


def loads(data: bytes, where: str) -> SavedSession:
    """Return the session of a file.

    Args:
        data: The bytes of the file.
        where: The name of the file, for errors.

    Raises:
        TokentuiError: It is no session, damaged, or of a newer version.
    """
    head, _, data = data.partition(b"\n")
    try:
        header = json.loads(head)
        version = header["version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise TokentuiError("not a tokentui session", where, _HINT) from None
    if type(version) is int and version > VERSION:
        what = f"a session from a newer tokentui (version {version}); this one reads {VERSION}"
        raise TokentuiError(what, where, "update tokentui")
    # Word for word: a bit that has turned in the first line is noticed as well.
    if head + b"\n" != _head(VERSION, hashlib.sha256(data).hexdigest()):
        raise TokentuiError("a damaged session: its checksum does not match", where, _HINT)
    try:
        body = json.loads(data)
        return _session_of(body)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TokentuiError("a session that this version cannot read", where, _HINT) from None


def _head(version: int, checksum: str) -> bytes:
    return json.dumps({"format": _FORMAT, "version": version, "sha256": checksum}).encode("ascii") + b"\n"


_NAMES = {field.name: field.name.rstrip("_") for field in dataclasses.fields(SavedSession)}
"""The fields of a session, and their names in its file."""


def _as_json(value: object) -> object:
    """Return a value of a session as JSON can store it: a `Branch` as a dict, a tuple as a list."""
    if isinstance(value, Branch):
        recipe = value.recipe.to_dict() | value.recipe.shape
        return {"recipe": recipe, "run": value.run.words, "step": value.step}
    return list(map(_as_json, value)) if isinstance(value, tuple) else value


def _session_of(body: Any) -> SavedSession:
    """Return the session of a JSON object.

    Raises:
        TypeError, KeyError, ValueError: A field is missing or has another type.
    """
    return SavedSession(
        sources=_each(_text, body["sources"]), as_=_text_or_none(body["as"]), field_=_text(body["field"]),
        sha256=_text(body["sha256"]), scratch=_text_or_none(body["scratch"]),
        tokenizer=_text(body["tokenizer"]), split=_text(body["split"]), training=_branch(body["training"]),
        branches=_each(_branch, body["branches"]), typed=_text(body["typed"]),
        settings={
            name: _checked_type(setting, *_PLAIN)
            for name, setting in _checked_type(body["settings"], dict).items()
        },
        columns=_each(lambda column: column if isinstance(column, str) else _branch(column), body["columns"]),
        ended=_checked_type(body["ended"], bool),
    )


_Read = TypeVar("_Read")
_PLAIN = (str, int, float, bool, type(None))
"""The types of a setting."""


def _checked_type(value: object, *kinds: type) -> Any:
    """Return a value that has exactly one of these types (True is no int).

    Raises:
        TypeError: It has another.
    """
    if type(value) not in kinds:
        raise TypeError(type(value))
    return value


def _text(value: object) -> str:
    return str(_checked_type(value, str))


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _each(read_one: Callable[[object], _Read], value: object) -> tuple[_Read, ...]:
    return tuple(map(read_one, _checked_type(value, list)))


def _branch(value: Any) -> Branch:
    recipe, run, step = value["recipe"], value["run"], _checked_type(value["step"], int)
    return Branch(Recipe.from_dict(recipe, "session"), Run.of(_checked_type(run, dict)), step)


MOST_SESSIONS = 20
"""The maximum number of sessions to keep; older ones are deleted."""
LARGEST = 16 << 20
"""A larger file was not written here."""


class Keeper:
    """Saves one session, as long as no other process does.

    Args:
        kept: The session; what it is about says which file is its own.
        folder: Where sessions are; the user's folder of states if None.

    Raises:
        TokentuiError: Another process has it, or there is no place to write.
    """

    def __init__(self, kept: SavedSession, folder: Path | None = None) -> None:
        self.path = _path_of(kept, folder or _folder())
        self._written = b""
        self._lock = _hold(self.path)

    def save(self, kept: SavedSession) -> bool:
        """Write the session atomically and keep the previous generation in a second file. Does nothing if it
        is the same as what was written last.

        Returns:
            Whether the file was written.

        Raises:
            TokentuiError: The file cannot be written.
        """
        data = dumps(kept)
        if data == self._written:
            return False
        if self.path.exists():
            _keep_before(self.path)
        write_whole(self.path, data)
        self._written = data
        return True

    def close(self) -> None:
        """Release the lock on the session, so that other processes can save it. May be called twice."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def read(path: Path) -> tuple[SavedSession, str]:
    """Read a session, or the generation before it if the file is damaged.

    Returns:
        The session, and a note for the user: empty, or that the generation before it is used and why.

    Raises:
        TokentuiError: Neither can be read; the error is that of the newer one.
    """
    try:
        return _read(path), ""
    except TokentuiError as error:
        with contextlib.suppress(TokentuiError):
            return _read(_before(path)), f"{error.what}; the session saved before it is used"
        raise error from None


def offered(folder: Path | None = None) -> tuple[SavedSession, str] | None:
    """Return the newest session that has not ended and that no process has locked, as `read` gives it; None
    if there is none. Sessions that cannot be read are skipped. The lock is not kept."""
    for path in saved_sessions(folder):
        with contextlib.suppress(TokentuiError):
            kept, note = read(path)
            if not kept.ended:
                os.close(_hold(path))
                return kept, note
    return None


def tidy(folder: Path | None = None) -> None:
    """Remove the oldest sessions above `MOST_SESSIONS`, with the generation before and the lock file of each.
    Sessions that a process has locked stay."""
    for path in saved_sessions(folder)[MOST_SESSIONS:]:
        with contextlib.suppress(TokentuiError):
            held = _hold(path)
            for old in (path, _before(path), path.with_suffix(".lock")):
                remove(str(old))
            os.close(held)


def _folder() -> Path:
    return state_dir() / "sessions"


def _path_of(kept: SavedSession, folder: Path) -> Path:
    """Return the path of the file for a session. Its name is a hash of what the corpus was read from, so all
    typed texts share one file."""
    about = "\0".join(
        ["scratch"] if kept.scratch is not None else [*kept.sources, kept.as_ or "", kept.field_]
    )
    return folder / (hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:16] + ".json")


def _before(path: Path) -> Path:
    return path.with_suffix(".before")


def saved_sessions(folder: Path | None = None) -> list[Path]:
    """Return the session files of a folder, the last modified first; none if the folder cannot be listed.
    Their content is not checked.

    Args:
        folder: The folder; the user's folder of states if None.
    """
    folder = folder or _folder()
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for path in folder.glob("*.json"):
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]


def _hold(path: Path) -> int:
    """Lock a session, and write the number of this process into the lock file. Return the descriptor of the
    lock, which is released when it is closed or the process ends.

    Raises:
        TokentuiError: Another process has the session, which the message names, or no lock can be made.
    """
    where = path.with_suffix(".lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(where, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        what = f"the session is not saved: {error.strerror}"
        raise TokentuiError(what, str(path.parent), "set TOKENTUI_HOME to a folder") from None
    if not lock(descriptor, wait=False):
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        what = f"changes are not saved: another tokentui (process {holder or '?'}) has this corpus open"
        raise TokentuiError(what, "", "close one of them")
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return descriptor


def _keep_before(path: Path) -> None:
    """Keep a file as the generation before: a second name for it, so that the first name always exists.
    Errors are ignored."""
    with contextlib.suppress(OSError):
        second = path.with_suffix(".next")
        remove(str(second))
        os.link(path, second)
        os.replace(second, _before(path))


def _read(path: Path) -> SavedSession:
    data = read_regular(str(path), "session", LARGEST + 1)
    if len(data) > LARGEST:
        raise TokentuiError("too large for a session", str(path), _HINT)
    return loads(data, str(path))


# The folder of the program's state, and the corpora that were opened last.


MOST_RECENT = 20
"""The number of sources that are remembered."""

_MOST_BYTES = 1 << 20  # a longer file was not written here


def state_dir() -> Path:
    """Return the folder of the files that the program keeps. It may not exist. In a process that serves a
    visitor it is the null device, where nothing can be stored or read."""
    if sandbox.sealed():
        return Path(os.devnull)
    home = os.environ.get("TOKENTUI_HOME")
    return Path(home) if home else own_folder("state")


def recent() -> tuple[str, ...]:
    """Return the sources that were opened last, newest first; none if the file is absent, damaged or not
    readable."""
    try:
        with (state_dir() / "recent.json").open("rb") as file:
            listed = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(listed, list):
        return ()
    sources = dict.fromkeys(source for source in listed if isinstance(source, str) and source)
    return tuple(sources)[:MOST_RECENT]


def remember(source: str) -> None:
    """Put a source at the front of the recent ones. A path is kept absolute; standard input and an empty
    source are not kept.

    If the file cannot be written, such as in a read-only home, nothing is kept, without an error.
    """
    if source in ("", "-"):
        return
    try:
        kept = absolute(source)
    except (OSError, ValueError):  # the folder that it is named from has gone
        return
    listed = [kept, *(source for source in recent() if source != kept)][:MOST_RECENT]
    keep_state("recent.json", json.dumps(listed, indent=1).encode("ascii"))


def keep_account(error: BaseException) -> Path | None:
    """Write the traceback of a failure to `crash.txt`, replacing an older one. It is made safe for a
    terminal.

    Returns:
        The path; None if it cannot be written.
    """
    import traceback  # rarely needed

    account = "".join(traceback.format_exception(error))
    text = "\n".join(safe(line) for line in account.splitlines()) + "\n"
    return keep_state("crash.txt", text.encode("utf-8", "replace"))


def keep_state(name: str, data: bytes) -> Path | None:
    """Write a file in the folder of states atomically, and create the folder if it is missing. Return the
    path; None if it cannot be written."""
    path = state_dir() / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, data)
    except (OSError, ValueError, TokentuiError):
        return None
    return path
