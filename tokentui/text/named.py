"""Several named corpora as one, such as those of languages: how they are named in a word, and how they are
put together.

The word is `corpora:en=PATH,hi=PATH`, with `shares=equal` and `development.en=PATH` behind it where they are
named; in a name or a path a comma, an equals sign and a percent sign are `%2C`, `%3D` and `%25`. All that
takes a corpus takes it: a command, the library, a dialog, a saved session. `sample:parallel` stands for the
parallel set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from tokentui.core.errors import TokentuiError, name_of, nearest, shown
from tokentui.text.corpus import Corpus, Documents, Named
from tokentui.text.sources import parallel

SCHEME = "corpora:"
PARALLEL = "sample:parallel"
"""The word for the parallel set, each language under its ISO 639 code."""
SHARES = {
    "count": "a language weighs as much as it has text",
    "equal": "all languages weigh alike: words count so many times that their bytes come out equal",
}
"""The shares of named corpora, by their names."""
_DEVELOPMENT = "development."
_ALLOWED = re.compile(r"[^\W_][\w-]{0,39}")
_ESCAPES = {"%": "%25", ",": "%2C", "=": "%3D"}
_ESCAPED = re.compile("%(25|2[Cc]|3[Dd])")
_FINE, _NEAR = 100, 200
"""Words count at most about so many times in the largest corpus, and shares may differ by one part in so many
where fewer times do."""


class Corpora(NamedTuple):
    """Named corpora, before they are read.

    Attributes:
        sources: The name of each and what it is read from.
        shares: One of `SHARES`.
        development: The same for texts that only judge the training.
    """

    sources: tuple[tuple[str, str], ...]
    shares: str = "count"
    development: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """They in a word."""
        rows = [*self.sources, *((_DEVELOPMENT + name, source) for name, source in self.development)]
        rows += [("shares", self.shares)] if self.shares != "count" else []
        return SCHEME + ",".join(f"{_escaped(name)}={_escaped(source)}" for name, source in rows)

    def by(self, change: Callable[[str], str]) -> Corpora:
        """The same with each source changed."""
        sources, development = (
            tuple((name, change(source)) for name, source in rows)
            for rows in (self.sources, self.development)
        )
        return self._replace(sources=sources, development=development)

    def checked(self) -> Corpora:
        """These, where they make sense.

        Raises:
            TokentuiError: They do not.
        """
        if not self.sources:
            raise TokentuiError("no corpus is named", "corpus", "such as --corpus en=english.txt")
        if self.shares not in SHARES:
            what = f"no shares called {shown(self.shares)}"
            raise TokentuiError(what, "shares", nearest(self.shares, SHARES))
        for rows, where in ((self.sources, "corpus"), (self.development, "development")):
            seen: set[str] = set()
            for name, source in rows:
                if not _ALLOWED.fullmatch(name) or name == "shares":
                    hint = "take letters, digits, - and _, at most 40"
                    raise TokentuiError("not a name of a corpus", f"{where} {shown(name)}", hint)
                if name in seen:
                    hint = "give them unlike names"
                    raise TokentuiError("two corpora have this name", f"{where} {name}", hint)
                if not source or source == PARALLEL or source.startswith(SCHEME):
                    what = "is named corpora itself" if source else "no file is named"
                    raise TokentuiError(what, f"{where} {name}={source}", "name a file or a folder")
                seen.add(name)
        known = [name for name, _ in self.sources]
        for name, _ in self.development:
            if name not in known:
                raise TokentuiError("no corpus has this name", f"development {name}", nearest(name, known))
        return self


def named_in(source: object) -> Corpora | None:
    """The named corpora that a source stands for; None for any other source.

    Raises:
        TokentuiError: It begins as one and is none.
    """
    if source == PARALLEL:
        return Corpora(tuple((one.language, f"sample:{one.name}") for one in parallel()))
    if not isinstance(source, str) or not source.startswith(SCHEME):
        return None
    rows, development, shares = [], [], "count"
    for row in filter(None, source.removeprefix(SCHEME).split(",")):
        name, equals, path = map(_plain, row.partition("="))
        if not equals:
            hint = "such as corpora:en=a.txt,hi=b.txt"
            raise TokentuiError("not a name and a source", f"{SCHEME}{shown(row)}", hint)
        if name == "shares":
            shares = path
        elif name.startswith(_DEVELOPMENT):
            development.append((name.removeprefix(_DEVELOPMENT), path))
        else:
            rows.append((name, path))
    return Corpora(tuple(rows), shares, tuple(development)).checked()


def named_row(word: str, option: str) -> tuple[str, str]:
    """The name and the source of `NAME=SOURCE`.

    Raises:
        TokentuiError: It has no name.
    """
    name, equals, source = word.partition("=")
    if not equals:
        hint = f"such as {option} en=english.txt"
        raise TokentuiError("a name and a file belong here", f"{option} {word}", hint)
    return name, source


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(one, one) for one in text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def times_of(sizes: Sequence[int], shares: str) -> tuple[int, ...]:
    """How often the words of each of some corpora count, by their sizes in bytes.

    By `equal` a corpus of s bytes counts the whole number of times that is nearest to K times the largest
    size over s. K is the least number up to 100 by which no share is off by more than one part in 200; 100
    where there is none. All counts stay whole numbers.
    """
    most = max(sizes, default=0)
    if shares == "count" or not most:
        return (1,) * len(sizes)

    def by(fine: int) -> list[int]:
        return [(2 * fine * most + size) // (2 * size) if size else 1 for size in sizes]

    for fine in range(1, _FINE):
        times = by(fine)
        off = (abs(n * size - fine * most) for n, size in zip(times, sizes, strict=True) if size)
        if max(off) * _NEAR <= fine * most:
            return tuple(times)
    return tuple(by(_FINE))


def joined(
    corpora: Mapping[str, Corpus], shares: str = "count", development: Mapping[str, Corpus] | None = None
) -> Corpus:
    """Named corpora as one: the documents of all, one corpus after the other.

    Args:
        corpora: The corpora by name.
        shares: One of `SHARES`.
        development: By the same names texts that only judge a training.

    Raises:
        TokentuiError: There is none, or some are counted words and others are not.
    """
    judged = development or {}
    Corpora(tuple((name_of(name, "corpus"), "-") for name in corpora), name_of(shares, "shares"),
            tuple((name_of(name, "development"), "-") for name in judged)).checked()
    found = tuple(corpora.values())
    counted = [name for name, one in corpora.items() if one.counts is not None]
    if counted and len(counted) < len(found):
        plain = next(name for name in corpora if name not in counted)
        what = f"{counted[0]} holds counted words, {plain} does not: that is no one corpus"
        raise TokentuiError(what, "corpus", "name counted words for all, or for none")
    for name, one in (*corpora.items(), *judged.items()):
        if one.named:
            raise TokentuiError("is named corpora itself", f"corpus {name}", "name its corpora one by one")
    times = times_of([one.size for one in found], shares)
    parts = tuple(
        Named(name, one, n, judged.get(name)) for (name, one), n in zip(corpora.items(), times, strict=True)
    )
    documents = Documents(tuple(chain.from_iterable(one.texts for one in found)))
    invalid = next((one.invalid for one in found if one.invalid), None)
    if invalid is not None:
        invalid = replace(invalid, count=sum(one.invalid.count for one in found if one.invalid))
    counts = None
    if counted:
        summed: dict[str, int] = {}
        for part in parts:
            for word, count in part.corpus.counts or ():
                summed[word] = summed.get(word, 0) + part.times * count
        counts = tuple(summed.items())
    notes = [note for one in (*found, *judged.values()) for note in one.notes]
    if len(set(times)) > 1:
        weighed = ", ".join(f"{part.name} × {part.times:,}" for part in parts)
        notes.append(f"equal shares: each word counts so often: {weighed}")
    digests = tuple(chain.from_iterable(one.digests for one in (*found, *judged.values())))
    return Corpus(" + ".join(corpora), documents, counts, invalid, tuple(notes), digests, parts)


def sources_in(source: object) -> list[object]:
    """Each source that is read, as far as it is known: those of named corpora one by one."""
    if isinstance(source, Mapping):
        return [one for value in source.values() for one in sources_in(value)]
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return [one for value in source for one in sources_in(value)]
    corpora = named_in(source)
    return [source] if corpora is None else [one for _, one in (*corpora.sources, *corpora.development)]


def short_name(source: str) -> str:
    """A source in a word or two: the last part of a path, the names of named corpora."""
    if source.startswith(SCHEME):
        rows = [row.partition("=")[0] for row in source.removeprefix(SCHEME).split(",")]
        return " + ".join(_plain(name) for name in rows if name != "shares" and _DEVELOPMENT not in name)
    return os.path.basename(source.rstrip(os.sep)) or source
