"""Whose Unicode tables a tokenizer uses, and the characters of a corpus that these treat in another way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tokentui.analyze.report import Report, Row, Section
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import LongText, whole_text
from tokentui.text.unicode import tables_of

_FEW = 8


def with_unicode(report: Report, tokenizer: Tokenizer, documents: Iterable[str | LongText] = ()) -> Report:
    """Return a report with a section on the Unicode tables of a tokenizer.

    Its value has a new field `unicode`: the name and the owner of the tables, and, by what differs, the
    characters of the documents that they treat otherwise than the newest tables.
    """
    tables = tables_of(tokenizer.recipe.unicode)
    characters: set[str] = set()
    for document in documents:
        check()
        if isinstance(document, LongText) or not document.isascii():
            characters.update(whole_text(document))
    differing = tables.differing("".join(sorted(characters)))
    rows = tuple(
        Row((what, f"{len(chars):,}", " ".join(f"U+{ord(char):04X}" for char in chars[:_FEW])
             + (" …" if len(chars) > _FEW else "")))
        for what, chars in differing.items()
    )
    note = "these characters of the corpus are treated otherwise than by the newest tables"
    notes = (note,) if rows else ()
    section = Section("unicode", tables.described, rows, notes=notes)
    value = {"tables": tables.name, "owner": tables.owner, "differing": differing}
    return replace(report, sections=(*report.sections, section), value={**report.value, "unicode": value})
