"""Several named corpora as one source, for example one per language, and how a user writes it.

It is written `corpora:en=PATH,hi=PATH`, optionally followed by `shares=equal` and `development.en=PATH`. In a
name or path, a comma, an equals sign and a percent sign are `%2C`, `%3D` and `%25`. All code that takes a
corpus accepts it: commands, the library, dialogs, saved sessions. `sample:parallel` means the parallel set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tokentui.core.errors import TokentuiError, nearest, shown
from tokentui.text.remote import base_name, is_url
from tokentui.text.sources import parallel

SCHEME = "corpora:"
PARALLEL = "sample:parallel"
"""The name of the parallel set: its languages as named corpora, by ISO 639 code."""
SHARES = {
    "count": "a language weighs as much as it has text",
    "equal": "all languages weigh alike: words count so many times that their bytes come out equal",
}
"""How named corpora may share, each with a description."""
_DEVELOPMENT = "development."
_ALLOWED = re.compile(r"[^\W_][\w-]{0,39}")
_ESCAPES = {"%": "%25", ",": "%2C", "=": "%3D"}
_ESCAPED = re.compile("%(25|2[Cc]|3[Dd])")


class Corpora(NamedTuple):
    """Named corpora, before they are read.

    Attributes:
        sources: The name of each corpus and its source.
        shares: One of `SHARES`.
        development: The same for texts for evaluation only.
    """

    sources: tuple[tuple[str, str], ...]
    shares: str = "count"
    development: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The corpora as a user writes them."""
        rows = [*self.sources, *((_DEVELOPMENT + name, source) for name, source in self.development)]
        rows += [("shares", self.shares)] if self.shares != "count" else []
        return SCHEME + ",".join(f"{_escaped(name)}={_escaped(source)}" for name, source in rows)

    def by(self, change: Callable[[str], str]) -> Corpora:
        """Return these corpora with a function applied to each source."""
        sources, development = (
            tuple((name, change(source)) for name, source in rows)
            for rows in (self.sources, self.development)
        )
        return self._replace(sources=sources, development=development)

    def checked(self) -> Corpora:
        """Check these corpora, and return them unchanged.

        Raises:
            TokentuiError: A name, a share or a development text is invalid.
        """
        if not self.sources:
            raise TokentuiError("no corpus is named", "corpus", "for example --corpus en=english.txt")
        if self.shares not in SHARES:
            what = f"no shares called {shown(self.shares)}"
            raise TokentuiError(what, "shares", nearest(self.shares, SHARES))
        for rows, where in ((self.sources, "corpus"), (self.development, "development")):
            seen: set[str] = set()
            for name, source in rows:
                if not _ALLOWED.fullmatch(name) or name == "shares":
                    hint = "use letters, digits, - and _, at most 40"
                    raise TokentuiError("not a valid corpus name", f"{where} {shown(name)}", hint)
                if name in seen:
                    hint = "give them unlike names"
                    raise TokentuiError("two corpora have this name", f"{where} {name}", hint)
                if not source or source == PARALLEL or source.startswith(SCHEME):
                    what = "is itself a set of named corpora" if source else "no file is named"
                    raise TokentuiError(what, f"{where} {name}={source}", "name a file or a folder")
                seen.add(name)
        known = [name for name, _ in self.sources]
        for name, _ in self.development:
            if name not in known:
                raise TokentuiError("there is no corpus of this name", f"development {name}", nearest(name,
                    known))
        return self


def named_in(source: object) -> Corpora | None:
    """Return the named corpora that a source lists, or None for any other source.

    Raises:
        TokentuiError: It begins with `corpora:` but is invalid.
    """
    if source == PARALLEL:
        return Corpora(tuple((sample.language, f"sample:{sample.name}") for sample in parallel()))
    if not isinstance(source, str) or not source.startswith(SCHEME):
        return None
    rows, development, shares = [], [], "count"
    for row in filter(None, source.removeprefix(SCHEME).split(",")):
        name, equals, path = map(_plain, row.partition("="))
        if not equals:
            hint = "for example corpora:en=a.txt,hi=b.txt"
            raise TokentuiError("not NAME=SOURCE", f"{SCHEME}{shown(row)}", hint)
        if name == "shares":
            shares = path
        elif name.startswith(_DEVELOPMENT):
            development.append((name.removeprefix(_DEVELOPMENT), path))
        else:
            rows.append((name, path))
    return Corpora(tuple(rows), shares, tuple(development)).checked()


def named_row(word: str, option: str) -> tuple[str, str]:
    """Split `NAME=SOURCE` at the first equals sign. Neither part is checked; either may be empty.

    Raises:
        TokentuiError: There is no equals sign. The message names the option.
    """
    name, equals, source = word.partition("=")
    if not equals:
        hint = f"for example {option} en=english.txt"
        raise TokentuiError("expected a name and a file", f"{option} {word}", hint)
    return name, source


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def sources_in(source: object) -> list[object]:
    """Return a flat list of the sources that are read.

    Lists, mappings and named corpora are replaced by the sources in them, development texts included.
    """
    if isinstance(source, Mapping):
        return [nested for value in source.values() for nested in sources_in(value)]
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return [nested for value in source for nested in sources_in(value)]
    corpora = named_in(source)
    return [source] if corpora is None else [path for _, path in (*corpora.sources, *corpora.development)]


def short_name(source: str) -> str:
    """Return a short name of a source: the names of named corpora joined by " + ", without development texts
    and the rule of shares; otherwise the last part of a path or URL, or the source itself if that is empty.
    """
    if source.startswith(SCHEME):
        rows = [row.partition("=")[0] for row in source.removeprefix(SCHEME).split(",")]
        return " + ".join(_plain(name) for name in rows if name != "shares" and _DEVELOPMENT not in name)
    if is_url(source):
        return base_name(source)
    return os.path.basename(source.rstrip(os.sep)) or source
