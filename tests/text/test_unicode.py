"""The Unicode tables of owners, by recorded cases and by the installed tables."""

from __future__ import annotations

import pickle
import unicodedata
from collections import Counter
from dataclasses import replace
from typing import Any

import oracle
import pytest
import unicode_texts

from tokentui.formats.huggingface import AlignedText
from tokentui.formats.huggingface.steps import NormalizerStep, PreTokenizerStep, read_step
from tokentui.formats.source import Node
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.normalize import normalize, normalize_aligned
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPLITS
from tokentui.text.unicode import TABLES, Form, class_rows, tables_of

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
@pytest.mark.slow
def test_the_newest_tables_compose_what_they_decompose(form: Form) -> None:
    newest = TABLES[NEWEST_UNICODE]
    for text in unicode_texts.sequences(50):
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


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("steps", [("nfc",), ("nfkd", "strip-accents"), ("bert-uncased",)])
def test_alignment_covers_each_text(steps: tuple[str, ...]) -> None:
    for text in unicode_texts.sequences(12):
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


# --- classes ---


@pytest.mark.parametrize("said", oracle.load("unicode.json")["pretokenizers"], ids=lambda row: row["name"])
def test_recorded_pretokenizers(said: dict[str, Any]) -> None:
    step: PreTokenizerStep = read_step(Node(said["step"], "a test"), "pretokenizers")
    for text, parts in said["texts"]:
        assert [part.text for part in step(AlignedText.typed(text))] == parts, ascii(text)


def test_the_stand_ins_are_of_the_class_that_a_version_gives() -> None:
    """By the installed tables, which are at least those of the stand-ins."""
    for row in class_rows():
        before, known = (unicodedata.category(char) for char in (row.before, row.known))
        assert (before == "Cn") == (row.first != 0x295)
        assert known != "Cn" or int(unicodedata.unidata_version.partition(".")[0]) < 16
        assert not {row.first, row.last} & {ord(row.before), ord(row.known)}


SPLIT_TEXTS = [*unicode_texts.texts(60), "ʕ꟎꟏𲎰中\U0003d000 1𖿴 ౜"]


PATTERNED = ("gpt2", "cl100k", "o200k", "kimi", "words", "before", "falcon", "superwords")


@pytest.mark.parametrize("unicode", ["18.0", "tokenizers"])
@pytest.mark.parametrize("split", PATTERNED)
def test_splits_keep_the_text_and_its_cuts(split: str, unicode: str) -> None:
    """Words are parts of the text itself, whatever a pattern reads, and safe cuts are safe."""
    pretokenizer = Pretokenizer(replace(Recipe(split=split), unicode=unicode))
    for text in SPLIT_TEXTS:
        words = pretokenizer.words(text)
        if split not in ("words", "falcon"):
            assert "".join(words) == text
        assert [row.text for row in pretokenizer.analyze(text).pretokens] == words
        for at in pretokenizer.cuts(text, 0):
            assert pretokenizer.words(text[:at]) + pretokenizer.words(text[at:], first=False) == words


@pytest.mark.parametrize("unicode", ["18.0", "tokenizers", "tiktoken"])
@pytest.mark.parametrize("split", [name for name, split in SPLITS.items() if split.rule or split.cut])
@pytest.mark.first_run(cases=6)
def test_kernels_have_the_classes_of_the_owner(split: str, unicode: str) -> None:
    engines = pytest.importorskip("tokentui.core.engines")
    if not engines.available() or split == "regex":
        pytest.skip("no kernels, or no pattern")
    from tokentui.text.kernels.count import count_words

    recipe = replace(Recipe(split=split, unit="char", base="first-seen"), unicode=unicode)
    words = Pretokenizer(recipe).words
    for text in (*SPLIT_TEXTS[-20:], " ".join(SPLIT_TEXTS)):
        found = count_words([text], recipe, words)
        if found is None:
            return
        counted = found if isinstance(found, Counter) else Counter(
            dict(zip(found.words(), found.counts.tolist(), strict=True))
        )
        assert counted == Counter(words(text)), ascii(text)


def test_new_letters_under_a_pattern() -> None:
    text = "a\U000323b0 \ua7ce!"
    assert Pretokenizer(Recipe(split="gpt2")).words(text) == ["a\U000323b0", " \ua7ce", "!"]
    theirs = Pretokenizer(replace(Recipe(split="gpt2"), unicode="tiktoken")).words(text)
    assert theirs == ["a", "\U000323b0", " \ua7ce!"]


def test_a_pattern_that_spells_a_new_letter_reads_it() -> None:
    recipe = replace(Recipe(split="regex:[\ua7ce]|[^\ua7ce]"), unicode="tokenizers")
    assert Pretokenizer(recipe).words("a\ua7ceb") == ["a", "\ua7ce", "b"]
