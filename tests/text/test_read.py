"""Texts of a corpus: every encoding, lines, rows and counts, by what the name of a file says."""

from __future__ import annotations

import codecs
import gzip
import hashlib
from pathlib import Path

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import put, refusal

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.text import sources
from tokentui.text.corpus import LONG_BYTES, Corpus, Invalid, LongText, decode, whole_text
from tokentui.text.read import read


def test_from_text_lines_counts() -> None:
    text = Corpus.from_text("né", name="x")
    assert (text.name, text.documents, text.counts, text.size, text.invalid) == ("x", ("né",), None, 3, None)
    assert text.sha256 == hashlib.sha256("né".encode()).hexdigest()
    lines = Corpus.from_lines(["a", "", "b"])
    assert (lines.documents, lines.size) == (("a", "", "b"), 2)
    counts = Corpus.from_counts([("né", 2), ("b", 1), ("né", 3)])
    assert (counts.documents, counts.counts, counts.size) == ((), (("né", 5), ("b", 1)), 16)
    for bad in (("", 1), ("a", 0)):
        with pytest.raises(TokentuiError, match="not be empty"):
            Corpus.from_counts([bad])


def test_from_bytes_keeps_invalid_utf8() -> None:
    corpus = Corpus.from_text(b"a\n\xff\xc3(", name="x")
    assert corpus.documents == ("a\n\udcff\udcc3(",)
    assert corpus.invalid == Invalid(2, "x", 2, 2)
    assert str(corpus.invalid) == "2 bytes are not UTF-8, the first at byte 2 (line 2) of x"
    assert corpus.size == 5


@given(st.binary())
def test_any_bytes_come_back(data: bytes) -> None:
    corpus = Corpus.from_text(b"|" + data)
    assert to_bytes(corpus.documents[0]) == b"|" + data
    assert corpus.size == len(data) + 1
    bad = sum("\udc80" <= letter <= "\udcff" for letter in corpus.documents[0])
    assert (corpus.invalid.count if corpus.invalid else 0) == bad


@given(st.text(st.characters(codec=None, categories=None)))
def test_every_document_has_bytes(text: str) -> None:
    letter_by_letter = b"".join(
        bytes([ord(one) - 0xDC00]) if "\udc80" <= one <= "\udcff" else one.encode("utf-8", "surrogatepass")
        for one in text
    )
    assert to_bytes(text) == letter_by_letter


# Encodings


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("né 😂\r\nx\r".encode(), "né 😂\r\nx\r"),
        (codecs.BOM_UTF8 + b"a", "a"),
        (codecs.BOM_UTF8 * 2 + b"a", "\ufeffa"),
        (codecs.BOM_UTF16_LE + "né 😂\r\n".encode("utf-16-le"), "né 😂\r\n"),
        (codecs.BOM_UTF16_BE + "né 😂\r\n".encode("utf-16-be"), "né 😂\r\n"),
        (codecs.BOM_UTF16_BE, ""),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str) -> None:
    corpus = read(put(tmp_path, "a.txt", data))
    assert corpus.documents == (text,)
    assert (corpus.invalid, corpus.size) == (None, len(text.encode()))
    assert all("byte order mark" in note for note in corpus.notes)
    assert corpus.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("body", "text", "count", "offset", "line"),
    [
        (
            "a\n".encode("utf-16-le") + b"\x00\xd8" + "b\ufffd".encode("utf-16-le"), "a\n\ufffdb\ufffd", 2, 6,
            2,
        ),
        (b"a\x00\x00\xdc\x00\xdcb\x00", "a\ufffd\ufffdb", 4, 4, 1),
        (b"a\x00b", "a\ufffd", 1, 4, 1),
        (b"a\x00\x00\xd8", "a\ufffd", 2, 4, 1),
    ],
)
def test_damaged_utf16_is_replaced(body: bytes, text: str, count: int, offset: int, line: int) -> None:
    invalid = Invalid(count, "f", offset, line, "UTF-16")
    assert decode(codecs.BOM_UTF16_LE + body, "f") == (text, invalid, "UTF-16")


def test_a_text_is_long_from_its_least_size_on() -> None:
    assert [type(decode(b"x" * size, "f")[0]) for size in (LONG_BYTES - 1, LONG_BYTES)] == [str, LongText]


def test_offset_counts_the_byte_order_mark(tmp_path: Path) -> None:
    corpus = read(put(tmp_path, "a.txt", codecs.BOM_UTF8 + b"ab\xff"))
    assert corpus.invalid == Invalid(1, "a.txt", 5, 1)


@pytest.mark.parametrize("size", [3, LONG_BYTES])
@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b""])
def test_a_dropped_byte_order_mark_is_reported(tmp_path: Path, mark: bytes, size: int) -> None:
    codec = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(mark, "utf-8")
    path = put(tmp_path, "a.txt", mark + ("x" * size).encode(codec))
    for corpus in (read(path), Corpus.from_text(Path(path).read_bytes(), "a.txt")):
        assert corpus.documents[0] == "x" * size
        told = [note for note in corpus.noticed if "byte order mark" in note]
        assert len(told) == bool(mark)
        assert all("a.txt" in note and ("UTF-16" in note) == (codec != "utf-8") for note in told)
    for name in ("b.txt", "c.txt"):
        put(tmp_path, name, mark + "y".encode(codec))
    assert len([note for note in read(str(tmp_path)).notes if "3 files, the first a.txt" in note]) == bool(
        mark
    )


def test_invalid_bytes_of_several_files_are_summed(tmp_path: Path) -> None:
    paths = [put(tmp_path, "a", "fine"), put(tmp_path, "b", b"\xff"), put(tmp_path, "c", b"..\xfe\xfd")]
    corpus = read(paths)
    assert corpus.invalid == Invalid(3, "b", 0, 1)
    assert corpus.name == "a and 2 more"


# Ways of reading


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("\n", [""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\n b \n", ["a", "", " b "]),
        ("a\r\r\n\u2028\x0b\x85\r", ["a\r", "\u2028\x0b\x85"]),
    ],
)
def test_lines(tmp_path: Path, text: str, lines: list[str]) -> None:
    assert read(put(tmp_path, "a.txt", text), as_="lines").documents == tuple(lines)


@given(st.text("ab\r\n \u2028"))
def test_lines_are_the_text_between_line_ends(text: str) -> None:
    naive, line = [], ""
    for letter in text:
        if letter == "\n":
            naive.append(line[:-1] if line.endswith("\r") else line)
            line = ""
        else:
            line += letter
    if line:
        naive.append(line[:-1] if line.endswith("\r") else line)
    assert sources.lines(text) == naive


def test_jsonl(tmp_path: Path) -> None:
    text = '{"text": "a\\n", "n": 1}\r\n\n  \n{"n": [%s, NaN], "text": "é"}\n{"text": ""}' % ("9" * 5000)
    assert read(put(tmp_path, "a.jsonl", text)).documents == ("a\n", "é", "")
    assert read(put(tmp_path, "a.ndjson", '{"body": "b", "text": 5}'), field="body").documents == ("b",)
    assert read(put(tmp_path, "b.jsonl", b'{"text": "\xff"}')).documents == ("\udcff",)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("{", "not a JSON row"),
        ('{"text": "a', "not a JSON row"),
        ("[" * 100_000, "nested too deeply"),
        ('["a"]', "not a JSON object"),
        ("9" * 5000, "not a JSON object"),
        ('{"body": "a"}', "no field 'text'"),
        ("{}", "no field 'text'"),
        ('{"text": 5}', "field 'text' is not text"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path: Path, row: str, what: str) -> None:
    error = refusal(put(tmp_path, "a.jsonl", '{"text": ""}\n\n' + row))
    assert what in error.what
    assert error.where.endswith("a.jsonl:3")


def test_a_missing_field_is_reported_with_the_other_fields(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", '{"q": "a", "n": 1, "answer": "b"}')
    assert refusal(path).hint == "--field takes one of: q, answer"


def test_counts(tmp_path: Path) -> None:
    text = ' the\t3\na\tb\t10\r\n\n["\\n\\t", 7]\n[x]\t1\n the\t2\n'
    corpus = read(put(tmp_path, "a.counts.tsv", text))
    assert corpus.counts == ((" the", 5), ("a\tb", 10), ("\n\t", 7), ("[x]", 1))
    assert corpus.documents == ()
    assert read(put(tmp_path, "b.txt", text), as_="counts").counts == corpus.counts


@pytest.mark.parametrize(
    "row",
    [
        *(
            "a", "a 3", "a\t", "\t3", "a\t-1", "a\t0", "a\t1.5", "a\t３", "a\t1_0", "a\t" + "9" * 16,
            "a\t" + "9" * 5000,
        ),
        *(
            '["a", 0]', '["a", true]', '["a", 1.5]', '["", 1]', '["a"]', "[" * 100_000,
            '["a", %s]' % ("9" * 5000),
        ),
    ],
    ids=lambda row: row[:12],
)
def test_a_bad_count_is_refused_with_its_line(tmp_path: Path, row: str) -> None:
    error = refusal(put(tmp_path, "a.counts.tsv", f"ok\t1\n{row}\n"))
    assert error.where.endswith("a.counts.tsv:2")


@given(
    st.dictionaries(
        st.text(st.characters(codec=None, categories=None), min_size=1), st.integers(1, 10**15 - 1)
    )
)
def test_counts_come_back(counts: dict[str, int]) -> None:
    text, invalid, _ = decode(sources.format_counts(counts.items()).encode(), "f")
    assert invalid is None
    blank = {word: count for word, count in counts.items() if not word.isspace()}
    back = dict(sources.counts(whole_text(text), "f"))
    assert {word: back[word] for word in blank} == blank
    assert back == counts


def test_the_name_says_how(tmp_path: Path) -> None:
    row = '{"text": "a"}\n'
    assert read(put(tmp_path, "A.JSONL", row)).documents == ("a",)
    assert read(put(tmp_path, "a.jsonl.gz", gzip.compress(row.encode()))).documents == ("a",)
    assert read(put(tmp_path, "a.jsonl.txt", row)).documents == (row,)
    assert read(put(tmp_path, "a.counts", "a\t1\n")).counts == (("a", 1),)
    assert read(put(tmp_path, "b.counts", "a\t1\nb")).documents == ("a\t1\nb",)
    assert read(put(tmp_path, "c.tsv", "a\t1\n")).documents == ("a\t1\n",)
    assert read(put(tmp_path, "a.jsonl", row), as_="text").documents == (row,)


def test_an_unknown_way_is_refused(tmp_path: Path) -> None:
    assert refusal(put(tmp_path, "a"), as_="line").hint == "did you mean lines?"


def test_the_oracles_texts_come_back_from_a_file(tmp_path: Path) -> None:
    texts = oracle.texts()
    assert texts
    for name, text in texts.items():
        path = put(tmp_path, name, text)
        assert read(path).documents == (text,)
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else ()
        assert read(path, as_="lines").documents == tuple(lines)
