"""A session as a value, and as the bytes of a file that notices any damage."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run

VERSION = 1
_FORMAT = "tokentui session"
_HINT = "begin anew: tokentui CORPUS"

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A training that was stepped through: its recipe, its run, and the step where it stood."""

    recipe: Recipe
    run: Run = dataclasses.field(default_factory=Run)
    step: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """A session.

    Attributes:
        sources: The corpora as they were named, paths made absolute; empty for a text that was typed.
        as_: How they are read, None to tell by their names; `field_` of JSON rows.
        sha256: Of the bytes that were read, in hex; empty where it is not known yet.
        scratch: The text that was typed as a corpus, None where one was opened.
        tokenizer: The tokenizer file that was opened, empty where a recipe is trained; `split` what was named with it.
        training: What is trained, and where it stands.
        branches: Others that were trained on this corpus, the last one first.
        typed: What stands in the encode pane.
        settings: How it is looked at: names of the screen's own, and plain values.
        columns: What stood side by side when Compare was open: recipes with their steps, or paths; empty where it was not.
        ended: Whether the user left it, rather than the line.
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
    """A source as it can be opened from any folder."""
    if source == "-" or source.startswith("sample:"):
        return source
    return os.path.abspath(os.path.expanduser(source))


def dumps(kept: Kept) -> bytes:
    """The file of a session: a line that says what follows, and its checksum; then the session."""
    body = {
        "sources": list(kept.sources), "as": kept.as_, "field": kept.field_, "sha256": kept.sha256, "scratch": kept.scratch,
        "tokenizer": kept.tokenizer, "split": kept.split, "training": _branch(kept.training),
        "branches": [_branch(one) for one in kept.branches], "typed": kept.typed, "settings": dict(kept.settings),
        "columns": [one if isinstance(one, str) else _branch(one) for one in kept.columns], "ended": kept.ended,
    }
    data = json.dumps(body, indent=1, allow_nan=False).encode("ascii")
    return _head(VERSION, hashlib.sha256(data).hexdigest()) + data


def loads(data: bytes, where: str) -> Kept:
    """The session of a file.

    Args:
        data: What the file holds.
        where: What it is called in errors.

    Raises:
        TokentuiError: It is damaged, or of a newer version.
    """
    head, _, data = data.partition(b"\n")
    try:
        said = json.loads(head)
        version, checksum = said["version"], said["sha256"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise TokentuiError("not a session of tokentui", where, _HINT) from None
    if type(version) is int and version > VERSION:
        what = f"a session of a newer tokentui (version {version}); this one reads {VERSION}"
        raise TokentuiError(what, where, "update tokentui")
    # Word for word: a bit that has turned in the first line is noticed as well.
    if head + b"\n" != _head(VERSION, hashlib.sha256(data).hexdigest()) or checksum != hashlib.sha256(data).hexdigest():
        raise TokentuiError("a damaged session: it is not what was written", where, _HINT)
    try:
        return _kept(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TokentuiError("a session that this version does not understand", where, _HINT) from None


def _head(version: int, checksum: str) -> bytes:
    return json.dumps({"format": _FORMAT, "version": version, "sha256": checksum}).encode("ascii") + b"\n"


def _branch(branch: Branch) -> dict[str, Any]:
    return {"recipe": branch.recipe.to_dict() | branch.recipe.shape, "run": branch.run.words, "step": branch.step}


def _read_branch(value: Any) -> Branch:
    return Branch(Recipe.from_dict(value["recipe"], "session"), Run.of(value["run"]), int(value["step"]))


def _kept(body: Any) -> Kept:
    return Kept(
        sources=tuple(map(str, body["sources"])), as_=body["as"], field_=body["field"], sha256=body["sha256"],
        scratch=body["scratch"], tokenizer=body["tokenizer"], split=body["split"], training=_read_branch(body["training"]),
        branches=tuple(map(_read_branch, body["branches"])), typed=body["typed"], settings=dict(body["settings"]),
        columns=tuple(one if isinstance(one, str) else _read_branch(one) for one in body["columns"]), ended=bool(body["ended"]),
    )
