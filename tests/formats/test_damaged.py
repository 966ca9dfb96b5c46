"""Files that are damaged or are something else: one line that says what and where."""

from __future__ import annotations

import bz2
import copy
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exporting import dumps, loads
from hypothesis import given, settings
from hypothesis import strategies as st
from objectives import GAGE_RECIPE

from tokentui.core.errors import TokentuiError
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.files import load
from tokentui.recipe import Recipe

RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")


def good() -> str:
    """Ids: 0 <unk>, 1 a, 2 b, 3 c, 4 ab, 5 abc."""
    vocabulary = Vocabulary(RECIPE, [b"a", b"b", b"c"], ("<unk>",))
    vocabulary.add(0, 1, 5)
    vocabulary.add(3, 2, 2)
    return dumps(Tokenizer(vocabulary, None, {"merges": 2}))


def put(*way: Any) -> Callable[[Any], None]:
    """Set the value at keys and rows, the last of `way`."""

    def change(document: Any) -> None:
        for step in way[:-2]:
            document = document[step]
        document[way[-2]] = way[-1]

    return change


def drop(*way: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in way[:-1]:
            document = document[step]
        del document[way[-1]]

    return change


CHANGES: list[tuple[str, Callable[[Any], None], str]] = [
    ("no version", drop("version"), 'f: "version" is missing'),
    ("newer", put("version", 2), "f: made by a newer tokentui (version 2); this one reads version 1"),
    ("version 0", put("version", 0), "f: made by no tokentui (version 0)"),
    ("version true", put("version", True), "f: version: expected a whole number, not true"),
    ("no recipe", drop("recipe"), 'f: "recipe" is missing'),
    ("no run", drop("run"), 'f: "run" is missing'),
    ("no vocabulary", drop("vocabulary"), 'f: "vocabulary" is missing'),
    ("no merges", drop("merges"), 'f: "merges" is missing'),
    ("other key", put("color", {}), "f: 'color' is not a key that this version reads"),
    ("recipe a list", put("recipe", []), "f: recipe: expected an object, not a list"),
    ("unknown axis", put("recipe", "color", "red"), "f: recipe: no axis 'color'"),
    ("no axis", drop("recipe", "tie"), 'f: recipe: "tie" is missing'),
    ("axis a number", put("recipe", "tie", 3), "f: recipe: axis 'tie' takes text, not int"),
    ("axis value", put("recipe", "split", "nowhere"), "f: recipe: split: no value 'nowhere'"),
    (
        "senseless", put("recipe", "unknown", "never"),
        "f: recipe: unknown=never: new text can contain units that the corpus lacks",
    ),
    ("pattern", put("recipe", "split", "regex:("), "f: recipe: split=regex:: the pattern cannot be compiled"),
    ("run a list", put("run", []), "f: run: expected an object, not a list"),
    ("run key", put("run", "spe\ned", 1), r"f: run: 'spe\ned' is not a run setting"),
    ("no first id", drop("run", "first_id"), 'f: run: "first_id" is missing'),
    ("first id true", put("run", "first_id", True), "f: run.first_id: expected a whole number, not true"),
    ("first id negative", put("run", "first_id", -1), "f: run.first_id: a number is negative"),
    ("first id huge", put("run", "first_id", 10**30), "f: run.first_id: a number is too large"),
    ("first id other", put("run", "first_id", 1), "f: vocabulary row 0: id 0 where 1 belongs"),
    ("specials text", put("run", "specials", "<unk>"), "f: run.specials: expected a list, not text"),
    (
        "special a number", put("run", "specials", 0, 1),
        "f: run.specials row 0: expected text, not a whole number",
    ),
    (
        "special other", put("run", "specials", 0, "<pad>"),
        'f: vocabulary row 0: [0, "<unk>", "3c756e6b3e", null] where [0, "<pad>", "3c7061643e", null]',
    ),
    (
        "special more", put("run", "specials", ["<unk>", "a", "z"]),
        'f: vocabulary row 2: [2, "b", "62", null] where [2, "z", "7a", null] belongs',
    ),
    ("vocabulary an object", put("vocabulary", {}), "f: vocabulary: expected a list, not an object"),
    (
        "row short", put("vocabulary", 1, [1, "a"]),
        "f: vocabulary row 1: a row is [ID, TEXT, HEX, SCORE], not a list of 2",
    ),
    (
        "row null", put("vocabulary", 1, None),
        "f: vocabulary row 1: a row is [ID, TEXT, HEX, SCORE], not null",
    ),
    ("id true", put("vocabulary", 1, 0, True), "f: vocabulary row 1: expected a whole number, not true"),
    (
        "id fraction", put("vocabulary", 1, 0, 1.0),
        "f: vocabulary row 1: expected a whole number, not a fraction",
    ),
    ("id huge", put("vocabulary", 1, 0, 2**70), "f: vocabulary row 1: a number is too large"),
    ("id twice", put("vocabulary", 2, 0, 1), "f: vocabulary row 2: id 1 where 2 belongs"),
    ("id skipped", put("vocabulary", 3, 0, 9), "f: vocabulary row 3: id 9 where 3 belongs"),
    (
        "text a number", put("vocabulary", 1, 1, 1),
        "f: vocabulary row 1: expected text, not a whole number",
    ),
    ("text other", put("vocabulary", 1, 1, "x"), "f: vocabulary row 1: HEX is not the bytes of TEXT"),
    ("hex other", put("vocabulary", 1, 2, "62"), "f: vocabulary row 1: HEX is not the bytes of TEXT"),
    ("hex odd", put("vocabulary", 1, 2, "6"), "f: vocabulary row 1: HEX is not lower-case hex"),
    ("hex upper", put("vocabulary", 1, 2, "6A"), "f: vocabulary row 1: HEX is not lower-case hex"),
    ("hex empty", put("vocabulary", 1, 2, ""), "f: vocabulary row 1: HEX is not lower-case hex"),
    ("hex line end", put("vocabulary", 1, 2, "61\n"), "f: vocabulary row 1: HEX is not lower-case hex"),
    (
        "score", put("vocabulary", 1, 3, -1.5),
        'f: vocabulary row 1: [1, "a", "61", -1.5] where [1, "a", "61", null] belongs',
    ),
    (
        "unit twice", put("vocabulary", 2, [2, "a", "61", None]),
        "f: vocabulary: two base units have the same bytes",
    ),
    (
        "token of no merge", lambda d: d["vocabulary"].append([6, "x", "78", None]),
        "f: merges row 0: ID 4 where 5 belongs",
    ),
    (
        "token gone", drop("vocabulary", 5),
        "f: merges row 1: ID 5 is not in the vocabulary",
    ),
    (
        "rows swapped", lambda d: d["vocabulary"].insert(1, d["vocabulary"].pop(2)),
        "f: vocabulary row 1: id 2 where 1 belongs",
    ),
    ("merges null", put("merges", None), "f: merges: expected a list, not null"),
    (
        "merge short", put("merges", 0, [1, 2, 4]),
        "f: merges row 0: a row is [LEFT_ID, RIGHT_ID, ID, COUNT], not a list of 3",
    ),
    ("merge part unknown", put("merges", 0, 0, 77), "f: merges row 0: 77 is not a unit or an earlier token"),
    ("merge part later", put("merges", 0, 1, 5), "f: merges row 0: 5 is not a unit or an earlier token"),
    ("merge part special", put("merges", 0, 1, 0), "f: merges row 0: 0 is not a unit or an earlier token"),
    (
        "merge bytes", put("merges", 0, 1, 3),
        "f: merges row 0: 1 and 3 do not form the bytes of 4 (HEX of 4 would be 6163)",
    ),
    ("merge of a unit", put("merges", 0, 2, 3), "f: merges row 0"),
    ("merge count text", put("merges", 0, 3, "5"), "f: merges row 0: expected a whole number, not text"),
    ("merge count negative", put("merges", 0, 3, -5), "f: merges row 0: a number is negative"),
    (
        "merge twice", lambda d: d["merges"].insert(1, d["merges"][0]),
        "f: merges row 1: the pair 1, 2 is already in row 0",
    ),
    (
        "merges swapped", lambda d: d["merges"].reverse(),
        "f: merges row 0: ID 5 where 4 belongs",
    ),
]


@pytest.mark.parametrize(
    ("change", "line"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES]
)
def test_damaged_documents(change: Callable[[Any], None], line: str) -> None:
    document = json.loads(good())
    before = copy.deepcopy(document)
    change(document)
    assert document != before or "True" in repr(document) or "1.0" in repr(document)
    with pytest.raises(TokentuiError) as raised:
        loads(json.dumps(document), "f")
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (good()[:200], "f: not valid JSON: "),
        (good() + "x", "f: not valid JSON: extra data at line 16, column 1"),
        (good().replace("[1, ", "[NaN, "), "f: NaN is not a JSON number"),
        (good().replace("[1, ", "[" + "1" * 5000 + ", "), "f: a number is too large"),
        (good().replace(' "version"', ' "run": 0, "version"'), "f: an object has the key 'run' twice"),
        (
            '{"format": "tokentui", "merges": ' + "[" * 100_000,
            "f: not a tokenizer: the JSON is nested too deeply",
        ),
        ("[]", 'f: "format" is not "tokentui"'),
    ],
    ids=["cut", "more", "NaN", "digits", "key twice", "deep", "list"],
)
def test_texts_that_are_no_document(text: str, line: str) -> None:
    with pytest.raises(TokentuiError) as raised:
        loads(text, "f")
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "is a Git LFS pointer"),
        (b"\n<!DOCTYPE html><html>", "a web page"),
        (gzip.compress(good().encode())[:-20], "damaged gzip data: cut off"),
        (b"\x1f\x8b\x08" + bytes(40), "damaged gzip data"),
        (bz2.compress(bz2.compress(good().encode())), "bzip2 data packed with bzip2"),
        (b"\0\1\2\xff", "not a supported tokenizer file"),
        (b"IQ== 0\nIg== 1\n", "a rank file does not store a pattern"),
        (b'{"version": "1.0", "model": {"type": "BPE"}}', "not a supported tokenizer file"),
        (b'{"format": ["tokentui"]}', "not a supported tokenizer file"),
        (b"{", "not valid JSON: expecting property name enclosed in double quotes at line 1, column 2"),
        (b'{"format": "tokentui", "\xff": 1}', "not UTF-8 at byte 24"),
        (good().encode("utf-16"), "UTF-16, not UTF-8"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: {what}")
    assert raised.value.hint


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(TokentuiError, match="this folder contains no tokenizer file"):
        load(tmp_path)
    with pytest.raises(TokentuiError, match="no such file"):
        load(tmp_path / "absent")
    with pytest.raises(TokentuiError, match="no file can have this name"):
        load("a\0b")
    os.symlink("loop", tmp_path / "loop")
    with pytest.raises(TokentuiError, match="cannot be read"):
        load(tmp_path / "loop")


def in_bytes() -> Any:
    """A document of 256 bytes and four merges."""
    vocabulary = Vocabulary(Recipe(), [bytes((value,)) for value in range(256)])
    for right in range(97, 101):
        vocabulary.add(97, right, 1)
    return json.loads(dumps(Tokenizer(vocabulary, None, {"merges": 4})))


def doubled(document: Any) -> None:
    """Forty merges, each of the token before with itself."""
    document["vocabulary"] = document["vocabulary"][:256] + [[256 + n, "zz", "7a7a", None] for n in range(40)]
    document["merges"] = [[256 + n - 1 if n else 122] * 2 + [256 + n, 1] for n in range(40)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (put("merges", 1, 2, 10**6), "f: merges row 1: ID 1000000 is not in the vocabulary"),
        (put("merges", 2, slice(0, 2), [97, 97]), "f: merges row 2: the pair 97, 97 is already in row 0"),
        (put("merges", 2, 2, 256), "f: merges row 2: ID 256 is already in row 0"),
        (put("merges", 1, 2, 98), "f: merges row 1: ID 98 where 257 belongs"),
        (put("vocabulary", []), "f: merges row 0: ID 256 is not in the vocabulary"),
        (lambda d: d["vocabulary"].append([260, "zz", "7a7a", None]), "f: merges row 0: ID 256 where 257"),
        (put("merges", []), "f: vocabulary: the base is not all 256 bytes"),
        (put("vocabulary", 97, 3, 10**4000), "f: vocabulary row 97: [97, \"a\", \"61\", 1000"),
        (doubled, "f: merges row 1: 256 and 256 do not form the bytes of 257 (HEX of 257 would be 7a7a7a7a)"),
    ],
)
def test_damaged_documents_of_bytes(change: Callable[[Any], None], line: str) -> None:
    document = in_bytes()
    change(document)
    with pytest.raises(TokentuiError) as raised:
        loads(json.dumps(document), "f")
    assert str(raised.value).startswith(line)
    assert len(str(raised.value)) < 250


def test_rows_that_gage_has_no_use_for() -> None:
    vocabulary = GageVocabulary(GAGE_RECIPE, [255])
    vocabulary.add(97, 98, 3)
    document = json.loads(dumps(Tokenizer(vocabulary, None, {"merges": 1})))
    document["vocabulary"] += [[256 + n, "zz", "7a7a", None] for n in range(60)]
    document["merges"][0][0] = 295
    with pytest.raises(TokentuiError, match="vocabulary: the base is not the 256 bytes in order"):
        loads(json.dumps(document), "f")


def test_bytes_that_are_missing() -> None:
    whole = Vocabulary(Recipe(), [bytes((value,)) for value in range(256)])
    document = json.loads(dumps(Tokenizer(whole)))
    del document["vocabulary"][255]
    with pytest.raises(TokentuiError, match="the base is not all 256 bytes"):
        loads(json.dumps(document), "f")


@settings(max_examples=100)
@given(
    at=st.integers(0, len(good()) - 1),
    put_in=st.text("0123456789[]{},\"nulatrefx- \n", max_size=3),
    over=st.integers(0, 4),
)
def test_any_damage_is_refused_or_harmless(at: int, put_in: str, over: int) -> None:
    text = good()
    damaged = text[:at] + put_in + text[at + over :]
    refusal, again = None, ""
    try:
        again = dumps(loads(damaged, "f"))
    except TokentuiError as error:
        refusal = str(error)
    if refusal is None:
        assert dumps(loads(again, "f")) == again
    else:
        assert "\n" not in refusal


def test_a_mark_is_short() -> None:
    document = json.loads(good())
    document["recipe"]["mark"] = "prefix:" + "#" * 1000
    with pytest.raises(TokentuiError, match="a text of 1,007 characters"):
        loads(json.dumps(document), "f")


@pytest.mark.parametrize("device", ["pipe", "/dev/zero"])
def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path, device: str) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TokentuiError, match=r"a (pipe|device), not a tokenizer file"):
        load(path if device == "pipe" else device)
