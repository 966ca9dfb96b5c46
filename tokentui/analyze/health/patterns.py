"""Checks of what a file says of its steps: text where a pattern was meant, and what had to be guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokentui.analyze.health.found import FAIL, NONE, PASS, WARN, Found, some
from tokentui.analyze.health.survey import Survey
from tokentui.analyze.results import Example
from tokentui.encode.imported import ImportedVocabulary

_LIKE_A_PATTERN = re.compile(
    r"\\[sSdDwWbpPnrt]|\[\^|\[[^\[\]]+-[^\[\]]+\]|\[[^\[\]]{2,}\][*+?]|\(\?|[^\\][.)\]][*+]|\{\d+,\d*\}|^\^.|.\$$|\|.*[+*?]"
)


def literals(seen: Survey) -> Found:
    """Text in a step that reads like a pattern: it matches itself alone, so nearly nothing."""
    vocabulary = seen.tokenizer.vocabulary
    stages = vocabulary.pipeline.stages if isinstance(vocabulary, ImportedVocabulary) else None
    if not stages:
        return Found(NONE, "the file holds no steps of its own")
    found = [Example(None, text.encode("utf-8", "surrogatepass"), f"in {where}") for where, text in _literals(stages, "")
             if _LIKE_A_PATTERN.search(text)]
    return Found(FAIL if found else PASS, some(len(found), "text", "that reads like a pattern"), len(found), found)


def _literals(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Each text that is to be found as it stands, and the step that it is in."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        inside = f"{where}.{kind}" if isinstance(kind, str) else where
        pattern = value.get("pattern")
        if isinstance(pattern, str):
            yield inside, pattern
        elif isinstance(pattern, Mapping) and isinstance(pattern.get("String"), str):
            yield inside, pattern["String"]
        for name, one in value.items():
            yield from _literals(one, inside or str(name))
    elif isinstance(value, list):
        for one in value:
            yield from _literals(one, where)


def doubts(seen: Survey) -> Found:
    """What the reader of the file had to assume, and what it noticed."""
    notes = list(seen.tokenizer.notes)
    vocabulary = seen.tokenizer.vocabulary
    if isinstance(vocabulary, ImportedVocabulary) and vocabulary.pipeline.near:
        notes.append(f"text is cut by the steps of the file: split={seen.tokenizer.recipe.split} is only the nearest value")
    found = [Example(None, note.encode("utf-8", "surrogatepass")) for note in notes]
    return Found(WARN if notes else PASS, some(len(notes), "remark", "by what read the file"), len(notes), found)
