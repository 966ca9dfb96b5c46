"""The Unicode tables of owners, by recorded cases and by the installed tables."""

from __future__ import annotations

import pickle
import unicodedata

import oracle
import pytest
import unicode_texts

from tokentui.formats.huggingface import AlignedText
from tokentui.formats.huggingface.steps import NormalizerStep, read_step
from tokentui.formats.source import Node
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.normalize import normalize, normalize_aligned
from tokentui.text.unicode import TABLES, Form, tables_of

FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
PLAIN = "aé中文 e\u0301 \u1100\u1161 ½ ﬁ Σς 12 ①\n"


@pytest.mark.parametrize("name", oracle.load("unicode.json")["normalizers"])
def test_recorded_normalizers(name: str) -> None:
    kinds = [{"type": kind} for kind in name.split(", ")]
    said = kinds[0] if len(kinds) == 1 else {"type": "Sequence", "normalizers": kinds}
    step: NormalizerStep = read_step(Node(said, "a test"), "normalizers")
    for text, made in oracle.load("unicode.json")["normalizers"][name]:
        assert step(AlignedText.typed(text)).text == made, ascii(text)


@pytest.mark.parametrize("tables", TABLES)
def test_a_text_without_a_listed_character_takes_the_installed_tables(tables: str) -> None:
    by = TABLES[tables]
    for form in FORMS:
        assert by.normal_form(form, PLAIN) == unicodedata.normalize(form, PLAIN)
    assert by.seen(PLAIN) is PLAIN
    assert by.lowercase(PLAIN) == PLAIN.replace("Σ", "σ").lower()
    assert by.differing(PLAIN) == {}


@pytest.mark.parametrize("form", FORMS)
def test_the_newest_tables_compose_what_they_decompose(form: Form) -> None:
    newest = TABLES[NEWEST_UNICODE]
    for text in unicode_texts.sequences(200):
        made = newest.normal_form(form, text)
        assert newest.normal_form(form, made) == made
        assert newest.normal_form("NFD", newest.normal_form("NFC", text)) == newest.normal_form("NFD", text)


def test_newer_letters() -> None:
    """U+16121 U+1611F compose since Unicode 16, U+1CCD6 is an A, and U+A7CE has a lower case since 17."""
    pair, wide = "\U00016121\U0001611f", "\U0001ccd6"
    assert normalize(f"x{pair}x{wide}", ("nfkc",)) == "x\U00016126xA"
    assert normalize(f"x{pair}x{wide}", ("nfkc",), "tokenizers") == f"x{pair}x{wide}"
    assert normalize("\ua7ce\ua7dd", ("lowercase",)) == "\ua7cf\u0277"
    assert normalize("\ua7ce\ua7dd", ("lowercase",), "tokenizers") == "\ua7cf\ua7dd"


@pytest.mark.parametrize("steps", [("nfc",), ("nfkd", "strip-accents"), ("bert-uncased",)])
def test_alignment_covers_each_text(steps: tuple[str, ...]) -> None:
    for text in unicode_texts.sequences(30):
        for tables in TABLES:
            aligned = normalize_aligned(text, steps, tables)
            assert aligned.text == normalize(text, steps, tables)
            assert list(aligned.starts) == sorted(aligned.starts)
            assert all(0 <= a < b <= len(text) for a, b in zip(aligned.starts, aligned.ends, strict=True))


def test_tables_are_pickled_by_name() -> None:
    for tables in TABLES.values():
        assert pickle.loads(pickle.dumps(tables)) is tables


def test_a_new_recipe_has_the_newest_tables() -> None:
    assert tables_of(Recipe().unicode) is TABLES[NEWEST_UNICODE] is tables_of("a later name")
