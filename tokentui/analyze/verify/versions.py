"""Comparison of several versions of libraries on one file: the first text that any two encode differently."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui.analyze.report import Report, Row, Section, as_row, data
from tokentui.analyze.stages import cut, shorten
from tokentui.analyze.verify import Encoded, encoded_here, encoded_there, ids_here, opening
from tokentui.analyze.verify.peers import Ask, Peer, asking
from tokentui.analyze.verify.verify_report import side_sections
from tokentui.core.jobs import tick
from tokentui.core.table import plural
from tokentui.encode.tokenizer import Tokenizer

HERE = "tokentui"
_TEXTS = 64


@dataclass(frozen=True, slots=True)
class VersionSide:
    """What one of the programs makes of a text.

    Attributes:
        name: The library and its version, or `tokentui`.
        encoded: The results of all stages.
    """

    name: str
    encoded: Encoded


@dataclass(frozen=True, slots=True)
class VersionsReport:
    """The result of a comparison.

    Attributes:
        versions: The libraries and their versions, after `tokentui`.
        texts: The number of texts before the first that differs.
        tokens: The number of their tokens.
        number: The number of the first text that differs, from 1; None if none does.
        text: The shortest part of it that was found to differ.
        stage: The first stage that differs.
        specials: True if the names of special tokens were read as those tokens.
        sides: What each of the versions makes of it.
    """

    versions: tuple[str, ...]
    texts: int
    tokens: int
    number: int | None = None
    text: str = ""
    stage: str = ""
    specials: bool = False
    sides: tuple[VersionSide, ...] = ()

    @property
    def difference(self) -> int | None:
        """The number of the first text that differs; None if none does."""
        return self.number


def verify_versions(
    tokenizer: Tokenizer, path: str, peers: Sequence[Peer], documents: Sequence[str]
) -> VersionsReport:
    """Encode documents, cut at line ends, with a file here and with several libraries or versions of one, up
    to the first text of which not all have the same ids.

    Args:
        tokenizer: The tokenizer of the file.
        path: The file, which the libraries read themselves.
        peers: The libraries.
        documents: The documents. Those with the name of a special token are also encoded with special tokens
            found.

    Raises:
        TokentuiError: A library does not read such files or refuses this one, or fails.
    """
    names = (HERE, *(f"{peer.name} {peer.version}" for peer in peers))
    total, done, same, tokens = sum(map(len, documents)), 0, 0, 0
    parts = (part for document in documents for part in cut(document))
    with contextlib.ExitStack() as stack:
        asks: list[Ask] = []
        openings = [opening(tokenizer, path, peer) for peer in peers]
        for peer, opened in zip(peers, openings, strict=True):
            ask = stack.enter_context(asking(peer))
            ask(peer.opens, path=opened.path, pattern=opened.pattern, specials=opened.named)
            asks.append(ask)

        def results(texts: Sequence[str], specials: bool) -> list[list[list[int | None] | str]]:
            """Return the ids of each text by each side, or the reason why it refuses the text."""
            sides = [[ids_here(tokenizer, text, specials) for text in texts]]
            sides += [
                ask("encode", texts=list(map(opened.prepared, texts)), specials=specials)
                for ask, opened in zip(asks, openings, strict=True)
            ]
            return [list(row) for row in zip(*sides, strict=True)]

        while batch := list(itertools.islice(parts, _TEXTS)):
            tick(done, total)
            for text, plain in zip(batch, results(batch, False), strict=True):
                named = any(name in text for opened in openings for name in opened.named)
                again = results([text], True)[0] if named else plain
                for specials, row in ((False, plain), (True, again)):
                    if _alike(row):
                        continue
                    short = shorten(text, _unlike(results, specials))
                    theirs = zip(peers, asks, openings, strict=True)
                    sides = [encoded_here(tokenizer, short, specials), *(
                        encoded_there(tokenizer, peer, ask, opened.prepared, short, specials)
                        for peer, ask, opened in theirs
                    )]
                    return VersionsReport(
                        names[1:], same, tokens, same + 1, short, _stage(sides, specials), specials,
                        tuple(map(VersionSide, names, sides)),
                    )
                same += 1
                tokens += len(plain[0]) if isinstance(plain[0], list) else 0
            done += sum(map(len, batch))
    return VersionsReport(names[1:], same, tokens)


def _unlike(
    results: Callable[[Sequence[str], bool], list[list[list[int | None] | str]]], specials: bool
) -> Callable[[str], bool]:
    """Return a function for `shorten`, which returns whether the sides encode a part of a text
    differently."""
    return lambda part: not _alike(results([part], specials)[0])


def _alike(row: Sequence[list[int | None] | str]) -> bool:
    """Return whether all sides have the same ids, or all refuse the text."""
    return len({tuple(ids) if isinstance(ids, list) else None for ids in row}) == 1


def _stage(sides: Sequence[Encoded], specials: bool) -> str:
    """Return the first stage at which not all known results are the same."""
    for name, results in (
        ("normalized text", {side.normalized for side in sides}),
        ("pre-tokens", {side.words for side in sides}),
    ):
        if len(results - {None}) > 1:
            return name
    return "ids, with special tokens found by their names" if specials else "ids"


def report(found: VersionsReport) -> Report:
    """Report on a comparison of versions."""
    sections = [
        Section("against", ", ".join(found.versions)),
        Section("same", f"{plural(found.texts, 'text')}, {plural(found.tokens, 'token')}"),
    ]
    differs = None
    if found.number is not None:
        sections += [
            Section("differs", f"text {found.number:,}; shortest part found:"),
            Section("text", data(found.text)), Section("stage", found.stage),
            Section("alike", "", tuple(_groups(found))),
        ]
        for side in found.sides:
            sections += side_sections(side.name, side.encoded)
        differs = {**as_row(found, "number", "text", "stage", "specials"), "sides": [
            {"name": side.name, **as_row(side.encoded)} for side in found.sides
        ]}
    value = {
        "versions": found.versions, "alike": found.number is None, "texts": found.texts,
        "tokens": found.tokens, "differs": differs,
    }
    return Report("Versions", tuple(sections), value)


def _groups(found: VersionsReport) -> list[Row]:
    """Return a row for each group of sides with the same ids. All that refuse are one group."""
    groups: dict[object, list[str]] = {}
    for side in found.sides:
        key = None if side.encoded.refused else side.encoded.ids
        groups.setdefault(key, []).append(side.name)
    return [Row((f"{', '.join(names)}",)) for names in groups.values()]
