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
from exporting import dumps, loads, preset, refusal_of
from hypothesis import given, settings
from hypothesis import strategies as st
from objectives import GAGE_RECIPE

from tokentui.core.errors import TokentuiError
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.files import load
from tokentui.recipe import Recipe

RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")


def good() -> str:
    """Units: 0 a, 1 b, 2 c; then 3 ab, 4 abc. Their ids are one more, after <unk>."""
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


CHANGED = "f: digest: the rest of the file gives other tokens than those that were written"
CHANGES: list[tuple[str, Callable[[Any], None], str]] = [
    ("no version", drop("version"), 'f: "version" is missing'),
    ("newer", put("version", 3), "f: made by a newer tokentui (version 3); this one reads versions 1 to 2"),
    ("version 0", put("version", 0), "f: made by no tokentui (version 0)"),
    ("version true", put("version", True), "f: version: expected a whole number, not true"),
    ("no recipe", drop("recipe"), 'f: "recipe" is missing'),
    ("no run", drop("run"), 'f: "run" is missing'),
    ("no units", drop("units"), 'f: "units" is missing'),
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
    ("first id other", put("run", "first_id", 1), CHANGED),
    ("specials text", put("run", "specials", "<unk>"), "f: run.specials: expected a list, not text"),
    (
        "special a number", put("run", "specials", 0, 1),
        "f: run.specials row 0: expected text, not a whole number",
    ),
    ("special other", put("run", "specials", 0, "<pad>"), CHANGED),
    ("special more", put("run", "specials", ["<unk>", "a", "z"]), CHANGED),
    ("units an object", put("units", {}), "f: units: expected a list, not an object"),
    ("unit a number", put("units", 1, 1), "f: units row 1: expected text, not a whole number"),
    ("unit with a score", put("units", 1, ["b", -1.5]), "f: units row 1: expected text, not a list"),
    ("unit other", put("units", 1, "x"), CHANGED),
    ("unit empty", put("units", 1, ""), "f: units: a unit is empty, or two have the same bytes"),
    ("unit twice", put("units", 1, "a"), "f: units: a unit is empty, or two have the same bytes"),
    ("unit more", lambda d: d["units"].append("x"), CHANGED),
    ("unit gone", drop("units", 0), "f: merges row 1: 3 is not a unit or an earlier token"),
    ("units swapped", lambda d: d["units"].reverse(), CHANGED),
    ("merges null", put("merges", None), "f: merges: expected a list, not null"),
    (
        "merge short", put("merges", 0, [1, 2]),
        "f: merges row 0: a row is [LEFT, RIGHT, COUNT], not a list of 2",
    ),
    ("merge null", put("merges", 0, None), "f: merges row 0: a row is [LEFT, RIGHT, COUNT], not null"),
    ("part true", put("merges", 0, 0, True), "f: merges row 0: expected a whole number, not true"),
    ("part a fraction", put("merges", 0, 0, 1.0), "f: merges row 0: expected a whole number, not a fraction"),
    ("part huge", put("merges", 0, 0, 2**70), "f: merges row 0: a number is too large"),
    ("merge part unknown", put("merges", 0, 0, 77), "f: merges row 0: 77 is not a unit or an earlier token"),
    ("merge part later", put("merges", 0, 1, 4), "f: merges row 0: 4 is not a unit or an earlier token"),
    ("merge of itself", put("merges", 0, 1, 3), "f: merges row 0: 3 is not a unit or an earlier token"),
    ("merge other", put("merges", 0, 1, 2), CHANGED),
    ("merge count text", put("merges", 0, 2, "5"), "f: merges row 0: expected a whole number, not text"),
    ("merge count negative", put("merges", 0, 2, -5), "f: merges row 0: a number is negative"),
    (
        "merge twice", lambda d: d["merges"].insert(1, d["merges"][0]),
        "f: merges row 1: the pair 0, 1 is already in row 0",
    ),
    (
        "merges swapped", lambda d: d["merges"].reverse(),
        "f: merges row 0: 3 is not a unit or an earlier token",
    ),
    ("merge gone", drop("merges", 1), CHANGED),
    ("digest other", put("digest", "0" * 64), CHANGED),
    ("digest a number", put("digest", 0), "f: digest: expected text, not a whole number"),
    ("events too", put("events", []), "f: 'merges' is not a key that this version reads"),
    ("placeholders", put("placeholders", [255]), "f: placeholders: only Gage's compression replaces bytes"),
]


@pytest.mark.parametrize(
    ("change", "line"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES]
)
def test_damaged_documents(change: Callable[[Any], None], line: str) -> None:
    document = json.loads(good())
    before = copy.deepcopy(document)
    change(document)
    assert document != before or "True" in repr(document) or "1.0" in repr(document)
    assert refusal_of(json.dumps(document)).startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (good()[:200], "f: not valid JSON: "),
        (good() + "x", "f: not valid JSON: extra data at line 14, column 1"),
        (good().replace("[0, ", "[NaN, "), "f: NaN is not a JSON number"),
        (good().replace("[0, ", "[" + "1" * 5000 + ", "), "f: a number is too large"),
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
    assert refusal_of(text).startswith(line)


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
    document["merges"] = [[255 + n if n else 122] * 2 + [1] for n in range(40)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (put("merges", 2, slice(0, 2), [97, 97]), "f: merges row 2: the pair 97, 97 is already in row 0"),
        (put("units", []), "f: units: the base is not all 256 bytes"),
        (drop("units", 255), "f: units: the base is not all 256 bytes"),
        (put("units", 97, "é"), "f: units: the base is not all 256 bytes"),
        (doubled, "f: merges row 25: the tokens are longer than in any real tokenizer"),
    ],
)
def test_damaged_documents_of_bytes(change: Callable[[Any], None], line: str) -> None:
    document = in_bytes()
    change(document)
    found = refusal_of(json.dumps(document))
    assert found.startswith(line)
    assert len(found) < 250


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda d: d["units"].append("zz"), "f: units: the base is not the 256 bytes in order"),
        (put("placeholders", []), "f: placeholders: 0 bytes for 2 merges"),
        (put("placeholders", 0, 256), "f: placeholders row 0: 256 already represents something else"),
        (put("placeholders", 1, 255), "f: placeholders row 1: 255 already represents something else"),
        (put("placeholders", 0, 97), "f: placeholders row 0: 97 already represents something else"),
        (put("merges", 1, 0, 255), "f: merges row 1: a byte of the pair already represents another pair"),
        (drop("placeholders"), 'f: "placeholders" is missing'),
    ],
)
def test_damaged_documents_of_gage(change: Callable[[Any], None], line: str) -> None:
    vocabulary = GageVocabulary(GAGE_RECIPE, [255, 254])
    vocabulary.add(97, 98, 3)
    vocabulary.add(256, 99, 2)
    document = json.loads(dumps(Tokenizer(vocabulary, None, {"merges": 2})))
    change(document)
    assert refusal_of(json.dumps(document)).startswith(line)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (put(0, -1.0), "f: units row 0: a row is [UNIT, SCORE], not a fraction"),
        (put(0, 1, 0.5), "f: units row 0: SCORE is not a log probability"),
        (put(0, 1, -1e7), "f: units row 0: SCORE is not a log probability"),
        (put(0, 1, None), "f: units row 0: SCORE is not a log probability"),
        (put(0, 0, 1), "f: units row 0: expected text, not a whole number"),
        (put(0, 0, "zqz"), CHANGED),
    ],
)
def test_damaged_documents_of_scores(change: Callable[[Any], None], line: str) -> None:
    recipe = preset("t5").recipe
    document = json.loads(dumps(Tokenizer(Vocabulary(recipe, [b"a", b"b"], ("<unk>",), 0, [-1.0, -2.0]))))
    change(document["units"])
    assert refusal_of(json.dumps(document)).startswith(line)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (put(0, []), "f: events row 0: a step without events"),
        (put(0, 0, ["merge", [0, 1]]), "f: events row 0: a row is [KIND, PARTS, PLACES, VIEW], not"),
        (put(0, 0, 0, "melt"), "f: events row 0: 'melt' is not a kind of event"),
        (put(0, 0, 3, 2), "f: events row 0: VIEW must be 0 or 1"),
        (put(0, 0, 1, []), "f: events row 0: PARTS are not units and earlier tokens"),
        (put(0, 0, 1, [0, 9]), "f: events row 0: PARTS are not units and earlier tokens"),
        (put(0, 0, 1, [0]), "f: events row 0: PARTS are missing"),
        (put(1, 0, 1, [1, 0]), "f: events row 1: PARTS do not form an earlier token"),
        (put(1, 0, slice(0, 2), ["remove", [0]]), "f: events row 1: a unit cannot be removed"),
        (put(0, 0, 2, "1"), "f: events row 0: expected a whole number, not text"),
        (put(0, 0, 1, [0, 0]), "f: events row 1: PARTS do not form an earlier token"),
    ],
)
def test_damaged_documents_of_events(change: Callable[[Any], None], line: str) -> None:
    vocabulary = EventVocabulary(RECIPE.with_axes(objective="picky"), [b"a", b"b"])
    ab = vocabulary.named(b"ab")
    vocabulary.step([Event(EventKind.MERGE, ab, (0, 1), 3)])
    vocabulary.step([Event(EventKind.SPLIT, ab, (0, 1), 1)])
    document = json.loads(dumps(Tokenizer(vocabulary)))
    change(document["events"])
    assert refusal_of(json.dumps(document)).startswith(line)


def test_a_file_without_a_digest_is_read_as_it_is() -> None:
    document = json.loads(good())
    del document["digest"]
    document["merges"][0] = [0, 2, 5]
    assert [entry.text for entry in loads(json.dumps(document), "f").entries()] == [
        "<unk>", "a", "b", "c", "ac", "acc"
    ]


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
