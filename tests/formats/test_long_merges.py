"""The merges of a long file are parsed in blocks: the same comes out as where all of it is parsed at once."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from cancelling import cancel_at, checks_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core import engines
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.formats import pairs, source, tokens
from tokentui.formats.files import load
from tokentui.formats.huggingface.file import HUGGINGFACE
from tokentui.formats.pairs import Pairs, read_names
from tokentui.formats.source import Source

NAMES = st.sampled_from(
    ["a", "b", "▁", "],[", '"],["', '"merges": [', "\\", "]", "[", ', ["', "é", "\ud800", "🙂", ""]
) | st.text(max_size=3)
ODD = st.sampled_from(
    ["a b", 1, None, ["a"], ["a", "b", "c"], ["a", 1], [["a"], "b"], {"a": "b"}, float("nan")]
)
ROWS = st.lists(st.lists(NAMES, min_size=2, max_size=2), max_size=12)


def plain(value: object) -> object:
    """Pairs as the lists that they are."""
    if isinstance(value, Pairs):
        return [list(row) for row in value]
    return {name: plain(one) for name, one in value.items()} if isinstance(value, dict) else value


def read(data: bytes, long: int, block: int = 8) -> object:
    """The document, or what is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "LONG", long)
        patch.setattr(source, "BLOCK", block)
        patch.setattr(pairs, "PIECE", block)
        patch.setattr(pairs, "_WORDS", 1 + block)
        try:
            return plain(Source("a file", data).root.value)
        except TokentuiError as error:
            return str(error)


@given(
    ROWS, st.lists(ODD, max_size=1), st.integers(0, 40), st.sampled_from([None, 0, 2]), st.booleans(),
    st.sampled_from(["model", "other"]), st.integers(0, 400) | st.none(),
)
def test_blocks_change_nothing(
    rows: list[Any], odd: list[Any], block: int, indent: int | None, ascii_: bool, key: str, cut: int | None
) -> None:
    """Also where rows are none, stand elsewhere, or where the file is cut off."""
    document = {
        "version": "1.0", key: {"vocab": {"],[": 1, '"merges": [': 2}, "merges": rows + odd, "then": [["x"]]},
        "after": [["a", "b"], ["c", "d"]],
    }
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_)
    data = text.encode("utf-8", "surrogatepass")[: cut and len(text) - cut]
    assert read(data, 0, block) == read(data, 1 << 30)


@pytest.mark.parametrize("text", [
    '{"model": {"merges": [["a", "b"]], "merges": [["a", "c"]]}}',
    '{"model": {"merges": [["a", "b"]], "merges": null}}',
    '{"model": {"merges": [["a", "b"], ["a", "b"] ["c", "d"]]}}',
    '{"model": {"merges": [["a", "b"]]}, "model": {}}',
    '{"merges": [["a", "b"]], "model": {"merges": "a"}}',
    '{"merges": [["a", "b"]], "model": {"m\\u0065rges": [["c", "d"]]}}',
    '\ufeff{"model": {"merges": [["a", "b"]]}}', '{"model": {"merges": []}}', '{"model": {"merges": [',
])
def test_odd_documents_are_what_they_were(text: str) -> None:
    assert read(text.encode(), 0) == read(text.encode(), 1 << 30)


def test_a_long_list_of_merges_is_not_parsed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONG", 0)
    monkeypatch.setattr(source, "BLOCK", 100)
    rows = [[f"a{n % 7}", "],[" * (n % 5)] for n in range(1_000)]
    texts: list[int] = []
    loads = json.loads

    def counted(text: str, **more: Any) -> Any:
        texts.append(len(text))
        return loads(text, **more)

    monkeypatch.setattr(json, "loads", counted)
    found = Source("a file", json.dumps({"model": {"merges": rows}}).encode()).root["model"]["merges"].value
    assert isinstance(found, Pairs)
    assert [list(row) for row in found] == rows
    assert len(found.names) == 12
    assert len(texts) > 100
    assert max(texts) < 300


NAMED = st.sampled_from(["a", "b", "]]", "]]}", "]],", "ab", "a]]", "]]}b", "]]]]", "#b", "#ba", "aba"])
MADE = st.sampled_from([("a", "b"), ("]]", "}"), ("a", "]]"), ("]]}", "b"), ("]]", "]]"), ("ab", "a"),
                        ('"', "]]}"), ("a", "#b"), ("#b", "#a"), ("]]", "#}")])


@given(
    st.lists(MADE, max_size=9) | st.lists(MADE | st.tuples(NAMED, NAMED), max_size=3), st.integers(0, 40),
    st.booleans(), st.sampled_from(["", "#"]), st.booleans(),
)
def test_rows_of_all_layouts_are_one_tokenizer_or_one_error(
    rows: list[tuple[str, str]], block: int, first: bool, prefix: str, closed: bool
) -> None:
    """Names that look like the end of the list stand in it, a part or what it makes may be in no vocabulary,
    and what is before the list in the file may be behind it."""
    names = ["]]", "a", "b", "]]}", '"]]}', "ab", "#b", "#ba", "#a", "}", "#}", '"', "a]]", "]]}b", "aba"]
    model = {"type": "BPE", "continuing_subword_prefix": prefix,
             "vocab": {name: n for n, name in enumerate(names if closed else names[:-3])}}

    def found(merges: list[Any], long: int) -> object:
        parts = {"merges": merges} | model if first else model | {"merges": merges}
        data = json.dumps({"version": "1.0", "model": parts, "after": [["a", "b"]]}).encode()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source, "LONG", long)
            patch.setattr(source, "BLOCK", block)
            patch.setattr(pairs, "PIECE", block)
            patch.setattr(pairs, "_WORDS", 1 + block)
            try:
                made = HUGGINGFACE.read(Source("a file", data))
            except TokentuiError as error:
                return str(error)
        vocabulary = made.vocabulary
        return vocabulary.pieces, vocabulary.merges, vocabulary.notes, list(vocabulary.order)

    lists, texts = [list(row) for row in rows], [" ".join(row) for row in rows]
    assert found(lists, 0) == found(lists, 1 << 30) == found(texts, 1 << 30) == found(texts, 0)


def test_a_file_is_the_same_tokenizer_by_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = {name: n for n, name in enumerate(["a", "b", "c", "ab", "abc", "bc"])}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"], ["b", "c"], ["ab", "c"]]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "model": model}), encoding="utf-8")
    whole = load(path)
    monkeypatch.setattr(source, "LONG", 0)
    monkeypatch.setattr(source, "BLOCK", 4)
    monkeypatch.setattr(tokens, "BLOCK", 2)
    blocks = load(path)
    assert blocks.vocabulary.merges == whole.vocabulary.merges
    assert list(blocks.encode_ids("abcbcab")) == list(whole.encode_ids("abcbcab")) == [4, 5, 3]
    wrong = {"version": "1.0", "model": model | {"merges": [["a", "x"]]}}
    path.write_text(json.dumps(wrong), encoding="utf-8")
    with pytest.raises(TokentuiError, match=r"merges row 0: 'x' is not in the vocabulary"):
        load(path)


UNITS = ["a", "b", '"', "\\", "\n", "\t", "\r", "\x07", "é", "🙂", "\ud800", "/", "\u2028", "x" * 3000]


@given(st.data(), st.sampled_from([None, 0, 3]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_kernels_read_what_plain_python_reads(data: st.DataObject, indent: int | None, ascii_: bool) -> None:
    """Names are escaped in JSON, or long. Rows are listed twice, too early, or make what others make. A word
    merges alike."""
    names, rows = list(UNITS), list[list[str]]()
    for _ in range(data.draw(st.integers(0, 12))):
        row = [data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))]
        if len("".join(row)) < 7000:
            rows.append(row)
            names += ["".join(row)] if "".join(row) not in names else []
    rows += data.draw(st.lists(st.sampled_from(rows), max_size=4)) if rows else []
    rows = data.draw(st.permutations(rows)) if data.draw(st.booleans()) else rows
    missing = data.draw(st.sampled_from([*names, None]))
    texts, piece = data.draw(st.booleans()), data.draw(st.integers(0, 60))
    ids = data.draw(st.permutations(range(len(names)))) if data.draw(st.booleans()) else range(len(names))
    vocabulary = {name: n for n, name in zip(ids, names, strict=True) if name != missing}
    model = {"type": "BPE", "vocab": vocabulary,
             "merges": [" ".join(row) for row in rows] if texts else rows}
    text = json.dumps({"version": "1.0", "model": model}, indent=indent, ensure_ascii=ascii_)
    document = text.encode("utf-8", "surrogatepass")
    word = [to_bytes(unit) for unit in data.draw(st.lists(st.sampled_from(UNITS), max_size=30))]

    def found(kernels: str) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(engines.VARIABLE, kernels)
            patch.setattr(source, "LONG", 0)
            patch.setattr(tokens, "MANY_ROWS", 0)
            patch.setattr(pairs, "PIECE", piece)
            patch.setattr(pairs, "_WORDS", 1 + piece)
            try:
                made = HUGGINGFACE.read(Source("a file", document))
            except TokentuiError as error:
                return str(error)
            read_, segmenter = made.vocabulary, made.encoder.segmenter
            merged = list(segmenter.steps(word, len(word))), segmenter.segment(word, len(word))
            assert pickle.loads(pickle.dumps(made)).vocabulary.pieces == read_.pieces
        return read_.pieces, read_.merges, read_.notes, list(read_.order), merged

    assert found("") == found("off")


NAMES_READ = ["a", "b", "\n", "ab", "\x07", '"', "é", "🙂", "\x07\"", "\nab", "x" * 5000]


@pytest.mark.parametrize("piece", [0, 9, 1 << 20])
@pytest.mark.parametrize("ascii_", [True, False])
def test_kernels_read_the_rows(
    loaded: None, ascii_: bool, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokentui.formats.pairs.PIECE", piece)
    rows = [["a", "b"], ["\n", "ab"], ["\x07", '"'], ["é", "🙂"]]
    text = json.dumps(dict.fromkeys(NAMES_READ, 7), indent=2, ensure_ascii=ascii_).encode()
    names = read_names(text, 1)
    assert names is not None
    assert (names.ids, names.end) == (dict.fromkeys(NAMES_READ, 7), len(text))

    def read_rows(text: str) -> list[list[str]] | None:
        assert names is not None
        pairs = Pairs(names.ids)
        if pairs.read(text.encode(), 1, names.table) is None:
            assert not pairs
            return None
        assert pairs.makes.tolist() == [3, 9, 8, -1][: len(pairs)]
        return [list(row) for row in pairs]

    for listed in (rows, [" ".join(row) for row in rows]):
        assert read_rows(json.dumps(listed, indent=2, ensure_ascii=ascii_) + "}") == rows
    for wrong in (
        [["a", "x"]], [["a", "b", "a"]], [["a"]], [["a", 1]], [], ["a"], ["a  b"], [" a"], ["a b a"], [1],
        ["a b", ["a", "b"]], [["a", "b"], "a b"], ["#version: 0"], ["#version 0"], [["a", "\ud800"]],
    ):
        assert read_rows(json.dumps(wrong)) is None
    for text_ in ('["a","b"]', '[["a","b"]', '[["a","b"],]', '[["a""b"]]', '[["a","b"]x]', '[["a,"b"]]',
                  '[["a\\', "[", '["a b"', '["a b" "a b"]', '["a\tb"]', '["a\\u00g0 b"]', '["a\\x b"]'):
        assert read_rows(text_) is None


def test_it_can_be_cancelled_between_pieces(
    loaded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((source, "LONG"), (tokens, "MANY_ROWS"), (pairs, "PIECE"), (pairs, "_WORDS")):
        monkeypatch.setattr(module, name, int(name == "_WORDS"))
    made = ["a" * length for length in range(1, 40)]
    model = {"type": "BPE", "vocab": {name: n for n, name in enumerate(made)},
             "merges": [["a", name] for name in made[:-1]]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "model": model}), encoding="utf-8")
    wanted = load(path).vocabulary.pieces
    checks = checks_of(lambda: load(path))
    # Each name is read, and put into a table; each row is read.
    assert checks > 2 * len(made) + len(model["merges"])
    for number in range(0, checks, 3):
        cancel_at(number, lambda: load(path))
    assert load(path).vocabulary.pieces == wanted


@pytest.mark.parametrize("text", [
    "{}", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{"a":-1}', '{"a":01}', '{"a":1.0}',
    '{"a":1e3}', '{"a":"1"}', '{"a":12345678901}', '{"a":1 "b":2}', '{"a" 1}', '{a:1}', '{"a":1,"a":2}',
    '{"\\ud800":1}', '{"\\ud800\\u0041":1}', '{"\\udc00":1}', '{"\\u12g4":1}', '{"\\q":1}',
    '{"\t":1}', '{"a\\',
])
def test_kernels_leave_other_objects_to_plain_python(loaded: None, text: str) -> None:
    assert read_names(text.encode(), 1) is None


@pytest.mark.parametrize("text", [
    '{"a":0}', '{ "a" : 0 , "b"\t:\r\n1 } ', '{"a":2147483648}', '{"":1}',
    '{"\\u0000\\b\\f\\/\\uD83D\\ude42":5}',
    '{"\\u007f\\u0080\\u07ff\\u0800\\uffff":5}',
])
def test_kernels_read_ids(loaded: None, text: str) -> None:
    found = read_names(text.encode(), 1)
    assert found is not None
    assert found.ids == json.loads(text)
    assert list(map(type, found.ids.values())) == [int] * len(found.ids)
